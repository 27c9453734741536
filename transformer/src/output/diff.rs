//! Unified diffs of byte texts.

use std::ops::Range;
use std::path::Path;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

/// How many unchanged lines surround a change.
const CONTEXT: usize = 3;

/// Escape sequences that colour a diff; empty ones leave it plain.
struct Palette {
    header: &'static str,
    range: &'static str,
    removed: &'static str,
    added: &'static str,
    reset: &'static str,
}

const PLAIN: Palette = Palette { header: "", range: "", removed: "", added: "", reset: "" };
const COLOURED: Palette =
    Palette { header: "\x1b[1m", range: "\x1b[36m", removed: "\x1b[31m", added: "\x1b[32m", reset: "\x1b[0m" };

/// The changes from `before` to `after` as `patch` and `git apply` read them (`-p1`); empty if there are none.
///
/// Lines are compared and copied as bytes: carriage returns, Latin-1 and a missing last newline survive.
#[must_use]
pub fn unified(path: &Path, before: &[u8], after: &[u8], colour: bool) -> Vec<u8> {
    let palette = if colour { &COLOURED } else { &PLAIN };
    written(path, before, after, palette, &(0..usize::MAX))
}

/// The changes without colours. Only changes near the lines `wanted` of `before`, counted from 0, are shown.
#[must_use]
pub fn unified_near(path: &Path, before: &[u8], after: &[u8], wanted: &Range<usize>) -> Vec<u8> {
    written(path, before, after, &PLAIN, wanted)
}

/// The lines of `after` that stand in the place of some lines of `before`, counted from 0.
#[must_use]
pub fn lines_after(before: &[u8], after: &[u8], wanted: &Range<usize>) -> Range<usize> {
    let (old, new) = (lines(before), lines(after));
    let mut found: Option<Range<usize>> = None;
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        let (from, to) = (op.old_range(), op.new_range());
        if from.start > wanted.end || from.end < wanted.start {
            continue;
        }
        // Of unchanged lines, only those of `wanted` count.
        let part = match op.tag() {
            DiffTag::Equal => {
                let start = to.start + wanted.start.saturating_sub(from.start);
                start..to.end.min(to.start + wanted.end.saturating_sub(from.start))
            }
            _ => to,
        };
        found = Some(found.map_or(part.clone(), |all| all.start.min(part.start)..all.end.max(part.end)));
    }
    found.unwrap_or(0..0)
}

fn written(path: &Path, before: &[u8], after: &[u8], palette: &Palette, wanted: &Range<usize>) -> Vec<u8> {
    let old = lines(before);
    let new = lines(after);
    let groups = group_diff_ops(capture_diff_slices(Algorithm::Myers, &old, &new), CONTEXT);
    let is_wanted = |op: &DiffOp| {
        let range = op.old_range();
        op.tag() != DiffTag::Equal && range.start <= wanted.end && range.end >= wanted.start
    };
    let mut out = Vec::new();
    for group in groups.iter().filter(|group| group.iter().any(is_wanted)) {
        if out.is_empty() {
            header(&mut out, path, palette);
        }
        hunk(&mut out, group, &old, &new, palette);
    }
    out
}

/// The two lines that name the file.
fn header(out: &mut Vec<u8>, path: &Path, palette: &Palette) {
    let name = path.to_string_lossy();
    let name = name.trim_start_matches("./").trim_start_matches('/');
    // `patch` ends a name at a blank unless a tab follows it.
    let tab = if name.contains(' ') { "\t" } else { "" };
    for (mark, side) in [("---", "a"), ("+++", "b")] {
        let line = format!("{}{mark} {side}/{name}{tab}{}\n", palette.header, palette.reset);
        out.extend_from_slice(line.as_bytes());
    }
}

