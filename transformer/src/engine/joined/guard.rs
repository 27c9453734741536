//! What makes a header's text stand once, however often it is included.

use crate::source::pragma_scan::skip_token;
use crate::source::{Scan, SourceFile, Span, words};

/// How a header sees to that its text stands once.
pub(in crate::engine) enum Guard {
    /// It does not.
    None,
    /// `#pragma once`.
    Once,
    /// `#ifndef NAME`, `#define NAME` around all of it.
    Name { name: String, span: Span, lines: Vec<Span> },
}

impl Guard {
    /// The condition around all of the file.
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::Name { span, .. } => Some(*span),
            _ => None,
        }
    }

    /// The lines of that condition.
    pub fn lines(&self) -> &[Span] {
        match self {
            Self::Name { lines, .. } => lines,
            _ => &[],
        }
    }
}

/// The guard of a file.
pub(in crate::engine) fn guard(file: &SourceFile, scan: &Scan) -> Guard {
    let is_once = |span: &Span| {
        let text = file.show(*span);
        words(&text).eq(["pragma", "once"]) && !scan.conditionals.iter().any(|group| group.span.contains(*span))
    };
    let once = || scan.masked.iter().any(is_once).then_some(Guard::Once);
    named(file, scan).or_else(once).unwrap_or(Guard::None)
}

fn named(file: &SourceFile, scan: &Scan) -> Option<Guard> {
    let group = scan.conditionals.first()?;
    let [branch] = &group.branches[..] else { return None };
    let definition = scan.definitions.iter().find(|definition| definition.span.start >= branch.line.end)?;
    let name = file.show(definition.name).into_owned();
    let line = file.show(branch.line);
    let asked: Vec<&str> = words(&line).collect();
    let asks_for_it = asked == ["ifndef", &name] || asked == ["if", "defined", &name] && line.contains('!');
    let [.., last] = &group.lines()[..] else { return None };
    let blank = |start, end| is_only_comments(&file.text, Span::new(start, end));
    let is_around_all = !last.is_empty()
        && blank(0, group.span.start)
        && blank(branch.line.end, definition.span.start)
        && blank(group.span.end, file.text.len());
    (asks_for_it && is_around_all).then(|| Guard::Name { name, span: group.span, lines: group.lines() })
}

/// Is there nothing but blanks and comments?
pub(super) fn is_only_comments(text: &[u8], part: Span) -> bool {
    let mut at = part.start;
    while at < part.end {
        let rest = text.get(at..).unwrap_or_default();
        match rest.first() {
            Some(byte) if byte.is_ascii_whitespace() => at += 1,
            _ if rest.starts_with(b"//") || rest.starts_with(b"/*") => at = skip_token(text, at).max(at + 1),
            _ => return false,
        }
    }
    at <= part.end || text.get(part.end..at).is_some_and(|rest| rest.ends_with(b"\n"))
}
