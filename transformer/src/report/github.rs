//! Workflow commands that GitHub Actions turns into annotations.

use std::io::{self, Write};

use crate::report::{Diagnostic, FileReport, Severity};

/// Writes `::warning file=..,line=..,..::message` for each diagnostic.
pub(super) fn write(out: &mut dyn Write, report: &FileReport) -> io::Result<()> {
    report.diagnostics.iter().try_for_each(|diagnostic| writeln!(out, "{}", command(report, diagnostic)))
}

/// The command without its line end.
fn command(report: &FileReport, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Help | Severity::Note => "notice",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    let mut command = format!("::{level} file={}", property(&report.file.path.to_string_lossy()));
    if let Some(span) = diagnostic.span {
        let start = report.file.lines.line_column(span.start);
        let end = report.file.lines.line_column(span.end);
        command.push_str(&format!(",line={},col={}", start.line, start.column));
        // The service takes an end column only for a range within one line.
        if end.line == start.line {
            command.push_str(&format!(",endColumn={}", end.column));
        } else {
            command.push_str(&format!(",endLine={}", end.line));
        }
    }
    let title = diagnostic.code.map_or("ompsplit", |code| code.id());
    format!("{command},title={}::{}", property(title), data(&diagnostic.message))
}

/// A message with the characters escaped that would end it.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property's value with the characters escaped that would end it.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_what_would_end_a_message_or_a_property() {
        assert_eq!(data("100%\nof a:b,c"), "100%25%0Aof a:b,c");
        assert_eq!(property("a:b,c"), "a%3Ab%2Cc");
    }
}
