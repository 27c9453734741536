//! Lines that begin with `#`.

use super::lexer::Lexer;
use super::{DirectiveText, Include, MacroDefinition, Spelling};
use crate::source::Span;

/// The extent of a directive line.
pub(super) struct Line {
    /// From `#` to before the line end.
    pub(super) span: Span,
    /// Behind the last token that is no comment.
    pub(super) tokens_end: usize,
}

impl Lexer<'_> {
    /// Reads the line whose `#` stands at `at`; `after` is the position behind it. Returns the end of the line.
    pub(super) fn directive_line(&mut self, at: usize, after: usize) -> usize {
        let name_start = self.text.skip_line_trivia(after);
        let (name, name_end) = self.text.word(name_start);
        let line = match &*name {
            b"include" | b"include_next" | b"import" => self.include(at, name_end),
            _ => self.line_from(at, after),
        };
        match &*name {
            b"pragma" => self.pragma(&line, name_end),
            b"define" => self.definition(&line, name_end),
            b"if" | b"ifdef" | b"ifndef" => self.open_conditional(line.span),
            b"elif" | b"elifdef" | b"elifndef" | b"else" => self.next_branch(line.span),
            b"endif" => self.close_conditional(line.span),
            _ => {}
        }
        line.span.end
    }

    /// Finds the end of the line that starts at `start` by its tokens from `from` on; splices and block comments lengthen
    /// it.
    fn line_from(&mut self, start: usize, from: usize) -> Line {
        let mut at = from;
        let mut tokens_end = from;
        let mut separator = None;
        loop {
            at = self.text.skip_blanks(at);
            if at >= self.text.len() || self.text.newline(at) > 0 {
                return Line { span: Span::new(start, at), tokens_end };
            }
            if let Some(end) = self.text.comment_end(at) {
                self.note(Span::new(at, end));
                at = end;
            } else {
                at = self.text.token_step(at, &mut separator);
                tokens_end = at;
            }
        }
    }

    fn pragma(&mut self, line: &Line, after: usize) {
        self.out.masked.push(line.span);
        let sentinel = self.text.skip_line_trivia(after);
        let (word, end) = self.text.word(sentinel);
        if &*word == b"omp" {
            let start = self.text.skip_line_trivia(end).min(line.tokens_end.max(end));
            let body = Some(Span::new(start, line.tokens_end));
            self.out.directives.push(DirectiveText {
                span: line.span,
                body,
                spelling: Spelling::Pragma,
                alternative: None,
            });
        }
    }

    fn definition(&mut self, line: &Line, after: usize) {
        let start = self.text.skip_line_trivia(after);
        let (name, end) = self.text.word(start);
        if name.is_empty() || start >= line.span.end {
            return;
        }
        let opening = self.text.skip_splices(end);
        let mut body_start = end;
        let mut parameters = None;
        if self.text.at(opening) == b'(' {
            let closing = self.text.from(opening).iter().position(|b| *b == b')').map(|p| opening + p);
            let Some(closing) = closing.filter(|c| *c < line.span.end) else { return };
            parameters = Some(Span::new(opening + 1, closing));
            body_start = closing + 1;
        }
        let body_start = self.text.skip_line_trivia(body_start).min(line.tokens_end);
        self.out.definitions.push(MacroDefinition {
            span: line.span,
            name: Span::new(start, end),
            parameters,
            body: Span::new(body_start, line.tokens_end),
            leads_to_pragma: false,
        });
    }

    /// An include's path is no string or comment: `<a//b>`.
    fn include(&mut self, start: usize, after: usize) -> Line {
        let opening = self.text.skip_line_trivia(after);
        let closing = match self.text.at(opening) {
            b'"' => b'"',
            b'<' => b'>',
            _ => return self.line_from(start, after),
        };
        let rest = self.text.from(opening + 1);
        let length = rest.iter().position(|b| *b == closing || matches!(b, b'\n' | b'\r'));
        let Some(length) = length.filter(|l| rest.get(*l) == Some(&closing)) else {
            return self.line_from(start, after);
        };
        let path = Span::new(opening + 1, opening + 1 + length);
        let line = self.line_from(start, path.end + 1);
        self.out.includes.push(Include { span: line.span, path, quoted: closing == b'"' });
        line
    }
}
