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
//! #include "ompsplit_pin.h"
//! #include <stddef.h>
//! void scale(long n, double f, const double *u, double *v) {
//!   {
//!     /* Host threads copy and launch, so that copies and kernels of different tiles overlap (sizes: NVIDIA H200). */
//!     enum { TILES = 16, THREADS = 16, LEAST_BYTES = 33554432 };
//!     if (n >= TILES &&
//!         sizeof(*u) * n >= LEAST_BYTES &&
//!         ompsplit_is_absent(u) &&
//!         ompsplit_is_absent(v)) {
//!       const long tile_length = n / TILES;
//!       #pragma omp target data map(alloc: u[0:n], v[0:n])
//!       #pragma omp parallel for num_threads(ompsplit_threads(THREADS)) schedule(static, 1)
//!       for (int tile = 0; tile < TILES; tile++) {
//!         const long tile_first = tile * tile_length;
//!         const long tile_end = tile + 1 < TILES ? tile_first + tile_length : n;
//!         ompsplit_to_device(&u[tile_first], sizeof(*u) * (tile_end - tile_first));
//!         #pragma omp target teams distribute parallel for \
//!             map(to: u[tile_first:tile_end - tile_first]) \
//!             map(from: v[tile_first:tile_end - tile_first])
//!         for (long i = tile_first; i < tile_end; i++)
//!           v[i] = f * u[i];
//!         ompsplit_from_device(&v[tile_first], sizeof(*v) * (tile_end - tile_first));
//!       }
//!     } else {
//!       #pragma omp target teams distribute parallel for map(to: u[0:n]) map(from: v[0:n])
//!       for (long i = 0; i < n; i++)
//!         v[i] = f * u[i];
//!     }
//!   }
//! }
//! ```
//!
//! The header is what `ompsplit header` prints. Each thread copies through a page-locked buffer of its own, since copies between other
//! memory and the device overlap with nothing, and are slow; the buffers are made once in a program. The kernel finds what it maps on
//! the device. With `--pin register` it is the host memory itself that is page-locked, as long as the loop runs, and the
//! kernel's maps copy (`map(always, to: ..)`); `--pin none` leaves that out, for memory that is page-locked already; with `--pin alloc` it is
//! done once, behind an allocation in the same function, until the memory is freed there, where the pointer goes nowhere else.
//!
//! Where iterations read their neighbours' pieces, the copies of the tiles reach as far ahead as they read, and an `ordered` region
//! has each tile wait for the copies of those before it. Results of a reduction are combined by one kernel at a time, in a
//! `critical` region. With `--pipeline-window K` the arrays have no place of their own on the device: K threads map the pieces of K
//! tiles.
//!
//! In the block of a `target data` construct an array moves with the first loop that uses it, and back with the last one. The
//! construct, which maps such arrays as `alloc` then, stands whole in both branches.
//!
//! ## Applies when
//!
//! - a target construct is one `distribute parallel for` loop (or `loop` of a league) that runs upwards by ones, and it, or the
//!   `target data` construct whose block it stands in, maps all that its iterations reach;
//! - among what is copied is an array through which the iterations go piece by piece: an element, a row, a row and its
//!   neighbours. What all iterations use is mapped whole, before the first tile.
//!
//! How many tiles there are and from which size on they pay comes from the rates of the device that is asked for
//! (`device/overlap`), and is 16 from 32 MiB an array on without one, as measured on an NVIDIA H200. The loops of a block share both,
//! chosen by what moves in and back with each of them. Where the sizes are not known the host asks for them, whether a loop that begins
//! at a variable begins in its arrays, and whether they are on the device already: then there is nothing to copy. The other branch is
//! the loop as it was.
//!
//! Where `geometry` chooses grids for a device as well, it does so for the iterations of a tile, and for all of them in the other
//! branch. A grid that the program says goes along to the tiles as it is.
//!
//! ## Refuses when
//!
//! - OMPS101 to OMPS104, OMPS125: the text cannot be read for certain;
//! - the construct stands in code for the device, or where the program promises that directives are absent;
//! - OMPS150: the loop's head cannot be cut into tiles, the header cannot stand before the first include (something may be open there,
//!   or a `requires` directive follows), or the file has thread-private variables, whose values pass only from one parallel region to
//!   the next;
//!   OMPS151: a clause does not go with tiles, or a construct of the file that maps is deferred meanwhile; OMPS152: the loop reaches
//!   something that the construct does not map, that is not followed, or that each thread of the host has of its own; or in the
//!   block of a data construct the host, a standalone directive or another kernel may; OMPS153: no array moves piece by piece,
//!   or in a window its pointer lives on the device, where it can lead to one tile only.
//!
//! OMPS250: it does not pay: too little is copied, it is only copied back, or elements are used so often that the kernel takes longer
//! than the copies; or `--for gcc`, whose runtime overlaps nothing. OMPS460: there is nothing to copy, or threads of the host or a data construct copy already.
//!
//! ## Safety
//!
//! For clang. With `--for nvhpc` the compiler is taken to translate tiles as specified (OMPS305).
//!
//! The iterations of the loop are independent by the promise of the original, and no clause groups or orders them, so tiles may
//! run in any order and at the same time. A tile's kernel begins when the pieces that its iterations read have been copied; it
//! writes its own pieces alone, which are copied back when it has ended. Two list items of one construct share no storage
//! (OpenMP 5.2, section 5.8.3), and nothing else is reached: no copy meets another one's element. The values that sections and bounds
//! are made of change nowhere in between. Nothing is deferred, so nothing is left to wait for, and in a parallel region of one
//! thread the tiles follow each other.
//!
//! In the block of a data construct the items of that construct share no storage either, each kernel reaches nothing else, and the
//! host reaches no memory but numbers of its own: what names an array is all that uses it. Elements that no iteration of a loop has move with its first
//! and last tile, since other loops may read or have written them.
//!
//! A `tofrom` array of the loop's own construct is not copied to the device where each iteration gives its whole piece new values before it
//! reads any of them: those pieces come back, and no other element does.
//!
//! An array that is present on the device is not copied by `map`, but would be by the calls, `map(always, ..)` and `target update`:
//! such loops run as they were. In a window whose kernels copy, each tile is mapped, which asks for itself. Nor may another thread or a deferred task map an
//! array in between, which would find it present before it is copied: in a parallel region of several threads loops run as they
//! were (other threads of the program than OpenMP's are not asked for), and where a construct of the file that is deferred may map
//! one of its arrays meanwhile, nothing is changed. Elements that `map(from:)` copies but
//! no iteration writes are indeterminate in the original; here the host's keep their values.
//!
//! A call copies the bytes that `map` would copy, to and from the same places, and has copied them when it returns; a device that
//! works in the host's memory has no other place, and nothing is copied there.
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

