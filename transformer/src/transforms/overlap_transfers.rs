//! Copy arrays beside kernels that do not use them.
//!
//! ## Input
//!
//! ```c
//! void forces(long n, int steps, double *x, double *c) {
//!   #pragma omp target data map(tofrom: x[0:n], c[0:n])
//!   {
//!     #pragma omp target teams distribute parallel for
//!     for (long i = 0; i < n; i++)
//!       for (int k = 0; k < steps; k++)
//!         x[i] = x[i] * x[i] - 0.5;
//!     #pragma omp target teams distribute parallel for
//!     for (long i = 0; i < n; i++)
//!       c[i] += x[i];
//!     #pragma omp target teams distribute parallel for
//!     for (long i = 0; i < n; i++)
//!       for (int k = 0; k < steps; k++)
//!         x[i] = x[i] * x[i] - 0.25;
//!   }
//! }
//! ```
//!
//! ## Output
//!
//! ```c
//! #include "ompsplit_pin.h"
//! void forces(long n, int steps, double *x, double *c) {
//!   {
//!     /* Host threads copy beside the kernels that do not use what is copied (sizes: NVIDIA H200). */
//!     enum { LEAST_BYTES = 33554432 };
//!     if (sizeof(*c) * n >= LEAST_BYTES && ompsplit_is_absent(c)) {
//!       #pragma omp target data map(tofrom: x[0:n]) map(alloc: c[0:n])
//!       {
//!         #pragma omp parallel sections num_threads(ompsplit_threads(2))
//!         {
//!           #pragma omp section
//!           {
//!             #pragma omp target teams distribute parallel for
//!             for (long i = 0; i < n; i++)
//!               for (int k = 0; k < steps; k++)
//!                 x[i] = x[i] * x[i] - 0.5;
//!           }
//!           #pragma omp section
//!           ompsplit_to_device(c, sizeof(*c) * n);
//!         }
//!         #pragma omp target teams distribute parallel for
//!         for (long i = 0; i < n; i++)
//!           c[i] += x[i];
//!         #pragma omp parallel sections num_threads(ompsplit_threads(2))
//!         {
//!           #pragma omp section
//!           {
//!             #pragma omp target teams distribute parallel for
//!             for (long i = 0; i < n; i++)
//!               for (int k = 0; k < steps; k++)
//!                 x[i] = x[i] * x[i] - 0.25;
//!           }
//!           #pragma omp section
//!           ompsplit_from_device(c, sizeof(*c) * n);
//!         }
//!       }
//!     } else {
//!       #pragma omp target data map(tofrom: x[0:n], c[0:n])
//!       {
//!         #pragma omp target teams distribute parallel for
//!         for (long i = 0; i < n; i++)
//!           for (int k = 0; k < steps; k++)
//!             x[i] = x[i] * x[i] - 0.5;
//!         #pragma omp target teams distribute parallel for
//!         for (long i = 0; i < n; i++)
//!           c[i] += x[i];
//!         #pragma omp target teams distribute parallel for
//!         for (long i = 0; i < n; i++)
//!           for (int k = 0; k < steps; k++)
//!             x[i] = x[i] * x[i] - 0.25;
//!       }
//!     }
//!   }
//! }
//! ```
//!
//! An array that is copied to the device where the block begins, although the first kernels do not use it, is copied while they run;
//! one that the last kernels do not use comes back while those run. The copies go through page-locked buffers, as those of `pipeline` do
//! (`ompsplit header` prints the header), since copies of other memory overlap with nothing. With `--pin register` or `alloc` the arrays
//! themselves are page-locked around the block, and `target update` copies them; with `--pin none` they are taken to be already.
//!
//! ## Applies when
//!
//! - a `target data` construct, written by hand or by `hoist`, copies an array of numbers that its first or last kernels do not name;
//! - a kernel stands between the beginning of the block and the first use of that array, or between its last use and the end;
//! - likewise an array that one kernel of the block maps alone, if it is apart from all that the construct maps, may be copied in front of that kernel
//!   and behind it, and nothing else in the block may reach it: the construct gives it its place on the device then, as long as the block lasts;
//! - those kernels are predicted to hide at least a tenth of the copy, and the block to become at least 1.05 times as fast
//!   (`overlap_transfers/gain`: every length that the text does not tell is taken to be the same, and large).
//!
//! The host asks for the rest at run time: at least 32 MiB of the largest such array (`--pipeline-from` says otherwise), the construct's own `if`
//! clause, and that nothing of these arrays is on the device already. The other branch is the block as it was.
//!
//! ## Refuses when
//!
//! - OMPS101 to OMPS104, OMPS125: the text cannot be read for certain;
//! - the construct stands in code for the device, or where the program promises that directives are absent;
//! - OMPS156: a clause of the construct does not go with it (`device`, `always`, `use_device_ptr`), a construct in the block is a task, one elsewhere may be
//!   deferred until the array is copied, or the array is no section of numbers that keeps its place and length: a member, an array of
//!   pointers, a variable that the device may have (`declare target`), a pointer or a length that changes in the block;
//! - OMPS157: beside every kernel that could hide the copy stands something that may reach the array without its name: host code that reaches
//!   memory, a call, a kernel that reaches what the construct does not map, an update; or anywhere in the block something that may map the array once more;
//! - OMPS158: the block cannot stand twice in the function, the header finds no place, or the file has thread-private variables.
//!
//! OMPS256: the kernels hide too little, or `--for gcc`, whose runtime does one after the other. OMPS480: every array that is copied is used by the first
//! and the last kernel, or threads of the host copy already.
//!
//! ## Safety
//!
//! The copy moves the bytes that the construct would have moved, from and to the same places: where nothing of the array was on the
//! device, `map(to:)` copies all of it, and `map(from:)` copies all of it back, since the construct is the one that removes it (in the block nothing maps it but
//! kernels, which leave as many maps as they found). Where something was there, or another thread could put it there (in a parallel region), the block runs as it was.
//!
//! Nobody meets the array while it is copied. Two list items of one construct share no storage (OpenMP 5.2, section 5.8.3), so a kernel
//! that reaches nothing but items which are numbers, and variables of its own, uses the array only where it names it; and host code beside the copy
//! reaches no memory but numbers that nothing else leads to. A copy to the device may begin later than the block only behind such code, and a
//! copy back may end before the block only in front of it: so what is copied is what the block would have copied.
//!
//! The construct `sections` ends when the kernels and the copies have ended, so that nothing is left to wait for where the block ends. The paper's
//! Figure 5 leaves out the `taskwait` that its own form would need there. The statements beside a copy are executed in their order by one thread; in a
//! parallel region of one thread the copies follow them.
//!
//! The copies are no tasks, as they are in the paper. `target update nowait` in LLVM 19 is run by hidden helper threads of libomp. Of a program with both
//! copies, called in an active parallel region, 31 of 40 runs aborted on the x86_64 offload device where its kernels had no `num_teams`
//! (`th_set_nproc >= 1`), and none of 150 where they had; in a region of one thread such threads abort as well (`bench/results/pipeline`), and `target update
//! from` unlocks an entry of the mapping table twice, which is right only while nothing else uses the array. Threads of the host with constructs that wait
//! need none of it.
//!
//! ## References
//!
//! OpenMP 5.2, sections 5.8.3, 5.8.6, 11.3, 13.5 and 13.9. Chikin, Gobran and Amaral, "OpenMP Code Offloading: Splitting GPU Kernels, Pipelining Communication
//! and Computation, and Selecting Better Grid Geometries" (2018), section 4.

