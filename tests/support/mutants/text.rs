//! The text of directives, as far as the operators need it.

use std::ops::Range;

pub use ompsplit::validate::host::directives::{directives, is_kernel, words};

/// The clauses of this name in a directive, name and parentheses included.
pub fn clauses<'a>(text: &'a [u8], directive: &Range<usize>, name: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let end = directive.end;
    let mut at = directive.start;
    std::iter::from_fn(move || {
        while at < end {
            let rest = text.get(at..end)?;
            let starts =
                rest.starts_with(name.as_bytes()) && !at.checked_sub(1).and_then(|i| text.get(i)).is_some_and(is_word);
            let open =
                rest.iter().skip(name.len()).position(|byte| !byte.is_ascii_whitespace()).map(|i| at + name.len() + i);
            match open.filter(|open| starts && text.get(*open) == Some(&b'(')) {
                Some(open) => {
                    let close = closing(text, open, b'(', b')');
                    let range = at..(close + 1).min(end);
                    at = range.end;
                    return Some(range);
                }
                None => at += 1,
            }
        }
        None
    })
}

fn line_end(text: &[u8], from: usize) -> usize {
    text.iter().skip(from).position(|byte| *byte == b'\n').map_or(text.len(), |length| from + length)
}

fn is_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

/// Where the bracket that opens at `open` closes; strings, character constants and comments are passed over.
pub fn closing(text: &[u8], open: usize, opening: u8, closing: u8) -> usize {
    let mut depth = 0_usize;
    let mut at = open;
    while let Some(byte) = text.get(at).copied() {
        let rest = text.get(at..).unwrap_or_default();
        if rest.starts_with(b"//") {
            at = line_end(text, at);
        } else if rest.starts_with(b"/*") {
            at += rest.windows(2).skip(2).position(|pair| pair == b"*/").map_or(rest.len(), |i| i + 4);
        } else if byte == b'"' || byte == b'\'' {
            at += 1;
            while text.get(at).is_some_and(|b| *b != byte && *b != b'\n') {
                at += if text.get(at) == Some(&b'\\') { 2 } else { 1 };
            }
            at += 1;
        } else {
            if byte == opening {
                depth += 1;
            } else if byte == closing {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            at += 1;
        }
    }
    text.len()
}

/// The block after a directive.
pub fn body(text: &[u8], from: usize) -> Range<usize> {
    match text.iter().skip(from).position(|byte| !byte.is_ascii_whitespace()).map(|i| from + i) {
        Some(open) if text.get(open) == Some(&b'{') => open..closing(text, open, b'{', b'}'),
        _ => from..from,
    }
}

/// A `map` clause: all before the colon, and its items.
pub struct Map {
    /// `always, to`
    pub modifiers: String,
    /// `a[0:n]`
    pub items: Vec<String>,
}

impl Map {
    /// Reads the clause at this place.
    pub fn read(text: &[u8], clause: &Range<usize>) -> Self {
        let whole = words(text, clause);
        let inner = whole.split_once('(').map_or("", |(_, rest)| rest).trim_end_matches(')').to_owned();
        // A section's closing bracket is no parenthesis, so only a nested call can lose one here; give it back.
        let inner = if whole.ends_with("))") { format!("{inner}{}", ")".repeat(unclosed(&inner))) } else { inner };
        let colon = top_level(&inner, ':').into_iter().next();
        let (modifiers, list) = match colon {
            Some(at) => (inner.get(..at).unwrap_or_default().trim(), inner.get(at + 1..).unwrap_or_default()),
            None => ("tofrom", inner.as_str()),
        };
        let mut items = Vec::new();
        let mut start = 0;
        for comma in top_level(list, ',').into_iter().chain([list.len()]) {
            items.push(list.get(start..comma).unwrap_or_default().trim().to_owned());
            start = comma + 1;
        }
        Self { modifiers: modifiers.to_owned(), items }
    }
}

fn unclosed(text: &str) -> usize {
    text.matches('(').count().saturating_sub(text.matches(')').count())
}

/// The places of a character outside brackets; a `::` is no colon.
pub fn top_level(text: &str, wanted: char) -> Vec<usize> {
    let mut depth = 0_i32;
    let mut found = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        let scope = c == ':'
            && (text.get(at + 1..).is_some_and(|t| t.starts_with(':'))
                || text.get(..at).is_some_and(|t| t.ends_with(':')));
        if c == wanted && depth == 0 && !scope {
            found.push(at);
        }
    }
    found
}

/// The variable that an item starts with: `a` of `a[0:n]` and of `*a`, `s.x` of `s.x[0:n]`.
pub fn base(item: &str) -> String {
    let item = item.trim_start_matches(['*', '&', '(', ' ']);
    item.split(['[', ')']).next().unwrap_or(item).trim().to_owned()
}
