//! Directives that are no lines: `_Pragma`, `__pragma`, attributes and uses of pragma macros.
//!
//! Each function takes the position of its first byte, records what it finds, and returns the end; `None` where the text
//! is not what it looked like.

use super::lexer::{Lexer, begins_word};
use super::{DirectiveText, Spelling};
use crate::source::Span;

impl Lexer<'_> {
    fn directive(&mut self, span: Span, body: Option<Span>, spelling: Spelling) {
        self.out.masked.push(span);
        self.out.directives.push(DirectiveText { span, body, spelling, alternative: None });
    }

    /// `_Pragma("omp ..")`.
    pub(super) fn pragma_operator(&mut self, start: usize, after: usize) -> Option<usize> {
        let opening = self.text.skip_trivia(after);
        if !begins_word(self.text, start) || self.text.at(opening) != b'(' {
            return None;
        }
        let end = self.balanced_end(opening)?;
        let span = Span::new(start, end);
        let (_, quote) = self.text.word(self.text.skip_trivia(opening + 1));
        if self.text.at(quote) != b'"' {
            // The argument is a macro; what it says is not known.
            self.directive(span, None, Spelling::Operator);
            return Some(end);
        }
        let content = self.string_content(quote);
        if !self.sentinel(content) {
            self.out.masked.push(span);
            return Some(end);
        }
        let is_whole = self.text.skip_trivia(content.end_quote) == end - 1;
        let body = (is_whole && !self.has_escape(content.span)).then(|| self.body_of(content.span));
        self.directive(span, body, Spelling::Operator);
        Some(end)
    }

    fn string_content(&self, quote: usize) -> StringContent {
        let end = self.text.string_end(quote);
        if self.text.is_raw_string(quote) {
            let open = self.text.from(quote).iter().position(|b| *b == b'(').unwrap_or(0);
            return StringContent { span: Span::new(quote + 1 + open, end.saturating_sub(open + 1)), end_quote: end };
        }
        StringContent { span: Span::new(quote + 1, end.saturating_sub(1)), end_quote: end }
    }

    fn sentinel(&self, content: StringContent) -> bool {
        &*self.text.word(self.text.skip_trivia(content.span.start)).0 == b"omp"
    }

    /// Does it hold a backslash that joins no lines?
    fn has_escape(&self, span: Span) -> bool {
        let bytes = span.of(self.text.0);
        memchr::memchr_iter(b'\\', bytes).any(|at| self.text.splice(span.start + at) == 0)
    }

    /// What follows the sentinel in `span`, trimmed.
    fn body_of(&self, span: Span) -> Span {
        let (_, end) = self.text.word(self.text.skip_trivia(span.start));
        self.trim(Span::new(end, span.end))
    }

    /// A span without the blanks at its ends and the comments before it.
    fn trim(&self, span: Span) -> Span {
        let start = self.text.skip_trivia(span.start).min(span.end);
        let bytes = Span::new(start, span.end).of(self.text.0);
        Span::new(start, start + bytes.trim_ascii_end().len())
    }

    /// `__pragma(omp ..)`.
    pub(super) fn microsoft_pragma(&mut self, start: usize, after: usize) -> Option<usize> {
        let opening = self.text.skip_trivia(after);
        if !begins_word(self.text, start) || self.text.at(opening) != b'(' {
            return None;
        }
        let end = self.balanced_end(opening)?;
        let span = Span::new(start, end);
        let content = Span::new(opening + 1, end - 1);
        if &*self.text.word(self.text.skip_trivia(content.start)).0 == b"omp" {
            let body = self.body_of(content);
            self.directive(span, Some(body), Spelling::Microsoft);
        } else {
            self.out.masked.push(span);
        }
        Some(end)
    }

    /// The use of a macro whose body leads to a pragma.
    pub(super) fn macro_use(&mut self, start: usize, after: usize, is_function: bool) -> Option<usize> {
        if !begins_word(self.text, start) {
            return None;
        }
        let mut end = after;
        if is_function {
            let opening = self.text.skip_trivia(after);
            if self.text.at(opening) != b'(' {
                return None;
            }
            end = self.balanced_end(opening)?;
        }
        self.directive(Span::new(start, end), None, Spelling::Macro);
        Some(end)
    }

    /// `[[omp::directive(..)]]`, `[[omp::sequence(..)]]`, `[[using omp: directive(..)]]`.
    pub(super) fn attribute(&mut self, start: usize) -> Option<usize> {
        let second = self.text.skip_trivia(start + 1);
        if self.text.at(second) != b'[' {
            return None;
        }
        let first = self.text.skip_trivia(second + 1);
        let (word, word_end) = self.text.word(first);
        if word.is_empty() {
            return None;
        }
        let is_using = &*word == b"using" && &*self.text.word(self.text.skip_trivia(word_end)).0 == b"omp";
        let end = self.balanced_end(start)?;
        let inside = Span::new(second + 1, end);
        let bodies = self.attribute_bodies(inside, is_using);
        let mut from = start;
        for (number, (_, body)) in bodies.iter().enumerate() {
            // A sequence's directives share the brackets: the first takes the opening ones, the last the closing ones.
            let to = bodies.get(number + 1).map_or(end, |(next, _)| *next);
            self.directive(Span::new(from, to), Some(*body), Spelling::Attribute);
            from = to;
        }
        if bodies.is_empty() {
            // The text in the brackets will be read again; nested brackets must not make that quadratic.
            self.budget = self.budget.saturating_sub(end - start);
            return None;
        }
        Some(end)
    }

    /// The position of each `directive` or `decl` in an attribute list and what its parentheses hold.
    fn attribute_bodies(&self, inside: Span, is_using: bool) -> Vec<(usize, Span)> {
        let mut bodies = Vec::new();
        let mut in_sequence = usize::MAX;
        let mut separator = None;
        let mut at = inside.start;
        let mut qualified = false;
        while at < inside.end {
            let (word, end) = self.text.word(at);
            if word.is_empty() {
                qualified &= matches!(self.text.at(at), b':' | b' ' | b'\t' | b'\n' | b'\r');
                at = self.text.token_step(at, &mut separator);
                continue;
            }
            let opening = self.text.skip_trivia(end);
            let ours = self.text.at(opening) == b'(' && (is_using || qualified || in_sequence != usize::MAX);
            match &*word {
                b"directive" | b"decl" if ours => {
                    let Ok(close) = self.text.balanced_end(opening) else { return bodies };
                    bodies.push((at, self.trim(Span::new(opening + 1, close - 1))));
                    at = close;
                }
                b"sequence" if ours => {
                    in_sequence = at;
                    at = opening + 1;
                }
                _ => {
                    qualified = &*word == b"omp";
                    at = end;
                }
            }
        }
        bodies
    }
}

/// The text of a string literal and where the literal ends.
#[derive(Clone, Copy)]
struct StringContent {
    span: Span,
    end_quote: usize,
}
