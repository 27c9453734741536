//! One line for each diagnostic.

use std::io::{self, Write};

use crate::report::{Diagnostic, FileReport};

/// Writes `file:line:col: message [OMPS###]` for each diagnostic; a change ends with the pass instead of a rule.
pub(super) fn write(out: &mut dyn Write, report: &FileReport, messages: &[Diagnostic]) -> io::Result<()> {
    messages.iter().try_for_each(|diagnostic| writeln!(out, "{}", line(report, diagnostic)))
}

/// The line without its line end.
pub(super) fn line(report: &FileReport, diagnostic: &Diagnostic) -> String {
    let mut line = report.file.path.display().to_string();
    if let Some(position) = report.position(diagnostic) {
        line.push_str(&format!(":{}:{}", position.line, position.column));
    }
    // Without the word `error` a failure would look like any other message.
    let error = if diagnostic.span.is_none() { "error: " } else { "" };
    line.push_str(&format!(": {error}{}", diagnostic.message));
    let tag = diagnostic.code.map(|code| code.id()).or_else(|| report.plan_of(diagnostic).map(|plan| plan.pass.name()));
    if let Some(tag) = tag {
        line.push_str(&format!(" [{tag}]"));
    }
    // A line end in a name or message must not look like a second diagnostic.
    line.replace(['\n', '\r'], " ")
}
