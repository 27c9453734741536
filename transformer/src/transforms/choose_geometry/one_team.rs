//! The threads of the one team that runs a target region with parallel loops: as many as a team can have, where the loops use them.

use super::levels::is_parallel_loop;
use super::{is_a_choice_of_the_original, team_reasons};
use crate::analysis::associated_loops::{known_iterations, loops_of};
use crate::analysis::body_work::operations_in_text;
use crate::context::Context;
use crate::edit::directive_writer::append_clauses;
use crate::plan::{Certainty, Change, Pass, Plan, Reason, ReasonCode, Verdict};
use crate::region::construct::ConstructId;
use crate::region::loop_nest::loop_inside;
use crate::region::target::TargetRegion;
use crate::semantics::Program;
use crate::syntax::ClauseName;
use crate::syntax::spec_table::Leaf;
use crate::transforms::checks;

/// Threads of the team where the loops leave each of them 64 registers or less, and where they may need more. On an H200 the LU decomposition of
/// 256 rows by one team takes 8.6 ms with the runtime's 128 threads and 2.0 with 1,024.
const THREADS: u32 = 1024;
const FEWER_THREADS: u32 = 512;
/// The most operations in the text of a loop that need no more than 64 registers, and no more than 128. Assumed.
const FEW_OPERATIONS: usize = 60;
const MANY_OPERATIONS: usize = 200;
/// A loop with so few iterations gains nothing from further threads, which its barrier waits for.
const SHORT: u64 = 256;

/// What is decided about the team of a region that has no other one. `None` if it has no such form, or no device is given.
pub(super) fn plan(cx: &Context<'_>, region: &TargetRegion) -> Option<Plan> {
    let takes_clause = cx.device.is_some() && cx.pipeline.transforms_loops();
    let loops = parallel_loops(cx, region).filter(|_| takes_clause && region.chain.leaves == [Leaf::Target])?;
    let span = cx.constructs.directive(region.chain.innermost()).span;
    Some(decide(cx, region, &loops).into_plan(Pass::Geometry, span, region.extent))
}

/// The loops of the region, if they are all that its team does together.
fn parallel_loops(cx: &Program<'_>, region: &TargetRegion) -> Option<Vec<ConstructId>> {
    let body = cx.constructs.construct(region.chain.innermost()).body_span;
    let inside = cx.constructs.ids().filter(|id| body.contains(cx.constructs.directive(*id).span));
    let is_atomic = |id: &ConstructId| cx.constructs.directive(*id).is("atomic");
    let inside: Vec<ConstructId> = inside.filter(|id| !is_atomic(id)).collect();
    let are_loops = !inside.is_empty() && inside.iter().all(|id| is_parallel_loop(cx, *id));
    are_loops.then_some(inside)
}

fn decide(cx: &Context<'_>, region: &TargetRegion, loops: &[ConstructId]) -> Verdict {
    let mut reasons = checks::clause_reasons(cx, region);
    let first = region.chain.innermost();
    let directive = cx.constructs.directive(first);
    let all = loops.iter().chain([&first]).flat_map(|id| &cx.constructs.directive(*id).clauses);
    let says_threads = |name: ClauseName| matches!(name, ClauseName::ThreadLimit | ClauseName::NumThreads);
    if all.into_iter().any(|clause| says_threads(clause.name)) {
        let message = "the number of threads in a team is written down";
        return Verdict::Nothing(Reason::new(ReasonCode::GridWritten, directive.span, message));
    }
    if reasons.is_empty() {
        reasons.extend(team_reasons(cx, region));
    }
    if reasons.iter().any(|reason| reason.certainty == Certainty::Proved) {
        return Verdict::Refuse(reasons);
    }
    let no = |message: &str| {
        Verdict::DoesNotPay(vec![Reason::new(ReasonCode::GridDoesNotPay, directive.span, message.to_owned())])
    };
    if loops.iter().all(|id| is_short(cx, *id)) {
        return no("the loops are too short for more threads in the one team");
    }
    let bodies = loops.iter().filter_map(|id| cx.constructs.construct(*id).body);
    let most = bodies.map(|body| operations_in_text(cx, body)).max().unwrap_or_default();
    if most > MANY_OPERATIONS {
        return no("a loop may need the registers that more threads in the one team would take from it");
    }
    let threads = if most > FEW_OPERATIONS { FEWER_THREADS } else { THREADS };
    if is_a_choice_of_the_original(cx, region, threads) {
        reasons.clear();
    }
    let edits = vec![append_clauses(cx.file, directive, &[format!("thread_limit({threads})")])];
    let summary = format!("{threads} threads in the one team, which share its loops");
    Verdict::Change(Change { edits, summary, reasons, ..Change::default() })
}

/// Has the loop few iterations, and none inside that `collapse` could take with them?
fn is_short(cx: &Program<'_>, id: ConstructId) -> bool {
    let is_nest = loops_of(cx, id).is_some_and(|nest| loop_inside(cx.file, cx.tree, &nest).is_ok());
    !is_nest && known_iterations(cx, id).is_some_and(|trips| trips <= SHORT)
}
