//! Split a target region at its parallel loops, so that each is a kernel of its own on the full grid.
//!
//! ## Input
//!
//! ```c
//! void step(int n, const double *u, double *v, double *w) {
//!   #pragma omp target map(to: u[0:n]) map(tofrom: v[0:n], w[0:n])
//!   {
//!     #pragma omp parallel for
//!     for (int i = 1; i < n; i++)
//!       v[i] += u[i] - u[i - 1];
//!     #pragma omp parallel for
//!     for (int i = 0; i < n; i++)
//!       w[i] += 0.5 * v[i];
//!   }
//! }
//! ```
//!
//! ## Output
//!
//! ```c
//! void step(int n, const double *u, double *v, double *w) {
//!   #pragma omp target data map(to: u[0:n]) map(tofrom: v[0:n], w[0:n])
//!   {
//!     #pragma omp target teams distribute parallel for map(to: u[0:n]) map(tofrom: v[0:n]) \
//!         thread_limit(128)
//!     for (int i = 1; i < n; i++)
//!       v[i] += u[i] - u[i - 1];
//!     #pragma omp target teams distribute parallel for map(tofrom: v[0:n], w[0:n]) thread_limit(128)
//!     for (int i = 0; i < n; i++)
//!       w[i] += 0.5 * v[i];
//!   }
//! }
//! ```
//!
//! ## Applies when
//!
//! - the region is `target teams { distribute parallel for .. }` (or `loop`, or with `simd`) with several loops and
//!   nothing else;
//! - the region is `target { parallel for .. }` with one or more loops and nothing else, and nothing serialises or
//!   groups the iterations of a loop, or they are proved independent: one team becomes the whole grid;
//! - the region is a `target teams distribute` loop, without `parallel`: the teams get more than their one thread, where
//!   nothing groups the iterations (`num_teams`, a chunk) or they are proved independent;
//! - the same with a `parallel` region that holds several worksharing loops and barriers, where no thread keeps a value of its
//!   own from one loop to the next: variables that each iteration assigns before it reads them become private to the
//!   kernels, and reductions of the region are combined by each kernel;
//! - around and between the loops stand `for`, `while`, `do`, `if` and blocks, declarations and assignments of numbers, and
//!   the host can execute them to the same effect: they stay where they are, and so move to the host;
//! - other serial statements stand between the loops of one team: consecutive ones become a kernel of one thread;
//! - `parallel sections` without clauses stand between the loops of one team: they stay a kernel of one team;
//! - the region is a `target teams distribute` loop with several parallel loops inside, and it pays to let the host run that
//!   loop in order, as one team would;
//! - one thread of `target` runs serial loops, alone or beside other statements, and their iterations are proved to be independent: threads share them
//!   first (`parallel for`), and what is said above holds for the loops then; where they do not pay as kernels of their own, one team shares them;
//! - a condition hangs on what only the device knows: a kernel of one thread evaluates it, and the host does what it says.
//!
//! Each kernel is a launch of 30 microseconds. Where the estimate says that the kernels are not 1.05 times as fast, launches included, for lengths that the text tells or for those
//! that are assumed, the region stays (OMPS201). A variable that gives the lengths of a loop and of one inside it is taken for 2,048, or for
//! 256 where control flow around the kernels repeats the launches: nothing tells that a matrix is larger. Where one of 2,048 rows is predicted
//! to become twice as fast, and a device is given, the region is written in both forms, and the host asks, as everywhere with `--versioned`.
//!
//! Directives may be combined, stacked or nested. `nowait` and `depend` of one team with several loops go to a task around the
//! kernels.
//!
//! ## Refuses when
//!
//! Each rule has a page: `ompsplit rule`. OMPS101 to OMPS104 the text is not certain; OMPS105, OMPS120 to OMPS122 a clause
//! has no safe place; OMPS106, OMPS127, OMPS129 a variable would be a copy per kernel or per thread; OMPS107, OMPS108,
//! OMPS124, OMPS128 something may be hidden; OMPS109, OMPS110, OMPS115 to OMPS117, OMPS130 the region depends on its
//! team; OMPS111 to OMPS113, OMPS123, OMPS126 something stands in it that neither the host nor a kernel of its own can do;
//! OMPS114, OMPS119 a loop's bounds;
//! OMPS118 it runs on the device already; OMPS125 its spelling; OMPS131 compilers do not take it there;
//! OMPS132 the text and clang disagree, where it is asked; OMPS133 to OMPS135 the text may mean something else than it says: cut words,
//! standard types with another meaning, attributes.
//!
//! ## Safety
//!
//! The data construct maps once what the original mapped once, so the kernels find everything present and copy nothing.
//! The explicit items are restated on each kernel, with the same sections, because a section's base is translated only
//! where a map names it. Scalars that no clause maps are firstprivate in the original and in each kernel; they are never
//! written, so every copy has the one value. The kernels run in the order of the loops, each when the one before has
//! ended, which is the order of one team and one that the loops of a league may have.
//!
//! A `target` construct is a task, so an explicit task around the kernels may be deferred and is ordered as it was. It keeps
//! the values of scalars and pointers and shares what is mapped. Outside of a parallel region of the host it is not deferred,
//! which is permitted, but what the program does beside it then waits.
//!
//! The loops of one `parallel` region run in the order of the text, which is one that `nowait` permits too. What the threads
//! execute around them moves to the host only if every thread would do the same on variables of its own.
//!
//! A scalar that no clause maps and that the region writes is one object for the whole region, with the value that the
//! program's variable has at its start. The output declares it in the region's block, by the same name.
//!
//! What moves to the host reads only variables that the region declares and scalars that no clause maps, whose copies on
//! the device have the host's value. It writes the former alone. Integers are computed alike on both sides, and copies and
//! comparisons of other numbers are exact; floating-point arithmetic is not moved. A variable of the region that a loop
//! writes is mapped by that loop's kernel, so that host and device see its values in the order of the text.
//!
//! A scalar that the threads of a loop share and each iteration assigns before it reads it is private to the kernel, if
//! nothing else in the region reads it. Where one thread runs the loop, each iteration sees its own value either way; where
//! several do, the original races, and OMPS401 says so.
//!
//! Serial statements run on the initial thread of the one team; the one thread of `target { .. }` does the same, on the same
//! device. What they declare for themselves stays in their block. A number that others use is declared before it, without
//! its initialiser: `float q; target map(from: q) { q = s / n; }`. A variable from before the region that they write is a copy
//! in the original too; it may be a copy of each kernel where each assigns it before it reads it, and nothing else reads it.
//!
//! An array of the region is declared on the host and mapped for the rest of its block: `map(alloc:)`, or `map(to:)` with
//! constant values. At most 16 KiB of the host's stack may serve so.
//!
//! A sequential loop that counts with a variable from before the region gets one of its own, `for (int t = 0; ..)`, where
//! nothing reads the count behind the loop.
//!
//! Kernels get `thread_limit(128)` where the original chooses no grid; nothing that asks for the number of threads is split.
//!
//! With `--versioned` a region whose loops pay only from some length on stands twice, under a host `if` that compares integers
//! which no clause maps with constants. Both branches give the original's results; OMPS405 says where that is not possible.
//!
//! One team becomes many only where the iterations are independent: a worksharing loop with a default, `dynamic` or
//! `guided` schedule may give each iteration to a thread of its own, so a race-free loop has no dependences between them.
//! The same holds for a `distribute` loop and the one thread of each team. With `num_threads`, `if`, a chunk, `thread_limit`,
//! or `num_teams` for a `distribute` loop, nothing promises that. Each pair of accesses is then compared as
//! `collapse` does it, each scalar must be assigned before it is read or be a sum, and what is not understood is dependent. Such
//! clauses fall away, but for `thread_limit`, and an `if` that also says where the region runs.
//!
//! Nothing promises either that the iterations of a serial loop are independent, and it does what one with `num_threads(1)` does: so it is decided on
//! as that, in a text of its own. Besides it must count as a directive counts: its bounds and its step are integers, and its variable cannot wrap around.
//! A variable from before the region with which it counts is private to the loop then; that is so where no clause names it, and nothing in the region sees
//! the value that the loop leaves.
//!
//! ## References
//!
//! OpenMP 5.2, sections 4.4.1, 5.4, 5.8, 10.2, 11.5, 11.6, 13.5, 13.8, 17.2. Chikin, Gobran and Amaral, "OpenMP Code
//! Offloading: Splitting GPU Kernels, Pipelining Communication and Computation, and Selecting Better Grid Geometries"
//! (2018), section 3, Figures 1 and 2. Unlike Figure 2, the kernels restate their map clauses.

