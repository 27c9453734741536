//! From the grammar of one directive to its typed form. The only file that names `tree-sitter-openmp`.

use std::collections::BTreeMap;

use tree_sitter::{Node, Parser, Point, Range, Tree, TreeCursor};

use crate::source::{DirectiveText, Language, SourceFile, Span};
use crate::syntax::Directive;
use crate::syntax::token::{Token, TokenKind, Tokens};

/// The longest text of a directive in bytes. Nobody writes one that long, and the parser needs a second for random bytes
/// of this size.
const LONGEST_TEXT: usize = 64 << 10;

/// Reads the directives of one file after the other; it holds the parser between them, and what it has read: the same text
/// often stands in a file many times, and again in the next round.
pub struct DirectiveReader {
    parser: Option<Parser>,
    known: BTreeMap<Vec<u8>, Lexed>,
    /// The language of the directives that are known.
    language: Language,
    tokens: Vec<Token>,
    open: Vec<usize>,
}

/// What the grammar finds in a text, as if that stood at the start of a file.
struct Lexed {
    tokens: Vec<Token>,
    problems: Vec<Span>,
}

impl Default for DirectiveReader {
    fn default() -> Self {
        Self::new()
    }
}

impl DirectiveReader {
    /// Sets the parser up.
    #[must_use]
    pub fn new() -> Self {
        let mut parser = Parser::new();
        // The versions are fixed at build time, so that this fails never or always; a test reads a directive.
        let ready = parser.set_language(&tree_sitter_openmp::LANGUAGE.into()).is_ok();
        let parser = ready.then_some(parser);
        Self { parser, known: BTreeMap::new(), language: Language::Either, tokens: Vec::new(), open: Vec::new() }
    }

    /// Reads one directive. One that has no readable text, or text that is no directive, comes back with a problem.
    pub fn read(&mut self, file: &SourceFile, text: &DirectiveText) -> Directive {
        let Some(body) = text.body.filter(|body| body.len() <= LONGEST_TEXT) else {
            return Directive::unreadable(text);
        };
        if self.language != file.language {
            self.known.clear();
            self.language = file.language;
        }
        let bytes = file.bytes(body);
        if !self.known.contains_key(bytes) {
            let Some(lexed) = self.lex(file, body) else { return Directive::unreadable(text) };
            self.known.insert(bytes.to_vec(), lexed);
        }
        let Some(lexed) = self.known.get(bytes) else { return Directive::unreadable(text) };
        self.tokens.clear();
        self.tokens.extend(lexed.tokens.iter().map(|token| Token { span: token.span.shifted(body.start), ..*token }));
        let problems = lexed.problems.iter().map(|problem| problem.shifted(body.start)).collect();
        Directive::read(text, Tokens::new(file, &self.tokens), problems)
    }

    fn lex(&mut self, file: &SourceFile, body: Span) -> Option<Lexed> {
        let tree = self.parse(file, body)?;
        let mut problems = Vec::new();
        self.flatten(file, &tree, &mut problems);
        problems.extend(spliced_words(file, body));
        let at_start =
            |span: Span| Span::new(span.start.saturating_sub(body.start), span.end.saturating_sub(body.start));
        let tokens = self.tokens.iter().map(|token| Token { span: at_start(token.span), ..*token }).collect();
        Some(Lexed { tokens, problems: problems.into_iter().map(at_start).collect() })
    }

    /// Parses the directive where it stands, so that nodes have their places in the file.
    fn parse(&mut self, file: &SourceFile, body: Span) -> Option<Tree> {
        let parser = self.parser.as_mut()?;
        let (start, end) = (point(file, body.start), point(file, body.end));
        let range = Range { start_byte: body.start, end_byte: body.end, start_point: start, end_point: end };
        parser.set_included_ranges(&[range]).ok()?;
        parser.parse(&file.text, None)
    }

    /// Lists the tokens of the tree; what the parser could not make out becomes a problem.
    fn flatten(&mut self, file: &SourceFile, tree: &Tree, problems: &mut Vec<Span>) {
        self.tokens.clear();
        self.open.clear();
        let mut cursor = tree.walk();
        loop {
            let node = cursor.node();
            if node.is_error() || node.is_missing() {
                problems.push(span(node));
            }
            if cursor.goto_first_child() {
                continue;
            }
            self.push(file, node);
            if !next(&mut cursor) {
                break;
            }
        }
        let end = self.tokens.len();
        for at in self.open.drain(..) {
            if let Some(token) = self.tokens.get_mut(at) {
                token.partner = end;
            }
        }
    }

    fn push(&mut self, file: &SourceFile, node: Node<'_>) {
        let Some(kind) = kind(node.kind()) else { return };
        self.split_scope(file, kind);
        let index = self.tokens.len();
        match kind {
            TokenKind::Open(_) => self.open.push(index),
            TokenKind::Close => {
                let partner = self.open.pop().and_then(|at| self.tokens.get_mut(at));
                if let Some(open) = partner {
                    open.partner = index;
                }
            }
            _ => {}
        }
        self.tokens.push(Token { kind, span: span(node), partner: 0 });
    }

    /// Takes a `::` that is not followed by a name as the two colons of an array section (`a[0::2]`); C knows no other.
    fn split_scope(&mut self, file: &SourceFile, following: TokenKind) {
        let Some(last) = self.tokens.last_mut().filter(|last| last.kind == TokenKind::Scope) else { return };
        if file.language == Language::C || following != TokenKind::Word {
            let middle = last.span.start + 1;
            let second = Span::new(middle, last.span.end);
            *last = Token { kind: TokenKind::Colon, span: Span::new(last.span.start, middle), partner: 0 };
            self.tokens.push(Token { kind: TokenKind::Colon, span: second, partner: 0 });
        }
    }
}

/// Moves on to the node that follows a subtree.
fn next(cursor: &mut TreeCursor<'_>) -> bool {
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
    }
    true
}

fn span(node: Node<'_>) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

fn point(file: &SourceFile, offset: usize) -> Point {
    let at = file.lines.line_column(offset);
    Point { row: at.line.saturating_sub(1), column: at.column.saturating_sub(1) }
}

fn kind(name: &str) -> Option<TokenKind> {
    Some(match name {
        "word" => TokenKind::Word,
        "number" | "string" | "character" => TokenKind::Literal,
        "," => TokenKind::Comma,
        ":" => TokenKind::Colon,
        "::" => TokenKind::Scope,
        "?" => TokenKind::Question,
        "." | "->" => TokenKind::Member,
        "*" => TokenKind::Star,
        "operator" => TokenKind::Operator,
        "(" | "[" | "{" => TokenKind::Open(*name.as_bytes().first()?),
        ")" | "]" | "}" => TokenKind::Close,
        _ => return None,
    })
}

/// Where a `\` at the end of a line stands in the middle of a word: the compiler joins the halves, the grammar does not.
fn spliced_words(file: &SourceFile, body: Span) -> Vec<Span> {
    let text = file.bytes(body);
    let is_word = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let mut found = Vec::new();
    for (at, _) in text.iter().enumerate().filter(|(_, byte)| **byte == b'\\') {
        let rest = text.get(at + 1..).unwrap_or_default();
        let blanks = rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
        let line_ends = rest.get(blanks) == Some(&b'\n');
        let before = at.checked_sub(1).and_then(|i| text.get(i));
        if line_ends && is_word(before) && is_word(rest.get(blanks + 1)) {
            found.push(Span::new(body.start + at, body.start + at + blanks + 2));
        }
    }
    found
}

#[cfg(test)]
mod tests;
