//! Which memory an expression leads to.

use super::{Named, Storage};
use crate::semantics::Program;
use crate::semantics::symbols::DeclaredType;
use crate::syntax::{Field, HostTree, Member, NodeId, NodeKind};

/// How often the value of a name is followed to what it leads to, by subscripts, `*` and `->`, and the expression that this ends at.
pub(in crate::semantics) fn dereferences(tree: &HostTree, name: NodeId) -> (usize, NodeId) {
    let (mut depth, mut node) = (0, name);
    while let Some(parent) = tree.parent(node) {
        let field = tree.field(node);
        let operator = || tree.operator(parent);
        match tree.kind(parent) {
            NodeKind::ParenthesizedExpression | NodeKind::CastExpression => {}
            NodeKind::SubscriptExpression if field == Some(Field::Argument) => depth += 1,
            NodeKind::FieldExpression if field == Some(Field::Argument) => {
                depth += usize::from(Member::of(tree, parent).is_some_and(Member::is_behind_pointer));
            }
            NodeKind::PointerExpression if operator() == Some(NodeKind::Star) => depth += 1,
            // `*(p + i)`; the sum of two numbers is followed by nothing.
            NodeKind::BinaryExpression if matches!(operator(), Some(NodeKind::Plus | NodeKind::Minus)) => {}
            NodeKind::ConditionalExpression if field != Some(Field::Condition) => {}
            NodeKind::CommaExpression if field == Some(Field::Right) => {}
            _ => break,
        }
        node = parent;
    }
    (depth, node)
}

/// Is a name followed by `*` or `->` at once?
pub(super) fn leads_to_first(tree: &HostTree, name: NodeId) -> bool {
    let Some(parent) = tree.parent(name).filter(|parent| tree.child(*parent, Field::Argument) == Some(name)) else {
        return false;
    };
    match tree.kind(parent) {
        NodeKind::PointerExpression => tree.operator(parent) == Some(NodeKind::Star),
        NodeKind::FieldExpression => Member::of(tree, parent).is_some_and(Member::is_behind_pointer),
        _ => false,
    }
}

/// Is a name followed to a member: `x.m`, `p->m`, `a[i].m`?
pub(super) fn selects_member(tree: &HostTree, name: NodeId) -> bool {
    let mut node = name;
    while let Some(parent) = tree.parent(node) {
        match tree.kind(parent) {
            NodeKind::FieldExpression => return tree.field(node) == Some(Field::Argument),
            NodeKind::SubscriptExpression if tree.field(node) == Some(Field::Argument) => {}
            _ => return false,
        }
        node = parent;
    }
    false
}

/// Is it a `*`, a subscript or `->` on something that [`dereferences`] does not lead to from a name: `*p++`, `f(x)[0]`, `(p = q)->x`?
pub(super) fn follows_other(tree: &HostTree, access: NodeId) -> bool {
    let is_arrow = || Member::of(tree, access).is_some_and(Member::is_behind_pointer);
    let follows = match tree.kind(access) {
        NodeKind::PointerExpression => tree.operator(access) == Some(NodeKind::Star),
        NodeKind::FieldExpression => is_arrow(),
        _ => true,
    };
    let base = tree.child(access, Field::Argument);
    follows && !base.is_some_and(|base| starts_from_name(tree, base))
}

fn starts_from_name(tree: &HostTree, node: NodeId) -> bool {
    let inner = |field| tree.child(node, field).is_some_and(|inner| starts_from_name(tree, inner));
    match tree.kind(node) {
        NodeKind::Identifier => true,
        NodeKind::ParenthesizedExpression => {
            tree.named_children(node).next().is_some_and(|inner| starts_from_name(tree, inner))
        }
        NodeKind::CastExpression => inner(Field::Value),
        // What an address is taken of may be the pointer itself.
        NodeKind::PointerExpression => tree.operator(node) == Some(NodeKind::Star) && inner(Field::Argument),
        NodeKind::SubscriptExpression | NodeKind::FieldExpression => inner(Field::Argument),
        NodeKind::BinaryExpression => {
            let moves = matches!(tree.operator(node), Some(NodeKind::Plus | NodeKind::Minus));
            moves && (inner(Field::Left) || inner(Field::Right))
        }
        NodeKind::ConditionalExpression => inner(Field::Consequence) && inner(Field::Alternative),
        NodeKind::CommaExpression => inner(Field::Right),
        _ => false,
    }
}