mod facts;
mod kernels;
mod serial_loops;
mod shape;
mod write;

use crate::analysis::limit::limit;
use crate::context::Context;
use crate::plan::{Change, Decision, Pass, Plan, Reason, ReasonCode, RuleKind, Times, Verdict};
use crate::region::construct::ConstructId;
use crate::region::target::{TargetRegion, target_regions};
use crate::syntax::spec_table::Leaf;
use crate::transforms::checks::{numbered, text_reasons};

use self::facts::cost::{self, condition, figures};
use self::facts::{Facts, facts_of};
use self::kernels::{Kernels, kernels_of};
use self::shape::{Shape, distribute, own_output, shape_of};
use self::write::{Output, both_forms};

/// Decides for every target region of a file.
pub(super) fn split_target(cx: &Context<'_>) -> Vec<Plan> {
    let plan = |region: &TargetRegion| {
        let in_order = distribute::in_order(cx, region).map(|region| plan_region(cx, &region));
        // If the teams are necessary, the region stays as it is.
        in_order.filter(|plan| plan.decision != Decision::Refuse).unwrap_or_else(|| plan_region(cx, region))
    };
    let regions = target_regions(cx.tree, cx.constructs);
    let mut plans: Vec<Plan> = regions.iter().map(plan).collect();
    serial_loops::share(cx, &regions, &mut plans, plan_region);
    plans
}

