//! Loops of a target region that one thread runs, and whose iterations are independent: threads may share them.
//!
//! Such a loop does what `parallel for num_threads(1)` does with it, which promises nothing of its iterations. So the pass reads a text in which that
//! directive stands before each of them, and decides on its regions as on any others. A loop that it would split there gets
//! `parallel for`: its iterations are proved to be independent. The next round makes the kernels.

use std::collections::BTreeSet;

use crate::context::Context;
use crate::edit::directive_writer::{Layout, in_front};
use crate::edit::{Edit, EditSet, Origins};
use crate::plan::{Applicability, Change, Decision, Pass, Plan, Reason, ReasonCode, Verdict};
use crate::region::construct::ConstructTree;
use crate::region::target::{TargetRegion, target_regions};
use crate::semantics::edited_text::EditedText;
use crate::semantics::effects::Named;
use crate::semantics::symbols::Scope;
use crate::semantics::uses::{Use, uses_below};
use crate::source::{Span, words};
use crate::syntax::spec_table::Leaf;
use crate::syntax::{ClauseName, Field, For, NodeId, NodeKind};
use crate::transforms::split_target::shape::own_output;

/// How many texts are read. In each, the loops inside take the place of those that are not proved to be independent.
const MOST_TEXTS: usize = 4;

/// A region with loops that threads may share.
struct Shared<'r> {
    index: usize,
    region: &'r TargetRegion,
    /// Which loops; none, if nothing comes of it.
    loops: Vec<NodeId>,
    /// Those of them that stand in loops that one thread goes on to run.
    inner: Vec<NodeId>,
    /// What was found of the region where all of them are shared.
    found: Option<Change>,
    /// Why the iterations of one of them may depend on each other.
    dependence: Option<Reason>,
}

