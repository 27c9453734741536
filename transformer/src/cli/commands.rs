//! The commands that do not rewrite.

use std::io::{self, Write};
use std::path::Path;

use crate::cli::arguments::{ContextArguments, HostArguments, PassArguments};
use crate::cli::process::{self, Engine, Processed};
use crate::cli::settings::Resolver;
use crate::cli::{Status, Streams, complain, suggest};
use crate::device::{DeviceProfile, pinned_memory};
use crate::engine::RegionFacts;
use crate::output;
use crate::plan::{Applicability, Certainty, Decision, Plan, Reason, ReasonCode};
use crate::report::explanation;
use crate::source::{SourceFile, Span};
use crate::transforms::PipelineFigures;

/// Prints the page of a rule, or a list of all.
pub(super) fn rule(id: Option<&str>, streams: &mut Streams<'_>) -> io::Result<Status> {
    let Some(id) = id else {
        for code in ReasonCode::ALL {
            writeln!(streams.stdout, "{}  {}", code.id(), code.title())?;
        }
        return Ok(Status::Clean);
    };
    let Some(code) = ReasonCode::from_id(id) else {
        let hint = suggest::hint(id, ReasonCode::ALL.iter().map(|code| code.id()));
        return complain(streams, &format!("there is no rule `{id}`{hint}"));
    };
    writeln!(streams.stdout, "# {}: {}\n\n{}", code.id(), code.title(), code.page().trim_end())?;
    Ok(Status::Clean)
}

/// Lists the device profiles.
pub(super) fn devices(streams: &mut Streams<'_>) -> io::Result<Status> {
    for device in DeviceProfile::shipped() {
        let DeviceProfile { name, title, sm_count, threads_per_sm, registers_per_sm, blocks_per_sm, .. } = device;
        writeln!(
            streams.stdout,
            "{name:<16}{title:<32}{sm_count:>4} SMs, {threads_per_sm} threads, {blocks_per_sm} blocks and \
             {registers_per_sm} registers each"
        )?;
    }
    Ok(Status::Clean)
}

/// Prints the header that pipelines include.
pub(super) fn header(streams: &mut Streams<'_>) -> io::Result<Status> {
    streams.stdout.write_all(pinned_memory::HEADER.as_bytes())?;
    Ok(Status::Clean)
}

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
    passes.lines = vec![(line, line)];
    let settings = match Resolver::new(context, &passes, None, &HostArguments::default(), false).settings(path) {
        Ok(settings) => settings,
        Err(message) => return complain(streams, &message),
    };
    let processed = process::path(path, &settings, engine);
    if processed.failed {
        let message = processed.report.diagnostics.first().map(|d| d.message.clone()).unwrap_or_default();
        return complain(streams, &format!("{}: {message}", path.display()));
    }
    let headers = crate::cli::headers::load(&processed.report.file, &settings.include_dirs, &settings.sources);
    let options = match process::options(&settings, &processed.report.file) {
        Ok(options) => options,
        Err(message) => return complain(streams, &format!("{}: {message}", path.display())),
    };
    let regions = crate::engine::regions(&processed.report.file, &headers, &options).unwrap_or_default();
    let pipelines = crate::engine::pipelines(&processed.report.file, &headers, &options).unwrap_or_default();
    write_explanation(&processed, (&regions, &pipelines), line, streams.stdout)?;
    Ok(Status::Clean)
}

/// The file and the line of `FILE:LINE`.
fn parse_place(place: &str) -> Option<(&Path, usize)> {
    let (path, line) = place.rsplit_once(':')?;
    let line = line.parse().ok().filter(|line| *line > 0)?;
    (!path.is_empty()).then_some((Path::new(path), line))
}

/// Writes the plans for the constructs that hold a line, the outermost first.
fn write_explanation(
    processed: &Processed,
    (regions, pipelines): (&[RegionFacts], &[(Span, PipelineFigures)]),
    line: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let file = &processed.report.file;
    let first = file.lines.line_start(line).unwrap_or(file.text.len());
    let last = file.lines.line_start(line + 1).unwrap_or(file.text.len() + 1);
    let touches = |plan: &&Plan| plan.extent.start < last && plan.extent.end > first;
    let plans: Vec<&Plan> = processed.report.plans.iter().filter(touches).collect();
    if plans.is_empty() {
        writeln!(out, "{}:{line}: no pass concerns itself with a construct here", file.path.display())?;
    }
    for plan in plans {
        write_plan(file, plan, out)?;
        if let Some(region) = regions.iter().find(|region| region.extent == plan.extent) {
            explanation::write(file, region, plan, out)?;
        }
        let is_own = plan.pass == "pipeline" && !plan.follows;
        if let Some((_, figures)) = pipelines.iter().find(|(extent, _)| is_own && *extent == plan.extent) {
            explanation::write_pipeline(figures, out)?;
        }
    }
    if let Some(text) = &processed.text {
        out.write_all(&output::unified(&file.path, &file.text, text, false))?;
    }
    Ok(())
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
