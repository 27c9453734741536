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
use crate::plan::{Applicability, Certainty, Decision, Pass, Plan, Reason};
use crate::report::explanation;
use crate::source::{SourceFile, Span};
use crate::transforms::PipelineFigures;

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
    let settings = match Resolver::new(context, &passes, &output, &host).settings(path) {
        Ok(settings) => settings,
        Err(message) => return complain(streams, &message),
    };
    let processed = process::path(path, &settings, engine);
    if processed.failed {
        let message = processed.report.diagnostics.first().map(|d| d.message.clone()).unwrap_or_default();
        return complain(streams, &format!("{}: {message}", path.display()));
    }
    let headers = crate::cli::headers::load(&processed.report.file, &settings.include_dirs, &settings.sources);
    let options = process::options(&settings);
    let file = &processed.report.file;
    let output = processed.text.as_ref().map(|text| SourceFile::new(file.path.clone(), text.clone()));
    let regions = |file: &SourceFile| crate::engine::regions(file, &headers, &options).unwrap_or_default();
    let explained = Explained {
        processed: &processed,
        regions: regions(file),
        pipelines: crate::engine::pipelines(file, &headers, &options).unwrap_or_default(),
        output: output.map(|output| (regions(&output), output)),
    };
    explained.write(line, streams.stdout)?;
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
    pipelines: Vec<(Span, PipelineFigures)>,
    /// The new text, and its regions.
    output: Option<(Vec<RegionFacts>, SourceFile)>,
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
        }
        let start = plans.iter().map(|plan| plan.extent.start).min().unwrap_or_default();
        let end = plans.iter().map(|plan| plan.extent.end).max().unwrap_or_default();
        let line_of = |offset| file.lines.line_column(offset).line;
        self.write_output(&(line_of(start) - 1..line_of(end)), out)
    }

    fn write_region(&self, plan: &Plan, told: &mut Vec<Span>, out: &mut dyn Write) -> io::Result<()> {
        let file = &self.processed.report.file;
        if let Some(region) = self.regions.iter().find(|region| region.extent == plan.extent) {
            // The first of several plans tells what the others are about too.
            if !told.contains(&region.extent) {
                explanation::write_facts(file, region, out)?;
                told.push(region.extent);
            }
            explanation::write_candidates(file, region, plan, out)?;
        }
        let is_own = plan.pass == Pass::Pipeline && !plan.follows;
        match self.pipelines.iter().find(|(extent, _)| is_own && *extent == plan.extent) {
            Some((_, figures)) => explanation::write_pipeline(figures, out),
            None => Ok(()),
        }
    }

    /// Writes what the grids of new kernels are chosen by, and the changes, of some lines.
    fn write_output(&self, wanted: &Range<usize>, out: &mut dyn Write) -> io::Result<()> {
        let Some((regions, text)) = &self.output else { return Ok(()) };
        let file = &self.processed.report.file;
        let lines = output::lines_after(&file.text, &text.text, wanted);
        let begins_in = |file: &SourceFile, region: &RegionFacts, lines: &Range<usize>| {
            region.geometry.is_some() && lines.contains(&(file.lines.line_column(region.extent.start).line - 1))
        };
        // The grid of what is a kernel already has been told.
        if !self.regions.iter().any(|region| begins_in(file, region, wanted)) {
            for region in regions.iter().filter(|region| begins_in(text, region, &lines)) {
                explanation::write_output_kernel(text, region, out)?;
            }
        }
        out.write_all(&output::unified_near(&file.path, &file.text, &text.text, wanted))
    }
}

/// Writes one plan with its reasons.
fn write_plan(file: &SourceFile, plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    let decision = match plan.decision {
        Decision::Apply(Applicability::Safe) => "applied, safe",
        Decision::Apply(Applicability::Assumed) => "applied with --assume only",
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
