//! Loops whose bounds name the variable of a loop around them, in the forms that OpenMP lets `collapse` take.

use std::sync::Arc;

use crate::analysis::accesses::Accesses;
use crate::analysis::dependence::Space;
use crate::analysis::independence::Candidate;
use crate::analysis::polynomial::Polynomial;
use crate::region::loop_nest::{CanonicalLoop, Relation};
use crate::semantics::Integer;
use crate::semantics::symbols::Variable;
use crate::source::Span;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Binary, ClauseName, NodeId, NodeKind};

/// May `collapse` take the loop at `depth` with those around it, one of whose variables its bounds name? At most one
/// bound of the forms `i`, `i + e`, `e + i`, `i - e` and `e - i` may (OpenMP 5.2, section 4.4.2). Both variables count
/// by one in `int`, and no test is `!=`: clang 19 runs iterations outside of such triangles, and divides by zero where one of
/// a longer type has none. No range may end before the place right before its begin: it takes that for a large number of
/// iterations.
pub(super) fn is_allowed(candidate: &Candidate<'_, '_>, found: &Accesses, depth: usize) -> bool {
    let loops = &candidate.nest.loops.loops;
    let Some((read, around)) = loops.get(depth - 1).zip(loops.get(..depth - 1)) else { return false };
    let named = |bound: Span| around.iter().filter(move |outer| names(candidate, bound, outer)).collect::<Vec<_>>();
    let outer = match (named(read.lower).as_slice(), named(read.upper).as_slice()) {
        ([outer], []) if is_sum(candidate, read.lower, outer) => *outer,
        ([], [outer]) if is_sum(candidate, read.upper, outer) => *outer,
        _ => return false,
    };
    let is_int = |one: &CanonicalLoop| {
        let integer = variable_of(candidate, one).and_then(|it| Integer::of(&it.ty));
        integer.is_some_and(|integer| integer.signed && integer.bits == 32)
    };
    let by_one = |one: &CanonicalLoop| one.step.amount.is_none() && one.relation != Relation::NotEqual;
    loops.iter().all(is_int)
        && by_one(read)
        && by_one(outer)
        && outer.names_outer_variable.is_none()
        && is_plain_loop(candidate)
        && is_never_overrun(found, depth)
}

/// Has the loop a range of at least no values in each iteration of those around it?
fn is_never_overrun(found: &Accesses, depth: usize) -> bool {
    let Some((read, around)) = found.loops.get(depth - 1).zip(found.loops.get(..depth - 1)) else { return false };
    let length = || read.range.upper.as_ref()?.minus(read.range.lower.as_ref()?)?.plus(&Polynomial::constant(1));
    let ranges = around.iter().flat_map(|l| l.range.facts(l.atom));
    let space =
        Space { facts: ranges.chain(found.around.iter().flat_map(|it| it.rows.clone())).collect(), ..Space::default() };
    length().is_some_and(|length| space.is_nonnegative(&length))
}

/// Do the constructs and their clauses allow it: a `distribute parallel for` that says nothing of chunks?
fn is_plain_loop(candidate: &Candidate<'_, '_>) -> bool {
    let cx = candidate.cx;
    let is_loop = cx.constructs.construct(candidate.id).leaves.contains(&Leaf::Loop);
    let chunks = [ClauseName::Schedule, ClauseName::DistSchedule, ClauseName::Ordered];
    let has_chunks = candidate.chain.iter().any(|id| {
        let clauses = &cx.constructs.directive(*id).clauses;
        clauses.iter().any(|clause| chunks.contains(&clause.name))
    });
    !is_loop && !has_chunks
}

fn variable_of(candidate: &Candidate<'_, '_>, read: &CanonicalLoop) -> Option<Arc<Variable>> {
    let start = candidate.cx.tree.span(read.body).start;
    candidate.cx.symbols().lookup(&read.variable, start)
}

fn names(candidate: &Candidate<'_, '_>, bound: Span, outer: &CanonicalLoop) -> bool {
    let cx = candidate.cx;
    let inside = cx.tree.descendants(cx.tree.covering(bound)).filter(|node| bound.contains(cx.tree.span(*node)));
    inside.into_iter().any(|node| is_variable(candidate, node, outer))
}

fn is_variable(candidate: &Candidate<'_, '_>, node: NodeId, outer: &CanonicalLoop) -> bool {
    let cx = candidate.cx;
    cx.tree.kind(node) == NodeKind::Identifier && cx.file.show(cx.tree.span(node)) == outer.variable.as_str()
}

/// Is a bound the variable, or a sum or difference of it and something that does not name it?
fn is_sum(candidate: &Candidate<'_, '_>, bound: Span, outer: &CanonicalLoop) -> bool {
    let cx = candidate.cx;
    let node = cx.tree.covering(bound);
    if cx.tree.span(node) != bound || is_variable(candidate, node, outer) {
        return cx.tree.span(node) == bound;
    }
    let Some(sum) = Binary::of(cx.tree, node) else { return false };
    let is_sum = matches!(sum.operator(), Some(NodeKind::Plus | NodeKind::Minus));
    let own = |side: Option<NodeId>| side.is_some_and(|side| is_variable(candidate, side, outer));
    let other = |side: Option<NodeId>| side.is_some_and(|side| !names(candidate, cx.tree.span(side), outer));
    is_sum && (own(sum.left()) && other(sum.right()) || other(sum.left()) && own(sum.right()))
}