/// Decides for one region: its shape, the facts, the kernels and the edits are computed one from the other.
fn plan_region(cx: &Context<'_>, region: &TargetRegion) -> Plan {
    let first = region.chain.constructs.first().copied().unwrap_or(ConstructId(0));
    let span = cx.constructs.directive(first).span;
    let nothing = |message: &str| Verdict::Nothing(Reason::new(ReasonCode::NothingToSplit, span, message));
    if own_output::is_one_of_two_forms(cx, region) {
        let verdict = nothing("the other branch of this `if` holds the same statements as kernels of their own");
        return limited(cx, region, verdict.into_plan(Pass::Split, span, region.extent));
    }
    let (shape, facts) = match checked(cx, region) {
        Ok(Some(found)) => found,
        Ok(None) => {
            let message = "this region has no parallel loop to split off, or is one kernel on the full grid already";
            return limited(cx, region, nothing(message).into_plan(Pass::Split, span, region.extent));
        }
        Err(reasons) => {
            let does_not_pay = reasons.iter().all(|reason| reason.code.kind() == RuleKind::DoesNotPay);
            let verdict = if does_not_pay { Verdict::DoesNotPay(reasons) } else { Verdict::Refuse(reasons) };
            return verdict.into_plan(Pass::Split, span, region.extent);
        }
    };
    let kernels = kernels_of(cx, &shape, &facts);
    let output = Output { cx, region, shape: &shape, facts: &facts, kernels: &kernels };
    let mut plan = judged(&output).into_plan(Pass::Split, span, region.extent);
    // If the split does not pay, the plan says how many kernels it would make.
    if plan.decision != Decision::Refuse {
        plan.kernels = (1, kernels.kernels.len());
    }
    cx.explain(plan.pass, plan.extent, || figures::details(cx, region, &shape, &facts, &plan));
    plan
}

/// A plan that does nothing, with what takes the time of the region.
fn limited(cx: &Context<'_>, region: &TargetRegion, plan: Plan) -> Plan {
    Plan { limit: Some(limit(cx, region, cx.device, cx.assumed_iterations)), ..plan }
}

/// Checks all preconditions. `None` if there is nothing to split. The error holds the reasons to refuse the region.
fn checked(cx: &Context<'_>, region: &TargetRegion) -> Result<Option<(Shape, Facts)>, Vec<Reason>> {
    let text = text_reasons(cx, region);
    if region.combines_teams(cx.constructs) && text.is_empty() {
        return Ok(None);
    }
    let unfit = |reasons: Vec<Reason>| [text.clone(), as_in_cuda(cx, region, reasons)].concat();
    let Some(shape) = shape_of(cx, region).map_err(unfit)? else {
        // A macro or an unknown directive in a block may hide a loop.
        let hidden = !region.chain.is_loop() && !text.is_empty();
        return if hidden { Err(text) } else { Ok(None) };
    };
    if !text.is_empty() {
        return Err(text);
    }
    let facts = facts_of(cx, region, &shape)?;
    Ok(Some((shape, facts)))
}

