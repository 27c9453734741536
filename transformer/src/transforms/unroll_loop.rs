//! Unroll a serial loop of a kernel whose loads wait for each other.
//!
//! ## Input
//!
//! ```c
//! void sums(int rows, int columns, const float *a, float *sum) {
//!   #pragma omp target teams distribute parallel for thread_limit(128) \
//!       map(to: a[0:rows * columns]) map(from: sum[0:rows])
//!   for (int i = 0; i < rows; i++) {
//!     float own = 0;
//!     for (int j = 0; j < columns; j++)
//!       own += a[i * columns + j];
//!     sum[i] = own;
//!   }
//! }
//! ```
//!
//! ## Output
//!
//! ```c
//! void sums(int rows, int columns, const float *a, float *sum) {
//!   #pragma omp target teams distribute parallel for thread_limit(128) \
//!       map(to: a[0:rows * columns]) map(from: sum[0:rows])
//!   for (int i = 0; i < rows; i++) {
//!     float own = 0;
//!     if (columns >= 32 && columns % 4 == 0 && (unsigned long long)&a[i * columns] % 16 == 0) {
//!       const float *a_aligned = __builtin_assume_aligned(&a[i * columns], 16);
//!       #pragma omp unroll partial(32) /* h200 */
//!       for (int j = 0; j < columns; j++)
//!         own += a_aligned[j];
//!     } else {
//!       for (int j = 0; j < columns; j++)
//!         own += a[i * columns + j];
//!     }
//!     sum[i] = own;
//!   }
//! }
//! ```
//!
//! The terms keep their order, so that the sums keep their bits; but many loads are under way at once, where the compiler's own choice has four.
//! Of a row that begins on a border of 16 bytes each load fetches four elements, or two of type `double`: neighbouring threads, whose rows lie
//! far apart, then use more of each sector of 32 bytes that they ask for.
//!
//! What is left over of a length is done one by one, so that loops that run seldom lose. Where the text does not tell how often one runs, the
//! kernel asks, and takes shorter ones as they are. Measured on an H200 (`bench/results/unroll`) with the grids that `geometry` writes: sums of rows
//! 1.5 to 3 times as fast, products of rows with a vector 1.4 to 2.7 times, sums of columns up to 1.6 times; with rows of type `double` 1.1 to 1.5
//! times, products of matrices up to 1.1 times. Shorter loops run as before.
//!
//! ## Applies when
//!
//! - the kernel is one `distribute parallel for` loop of a league, without `simd` or `order(concurrent)`, `--device` names one whose profile says how
//!   far loops like it are unrolled (`unrolled_rows`, `unrolled_products`, `unrolled_around`), and the output is for clang: the directive is one of
//!   OpenMP 5.1;
//! - the serial loop is in canonical form, stands directly in the body of the parallel loop, declares its variable, and holds
//!   nothing but declarations and expressions, no call and no store to memory;
//! - one iteration loads one element of a row that the thread has for itself or of a column beside those of its neighbours, and perhaps
//!   one that neighbouring threads share; or elements of two such rows;
//! - the kernel asks for lengths that are arithmetic with integers, of a loop that counts up by one from a small number. Otherwise the loop
//!   is only unrolled where the text tells its length, or the pass is named;
//! - for wider loads the array's elements are numbers of four or eight bytes, the loop counts from 0, each place names the array or a pointer
//!   to numbers and adds the loop's variable to its subscript, and each iteration loads them. The distance of neighbouring rows is asked for as
//!   well, so that all threads of a warp take the same loop;
//! - or it is a loop around one like that, whose length the text does not tell, and the iterations of both load one element, the next
//!   one with the next iteration of the loop around: where the inner loop runs once, eight loads are under way and not one
//!   (1.45 to 1.54 times as fast); where it runs more often, nothing changes.
//!
//! ## Refuses when
//!
//! OMPS101 to OMPS104, OMPS125: the text cannot be read for certain. OMPS170: it would pay, but no `unroll` construct may stand in
//! the region of the loop. OMPS270: it is not known to pay. OMPS470: directives or `#pragma` lines stand in the loop.
//!
//! ## Safety
//!
//! Safe: unrolling executes the same iterations in the same order (OpenMP 5.2, section 9.2). Both forms of a loop do so; its bound is
//! evaluated once more in front of it, by the same arithmetic. The address of a row is only computed where its first element is loaded, and
//! what is assumed of it was asked before.
//!
//! ## References
//!
//! OpenMP 5.2, sections 4.4.1 and 9.2. Volkov, "Better Performance at Lower Occupancy" (2010): loads under way in one thread
//! stand for threads.

mod forms;
mod loads;
mod write;

use self::forms::Unrolled;
use crate::analysis::accesses::{Accesses, accesses};
use crate::analysis::associated_loops::associated_loops;
use crate::analysis::cost::launched;
use crate::context::Context;
use crate::device::DeviceProfile;
use crate::device::choice::plain_launch;
use crate::device::time::{gains, number};
use crate::edit::Edit;
use crate::plan::{Change, Pass, Plan, Reason, ReasonCode, Verdict};
use crate::region::construct::ConstructId;
use crate::region::loop_nest::CanonicalLoop;
use crate::region::target::{TargetRegion, target_regions};
use crate::semantics::Program;
use crate::source::Span;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Binary, ClauseName, If, NodeId, NodeKind};
use crate::transforms::{Waiting, checks, two_forms};

