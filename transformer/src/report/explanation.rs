//! What `explain` says of a target region besides the reasons of its plan: its segments, how its threads begin, its data
//! environment, and each way to write it with its figures.

use std::io::{self, Write};

use crate::analysis::data_environment::{Entry, Origin, Treatment};
use crate::analysis::execution_mode::Predicted;
use crate::device::occupancy::{bounded_blocks, percent};
use crate::device::{GridGeometry, KernelResources, KernelShape};
use crate::engine::RegionFacts;
use crate::plan::{Decision, Pass, Plan};
use crate::semantics::symbols::DeclaredType;
use crate::source::{SourceFile, Span};
use crate::transforms::{Figures, GeometryFigures, LoopFigures, PipelineFigures};

/// Writes the facts about one region, whatever is done with it.
///
/// # Errors
/// When writing fails.
pub fn write_facts(file: &SourceFile, region: &RegionFacts, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  segments:")?;
    for (span, what) in &region.segments {
        writeln!(out, "    {} {what}", place(file, *span))?;
    }
    match &region.mode {
        Predicted::Spmd => writeln!(out, "  execution mode: SPMD")?,
        Predicted::Generic { spoiled_at, because } => {
            writeln!(out, "  execution mode: generic, because of {} {because}", place(file, *spoiled_at))?;
        }
    }
    writeln!(out, "  data environment:")?;
    region.data.iter().try_for_each(|entry| write_entry(file, entry, out))
}

/// Writes the figures of the candidates between which a plan for a region chose.
///
/// # Errors
/// When writing fails.
pub fn write_candidates(file: &SourceFile, region: &RegionFacts, plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    region.figures.as_ref().map_or(Ok(()), |figures| write_figures(file, figures, plan, out))?;
    let is_own = plan.pass == Pass::Geometry && !plan.follows;
    region.geometry.as_ref().filter(|_| is_own).map_or(Ok(()), |geometry| write_geometry(geometry, out))
}

/// Writes what the grid of a kernel of the output is chosen by.
///
/// # Errors
/// When writing fails.
pub fn write_output_kernel(file: &SourceFile, region: &RegionFacts, out: &mut dyn Write) -> io::Result<()> {
    let Some(geometry) = &region.geometry else { return Ok(()) };
    writeln!(out, "kernel at {} of the output:", place(file, region.extent))?;
    write_geometry(geometry, out)
}

/// Writes what moves in tiles, and what the sizes are chosen by.
///
/// # Errors
/// When writing fails.
pub fn write_pipeline(pipeline: &PipelineFigures, out: &mut dyn Write) -> io::Result<()> {
    let PipelineFigures { streams, tiles, least_bytes, device, times } = pipeline;
    writeln!(out, "  streams:")?;
    for (name, how) in streams {
        writeln!(out, "    {name}: {how}")?;
    }
    let device = device.as_deref().unwrap_or("an NVIDIA H200, since no device is asked for");
    match least_bytes {
        Some(bytes) => {
            writeln!(out, "  sizes for {device}: {tiles} tiles, from {bytes} bytes of the largest array on")?
        }
        None => writeln!(out, "  sizes for {device}: tiles pay for no size")?,
    }
    for (bytes, whole, tiled) in times {
        let mib = bytes >> 20;
        writeln!(
            out,
            "    {mib} MiB: {whole:.1} ms as it is, {tiled:.1} ms in tiles, with the page-locking that each run takes"
        )?;
    }
    Ok(())
}

/// Writes what a grid is chosen by, and each launch between which was chosen.
fn write_geometry(geometry: &GeometryFigures, out: &mut dyn Write) -> io::Result<()> {
    let GeometryFigures { device, shape, iterations, is_known, choice, .. } = geometry;
    let origin = if *is_known { "known" } else { "assumed" };
    let KernelShape { accesses, sectors, uncoalesced, inner_loop, .. } = shape;
    let serial = if *inner_loop { " in a serial loop" } else { "" };
    writeln!(out, "  grid for {}: {iterations} iterations ({origin})", device.title)?;
    writeln!(
        out,
        "    {accesses:.0} accesses in each{serial}, {sectors:.1} sectors a warp and access, {uncoalesced} uncoalesced"
    )?;
    let (loaded, stored) = geometry.transactions;
    writeln!(out, "    a warp loads {loaded:.0} sectors and stores {stored:.0} in one iteration")?;
    if let Some(counted) = geometry.counted {
        let KernelResources { registers, shared_memory } = counted.resources;
        writeln!(
            out,
            "    {registers} registers, {} bytes of them spilled, and {shared_memory} bytes of shared memory, by clang and ptxas",
            counted.spills
        )?;
    }
    if let Some(choice) = choice {
        writeln!(out, "    rule: {}", choice.class.words())?;
    }
    for (word, launch) in geometry.launches() {
        let GridGeometry { num_teams, thread_limit } = launch.grid;
        let (blocks, limit) = bounded_blocks(device, geometry.resources(), thread_limit);
        let at_once = u64::from(blocks) * u64::from(device.sm_count);
        let resident = num_teams.div_ceil(u64::from(device.sm_count)).min(u64::from(blocks));
        let occupancy = percent(device, u32::try_from(resident).unwrap_or(u32::MAX).saturating_mul(thread_limit));
        writeln!(
            out,
            "    {word}: {num_teams} x {thread_limit}, of which {} teams get work; {occupancy:.0} % occupancy, at most \
             {blocks} blocks on an SM by its {}; waves: {}; {:.0} us",
            launch.working_teams(*iterations),
            limit.name(),
            num_teams.div_ceil(at_once.max(1)),
            geometry.time(launch),
        )?;
    }
    Ok(())
}

