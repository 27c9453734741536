//! Whether two runs gave the same results.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::run::Run;

/// Which differences between two runs are ignored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// How far two numbers `a` and `b` in a line may lie apart: `tolerance * max(1, |a|, |b|)`. The number of blanks
    /// may then differ too. Without it every byte counts.
    pub tolerance: Option<f64>,
    /// Lines that hold one of these texts are not compared: those that print a time, for example.
    pub ignore: Vec<String>,
    /// Is standard error compared as well?
    pub stderr: bool,
    /// Files that the program writes and that are compared as well, relative to the folder it runs in.
    pub files: Vec<PathBuf>,
    /// The exit status that the original is expected to end with.
    pub exit: i32,
    /// A file that holds what the original is expected to print.
    pub expected: Option<PathBuf>,
}

impl Comparison {
    /// The first thing that differs between two runs, in words.
    #[must_use]
    pub fn difference(&self, expected: &Run, got: &Run) -> Option<String> {
        if expected.end != got.end {
            return Some(format!("it ends with {} instead of {}{}", got.end, expected.end, last_words(got)));
        }
        if let Some(text) = self.texts("standard output", &expected.stdout, &got.stdout) {
            return Some(text);
        }
        if self.stderr
            && let Some(text) = self.texts("standard error", &expected.stderr, &got.stderr)
        {
            return Some(text);
        }
        let pairs = self.files.iter().zip(expected.files.iter().zip(&got.files));
        pairs.into_iter().find_map(|(name, (expected, got))| match (expected, got) {
            (None, None) => None,
            (Some(_), None) => Some(format!("it does not write {}", name.display())),
            (None, Some(_)) => Some(format!("it writes {}, the original does not", name.display())),
            (Some(expected), Some(got)) => self.texts(&name.display().to_string(), expected, got),
        })
    }

    /// The first line that differs between two texts, in words.
    pub(super) fn texts(&self, name: &str, expected: &[u8], got: &[u8]) -> Option<String> {
        let (mut old, mut new) = (self.lines(expected), self.lines(got));
        loop {
            match (old.next(), new.next()) {
                (None, None) => return None,
                (Some((_, old)), Some((_, new))) if self.same_line(old, new) => {}
                (old, new) => {
                    let line = new.or(old).map_or(0, |(number, _)| number);
                    let (old, new) = (shown(old), shown(new));
                    return Some(format!("line {line} of {name} is {new} instead of {old}"));
                }
            }
        }
    }

    /// The lines that are compared, with their numbers from 1. Each has its line end, so that a missing one is noticed.
    fn lines<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = (usize, &'a [u8])> {
        let lines = text.split_inclusive(|byte| *byte == b'\n').enumerate().map(|(index, line)| (index + 1, line));
        lines.filter(|(_, line)| {
            let holds = |part: &String| memchr::memmem::find(line, part.as_bytes()).is_some();
            !self.ignore.iter().any(holds)
        })
    }

    fn same_line(&self, old: &[u8], new: &[u8]) -> bool {
        if old == new {
            return true;
        }
        let Some(tolerance) = self.tolerance else { return false };
        let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
        let (old, new) = (pieces(&old), pieces(&new));
        old.len() == new.len() && old.iter().zip(&new).all(|(old, new)| old.is_close(new, tolerance))
    }
}

/// A part of a line.
#[derive(Debug, PartialEq)]
enum Piece<'a> {
    Text(&'a str),
    Number(f64),
}

impl Piece<'_> {
    fn is_close(&self, other: &Self, tolerance: f64) -> bool {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a == b || (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0),
            (a, b) => a == b,
        }
    }
}

