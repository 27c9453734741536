//! Serial loops that change one element of an array in each iteration, and what of them the text tells.

use super::runs::{self, certainly_runs, keeps_values};
use crate::context::Context;
use crate::edit::directive_writer::starts_line;
use crate::region::loop_nest::{CanonicalLoop, canonical_nest};
use crate::semantics::symbols::DeclaredType;
use crate::source::{Language, Span};
use crate::syntax::{Assignment, NodeId, NodeKind, Subscript, Update};
use crate::transforms::checks;
use crate::transforms::checks::asked;

/// An element that a serial loop changes, and that is certainly accessed where the loop is reached.
pub(super) struct Sum {
    /// The loop.
    pub serial: NodeId,
    /// The element, as the code names it that is sure to access it.
    pub target: NodeId,
    /// The element in the loop.
    pub uses: Vec<NodeId>,
    /// How the variable gets its first value.
    pub start: Start,
    /// The statement around the loop that has it for its body, without braces.
    pub head: Option<NodeId>,
}

/// How the variable gets its first value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// From the statement before the loop, which assigns the element by `=` and becomes a declaration.
    Declared,
    /// From the element, behind the statement before the loop, which changes it.
    Behind(NodeId),
    /// From the element. The loop runs at least once, and each iteration changes it.
    InFront,
    /// From the element, where the loop runs at least once, which this expression tells; each iteration changes it.
    Where(String),
}

/// The sums of the serial loops in a kernel's innermost parallel loop, of loops that are not inside each other. None are found where directives or other `#` lines stand in
/// it.
pub(super) fn sums(cx: &Context<'_>, loops: &[CanonicalLoop]) -> Vec<Sum> {
    let Some(body) = loops.last().map(|last| last.body) else { return Vec::new() };
    if checks::directive_in(cx, cx.tree.span(body)).is_some() {
        return Vec::new();
    }
    let mut found: Vec<Sum> = Vec::new();
    for node in cx.tree.descendants(body).filter(|node| cx.tree.kind(*node) == NodeKind::ForStatement) {
        let is_inside = found.iter().any(|sum| cx.tree.span(sum.serial).contains(cx.tree.span(node)));
        if !is_inside {
            found.extend(sum(cx, node, loops));
        }
    }
    found
}

fn sum(cx: &Context<'_>, serial: NodeId, loops: &[CanonicalLoop]) -> Option<Sum> {
    let tree = cx.tree;
    let above = tree.parent(serial)?;
    let head = match tree.kind(above) {
        NodeKind::CompoundStatement => None,
        // On a line of its own, it needs no new line inside of braces.
        NodeKind::ForStatement if starts_line(cx.file, tree.span(serial).start) => Some(above),
        _ => return None,
    };
    let own = canonical_nest(cx.file, tree, serial, 1).ok()?.loops.into_iter().next()?;
    let statements = tree.named_children(above).filter(|node| tree.kind(*node) != NodeKind::Comment);
    let before = statements.take_while(|node| *node != serial).last().filter(|_| head.is_none());
    let set_before = before.and_then(|statement| {
        let assignment = changed_by(cx, statement).filter(|(_, target)| !uses_of(cx, *target, serial).is_empty());
        assignment.map(|(is_set, target)| (if is_set { Start::Declared } else { Start::Behind(statement) }, target))
    });
    let (start, target) = set_before.or_else(|| {
        let changes = statements_of(cx, own.body).into_iter().find_map(|statement| changed_by(cx, statement));
        let skips = tree.descendants(serial).any(|node| tree.kind(node) == NodeKind::ContinueStatement);
        let (_, target) = changes.filter(|_| !skips)?;
        if certainly_runs(cx, &own, loops) {
            return Some((Start::InFront, target));
        }
        let test = runs::test(cx, &own)?;
        let holds = asked::holds_at(cx, own.span.start, &test);
        Some((if holds { Start::InFront } else { Start::Where(test) }, target))
    })?;
    let uses = uses_of(cx, target, serial);
    let is_changed = uses.iter().any(|node| {
        let above = tree.parent(*node);
        let target = above.and_then(|above| Assignment::of(tree, above)).and_then(Assignment::target);
        let operand = above.and_then(|above| Update::of(tree, above)).and_then(Update::operand);
        target == Some(*node) || operand == Some(*node)
    });
    let is_plain = is_changed
        && uses.iter().all(|node| keeps_element(cx, *node))
        && keeps_place(cx, target, tree.span(serial), &uses);
    is_plain.then_some(Sum { serial, target, uses, start, head })
}