fn place(file: &SourceFile, span: Span) -> String {
    let at = file.lines.line_column(span.start);
    format!("{}:{}", at.line, at.column)
}

/// Writes what each loop is taken for, and what each way to write the region costs by the model.
fn write_figures(file: &SourceFile, figures: &Figures, plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  loops, by the cost model:")?;
    for work in &figures.loops {
        let LoopFigures { iterations, operations, before, after, .. } = work;
        let origin = if work.is_known { "known" } else { "assumed" };
        writeln!(
            out,
            "    {} {iterations:.0} iterations ({origin}) of {operations:.0} operations: {before:.0} us as it is, \
             {after:.0} us with a launch of its own",
            place(file, work.span)
        )?;
    }
    let versioned = figures.both_written;
    let split = matches!(plan.decision, Decision::Apply(_)) && !versioned;
    let chosen = |yes: bool| if yes { "  <- chosen" } else { "" };
    let launches = if figures.repeated { ", a launch for all rounds" } else { "" };
    let number = figures.loops.len();
    writeln!(out, "  candidates:")?;
    let left = plan.decision == Decision::DoesNotPay;
    writeln!(out, "    as it is: {:.0} us{launches}{}", figures.estimate.before, chosen(left))?;
    let rounds = if figures.repeated { " in each round" } else { "" };
    let plural = if number == 1 { "launch" } else { "launches" };
    write!(out, "    split: {:.0} us, {number} {plural}{rounds}", figures.estimate.after)?;
    if let (Some(from), Some(assumed)) = (&figures.pays_from, &figures.assumed) {
        write!(out, "; pays from {from}; assumed: {assumed}")?;
    }
    writeln!(out, "{}", chosen(split))?;
    match &figures.versions {
        None => writeln!(out, "    versioned: no length decides"),
        Some(Ok(condition)) => {
            let flag = if versioned { "" } else { ", with --versioned only" };
            writeln!(out, "    versioned: split where {condition}{flag}{}", chosen(versioned))
        }
        Some(Err(reason)) => {
            writeln!(out, "    versioned: {} at {}: {}", reason.code.id(), place(file, reason.span), reason.message)
        }
    }
}

fn write_entry(file: &SourceFile, entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
    let place = file.lines.line_column(entry.span.start);
    let origin = match entry.origin {
        Origin::Explicit => "by its clause",
        Origin::Implicit => "by rule",
    };
    let treatment = match &entry.treatment {
        Treatment::Mapped(words) => words.clone(),
        Treatment::Firstprivate => "firstprivate".to_owned(),
        Treatment::Private => "private".to_owned(),
        Treatment::PointerTranslated => "translated if what it points to is present".to_owned(),
        Treatment::DeviceAddress => "device address".to_owned(),
        Treatment::Unknown => "not known".to_owned(),
    };
    let kind = kind(&entry.ty);
    writeln!(out, "    {} ({kind}): {treatment}, {origin} at {}:{}", entry.name, place.line, place.column)
}

fn kind(ty: &DeclaredType) -> &'static str {
    match ty {
        DeclaredType::Scalar { .. } => "scalar",
        DeclaredType::Array { .. } => "array",
        DeclaredType::ArrayParameter { .. } => "array parameter, a pointer",
        DeclaredType::Pointer { .. } => "pointer",
        DeclaredType::Reference { .. } => "reference",
        DeclaredType::Record { .. } => "structure",
        DeclaredType::Function { .. } => "function",
        DeclaredType::Auto | DeclaredType::Void | DeclaredType::Unknown => "type unknown",
    }
}