/// The decimal numbers of a line and the words between them, without blanks.
fn pieces(line: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    for word in line.split_whitespace() {
        let mut text = 0;
        let mut at = 0;
        while at < word.len() {
            let inside_name =
                word.get(..at).and_then(|t| t.chars().next_back()).is_some_and(|c| c.is_alphanumeric() || c == '_');
            let length = if inside_name { 0 } else { number_length(word.as_bytes().get(at..).unwrap_or_default()) };
            match word.get(at..at + length).filter(|_| length > 0).and_then(|digits| digits.parse().ok()) {
                Some(number) => {
                    found.extend(word.get(text..at).filter(|t| !t.is_empty()).map(Piece::Text));
                    found.push(Piece::Number(number));
                    at += length;
                    text = at;
                }
                None => at += word.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8),
            }
        }
        found.extend(word.get(text..).filter(|t| !t.is_empty()).map(Piece::Text));
    }
    found
}

/// The length of the decimal number that a text starts with: sign, digits, fraction, exponent.
fn number_length(text: &[u8]) -> usize {
    let digits = |from: usize| text.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let whole = digits(sign);
    let mut end = sign + whole;
    let mut fraction = 0;
    if text.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return 0;
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let from = end + 1 + usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(from);
        if exponent > 0 {
            end = from + exponent;
        }
    }
    end
}

/// A line for a message.
fn shown(line: Option<(usize, &[u8])>) -> String {
    const MOST_CHARACTERS: usize = 160;
    let Some((_, line)) = line else { return "missing".to_owned() };
    let text = String::from_utf8_lossy(line);
    let end = if line.ends_with(b"\n") { "" } else { " without a line end" };
    let text = text.trim_end_matches(['\n', '\r']);
    let short: String = text.chars().take(MOST_CHARACTERS).collect();
    let more = if short.len() < text.len() { ".." } else { "" };
    format!("`{short}{more}`{end}")
}

/// The last lines of standard error, or else of standard output, where many programs tell what is wrong; behind a colon.
#[must_use]
pub fn last_words(run: &Run) -> String {
    let said = if run.stderr.trim_ascii().is_empty() { &run.stdout } else { &run.stderr };
    let text = String::from_utf8_lossy(said);
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.get(lines.len().saturating_sub(6)..).unwrap_or_default();
    if last.is_empty() { String::new() } else { format!(":\n    {}", last.join("\n    ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(comparison: &Comparison, old: &str, new: &str) -> Option<String> {
        comparison.texts("standard output", old.as_bytes(), new.as_bytes())
    }

    #[test]
    fn every_byte_counts_by_default() {
        let exact = Comparison::default();
        assert_eq!(difference(&exact, "a\nb 1\n", "a\nb 1\n"), None);
        let text = difference(&exact, "a\nb 1\n", "a\nb 2\n").unwrap_or_default();
        assert_eq!(text, "line 2 of standard output is `b 2` instead of `b 1`");
        assert!(difference(&exact, "a\n", "a").is_some_and(|text| text.contains("without a line end")));
        assert!(difference(&exact, "a\nb\n", "a\n").is_some_and(|text| text.contains("is missing instead of `b`")));
        assert!(difference(&exact, "1.0\n", "1.00\n").is_some());
    }

    #[test]
    fn a_tolerance_is_for_numbers_alone() {
        let near = Comparison { tolerance: Some(1e-6), ..Comparison::default() };
        for (old, new) in
            [("x= 1000.0001", "x=  1000.0002"), ("-0.0000001", "0.0000001"), ("(1e10,2)", "(10000000001,2)")]
        {
            assert_eq!(difference(&near, old, new), None, "{old} {new}");
        }
        for (old, new) in
            [("1.0\n", "1.1\n"), ("a1 2\n", "a2 2\n"), ("nan\n", "1\n"), ("1 2\n", "1\n"), ("1\n", "inf\n")]
        {
            assert!(difference(&near, old, new).is_some(), "{old} {new}");
        }
    }

    #[test]
    fn lines_can_be_left_out() {
        let comparison = Comparison { ignore: vec!["seconds".to_owned()], ..Comparison::default() };
        assert_eq!(difference(&comparison, "1\n3 seconds\n", "1\n4 seconds\n"), None);
        assert_eq!(difference(&comparison, "1\n", "1\n4 seconds\n"), None);
        assert!(difference(&comparison, "1\n3 seconds\n2\n", "1\n2 seconds\n3\n").is_some());
    }
}