mod block;
mod gain;
mod items;
mod stages;
mod write;

use crate::context::{Context, OutputCompiler};
use crate::plan::{Change, Detail, Pass, Plan, Reason, ReasonCode, Verdict};
use crate::region::construct::ConstructId;
use crate::region::target::{Chain, TargetRegion, target_regions};
use crate::source::Span;
use crate::syntax::ClauseName;
use crate::syntax::spec_table::Leaf;
use crate::transforms::host_copies::deferred::{deferred, is_quiet};
use crate::transforms::host_copies::host_code;
use crate::transforms::host_copies::host_values::HostValues;
use crate::transforms::overlap_transfers::block::{Block, Wish};
use crate::transforms::overlap_transfers::gain::Times;
use crate::transforms::overlap_transfers::items::{Item, Size, Way};
use crate::transforms::overlap_transfers::stages::{Stage, stages};
use crate::transforms::overlap_transfers::write::Overlapped;
use crate::transforms::{Waiting, checks, two_forms};

/// The least bytes of the largest array, if no option says otherwise: below that the first pipeline of a program lost, since it makes the
/// buffers (`bench/results/pipeline`).
const LEAST_BYTES: u64 = 32 << 20;

/// Decides for every `target data` construct.
pub(super) fn overlap_transfers(cx: &Context<'_>) -> Vec<Plan> {
    let regions = target_regions(cx.tree, cx.constructs);
    let blocks = cx
        .constructs
        .ids()
        .filter(|id| cx.constructs.directive(*id).name == "target data" && cx.constructs.construct(*id).body.is_some());
    blocks.map(|id| plan(cx, id, &regions)).collect()
}

