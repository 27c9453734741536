//! The items of a `map` clause, read without a grammar.

use std::ops::Range;

use super::directives::words;

/// A `map` clause: all before the colon, and its items.
pub struct Map {
    /// The modifiers and the type: `always, to`; `tofrom` if nothing is written.
    pub modifiers: String,
    /// The list items: `a[0:n]`.
    pub items: Vec<String>,
}

impl Map {
    /// Reads the clause at this place, name and parentheses included.
    #[must_use]
    pub fn read(text: &[u8], clause: &Range<usize>) -> Self {
        let whole = words(text, clause);
        let inner = whole.split_once('(').map_or("", |(_, rest)| rest).trim_end_matches(')').to_owned();
        // The text may lose its last parenthesis here only if it belongs to a nested call; then it is added again.
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

/// The places of a character outside of brackets; a `::` does not count as a colon.
fn top_level(text: &str, wanted: char) -> Vec<usize> {
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
#[must_use]
pub fn base(item: &str) -> String {
    let item = item.trim_start_matches(['*', '&', '(', ' ']);
    item.split(['[', ')']).next().unwrap_or(item).trim().to_owned()
}
