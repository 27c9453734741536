//! A `parallel` loop in a `distribute parallel for` loop, which one thread runs alone: the team shares it where the outer loop is
//! `distribute` alone.

use super::queries;
use crate::analysis::associated_loops::loops_of;
use crate::analysis::independence::dependence_in_team;
use crate::context::Context;
use crate::edit::Edit;
use crate::plan::{Change, Reason, ReasonCode, Verdict};
use crate::region::construct::{Construct, ConstructId};
use crate::region::target::{TargetRegion, chain_from};
use crate::semantics::Program;
use crate::semantics::uses::{Role, Use, uses_below};
use crate::source::{Span, words};
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Clause, ClauseName, Directive, NodeId};
use crate::transforms::checks;
use crate::transforms::checks::type_parameters;

/// The words of the directive whose threads share the outer loop, and those with which its teams alone do.
const ONE_LEVEL: &str = "distribute parallel for";
const TWO_LEVELS: &str = "distribute";

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
    let name = cx.file.show(outer.name_span).split_whitespace().collect::<Vec<_>>().join(" ");
    if !reasons.is_empty() || !name.ends_with(ONE_LEVEL) {
        return Verdict::Refuse(reasons);
    }
    let text = name.replace(ONE_LEVEL, TWO_LEVELS);
    Verdict::Change(Change {
        edits: vec![Edit { span: outer.name_span, text }],
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
    let (message, at) = not_shared.or_else(|| own_variables(cx, region, &inner))?;
    Some(refused(first, message, at))
}

/// Does the clause say the same where the teams alone share the loop? `if` may keep the construct on the host, where it is as right.
fn is_allowed_outside(cx: &Program<'_>, clause: &Clause) -> bool {
    use ClauseName as C;
    let is_above_one = |clause: &Clause| {
        let value = clause.expression().and_then(|span| cx.symbols().constant(&cx.file.show(span), span.start));
        clause.modifiers.is_empty() && value.is_some_and(|number| number > 1)
    };
    match clause.name {
        C::Map | C::Device | C::IsDevicePtr | C::HasDeviceAddr | C::Nowait | C::Depend | C::NumTeams | C::Collapse => {
            true
        }
        C::Default | C::Shared | C::Private | C::Firstprivate | C::Defaultmap => true,
        C::If => clause.modifiers.is_empty() || clause.has_modifier("target"),
        // With one thread in a team, iterations would run in order.
        C::ThreadLimit => is_above_one(clause),
        _ => false,
    }
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

/// A variable that an iteration of the outer loop writes and that is not its own, or that its inner loops use and that is no scalar: the
/// threads of a team would need an array or an object in memory that they share.
fn own_variables(cx: &Program<'_>, region: &TargetRegion, inner: &[ConstructId]) -> Option<(String, Span)> {
    let outer = region.chain.innermost();
    let body: NodeId = cx.constructs.construct(outer).body?;
    let body_span = cx.tree.span(body);
    let own: Vec<&Clause> = cx.constructs.directive(outer).clauses.iter().filter(|it| is_own_copy(it.name)).collect();
    let inner_spans: Vec<Span> = inner.iter().map(|id| cx.constructs.construct(*id).body_span).collect();
    let uses = uses_below(cx.file, cx.tree, body);
    let trouble = |used: &Use| {
        let found = cx.symbols().lookup(&used.name, used.span.start)?;
        let is_declared = found.id().is_within(body_span);
        let is_own = is_declared || own.iter().any(|clause| clause.lists(&used.name));
        let is_inside = inner_spans.iter().any(|span| span.contains(used.span));
        let is_shared = is_inside && !inner_spans.iter().any(|span| found.id().is_within(*span));
        if matches!(used.role, Role::Write | Role::Address)
            && !is_own
            && !is_loop_variable(cx, outer, inner, &used.name)
        {
            return Some((format!("`{}` is no variable of one iteration alone", used.name), used.span));
        }
        if matches!(used.role, Role::Write | Role::Address) && !is_declared && is_named_outside(cx, outer, &used.name) {
            return Some((
                format!("`{}` has another value in the directive or the head of its loop", used.name),
                used.span,
            ));
        }
        let is_plain = found.ty.is_scalar() || found.ty.is_pointer();
        (is_own && is_shared && !is_plain)
            .then(|| (format!("the threads of a team would share `{}`, which is no number", used.name), used.span))
    };
    uses.iter().filter(|used| used.role != Role::Declaration).find_map(trouble)
}

fn is_own_copy(name: ClauseName) -> bool {
    matches!(name, ClauseName::Private | ClauseName::Firstprivate)
}

/// Does the construct name a variable beside the clauses that make copies of it: in a section, a number of teams, a bound?
fn is_named_outside(cx: &Program<'_>, outer: ConstructId, name: &str) -> bool {
    let clauses = cx.constructs.directive(outer).clauses.iter().filter(|clause| !is_own_copy(clause.name));
    let heads = loops_of(cx, outer).map(|nest| nest.loops).unwrap_or_default();
    let heads = heads.iter().flat_map(|one| [one.lower, one.upper, one.condition]);
    let spans: Vec<Span> = clauses.map(|clause| clause.span).chain(heads).collect();
    let is_variable = is_loop_variable(cx, outer, &[], name);
    !is_variable && spans.into_iter().any(|span| words(&cx.file.show(span)).any(|word| word == name))
}

/// Is it the variable of a loop that a directive shares, of which each thread has its own?
fn is_loop_variable(cx: &Program<'_>, outer: ConstructId, inner: &[ConstructId], name: &str) -> bool {
    let nests = inner.iter().chain([&outer]).filter_map(|id| loops_of(cx, *id));
    nests.into_iter().any(|nest| nest.loops.iter().any(|one| one.variable == name))
}
