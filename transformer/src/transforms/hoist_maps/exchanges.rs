//! Pointers that change places between constructs: `double *t = a; a = b; b = t;`.
//!
//! Data are mapped by address, so both arrays stay where they are on the device whatever their names are. What one of them is mapped for,
//! the other may be mapped for in the next pass.

use crate::context::Context;
use crate::semantics::effects::VariableId;
use crate::source::Span;
use crate::syntax::{Field, NodeId, NodeKind};

/// Two pointers that change places.
pub(super) struct Exchange {
    pub pointers: [VariableId; 2],
    /// Where their names are assigned.
    pub written: [Span; 2],
    /// The three statements.
    pub extent: Span,
    /// The block that they stand in.
    pub block: NodeId,
}

/// The exchanges below a statement.
pub(super) fn exchanges(cx: &Context<'_>, root: NodeId) -> Vec<Exchange> {
    let tree = cx.tree;
    let blocks = tree.descendants(root).filter(|node| tree.kind(*node) == NodeKind::CompoundStatement);
    blocks.flat_map(|block| exchanges_in(cx, block)).collect()
}

fn exchanges_in(cx: &Context<'_>, block: NodeId) -> Vec<Exchange> {
    let statements: Vec<NodeId> = cx.tree.named_children(block).collect();
    statements.windows(3).filter_map(|window| exchange(cx, block, window)).collect()
}

fn exchange(cx: &Context<'_>, block: NodeId, statements: &[NodeId]) -> Option<Exchange> {
    let [first, second, third] = statements else { return None };
    let (kept, one) = initialised(cx, *first).or_else(|| assigned(cx, *first))?;
    let (left, other) = assigned(cx, *second)?;
    let (last, from) = assigned(cx, *third)?;
    let extent = Span::new(cx.tree.span(*first).start, cx.tree.span(*third).end);
    let id = |node: NodeId| {
        let span = cx.tree.span(node);
        let (named, variable) = cx.named(&cx.file.show(span), span.end)?;
        variable.ty.is_pointer().then_some(named.id)
    };
    let (kept, one, left) = (id(kept)?, id(one)?, id(left)?);
    let (other, last_id, from) = (id(other)?, id(last)?, id(from)?);
    let changes_places =
        one == left && other == last_id && kept == from && one != other && kept != one && kept != other;
    let is_bare = cx.constructs.within(extent).next().is_none();
    let written = [cx.tree.child(cx.tree.named_children(*second).next()?, Field::Left)?, last];
    (changes_places && is_bare).then(|| Exchange {
        pointers: [one, other],
        written: written.map(|node| cx.tree.span(node)),
        extent,
        block,
    })
}

/// `double *t = a;`: the names `t` and `a`.
fn initialised(cx: &Context<'_>, statement: NodeId) -> Option<(NodeId, NodeId)> {
    let tree = cx.tree;
    let declarator = tree.child(statement, Field::Declarator)?;
    let is_one = tree.kind(statement) == NodeKind::Declaration
        && tree.kind(declarator) == NodeKind::InitDeclarator
        && tree.children(statement).filter(|child| tree.field(*child) == Some(Field::Declarator)).count() == 1;
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