/// One group of changes with its surroundings.
fn hunk(out: &mut Vec<u8>, group: &[DiffOp], old: &[&[u8]], new: &[&[u8]], palette: &Palette) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let old_range = range(first.old_range().start, last.old_range().end);
    let new_range = range(first.new_range().start, last.new_range().end);
    out.extend_from_slice(format!("{}@@ -{old_range} +{new_range} @@{}\n", palette.range, palette.reset).as_bytes());
    for op in group {
        if op.tag() == DiffTag::Equal {
            push_lines(out, b' ', old.get(op.old_range()).unwrap_or_default(), "", "");
        } else {
            push_lines(out, b'-', old.get(op.old_range()).unwrap_or_default(), palette.removed, palette.reset);
            push_lines(out, b'+', new.get(op.new_range()).unwrap_or_default(), palette.added, palette.reset);
        }
    }
}

/// The lines of one side behind their mark.
fn push_lines(out: &mut Vec<u8>, mark: u8, lines: &[&[u8]], colour: &str, reset: &str) {
    for line in lines {
        let (content, ended) = line.strip_suffix(b"\n").map_or((*line, false), |content| (content, true));
        out.extend_from_slice(colour.as_bytes());
        out.push(mark);
        out.extend_from_slice(content);
        out.extend_from_slice(reset.as_bytes());
        out.push(b'\n');
        if !ended {
            out.extend_from_slice(b"\\ No newline at end of file\n");
        }
    }
}

/// A range of lines, counted from 0, as a hunk's header writes it: an empty range names the line before it.
fn range(start: usize, end: usize) -> String {
    match end - start {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        length => format!("{},{length}", start + 1),
    }
}

/// The lines of a text, each with its newline.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(before: &[u8], after: &[u8]) -> Vec<u8> {
        unified(Path::new("x.c"), before, after, false)
    }

    #[test]
    fn changes_near_some_lines_are_found() {
        let before = b"0\n1\n2\n3\n4\n5\n6\n7\na\nb\nc\n8\n9\n";
        let after = b"0\nx\ny\n2\n3\n4\n5\n6\n7\na\nb\nc\nz\nz\nz\n9\n";
        let near =
            |wanted: Range<usize>| String::from_utf8(unified_near(Path::new("x.c"), before, after, &wanted)).unwrap();
        assert!(near(1..2).contains("+x\n+y\n") && !near(1..2).contains("+z"), "{}", near(1..2));
        assert!(near(11..12).contains("+z\n+z\n+z\n") && !near(11..12).contains("+x"));
        assert_eq!(near(5..6), "");
        assert_eq!(lines_after(before, after, &(3..5)), 4..6);
        assert_eq!(lines_after(before, after, &(11..12)), 12..15);
    }

    #[test]
    fn equal_texts_have_no_diff() {
        assert!(plain(b"a\n", b"a\n").is_empty());
        assert!(plain(b"", b"").is_empty());
    }

    #[test]
    fn keeps_bytes_line_ends_and_a_missing_newline() {
        let diff = plain(b"\xe9\r\nb", b"\xe9\r\nc\xff");
        let wanted: &[u8] = b"--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n \xe9\r\n-b\n\\ No newline at end of file\n\
            +c\xff\n\\ No newline at end of file\n";
        assert_eq!(diff, wanted);
    }

    #[test]
    fn far_changes_make_separate_hunks() {
        let before: String = (0..20).map(|i| format!("{i}\n")).collect();
        let after = before.replace("0\n1\n", "1\n").replace("19\n", "nineteen\n");
        let diff = String::from_utf8(plain(before.as_bytes(), after.as_bytes())).unwrap();
        assert_eq!(diff.matches("@@ -").count(), 2);
        assert!(diff.contains("@@ -1,4 +1,3 @@\n-0\n 1\n"), "{diff}");
    }

    #[test]
    fn an_insertion_into_nothing_names_line_zero() {
        let diff = String::from_utf8(plain(b"", b"a\n")).unwrap();
        assert!(diff.contains("@@ -0,0 +1 @@\n+a\n"), "{diff}");
    }

    #[test]
    fn a_name_with_a_blank_ends_with_a_tab() {
        let diff = unified(Path::new("./my file.c"), b"a\n", b"b\n", false);
        assert!(diff.starts_with(b"--- a/my file.c\t\n+++ b/my file.c\t\n"));
    }
}
