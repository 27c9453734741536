//! Copy and compute in tiles, so that copies in both directions and kernels overlap.
//!
//! ## Input
//!
//! ```c
//! #include <stddef.h>
//! void scale(long n, double f, const double *u, double *v) {
//!   #pragma omp target teams distribute parallel for map(to: u[0:n]) map(from: v[0:n])
//!   for (long i = 0; i < n; i++)
//!     v[i] = f * u[i];
//! }
//! ```
//!
//! ## Output
//!
//! ```c
//! #include <stddef.h>
//! #include "ompsplit_pin.h"
//! void scale(long n, double f, const double *u, double *v) {
//!   {
//!     /* Host threads copy and launch, so that copies and kernels of different tiles overlap (sizes: NVIDIA H200). */
//!     enum { TILES = 16, THREADS = 4, LEAST_BYTES = 33554432 };
//!     if (n >= TILES &&
//!         sizeof(*u) * n >= LEAST_BYTES &&
//!         ompsplit_is_absent(u) &&
//!         ompsplit_is_absent(v)) {
//!       const long tile_length = n / TILES;
//!       ompsplit_pin(u, sizeof(*u) * n);
//!       ompsplit_pin(v, sizeof(*v) * n);
//!       #pragma omp target data map(alloc: u[0:n], v[0:n])
//!       #pragma omp parallel for num_threads(THREADS) schedule(static, 1)
//!       for (int tile = 0; tile < TILES; tile++) {
//!         const long tile_first = tile * tile_length;
//!         const long tile_end = tile + 1 < TILES ? tile_first + tile_length : n;
//!         #pragma omp target teams distribute parallel for \
//!             map(always, to: u[tile_first:tile_end - tile_first]) \
//!             map(always, from: v[tile_first:tile_end - tile_first])
//!         for (long i = tile_first; i < tile_end; i++)
//!           v[i] = f * u[i];
//!       }
//!       ompsplit_unpin(u);
//!       ompsplit_unpin(v);
//!     } else {
//!       #pragma omp target teams distribute parallel for map(to: u[0:n]) map(from: v[0:n])
//!       for (long i = 0; i < n; i++)
//!         v[i] = f * u[i];
//!     }
//!   }
//! }
//! ```
//!
//! The header is what `ompsplit header` prints. It registers the host memory with the driver (`--pin none` leaves that out, for
//! memory that is page-locked already): copies between other memory and the device overlap with nothing.
//!
//! Where iterations read their neighbours' pieces, the copies of the tiles stand in an `ordered` region and reach as far ahead as
//! they read. Results of a reduction are combined by one kernel at a time, in a `critical` region. With
//! `--pipeline-window K` the arrays have no place of their own on the device: K threads map the pieces of K tiles.
//!
//! ## Applies when
//!
//! - a target construct is one `distribute parallel for` loop (or `loop` of a league) that runs upwards by ones, and maps all
//!   that its iterations reach;
//! - among what it copies is an array through which the iterations go piece by piece: an element, a row, a row and its
//!   neighbours. What all iterations use is mapped whole, before the first tile.
//!
//! Where the sizes are not known the host asks for them, and whether the arrays are on the device already: then there is nothing to
//! copy. The other branch is the loop as it was.
//!
//! ## Refuses when
//!
//! - OMPS101 to OMPS104, OMPS125: the text cannot be read for certain;
//! - the construct stands in code for the device, or where the program promises that directives are absent;
//! - OMPS150: the loop's head cannot be cut into tiles; OMPS151: a clause does not go with tiles, or a
//!   construct of the file that maps has `nowait`; OMPS152: the loop reaches
//!   something that the construct does not map, or that is not followed; OMPS153: no array moves piece by piece.
//!
//! OMPS250: it does not pay: too little is copied, it is only copied back, or elements are used so often that the kernel takes longer
//! than the copies. OMPS460: there is nothing to copy, or threads of the host copy already.
//!
//! ## Safety
//!
//! The iterations of the loop are independent by the promise of the original, and no clause groups or orders them, so tiles may
//! run in any order and at the same time. A tile's kernel begins when the pieces that its iterations read have been copied; it
//! writes its own pieces alone, which are copied back when it has ended. Two list items of one construct share no storage
//! (OpenMP 5.2, section 5.8.3), and nothing else is reached: no copy meets another one's element. The values that sections and bounds
//! are made of change nowhere in between. Nothing is deferred, so nothing is left to wait for, and in a parallel region of one
//! thread the tiles follow each other.
//!
//! An array that is present on the device is not copied by `map`, but would be by `map(always, ..)` and `target update`: such
//! loops run as they were. In a window each tile is mapped, which asks for itself. Nor may another thread or a deferred task map an
//! array in between, which would find it present before it is copied: in a parallel region of several threads loops run as they
//! were (other threads of the program than OpenMP's are not asked for), and in a file with `nowait` on a construct that maps
//! nothing is changed. Elements that `map(from:)` copies but
//! no iteration writes are indeterminate in the original; here the host's keep their values.
//!
//! The stages are no tasks, as they are in the paper. `target update from` in a task corrupts a lock of LLVM 19's libomptarget while
//! other constructs use the same array, and libomp's helper threads abort in a parallel region of one thread; threads of the host
//! with constructs that wait are as fast (`bench/results/pipeline`).
//!
//! ## References
//!
//! OpenMP 5.2, sections 5.8.3, 5.8.6, 11.5.2, 13.6, 13.8, 15.10. Chikin, Gobran and Amaral, "OpenMP Code Offloading: Splitting GPU
//! Kernels, Pipelining Communication and Computation, and Selecting Better Grid Geometries" (2018), sections 4 and 5. Its Figure 9
//! has upper bounds where the lengths of array sections belong.