/// Which kernels use an array is decided when all others have made and changed them, and `hoist` its data constructs.
pub(super) fn waits_for(_: Waiting) -> &'static [Pass] {
    &[
        Pass::Split,
        Pass::Hoist,
        Pass::Collapse,
        Pass::Scalarize,
        Pass::Fuse,
        Pass::Reduce,
        Pass::Coarsen,
        Pass::Stage,
        Pass::Geometry,
        Pass::Pipeline,
    ]
}

fn plan(cx: &Context<'_>, id: ConstructId, regions: &[TargetRegion]) -> Plan {
    let span = cx.constructs.directive(id).span;
    let extent = Span::new(span.start, cx.constructs.construct(id).body_span.end);
    let chain = Chain { constructs: vec![id], leaves: cx.constructs.construct(id).leaves.clone() };
    let region = TargetRegion { chain, segments: Vec::new(), extent };
    let verdict = match nothing_to_do(cx, &region) {
        Some(reason) => Verdict::Nothing(reason),
        None => checked(cx, &region, regions).unwrap_or_else(Verdict::Refuse),
    };
    judged(cx, span, verdict).into_plan(Pass::Overlap, span, extent)
}

/// Why there is nothing to overlap, whatever stands in the block.
fn nothing_to_do(cx: &Context<'_>, region: &TargetRegion) -> Option<Reason> {
    let id = region.chain.innermost();
    let nothing = |span: Span, message: &str| Some(Reason::new(ReasonCode::NothingToOverlap, span, message));
    let span = cx.constructs.directive(id).span;
    if cx.constructs.directive(id).clauses_of(ClauseName::Map).next().is_none() {
        return nothing(span, "it copies nothing");
    }
    if let Some(clause) = checks::unified_memory(cx) {
        return nothing(clause, "host and device share memory: nothing is copied");
    }
    let has_threads = |extent: Span| {
        cx.constructs.within(extent).any(|(construct, _)| construct.leaves.first() == Some(&Leaf::Parallel))
    };
    let of_threads = |id: ConstructId| {
        let leaves = &cx.constructs.construct(id).leaves;
        leaves.contains(&Leaf::Parallel) || leaves.contains(&Leaf::Teams)
    };
    let mut around = std::iter::successors(cx.constructs.enclosing(id), |id| cx.constructs.enclosing(*id));
    let other = two_forms::other_branch(cx, cx.constructs.construct(id).body?);
    let is_done = other.is_some_and(|other| has_threads(cx.tree.span(other)));
    if has_threads(region.extent) || is_done || around.any(of_threads) {
        return nothing(span, "threads of the host overlap copies and kernels already");
    }
    None
}

/// Checks all preconditions of a construct.
fn checked(cx: &Context<'_>, region: &TargetRegion, regions: &[TargetRegion]) -> Result<Verdict, Vec<Reason>> {
    let text = checks::text_reasons(cx, region);
    if !text.is_empty() {
        return Err(text);
    }
    let values = HostValues { names: cx, region, extent: region.extent };
    let mut items = items::read(cx, &values, region.chain.innermost()).map_err(|reason| vec![reason])?;
    let of_one_kernel = Block::read(cx, region, &items, regions).map(|block| block.of_one_kernel(cx, &values));
    items.extend(of_one_kernel.map_err(|reason| vec![reason])?);
    let block = Block::read(cx, region, &items, regions).map_err(|reason| vec![reason])?;
    let (granted, reasons) = granted(&block, block.wishes());
    if granted.is_empty() && reasons.is_empty() {
        let message = "every array that is copied is used by the first and the last kernel of the block";
        let span = cx.constructs.directive(region.chain.innermost()).span;
        return Ok(Verdict::Nothing(Reason::new(ReasonCode::NothingToOverlap, span, message)));
    }
    if granted.is_empty() {
        return Err(reasons);
    }
    let reasons = place_reasons(cx, region);
    if !reasons.is_empty() {
        return Err(reasons);
    }
    decide(cx, region, &block, &granted)
}

