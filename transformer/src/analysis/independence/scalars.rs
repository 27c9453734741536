//! Variables from outside of the inner loop: none may carry a value from one of its iterations to the next.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::accesses::{Accesses, ScalarUse};
use crate::analysis::combinations::{Combination, combination};
use crate::analysis::independence::{Candidate, reason};
use crate::plan::{Reason, ReasonCode};
use crate::region::loop_nest::CanonicalLoop;
use crate::semantics::symbols::VariableId;
use crate::source::Span;
use crate::syntax::{Assignment, HostTree, NodeId, NodeKind};

/// Why variables do not allow that `depth` loops are collapsed.
pub(crate) fn reasons(candidate: &Candidate<'_, '_>, found: &Accesses, depth: usize) -> Vec<Reason> {
    let mut reasons = Vec::new();
    reasons.extend(loop_variable(candidate, found, depth));
    let Some(innermost) = candidate.nest.loops.loops.get(depth - 1) else { return reasons };
    let mut uses: BTreeMap<VariableId, Vec<&ScalarUse>> = BTreeMap::new();
    for used in &found.scalars {
        uses.entry(used.key).or_default().push(used);
    }
    for (key, uses) in uses {
        let Some(written) = uses.iter().find(|used| used.writes) else { continue };
        if candidate.clauses.reductions.contains_key(&key) {
            reasons.extend(not_a_sum(candidate, found, key, &uses));
        } else if !candidate.clauses.is_private(key) || !is_set_first(candidate, innermost, &uses) {
            let message =
                format!("`{}` may carry a value from one iteration of the inner loop to the next", written.name);
            reasons.push(reason(ReasonCode::ValueCarried, written.span, message));
        }
    }
    // A thread that only reads a reduction item would read its private copy.
    for used in found.scalars.iter().filter(|used| candidate.clauses.reductions.contains_key(&used.key)) {
        if !found.scalars.iter().any(|other| other.key == used.key && other.writes) {
            let message = format!("`{}` is read before its reduction ends", used.name);
            reasons.push(reason(ReasonCode::ValueCarried, used.span, message));
        }
    }
    reasons.extend(serial_loops(candidate, found));
    reasons
}

/// Why a variable may carry a value from one iteration of the construct's own loops to another. `assigned` are names
/// that each iteration assigns before it uses them, `own` those of which each thread has its own copy.
pub(super) fn carried(
    candidate: &Candidate<'_, '_>,
    found: &Accesses,
    depth: usize,
    assigned: &BTreeSet<String>,
    own: &BTreeSet<String>,
) -> Option<Reason> {
    let file = candidate.cx.file;
    let name_of =
        |key: VariableId| if key.header.is_none() { file.show(key.declared_at).into_owned() } else { String::new() };
    let is_fresh = |key: VariableId| {
        let name = name_of(key);
        assigned.contains(&name) && (candidate.clauses.is_private(key) || own.contains(&name))
    };
    let refuse = |name: &str, span: Span| {
        let message = format!("`{name}` may carry a value from one iteration to the next");
        Some(reason(ReasonCode::IterationsGrouped, span, message))
    };
    for used in found.scalars.iter().filter(|used| used.writes) {
        let others: Vec<&ScalarUse> = found.scalars.iter().filter(|other| other.key == used.key).collect();
        let is_sum = candidate.clauses.reductions.contains_key(&used.key);
        if !(is_sum && not_a_sum(candidate, found, used.key, &others).is_none() || is_fresh(used.key)) {
            return refuse(&used.name, used.span);
        }
    }
    let is_written = |key: VariableId| found.scalars.iter().any(|used| used.key == key && used.writes);
    let mut partial = found.scalars.iter().filter(|used| candidate.clauses.reductions.contains_key(&used.key));
    if let Some(used) = partial.find(|used| !is_written(used.key)) {
        return refuse(&used.name, used.span);
    }
    let body = candidate.cx.tree.span(candidate.nest.loops.body);
    let is_declared = |key: VariableId| key.is_within(body);
    let inner = found.loops.get(depth..).unwrap_or_default();
    let is_own = |key: VariableId| is_declared(key) || is_fresh(key) || is_private_to_loop(candidate, found, key);
    let shared = inner.iter().find(|l| !is_own(l.key));
    shared.and_then(|l| refuse(&name_of(l.key), l.span))
}

