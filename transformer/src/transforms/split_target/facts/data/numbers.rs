//! Which numbers the host may handle like the device: integers always, other numbers if they are only compared or
//! copied.

use crate::semantics::{Class, Kind};
use crate::syntax::{Assignment, Binary, NodeId, NodeKind, Unary};
use crate::transforms::split_target::facts::data::Builder;

impl Builder<'_, '_> {
    /// Is it a floating-point number, by its text or its declared type?
    pub(super) fn is_floating_leaf(&self, node: NodeId) -> bool {
        let tree = self.names.tree;
        let span = tree.span(node);
        match tree.kind(node) {
            NodeKind::NumberLiteral => {
                let text = self.names.file.show(span).to_lowercase();
                let hexadecimal = text.starts_with("0x");
                text.contains('.') || (hexadecimal && text.contains('p')) || (!hexadecimal && text.contains('e'))
            }
            NodeKind::Identifier => self.number_of_name(node, span.start) == Some(Class::Floating),
            _ => false,
        }
    }

    /// The class of the number that a name at byte `at` stands for. A macro that is no integer constant counts as
    /// floating.
    pub(super) fn number_of_name(&self, node: NodeId, at: usize) -> Option<Class> {
        let span = self.names.tree.span(node);
        let name = self.names.file.show(span);
        match self.names.kind(&name, at) {
            Kind::Scalar { class: Class::Floating, .. } => Some(Class::Floating),
            Kind::Scalar { .. } => Some(Class::Integer),
            Kind::Constant => Some(self.names.constant(span).map_or(Class::Floating, |_| Class::Integer)),
            _ => None,
        }
    }

    /// Is the number only compared, tested or copied?
    pub(super) fn may_stay_floating(&self, leaf: NodeId) -> bool {
        let tree = self.names.tree;
        let mut parent = tree.parent(leaf);
        while let Some(node) = parent {
            match tree.kind(node) {
                NodeKind::ParenthesizedExpression => parent = tree.parent(node),
                NodeKind::BinaryExpression => {
                    return matches!(
                        Binary::of(tree, node).and_then(Binary::operator),
                        Some(
                            NodeKind::Less
                                | NodeKind::Greater
                                | NodeKind::LessEqual
                                | NodeKind::GreaterEqual
                                | NodeKind::EqualEqual
                                | NodeKind::ExclamationEqual
                                | NodeKind::AmpersandAmpersand
                                | NodeKind::BarBar
                        )
                    );
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

/// Is it a number of one of the language's own types, which no operator can be declared for?
pub(super) fn is_host_scalar(kind: &Kind) -> bool {
    matches!(kind, Kind::Scalar { wide: false, builtin: true, .. })
}
