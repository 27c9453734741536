//! What a declarator names.

use crate::syntax::{Field, HostTree, NodeId, NodeKind};

/// The name in a declarator, and whether what is named is a function: `f` in `*f(int)`, not `p` in `(*p)(int)`.
pub(super) fn innermost(tree: &HostTree, declarator: NodeId) -> (NodeId, bool) {
    let mut at = declarator;
    let mut is_function = false;
    loop {
        let kind = tree.kind(at);
        match kind {
            NodeKind::ParenthesizedDeclarator | NodeKind::AttributedDeclarator => {}
            NodeKind::QualifiedIdentifier if member_pointer(tree, at).is_some() => is_function = false,
            _ if kind.is_declarator() && kind != NodeKind::StructuredBindingDeclarator => {
                is_function = kind == NodeKind::FunctionDeclarator;
            }
            _ => return (at, is_function),
        }
        let inner = inner_declarator(tree, at);
        match inner {
            Some(inner) => at = inner,
            None => return (at, is_function),
        }
    }
}

/// The declarator that a declarator wraps.
pub(super) fn inner_declarator(tree: &HostTree, declarator: NodeId) -> Option<NodeId> {
    let inner = member_pointer(tree, declarator).or_else(|| tree.child(declarator, Field::Declarator));
    inner.or_else(|| {
        let is_name = |kind: NodeKind| kind.is_identifier() || kind.is_declarator() || kind == NodeKind::OperatorName;
        tree.named_children(declarator).find(|child| is_name(tree.kind(*child)))
    })
}

/// `*p` of `int point::*p`, a pointer to a member.
pub(super) fn member_pointer(tree: &HostTree, node: NodeId) -> Option<NodeId> {
    let mut at = node;
    while tree.kind(at) == NodeKind::QualifiedIdentifier {
        at = tree.child(at, Field::Name)?;
    }
    (at != node && tree.kind(at) == NodeKind::PointerTypeDeclarator).then_some(at)
}
