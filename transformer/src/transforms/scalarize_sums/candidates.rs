//! Serial loops that change one element of an array in each iteration, and what of them the text tells.

use crate::context::Context;
use crate::region::loop_nest::canonical_nest;
use crate::semantics::symbols::DeclaredType;
use crate::semantics::uses::uses_below;
use crate::source::{Language, Span};
use crate::syntax::{Assignment, NodeId, NodeKind, Update};

/// An element that a serial loop changes, and that the statement before the loop has assigned.
pub(super) struct Sum {
    /// The loop.
    pub serial: NodeId,
    /// The statement before it.
    pub before: NodeId,
    /// The element, as that statement names it.
    pub target: NodeId,
    /// Does the statement assign it by `=`?
    pub is_set: bool,
    /// The element in the loop.
    pub uses: Vec<NodeId>,
}

/// The sums in the body of a kernel's loop, of loops that are not inside each other. None where directives or other `#` lines stand in
/// it.
pub(super) fn sums(cx: &Context<'_>, body: NodeId) -> Vec<Sum> {
    let span = cx.tree.span(body);
    let text = cx.file.bytes(span);
    let is_line = |line: &[u8]| line.trim_ascii_start().starts_with(b"#") || line.windows(7).any(|it| it == b"_Pragma");
    if cx.constructs.within(span).next().is_some() || text.split(|byte| *byte == b'\n').any(is_line) {
        return Vec::new();
    }
    let mut found: Vec<Sum> = Vec::new();
    for node in cx.tree.descendants(body).filter(|node| cx.tree.kind(*node) == NodeKind::ForStatement) {
        let is_inside = found.iter().any(|sum| cx.tree.span(sum.serial).contains(cx.tree.span(node)));
        if !is_inside {
            found.extend(sum(cx, node));
        }
    }
    found
}

fn sum(cx: &Context<'_>, serial: NodeId) -> Option<Sum> {
    let tree = cx.tree;
    let block = tree.parent(serial).filter(|it| tree.kind(*it) == NodeKind::CompoundStatement)?;
    canonical_nest(cx.file, tree, serial, 1).ok()?;
    let statements = tree.named_children(block).filter(|node| tree.kind(*node) != NodeKind::Comment);
    let before = statements.take_while(|node| *node != serial).last()?;
    (tree.kind(before) == NodeKind::ExpressionStatement).then_some(())?;
    let assignment = Assignment::of(tree, tree.named_children(before).next()?)?;
    let target = assignment.target().filter(|it| tree.kind(*it) == NodeKind::SubscriptExpression)?;
    let is_same =
        |node: &NodeId| tree.kind(*node) == NodeKind::SubscriptExpression && compact(cx, *node) == compact(cx, target);
    let uses: Vec<NodeId> = tree.descendants(serial).filter(is_same).collect();
    let is_changed = uses.iter().any(|node| {
        let above = tree.parent(*node);
        let target = above.and_then(|above| Assignment::of(tree, above)).and_then(Assignment::target);
        let operand = above.and_then(|above| Update::of(tree, above)).and_then(Update::operand);
        target == Some(*node) || operand == Some(*node)
    });
    let is_plain =
        is_changed && uses.iter().all(|node| keeps_element(cx, *node)) && keeps_place(cx, target, tree.span(serial));
    is_plain.then_some(Sum { serial, before, target, is_set: assignment.is_plain(), uses })
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

/// Do the names in an element, and what they stand for, keep their values in the loop?
fn keeps_place(cx: &Context<'_>, target: NodeId, serial: Span) -> bool {
    let subscripts = cx.tree.descendants(target).filter(|node| cx.tree.kind(*node) == NodeKind::SubscriptArgumentList);
    let are_plain = subscripts.into_iter().all(|list| {
        cx.tree.named_children(list).all(|index| cx.is_arithmetic(cx.tree.span(index)))
            && cx.tree.named_children(list).count() == 1
    });
    let keeps = |name: &str, at: usize| {
        let variable = cx.named(name, at);
        variable.is_some_and(|(_, it)| match it.ty {
            // What is written are its elements.
            DeclaredType::Array { .. } => true,
            _ => cx.symbols().written_in(name, at, serial).is_empty() && cx.cannot_be_aliased(name, at),
        })
    };
    are_plain
        && uses_below(cx.file, cx.tree, target).iter().all(|used| {
            let at = used.span.start;
            cx.constant(used.span).is_some() || cx.expansion(&used.name, at).is_none() && keeps(&used.name, at)
        })
}

fn compact(cx: &Context<'_>, node: NodeId) -> String {
    cx.file.show(cx.tree.span(node)).split_whitespace().collect()
}