/// Decides for the regions with serial loops, where nothing else is to be done for them or more comes of it.
pub(super) fn share(
    cx: &Context<'_>,
    regions: &[TargetRegion],
    plans: &mut [Plan],
    decide: impl Fn(&Context<'_>, &TargetRegion) -> Plan,
) {
    let shared = |(index, region)| Shared {
        index,
        region,
        loops: loops_of(cx, region),
        inner: Vec::new(),
        found: None,
        dependence: None,
    };
    let mut all: Vec<Shared<'_>> = regions.iter().enumerate().map(shared).filter(|it| !it.loops.is_empty()).collect();
    for _ in 0..MOST_TEXTS {
        let mut open: Vec<&mut Shared<'_>> =
            all.iter_mut().filter(|it| it.found.is_none() && !it.loops.is_empty()).collect();
        if open.is_empty() {
            break;
        }
        read(cx, &mut open, &decide);
    }
    for one in all {
        let Some(plan) = plans.get_mut(one.index) else { continue };
        match (one.found, one.dependence) {
            (Some(change), _) => *plan = Verdict::Change(change).into_plan(Pass::Split, plan.span, plan.extent),
            (None, Some(dependence)) if plan.decision == Decision::NothingToDo => plan.reasons = vec![dependence],
            _ => {}
        }
    }
}

/// The outermost loops that the one thread of a region runs.
fn loops_of(cx: &Context<'_>, region: &TargetRegion) -> Vec<NodeId> {
    let body = cx.constructs.construct(region.chain.innermost()).body;
    let is_asked = region.chain.leaves == [Leaf::Target]
        && (cx.is_wanted)(region.extent)
        && !own_output::is_one_of_two_forms(cx, region);
    body.filter(|_| is_asked).map(|body| loops_in(cx, region, body)).unwrap_or_default()
}

/// The loops that a statement is or that stand in its block, as far as threads may share them, without any directive in them.
fn loops_in(cx: &Context<'_>, region: &TargetRegion, body: NodeId) -> Vec<NodeId> {
    let tree = cx.tree;
    let has_directive = |node: NodeId| {
        let mut inside = cx.constructs.ids_within(region.extent).filter(|id| *id != region.chain.innermost());
        inside.any(|id| {
            let construct = cx.constructs.construct(id);
            construct.body == Some(node) || tree.span(node).contains(cx.constructs.directive(id).span)
        })
    };
    let statements: Vec<NodeId> = match tree.kind(body) {
        NodeKind::CompoundStatement => tree.named_children(body).collect(),
        _ => vec![body],
    };
    let is_loop = |node: &NodeId| {
        tree.kind(*node) == NodeKind::ForStatement && !has_directive(*node) && counts_alone(cx, region, *node)
    };
    statements.into_iter().filter(is_loop).collect()
}

/// Is a loop's variable its own, or one of the function of which the region has a copy, and of which nothing else in it sees the last value?
fn counts_alone(cx: &Context<'_>, region: &TargetRegion, node: NodeId) -> bool {
    let tree = cx.tree;
    let Some(first) = For::of(tree, node).and_then(For::initializer) else { return false };
    if tree.kind(first) == NodeKind::Declaration {
        return true;
    }
    let variable = tree.child(first, Field::Left).map(|left| tree.span(left));
    let Some((named, variable)) = variable.and_then(|at| cx.named(&cx.file.show(at), at.start)) else { return false };
    let is_local = matches!(variable.scope, Scope::Local | Scope::Parameter)
        && variable.ty.is_scalar()
        && !variable.has_static_storage();
    let is_listed = cx.constructs.directive(region.chain.innermost()).clauses.iter().any(|clause| {
        clause.name == ClauseName::Defaultmap || words(&cx.file.show(clause.span)).any(|word| word == named.name)
    });
    let is_it = |at: Span| variable_at(cx, at).is_some_and(|it| it.id == named.id);
    // A loop that sets it first sees no earlier value.
    let sets_it = |around: NodeId| {
        let first = For::of(tree, around).and_then(For::initializer);
        let sides = first.and_then(|first| tree.child(first, Field::Left).zip(tree.child(first, Field::Right)));
        sides.is_some_and(|(left, right)| {
            is_it(tree.span(left)) && !uses_below(cx.file, tree, right).iter().any(|used| is_it(used.span))
        })
    };
    let body = cx.constructs.construct(region.chain.innermost()).body_span;
    let mut uses = uses_below(cx.file, tree, tree.covering(body)).into_iter().filter(|used| body.contains(used.span));
    let is_seen = |used: &Use| {
        is_it(used.span) && !tree.ancestors(used.node).any(|around| body.contains(tree.span(around)) && sets_it(around))
    };
    is_local && !is_listed && !uses.any(|used| is_seen(&used))
}

/// Reads a text in which threads share the loops, and notes what becomes of each region, or which loops are left out next.
fn read(cx: &Context<'_>, open: &mut [&mut Shared<'_>], decide: &impl Fn(&Context<'_>, &TargetRegion) -> Plan) {
    let of_one_thread = ["num_threads(1)".to_owned()];
    let edits = open.iter().flat_map(|one| one.loops.iter().map(|node| before(cx, one.region, *node, &of_one_thread)));
    let edits = EditSet::new(edits.collect()).unwrap_or_default();
    let Some(text) = EditedText::of(cx, &edits) else {
        open.iter_mut().for_each(|one| one.loops.clear());
        return;
    };
    let other = cx.of_other(text.program(cx.compilation));
    let regions = target_regions(other.tree, other.constructs);
    for one in open {
        let own = regions.iter().find(|region| text.origins.of(region.extent).start == one.region.extent.start);
        match own.map(|region| decide(&other, region)) {
            Some(plan) => one.take(cx, &plan, &text.origins, other.constructs),
            None => one.loops.clear(),
        }
    }
}

/// The directive before a loop.
fn before(cx: &Context<'_>, region: &TargetRegion, node: NodeId, clauses: &[String]) -> Edit {
    let layout = Layout::of(cx.file, cx.constructs.directive(region.chain.innermost()));
    in_front(cx.file, &layout, cx.tree.span(node).start, "parallel for", clauses)
}

impl Shared<'_> {
    fn take(&mut self, cx: &Context<'_>, plan: &Plan, origins: &Origins, constructs: &ConstructTree) {
        if plan.decision == Decision::Apply(Applicability::Safe) {
            self.found = Some(self.change(cx, plan, origins));
            return;
        }
        let grouped = plan.reasons.iter().filter(|reason| reason.code == ReasonCode::IterationsGrouped);
        let dependent: BTreeSet<NodeId> =
            grouped.clone().filter_map(|reason| self.loop_behind(cx, reason.span, origins, constructs)).collect();
        let label = grouped.clone().find_map(|reason| reason.labels.first());
        if let Some((at, message)) = label {
            let message =
                format!("one thread runs this loop, since its iterations may depend on each other; {message}");
            let place = dependent.first().map_or(self.region.extent, |node| cx.tree.span(*node));
            let head = Span::new(place.start, (place.start + 3).min(place.end));
            let reason = Reason::new(ReasonCode::NothingToSplit, head, message);
            self.dependence.get_or_insert(reason.with_label(origins.of(*at), "here"));
        }
        let is_of_others = plan.reasons.iter().any(|reason| reason.code != ReasonCode::IterationsGrouped);
        let inner = std::mem::take(&mut self.inner);
        match is_of_others || dependent.is_empty() {
            // Without the inner ones it may pay.
            true if !inner.is_empty() => self.loops.retain(|node| !inner.contains(node)),
            true => self.loops.clear(),
            false => {
                self.loops.retain(|node| !dependent.contains(node));
                let bodies = dependent.iter().filter_map(|node| cx.tree.child(*node, Field::Body));
                let more: Vec<NodeId> = bodies.flat_map(|body| loops_in(cx, self.region, body)).collect();
                self.inner = inner.into_iter().filter(|node| !dependent.contains(node)).chain(more.clone()).collect();
                self.loops.extend(more);
            }
        }
    }

    /// The loop behind the directive that holds a place of the other text.
    fn loop_behind(&self, cx: &Context<'_>, at: Span, origins: &Origins, constructs: &ConstructTree) -> Option<NodeId> {
        let id = constructs.ids().find(|id| constructs.directive(*id).span.contains(at))?;
        let start = origins.of(constructs.construct(id).body_span).start;
        self.loops.iter().copied().find(|node| cx.tree.span(*node).start == start)
    }

    /// The directives that the loops get. What each iteration assigns first is its own.
    fn change(&self, cx: &Context<'_>, plan: &Plan, origins: &Origins) -> Change {
        let assigned = plan.reasons.iter().filter(|reason| reason.code == ReasonCode::OriginalRaces);
        let assigned: Vec<Named> = assigned.filter_map(|reason| variable_at(cx, origins.of(reason.span))).collect();
        let edits = self.loops.iter().map(|node| {
            let uses = uses_below(cx.file, cx.tree, *node);
            let is_used =
                |own: &&Named| uses.iter().any(|used| variable_at(cx, used.span).is_some_and(|it| it.id == own.id));
            let names: Vec<&str> = assigned.iter().filter(is_used).map(|own| own.name.as_str()).collect();
            let clause = (!names.is_empty()).then(|| format!("private({})", names.join(", ")));
            before(cx, self.region, *node, &Vec::from_iter(clause))
        });
        let summary = match self.loops.len() {
            1 => "threads share a loop that one thread ran, as its iterations are independent".to_owned(),
            number => format!("threads share {number} loops that one thread ran, as their iterations are independent"),
        };
        Change { edits: edits.collect(), summary, times: plan.times, ..Change::default() }
    }
}

fn variable_at(cx: &Context<'_>, at: Span) -> Option<Named> {
    cx.named(&cx.file.show(at), at.start).map(|(named, _)| named)
}
