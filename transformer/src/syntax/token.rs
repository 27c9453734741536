//! The tokens of one directive, flat, each bracket knowing its partner.

use crate::source::{SourceFile, Span};

/// What a token is to the reader of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// An identifier or keyword.
    Word,
    /// A number, string or character.
    Literal,
    /// `,`
    Comma,
    /// `:`
    Colon,
    /// `::`
    Scope,
    /// `?`
    Question,
    /// `.` or `->`
    Member,
    /// `*`
    Star,
    /// Any other operator.
    Operator,
    /// `(`, `[` or `{`
    Open(u8),
    /// `)`, `]` or `}`
    Close,
}

/// One token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is.
    pub span: Span,
    /// For a bracket that opens: the index of the one that closes, or of the end where there is none.
    pub partner: usize,
}

/// A run of tokens of one directive.
#[derive(Clone, Copy)]
pub(super) struct Tokens<'a> {
    /// The file that they are in.
    pub file: &'a SourceFile,
    all: &'a [Token],
    start: usize,
    end: usize,
}

impl<'a> Tokens<'a> {
    /// All tokens of a directive.
    pub fn new(file: &'a SourceFile, all: &'a [Token]) -> Self {
        Self { file, all, start: 0, end: all.len() }
    }

    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// The token at `index`, counted from the first of the run.
    pub fn get(self, index: usize) -> Option<&'a Token> {
        let at = self.start + index;
        if at < self.end { self.all.get(at) } else { None }
    }

    pub fn kind(self, index: usize) -> Option<TokenKind> {
        self.get(index).map(|token| token.kind)
    }

    pub fn slice(self, from: usize, to: usize) -> Self {
        let end = (self.start + to).min(self.end);
        Self { start: (self.start + from).min(end), end, ..self }
    }

    pub fn from(self, from: usize) -> Self {
        self.slice(from, self.len())
    }

    /// From the first token's start to the last token's end.
    pub fn span(self) -> Option<Span> {
        Some(Span::new(self.get(0)?.span.start, self.get(self.len().checked_sub(1)?)?.span.end))
    }

    /// The text of the token at `index`.
    pub fn text(self, index: usize) -> &'a str {
        let bytes = self.get(index).map(|token| self.file.bytes(token.span)).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or("\u{FFFD}")
    }

    /// The text of all tokens; words are kept apart by single blanks.
    pub fn joined(self) -> String {
        let mut out = String::new();
        for index in 0..self.len() {
            let after_word = index > 0 && self.kind(index - 1) == Some(TokenKind::Word);
            if after_word && self.kind(index) == Some(TokenKind::Word) {
                out.push(' ');
            }
            out.push_str(self.text(index));
        }
        out
    }

    /// The index behind the token at `index`, or behind the brackets that open there.
    pub fn after(self, index: usize) -> usize {
        match self.get(index) {
            Some(Token { kind: TokenKind::Open(_), partner, .. }) => {
                (partner + 1).saturating_sub(self.start).clamp(index + 1, self.len().max(index + 1))
            }
            _ => index + 1,
        }
    }

    /// The tokens inside the brackets that open at `index`, if this bracket does.
    pub fn inside(self, index: usize, bracket: u8) -> Option<Self> {
        match self.get(index) {
            Some(Token { kind: TokenKind::Open(open), .. }) if *open == bracket => {
                Some(self.slice(index + 1, self.after(index).saturating_sub(1)))
            }
            _ => None,
        }
    }

    /// Is it one word and nothing else?
    pub fn is_word(self) -> bool {
        self.len() == 1 && self.kind(0) == Some(TokenKind::Word)
    }

    /// Do two operands follow each other without an operator, as no expression allows (`a b`, `f(x) 2`)?
    pub fn has_adjacent_operands(self) -> bool {
        let is_operand = |index| matches!(self.kind(index), Some(TokenKind::Word | TokenKind::Literal));
        let ends_operand = |index| is_operand(index) || self.kind(index) == Some(TokenKind::Close);
        let shape = self.inside(0, b'(').is_some();
        let (mut at, mut adjacent) = (0, false);
        while at < self.len() && !adjacent {
            let next = self.after(at);
            adjacent = ends_operand(next - 1) && is_operand(next) && !(at == 0 && shape);
            at = next;
        }
        adjacent
    }

    /// The pieces between the commas that stand in no brackets, or `None` for an empty run.
    pub fn split_commas(self) -> Vec<Self> {
        let mut pieces = Vec::new();
        let (mut from, mut at) = (0, 0);
        while at < self.len() {
            if self.kind(at) == Some(TokenKind::Comma) {
                pieces.push(self.slice(from, at));
                from = at + 1;
            }
            at = self.after(at);
        }
        if !self.is_empty() {
            pieces.push(self.from(from));
        }
        pieces
    }

    /// The first colon that stands in no brackets and belongs to no `?`.
    pub fn colon(self) -> Option<usize> {
        let (mut at, mut questions) = (0, 0_usize);
        while at < self.len() {
            match self.kind(at) {
                Some(TokenKind::Question) => questions += 1,
                Some(TokenKind::Colon) if questions == 0 => return Some(at),
                Some(TokenKind::Colon) => questions -= 1,
                _ => {}
            }
            at = self.after(at);
        }
        None
    }
}