/// `collapse` makes the variable of another loop private. So it must be private already, and no other loop may use it.
fn loop_variable(candidate: &Candidate<'_, '_>, found: &Accesses, depth: usize) -> Option<Reason> {
    let read = candidate.nest.loops.loops.get(depth - 1)?;
    let refuse = |message: String| Some(reason(ReasonCode::ValueCarried, read.variable_span, message));
    let known = found.loops.iter().find(|l| l.span == read.span);
    let Some(known) = known else {
        return refuse(format!("the variable `{}` is not understood", read.variable));
    };
    if let Some(used) = found.scalars.iter().find(|used| used.key == known.key) {
        return refuse(format!("`{}` is used beside its loop", used.name));
    }
    let private = candidate.clauses.private.contains(&known.key);
    let other = candidate.clauses.firstprivate.contains(&known.key)
        || candidate.clauses.reductions.contains_key(&known.key)
        || candidate.clauses.mapped.contains(&known.key);
    match read.declared_in_loop {
        true => None,
        false if private && !other => None,
        false => refuse(format!("`{}` is declared outside of its loop, and each thread needs its own", read.variable)),
    }
}

/// A loop that stays serial and uses a variable from outside needs a private one that nothing else in the body uses.
fn serial_loops(candidate: &Candidate<'_, '_>, found: &Accesses) -> Vec<Reason> {
    let tree = candidate.cx.tree;
    let nest = candidate.nest.loops.loops.get(candidate.promised() - 1);
    let Some(body) = nest.map(|last| tree.span(last.body)) else { return Vec::new() };
    let from_outside = |key: VariableId| !key.is_within(body);
    let inner = found.loops.iter().filter(|l| body.contains(l.span) && from_outside(l.key));
    inner
        .filter(|l| !is_private_to_loop(candidate, found, l.key))
        .map(|l| {
            let message = "the variable of this loop is declared outside, and not private to its loop";
            reason(ReasonCode::ValueCarried, Span::new(l.span.start, l.span.start + 3), message)
        })
        .collect()
}

/// Has each thread a copy of a loop's variable, which nothing beside the loop uses? The loop's head sets it, so that it carries nothing.
fn is_private_to_loop(candidate: &Candidate<'_, '_>, found: &Accesses, key: VariableId) -> bool {
    candidate.clauses.private.contains(&key) && !found.scalars.iter().any(|used| used.key == key)
}

/// Does each iteration of the innermost loop set the variable before it reads it?
fn is_set_first(candidate: &Candidate<'_, '_>, innermost: &CanonicalLoop, uses: &[&ScalarUse]) -> bool {
    let tree = candidate.cx.tree;
    let body = tree.span(innermost.body);
    let Some(first) = uses.first().filter(|first| first.writes && body.contains(first.span)) else { return false };
    let Some((assignment, right)) = assignment(tree, first.node, &[NodeKind::Equal]) else { return false };
    let is_read = uses.iter().any(|used| tree.span(right).contains(used.span));
    let statement = tree.parent(assignment).filter(|node| tree.kind(*node) == NodeKind::ExpressionStatement);
    let is_certain = statement.is_some_and(|statement| {
        statement == innermost.body
            || tree.parent(statement) == Some(innermost.body)
                && tree.kind(innermost.body) == NodeKind::CompoundStatement
    });
    is_certain && !is_read && uses.iter().all(|used| body.contains(used.span))
}

/// The assignment whose left side is a name, and its right side.
fn assignment(tree: &HostTree, name: NodeId, operators: &[NodeKind]) -> Option<(NodeId, NodeId)> {
    let assignment = Assignment::to(tree, name)?;
    let is_known = operators.contains(&assignment.operator()?);
    is_known.then(|| Some((assignment.node, assignment.value()?)))?
}

/// The first use of a reduction item that does not combine it by the operator of its clause, in a statement of its own, or whose order
/// matters.
pub(super) fn not_a_sum(
    candidate: &Candidate<'_, '_>,
    found: &Accesses,
    key: VariableId,
    uses: &[&ScalarUse],
) -> Option<Reason> {
    let cx = candidate.cx;
    let operator = candidate.clauses.reductions.get(&key).map(String::as_str).unwrap_or_default();
    let combining = |used: &ScalarUse| {
        let combines = |one: &Combination| one.operator.clause() == operator && one.names.contains(&used.span);
        cx.tree.ancestors(used.node).find_map(|above| combination(cx, above).filter(combines))
    };
    uses.iter().find_map(|used| {
        let ty = || cx.symbols().lookup(&used.name, used.span.start).map(|variable| variable.ty.clone());
        let message = match combining(used) {
            None => format!("`{}` is used in the loops other than by what its `reduction` says", used.name),
            Some(one) if ty().is_some_and(|ty| one.is_free_of_order(cx, found, &ty)) => return None,
            Some(_) => {
                format!("`{}` may lose something each time, so that another order gives another value", used.name)
            }
        };
        Some(reason(ReasonCode::ValueCarried, used.span, message))
    })
}
