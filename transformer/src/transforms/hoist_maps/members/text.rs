//! A text in which some pieces of another one are replaced, and how places in it are told in terms of the other.

use crate::source::Span;

/// What stands in place of a piece of the text.
pub(super) struct Piece {
    pub span: Span,
    pub text: String,
}

/// The changed text, with where its new pieces stand.
pub(super) struct Changed {
    pub text: Vec<u8>,
    /// Where each new piece stands, and what it replaces, in the order of the text.
    places: Vec<(Span, Span)>,
}

impl Changed {
    pub(super) fn new(text: &[u8], mut pieces: Vec<Piece>) -> Self {
        pieces.sort_by_key(|piece| (piece.span.start, piece.span.end));
        let mut changed = Self { text: Vec::new(), places: Vec::new() };
        let mut from = 0;
        for piece in pieces {
            changed.text.extend_from_slice(text.get(from..piece.span.start).unwrap_or_default());
            let start = changed.text.len();
            changed.text.extend_from_slice(piece.text.as_bytes());
            changed.places.push((Span::new(start, changed.text.len()), piece.span));
            from = piece.span.end;
        }
        changed.text.extend_from_slice(text.get(from..).unwrap_or_default());
        changed
    }

    /// A place of the changed text in the original one. Of a place inside of a new piece it is the beginning of what was replaced.
    pub(super) fn origin(&self, at: usize) -> usize {
        let before = self.places.iter().take_while(|(new, _)| new.start < at).last();
        match before {
            Some((new, old)) if at < new.end => old.start,
            Some((new, old)) => old.end + (at - new.end),
            None => at,
        }
    }

    pub(super) fn origin_of(&self, span: Span) -> Span {
        let is_inside = |at: usize| self.places.iter().find(|(new, _)| new.start < at && at < new.end);
        let end = is_inside(span.end).map_or_else(|| self.origin(span.end), |(_, old)| old.end);
        let start = self.origin(span.start);
        Span::new(start, end.max(start))
    }

    /// Does a place stand inside of no new piece?
    pub(super) fn is_kept(&self, at: usize) -> bool {
        !self.places.iter().any(|(new, _)| new.start < at && at < new.end)
    }
}

/// A text with some of its words replaced.
pub(super) fn with_words(text: &str, replaced: &dyn Fn(&str) -> Option<String>) -> String {
    let mut found = String::new();
    let mut word = String::new();
    let flush = |word: &mut String, found: &mut String| {
        match replaced(word) {
            Some(other) => found.push_str(&other),
            None => found.push_str(word),
        }
        word.clear();
    };
    for c in text.chars() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else {
            flush(&mut word, &mut found);
            found.push(c);
        }
    }
    flush(&mut word, &mut found);
    found
}
