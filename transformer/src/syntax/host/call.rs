//! A typed view of calls.

use super::{Field, HostTree, NodeId, NodeKind};

/// `function(arguments)`: a call, or what looks like one, a conversion or the use of a macro.
#[derive(Clone, Copy, Debug)]
pub struct Call<'t> {
    tree: &'t HostTree,
    /// The whole expression.
    pub node: NodeId,
}

impl<'t> Call<'t> {
    /// A node, if it is a call.
    #[must_use]
    pub fn of(tree: &'t HostTree, node: NodeId) -> Option<Self> {
        (tree.kind(node) == NodeKind::CallExpression).then_some(Self { tree, node })
    }

    /// The nearest call that a node is a part of.
    #[must_use]
    pub fn around(tree: &'t HostTree, node: NodeId) -> Option<Self> {
        tree.ancestors(node).find_map(|above| Self::of(tree, above))
    }

    /// The call of what a node names.
    #[must_use]
    pub fn naming(tree: &'t HostTree, function: NodeId) -> Option<Self> {
        let is_function = tree.field(function) == Some(Field::Function);
        Self::of(tree, tree.parent(function)?).filter(|_| is_function)
    }

    /// What is called.
    #[must_use]
    pub fn function(self) -> Option<NodeId> {
        self.tree.child(self.node, Field::Function)
    }

    /// What it is called with.
    pub fn arguments(self) -> impl Iterator<Item = NodeId> + 't {
        let list = self.tree.child(self.node, Field::Arguments);
        list.into_iter().flat_map(move |list| self.tree.named_children(list))
    }
}
