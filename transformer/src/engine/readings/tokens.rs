//! The tokens of directives and macros, each with its place in the file where it stands there.

use crate::semantics::macros::expansion::tokens as text;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a keyword.
    Word,
    /// Blanks, line splices and comments.
    Blank,
    /// A number, a literal, an operator.
    Other,
}

/// A token of a text in the making.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: Kind,
    pub text: String,
    /// Its first byte in the file, or `None` for what stands in a macro's definition.
    pub at: Option<usize>,
}

impl Token {
    /// One that stands nowhere in the file.
    pub fn made(kind: Kind, text: &str) -> Self {
        Self { kind, text: text.to_owned(), at: None }
    }

    /// How many parentheses, brackets and braces more are open behind it.
    pub fn opens(&self) -> isize {
        match self.text.as_str() {
            "(" | "[" | "{" => 1,
            ")" | "]" | "}" => -1,
            _ => 0,
        }
    }
}

/// The tokens of a text whose first byte stands at `at` of the file, if it does.
pub(super) fn tokens(text: &str, at: Option<usize>) -> Vec<Token> {
    let mut all: Vec<Token> = Vec::new();
    let mut rest = text;
    while let Some((token, after)) = text::tokens(rest) {
        let at = at.map(|at| at + text.len() - rest.len());
        rest = after;
        let kind = match token {
            text::Token::Word(_) => Kind::Word,
            other if other.is_blank() || is_splice(other.text(), after) => Kind::Blank,
            text::Token::Other(_) => Kind::Other,
        };
        all.push(Token { kind, text: token.text().to_owned(), at });
    }
    all
}

/// Is it the backslash of a line that goes on in the next one?
fn is_splice(token: &str, after: &str) -> bool {
    token == "\\" && after.trim_start_matches([' ', '\t', '\r']).starts_with('\n')
}

/// The tokens on one line, without comments, and without blanks at the ends.
pub(super) fn on_one_line(tokens: &[Token]) -> Vec<Token> {
    let mut all: Vec<Token> = Vec::new();
    for token in tokens {
        if token.kind != Kind::Blank {
            all.push(token.clone());
        } else if all.last().is_some_and(|last| last.kind != Kind::Blank) {
            let is_plain = token.text.bytes().all(|byte| byte == b' ' || byte == b'\t');
            all.push(if is_plain { token.clone() } else { Token::made(Kind::Blank, " ") });
        }
    }
    if all.last().is_some_and(|last| last.kind == Kind::Blank) {
        all.pop();
    }
    all
}

/// The arguments in the parentheses that follow a name, and how many tokens they take, blanks before them included.
pub(super) fn arguments(tokens: &[Token]) -> Option<(Vec<Vec<Token>>, usize)> {
    let opening = tokens.iter().position(|token| token.kind != Kind::Blank)?;
    if tokens.get(opening)?.text != "(" {
        return None;
    }
    let mut all = Vec::new();
    let mut depth = 0;
    let mut start = opening + 1;
    for (index, token) in tokens.iter().enumerate().skip(opening) {
        // Brackets and braces keep no comma from ending an argument.
        depth += if matches!(token.text.as_str(), "(" | ")") { token.opens() } else { 0 };
        let is_end = depth == 0;
        if is_end || depth == 1 && token.text == "," {
            all.push(on_one_line(tokens.get(start..index)?));
            start = index + 1;
        }
        if is_end {
            return Some((all, index + 1));
        }
    }
    None
}
