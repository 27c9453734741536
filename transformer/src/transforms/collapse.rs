//! Collapse the loops of a nest into one parallel loop, in the order that gives more threads or nearer accesses.
//!
//! ## Input
//!
//! ```c
//! void multiply(int n, const float *a, const float *b, float *c) {
//!   #pragma omp target teams distribute parallel for thread_limit(128) \
//!       map(to: a[0:n*n], b[0:n*n]) map(from: c[0:n*n])
//!   for (int i = 0; i < n; i++)
//!     for (int j = 0; j < n; j++) {
//!       float sum = 0;
//!       for (int k = 0; k < n; k++)
//!         sum += a[i * n + k] * b[k * n + j];
//!       c[i * n + j] = sum;
//!     }
//! }
//! ```
//!
//! ## Output
//!
//! ```c
//! void multiply(int n, const float *a, const float *b, float *c) {
//!   #pragma omp target teams distribute parallel for collapse(2) thread_limit(128) \
//!       map(to: a[0:n*n], b[0:n*n]) map(from: c[0:n*n])
//!   for (int i = 0; i < n; i++)
//!     for (int j = 0; j < n; j++) {
//!       float sum = 0;
//!       for (int k = 0; k < n; k++)
//!         sum += a[i * n + k] * b[k * n + j];
//!       c[i * n + j] = sum;
//!     }
//! }
//! ```
//!
//! ## Applies when
//!
//! - the construct is a `distribute parallel for` or a `loop` of a league in a target region, as written or as `split`
//!   makes it in the same run, with or without a `collapse` that reaches less far;
//! - or it is a `parallel for` of a target region without teams, which `split` leaves as it is and whose `thread_limit`, as `geometry` writes it with a
//!   device, gives its team more than 128 threads: they share more iterations so, and access elements side by side;
//! - the loops are nested with nothing or only declarations beside them, and the iterations of the inner ones are proved
//!   independent;
//! - they are rectangular, or a `distribute parallel for` takes triangles: one bound is `i`, `i + e` or `i - e` of a loop
//!   around it, both count by one in `int` and are not tested by `!=`, and no range has a negative length;
//! - the estimate says that it pays: more threads where the outer loop does not fill the device, or accesses of
//!   neighbouring threads that are nearer to each other. The kernel must take a tenth less, and the construct with its launch
//!   become 1.05 times as fast. An order that seems meant for a GPU stays where lengths are unknown: neighbouring threads access
//!   elements side by side, and they would no longer, or the size of a team is written.
//!
//! Where another of the collapsed loops than the last runs along the rows of the arrays, the heads of both change places, so
//! that neighbouring threads differ in that one's variable; also where the original collapses them in the worse order.
//!
//! ## Refuses when
//!
//! OMPS140, OMPS141 bounds that cannot be evaluated in advance; OMPS142, OMPS143 something is carried from one inner
//! iteration to another; OMPS144 a clause that does not go with more loops; OMPS145 something is not followed. OMPS240: it
//! does not pay. OMPS440: there is no perfect nest.
//!
//! ## Safety
//!
//! The outer iterations are independent by the promise of the original: nothing groups or serialises them, so each may have
//! a thread of its own. For the inner loops nothing is promised. Their iterations within one outer iteration are compared:
//! each pair of accesses of one array must have different subscripts in different iterations, and what is reached through
//! different names must be different storage. Arrays of their own are. So are parameters that nothing sets, of a function that only the file
//! can call, where all calls are in sight and each hands over two different arrays or memory got for each. So are sections that one construct maps, because its
//! list items must not share storage, as long as the accesses stay within them; not those of a data construct with `if`, such as `hoist`
//! writes where they may. Scalars from outside must not be written, except those that an iteration sets before it reads them in a private
//! copy, and what a `reduction` combines, whose order is not specified anyway. Updates of integers by `atomic` give the same
//! in any order too, where all of an array are by one operator and nothing else there accesses it. Where what is stored loses something each
//! time, the order counts all the same: an `int` sum of fractions, a `char` maximum of `int`s, a maximum that what is no number begins anew. Loops whose iterations are all independent may run in any order, and so change places where no head
//! names the variable of another. The bounds are sums and products of variables that nothing changes.
//!
//! What is known of two accesses that both happen: the ranges of the loops around them, and the conditions of `if` and `?:`
//! on loop variables and on variables that the nest does not change; of the host's loops and conditions around the nest what
//! they say of variables that are the function's own, that nothing changes from the condition up to the end of the statement,
//! that nothing maps (the device may have an older value), and where no label leads into the statement. A comparison counts only
//! where the program compares as mathematical numbers do: with a sign, or unsigned variables themselves, because `u - 1` is
//! large for zero. `c ? x : y` lies between bounds that both have under their conditions. Where a Fourier-Motzkin elimination
//! shows that no integers fulfil all of it, equal subscripts and different iterations, the accesses never meet.
//!
//! `schedule(static)` without a chunk is no promise about single iterations. It gives each thread of a team at most one chunk of the
//! team's share, of a size that is not specified, and neither is the number of teams, or that of the threads in one, unless clauses limit
//! both: an implementation may take so many that no two iterations are in one chunk, so that in an original without races they are
//! independent. With more loops the logical iteration space is another one, and only which thread takes which iteration changes.
//! That two loops of one parallel region with equal schedules give the same iterations to the same threads (OpenMP 5.2, section 11.5.3)
//! means nothing here, because the parallel region of a `distribute parallel for` holds one loop and ends with it. Where both numbers are limited
//! (`num_teams` and `thread_limit`), neighbouring iterations may be in one chunk in every execution, and the clause is refused.
//!
//! A declaration moves only if nothing assigns its variables or takes their address, and if no name in it is declared
//! again in the inner loop, so that each iteration gives them the values that they had. An element that it reads counts as read by each
//! inner iteration: if another one writes it, the iterations are dependent.
//!
//! What would race in the original cannot happen. For iterations of different values of the outer variable that is the
//! promise, since the race is reached whenever the access is. Within one outer iteration it proves something only where
//! a race with another one follows: in `if (a[i][k] + a[k][j] < a[i][j]) a[i][j] = ..` the write at `j == k` would be read by all
//! `j`. Its condition at `(i, k)` implies the condition at `(k, k)`, by the values of the same elements, and what is written
//! there is read by the iteration `i` too. So it never holds in a program without races. That needs integers that do not
//! wrap around, one comparison that every iteration comes to, equal ranges of `i` and `j`, and a single write to the array; the
//! argument stands in `analysis/independence/witness`. A write without a condition proves nothing: `a[i][j] = a[i][k] + 1` has
//! no race in one row, and its iterations depend on each other.
//!
//! A triangle whose inner range ends before the place right before its begin makes clang 19 count far too many iterations, so
//! that it is shown that none does. Where a test is `!=` it runs iterations outside of the triangle, and one of `long` that has no
//! iterations at all divides by zero: both are refused. In a template it is assumed that
//! its parameter is an arithmetic type (OMPS304), unless clang is asked.
//!
//! ## References
//!
//! OpenMP 5.2, sections 4.4.1, 4.4.2, 4.4.3, 5.1.1, 5.5, 5.8.3, 11.5.3. Magni, "Analysis and Parameter Prediction of Compiler
//! Transformation for Graphics Processors" (2015), section 4.6. C17, section 6.5.

