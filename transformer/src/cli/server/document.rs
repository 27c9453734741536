//! A text that is open in an editor, and its positions.

use std::path::{Path, PathBuf};

use lsp_types::{Position, Range, TextEdit, Uri};
use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::source::{SourceFile, Span};

/// A text that is open in an editor.
#[derive(Clone, Debug)]
pub(super) struct Document {
    /// What the client calls it.
    pub uri: Uri,
    /// The client's number of this text.
    pub version: i32,
    /// The file, with the text as it is in the editor.
    pub file: SourceFile,
    /// Where the lines begin, by the protocol's line ends.
    starts: Vec<usize>,
}

impl Document {
    pub(super) fn new(uri: Uri, language: &str, version: i32, text: String) -> Self {
        let path = path_of(&uri, language);
        Self::at(path, uri, version, text)
    }

    fn at(path: PathBuf, uri: Uri, version: i32, text: String) -> Self {
        let starts = starts_of(text.as_bytes());
        Self { uri, version, file: SourceFile::new(path, text.into_bytes()), starts }
    }

    /// The same document with a newer text.
    pub(super) fn changed(&self, version: i32, text: String) -> Self {
        Self::at(self.file.path.clone(), self.uri.clone(), version, text)
    }

    fn index(&self) -> Lines<'_> {
        Lines { text: &self.file.text, starts: &self.starts }
    }

    pub(super) fn range(&self, span: Span) -> Range {
        let lines = self.index();
        Range { start: lines.position(span.start), end: lines.position(span.end) }
    }

    pub(super) fn span(&self, range: Range) -> Span {
        let lines = self.index();
        let start = lines.offset(range.start);
        Span::new(start, lines.offset(range.end).max(start))
    }

    /// The lines that a range touches, without the end of the last one.
    pub(super) fn lines(&self, range: Range) -> Span {
        let start = Position { character: 0, ..range.start };
        self.span(Range { start, end: Position { character: u32::MAX, ..range.end } })
    }

    /// The edits that make `text` of the document, whole lines each.
    pub(super) fn edits_to(&self, text: &[u8]) -> Vec<TextEdit> {
        let (old, new) = (lines_of(&self.file.text), lines_of(text));
        let lines = self.index();
        let changes = capture_diff_slices(Algorithm::Myers, &old, &new);
        let changes = changes.into_iter().filter(|op| op.tag() != DiffTag::Equal);
        changes
            .map(|op| {
                let at = |line: usize| lines.position(lines.starts.get(line).copied().unwrap_or(self.file.text.len()));
                let new_text = new.get(op.new_range()).unwrap_or_default().concat();
                let range = Range { start: at(op.old_range().start), end: at(op.old_range().end) };
                TextEdit { range, new_text: String::from_utf8_lossy(&new_text).into_owned() }
            })
            .collect()
    }
}

/// Where the lines of a text begin, by the protocol's line ends: `\n`, `\r\n` and `\r`.
struct Lines<'a> {
    text: &'a [u8],
    starts: &'a [usize],
}

impl Lines<'_> {
    fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let before = self.text.get(start..offset.min(self.text.len())).unwrap_or_default();
        let units = String::from_utf8_lossy(before).encode_utf16().count();
        Position { line: u32::try_from(line).unwrap_or(u32::MAX), character: u32::try_from(units).unwrap_or(u32::MAX) }
    }

    /// The byte of a position. What lies behind a line's end means that end, and what lies inside a character its start.
    fn offset(&self, position: Position) -> usize {
        let line = usize::try_from(position.line).unwrap_or(usize::MAX);
        let Some(start) = self.starts.get(line).copied() else { return self.text.len() };
        let end = self.starts.get(line.saturating_add(1)).copied().unwrap_or(self.text.len());
        let text = String::from_utf8_lossy(self.text.get(start..end).unwrap_or_default());
        let (mut bytes, mut units) = (0, 0);
        for c in text.trim_end_matches(['\r', '\n']).chars() {
            units += c.len_utf16();
            if units > usize::try_from(position.character).unwrap_or(usize::MAX) {
                break;
            }
            bytes += c.len_utf8();
        }
        start + bytes
    }
}

