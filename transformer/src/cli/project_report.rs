//! `report`: one HTML page for a project.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Instant;

use crate::cli::arguments::{ContextArguments, OutputArguments, PassArguments, Rewrite};
use crate::cli::process::Engine;
use crate::cli::{Status, Streams, complain, rewrite};
use crate::output;
use crate::report::page::{self, PageFile};
use crate::report::{FileReport, Stats};

/// What `report` is given.
#[derive(Clone, Debug, clap::Args)]
pub struct ReportCommand {
    /// Files or folders, as for rewriting; none is changed
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<std::path::PathBuf>,
    /// The page
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub output: std::path::PathBuf,
    /// What is done.
    #[command(flatten)]
    pub passes: PassArguments,
    /// What the decisions may rest on.
    #[command(flatten)]
    pub context: ContextArguments,
}

/// Looks at all files and writes the page.
pub(super) fn run(command: &ReportCommand, streams: &mut Streams<'_>, engine: Engine) -> io::Result<Status> {
    let started = Instant::now();
    let ReportCommand { paths, output: target, passes, context } = command;
    let looked = OutputArguments { check: true, ..OutputArguments::default() };
    let arguments = Rewrite {
        paths: paths.clone(),
        output: looked,
        passes: passes.clone(),
        context: context.clone(),
        ..Rewrite::default()
    };
    let (all, notes) = match rewrite::processed(&arguments, true, engine) {
        Ok(found) => found,
        Err(message) => return complain(streams, &message),
    };
    let diffs: Vec<String> = all.iter().map(|processed| diff(&processed.report, processed.text.as_deref())).collect();
    let files: Vec<PageFile<'_>> = all
        .iter()
        .zip(&diffs)
        .map(|(processed, diff)| PageFile {
            report: &processed.report,
            diff,
            regions: &processed.regions,
            device: processed.device.as_ref(),
        })
        .collect();
    let reports: Vec<&FileReport> = all.iter().map(|processed| &processed.report).collect();
    let mut text = Vec::new();
    page::write(&mut text, &files, &Stats::new(&reports, started.elapsed()))?;
    if let Err(error) = fs::write(target, text) {
        return complain(streams, &format!("{}: {error}", target.display()));
    }
    for note in &notes {
        writeln!(streams.stderr, "ompsplit: note: {note}")?;
    }
    let plural = if files.len() == 1 { "" } else { "s" };
    writeln!(streams.stderr, "{} tells of {} file{plural}", target.display(), files.len())?;
    let failed = all.iter().filter(|processed| processed.failed);
    let failed: Vec<&Path> = failed.map(|processed| processed.report.file.path.as_path()).collect();
    match failed.first() {
        Some(first) if failed.len() == 1 => complain(streams, &format!("{} failed", first.display())),
        Some(first) => complain(streams, &format!("{} files failed, first {}", failed.len(), first.display())),
        None => Ok(Status::Clean),
    }
}

fn diff(report: &FileReport, text: Option<&[u8]>) -> String {
    let diff = text.map(|text| output::unified(&report.file.path, &report.file.text, text, false));
    String::from_utf8_lossy(&diff.unwrap_or_default()).into_owned()
}
