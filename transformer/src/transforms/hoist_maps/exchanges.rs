//! Pointers that change places between constructs: `double *t = a; a = b; b = t;`, in a ring of more, or `std::swap(a, b);`.
//!
//! Data are mapped by address, so the arrays stay where they are on the device whatever their names are. What one of them is mapped for,
//! the others may be mapped for in a later pass.

use std::collections::BTreeSet;

use crate::context::Context;
use crate::semantics::symbols::VariableId;
use crate::source::Span;
use crate::syntax::{Call, Declaration, Field, NodeId, NodeKind};

/// Pointers that change places, each with the next.
pub(super) struct Exchange {
    pub pointers: Vec<VariableId>,
    /// Where their names are assigned.
    pub written: Vec<Span>,
    /// All its statements.
    pub extent: Span,
    /// What they stand in directly.
    pub block: NodeId,
}

/// The exchanges below a statement.
pub(super) fn exchanges(cx: &Context<'_>, root: NodeId) -> Vec<Exchange> {
    let starts = cx
        .tree
        .descendants(root)
        .filter(|node| matches!(cx.tree.kind(*node), NodeKind::ExpressionStatement | NodeKind::Declaration));
    starts.filter_map(|first| exchange(cx, first)).collect()
}

/// The exchange that a statement begins.
fn exchange(cx: &Context<'_>, first: NodeId) -> Option<Exchange> {
    let block = cx.tree.parent(first)?;
    let (names, last) = match swapped(cx, first) {
        Some(both) => (both.to_vec(), first),
        None => ring(cx, first, block)?,
    };
    let extent = Span::new(cx.tree.span(first).start, cx.tree.span(last).end);
    let pointers: Vec<VariableId> = names.iter().map(|name| pointer(cx, *name)).collect::<Option<_>>()?;
    let are_different = pointers.iter().collect::<BTreeSet<_>>().len() == pointers.len();
    let is_bare = cx.constructs.within(extent).next().is_none();
    let written = names.iter().map(|name| cx.tree.span(*name)).collect();
    (are_different && is_bare).then_some(Exchange { pointers, written, extent, block })
}

/// `t = a; a = b; b = c; c = t;`: where `a`, `b` and `c` are assigned, and the last of the statements.
fn ring(cx: &Context<'_>, first: NodeId, block: NodeId) -> Option<(Vec<NodeId>, NodeId)> {
    (cx.tree.kind(block) == NodeKind::CompoundStatement).then_some(())?;
    let (kept, start) = initialised(cx, first).or_else(|| assigned(cx, first))?;
    let (kept, mut wanted) = (pointer(cx, kept)?, pointer(cx, start)?);
    let mut names = Vec::new();
    let later = cx.tree.named_children(block).skip_while(|node| *node != first).skip(1);
    for statement in later.filter(|node| cx.tree.kind(*node) != NodeKind::Comment) {
        let (left, right) = assigned(cx, statement)?;
        (pointer(cx, left)? == wanted && wanted != kept).then_some(())?;
        names.push(left);
        wanted = pointer(cx, right)?;
        if wanted == kept {
            return (names.len() > 1).then_some((names, statement));
        }
    }
    None
}

/// `std::swap(a, b);`: the names `a` and `b`.
fn swapped(cx: &Context<'_>, statement: NodeId) -> Option<[NodeId; 2]> {
    let tree = cx.tree;
    let call = Call::of(tree, tree.named_children(statement).next()?)?;
    (tree.kind(statement) == NodeKind::ExpressionStatement && cx.swaps_values(call)).then_some(())?;
    <[NodeId; 2]>::try_from(call.arguments().collect::<Vec<_>>()).ok()
}

/// The pointer variable that a name is one of.
fn pointer(cx: &Context<'_>, name: NodeId) -> Option<VariableId> {
    let span = cx.tree.span(name);
    let (named, variable) = cx.named(&cx.file.show(span), span.end)?;
    variable.ty.is_pointer().then_some(named.id)
}

/// `double *t = a;`: the names `t` and `a`.
fn initialised(cx: &Context<'_>, statement: NodeId) -> Option<(NodeId, NodeId)> {
    let tree = cx.tree;
    let declarator = tree.child(statement, Field::Declarator)?;
    let is_one = tree.kind(statement) == NodeKind::Declaration
        && tree.kind(declarator) == NodeKind::InitDeclarator
        && Declaration::of(tree, statement).is_some_and(|declared| declared.declarators().count() == 1);
    let name = tree.innermost_declarator(declarator);
    let value = tree.child(declarator, Field::Value)?;
    (is_one && is_name(cx, name) && is_name(cx, value)).then_some((name, value))
}

/// `a = b;`: the names `a` and `b`.
fn assigned(cx: &Context<'_>, statement: NodeId) -> Option<(NodeId, NodeId)> {
    let tree = cx.tree;
    let assignment = tree.named_children(statement).next()?;
    let is_plain = tree.kind(statement) == NodeKind::ExpressionStatement
        && tree.kind(assignment) == NodeKind::AssignmentExpression
        && tree.operator(assignment) == Some(NodeKind::Equal);
    let (left, right) = (tree.child(assignment, Field::Left)?, tree.child(assignment, Field::Right)?);
    (is_plain && is_name(cx, left) && is_name(cx, right)).then_some((left, right))
}

fn is_name(cx: &Context<'_>, node: NodeId) -> bool {
    cx.tree.kind(node) == NodeKind::Identifier
}
