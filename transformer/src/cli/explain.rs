//! `explain`: what every pass decides about the constructs at a line, and why.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use crate::cli::arguments::{ContextArguments, HostArguments, OutputArguments, PassArguments};
use crate::cli::process::{self, Engine, Processed};
use crate::cli::settings::Resolver;
use crate::cli::{Status, Streams, complain};
use crate::engine::RegionFacts;
use crate::output;
use crate::plan::{Applicability, Certainty, Decision, Plan, Reason};
use crate::report::explanation;
use crate::source::{SourceFile, Span};

/// Says what every pass decides about the constructs at a line, and why.
pub(super) fn explain(
    place: &str,
    context: &ContextArguments,
    mut passes: PassArguments,
    streams: &mut Streams<'_>,
    engine: Engine,
) -> io::Result<Status> {
    let Some((path, line)) = parse_place(place) else {
        return complain(streams, &format!("`{place}` is no place; give FILE:LINE, lines counted from 1"));
    };
    passes.lines.clear();
    let (output, host) = (OutputArguments::default(), HostArguments::default());
    let mut settings = match Resolver::new(context, &passes, &output, &host).settings(path) {
        Ok(settings) => settings,
        Err(message) => return complain(streams, &message),
    };
    settings.explain = true;
    let processed = process::path(path, &settings, engine);
    if processed.failed {
        let message = processed.report.diagnostics.first().map(|d| d.message.clone()).unwrap_or_default();
        return complain(streams, &format!("{}: {message}", path.display()));
    }
    let headers = crate::cli::headers::load(&processed.report.file, &settings.include_dirs, &settings.sources).files;
    let file = &processed.report.file;
    let regions = crate::engine::regions(file, &headers, &process::options(&settings)).unwrap_or_default();
    Explained { processed: &processed, regions }.write(line, streams.stdout)?;
    Ok(Status::Clean)
}

/// The file and the line of `FILE:LINE`.
fn parse_place(place: &str) -> Option<(&Path, usize)> {
    let (path, line) = place.rsplit_once(':')?;
    let line = line.parse().ok().filter(|line| *line > 0)?;
    (!path.is_empty()).then_some((Path::new(path), line))
}

/// What `explain` tells of.
struct Explained<'a> {
    processed: &'a Processed,
    regions: Vec<RegionFacts>,
}

impl Explained<'_> {
    /// Writes the plans for the constructs that hold a line, the outermost first, and what came of them.
    fn write(&self, line: usize, out: &mut dyn Write) -> io::Result<()> {
        let file = &self.processed.report.file;
        let first = file.lines.line_start(line).unwrap_or(file.text.len());
        let last = file.lines.line_start(line + 1).unwrap_or(file.text.len() + 1);
        let touches = |plan: &&Plan| plan.extent.start < last && plan.extent.end > first;
        let all = &self.processed.report.plans;
        let around: Vec<Span> = all.iter().filter(touches).map(|plan| plan.extent).collect();
        // What later passes do with the kernels that came of a construct is about that construct.
        let concerns =
            |plan: &&Plan| touches(plan) || plan.follows && around.iter().any(|extent| extent.contains(plan.extent));
        let plans: Vec<&Plan> = all.iter().filter(concerns).collect();
        if plans.is_empty() {
            return writeln!(out, "{}:{line}: no pass concerns itself with a construct here", file.path.display());
        }
        let mut told: Vec<Span> = Vec::new();
        for plan in &plans {
            write_plan(file, plan, out)?;
            self.write_region(plan, &mut told, out)?;
            write_details(file, plan, out)?;
        }
        let start = plans.iter().map(|plan| plan.extent.start).min().unwrap_or_default();
        let end = plans.iter().map(|plan| plan.extent.end).max().unwrap_or_default();
        let line_of = |offset| file.lines.line_column(offset).line;
        self.write_output(&(line_of(start) - 1..line_of(end)), out)
    }

    /// Writes the facts about the region that a plan is about. The first of several plans tells what the others are about too.
    fn write_region(&self, plan: &Plan, told: &mut Vec<Span>, out: &mut dyn Write) -> io::Result<()> {
        let Some(region) = self.regions.iter().find(|region| region.extent == plan.extent) else { return Ok(()) };
        if told.contains(&region.extent) {
            return Ok(());
        }
        told.push(region.extent);
        explanation::write_facts(&self.processed.report.file, region, out)
    }

    /// Writes the changes of some lines.
    fn write_output(&self, wanted: &Range<usize>, out: &mut dyn Write) -> io::Result<()> {
        let Some(text) = &self.processed.text else { return Ok(()) };
        let file = &self.processed.report.file;
        out.write_all(&output::unified_near(&file.path, &file.text, text, wanted))
    }
}

/// Writes what a plan was made by.
fn write_details(file: &SourceFile, plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    plan.details.iter().try_for_each(|detail| {
        let indent = if detail.is_inner { "    " } else { "  " };
        let place = detail.at.map(|at| file.lines.line_column(at.start));
        let place = place.map_or_else(String::new, |place| format!("{}:{} ", place.line, place.column));
        writeln!(out, "{indent}{place}{}", detail.text)
    })
}

/// Writes one plan with its reasons.
fn write_plan(file: &SourceFile, plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    let decision = match plan.decision {
        Decision::Apply(Applicability::Safe) => "applied, safe",
        Decision::Apply(Applicability::Assumed) => "applied with --assume only",
        Decision::Apply(Applicability::Reassociated { assumed: false }) => "applied with --assume=reassociation only",
        Decision::Apply(Applicability::Reassociated { assumed: true }) => {
            "applied with --assume and --assume=reassociation only"
        }
        Decision::Apply(Applicability::DisplayOnly) => "shown, never written",
        Decision::NothingToDo => "nothing to do",
        Decision::DoesNotPay => "left alone, does not pay",
        Decision::Refuse => "refused",
    };
    let place = file.lines.line_column(plan.span.start);
    let (before, after) = plan.kernels;
    writeln!(out, "{}:{}:{}: {}: {decision}", file.path.display(), place.line, place.column, plan.pass)?;
    if !plan.summary.is_empty() {
        writeln!(out, "  {}", plan.summary)?;
    }
    writeln!(out, "  kernels: {before} before, {after} after")?;
    for (span, words) in &plan.parts {
        let place = file.lines.line_column(span.start);
        writeln!(out, "  {}:{}: {words}", place.line, place.column)?;
    }
    for reason in &plan.reasons {
        let place = file.lines.line_column(reason.span.start);
        let certainty = match reason.certainty {
            Certainty::Proved => "",
            Certainty::Assumed => ", assumed",
        };
        let Reason { code, message, .. } = reason;
        writeln!(out, "  {} at {}:{}{certainty}: {message}", code.id(), place.line, place.column)?;
        for (span, word) in &reason.labels {
            let place = file.lines.line_column(span.start);
            writeln!(out, "    {}:{}: {word}", place.line, place.column)?;
        }
    }
    Ok(())
}
