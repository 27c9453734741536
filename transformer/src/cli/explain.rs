//! `explain`: what every pass decides about the constructs of a file or at a line, and why.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use crate::cli::arguments::{ContextArguments, HostArguments, OutputArguments, PassArguments};
use crate::cli::headers;
use crate::cli::process::{self, Engine, Processed};
use crate::cli::settings::{Resolver, Settings};
use crate::cli::{Status, Streams, complain};
use crate::engine::RegionFacts;
use crate::output;
use crate::plan::{Applicability, Certainty, Decision, Plan, Reason};
use crate::report::explanation;
use crate::source::{SourceFile, Span};

/// Says what every pass decides about the constructs of a file, or about those at a line, and why.
pub(super) fn explain(
    place: &str,
    context: &ContextArguments,
    mut passes: PassArguments,
    streams: &mut Streams<'_>,
    engine: Engine,
) -> io::Result<Status> {
    let (path, line) = match parse_place(place) {
        Ok(place) => place,
        Err(message) => return complain(streams, &message),
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
    write(&processed, &settings, line, streams.stdout)?;
    Ok(Status::Clean)
}

/// Writes what was decided about the constructs of a file that was processed with explanations, or about those at a line.
pub(super) fn write(
    processed: &Processed,
    settings: &Settings,
    line: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let file = &processed.report.file;
    let headers = headers::load(file, &settings.include_dirs, &settings.sources).files;
    let regions = crate::engine::regions(file, &headers, &process::options(settings)).unwrap_or_default();
    Explained { processed, regions }.write(line, out)
}

/// The file of `FILE:LINE` or `FILE`, and the line.
fn parse_place(place: &str) -> Result<(&Path, Option<usize>), String> {
    let Some((path, line)) = place.rsplit_once(':').filter(|_| !Path::new(place).exists()) else {
        return Ok((Path::new(place), None));
    };
    match line.parse::<usize>() {
        Ok(line) if line > 0 && !path.is_empty() => Ok((Path::new(path), Some(line))),
        _ => Err(format!("`{place}` is no place; give FILE or FILE:LINE, lines counted from 1")),
    }
}

/// What `explain` tells of.
struct Explained<'a> {
    processed: &'a Processed,
    regions: Vec<RegionFacts>,
}

impl Explained<'_> {
    /// Writes the plans for all constructs, or for those that hold a line, the outermost first, and what came of them.
    fn write(&self, line: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
        let file = &self.processed.report.file;
        let wanted = line.map_or(0..file.text.len() + 1, |line| {
            let end = file.lines.line_start(line + 1).unwrap_or(file.text.len() + 1);
            file.lines.line_start(line).unwrap_or(file.text.len())..end
        });
        let (first, last) = (wanted.start, wanted.end);
        let touches = |plan: &&Plan| plan.extent.start < last && plan.extent.end > first;
        let all = &self.processed.report.plans;
        let around: Vec<Span> = all.iter().filter(touches).map(|plan| plan.extent).collect();
        // What later passes do with the kernels that came of a construct is about that construct.
        let concerns =
            |plan: &&Plan| touches(plan) || plan.follows && around.iter().any(|extent| extent.contains(plan.extent));
        let plans: Vec<&Plan> = all.iter().filter(concerns).collect();
        if plans.is_empty() {
            return self.write_nearest(line, out);
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

    /// Says where the construct is that was probably meant.
    fn write_nearest(&self, line: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
        let file = &self.processed.report.file;
        let path = file.path.display();
        let line_of = |offset| file.lines.line_column(offset).line;
        let lines =
            self.processed.report.plans.iter().filter(|plan| !plan.follows).map(|plan| line_of(plan.span.start));
        match (line, lines.min_by_key(|at| at.abs_diff(line.unwrap_or_default()))) {
            (Some(line), Some(nearest)) => {
                writeln!(out, "{path}:{line}: no construct for a device stands here; the nearest is {path}:{nearest}")
            }
            _ => writeln!(out, "{path}: holds no construct for a device"),
        }
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

/// Writes one plan, why it was made and what by.
pub(super) fn write_one(file: &SourceFile, plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    write_plan(file, plan, out)?;
    write_details(file, plan, out)
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
    if let Some(copies) = plan.copies {
        let bytes = copies.bytes.map(|(before, after)| format!(": {before} bytes before, {after} after"));
        writeln!(out, "  copies: {} before, {} after{}", copies.before, copies.after, bytes.unwrap_or_default())?;
    }
    if let Some(limit) = plan.limit {
        writeln!(out, "  {}", explanation::limit(limit))?;
    }
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
