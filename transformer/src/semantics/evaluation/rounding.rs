//! Where an expression rounds: floating-point numbers that do more than being compared, tested or copied. Host and device may round
//! differently, and so may a compiler that contracts what stands in one expression.

use crate::semantics::{Class, Kind, Program};
use crate::syntax::{Assignment, Binary, NodeId, NodeKind, Unary};

impl Program<'_> {
    /// The floating-point numbers below a node that take part in arithmetic.
    pub(crate) fn rounded(&self, root: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.tree.descendants(root).filter(|node| self.is_floating_leaf(*node) && !self.is_exact(*node))
    }

    /// Is it a floating-point number, by its text or its declared type?
    pub(crate) fn is_floating_leaf(&self, node: NodeId) -> bool {
        let tree = self.tree;
        let span = tree.span(node);
        match tree.kind(node) {
            NodeKind::NumberLiteral => {
                let text = self.file.show(span).to_lowercase();
                let hexadecimal = text.starts_with("0x");
                text.contains('.') || (hexadecimal && text.contains('p')) || (!hexadecimal && text.contains('e'))
            }
            NodeKind::Identifier => self.number_of_name(node, span.start) == Some(Class::Floating),
            _ => false,
        }
    }

    /// The class of the number that a name at byte `at` stands for. A macro that is no integer constant counts as
    /// floating.
    pub(crate) fn number_of_name(&self, node: NodeId, at: usize) -> Option<Class> {
        let span = self.tree.span(node);
        let name = self.file.show(span);
        match self.kind(&name, at) {
            Kind::Scalar { class: Class::Floating, .. } => Some(Class::Floating),
            Kind::Scalar { .. } => Some(Class::Integer),
            Kind::Constant => Some(self.constant(span).map_or(Class::Floating, |_| Class::Integer)),
            _ => None,
        }
    }

    /// Is the number only compared, tested or copied?
    fn is_exact(&self, leaf: NodeId) -> bool {
        let tree = self.tree;
        let mut parent = tree.parent(leaf);
        while let Some(node) = parent {
            match tree.kind(node) {
                NodeKind::ParenthesizedExpression => parent = tree.parent(node),
                NodeKind::BinaryExpression => {
                    return Binary::of(tree, node).and_then(Binary::operator).is_some_and(NodeKind::is_test);
                }
                NodeKind::UnaryExpression => {
                    return Unary::of(tree, node).and_then(Unary::operator) == Some(NodeKind::Exclamation);
                }
                // The other side must be a number of the same class.
                NodeKind::AssignmentExpression => {
                    let assignment = Assignment::of(tree, node).filter(|it| it.is_plain());
                    return assignment.and_then(Assignment::target).is_some_and(|target| self.is_floating_leaf(target));
                }
                NodeKind::InitDeclarator
                | NodeKind::ConditionClause
                | NodeKind::IfStatement
                | NodeKind::WhileStatement
                | NodeKind::DoStatement => {
                    return true;
                }
                _ => return false,
            }
        }
        false
    }
}
