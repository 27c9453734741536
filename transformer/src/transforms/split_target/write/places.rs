//! Which lines and blocks the edits use.

use crate::edit::Edit;
use crate::edit::directive_writer::{indent_of, line_start};
use crate::region::construct::ConstructId;
use crate::source::Span;
use crate::transforms::split_target::facts::pieces::Piece;
use crate::transforms::split_target::write::Output;
use crate::transforms::two_forms;

impl Output<'_, '_> {
    /// Is the region a statement of a block, and not the statement of another directive?
    pub(super) fn is_in_block(&self, first: ConstructId) -> bool {
        two_forms::is_in_block(self.cx, first)
    }

    /// Are the directives of the loops indented as their statements are?
    pub(super) fn directives_are_indented(&self) -> bool {
        let file = self.cx.file;
        let first = self.facts.pieces.iter().find_map(Piece::directive);
        first.is_none_or(|id| {
            let construct = self.cx.constructs.construct(id);
            let directive = indent_of(file, self.cx.constructs.directive(id).span.start);
            !directive.is_empty() || indent_of(file, construct.body_span.start).is_empty()
        })
    }

    /// The start of the line of a place, and whether nothing but blanks stands between them.
    pub(super) fn start_of_line(&self, at: usize) -> (usize, bool) {
        let start = line_start(&self.cx.file.text, at);
        (start, self.cx.file.bytes(Span::new(start, at)).iter().all(u8::is_ascii_whitespace))
    }

    /// Inserts lines behind a place and a comment that follows it. Other text behind it moves to a line of its own.
    pub(super) fn behind(&self, end: usize, lines: &str, newline: &str, indent: &str) -> Edit {
        let (at, alone) = self.line_end(end);
        let follows = if alone { String::new() } else { format!("{newline}{indent}") };
        Edit::insertion(at, format!("{newline}{lines}{follows}"))
    }

    /// A closing brace behind a place, with the text before it on its line.
    pub(super) fn closing(&self, end: usize, newline: &str, before: &str) -> Edit {
        Edit::insertion(self.line_end(end).0, format!("{newline}{before}}}"))
    }

    /// The end of the line and true, if only a comment follows. Otherwise the place itself and false.
    fn line_end(&self, from: usize) -> (usize, bool) {
        let text = &self.cx.file.text;
        let rest = text.get(from..).unwrap_or_default();
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let words = String::from_utf8_lossy(line);
        let words = words.trim();
        let comment = words.starts_with("//")
            || (words.starts_with("/*") && words.find("*/").is_some_and(|end| end + 2 == words.len()));
        let alone = words.is_empty() || (comment && !words.ends_with('\\'));
        (if alone { from + line.len() } else { from }, alone)
    }
}
