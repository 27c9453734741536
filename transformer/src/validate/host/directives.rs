//! The `#pragma omp` lines of a text, read without a grammar, so that the copies for checking an output do not depend
//! on the code that made the output.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The directives that occur more often in an output than in its original, as their words.
#[must_use]
pub fn added(original: &[u8], output: &[u8]) -> BTreeSet<String> {
    let count = |text: &[u8]| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for range in directives(text) {
            *counts.entry(words(text, &range)).or_default() += 1;
        }
        counts
    };
    let old = count(original);
    let is_new = |(words, times): &(String, usize)| *times > old.get(words).copied().unwrap_or(0);
    count(output).into_iter().filter(is_new).map(|(words, _)| words).collect()
}

/// The text with disjoint ranges replaced.
pub(super) fn apply(text: &[u8], mut edits: Vec<(Range<usize>, String)>) -> Vec<u8> {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    edits.dedup();
    let mut out = Vec::new();
    let mut at = 0;
    for (range, new) in edits {
        out.extend_from_slice(text.get(at..range.start).unwrap_or_default());
        out.extend_from_slice(new.as_bytes());
        at = range.end;
    }
    out.extend_from_slice(text.get(at..).unwrap_or_default());
    out
}

/// Does a directive launch a kernel?
#[must_use]
pub fn is_kernel(words: &str) -> bool {
    let mut names = words.split(|c: char| !c.is_alphanumeric() && c != '_');
    names.next() == Some("target") && !matches!(names.next(), Some("data" | "enter" | "exit" | "update"))
}

/// The `#pragma omp` lines, from after `omp` to the end of the last continued line.
#[must_use]
pub fn directives(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let mut end = line_end(text, at);
        let line = String::from_utf8_lossy(text.get(at..end).unwrap_or_default()).into_owned();
        let trimmed = line.trim_start();
        let sentinel = trimmed
            .strip_prefix('#')
            .and_then(|rest| rest.trim_start().strip_prefix("pragma"))
            .and_then(|rest| rest.trim_start().strip_prefix("omp"))
            .filter(|rest| rest.starts_with([' ', '\t', '\\']));
        if let Some(rest) = sentinel {
            let start = end - rest.len();
            while text.get(start..end).is_some_and(|t| t.trim_ascii_end().ends_with(b"\\")) && end < text.len() {
                end = line_end(text, end + 1);
            }
            let kept = text.get(start..end).unwrap_or_default().trim_ascii_end().len();
            found.push(start..start + kept);
        }
        at = end + 1;
    }
    found
}

fn line_end(text: &[u8], from: usize) -> usize {
    text.iter().skip(from).position(|byte| *byte == b'\n').map_or(text.len(), |length| from + length)
}

/// A directive's text with single blanks.
#[must_use]
pub fn words(text: &[u8], range: &Range<usize>) -> String {
    let text = String::from_utf8_lossy(text.get(range.clone()).unwrap_or_default()).replace('\\', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

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

fn is_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

/// Where the bracket that opens at `open` closes, or the text's length if it does not. Strings, character constants and
/// comments are skipped.
#[must_use]
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

/// The block after a directive, without its closing brace; empty if another statement follows.
#[must_use]
pub fn body(text: &[u8], from: usize) -> Range<usize> {
    let Some(open) = text.iter().skip(from).position(|byte| !byte.is_ascii_whitespace()).map(|i| from + i) else {
        return from..from;
    };
    let rest = text.get(open..).unwrap_or_default();
    let is_loop =
        |word: &[u8]| rest.starts_with(word) && !rest.get(word.len()).copied().is_some_and(|byte| is_word(&byte));
    if rest.starts_with(b"{") {
        return open..closing(text, open, b'{', b'}');
    }
    if is_loop(b"do") {
        return open..body(text, open + 2).end;
    }
    let head = [&b"for"[..], b"while"].into_iter().find(|word| is_loop(word));
    let parenthesis = head
        .and_then(|word| rest.iter().skip(word.len()).position(|byte| *byte == b'(').map(|i| open + word.len() + i));
    match parenthesis {
        Some(parenthesis) => open..body(text, closing(text, parenthesis, b'(', b')') + 1).end,
        None => from..from,
    }
}

/// One word of a directive, with what stands in parentheses behind it.
pub(super) struct Word {
    /// The word.
    pub name: String,
    /// From the word to the end of its parentheses.
    pub range: Range<usize>,
    /// Does it have parentheses?
    pub has_argument: bool,
}

/// The words of a directive in order: its name, then its clauses. Comments are skipped.
pub(super) fn all_words(text: &[u8], directive: &Range<usize>) -> Vec<Word> {
    let mut found = Vec::new();
    let mut at = directive.start;
    while at < directive.end {
        let rest = text.get(at..directive.end).unwrap_or_default();
        if rest.starts_with(b"//") {
            break;
        }
        if rest.starts_with(b"/*") {
            at += rest.windows(2).skip(2).position(|pair| pair == b"*/").map_or(rest.len(), |i| i + 4);
            continue;
        }
        let length = rest.iter().take_while(|byte| is_word(byte)).count();
        if length == 0 {
            at += 1;
            continue;
        }
        let name = String::from_utf8_lossy(rest.get(..length).unwrap_or_default()).into_owned();
        let blank = |byte: &&u8| byte.is_ascii_whitespace() || **byte == b'\\';
        let open = at + length + rest.iter().skip(length).take_while(blank).count();
        let has_argument = open < directive.end && text.get(open) == Some(&b'(');
        let end = if has_argument { (closing(text, open, b'(', b')') + 1).min(directive.end) } else { at + length };
        found.push(Word { name, range: at..end, has_argument });
        at = end;
    }
    found
}