fn starts_of(text: &[u8]) -> Vec<usize> {
    let mut starts = vec![0];
    starts.extend(lines_of(text).iter().scan(0, |end, line| {
        *end += line.len();
        Some(*end)
    }));
    if text.last().is_some_and(|last| !is_end(*last)) {
        // The last line has no end, and no line follows it.
        starts.pop();
    }
    starts
}

fn is_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// The lines of a text, with their ends.
fn lines_of(text: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| is_end(*byte)).map_or(rest.len(), |at| at + 1);
        let is_pair = rest.get(end - 1) == Some(&b'\r') && rest.get(end) == Some(&b'\n');
        let (line, behind) = rest.split_at(if is_pair { end + 1 } else { end });
        lines.push(line);
        rest = behind;
    }
    lines
}

/// The path that a document goes by. One without a file gets a name that tells its language.
fn path_of(uri: &Uri, language: &str) -> PathBuf {
    if uri.scheme().is_some_and(|scheme| scheme.as_str() == "file") {
        return PathBuf::from(decoded(uri.path().as_str()));
    }
    Path::new("untitled").with_extension(if language == "c" { "c" } else { "cpp" })
}

/// The bytes of a path in which `%20` and the like stand for bytes.
fn decoded(path: &str) -> std::ffi::OsString {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let escaped = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match escaped.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    os_string(bytes)
}

#[cfg(unix)]
fn os_string(bytes: Vec<u8>) -> std::ffi::OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> std::ffi::OsString {
    // `/C:/a.c` names a file of a drive.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    text.strip_prefix('/').filter(|rest| rest.as_bytes().get(1) == Some(&b':')).unwrap_or(&text).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Document {
        Document::new("file:///a%20b/%C3%A9.c".parse().unwrap(), "c", 1, text.to_owned())
    }

    #[test]
    fn paths_are_decoded() {
        assert_eq!(document("").file.path, Path::new("/a b/é.c"));
        let untitled = Document::new("untitled:Untitled-1".parse().unwrap(), "cpp", 1, String::new());
        assert_eq!(untitled.file.path, Path::new("untitled.cpp"));
    }

    #[test]
    fn positions_count_utf_16_and_all_line_ends() {
        let document = document("a\r\n/* 😀é */ b\rc\n");
        let b = "a\r\n/* 😀é */ b".len() - 1;
        let at = document.range(Span::new(b, b + 1));
        assert_eq!((at.start, at.end), (Position::new(1, 10), Position::new(1, 11)));
        assert_eq!(document.span(at), Span::new(b, b + 1));
        assert_eq!(document.range(Span::new(b + 2, b + 4)).start, Position::new(2, 0));
        // Inside of a pair of units, behind the end of a line, behind the end of the text.
        assert_eq!(document.span(Range::new(Position::new(1, 4), Position::new(0, 99))).start, 6);
        assert_eq!(document.span(Range::new(Position::new(0, 99), Position::new(0, 99))).start, 1);
        assert_eq!(document.span(Range::new(Position::new(9, 0), Position::new(9, 0))).start, document.file.text.len());
    }

    #[test]
    fn edits_make_the_other_text() {
        for (before, after) in [
            ("a\nb\nc\n", "a\nB\nc\n"),
            ("a\r\nb\r\nc", "a\r\nb\r\nd"),
            ("", "a\n"),
            ("a", ""),
            ("a\nb", "a\nb\nc"),
            ("a\n\nb\n", "x\na\n\nb\n"),
        ] {
            let document = document(before);
            let mut text = before.to_owned();
            for edit in document.edits_to(after.as_bytes()).iter().rev() {
                let span = document.span(edit.range);
                text.replace_range(span.start..span.end, &edit.new_text);
            }
            assert_eq!(text, after, "{before:?}");
        }
    }
}