mod declarations;
mod gain;
mod nests;
mod triangles;
mod write;

use crate::analysis::accesses::Accesses;
use crate::analysis::atomics::Updates;
use crate::analysis::independence::{self, Candidate, aliases, clauses, pairs, scalars};
use crate::context::Context;
use crate::plan::{Change, Pass, Plan, Reason, Verdict};
use crate::region::construct::ConstructId;
use crate::region::target::target_regions;
use crate::source::Span;
use crate::transforms::Waiting;
use crate::transforms::checks::type_parameters;

/// Decides for every parallel loop of a league in a file.
pub(super) fn collapse(cx: &Context<'_>) -> Vec<Plan> {
    // `combine` comes last: what could be collapsed is. The variables of its teams would be told as a reason.
    let combined = target_regions(cx.tree, cx.constructs).into_iter().filter(|it| it.combines_teams(cx.constructs));
    let combined: Vec<Span> = combined.map(|region| region.extent).collect();
    let is_own = |id: &ConstructId| combined.iter().any(|extent| extent.contains(cx.constructs.directive(*id).span));
    cx.constructs.ids().filter(|id| !is_own(id)).filter_map(|id| plan_construct(cx, id)).collect()
}

/// Loops of one team are collapsed where `split` leaves them there.
pub(super) fn waits_for(_: Waiting) -> &'static [Pass] {
    &[Pass::Split]
}

