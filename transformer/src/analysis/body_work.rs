//! What a body does by what its text shows: operators, subscripts, calls and loops. It needs no understanding of what is accessed.

use crate::analysis::associated_loops::trip_count;
use crate::analysis::cost::ASSUMED_INNER;
use crate::region::loop_nest::canonical_nest;
use crate::semantics::Program;
use crate::source::Span;
use crate::syntax::{Call, Field, NodeId, NodeKind};

/// The operations that a call counts as.
const CALL: f64 = 8.0;

/// How deep lambdas that run lambdas are followed.
const LAMBDAS: usize = 4;

/// A statement that repeats or chooses what it holds, while its nodes are counted.
struct Around {
    node: NodeId,
    /// The operations in it so far, those of its arms left out.
    sum: f64,
    /// How often it repeats them.
    times: f64,
    /// The operations of its arms so far, if it is an `if` with `else`: one of them is executed.
    arms: Vec<f64>,
    /// Is it such an arm?
    is_arm: bool,
}

impl Around {
    fn of(node: NodeId, times: f64) -> Self {
        Self { node, sum: 0.0, times, arms: Vec::new(), is_arm: false }
    }

    /// What it executes at least.
    fn total(&self) -> f64 {
        self.times * (self.sum + self.arms.iter().copied().reduce(f64::min).unwrap_or(0.0))
    }
}

/// The operators with two operands, assignments and calls in the text of a statement.
#[must_use]
pub fn operations_in_text(program: &Program<'_>, statement: NodeId) -> usize {
    let is_one = |kind: NodeKind| {
        matches!(kind, NodeKind::BinaryExpression | NodeKind::AssignmentExpression | NodeKind::CallExpression)
    };
    program.tree.descendants(statement).filter(|node| is_one(program.tree.kind(*node))).count()
}

/// The operators, subscripts and calls that a statement executes, those in loops once for each iteration, and whether there are loops.
/// Of two arms the one with fewer counts.
#[must_use]
pub fn body_work(program: &Program<'_>, body: NodeId) -> (f64, bool) {
    work_of(program, body, LAMBDAS)
}

/// The same, with lambdas in it followed so deep.
fn work_of(program: &Program<'_>, body: NodeId, depth: usize) -> (f64, bool) {
    let tree = program.tree;
    let mut walks = false;
    let mut around = vec![Around::of(body, 1.0)];
    for node in tree.descendants(body) {
        while let [.., _, last] = around.as_slice()
            && !tree.span(last.node).contains(tree.span(node))
        {
            leave(&mut around);
        }
        if is_arm(program, node) {
            around.push(Around { is_arm: true, ..Around::of(node, 1.0) });
        }
        match tree.kind(node) {
            NodeKind::ForStatement | NodeKind::WhileStatement | NodeKind::DoStatement => {
                walks = true;
                let nest = canonical_nest(program.file, tree, node, 1).ok();
                let trips = nest.and_then(|nest| trip_count(program, nest.loops.first()?));
                around.push(Around::of(node, trips.unwrap_or(ASSUMED_INNER)));
            }
            NodeKind::IfStatement => around.push(Around::of(node, 1.0)),
            NodeKind::CallExpression => {
                let (work, has_loops) = call_work(program, node, tree.span(body), depth);
                walks |= has_loops;
                if let Some(last) = around.last_mut() {
                    last.sum += work;
                }
            }
            kind => {
                if let Some(last) = around.last_mut() {
                    last.sum += operations(kind);
                }
            }
        }
    }
    while around.len() > 1 {
        leave(&mut around);
    }
    (around.first().map_or(0.0, Around::total), walks)
}

/// Adds what the innermost statement executes to the one around it.
fn leave(around: &mut Vec<Around>) {
    let Some(left) = around.pop() else { return };
    let Some(outer) = around.last_mut() else { return };
    match left.is_arm {
        true => outer.arms.push(left.total()),
        false => outer.sum += left.total(),
    }
}

/// Is it one of two arms of an `if`?
fn is_arm(program: &Program<'_>, node: NodeId) -> bool {
    let tree = program.tree;
    let Some(parent) = tree.parent(node).filter(|parent| tree.kind(*parent) == NodeKind::IfStatement) else {
        return false;
    };
    let alternative = tree.child(parent, Field::Alternative);
    alternative.is_some() && [tree.child(parent, Field::Consequence), alternative].contains(&Some(node))
}

/// What a call executes without its arguments, and whether there are loops in it: that of the lambda which does most, where it runs one. A
/// kernel in a template is compiled for each of them, and its grid is the same for all.
fn call_work(program: &Program<'_>, node: NodeId, counted: Span, depth: usize) -> (f64, bool) {
    let tree = program.tree;
    let Some(call) = Call::of(tree, node) else { return (0.0, false) };
    // `float(x)` is a conversion.
    if call.function().is_some_and(|callee| tree.kind(callee) == NodeKind::PrimitiveType) {
        return (0.0, false);
    }
    let lambdas = if depth > 0 { program.lambdas_run_by(call) } else { Vec::new() };
    // What is declared in the body was counted there.
    let others = lambdas.iter().filter(|lambda| !counted.contains(tree.span(**lambda)));
    let bodies = others.filter_map(|lambda| tree.child(*lambda, Field::Body));
    let most = bodies.map(|body| work_of(program, body, depth - 1)).max_by(|one, other| one.0.total_cmp(&other.0));
    let (work, walks) = most.unwrap_or_default();
    (CALL + work, walks)
}

/// The operations that a node stands for, without what is in it.
fn operations(kind: NodeKind) -> f64 {
    match kind {
        NodeKind::BinaryExpression
        | NodeKind::AssignmentExpression
        | NodeKind::SubscriptExpression
        | NodeKind::UpdateExpression => 1.0,
        _ => 0.0,
    }
}