/// The wishes that can be granted, and the reasons against the others.
fn granted(block: &Block<'_>, wishes: Vec<Wish>) -> (Vec<Wish>, Vec<Reason>) {
    let (mut granted, mut reasons) = (Vec::new(), Vec::new());
    for wish in wishes {
        let Some(item) = block.items.get(wish.item) else { continue };
        let open = block.open(&wish);
        let mut stretches = block.stretches(&[wish.idle.start, wish.idle.end]).into_iter();
        let has_kernel = stretches.any(|it| it.start >= open.start && it.end <= open.end && block.kernels_in(&it) > 0);
        match &item.transfer {
            // It is copied by its kernel as before.
            Ok(_) if !has_kernel && item.of_kernel => {}
            Err(why) => {
                let message = format!("`{}` stays where it is: {why}", item.name);
                reasons.push(Reason::new(ReasonCode::TransferClause, item.span, message));
            }
            Ok(_) if !has_kernel => reasons.push(block.obstacle(&wish)),
            Ok(_) => granted.push(wish),
        }
    }
    // What a kernel maps travels by itself both ways, or the kernel copies it.
    let is_whole = |wish: &Wish| {
        let item = block.items.get(wish.item).filter(|item| item.of_kernel);
        let ways = |item: &Item| [Way::In, Way::Out].into_iter().filter(|way| item.is_copied(*way)).count();
        item.is_none_or(|item| granted.iter().filter(|other| other.item == wish.item).count() == ways(item))
    };
    (granted.iter().filter(|wish| is_whole(wish)).cloned().collect(), reasons)
}

/// What stands against threads and copies in the block as a whole.
fn place_reasons(cx: &Context<'_>, region: &TargetRegion) -> Vec<Reason> {
    let extent = region.extent;
    let refuse = |code, span, message: &str| Reason::new(code, span, message);
    let mut reasons: Vec<Reason> = cx.device_code(region).into_iter().collect();
    reasons.extend(checks::excludes_directives(cx, region));
    reasons.extend(checks::excludes_host_threads(cx, region));
    reasons.extend(deferred(cx, extent).map(|span| {
        let message = "another construct may be deferred until the arrays of this one are copied";
        refuse(ReasonCode::TransferClause, span, message)
    }));
    let body = cx.constructs.construct(region.chain.innermost()).body_span;
    if !is_quiet(cx, body) {
        let message = "a call, or something else in the block that is not followed, may map its arrays once more";
        reasons.push(refuse(ReasonCode::TransferReach, extent, message));
    }
    if cx.has_threadprivate() {
        let message = "thread-private variables keep their values only from one parallel region to the next (OpenMP 5.2, section 5.2)";
        reasons.push(refuse(ReasonCode::TransferPlace, extent, message));
    }
    if let Some(name) = host_code::of_one_thread(cx, extent) {
        let message = format!("{name} is another variable in each thread of the host");
        reasons.push(refuse(ReasonCode::TransferPlace, extent, &message));
    }
    let around = cx.constructs.ids().filter(|id| cx.constructs.construct(*id).body_span.contains(extent));
    if let Some(tile) = around.map(|id| cx.constructs.directive(id)).find(|directive| directive.is("tile")) {
        let message = "clang 19 crashes on threads of the host in a loop under this directive";
        reasons.push(refuse(ReasonCode::TransferPlace, tile.span, message));
    }
    reasons
}

/// Decides whether it pays, and writes it.
fn decide(
    cx: &Context<'_>,
    region: &TargetRegion,
    block: &Block<'_>,
    granted: &[Wish],
) -> Result<Verdict, Vec<Reason>> {
    let times = Times::of(cx, block);
    let chosen = stages(cx, block, granted, &times);
    let predicted = times.before_and_after(block.items, &chosen);
    cx.explain(Pass::Overlap, region.extent, || details(cx, block, &chosen, predicted));
    let least_bytes = cx.pipeline.least_bytes.unwrap_or(LEAST_BYTES);
    if let Some(reason) = does_not_pay(cx, region, block, &chosen, predicted) {
        return Ok(Verdict::DoesNotPay(vec![reason]));
    }
    let overlapped = Overlapped { region, block, stages: &chosen, least_bytes };
    let edits = overlapped.edits(cx).map_err(|reason| vec![reason])?;
    let summary = format!("copied beside kernels that do not use them: {}", travels(block, &chosen));
    Ok(Verdict::Change(Change { edits, summary, ..Change::default() }))
}