mod allocation;
mod block_loops;
mod clauses;
mod compiler;
mod data_block;
mod decision;
mod head;
mod maps;
mod read;
mod sizes;
mod staged_tile;
mod tile;
mod write;

use crate::analysis::accesses::Accesses;
use crate::context::Context;
use crate::plan::{Change, Pass, Plan, Reason, ReasonCode, Verdict};
use crate::region::construct::ConstructId;
use crate::region::target::{TargetRegion, target_regions};
use crate::source::Span;
use crate::syntax::ClauseName;
use crate::syntax::spec_table::Leaf;
use crate::transforms::checks::type_parameters;
use crate::transforms::host_copies::deferred::deferred;
use crate::transforms::host_copies::host_values::HostValues;
use crate::transforms::pipeline_loop::block_loops::Block;
use crate::transforms::pipeline_loop::head::Head;
use crate::transforms::pipeline_loop::maps::Mapped;
use crate::transforms::pipeline_loop::read::Loop;
use crate::transforms::{checks, two_forms};

/// Decides for every `target data` construct with loops of leagues in it, and for every such loop elsewhere.
pub(super) fn pipeline_loop(cx: &Context<'_>) -> Vec<Plan> {
    let regions = target_regions(cx.tree, cx.constructs);
    let leagues = || regions.iter().filter(|region| is_league_loop(region));
    let blocks: Vec<TargetRegion> = data_block::blocks(cx);
    let with_loops = blocks.iter().filter(|block| leagues().any(|region| block.extent.contains(region.extent)));
    let decide_block = |block: &Block<'_, '_>| block.decide();
    let mut plans: Vec<Plan> =
        with_loops.map(|block| plan(cx, block, || block_loops::checked(cx, block, &regions, decide_block))).collect();
    let written: Vec<Span> = plans.iter().filter(|plan| plan.decision.is_written(true)).map(|it| it.extent).collect();
    let elsewhere = leagues().filter(|region| !written.iter().any(|block| block.contains(region.extent)));
    plans.extend(elsewhere.map(|region| plan(cx, region, || checked(cx, region, decide))));
    plans.sort_by_key(|plan| plan.span.start);
    plans
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

fn plan(cx: &Context<'_>, region: &TargetRegion, checked: impl FnOnce() -> Result<Verdict, Vec<Reason>>) -> Plan {
    let first = region.chain.constructs.first().copied().unwrap_or(ConstructId(0));
    let span = cx.constructs.directive(first).span;
    let verdict = match nothing_to_do(cx, region) {
        Some(reason) => Verdict::Nothing(reason),
        None => checked().unwrap_or_else(Verdict::Refuse),
    };
    let verdict = match verdict {
        Verdict::Change(change) => compiler::judged(cx, span, change),
        other => other,
    };
    verdict.into_plan(Pass::Pipeline, span, region.extent)
}

/// A loop that can be cut into tiles.
#[derive(Clone, Copy)]
struct Pipeline<'p, 'a> {
    values: &'p HostValues<'p, 'a>,
    head: &'p Head,
    items: &'p [Mapped],
    found: &'p Accesses,
    /// The number of tiles and the least bytes of the largest array.
    tiles: u32,
    least_bytes: u64,
}

/// Is it a `target data` construct?
fn is_data(cx: &Context<'_>, region: &TargetRegion) -> bool {
    region.chain.constructs.iter().any(|id| cx.constructs.directive(*id).is("target data"))
}

/// Why there is nothing to overlap.
fn nothing_to_do(cx: &Context<'_>, region: &TargetRegion) -> Option<Reason> {
    let nothing = |span: Span, message: &str| Some(Reason::new(ReasonCode::NothingToPipeline, span, message));
    let clauses = region.chain.constructs.iter().flat_map(|id| &cx.constructs.directive(*id).clauses);
    let mut copies = false;
    for clause in clauses {
        match clause.name {
            ClauseName::Nowait | ClauseName::Depend => return nothing(clause.span, "the construct is a task already"),
            ClauseName::If if is_data(cx, region) => return nothing(clause.span, "the construct may map nothing"),
            ClauseName::Map => copies = true,
            _ => {}
        }
    }
    let first = region.chain.constructs.first().copied()?;
    let span = cx.constructs.directive(first).span;
    if let Some(clause) = checks::unified_memory(cx) {
        return nothing(clause, "host and device share memory: nothing is copied");
    }
    if !copies {
        return nothing(span, "no clause of the construct maps anything");
    }
    let mut inside = cx.constructs.within(region.extent);
    if inside.any(|(construct, _)| construct.leaves.first() == Some(&Leaf::Parallel)) {
        return nothing(span, "threads of the host overlap its copies already");
    }
    let mut around = std::iter::successors(cx.constructs.enclosing(first), |id| cx.constructs.enclosing(*id));
    if around.any(|id| cx.constructs.construct(id).leaves.contains(&Leaf::Parallel)) {
        return nothing(span, "threads of the host overlap its copies already");
    }
    if let Some(step) = checks::groups::written_in(cx, region.extent) {
        return nothing(step, "the iterations of this loop are grouped");
    }
    let other = two_forms::other_branch(cx, cx.constructs.construct(first).body?);
    let has_threads = other.is_some_and(|other| {
        let mut inside = cx.constructs.within(cx.tree.span(other));
        inside.any(|(construct, _)| construct.leaves.first() == Some(&Leaf::Parallel))
    });
    has_threads.then(|| nothing(span, "the other branch of this `if` has its tiles"))?
}

/// Checks all preconditions of a loop that maps its arrays itself.
fn checked<'a>(
    names: &Context<'a>,
    region: &TargetRegion,
    asked: impl FnOnce(&Pipeline<'_, '_>) -> Result<Verdict, Vec<Reason>>,
) -> Result<Verdict, Vec<Reason>> {
    check_text(names, region)?;
    let values = HostValues { names, region, extent: region.extent };
    let present = data_block::mapped_around(&values);
    let Loop { head, mut items, found, of_grid } = read::read(&values, &present)?;
    if !present.is_empty() && !items.iter().any(|item| item.is_array && (item.copies_in() || item.copies_out())) {
        let message = "a data construct around it copies its arrays";
        return Ok(Verdict::Nothing(Reason::new(ReasonCode::NothingToPipeline, region.extent, message)));
    }
    maps::find_streams(&values, &mut items, &head, &found);
    let (tiles, least_bytes) = sizes::usual(names);
    let pipeline = Pipeline { values: &values, head: &head, items: &items, found: &found, tiles, least_bytes };
    match asked(&pipeline.sized())? {
        Verdict::Change(_) if !of_grid.is_empty() => Err(of_grid),
        verdict => Ok(verdict),
    }
}