mod clauses;
mod decision;
mod head;
mod host_values;
mod lines;
mod maps;
mod text;
mod write;

use std::cell::LazyCell;

use crate::analysis::accesses::{Accesses, accesses};
use crate::edit::Edit;
use crate::plan::{Applicability, Decision, Plan, Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::region::loop_nest::{CanonicalLoopNest, canonical_nest};
use crate::region::target::{TargetRegion, target_regions};
use crate::source::Span;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{ClauseArgument, ClauseName};
use crate::transforms::pipeline_loop::head::Head;
use crate::transforms::pipeline_loop::host_values::HostValues;
use crate::transforms::pipeline_loop::maps::Mapped;
use crate::transforms::split_target::names::Names;
use crate::transforms::{Context, split_target, two_forms};

/// Tiles of a pipeline, and the bytes of its largest array from which on it pays: estimates for an NVIDIA H200.
const TILES: u32 = 16;
const LEAST_BYTES: u64 = 32 << 20;
/// Tiles for each that is on the device at a time.
const TILES_OF_SLOT: u32 = 4;

/// Decides for every target construct that is one loop of a league.
pub(super) fn pipeline_loop(cx: &Context<'_>) -> Vec<Plan> {
    let names = LazyCell::new(|| Names::new(cx));
    let regions = target_regions(cx.tree, cx.constructs);
    regions.iter().filter(|region| is_league_loop(region)).map(|region| plan_loop(cx, &names, region)).collect()
}

fn is_league_loop(region: &TargetRegion) -> bool {
    use Leaf::{Distribute, For, Loop, Parallel, Simd, Target, Teams};
    matches!(
        region.chain.leaves.as_slice(),
        [Target, Teams, Distribute, Parallel, For]
            | [Target, Teams, Distribute, Parallel, For, Simd]
            | [Target, Teams, Loop]
    )
}

fn plan_loop<'a, F: FnOnce() -> Names<'a>>(
    cx: &Context<'_>,
    names: &LazyCell<Names<'a>, F>,
    region: &TargetRegion,
) -> Plan {
    let first = region.chain.constructs.first().copied().unwrap_or(ConstructId(0));
    let mut plan = Plan {
        pass: "pipeline",
        span: cx.constructs.directive(first).span,
        extent: region.extent,
        decision: Decision::NothingToDo,
        reasons: Vec::new(),
        edits: Vec::new(),
        summary: String::new(),
        parts: Vec::new(),
        kernels: (1, 1),
        follows: false,
    };
    if let Some(reason) = nothing_to_do(cx, region) {
        plan.reasons.push(reason);
        return plan;
    }
    match checked(names, region) {
        Ok(Verdict::DoesNotPay(reason)) => {
            plan.decision = Decision::DoesNotPay;
            plan.reasons.push(reason);
        }
        Ok(Verdict::Pipeline { edits, summary, kernels }) => {
            plan.decision = Decision::Apply(Applicability::Safe);
            plan.edits = edits;
            plan.summary = summary;
            plan.kernels = (1, kernels);
        }
        Err(mut reasons) => {
            reasons.sort_by_key(|reason| (reason.span.start, reason.code));
            reasons.dedup_by(|a, b| a.code == b.code && a.message == b.message);
            plan.decision = Decision::Refuse;
            plan.reasons = reasons;
        }
    }
    plan
}

/// A loop that can be cut into tiles.
struct Pipeline<'p, 'a> {
    values: &'p HostValues<'p, 'a>,
    head: &'p Head,
    items: &'p [Mapped],
    found: &'p Accesses,
    /// How many tiles there are, and from how many bytes of the largest array on.
    tiles: u32,
    least_bytes: u64,
}

enum Verdict {
    DoesNotPay(Reason),
    Pipeline { edits: Vec<Edit>, summary: String, kernels: usize },
}

/// Why there is nothing to overlap.
fn nothing_to_do(cx: &Context<'_>, region: &TargetRegion) -> Option<Reason> {
    let nothing = |span: Span, message: &str| Some(Reason::new(ReasonCode::NothingToPipeline, span, message));
    let clauses = region.chain.constructs.iter().flat_map(|id| &cx.constructs.directive(*id).clauses);
    let mut copies = false;
    for clause in clauses {
        match clause.name {
            ClauseName::Nowait | ClauseName::Depend => return nothing(clause.span, "the construct is a task already"),
            ClauseName::Map => copies = true,
            _ => {}
        }
    }
    let first = region.chain.constructs.first().copied()?;
    let span = cx.constructs.directive(first).span;
    let directives = cx.constructs.within(Span::new(0, cx.file.text.len())).map(|(_, directive)| directive);
    let mut required = directives.flat_map(|directive| &directive.clauses);
    if let Some(clause) = required.find(|clause| clause.name == ClauseName::UnifiedSharedMemory) {
        return nothing(clause.span, "host and device share memory: nothing is copied");
    }
    if !copies {
        return nothing(span, "no clause of the construct maps anything");
    }
    let mut around = std::iter::successors(cx.constructs.enclosing(first), |id| cx.constructs.enclosing(*id));
    if around.any(|id| cx.constructs.construct(id).leaves.contains(&Leaf::Parallel)) {
        return nothing(span, "threads of the host overlap its copies already");
    }
    let other = two_forms::other_branch(cx, cx.constructs.construct(first).body?);
    let has_threads = other.is_some_and(|other| {
        let mut inside = cx.constructs.within(cx.tree.span(other));
        inside.any(|(construct, _)| construct.leaves.first() == Some(&Leaf::Parallel))
    });
    has_threads.then(|| nothing(span, "the other branch of this `if` has its tiles"))?
}

/// All preconditions.
fn checked<'a, F: FnOnce() -> Names<'a>>(
    names: &LazyCell<Names<'a>, F>,
    region: &TargetRegion,
) -> Result<Verdict, Vec<Reason>> {
    let names: &Names<'a> = names;
    let cx = names.cx;
    let mut reasons = split_target::text_reasons(cx, region);
    reasons.extend(names.device_code(region));
    reasons.extend(split_target::excludes_directives(cx, region));
    reasons.extend(clauses::deferred(cx));
    if !reasons.is_empty() {
        return Err(reasons);
    }
    let values = HostValues { names, region };
    let data = clauses::read(&values)?;
    let mut items = maps::read(&values, &region.chain.constructs)?;
    let nest = nest(&values)?;
    let found = accesses(cx.file, cx.tree, names.symbols(), &nest.loops, 1, &maps::expressions(&items));
    if let Some(trouble) = found.troubles.first() {
        return Err(vec![Reason::new(ReasonCode::TileReach, trouble.span, trouble.message.clone())]);
    }
    let outermost = nest.loops.first().ok_or_else(Vec::new)?;
    let head = head::read(&values, outermost, &found)?;
    maps::check_reach(&items, &data, &found)?;
    maps::find_streams(&values, &mut items, &head, &found);
    let options = cx.pipeline;
    let in_window = options.window.map_or(0, |window| window.get().saturating_mul(TILES_OF_SLOT));
    let tiles = options.tiles.map_or(TILES.max(in_window), |tiles| tiles.get());
    let least_bytes = options.least_bytes.unwrap_or(LEAST_BYTES);
    let pipeline = Pipeline { values: &values, head: &head, items: &items, found: &found, tiles, least_bytes };
    decide(&pipeline)
}

/// The loops that the construct takes.
fn nest(values: &HostValues<'_, '_>) -> Result<CanonicalLoopNest, Vec<Reason>> {
    let cx = values.cx();
    let id = values.region.chain.innermost();
    let span = cx.constructs.directive(id).span;
    let refuse = |span, message: &str| vec![Reason::new(ReasonCode::LoopNotTiled, span, message)];
    let depth = match cx.constructs.directive(id).clauses_of(ClauseName::Collapse).next().map(|it| &it.argument) {
        None => Some(1),
        Some(ClauseArgument::Expression(span)) => {
            let depth = values.symbols().constant(&cx.file.show(*span), span.start);
            depth.and_then(|depth| usize::try_from(depth).ok())
        }
        Some(_) => None,
    };
    let body = cx.constructs.construct(id).body;
    let (Some(depth), Some(body)) = (depth, body) else {
        return Err(refuse(span, "how many loops it takes is not known"));
    };
    let nest =
        canonical_nest(cx.file, cx.tree, body, depth).map_err(|(problem, span)| refuse(span, problem.explanation()))?;
    match nest.loops.iter().find_map(|read| read.names_outer_variable) {
        Some(span) => Err(refuse(span, "the loops form no rectangle")),
        None => Ok(nest),
    }
}

fn decide(pipeline: &Pipeline<'_, '_>) -> Result<Verdict, Vec<Reason>> {
    let names: Vec<String> = pipeline.streams().map(|(item, _)| format!("`{}`", item.name)).collect();
    if names.is_empty() {
        let copied = pipeline.items.iter().filter(|item| item.copies_in() || item.copies_out());
        let mut reasons: Vec<Reason> = copied.filter_map(whole_reason).collect();
        if reasons.is_empty() {
            let span = pipeline.items.first().map_or(pipeline.values.region.extent, |item| item.span);
            reasons.push(Reason::new(ReasonCode::NoPieces, span, "no array is copied"));
        }
        return Err(reasons);
    }
    if let Some(item) = halo_in_window(pipeline) {
        return Err(vec![item]);
    }
    if let Some(reason) = pipeline.does_not_pay() {
        return Ok(Verdict::DoesNotPay(reason));
    }
    let edits = pipeline.edits()?;
    let summary = format!("{} tiles, whose copies of {} overlap the kernels", pipeline.tiles, names.join(", "));
    Ok(Verdict::Pipeline { edits, summary, kernels: pipeline.tiles as usize })
}

/// Why an array that is copied does not move in tiles.
fn whole_reason(item: &Mapped) -> Option<Reason> {
    let (span, why) = item.no_stream?;
    let message = format!("`{}` {}", item.name, why.explanation());
    Some(Reason::new(ReasonCode::NoPieces, item.span, message).with_label(span, "here"))
}

/// In a window the pieces of a tile's neighbours are not with its own.
fn halo_in_window(pipeline: &Pipeline<'_, '_>) -> Option<Reason> {
    let (item, _) = pipeline.streams().find(|(_, tiled)| tiled.has_halo())?;
    pipeline.values.cx().pipeline.window?;
    let message = format!("a tile reads pieces of `{}` that other tiles of a window hold", item.name);
    Some(Reason::new(ReasonCode::NoPieces, item.span, message))
}
