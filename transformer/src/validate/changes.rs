//! What an output changed: directives, and the kernels whose results or transfers may differ. The text is read without
//! a grammar, as in [`super::host::directives`].

use std::collections::BTreeMap;
use std::ops::Range;

use super::host::directives::{added, closing, directives, is_kernel, words};

/// The directives that an output does not have from its original.
#[must_use]
pub fn changed_directives(original: &[u8], output: &[u8]) -> Vec<Range<usize>> {
    let added = added(original, output);
    directives(output).into_iter().filter(|range| added.contains(&words(output, range))).collect()
}

/// The directives of the kernels that an output changed: those that occur in it more often than in the original,
/// statement included, and those in the statement of a directive that was added. If there are none, all of them: the
/// change then lies between the kernels.
#[must_use]
pub fn changed_kernels(original: &[u8], output: &[u8]) -> Vec<Range<usize>> {
    let mut left: BTreeMap<String, usize> = BTreeMap::new();
    for kernel in kernels(original) {
        *left.entry(whole(original, &kernel)).or_default() += 1;
    }
    let all = kernels(output);
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for kernel in &all {
        *times.entry(whole(output, kernel)).or_default() += 1;
    }
    let around: Vec<Range<usize>> = changed_directives(original, output)
        .into_iter()
        .map(|directive| directive.start..statement_end(output, directive.end))
        .collect();
    let is_changed = |kernel: &&Range<usize>| {
        let text = whole(output, kernel);
        times.get(&text) > left.get(&text) || around.iter().any(|range| range.contains(&kernel.start))
    };
    let changed: Vec<_> = all.iter().filter(is_changed).cloned().collect();
    if changed.is_empty() { all } else { changed }
}

/// The line of a place, counted from 1.
#[must_use]
pub fn line_of(text: &[u8], at: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', text.get(..at).unwrap_or(text)).count()
}

fn kernels(text: &[u8]) -> Vec<Range<usize>> {
    directives(text).into_iter().filter(|range| is_kernel(&words(text, range))).collect()
}

/// A directive and its statement with blanks reduced, since indentation is no change.
fn whole(text: &[u8], directive: &Range<usize>) -> String {
    words(text, &(directive.start..statement_end(text, directive.end)))
}

/// The end of the statement behind `from`: a block, or a loop or `if` with its body.
fn statement_end(text: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        at = skip(text, at);
        let rest = text.get(at..).unwrap_or_default();
        let word = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let open = skip(text, at + word);
        match rest.get(..word).unwrap_or_default() {
            b"for" | b"while" | b"if" | b"switch" if text.get(open) == Some(&b'(') => {
                at = closing(text, open, b'(', b')') + 1;
                continue;
            }
            b"do" | b"else" => {
                at += word;
                continue;
            }
            _ => {}
        }
        let end = match rest.first() {
            None => return text.len(),
            Some(b'{') => closing(text, at, b'{', b'}') + 1,
            Some(_) => memchr::memchr(b';', rest).map_or(text.len(), |length| at + length + 1),
        };
        at = skip(text, end);
        if !text.get(at..).unwrap_or_default().starts_with(b"else") {
            return end.min(text.len());
        }
    }
}

/// Passes over blanks, comments, and lines of the preprocessor.
pub(super) fn skip(text: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        at += match rest {
            [b' ' | b'\t' | b'\r' | b'\n', ..] => 1,
            [b'/', b'*', ..] => memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2),
            [b'/', b'/', ..] => line_length(rest),
            [b'#', ..] => {
                let mut length = line_length(rest);
                while rest.get(..length).is_some_and(|line| line.trim_ascii_end().ends_with(b"\\"))
                    && length < rest.len()
                {
                    length += 1 + line_length(rest.get(length + 1..).unwrap_or_default());
                }
                length.min(rest.len())
            }
            _ => return at,
        };
    }
}

fn line_length(rest: &[u8]) -> usize {
    memchr::memchr(b'\n', rest).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of the kernels that changed.
    fn lines(original: &str, output: &str) -> Vec<usize> {
        let kernels = changed_kernels(original.as_bytes(), output.as_bytes());
        kernels.iter().map(|kernel| line_of(output.as_bytes(), kernel.start)).collect()
    }

    const FIRST: &str = "#pragma omp target map(a) \\\n  map(b)\nfor (;;) {\n  if (x) y; else { z; }\n}\n";
    const SECOND: &str = "#pragma omp target map(c)\nfor (;;)\n  for (;;) u;\nv;\n";

    #[test]
    fn what_changes_inside_a_kernel_changes_it() {
        let text = format!("{FIRST}{SECOND}");
        assert_eq!(lines(&text, &text.replace("u;", "\n#pragma omp unroll\n  w;")), [6]);
        assert_eq!(lines(&text, &text.replace("z;", "zz;")), [1]);
        assert_eq!(lines(&text, &text.replace("map(c)", "map(c) thread_limit(9)")), [6]);
    }

    #[test]
    fn a_kernel_that_stays_is_none_of_the_changes() {
        // The region occurs twice: one copy is the original, indented.
        let new = "#pragma omp target teams loop\nfor (;;) {}\n";
        assert_eq!(lines(FIRST, &format!("if (n) {{\n{new}}} else {{\n  {FIRST}}}\n")), [2]);
    }

    #[test]
    fn an_added_environment_changes_the_kernels_in_it() {
        let text = format!("{FIRST}{SECOND}");
        assert_eq!(lines(&text, &format!("#pragma omp target data map(a)\n{{\n{FIRST}}}\n{SECOND}")), [3]);
        // A change between kernels may affect any of them.
        assert_eq!(lines(&text, &text.replace("v;", "vv;")), [1, 6]);
    }

    #[test]
    fn a_statement_that_never_ends_ends_with_the_text() {
        for text in ["for (", "{", "if (a) b; else", "/*", "# \\", "do", ""] {
            assert_eq!(statement_end(text.as_bytes(), 0), text.len(), "{text}");
        }
    }
}
