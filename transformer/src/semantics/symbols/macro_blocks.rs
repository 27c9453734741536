//! Macros that stand for a block, from its first brace to its last: what they declare ends there.

use std::collections::BTreeSet;

use super::Symbols;
use crate::semantics::macros::expansion::tokens::{Token, arguments, tokens};
use crate::source::words;

/// How many macros are followed from one use.
const MOST: usize = 64;

impl Symbols<'_> {
    /// Is a statement's text the use of such a macro and nothing else, whichever of its definitions holds?
    pub(super) fn is_block_of_macro(&self, statement: &str, at: usize) -> bool {
        let Some((Token::Word(name), rest)) = tokens(statement.trim_start()) else { return false };
        let all = self.macros_named(name, at);
        let behind = match all.iter().all(|found| found.parameters.is_some()) {
            true => {
                arguments(rest).filter(|(given, _)| given.iter().all(|text| is_balanced(text))).map(|(_, rest)| rest)
            }
            false => Some(rest).filter(|_| all.iter().all(|found| found.parameters.is_none())),
        };
        behind.is_some_and(|behind| matches!(behind.trim(), "" | ";"))
            && !all.is_empty()
            && all.iter().all(|found| is_block(&found.body))
            && self.are_macros_balanced(name, at)
    }

    /// Does every macro that is named in the text of one, or in theirs, close as many braces as it opens?
    fn are_macros_balanced(&self, name: &str, at: usize) -> bool {
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut open = vec![name.to_owned()];
        while let Some(name) = open.pop() {
            let all = self.macros_named(&name, at);
            if all.is_empty() || !seen.insert(name) {
                continue;
            }
            if seen.len() > MOST || !all.iter().all(|found| is_balanced(&found.body)) {
                return false;
            }
            open.extend(all.iter().flat_map(|found| words(&found.body)).map(str::to_owned));
        }
        true
    }
}

/// Does a text begin with a brace that its last token closes?
fn is_block(text: &str) -> bool {
    let depths = depths(text.trim());
    depths.is_some_and(|depths| {
        depths.split_last().is_some_and(|(last, inner)| *last == 0 && inner.iter().all(|it| *it > 0))
    })
}

fn is_balanced(text: &str) -> bool {
    depths(text).is_some_and(|depths| depths.last().is_none_or(|last| *last == 0))
}

/// How many braces are open behind each token of a text, or `None` if it closes more than it opens, or writes braces in another way.
fn depths(text: &str) -> Option<Vec<usize>> {
    if ["<%", "%>", "??", "##"].iter().any(|other| text.replace("##__VA_ARGS__", "").contains(other)) {
        return None;
    }
    let (mut found, mut depth, mut rest) = (Vec::new(), 0_usize, text);
    while let Some((token, after)) = tokens(rest) {
        match token.text() {
            "{" => depth += 1,
            "}" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        found.push(depth);
        rest = after;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_end_with_their_last_token() {
        for text in ["{}", "{ int k; { k = 3; } }", " { puts(\"}\"); } ", "{ printf(f, ##__VA_ARGS__); }"] {
            assert!(is_block(text), "{text}");
        }
        for text in
            ["", "int k;", "{ } int k;", "{ int k;", "} {", "{ } { }", "do { } while (0)", "{ a ## b }", "<% %>"]
        {
            assert!(!is_block(text), "{text}");
        }
    }
}
