//! The kernels of a file as somebody sees them who chooses for them: their loops, and what is predicted of grids.

use super::parsing::FileReader;
use super::readings::Readings;
use super::{Asked, Asking, EngineError, Options, context, counted, facts, read_headers};
use crate::analysis::associated_loops::{associated_loops, known_iterations};
use crate::context::Context;
use crate::plan::instructions::{Grid, LoopHash};
use crate::region::target::{TargetRegion, target_regions};
use crate::source::{SourceFile, Span};
use crate::syntax::{ClauseName, Field};
use crate::transforms::predicted_time;

/// A construct that launches a kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// From its outermost directive to the end of its body.
    pub extent: Span,
    /// The line of that directive, counted from 1: compilers name the kernel by it.
    pub line: usize,
    /// The name of the function that holds it, without scopes; `None` if it is in no function that has one.
    pub function: Option<String>,
    /// What tells its loop.
    pub hash: LoopHash,
    /// Is it one loop whose iterations the threads of a league share, so that a grid may be told?
    pub is_league_loop: bool,
    /// Does it combine values of all iterations?
    pub reduces: bool,
    /// How many loops run in parallel, if it is one.
    pub loops: usize,
    /// How many iterations they have together, if that follows from the text.
    pub iterations: Option<u64>,
    /// Predicted microseconds in each of the grids that were asked about, without the launch; `None` where nothing is predicted.
    pub predicted: Vec<Option<f64>>,
}

/// The kernels of a file, in the order of the text, each with predictions for grids: by which number its iterations are divided, and the grid
/// (`None`: no clauses).
///
/// # Errors
/// When the file cannot be read, or a compiler that is to be asked fails.
pub fn kernels(
    file: &SourceFile,
    headers: &[SourceFile],
    options: &Options,
    grids: &[(u64, Option<Grid>)],
) -> Result<Vec<Kernel>, EngineError> {
    let headers = &read_headers(file, headers, options);
    let mut reader = FileReader::new(options.limits, headers, &options.definitions);
    let mut readings = Readings::of(file, headers, &options.definitions, &mut reader).map_err(EngineError::Host)?;
    // Macros and `#if` may give a file several texts; a kernel is one of each place, and the first that has it tells of it.
    let mut all: Vec<Kernel> = Vec::new();
    for reading in &mut readings.texts {
        let Some(parsed) = reading.parsed(&mut reader).map_err(EngineError::Host)? else { continue };
        let asked = Asked { facts: facts(&reading.file, options)?, counted: counted(&reading.file, &parsed, options)? };
        let asking = Asking { is_asked: &|_| true, is_changed: &|_| false };
        let own = reading.headers.as_deref().unwrap_or(headers);
        let cx = context(&reading.file, own, &parsed, options, &asked, asking);
        for region in target_regions(cx.tree, cx.constructs) {
            let extent = reading.place(region.extent);
            if !all.iter().any(|other| other.extent == extent) {
                all.push(kernel(&cx, file, &region, extent, grids));
            }
        }
    }
    all.sort_by_key(|kernel| kernel.extent.start);
    Ok(all)
}

fn reduces(cx: &Context<'_>, region: &TargetRegion) -> bool {
    let mut clauses = region.chain.constructs.iter().flat_map(|id| &cx.constructs.directive(*id).clauses);
    clauses.any(|clause| clause.name == ClauseName::Reduction)
}

/// The name of the function around a construct: the last part of its declarator in front of the parameters.
fn function(cx: &Context<'_>, region: &TargetRegion) -> Option<String> {
    let node = cx.function_of(region.extent)?;
    let declarator = cx.tree.child(node, Field::Declarator)?;
    let text = cx.file.show(cx.tree.span(declarator)).into_owned();
    let before = text.split('(').next().unwrap_or(&text);
    let name = before.rsplit([':', '*', '&', ' ', '\n', '\t']).next().unwrap_or(before).trim();
    (!name.is_empty()).then(|| name.to_owned())
}

fn kernel(
    cx: &Context<'_>,
    file: &SourceFile,
    region: &TargetRegion,
    extent: Span,
    grids: &[(u64, Option<Grid>)],
) -> Kernel {
    let is_league_loop = region.is_league_loop();
    let predict = |(share, grid): &(u64, Option<Grid>)| {
        let asked = is_league_loop.then(|| predicted_time(cx, region, *share, *grid));
        asked.flatten().filter(|time| time.is_finite())
    };
    Kernel {
        extent,
        line: file.lines.line_column(extent.start).line,
        function: function(cx, region),
        hash: cx.loop_hash(region),
        is_league_loop,
        reduces: reduces(cx, region),
        loops: associated_loops(cx, region).map_or(0, |(_, promised)| promised),
        iterations: if is_league_loop { known_iterations(cx, region.chain.innermost()) } else { None },
        predicted: grids.iter().map(predict).collect(),
    }
}