/// How many times as fast a kernel becomes at the most: rows of known length (`bench/results/unroll`).
const FASTER: f64 = 1.85;

/// Decides for every kernel that is one loop with a serial loop inside.
pub(super) fn unroll_loop(cx: &Context<'_>) -> Vec<Plan> {
    let regions = target_regions(cx.tree, cx.constructs);
    regions.iter().filter(|it| it.is_league_loop()).filter_map(|region| plan_region(cx, region)).collect()
}

/// A serial loop is unrolled after all other passes: a loop that stands twice tells them less.
pub(super) fn waits_for(_: Waiting) -> &'static [Pass] {
    Pass::Unroll.before()
}

fn plan_region(cx: &Context<'_>, region: &TargetRegion) -> Option<Plan> {
    let body = cx.constructs.construct(region.chain.innermost()).body?;
    // With one `for` there is no serial one.
    cx.tree.descendants(body).filter(|node| cx.tree.kind(*node) == NodeKind::ForStatement).nth(1)?;
    let first = region.chain.constructs.first().copied().unwrap_or(ConstructId(0));
    let span = cx.constructs.directive(first).span;
    let is_confined = cx.is_confined(Pass::Unroll, region);
    if is_confined && cx.profile.is_none() {
        return None;
    }
    let doubts = checks::text_reasons(cx, region);
    if !doubts.is_empty() {
        return (!is_confined).then(|| Verdict::Refuse(doubts).into_plan(Pass::Unroll, span, region.extent));
    }
    let verdict = match decide(cx, region, span) {
        Ok(found) if found.is_empty() => return None,
        Ok(found) => Verdict::Change(change(cx, region, &found)),
        Err(reason) => match reason.code {
            ReasonCode::UnrollWritten => Verdict::Nothing(reason),
            ReasonCode::UnrollNotAllowed => Verdict::Refuse(vec![reason]),
            _ => Verdict::DoesNotPay(vec![reason]),
        },
    };
    let is_said = !is_confined || verdict.is_certain_change();
    is_said.then(|| verdict.into_plan(Pass::Unroll, span, region.extent))
}

/// The loops to unroll. Empty if there is no serial one. The error says why none is unrolled.
fn decide(cx: &Context<'_>, region: &TargetRegion, span: Span) -> Result<Vec<Unrolled>, Reason> {
    let symbols = cx.symbols();
    let no = |span, message: &str| Err(Reason::new(ReasonCode::UnrollDoesNotPay, span, message));
    let Some((loops, promised)) = associated_loops(cx, region) else {
        return no(span, "the loops of the construct are not understood");
    };
    let Some(last) = loops.last() else { return Ok(Vec::new()) };
    let serial = serial_loops(cx, &loops, last.body);
    let Some((first, _)) = serial.first() else { return Ok(Vec::new()) };
    if let Some(place) = checks::directive_in(cx, cx.constructs.construct(region.chain.innermost()).body_span) {
        let message = "how the loops are translated is written here";
        return Err(Reason::new(ReasonCode::UnrollWritten, place, message));
    }
    let Some(device) = cx.profile.filter(|device| device.unrolled_rows.is_some() || device.unrolled_products.is_some())
    else {
        return no(cx.tree.span(*first), "no device is asked for on which serial loops were measured unrolled");
    };
    if !cx.pipeline.transforms_loops() {
        return no(cx.tree.span(*first), "not measured with the compiler that the output is for");
    }
    let found = accesses(cx.file, cx.tree, symbols, &loops, promised, &[]);
    if let Some(trouble) = found.troubles.first() {
        return no(trouble.span, &trouble.message);
    }
    // Loops that run less often than what becomes one iteration lose.
    let is_sure = |one: &Unrolled| !cx.is_confined(Pass::Unroll, region) || one.is_sure;
    let first = region.chain.constructs.first().copied().unwrap_or(ConstructId(0));
    let may_stand_twice = two_forms::cannot_stand_twice(cx, first, region.extent).is_none();
    let judged = |(node, is_of_part): &(NodeId, bool)| {
        let place = (last.body, *node, *is_of_part);
        match judge(cx, device, (&found, promised), place, may_stand_twice) {
            Ok(one) if !is_sure(&one) => Err((cx.tree.span(*node), "the text does not tell how often this loop runs")),
            judged => judged,
        }
    };
    let (chosen, others): (Vec<_>, Vec<_>) = serial.iter().map(judged).partition(Result::is_ok);
    match others.into_iter().find_map(Result::err) {
        Some((span, message)) if chosen.is_empty() => no(span, message),
        _ => match excludes_unroll(cx, region) {
            Some(reason) => Err(reason),
            None => Ok(chosen.into_iter().flatten().collect()),
        },
    }
}