/// Calls the `parallel` regions of a league what they are where each thread does what its number says.
fn as_in_cuda(cx: &Context<'_>, region: &TargetRegion, reasons: Vec<Reason>) -> Vec<Reason> {
    let is_by_number = |reason: &Reason| {
        let mut ids = cx.constructs.ids_within(region.extent);
        reason.code == ReasonCode::BareParallel
            && region.chain.leaves.contains(&Leaf::Teams)
            && ids.any(|id| cx.constructs.directive(id).span == reason.span && numbered::by_number(cx, id))
    };
    let named = |reason: Reason| match is_by_number(&reason) {
        true => {
            let message = "written as in CUDA: what each thread of each team does here hangs on its number, so that nothing can be split";
            Reason::new(ReasonCode::CudaStyle, reason.span, message)
        }
        false => reason,
    };
    reasons.into_iter().map(named).collect()
}

/// The verdict on a region that can be split: it must pay in the form that is written.
fn judged(output: &Output<'_, '_>) -> Verdict {
    let Output { cx, region, shape, facts, kernels } = *output;
    let edits = match output.edits() {
        Ok(edits) => edits,
        Err(reason) => return Verdict::Refuse(vec![reason]),
    };
    let cost = cost::weigh(cx, region.extent, shape, &facts.pieces);
    // The search for it takes longer than all else, and what is split anyway needs none.
    let is_hint = cost.assumed().is_some() && !cost.estimate().pays();
    let condition = match cx.versioned || is_hint {
        true => condition::condition(cx, region, shape, &facts.pieces),
        false => Ok(None),
    };
    let threshold = condition.as_ref().ok().and_then(Option::as_ref);
    let (from, too_small) = (cost.pays_from(threshold), cost.does_not_pay(cx, region, threshold));
    // A host `if` loses nothing: with a device it is written where larger matrices gain much.
    let is_asked = cx.versioned || cost.should_ask(cx) && matches!(condition, Ok(Some(_)));
    let asked = if is_asked { condition } else { Ok(None) };
    let both = asked.as_ref().ok().and_then(Option::as_ref).and_then(|condition| {
        let edit = both_forms::write(output, &edits, condition)?;
        let summary = format!("{} where {condition}, as it was otherwise", what(shape, facts, kernels));
        Some(Change { edits: vec![edit], summary, ..Change::default() })
    });
    let mut change = match (both, too_small) {
        (Some(change), _) => change,
        (None, Some(reason)) => {
            return Verdict::DoesNotPay([Some(reason), asked.err()].into_iter().flatten().collect());
        }
        (None, None) => {
            let what = what(shape, facts, kernels);
            let summary = from.map_or(what.clone(), |from| format!("{what}; pays {from}"));
            Change { edits, summary, reasons: asked.err().into_iter().collect(), ..Change::default() }
        }
    };
    change.times = Some(Times::rounded(cost.estimate().before, cost.estimate().after));
    change.reasons.extend(facts.remarks(cx, shape));
    change.parts = facts.executed_by(cx);
    Verdict::Change(change)
}

/// A description of the split form.
fn what(shape: &Shape, facts: &Facts, kernels: &Kernels<'_>) -> String {
    let place = if kernels.data.is_empty() { "" } else { " inside one target data" };
    let threads = match facts.of_one_thread() {
        0 => String::new(),
        serial if place.is_empty() => format!(", {serial} of one thread"),
        serial => format!(", {serial} of one thread,"),
    };
    match kernels.kernels.len() {
        1 if shape.has_teams_of_one() => "each team gets as many threads as it may have".to_owned(),
        1 if facts.host.is_empty() => "one team becomes the full grid".to_owned(),
        1 => format!("the loop becomes a kernel{place}"),
        number => format!("split into {number} kernels{threads}{place}"),
    }
}