/// The dimensions of an array.
pub(super) fn dimensions(ty: &DeclaredType) -> usize {
    match ty {
        DeclaredType::Array { dimensions, .. } => dimensions.len(),
        _ => 0,
    }
}

/// May another thread or the world change it at any time?
pub(super) fn is_volatile(ty: &DeclaredType) -> bool {
    match ty {
        DeclaredType::Scalar { is_volatile, .. } => *is_volatile,
        DeclaredType::Pointer { pointee: inner, .. }
        | DeclaredType::Array { element: inner, .. }
        | DeclaredType::ArrayParameter { element: inner, .. } => is_volatile(inner),
        _ => false,
    }
}

impl Program<'_> {
    /// What the value of an argument leads to: `p`, `p + i`, `&p[i]`, `&x`, an array.
    pub(in crate::semantics) fn pointed(&self, argument: NodeId) -> Storage {
        self.pointed_by_name(argument).unwrap_or(Storage::Memory)
    }

    fn pointed_by_name(&self, argument: NodeId) -> Option<Storage> {
        let tree = self.tree;
        let mut node = argument;
        let mut is_address = false;
        loop {
            let operator = tree.operator(node);
            node = match tree.kind(node) {
                NodeKind::ParenthesizedExpression => tree.named_children(node).next()?,
                NodeKind::CastExpression => tree.child(node, Field::Value)?,
                NodeKind::CommaExpression => tree.child(node, Field::Right)?,
                NodeKind::BinaryExpression if matches!(operator, Some(NodeKind::Plus | NodeKind::Minus)) => {
                    self.pointer_operand(node)?
                }
                NodeKind::PointerExpression if operator == Some(NodeKind::Ampersand) && !is_address => {
                    is_address = true;
                    tree.child(node, Field::Argument)?
                }
                // `&p[i].x`, `&p->x`.
                NodeKind::FieldExpression if is_address => {
                    let base = tree.child(node, Field::Argument)?;
                    if tree.operator(node) == Some(NodeKind::MinusGreater) {
                        return self.storage_of(base, false);
                    }
                    base
                }
                NodeKind::SubscriptExpression if is_address => {
                    let base = tree.child(node, Field::Argument)?;
                    return self.storage_of(base, false);
                }
                NodeKind::Identifier => return self.storage_of(node, is_address),
                _ => return None,
            };
        }
    }

    /// The operand of a sum that is a pointer or an array by its name.
    fn pointer_operand(&self, sum: NodeId) -> Option<NodeId> {
        let tree = self.tree;
        let operands = [tree.child(sum, Field::Left)?, tree.child(sum, Field::Right)?];
        let leads = |node: &NodeId| self.storage_of(*node, false).is_some();
        let mut pointers = operands.into_iter().filter(leads);
        pointers.next().filter(|_| pointers.next().is_none())
    }

    fn storage_of(&self, node: NodeId, is_address: bool) -> Option<Storage> {
        if self.tree.kind(node) != NodeKind::Identifier {
            return None;
        }
        let span = self.tree.span(node);
        let name = self.file.show(span).into_owned();
        if self.expansion(&name, span.start).is_some() {
            return None;
        }
        let (named, variable): (Named, _) = self.named(&name, span.start)?;
        match &variable.ty {
            DeclaredType::Array { dimensions, .. } if dimensions.len() == 1 || !is_address => {
                Some(Storage::Variable(named))
            }
            ty if ty.is_pointer() && !is_address => Some(Storage::Behind(named)),
            DeclaredType::Reference { .. } | DeclaredType::Unknown | DeclaredType::Auto => None,
            _ if is_address => Some(Storage::Variable(named)),
            _ => None,
        }
    }
}
