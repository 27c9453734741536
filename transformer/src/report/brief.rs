//! What a run prints by itself: a line for each construct that changes, and under it what its edits assume; errors in full.

use std::io::{self, Write};

use crate::report::digest::{Told, digest};
use crate::report::{FileReport, Severity, concise, full};

/// Writes the lines of one file.
pub(super) fn write(out: &mut dyn Write, report: &FileReport, colour: bool) -> io::Result<()> {
    for message in digest(report, Told::Changes) {
        if message.severity == Severity::Error {
            full::write(out, report, &[message], colour)?;
            continue;
        }
        writeln!(out, "{}", concise::line(report, &message))?;
        message.notes.iter().try_for_each(|note| writeln!(out, "    {note}"))?;
    }
    Ok(())
}