/// Is the text of a region certain, and may it be rewritten?
fn check_text(names: &Context<'_>, region: &TargetRegion) -> Result<(), Vec<Reason>> {
    let cx = names;
    let mut reasons = checks::text_reasons(cx, region);
    reasons.extend(names.device_code(region));
    reasons.extend(checks::excludes_directives(cx, region));
    reasons.extend(checks::excludes_host_threads(cx, region));
    reasons.extend(deferred(names, region.extent).map(|span| {
        let message = "another construct may be deferred until this one copies its tiles";
        Reason::new(ReasonCode::TileClause, span, message)
    }));
    if names.has_threadprivate() {
        let message = "thread-private variables keep their values only from one parallel region to the next (OpenMP 5.2, section 5.2)";
        reasons.push(Reason::new(ReasonCode::LoopNotTiled, region.extent, message));
    }
    if reasons.is_empty() { Ok(()) } else { Err(reasons) }
}

fn decide(pipeline: &Pipeline<'_, '_>) -> Result<Verdict, Vec<Reason>> {
    let values = pipeline.values;
    values.cx().explain(Pass::Pipeline, values.extent, || pipeline.details());
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
    if let Some(item) = halo_in_window(pipeline).or_else(|| device_pointer_in_window(pipeline)) {
        return Err(vec![item]);
    }
    if let Some(reason) = pipeline.does_not_pay() {
        return Ok(Verdict::DoesNotPay(vec![reason]));
    }
    let edits = pipeline.edits()?;
    let summary = format!("{} tiles, whose copies of {} overlap the kernels", pipeline.tiles, names.join(", "));
    let summary = summary + &pipeline.locking().remark();
    let kernels = (1, pipeline.tiles as usize);
    let reasons = assumptions(pipeline.values);
    Ok(Verdict::Change(Change { edits, summary, reasons, kernels: Some(kernels), ..Change::default() }))
}