/// The form in which a loop is unrolled, or the place and reason why it is not.
fn judge(
    cx: &Context<'_>,
    device: &DeviceProfile,
    (found, promised): (&Accesses, usize),
    (kernel, node, is_of_part): (NodeId, NodeId, bool),
    may_stand_twice: bool,
) -> Result<Unrolled, (Span, &'static str)> {
    let mut serial = loads::serial(cx, (found, promised), kernel, node)?;
    // Constructs side by side have loops as they had them alone.
    serial.is_collapsed &= !(is_of_part && promised == 2);
    let span = serial.head.span;
    let form = forms::form(cx, device, &serial, may_stand_twice)
        .ok_or((span, "this loop is too short, or was not measured with loads like these"))?;
    let (loads, trips) = (serial.inside.len(), serial.trips.filter(|_| !serial.has_inner));
    if trips.is_some_and(|trips| is_beside_a_launch(found, promised, trips, loads)) {
        return Err((span, "the launch takes so much longer that too little is gained"));
    }
    Ok(form)
}

/// Is the construct, whose iterations are known, too short to become 1.05 times as fast?
fn is_beside_a_launch(found: &Accesses, promised: usize, trips: u64, loads: usize) -> bool {
    let mut known = found.loops.iter().take(promised).map(|one| one.trips.and_then(|trips| u64::try_from(trips).ok()));
    let Some(iterations) = known.try_fold(1_u64, |product, trips| product.checked_mul(trips?)) else { return false };
    let loads = u64::try_from(loads).unwrap_or(u64::MAX);
    let waiting = launched(number(trips.saturating_mul(loads)), iterations, plain_launch(iterations));
    !gains(waiting, waiting / FASTER)
}

/// A construct of the kernel in whose region no `unroll` construct may be encountered (OpenMP 5.2, sections 10.3 and 10.4).
fn excludes_unroll(cx: &Program<'_>, region: &TargetRegion) -> Option<Reason> {
    let no = |span: Span, what: &str| {
        let message = format!("no loop in a region of {what} may be unrolled by a directive");
        Some(Reason::new(ReasonCode::UnrollNotAllowed, span, message))
    };
    region.chain.constructs.iter().find_map(|id| {
        let directive = cx.constructs.directive(*id);
        if cx.constructs.construct(*id).leaves.contains(&Leaf::Simd) {
            return no(directive.name_span, "`simd`");
        }
        directive.clauses_of(ClauseName::Order).next().and_then(|clause| no(clause.span, "`order(concurrent)`"))
    })
}

/// The loops that are executed serially, and unconditionally, in one iteration, or in all those of an outer loop of the construct that have one
/// value of its variable, which is told; the outermost ones.
fn serial_loops(cx: &Program<'_>, own: &[CanonicalLoop], body: NodeId) -> Vec<(NodeId, bool)> {
    let tree = cx.tree;
    let outer = own.split_last().map(|(_, outer)| outer).unwrap_or_default();
    let is_of_outer = |name: NodeId| {
        let name = cx.file.show(tree.span(name));
        outer.iter().any(|read| read.variable == *name)
    };
    // `if (part == 1)`, as constructs stand side by side.
    let is_part = |node: NodeId| {
        let sides = |part: NodeId| {
            Binary::of(tree, part).and_then(|part| Some((part.operator()?, part.left()?, part.right()?)))
        };
        let asks = |part: NodeId| {
            sides(part).is_some_and(|(operator, left, right)| {
                operator == NodeKind::EqualEqual && is_of_outer(left) && cx.constant(tree.span(right)).is_some()
            })
        };
        let condition = If::of(tree, node).filter(|one| one.alternative().is_none()).and_then(If::condition);
        condition.is_some_and(|condition| tree.descendants(condition).any(asks))
    };
    let around = |node: NodeId| {
        let around = tree.ancestors(node).take_while(|around| tree.span(body).contains(tree.span(*around)));
        around.filter(|around| tree.kind(*around) != NodeKind::CompoundStatement).collect::<Vec<_>>()
    };
    let loops = tree.descendants(body).filter(|node| tree.kind(*node) == NodeKind::ForStatement);
    let found = loops.map(|node| (node, around(node))).filter(|(_, around)| around.iter().all(|node| is_part(*node)));
    found.map(|(node, around)| (node, !around.is_empty())).collect()
}

fn change(cx: &Context<'_>, region: &TargetRegion, found: &[Unrolled]) -> Change {
    let name = cx.profile.map_or("", |device| &device.name);
    let factors: Vec<String> = found.iter().map(|one| one.factor.to_string()).collect();
    let loops = if found.len() == 1 { "a serial loop" } else { "serial loops" };
    let how = match (found.iter().any(|one| !one.rows.is_empty()), found.iter().any(|one| !one.tests.is_empty())) {
        (true, _) => " where rows begin on borders of 16 bytes, which one load fetches",
        (false, true) => " where long, so that more loads are under way",
        (false, false) => ", so that more loads are under way",
    };
    let summary = format!("{loops} unrolled {} times for {name}{how}", factors.join(", "));
    let edits: Vec<Edit> = found.iter().map(|one| write::edit(cx, region, one, name)).collect();
    Change { edits, summary, ..Change::default() }
}
