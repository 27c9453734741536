//! Diagnostics for people and for programs.

mod brief;
mod concise;
mod constructs;
mod diagnostic;
mod digest;
pub mod explanation;
mod full;
mod github;
mod json;
pub mod page;
mod sarif;
pub mod snapshot;
pub mod stats;
pub mod summary;

use std::io::{self, Write};

pub use diagnostic::{Diagnostic, FileReport, Kind, PlanUse, Severity};
pub use digest::{Told, digest};
pub use stats::Stats;

/// How diagnostics are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A line for each construct that changes.
    #[default]
    Brief,
    /// With the source lines and what to do about it.
    Full,
    /// `file:line:col: message [OMPS###]`, one line each.
    Concise,
    /// One JSON object; see [`json_schema`].
    Json,
    /// SARIF 2.1.0, as code scanning services read it.
    Sarif,
    /// Annotations of GitHub Actions.
    Github,
}

impl Format {
    /// Is it for people, file by file, rather than one document for a program?
    #[must_use]
    pub fn is_for_people(self) -> bool {
        matches!(self, Self::Brief | Self::Full | Self::Concise)
    }
}

/// The JSON schema of what [`Format::Json`] gives.
#[must_use]
pub fn json_schema() -> schemars::Schema {
    json::schema()
}

/// Writes the diagnostics of all files in their order. The formats for people write those that are `told`, one for each construct; the
/// others write all.
///
/// # Errors
/// When writing fails.
pub fn write(out: &mut dyn Write, format: Format, files: &[&FileReport], told: Told, colour: bool) -> io::Result<()> {
    match format {
        Format::Brief => files.iter().try_for_each(|file| brief::write(out, file, colour)),
        Format::Full => files.iter().try_for_each(|file| full::write(out, file, &digest(file, told), colour)),
        Format::Concise => files.iter().try_for_each(|file| concise::write(out, file, &digest(file, told))),
        Format::Json => json::write(out, files),
        Format::Sarif => sarif::write(out, files),
        Format::Github => files.iter().try_for_each(|file| github::write(out, file)),
    }
}