/// The assumptions in a template: operators on its parameters are the language's own.
fn assumptions(values: &HostValues<'_, '_>) -> Vec<Reason> {
    let cx = values.cx();
    let body = values.region.chain.constructs.first().and_then(|first| cx.constructs.construct(*first).body);
    body.and_then(|body| type_parameters::assumption(cx, body)).into_iter().collect()
}

/// Why a copied array does not move in tiles.
fn whole_reason(item: &Mapped) -> Option<Reason> {
    let (span, why) = item.no_stream?;
    let message = format!("`{}` {}", item.name, why.explanation());
    Some(Reason::new(ReasonCode::NoPieces, item.span, message).with_label(span, "here"))
}

/// A pointer variable on the device would point to the tile that was mapped last.
fn device_pointer_in_window(pipeline: &Pipeline<'_, '_>) -> Option<Reason> {
    pipeline.values.cx().pipeline.window?;
    let names = pipeline.values.names;
    let is_on_device = |item: &&Mapped| item.key.header.is_some() || names.is_declare_target(&item.name);
    let (item, _) = pipeline.streams().find(|(item, _)| is_on_device(item))?;
    let message = format!("the device may have one pointer `{}` for all tiles of a window", item.name);
    Some(Reason::new(ReasonCode::NoPieces, item.span, message))
}

/// In a window, the pieces of neighbouring tiles are not adjacent to a tile's own.
fn halo_in_window(pipeline: &Pipeline<'_, '_>) -> Option<Reason> {
    let (item, _) = pipeline.streams().find(|(_, tiled)| tiled.has_halo())?;
    pipeline.values.cx().pipeline.window?;
    let message = format!("a tile reads pieces of `{}` that other tiles of a window hold", item.name);
    Some(Reason::new(ReasonCode::NoPieces, item.span, message))
}
