//! The facts that `explain` writes about a target region: its segments, how its threads begin, its data environment.

use std::io::{self, Write};

use crate::analysis::data_environment::{Entry, Origin, Treatment};
use crate::analysis::execution_mode::Predicted;
use crate::engine::RegionFacts;
use crate::plan::{Limit, figures};
use crate::semantics::symbols::DeclaredType;
use crate::source::{SourceFile, Span};

/// Writes the facts about one region, changed or not.
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

/// One line about a construct in which nothing is left to do.
#[must_use]
pub fn limit(limit: Limit) -> String {
    let Limit { by, launch, kernel, grid, iterations, is_known, on_device, calls } = limit;
    let kernel = if kernel == 0 { "less than 1".to_owned() } else { kernel.to_string() };
    let place = if on_device { "by the model of the device" } else { "by the cost model" };
    let lengths = match (is_known, iterations) {
        (true, 1) => String::new(),
        (true, _) => format!(", for {} iterations", figures::grouped(&iterations.to_string())),
        (false, _) => format!(", assumes {} iterations", figures::grouped(&iterations.to_string())),
    };
    let calls = match (calls, is_known) {
        (false, _) => "",
        (true, true) => ", assumes little work in what it calls",
        (true, false) => " and little work in what it calls",
    };
    let grid =
        grid.map_or_else(String::new, |grid| format!(" on {} teams of {} threads", grid.num_teams, grid.thread_limit));
    format!(
        "gains nothing: {launch} us of its launch and {kernel} us of its kernel {place}{lengths}{calls}{grid}; {}",
        by.words()
    )
}

fn place(file: &SourceFile, span: Span) -> String {
    let at = file.lines.line_column(span.start);
    format!("{}:{}", at.line, at.column)
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
        DeclaredType::Scalar { .. } | DeclaredType::TypeParameter { .. } => "scalar",
        DeclaredType::Array { .. } => "array",
        DeclaredType::ArrayParameter { .. } => "array parameter, a pointer",
        DeclaredType::Pointer { .. } => "pointer",
        DeclaredType::Reference { .. } => "reference",
        DeclaredType::Record { .. } => "structure",
        DeclaredType::Function { .. } => "function",
        DeclaredType::Auto | DeclaredType::Void | DeclaredType::Unknown => "type unknown",
    }
}
