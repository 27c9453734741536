//! Serial loops that change one element of an array in each iteration, and what of them the text tells.

use crate::context::Context;
use crate::region::loop_nest::{CanonicalLoop, Relation, canonical_nest};
use crate::semantics::symbols::DeclaredType;
use crate::source::{Language, Span};
use crate::syntax::{Assignment, NodeId, NodeKind, Subscript, Update};
use crate::transforms::checks;

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
}

/// How the variable gets its first value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// From the statement before the loop, which assigns the element by `=` and becomes a declaration.
    Declared,
    /// From the element, behind the statement before the loop, which changes it.
    Behind(NodeId),
    /// From the element. The loop runs at least once, and each iteration changes it.
    InFront,
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
    let block = tree.parent(serial).filter(|it| tree.kind(*it) == NodeKind::CompoundStatement)?;
    let own = canonical_nest(cx.file, tree, serial, 1).ok()?.loops.into_iter().next()?;
    let statements = tree.named_children(block).filter(|node| tree.kind(*node) != NodeKind::Comment);
    let before = statements.take_while(|node| *node != serial).last();
    let set_before = before.and_then(|statement| {
        let assignment = changed_by(cx, statement).filter(|(_, target)| !uses_of(cx, *target, serial).is_empty());
        assignment.map(|(is_set, target)| (if is_set { Start::Declared } else { Start::Behind(statement) }, target))
    });
    let (start, target) = set_before.or_else(|| {
        let changes = statements_of(cx, own.body).into_iter().find_map(|statement| changed_by(cx, statement));
        let skips = tree.descendants(serial).any(|node| tree.kind(node) == NodeKind::ContinueStatement);
        let (_, target) = changes.filter(|_| !skips && certainly_runs(cx, &own, loops))?;
        Some((Start::InFront, target))
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
    is_plain.then_some(Sum { serial, target, uses, start })
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

/// Does a loop run at least once: by its numbers, or as it has the bound of a loop around it and starts no later?
fn certainly_runs(cx: &Context<'_>, own: &CanonicalLoop, loops: &[CanonicalLoop]) -> bool {
    let grows = |read: &CanonicalLoop| {
        matches!(read.relation, Relation::Less | Relation::LessOrEqual) && !read.step.is_subtracted
    };
    let [lower, upper] = [own.lower, own.upper].map(|span| cx.constant(span));
    let Some(lower) = lower.filter(|lower| (0..=127).contains(lower) && grows(own)) else { return false };
    let by_numbers = upper.is_some_and(|upper| lower < upper && upper <= i64::from(i32::MAX));
    let bound = cx.file.show(own.upper);
    let is_around = |read: &CanonicalLoop| {
        let starts = cx.constant(read.lower).is_some_and(|start| lower <= start && start <= i64::from(i32::MAX));
        let is_same = read.relation == own.relation && cx.file.show(read.upper) == bound;
        starts && is_same && grows(read) && keeps_values(cx, own.upper, cx.tree.span(read.body))
    };
    by_numbers || loops.iter().any(is_around)
}

/// Is an expression made of numbers and of names that keep their values in a part of the file?
fn keeps_values(cx: &Context<'_>, expression: Span, part: Span) -> bool {
    cx.is_arithmetic(expression)
        && cx.names_in(expression).iter().all(|(name, span)| {
            let keeps = || cx.symbols().written_in(name, span.start, part).is_empty();
            let is_variable = cx.named(name, span.start).is_some();
            let is_own = is_variable && keeps() && cx.cannot_be_aliased(name, span.start);
            cx.constant(*span).is_some() || cx.expansion(name, span.start).is_none() && is_own
        })
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
