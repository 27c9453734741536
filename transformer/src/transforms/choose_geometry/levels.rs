//! A `parallel` loop in a `distribute parallel for` loop, which one thread runs alone: the team shares it where the outer loop is
//! `distribute` alone.

use super::queries;
use crate::analysis::associated_loops::loops_of;
use crate::analysis::independence::dependence_in_team;
use crate::context::Context;
use crate::plan::{Change, Reason, ReasonCode, Verdict};
use crate::region::construct::{Construct, ConstructId};
use crate::region::target::{TargetRegion, chain_from};
use crate::semantics::Program;
use crate::source::Span;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Clause, ClauseName, Directive};
use crate::transforms::checks;
use crate::transforms::checks::team_rows::{SharedLoop, for_teams_alone, is_allowed_outside, own_variables};
use crate::transforms::checks::type_parameters;

/// A `parallel` region in the loop, which the one thread of an iteration runs alone. LLVM 19's device runtime takes 80 bytes of the device's
/// heap for each, gives none back, and does not notice when its 8 MiB are full: on an H200 100,000 iterations pass in its own grid of 32
/// threads and abort in every other grid, 200,000 abort in both. With a larger heap (`LIBOMPTARGET_HEAP_SIZE`) all pass.
pub(super) fn nested_parallel<'a>(cx: &'a Program<'_>, region: &TargetRegion) -> Option<&'a Directive> {
    let body = cx.constructs.construct(region.chain.innermost()).body_span;
    let mut inside = cx.constructs.within(body);
    inside.find(|(construct, _)| construct.leaves.contains(&Leaf::Parallel)).map(|(_, directive)| directive)
}

/// Gives the inner loops to the threads of a team, if that is proved to be right.
pub(super) fn two_levels(cx: &Context<'_>, region: &TargetRegion) -> Verdict {
    let outer = cx.constructs.directive(region.chain.innermost());
    let mut reasons = checks::text_reasons(cx, region);
    if reasons.is_empty() {
        reasons.extend(unproved(cx, region));
    }
    let edit = for_teams_alone(cx, outer);
    if edit.is_none() {
        let message = "the directive has other words than `distribute parallel for`, or something between them";
        reasons.push(Reason::new(ReasonCode::NestedParallel, outer.name_span, message));
    }
    let Some(edit) = edit.filter(|_| reasons.is_empty()) else { return Verdict::Refuse(reasons) };
    Verdict::Change(Change {
        edits: vec![edit],
        summary: "the threads of a team share the inner loop, which one thread ran alone".to_owned(),
        ..Change::default()
    })
}

fn refused(span: Span, because: impl Into<String>, at: Span) -> Reason {
    let message = "one thread runs this inner loop alone: write `teams distribute` without `parallel for` on the outer loop, and its \
                   team shares it";
    Reason::new(ReasonCode::NestedParallel, span, message).with_label(at, format!("not proved: {}", because.into()))
}

/// Why the inner loops may not be shared by the threads of a team, or the outer one by the teams alone.
fn unproved(cx: &Context<'_>, region: &TargetRegion) -> Option<Reason> {
    let id = region.chain.innermost();
    let construct = cx.constructs.construct(id);
    let first = nested_parallel(cx, region)?.span;
    if region.chain.leaves.last() != Some(&Leaf::For) {
        return Some(refused(first, "the outer loop has `simd` too", cx.constructs.directive(id).span));
    }
    let outer = region.chain.constructs.iter().flat_map(|id| &cx.constructs.directive(*id).clauses);
    if let Some(clause) = outer.into_iter().find(|clause| !is_allowed_outside(cx, clause)) {
        let message = "this clause may group or order the outer iterations, or hand a value on";
        return Some(refused(first, message, clause.span));
    }
    if let Some(mut reason) = queries::team_queries(cx, region) {
        reason.labels.push((first, "one thread runs this inner loop alone".to_owned()));
        return Some(reason);
    }
    if let Some(assumption) = construct.body.and_then(|body| type_parameters::assumption(cx, body)) {
        return Some(refused(first, assumption.message, assumption.span));
    }
    let inner: Vec<ConstructId> = cx
        .constructs
        .ids()
        .filter(|inner| construct.body_span.contains(cx.constructs.directive(*inner).span))
        .collect();
    let not_shared = inner.iter().find_map(|inner| inner_trouble(cx, region, *inner));
    let shared: Vec<SharedLoop> = inner.iter().map(|inner| shared_loop(cx, *inner)).collect();
    let (message, at) = not_shared.or_else(|| own_variables(cx, region, &shared))?;
    Some(refused(first, message, at))
}

/// Is it one loop that threads of a team share?
pub(super) fn is_parallel_loop(cx: &Program<'_>, id: ConstructId) -> bool {
    let Construct { leaves, .. } = cx.constructs.construct(id);
    matches!(leaves.as_slice(), [Leaf::Parallel, Leaf::For] | [Leaf::Parallel, Leaf::For, Leaf::Simd])
}

/// Why the threads of a team may not share a construct in the loop.
pub(super) fn inner_trouble(cx: &Program<'_>, region: &TargetRegion, id: ConstructId) -> Option<(String, Span)> {
    let directive = cx.constructs.directive(id);
    if !is_parallel_loop(cx, id) {
        return Some((format!("`{}` stands in the loop", directive.name), directive.span));
    }
    if let Some(clause) = directive.clauses.iter().find(|clause| !is_allowed_inside(clause)) {
        return Some(("this clause hands a value on, or is not followed".to_owned(), clause.span));
    }
    let Some(loops) = loops_of(cx, id) else {
        return Some(("the loop is not in canonical form".to_owned(), directive.span));
    };
    let mut chain = region.chain.constructs.clone();
    chain.extend(chain_from(cx.tree, cx.constructs, id).constructs);
    let Some(outer) = loops_of(cx, region.chain.innermost()) else {
        let span = cx.constructs.directive(region.chain.innermost()).span;
        return Some(("the outer loop is not in canonical form".to_owned(), span));
    };
    dependence_in_team(cx, chain, &outer, &loops).map(|reason| (reason.message, reason.span))
}

fn is_allowed_inside(clause: &Clause) -> bool {
    use ClauseName as C;
    match clause.name {
        C::Reduction => clause.modifiers.len() == 1 && clause.items().iter().all(|item| item.is_name),
        C::Private | C::Firstprivate | C::Shared | C::Default | C::Collapse | C::Order => true,
        C::NumThreads | C::If | C::Schedule | C::Simdlen | C::Safelen => true,
        _ => false,
    }
}

/// The loops of a construct, as they concern the variables of the outer iteration.
fn shared_loop(cx: &Program<'_>, id: ConstructId) -> SharedLoop {
    let loops = loops_of(cx, id).map(|nest| nest.loops).unwrap_or_default();
    let variables = loops.into_iter().map(|one| one.variable).collect();
    SharedLoop { span: cx.constructs.construct(id).body_span, variables }
}