fn plan_construct(cx: &Context<'_>, id: ConstructId) -> Option<Plan> {
    let chain = nests::chain_to_target(cx, id)?;
    let construct = cx.constructs.construct(id);
    let directive = cx.constructs.directive(id);
    let first = chain.first().copied().unwrap_or(id);
    let start = cx.constructs.directive(first).span;
    let is_alone = cx.constructs.construct(first).body == construct.body;
    let span = if is_alone { start } else { directive.span };
    let extent = Span::new(span.start, construct.body_span.end);
    let verdict = decide(cx, id, chain).unwrap_or_else(|reasons| Some(Verdict::Refuse(reasons)))?;
    Some(verdict.into_plan(Pass::Collapse, span, extent))
}

/// Checks all preconditions. `None` if the construct has no loop inside its own.
fn decide(cx: &Context<'_>, id: ConstructId, chain: Vec<ConstructId>) -> Result<Option<Verdict>, Vec<Reason>> {
    if !nests::has_inner_loop(cx, id) {
        return Ok(None);
    }
    nests::check_text(cx, &chain)?;
    let (nest, no_further) = match nests::read(cx, id)? {
        Ok(read) => read,
        Err(reason) => return Ok(Some(Verdict::Nothing(reason))),
    };
    if let Some(inside) = nests::directive_inside(cx, id) {
        return no_further.map_or(Err(vec![inside]), |reason| Ok(Some(Verdict::Nothing(reason))));
    }
    // If no loop can be added, the existing ones may still be exchanged. It is no refusal if they are not.
    let verdict = clauses::read(cx, &chain).and_then(|(clauses, of_grid)| {
        let verdict = choose(cx, &Candidate { cx, id, chain, clauses, nest, is_in_team: false })?;
        match (verdict, of_grid.first()) {
            // A change under an assumption was already possible before the grid was chosen, and is not reported again.
            (Verdict::Change(change), Some(first)) if !change.reasons.is_empty() => Ok(Verdict::Nothing(first.clone())),
            (Verdict::Change(_), Some(_)) => Err(of_grid),
            (verdict, _) => Ok(verdict),
        }
    });
    match (verdict, no_further) {
        (Ok(Verdict::Change(change)), _) => Ok(Some(Verdict::Change(change))),
        (_, Some(reason)) => Ok(Some(Verdict::Nothing(reason))),
        (verdict, None) => verdict.map(Some),
    }
}

fn choose(cx: &Context<'_>, candidate: &Candidate<'_, '_>) -> Result<Verdict, Vec<Reason>> {
    let (found, sections) = independence::read(candidate);
    nests::check_troubles(&found)?;
    let updates = nests::updates(candidate, &found)?;
    let (depth, against_more) = legal_depth(candidate, &found, &updates);
    let gain = gain::best(cx, candidate, &found, depth);
    let Some(too_little) = gain.does_not_pay(candidate) else {
        let more = gain.choice.depth > candidate.promised();
        let mut assumptions = if more { aliases::assumptions(candidate, &found, &sections)? } else { Vec::new() };
        let body = cx.constructs.construct(candidate.id).body.filter(|_| more);
        assumptions.extend(body.and_then(|body| type_parameters::assumption(cx, body)));
        let edits = write::edits(candidate, gain.choice);
        return Ok(Verdict::Change(Change {
            edits,
            summary: gain.summary(candidate),
            times: Some(gain.times()),
            reasons: assumptions,
            ..Change::default()
        }));
    };
    // If some loops are already collapsed and more would not pay either, nothing else is reported.
    let all = || gain::best(cx, candidate, &found, candidate.nest.loops.loops.len());
    match against_more.is_empty() || candidate.promised() > 1 && all().does_not_pay(candidate).is_some() {
        true => Ok(Verdict::DoesNotPay(vec![too_little])),
        false => Err(against_more),
    }
}

/// How many loops may be collapsed, and the reasons against the first further one if none may be added.
fn legal_depth(candidate: &Candidate<'_, '_>, found: &Accesses, updates: &Updates) -> (usize, Vec<Reason>) {
    let mut legal = candidate.promised();
    for depth in candidate.promised() + 1..=candidate.nest.loops.loops.len() {
        let mut reasons = nests::head_reasons(candidate, found, depth);
        reasons.extend(scalars::reasons(candidate, found, depth));
        reasons.extend(pairs::reasons_beside(candidate, found, depth, updates));
        match reasons.is_empty() {
            true => legal = depth,
            false if legal == candidate.promised() => return (legal, reasons),
            false => break,
        }
    }
    (legal, Vec::new())
}
