//! Writes directives in the file's own style.

use std::fmt::Write as _;

use crate::edit::Edit;
use crate::source::{LineEnding, SourceFile, Span};
use crate::syntax::{ClauseName, Directive};

/// The longest line that is written without a continuation, in bytes.
pub const WIDTH: usize = 100;

/// How a directive of the file is laid out, for directives that are written beside it.
#[derive(Clone, Debug)]
pub struct Layout {
    /// What stands before `omp`: `#pragma`, `# pragma`, `%:pragma`.
    sentinel: String,
    /// The blanks before it on its line.
    pub indent: String,
    /// What ends a line.
    pub newline: &'static str,
    /// The blanks that one more level of a block takes.
    pub level: String,
}

impl Layout {
    /// Reads the layout off a directive.
    #[must_use]
    pub fn of(file: &SourceFile, directive: &Directive) -> Self {
        Self::at(file, directive.span)
    }

    /// Reads the layout off the whole text of a directive.
    fn at(file: &SourceFile, directive: Span) -> Self {
        let text = file.show(directive);
        let sentinel = text.split("omp").next().unwrap_or("#pragma").trim_end_matches(is_splice).to_owned();
        let indent = indent_of(file, directive.start);
        let level = if indent.contains('\t') { "\t".to_owned() } else { "  ".to_owned() };
        Self { sentinel, indent, newline: newline_at(file, directive.end), level }
    }

    /// The layout with other blanks at the start of the line.
    #[must_use]
    pub fn indented(&self, indent: String) -> Self {
        Self { indent, ..self.clone() }
    }

    /// A directive without the indent of its first line: broken with ` \` where it would be too long.
    #[must_use]
    pub fn write(&self, name: &str, clauses: &[String]) -> String {
        let mut out = format!("{} omp {name}", self.sentinel);
        let mut column = self.indent.len() + out.len();
        for clause in clauses {
            if column + 1 + clause.len() > WIDTH {
                out.push_str(" \\");
                out.push_str(self.newline);
                out.push_str(&self.indent);
                out.push_str("    ");
                column = self.indent.len() + 4;
            } else {
                out.push(' ');
                column += 1;
            }
            out.push_str(clause);
            column += clause.len();
        }
        out
    }
}

/// The line ending at `offset`. The last line of a text may have none: then the one of the line before.
fn newline_at(file: &SourceFile, offset: usize) -> &'static str {
    let after = file.text.get(offset..).unwrap_or_default().iter().position(|b| *b == b'\n').map(|at| at + offset);
    let end = after.or_else(|| file.text.iter().rposition(|b| *b == b'\n'));
    let crlf = end.and_then(|end| end.checked_sub(1)).and_then(|at| file.text.get(at)) == Some(&b'\r');
    if crlf { LineEnding::CrLf.bytes() } else { LineEnding::Lf.bytes() }
}

fn is_splice(c: char) -> bool {
    c == ' ' || c == '\t'
}

/// The edit that writes a directive on a line of its own in front of what stands at `at`, indented like it unless `layout` is not indented.
#[must_use]
pub fn in_front(file: &SourceFile, layout: &Layout, at: usize, name: &str, clauses: &[String]) -> Edit {
    let start = line_start(&file.text, at);
    let blanks = indent_of(file, at);
    let indent = if layout.indent.is_empty() { "" } else { &blanks };
    let (newline, text) = (layout.newline, format!("{indent}{}", layout.write(name, clauses)));
    if start + blanks.len() == at {
        return Edit { span: Span::new(start, start), text: format!("{text}{newline}") };
    }
    let before = file.bytes(Span::new(start, at)).trim_ascii_end().len();
    Edit { span: Span::new(start + before, at), text: format!("{newline}{text}{newline}{blanks}") }
}

/// The blanks that the line of `offset` starts with.
#[must_use]
pub fn indent_of(file: &SourceFile, offset: usize) -> String {
    let start = line_start(&file.text, offset);
    let blanks = file.text.get(start..offset).unwrap_or_default();
    let end = blanks.iter().position(|b| *b != b' ' && *b != b'\t').unwrap_or(blanks.len());
    String::from_utf8_lossy(&blanks[..end]).into_owned()
}

