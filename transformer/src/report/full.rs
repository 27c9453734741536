//! Diagnostics with the source lines that they are about.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;

use codespan_reporting::diagnostic::{self as shown, Label};
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term::termcolor::{Ansi, NoColor, WriteColor};
use codespan_reporting::term::{Config, emit_to_write_style};

use crate::report::{Diagnostic, FileReport, Severity};
use crate::source::{LineIndex, Span};

/// Longer lines are not shown: they are generated, and a line of megabytes would drown every message.
const LONGEST_LINE: usize = 1_000;

/// Writes messages about a file.
pub(super) fn write(out: &mut dyn Write, report: &FileReport, messages: &[Diagnostic], colour: bool) -> io::Result<()> {
    if messages.is_empty() {
        return Ok(());
    }
    let source = Source::new(report);
    let mut text = Vec::new();
    for diagnostic in messages {
        let result = if colour {
            emit(&mut Ansi::new(&mut text), &source, diagnostic)
        } else {
            emit(&mut NoColor::new(&mut text), &source, diagnostic)
        };
        result.map_err(io::Error::other)?;
    }
    out.write_all(&text)
}

/// Writes one diagnostic.
fn emit(out: &mut dyn WriteColor, source: &Source, diagnostic: &Diagnostic) -> Result<(), Error> {
    let severity = match diagnostic.severity {
        Severity::Help => shown::Severity::Help,
        Severity::Note => shown::Severity::Note,
        Severity::Warning => shown::Severity::Warning,
        Severity::Error => shown::Severity::Error,
    };
    let mut built = shown::Diagnostic::new(severity);
    if let Some(code) = diagnostic.code {
        built = built.with_code(code.id());
    }
    let mut notes = diagnostic.notes.clone();
    match diagnostic.span {
        None => built = built.with_message(format!("{}: {}", source.name, diagnostic.message)),
        Some(span) if source.can_show(span) => {
            built = built.with_message(&diagnostic.message).with_labels(source.labels(span, &diagnostic.labels));
        }
        Some(span) => {
            built = built.with_message(&diagnostic.message);
            let place = source.lines.line_column(span.start);
            notes.insert(0, format!("at {}:{}:{}", source.name, place.line, place.column));
        }
    }
    emit_to_write_style(out, &Config::default(), source, &built.with_notes(notes))
}

/// A file as it is shown. Each byte that is no UTF-8 is shown as `?`, so that offsets stay the same.
struct Source<'a> {
    name: String,
    text: Cow<'a, str>,
    lines: &'a LineIndex,
}

impl<'a> Source<'a> {
    fn new(report: &'a FileReport) -> Self {
        let name = report.file.path.display().to_string();
        Self { name, text: printable(&report.file.text), lines: &report.file.lines }
    }

    /// Are the lines where the span starts and ends short enough?
    fn can_show(&self, span: Span) -> bool {
        [span.start, span.end].into_iter().all(|at| {
            let line = self.lines.line_column(at).line;
            self.bounds(line).is_some_and(|bounds| bounds.len() <= LONGEST_LINE)
        })
    }

    /// The bytes of a line that is counted from 1, its end included.
    fn bounds(&self, line: usize) -> Option<Range<usize>> {
        let start = self.lines.line_start(line)?;
        Some(start..self.lines.line_start(line + 1).unwrap_or(self.text.len()).max(start))
    }

    /// The place itself and the other places that can be shown.
    fn labels(&self, span: Span, further: &[(Span, String)]) -> Vec<Label<()>> {
        let shown = further.iter().filter(|(span, _)| self.can_show(*span));
        let secondary = shown.map(|(span, word)| Label::secondary((), self.range(*span)).with_message(word));
        std::iter::once(Label::primary((), self.range(span))).chain(secondary).collect()
    }

    /// A span widened to whole characters.
    fn range(&self, span: Span) -> Range<usize> {
        let length = self.text.len();
        let is_boundary = |at: &usize| self.text.is_char_boundary(*at);
        let start = (0..=span.start.min(length)).rev().find(is_boundary).unwrap_or(0);
        let end = (span.end.min(length)..=length).find(is_boundary).unwrap_or(length);
        start..end.max(start)
    }
}

impl<'a> Files<'a> for Source<'_> {
    type FileId = ();
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, (): ()) -> Result<&'a str, Error> {
        Ok(&self.name)
    }

    fn source(&'a self, (): ()) -> Result<&'a str, Error> {
        Ok(&self.text)
    }

    fn line_index(&'a self, (): (), byte_index: usize) -> Result<usize, Error> {
        Ok(self.lines.line_column(byte_index).line - 1)
    }

    /// Counted in bytes, as in every other format and as compilers do.
    fn column_number(&'a self, (): (), _line_index: usize, byte_index: usize) -> Result<usize, Error> {
        Ok(self.lines.line_column(byte_index).column)
    }

    fn line_range(&'a self, (): (), line_index: usize) -> Result<Range<usize>, Error> {
        self.bounds(line_index + 1).ok_or(Error::LineTooLarge { given: line_index, max: line_index })
    }
}

/// The text with `?` for every byte that belongs to no character, and a blank for every control character that would
/// move the cursor. The length stays.
fn printable(text: &[u8]) -> Cow<'_, str> {
    let control = |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\n' | b'\r' | b'\t');
    if let Ok(text) = std::str::from_utf8(text)
        && !text.as_bytes().iter().any(control)
    {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        shown.extend(chunk.valid().chars().map(|c| if c.is_ascii() && control(&(c as u8)) { ' ' } else { c }));
        shown.extend(chunk.invalid().iter().map(|_| '?'));
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Kind, PlanUse};
    use crate::source::{Scan, SourceFile};

    fn report(text: &[u8], start: usize, end: usize) -> String {
        let file = SourceFile::new("a.c", text.to_vec());
        let mut report = FileReport::new(file, &Scan::default(), Vec::new(), false, PlanUse::default());
        report.diagnostics.push(Diagnostic {
            severity: Severity::Warning,
            kind: Kind::Failure,
            code: None,
            message: "here".to_owned(),
            span: Some(Span::new(start, end)),
            labels: Vec::new(),
            notes: Vec::new(),
            plan: None,
        });
        let mut out = Vec::new();
        write(&mut out, &report, &report.diagnostics, false).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn latin_1_keeps_columns() {
        let shown = report(b"int a;\n/* \xe9\xe8 */ bad;\n", 16, 19);
        assert!(shown.contains("a.c:2:10"), "{shown}");
        assert!(shown.contains("/* ?? */ bad;"), "{shown}");
        assert!(shown.contains("          ^^^"), "{shown}");
    }

    #[test]
    fn carriage_returns_and_the_end_of_the_file_do_no_harm() {
        assert!(report(b"a\r\nb", 3, 4).contains("a.c:2:1"));
        assert!(report(b"", 0, 0).contains("a.c:1:1"));
        assert!(report("é".as_bytes(), 1, 2).contains('^'));
    }

    #[test]
    fn a_very_long_line_is_not_shown() {
        let mut text = vec![b'x'; 2_000_000];
        text.push(b'\n');
        let shown = report(&text, 1_000_000, 1_000_001);
        assert!(shown.contains("at a.c:1:1000001"), "{}", shown.len());
        assert!(shown.len() < 200);
    }
}