/// The element that a statement is sure to change, and whether it assigns it by `=`.
fn changed_by(cx: &Context<'_>, statement: NodeId) -> Option<(bool, NodeId)> {
    let tree = cx.tree;
    (tree.kind(statement) == NodeKind::ExpressionStatement).then_some(())?;
    let expression = tree.named_children(statement).next()?;
    let assignment = Assignment::of(tree, expression);
    let target = match assignment {
        Some(assignment) => assignment.target(),
        None => Update::of(tree, expression).and_then(Update::operand),
    };
    let target = target.filter(|it| tree.kind(*it) == NodeKind::SubscriptExpression)?;
    Some((assignment.is_some_and(Assignment::is_plain), target))
}

/// The statements that each iteration of a loop runs.
fn statements_of(cx: &Context<'_>, body: NodeId) -> Vec<NodeId> {
    match cx.tree.kind(body) {
        NodeKind::CompoundStatement => cx.tree.named_children(body).collect(),
        _ => vec![body],
    }
}

/// Where a loop names an element just as it is named at another place.
fn uses_of(cx: &Context<'_>, target: NodeId, serial: NodeId) -> Vec<NodeId> {
    let text = compact(cx, target);
    let is_same = |node: &NodeId| cx.tree.kind(*node) == NodeKind::SubscriptExpression && compact(cx, *node) == text;
    cx.tree.descendants(serial).filter(is_same).collect()
}

/// Is the value of the element used or changed, and nothing that keeps its address?
fn keeps_element(cx: &Context<'_>, node: NodeId) -> bool {
    let tree = cx.tree;
    let Some(above) = tree.parent(node) else { return false };
    match tree.kind(above) {
        NodeKind::ParenthesizedExpression => keeps_element(cx, above),
        NodeKind::AssignmentExpression
        | NodeKind::UpdateExpression
        | NodeKind::BinaryExpression
        | NodeKind::UnaryExpression
        | NodeKind::ConditionalExpression
        | NodeKind::CastExpression
        | NodeKind::SubscriptArgumentList => true,
        // References are bound to arguments and in declarations of C++.
        NodeKind::ArgumentList | NodeKind::InitDeclarator => tree.language() == Language::C,
        _ => false,
    }
}

/// Do the subscripts of an array or pointer, by its name, mean one element in front of the loop, wherever it is used in the loop, and
/// behind it? They are made of numbers and of variables that keep their values.
fn keeps_place(cx: &Context<'_>, target: NodeId, serial: Span, uses: &[NodeId]) -> bool {
    let tree = cx.tree;
    let mut node = target;
    while let Some(subscript) = Subscript::of(tree, node) {
        let is_plain = subscript.index().is_some_and(|index| keeps_values(cx, tree.span(index), serial));
        let Some(array) = subscript.base().filter(|_| is_plain) else { return false };
        node = array;
    }
    let base = tree.span(node);
    let name = cx.file.show(base);
    let keeps = || {
        cx.named(&name, base.start).is_some_and(|(_, variable)| match variable.ty {
            // What is written are its elements.
            DeclaredType::Array { .. } => true,
            _ => keeps_values(cx, base, serial),
        })
    };
    let places = uses.iter().map(|node| tree.span(*node).start).chain([serial.start]);
    tree.kind(node) == NodeKind::Identifier
        && cx.expansion(&name, base.start).is_none()
        && keeps()
        && places.into_iter().all(|at| cx.means_the_same(tree.span(target), at))
}

fn compact(cx: &Context<'_>, node: NodeId) -> String {
    cx.file.show(cx.tree.span(node)).split_whitespace().collect()
}