/// Does nothing but blanks stand before a byte on its line?
#[must_use]
pub fn starts_line(file: &SourceFile, offset: usize) -> bool {
    file.bytes(Span::new(line_start(&file.text, offset), offset)).iter().all(u8::is_ascii_whitespace)
}

/// Adds clauses behind the last one, each on a new line where the last line would be too long.
#[must_use]
pub fn append_clauses(file: &SourceFile, directive: &Directive, clauses: &[String]) -> Edit {
    let end = directive.clauses.last().map_or(directive.name_span.end, |last| last.span.end);
    insert_clauses(file, directive.span, end, clauses)
}

/// Adds clauses at a place of a directive.
#[must_use]
pub fn insert_clauses(file: &SourceFile, directive: Span, end: usize, clauses: &[String]) -> Edit {
    let rest = file.text.get(end..).unwrap_or_default().split(|byte| *byte == b'\n').next().unwrap_or_default();
    let layout = Layout::at(file, directive);
    // A comment at the end of the directive stays behind the last clause.
    let after = rest.trim_ascii_end().len();
    let mut width = end - line_start(&file.text, end);
    let mut text = String::new();
    for clause in clauses {
        if width + after + 1 + clause.len() > WIDTH {
            let start = format!("{}    ", layout.indent);
            let _infallible = write!(text, " \\{}{start}{clause}", layout.newline);
            width = start.len() + clause.len();
        } else {
            let _infallible = write!(text, " {clause}");
            width += 1 + clause.len();
        }
    }
    Edit { span: Span::new(end, end), text }
}

/// Says how many loops a directive takes: in the place of what it said, or behind its name.
#[must_use]
pub fn collapse(file: &SourceFile, directive: &Directive, depth: usize) -> Edit {
    let clause = format!("collapse({depth})");
    if let Some(old) = directive.clauses_of(ClauseName::Collapse).next() {
        return Edit { span: old.span, text: clause };
    }
    let text = file.show(directive.span);
    let first_line = text.lines().next().unwrap_or_default().len();
    let layout = Layout::of(file, directive);
    if layout.indent.len() + first_line + clause.len() < WIDTH {
        let end = directive.name_span.end;
        return Edit { span: Span::new(end, end), text: format!(" {clause}") };
    }
    let others = directive.clauses.iter().map(|clause| on_one_line(file, clause.span));
    let clauses: Vec<String> = std::iter::once(clause).chain(others).collect();
    replace(file, directive, &layout.write(&directive.name, &clauses))
}

/// Puts clauses in the place of others, which are given by their numbers in the directive. Blanks before a clause that goes, its comma
/// and its line continuation go too; a comment stays.
#[must_use]
pub fn exchange_clauses(file: &SourceFile, directive: &Directive, old: &[usize], new: &[String]) -> Vec<Edit> {
    let is_gap = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b'\\');
    let mut edits: Vec<Edit> = Vec::new();
    for index in old {
        let Some(clause) = directive.clauses.get(*index) else { continue };
        let before = index.checked_sub(1).and_then(|before| directive.clauses.get(before));
        let gap = Span::new(before.map_or(directive.name_span.end, |before| before.span.end), clause.span.start);
        let start = if file.bytes(gap).iter().all(is_gap) { gap.start } else { clause.span.start };
        let rest = file.bytes(Span::new(clause.span.end, directive.span.end));
        let blanks = rest.len() - rest.trim_ascii_start().len();
        let comma = if rest.get(blanks) == Some(&b',') { blanks + 1 } else { 0 };
        let start = edits.last().map_or(start, |last| start.max(last.span.end));
        edits.push(Edit { span: Span::new(start, clause.span.end + comma), text: String::new() });
    }
    if new.is_empty() {
        return edits;
    }
    let added = append_clauses(file, directive, new);
    match edits.last_mut().filter(|last| last.span.end == added.span.start) {
        Some(last) => last.text = added.text,
        None => edits.push(added),
    }
    edits
}

/// The clauses of a text that adds some, each with the comments behind it.
#[must_use]
pub fn clauses_of(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut depth = 0_usize;
    let mut is_inside = false;
    for word in text.split_whitespace().filter(|word| *word != "\\") {
        match found.last_mut().filter(|_| is_inside || depth > 0 || word.starts_with("/*")) {
            Some(last) => {
                last.push(' ');
                last.push_str(word);
            }
            None => found.push(word.to_owned()),
        }
        is_inside = (is_inside || word.starts_with("/*")) && !word.ends_with("*/");
        if !is_inside {
            depth += word.matches('(').count();
            depth = depth.saturating_sub(word.matches(')').count());
        }
    }
    found
}

