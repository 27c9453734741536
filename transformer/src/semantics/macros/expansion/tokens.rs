//! The tokens of an expression's text: words, numbers and signs, among which names are replaced.

use std::borrow::Cow;

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'t> {
    /// A name or a keyword.
    Word(&'t str),
    /// A number, a string, a comment, blanks, an operator.
    Other(&'t str),
}

impl<'t> Token<'t> {
    pub(crate) fn text(self) -> &'t str {
        match self {
            Self::Word(text) | Self::Other(text) => text,
        }
    }

    /// Is it a blank or a comment?
    pub(crate) fn is_blank(self) -> bool {
        let text = self.text();
        text.starts_with(char::is_whitespace) || text.starts_with("//") || text.starts_with("/*")
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The first token of a text and what follows, or `None` if nothing is left.
pub(crate) fn tokens(text: &str) -> Option<(Token<'_>, &str)> {
    let first = text.chars().next()?;
    let up_to = |found: Option<usize>| found.unwrap_or(text.len());
    let end = match first {
        _ if first.is_ascii_digit() => up_to(text.find(|c: char| !is_word(c) && c != '.' && c != '\'')),
        _ if is_word(first) => {
            let (word, rest) = text.split_at(up_to(text.find(|c| !is_word(c))));
            return Some((Token::Word(word), rest));
        }
        '"' | '\'' => end_of_quoted(text, first),
        _ if first.is_whitespace() => up_to(text.find(|c: char| !c.is_whitespace())),
        _ if text.starts_with("/*") => up_to(text[2..].find("*/").map(|at| at + 4)),
        _ if text.starts_with("//") => up_to(text.find('\n')),
        _ if ["->", "::"].iter().any(|two| text.starts_with(two)) => 2,
        _ => first.len_utf8(),
    };
    let (token, rest) = text.split_at(end);
    Some((Token::Other(token), rest))
}

fn end_of_quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A macro's text without what stands in its literals, which names nothing. One that may hold a directive, assembly or a raw string is left as it is.
pub(crate) fn without_literals(text: &str) -> Cow<'_, str> {
    let may_be_code = ["ragma", "asm", "R\""].iter().any(|sign| text.contains(sign));
    if may_be_code || !text.contains(['"', '\'']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((token, after)) = tokens(rest) {
        let is_literal = token.text().starts_with(['"', '\'']);
        out.push_str(if is_literal { "\"\"" } else { token.text() });
        rest = after;
    }
    Cow::Owned(out)
}

/// What stands between the quotes of a text that is strings side by side; nothing for any other text.
pub(crate) fn literals(text: &str) -> Option<String> {
    let mut out = None;
    let mut rest = text;
    while let Some((token, after)) = tokens(rest) {
        let quoted = token.text().strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        match quoted {
            Some(quoted) => out.get_or_insert_with(String::new).push_str(quoted),
            None if token.is_blank() => {}
            None => return None,
        }
        rest = after;
    }
    out
}

/// The arguments in the parentheses that a text begins with, and what follows them.
pub(crate) fn arguments(text: &str) -> Option<(Vec<&str>, &str)> {
    let inside = text.trim_start().strip_prefix('(')?;
    let mut all = Vec::new();
    let (mut rest, mut start, mut depth) = (inside, 0, 0_usize);
    while let Some((token, after)) = tokens(rest) {
        let at = inside.len() - rest.len();
        match token.text() {
            ")" if depth == 0 => {
                all.push(inside.get(start..at)?);
                return Some((all, after));
            }
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.checked_sub(1)?,
            "," if depth == 0 => {
                all.push(inside.get(start..at)?);
                start = at + 1;
            }
            _ => {}
        }
        rest = after;
    }
    None
}

/// The text with words replaced.
pub(crate) fn replaced(text: &str, with: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((token, after)) = tokens(rest) {
        match token {
            Token::Word(word) => out.push_str(&with(word).unwrap_or_else(|| word.to_owned())),
            Token::Other(other) => out.push_str(other),
        }
        rest = after;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_end_where_their_parentheses_do() {
        assert_eq!(arguments(" (a, f(b, c), x[1, 2]) + 1"), Some((vec!["a", " f(b, c)", " x[1, 2]"], " + 1")));
        assert_eq!(arguments("()"), Some((vec![""], "")));
        assert_eq!(arguments("(')', \")\\\"\", /* ) */ 2);"), Some((vec!["')'", " \")\\\"\"", " /* ) */ 2"], ";")));
        assert_eq!(arguments("(a, b"), None);
        assert_eq!(arguments("x"), None);
    }

    #[test]
    fn literals_name_nothing() {
        assert_eq!(
            without_literals(r#"printf("n %d\n", n, 'n', L"\"n") + 1'000"#),
            r#"printf("", n, "", L"") + 1'000"#
        );
        for code in [r#"_Pragma("omp barrier")"#, r#"asm("nop")"#, r#"R"(n)""#, "n + 1"] {
            assert_eq!(without_literals(code), code);
        }
    }

    #[test]
    fn strings_side_by_side_are_one() {
        assert_eq!(literals(r#""a %" /* b */ "d\"" "#).as_deref(), Some(r#"a %d\""#));
        assert_eq!(literals(r#""a" PRIu64"#), None);
        assert_eq!(literals(""), None);
    }

    #[test]
    fn only_whole_words_are_replaced() {
        let with = |word: &str| (word == "i").then(|| "(j + 1)".to_owned());
        assert_eq!(replaced("i * ii + 1.5e3i + x.i \"i\" 'i'", with), "(j + 1) * ii + 1.5e3i + x.(j + 1) \"i\" 'i'");
    }
}
