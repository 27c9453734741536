//! A text made of a file by replacing parts of it, and the way back.

use crate::edit::Edit;
use crate::engine::readings::tokens::Token;
use crate::source::Span;

/// A part of the file and what is read in its place.
#[derive(Clone)]
pub(super) struct Replacement {
    /// The use of a macro, or what the compiler does not see.
    pub span: Span,
    /// What the macro stands for, or blanks.
    pub tokens: Vec<Token>,
}

/// Where the bytes of a text come from; a text without parts is the file's.
#[derive(Default)]
pub(super) struct Derived {
    parts: Vec<Part>,
}

#[derive(Clone, Copy)]
struct Part {
    /// Its bytes in the text.
    text: Span,
    /// Where they stand in the file; the whole use for what comes from a macro's definition.
    origin: Span,
    is_copied: bool,
}

impl Derived {
    /// The text with the replacements made, which are disjoint and in order.
    pub fn new(file: &[u8], replacements: &[Replacement]) -> (Vec<u8>, Self) {
        let mut out = Text { text: Vec::with_capacity(file.len() + 256), parts: Vec::new() };
        let mut at = 0;
        for replacement in replacements {
            out.copy(file, Span::new(at, replacement.span.start));
            // Lines keep their numbers.
            let count = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count();
            let given: usize = replacement.tokens.iter().map(|token| count(token.text.as_bytes())).sum();
            let missing = count(replacement.span.of(file)).saturating_sub(given);
            out.make("\\\n".repeat(missing).as_bytes(), replacement.span);
            for token in &replacement.tokens {
                match token.at {
                    Some(start) => out.copy(file, Span::new(start, start + token.text.len())),
                    None => out.make(token.text.as_bytes(), replacement.span),
                }
            }
            at = replacement.span.end;
        }
        out.copy(file, Span::new(at, file.len()));
        (out.text, Self { parts: out.parts })
    }

    /// Where a range of the text stands in the file; all of a use where it comes from a macro's definition.
    pub fn place(&self, span: Span) -> Span {
        if self.parts.is_empty() {
            return span;
        }
        let start = self.byte(span.start);
        if span.is_empty() {
            return Span::new(start.start, start.start);
        }
        // A use that gives nothing stands behind the last byte.
        let next = self.parts.partition_point(|part| part.text.end < span.end);
        let behind = self.parts.iter().skip(next).take_while(|part| part.text.start <= span.end);
        let nothing = behind.filter(|part| part.text.is_empty()).map(|part| part.origin.end).max().unwrap_or(0);
        Span::new(start.start, self.byte(span.end - 1).end.max(start.end).max(nothing))
    }

    fn byte(&self, at: usize) -> Span {
        let next = self.parts.partition_point(|part| part.text.end <= at);
        let Some(part) = self.parts.get(next) else {
            let end = self.parts.last().map_or(0, |part| part.origin.end);
            return Span::new(end, end);
        };
        if !part.is_copied {
            return part.origin;
        }
        let start = part.origin.start + at.saturating_sub(part.text.start);
        Span::new(start, start + 1)
    }

    /// The edit of the file that makes an edit of the text, or `None` if it is about what comes from a macro's definition.
    pub fn edit(&self, edit: &Edit) -> Option<Edit> {
        if self.parts.is_empty() {
            return Some(edit.clone());
        }
        let holds =
            |part: &&Part| part.is_copied && part.text.start <= edit.span.start && edit.span.end <= part.text.end;
        let part = self.parts.iter().find(holds)?;
        let start = part.origin.start + edit.span.start - part.text.start;
        Some(Edit { span: Span::new(start, start + edit.span.len()), text: edit.text.clone() })
    }
}

struct Text {
    text: Vec<u8>,
    parts: Vec<Part>,
}

impl Text {
    fn copy(&mut self, file: &[u8], origin: Span) {
        let text = self.append(origin.of(file));
        match self.parts.last_mut().filter(|last| last.is_copied && last.origin.end == origin.start) {
            Some(last) => {
                last.text.end = text.end;
                last.origin.end = origin.end;
            }
            None => self.parts.push(Part { text, origin, is_copied: true }),
        }
    }

    fn make(&mut self, bytes: &[u8], origin: Span) {
        let text = self.append(bytes);
        match self.parts.last_mut().filter(|last| !last.is_copied && last.origin == origin) {
            Some(last) => last.text.end = text.end,
            None => self.parts.push(Part { text, origin, is_copied: false }),
        }
    }

    fn append(&mut self, bytes: &[u8]) -> Span {
        let start = self.text.len();
        self.text.extend_from_slice(bytes);
        Span::new(start, self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::readings::tokens::{Kind, tokens};

    /// `A[x];` read as `<x>;` and `B;` as nothing.
    fn derived() -> (Vec<u8>, Derived) {
        let mut first = vec![Token::made(Kind::Other, "<")];
        first.extend(tokens("x", Some(2)));
        first.push(Token::made(Kind::Other, ">"));
        let replacements = [
            Replacement { span: Span::new(0, 4), tokens: first },
            Replacement { span: Span::new(6, 7), tokens: vec![] },
        ];
        Derived::new(b"A[x]; B;", &replacements)
    }

    #[test]
    fn what_a_macro_gives_stands_at_its_use() {
        let (text, derived) = derived();
        assert_eq!(text, b"<x>; ;");
        let places = [(0, 1), (1, 2), (2, 3), (3, 5), (0, 6)].map(|(start, end)| derived.place(Span::new(start, end)));
        assert_eq!(places, [(0, 4), (2, 3), (0, 4), (4, 7), (0, 8)].map(|(start, end)| Span::new(start, end)));
    }

    #[test]
    fn edits_change_what_is_copied_alone() {
        let (_, derived) = derived();
        let place =
            |start, end| derived.edit(&Edit { span: Span::new(start, end), text: String::new() }).map(|it| it.span);
        let places = [(0, 0), (0, 1), (1, 2), (3, 3), (3, 4), (3, 6), (6, 6)].map(|(start, end)| place(start, end));
        let expected = [Some((0, 0)), None, Some((2, 3)), Some((4, 4)), Some((4, 5)), None, Some((8, 8))];
        assert_eq!(places, expected.map(|found| found.map(|(start, end)| Span::new(start, end))));
    }
}
