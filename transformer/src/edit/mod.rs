//! Replacements of byte ranges.

pub mod braces;
pub mod directive_writer;

use crate::source::Span;

/// Replaces a range of the original text. An empty range inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced.
    pub span: Span,
    /// What stands there instead.
    pub text: String,
}

impl Edit {
    /// Inserts a text.
    #[must_use]
    pub fn insertion(at: usize, text: impl Into<String>) -> Self {
        Self { span: Span::new(at, at), text: text.into() }
    }
}

/// Two edits of a set share a byte, or insert at the same place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditConflict {
    /// The first of the two.
    pub first: Span,
    /// The second of the two.
    pub second: Span,
}

/// Disjoint edits in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditSet {
    edits: Vec<Edit>,
}

impl EditSet {
    /// Sorts the edits and checks that no two touch the same byte.
    ///
    /// # Errors
    /// The first two edits that conflict.
    pub fn new(mut edits: Vec<Edit>) -> Result<Self, EditConflict> {
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        for pair in edits.windows(2) {
            if let [first, second] = pair
                && (first.span.end > second.span.start || first.span == second.span)
            {
                return Err(EditConflict { first: first.span, second: second.span });
            }
        }
        Ok(Self { edits })
    }

    /// The edits in order.
    #[must_use]
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Is there nothing to change?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Where the bytes of the new text come from.
    #[must_use]
    pub fn origins(&self) -> Origins {
        let mut written = Vec::with_capacity(self.edits.len());
        // How many bytes the edits so far have added and removed.
        let (mut longer, mut shorter) = (0, 0);
        for edit in &self.edits {
            let start = edit.span.start + longer - shorter;
            longer += edit.text.len();
            shorter += edit.span.end - edit.span.start;
            written.push((Span { start, end: start + edit.text.len() }, edit.span));
        }
        Origins { written }
    }

    /// The text with every edit applied; all other bytes are copied as they are.
    #[must_use]
    pub fn apply(&self, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len() + 256);
        let mut at = 0;
        for edit in &self.edits {
            out.extend_from_slice(text.get(at..edit.span.start).unwrap_or_default());
            out.extend_from_slice(edit.text.as_bytes());
            at = edit.span.end;
        }
        out.extend_from_slice(text.get(at..).unwrap_or_default());
        out
    }
}

/// Maps places of a text with edits to the text without them.
#[derive(Clone, Debug)]
pub struct Origins {
    /// For each edit, its range in the new text and the range in the old text that it replaced.
    written: Vec<(Span, Span)>,
}

impl Origins {
    /// What edits added to the text without replacing anything, in the new text.
    pub fn added(&self) -> impl Iterator<Item = Span> + '_ {
        self.written.iter().filter(|(_, old)| old.is_empty()).map(|(new, _)| *new)
    }

    /// The part of the old text that a range of the new one comes from: byte for byte where it was copied, the whole
    /// replaced range where an edit wrote it.
    #[must_use]
    pub fn of(&self, span: Span) -> Span {
        let first = self.of_byte(span.start);
        let last = self.of_byte(span.end.saturating_sub(1).max(span.start));
        Span { start: first.start, end: last.end.max(first.end) }
    }

    /// The place of the old text that one of the new text comes from; the start of what was replaced where an edit wrote it.
    #[must_use]
    pub fn place(&self, at: usize) -> usize {
        self.of_byte(at).start
    }

    /// The place in the new text of a byte of the old one; nothing for one that an edit replaced.
    #[must_use]
    pub fn copy_of(&self, at: usize) -> Option<usize> {
        let before = self.written.partition_point(|(_, old)| old.start <= at);
        match before.checked_sub(1).and_then(|index| self.written.get(index)) {
            Some((_, old)) if at < old.end => None,
            Some((new, old)) => Some(new.end + (at - old.end)),
            None => Some(at),
        }
    }

    /// Does a place of the new text stand inside of nothing that an edit wrote?
    #[must_use]
    pub fn is_between(&self, at: usize) -> bool {
        !self.written.iter().any(|(new, _)| new.start < at && at < new.end)
    }

    /// Did an edit write the byte at a place of the new text?
    #[must_use]
    pub fn is_written(&self, at: usize) -> bool {
        self.written.iter().any(|(new, _)| new.start <= at && at < new.end)
    }

    fn of_byte(&self, at: usize) -> Span {
        let before = self.written.partition_point(|(new, _)| new.start <= at);
        let Some((new, old)) = before.checked_sub(1).and_then(|index| self.written.get(index)) else {
            return Span { start: at, end: at + 1 };
        };
        if at < new.end {
            return *old;
        }
        let start = old.end + (at - new.end);
        Span { start, end: start + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(start: usize, end: usize, text: &str) -> Edit {
        Edit { span: Span { start, end }, text: text.to_owned() }
    }

    /// Each byte of the new text, and the part of the old text that it comes from.
    #[test]
    fn copied_bytes_come_from_themselves_and_written_ones_from_what_they_replace() {
        let set = EditSet::new(vec![edit(2, 5, "XY"), edit(6, 6, "++"), edit(8, 9, "")]).unwrap_or_default();
        let old = b"0123456789";
        let new = set.apply(old);
        assert_eq!(new, b"01XY5++679");
        let origins = set.origins();
        let parts: Vec<_> = (0..new.len()).map(|at| origins.of(Span { start: at, end: at + 1 })).collect();
        let spans =
            |spans: &[(usize, usize)]| spans.iter().map(|&(start, end)| Span { start, end }).collect::<Vec<_>>();
        assert_eq!(parts, spans(&[(0, 1), (1, 2), (2, 5), (2, 5), (5, 6), (6, 6), (6, 6), (6, 7), (7, 8), (9, 10)]));
        assert_eq!(origins.of(Span { start: 1, end: 9 }), Span { start: 1, end: 8 });
        let copies: Vec<_> = (0..old.len()).map(|at| origins.copy_of(at)).collect();
        let places = [0, 1, 9, 9, 9, 4, 7, 8, 9, 9];
        let copied = |at: usize| (!(2..5).contains(&at) && at != 8).then(|| places[at]);
        assert_eq!(copies, (0..old.len()).map(copied).collect::<Vec<_>>());
    }
}