/// "`b`, `c` to the device; `c` back"
fn travels(block: &Block<'_>, chosen: &[Stage]) -> String {
    let name = |wish: &Wish| format!("`{}`", block.items.get(wish.item).map_or("", |item| item.name.as_str()));
    let names = |way: Way| -> Vec<String> {
        let all = chosen.iter().flat_map(|stage| &stage.transfers).map(|(wish, _)| wish);
        all.filter(|wish| wish.way == way).map(name).collect()
    };
    let parts = [(names(Way::In), "to the device"), (names(Way::Out), "back")];
    let parts = parts.into_iter().filter(|(names, _)| !names.is_empty());
    parts.map(|(names, way)| format!("{} {way}", names.join(", "))).collect::<Vec<_>>().join("; ")
}

/// "`c` is copied to the device"
fn travel(block: &Block<'_>, wish: &Wish) -> String {
    let name = block.items.get(wish.item).map_or("", |item| item.name.as_str());
    match wish.way {
        Way::In => format!("`{name}` is copied to the device"),
        Way::Out => format!("`{name}` is copied back"),
    }
}

fn does_not_pay(
    cx: &Context<'_>,
    region: &TargetRegion,
    block: &Block<'_>,
    chosen: &[Stage],
    predicted: (f64, f64),
) -> Option<Reason> {
    let span = cx.constructs.directive(region.chain.innermost()).span;
    let no = |message: String| Some(Reason::new(ReasonCode::TooLittleHidden, span, message));
    let is_forced = cx.pipeline.least_bytes.is_some();
    if chosen.is_empty() {
        return no("the kernels that do not use the arrays take much less time than the copies".to_owned());
    }
    if !is_forced && !gain::pays(predicted) {
        let (before, after) = predicted;
        return no(format!("{before:.2} ms as it is, {after:.2} ms with copies beside the kernels"));
    }
    let least = cx.pipeline.least_bytes.unwrap_or(LEAST_BYTES);
    let moving = chosen.iter().flat_map(|stage| &stage.transfers).filter_map(|(wish, _)| block.items.get(wish.item));
    let sizes = moving.filter_map(|item| Some(item.transfer.as_ref().ok()?.size));
    let is_small = |size: Size| matches!(size, Size::Known(bytes) if bytes < least);
    let sizes: Vec<Size> = sizes.collect();
    if sizes.iter().all(|size| is_small(*size)) {
        return no(format!("fewer than {least} bytes are copied, and threads of the host take time to begin"));
    }
    None
}

/// The facts for `explain`.
fn details(cx: &Context<'_>, block: &Block<'_>, chosen: &[Stage], (before, after): (f64, f64)) -> Vec<Detail> {
    let mut details = Vec::new();
    for stage in chosen {
        let first = block.statements.get(stage.statements.start).map_or(0, |statement| statement.extent.start);
        let line = cx.file.lines.line_column(first).line;
        let kernels = block.kernels_in(&stage.statements);
        let plural = if kernels == 1 { "kernel" } else { "kernels" };
        details.push(Detail::head(format!("beside {kernels} {plural} from line {line} on:")));
        details.extend(stage.transfers.iter().map(|(wish, hidden)| {
            Detail::inner(format!("{}, of which {hidden:.1} ms are hidden", travel(block, wish)))
        }));
    }
    details.push(Detail::head(format!("predicted: {before:.1} ms as it is, {after:.1} ms so")));
    details
}

/// The verdict, by the compiler that the output is for.
fn judged(cx: &Context<'_>, span: Span, verdict: Verdict) -> Verdict {
    let Verdict::Change(mut change) = verdict else { return verdict };
    match cx.pipeline.compiler {
        OutputCompiler::Gcc if cx.pipeline.least_bytes.is_none() => {
            let message = "GCC's runtime copies and launches one after the other, from whichever threads";
            let reason = Reason::new(ReasonCode::TooLittleHidden, span, message)
                .with_label(span, "`--pipeline-from BYTES` changes it all the same");
            return Verdict::DoesNotPay(vec![reason]);
        }
        OutputCompiler::Llvm | OutputCompiler::Gcc => {}
        OutputCompiler::Nvhpc => {
            let message = "assumes that NVIDIA's HPC compilers translate threads that launch kernels as the specification has them";
            change.reasons.insert(0, Reason::new(ReasonCode::UntriedCompiler, span, message));
        }
    }
    Verdict::Change(change)
}
