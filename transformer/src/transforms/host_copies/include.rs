//! The line that includes the header of page-locked memory: directly before the first include of the file.
//!
//! Only comments, definitions and conditions may stand before it, so that no surrounding text changes what the header
//! declares. The header itself includes other headers only on systems where it pins nothing, so that definitions behind
//! it do not come too late for these.

#[cfg(test)]
mod tests;

use memchr::memmem;

use crate::context::Context;
use crate::edit::Edit;
use crate::source::pragma_scan::skip_token;
use crate::source::{Conditional, Include, Language, Scan, SourceFile, Span, scan, words};

/// The header that page-locks memory.
const HEADER: &str = "ompsplit_pin.h";

const REQUIRES: &[u8] = b"requires";

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Includes the header before `start`.
///
/// # Errors
/// If there is no place for it.
pub(in crate::transforms) fn include(cx: &Context<'_>, start: usize) -> Result<Vec<Edit>, String> {
    let includes_it = |include: &Include| {
        let path = cx.file.show(include.path);
        let is_seen = cx.scan.conditionals.iter().all(|group| has_no_border(group, include.span.start, start));
        include.span.end <= start && is_seen && path.rsplit('/').next() == Some(HEADER)
    };
    if cx.scan.includes.iter().any(includes_it) {
        return Ok(Vec::new());
    }
    let Some(at) = place(cx.file, cx.scan, start) else {
        return Err(format!(
            "\"{HEADER}\" finds no place: before the first include stands more than comments and definitions"
        ));
    };
    let in_header =
        |header: &SourceFile| names_requires(&header.text) && requires(&header.text, &scan(&header.text), 0);
    if requires(&cx.file.text, cx.scan, at) || cx.compilation.headers.iter().any(in_header) {
        return Err(format!("a `requires` directive must stand before the directives in \"{HEADER}\""));
    }
    let rest = cx.file.text.get(at..).unwrap_or_default();
    let line = rest.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
    let newline = if line.ends_with(b"\r\n") { "\r\n" } else { "\n" };
    Ok(vec![Edit { span: Span::new(at, at), text: format!("#include \"{HEADER}\"{newline}") }])
}

/// The kinds of lines at the beginning of a file.
enum Line {
    /// A line that may stand before the header.
    Harmless,
    /// A definition. It must also stay before the header, because headers may depend on it, as on `_GNU_SOURCE`.
    Definition,
    Include,
    Other,
}

/// Where the line for the header may stand, within the branches of conditions that enclose `start`.
fn place(file: &SourceFile, found: &Scan, start: usize) -> Option<usize> {
    let text = file.text.as_slice();
    let first = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let mut defined = 0;
    let mut at = first;
    loop {
        at = skip_blanks(text, at);
        let end = line_end(text, at);
        match line(text.get(at..end)?) {
            Line::Harmless => at = end,
            Line::Definition => {
                defined = end;
                at = end;
            }
            Line::Include => break,
            Line::Other if is_program_without_includes(file, found, at, start) => break,
            Line::Other => return None,
        }
    }
    // The header must stand before the outermost group that has the place in another branch than the loop.
    let border = found.conditionals.iter().find(|group| !has_no_border(group, at, start));
    let at = border.map_or(at, |group| group.span.start);
    let newline = text.get(..at)?.iter().rposition(|byte| matches!(byte, b'\n' | b'\r'));
    let line_start = newline.map_or(first, |newline| newline + 1);
    let begins_line = text.get(line_start..at)?.trim_ascii().is_empty();
    (begins_line && at <= start && defined <= at).then_some(line_start)
}

/// Are both places in the same branch, or is the first one outside of the group of conditions?
fn has_no_border(group: &Conditional, one: usize, other: usize) -> bool {
    let branch =
        |at: usize| group.branches.iter().position(|branch| (branch.line.start..branch.content.end).contains(&at));
    branch(one).is_none_or(|place| branch(other) == Some(place))
}

fn line(text: &[u8]) -> Line {
    let Some(directive) = text.strip_prefix(b"#") else { return Line::Other };
    let directive = String::from_utf8_lossy(directive);
    let mut words = words(&directive);
    let name = words.next().filter(|name| directive.trim_start().starts_with(name));
    match name.unwrap_or_default() {
        "include" | "include_next" | "import" => Line::Include,
        "define" | "undef" => Line::Definition,
        "if" | "ifdef" | "ifndef" | "elif" | "elifdef" | "elifndef" | "else" | "endif" | "error" | "warning" => {
            Line::Harmless
        }
        "pragma" if words.next() == Some("once") => Line::Harmless,
        _ => Line::Other,
    }
}

/// Does the first declaration of a file that is compiled by itself stand there? A file that others include may be
/// included anywhere.
fn is_program_without_includes(file: &SourceFile, found: &Scan, at: usize, start: usize) -> bool {
    let is_source = Language::by_ending(&file.path).is_some() && !Language::is_header(&file.path);
    let rest = file.text.get(at..).unwrap_or_default();
    let begins_name = rest.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let first = String::from_utf8_lossy(rest.get(..rest.len().min(16)).unwrap_or_default()).into_owned();
    // Only the beginning of a module may stand before these.
    let is_module = matches!(words(&first).next(), Some("module" | "export" | "import"));
    is_source && begins_name && !is_module && !found.includes.iter().any(|include| include.span.start < start)
}

/// Does a `requires` directive stand behind a place, or an unreadable directive that may be one?
fn requires(text: &[u8], found: &Scan, from: usize) -> bool {
    let begins = |body: Span| text.get(skip_blanks(text, body.start)..).is_some_and(|rest| rest.starts_with(REQUIRES));
    let is_one = |body: Option<Span>| body.is_none_or(begins);
    names_requires(text) && found.directives.iter().any(|it| it.span.start >= from && is_one(it.body))
}

fn names_requires(text: &[u8]) -> bool {
    memmem::find(text, REQUIRES).is_some()
}

/// The place behind blanks, comments and line continuations.
fn skip_blanks(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(byte) = text.get(at) {
        let next = skip_token(text, at);
        if !(byte.is_ascii_whitespace() || *byte == b'\\' || (*byte == b'/' && next > at + 1)) {
            break;
        }
        at = next;
    }
    at
}

/// The end of a line, including its continuation lines.
fn line_end(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(rest) = text.get(at..).filter(|rest| !matches!(rest, [] | [b'\n' | b'\r', ..])) {
        at = match rest {
            [b'\\', b'\r', b'\n', ..] => at + 3,
            [b'\\', b'\n' | b'\r', ..] => at + 2,
            _ => skip_token(text, at),
        };
    }
    at
}
