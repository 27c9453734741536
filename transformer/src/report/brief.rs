//! What a run prints by itself: a line for each construct that changes, and under it what its edits assume; errors in full. What is said of
//! several constructs of a file is said once.

use std::io::{self, Write};

use crate::report::digest::{Told, digest};
use crate::report::{Diagnostic, FileReport, Severity, concise, full};

/// Writes the lines of one file.
pub(super) fn write(out: &mut dyn Write, report: &FileReport, colour: bool) -> io::Result<()> {
    for (mut message, lines) in together(report, digest(report, Told::Changes)) {
        if message.severity == Severity::Error {
            full::write(out, report, &[message], colour)?;
            continue;
        }
        message.message.push_str(&also(&lines));
        writeln!(out, "{}", concise::line(report, &message))?;
        message.notes.iter().try_for_each(|note| writeln!(out, "    {note}"))?;
    }
    Ok(())
}

/// Messages with the lines of those behind them that say the same.
fn together(report: &FileReport, all: Vec<Diagnostic>) -> Vec<(Diagnostic, Vec<usize>)> {
    let pass = |message: &Diagnostic| report.plan_of(message).map(|plan| plan.pass);
    let mut groups: Vec<(Diagnostic, Vec<usize>)> = Vec::new();
    for message in all {
        let is_same = |(first, _): &&mut (Diagnostic, Vec<usize>)| {
            let said = |one: &Diagnostic| (one.message.clone(), one.notes.clone(), one.code, pass(one));
            first.severity != Severity::Error && said(first) == said(&message)
        };
        let line = report.position(&message).map(|position| position.line);
        match (groups.iter_mut().find(is_same), line) {
            (Some((_, lines)), Some(line)) => lines.push(line),
            _ => groups.push((message, Vec::new())),
        }
    }
    groups
}

/// `, also in lines 30, 42 and 57`.
fn also(lines: &[usize]) -> String {
    let words: Vec<String> = lines.iter().map(usize::to_string).collect();
    match words.split_last() {
        None => String::new(),
        Some((last, [])) => format!(", also in line {last}"),
        Some((last, first)) => format!(", also in lines {} and {last}", first.join(", ")),
    }
}