/// Replaces a directive; a comment of its own that stands between its clauses is kept behind it.
#[must_use]
pub fn replace(file: &SourceFile, directive: &Directive, text: &str) -> Edit {
    let mut text = text.to_owned();
    for comment in comments_of(file, directive) {
        text.push(' ');
        text.push_str(&comment);
    }
    Edit { span: directive.span, text }
}

/// Takes a directive away with its line, unless something else stands on it; its comments are kept on a line of their own.
#[must_use]
pub fn remove(file: &SourceFile, directive: &Directive) -> Edit {
    let comments = comments_of(file, directive);
    let text = &file.text;
    let start = line_start(text, directive.span.start);
    let before_is_blank = text.get(start..directive.span.start).unwrap_or_default().iter().all(u8::is_ascii_whitespace);
    let rest = text.get(directive.span.end..).unwrap_or_default();
    let to_newline = rest.iter().position(|b| *b == b'\n').map_or(rest.len(), |at| at + 1);
    let after_is_blank = rest[..to_newline].iter().all(u8::is_ascii_whitespace);
    if !comments.is_empty() || !before_is_blank || !after_is_blank {
        return Edit { span: directive.span, text: comments.join(" ") };
    }
    Edit { span: Span::new(start, directive.span.end + to_newline), text: String::new() }
}

/// The comments inside a directive that lie outside its clauses; one that runs to the end of the line comes last.
#[must_use]
pub fn comments_of(file: &SourceFile, directive: &Directive) -> Vec<String> {
    let bytes = file.bytes(directive.span);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = find(bytes, b"/*", at) {
        let end = find(bytes, b"*/", open + 2).map_or(bytes.len(), |close| close + 2);
        found.push(Span::new(directive.span.start + open, directive.span.start + end));
        at = end;
    }
    let in_block = |at: usize| {
        found
            .iter()
            .any(|span: &Span| span.contains(Span::new(directive.span.start + at, directive.span.start + at + 1)))
    };
    let in_clause = |at: usize| {
        let place = Span::new(directive.span.start + at, directive.span.start + at + 2);
        directive.clauses.iter().any(|clause| clause.span.contains(place))
    };
    let mut at = 0;
    let line_comment = std::iter::from_fn(|| {
        let found = find(bytes, b"//", at)?;
        at = found + 1;
        Some(found)
    })
    .find(|at| !in_block(*at) && !in_clause(*at));
    found.extend(line_comment.map(|at| Span::new(directive.span.start + at, directive.span.end)));
    found.retain(|span| !directive.clauses.iter().any(|clause| clause.span.contains(*span)));
    found.into_iter().map(|span| file.show(span).into_owned()).collect()
}

fn find(bytes: &[u8], what: &[u8], from: usize) -> Option<usize> {
    bytes.get(from..)?.windows(what.len()).position(|window| window == what).map(|at| at + from)
}

/// The first byte of the line that holds `offset`.
#[must_use]
pub fn line_start(text: &[u8], offset: usize) -> usize {
    text.get(..offset).unwrap_or_default().iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1)
}

/// The end of a line where nothing but a comment stands behind a place, otherwise the place.
#[must_use]
pub fn text_end(file: &SourceFile, at: usize) -> usize {
    let rest = file.text.get(at..).unwrap_or_default();
    let line = rest.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    let text = line.trim_ascii();
    let is_comment = text.starts_with(b"//") && !text.ends_with(b"\\");
    if text.is_empty() || is_comment { at + line.trim_ascii_end().len() } else { at }
}

/// The text of a span on one line: continuations and line ends become blanks, runs of blanks one blank.
#[must_use]
pub fn on_one_line(file: &SourceFile, span: Span) -> String {
    let text = file.show(span);
    if !text.contains(['\n', '\r']) {
        return text.into_owned();
    }
    let mut out = String::new();
    for line in text.lines() {
        let line = line.trim().trim_end_matches('\\').trim();
        if !out.is_empty() && !line.is_empty() {
            out.push(' ');
        }
        out.push_str(line);
    }
    out
}
