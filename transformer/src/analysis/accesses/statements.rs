//! Statements and expressions other than loads, stores and arithmetic.

use super::{Obstacle, Reader};
use crate::semantics::uses::{initialises_numbers, type_initialised};
use crate::syntax::{Field, NodeId, NodeKind};

impl Reader<'_, '_> {
    pub(super) fn statements(&mut self) {
        self.statements_below(self.body);
        for known in self.expansions {
            self.reading_expansion(known.span, Self::statements_below);
        }
    }

    fn statements_below(&mut self, root: NodeId) {
        let tree = self.tree;
        for node in tree.descendants(root) {
            let (obstacle, message) = match tree.kind(node) {
                NodeKind::GnuAsmExpression => (Obstacle::NotPlain, "inline assembly"),
                NodeKind::ReturnStatement
                | NodeKind::GotoStatement
                | NodeKind::LabeledStatement
                | NodeKind::ThrowStatement
                | NodeKind::TryStatement => (Obstacle::NotPlain, "control may leave the loop here"),
                NodeKind::LambdaExpression
                | NodeKind::NewExpression
                | NodeKind::DeleteExpression
                | NodeKind::ForRangeLoop
                | NodeKind::This
                | NodeKind::UserDefinedLiteral
                | NodeKind::OperatorName
                | NodeKind::QualifiedIdentifier
                | NodeKind::TemplateFunction => {
                    if tree.kind(node) == NodeKind::QualifiedIdentifier && self.is_standard_function(node) {
                        continue;
                    }
                    (Obstacle::Hidden, "what this calls or captures is not followed")
                }
                NodeKind::CompoundLiteralExpression | NodeKind::InitializerList
                    if self.is_cpp() && !self.makes_number(node) =>
                {
                    (Obstacle::Hidden, "an object is made here, whose constructor may run code of its own")
                }
                kind if kind.is_preprocessor() => (
                    Obstacle::Conditional,
                    "`#if` cuts through this loop: move it out, around all of the construct or into a function",
                ),
                _ => continue,
            };
            self.trouble(obstacle, tree.span(node), message);
        }
    }

    /// Are these braces of a number, or of an array of numbers?
    fn makes_number(&self, node: NodeId) -> bool {
        let tree = self.tree;
        let braces = match tree.kind(node) {
            NodeKind::CompoundLiteralExpression => tree.child(node, Field::Value),
            _ => Some(node),
        };
        braces.is_some_and(|braces| initialises_numbers(tree, braces) || self.is_of_named_number(braces))
    }

    /// Are these the braces of a number whose type goes by a name: `T sum{}`, `real x[2] = {0}`?
    fn is_of_named_number(&self, braces: NodeId) -> bool {
        let tree = self.tree;
        let named = type_initialised(tree, braces).filter(|ty| tree.kind(*ty) == NodeKind::TypeIdentifier);
        named.is_some_and(|ty| self.is_number_type(&self.text(ty), self.placed(tree.span(ty)).start))
    }

    /// Is it the name of a called function of the standard library, as in `std::sqrt(x)`?
    fn is_standard_function(&self, node: NodeId) -> bool {
        let name = self.text(node).split_whitespace().collect::<String>();
        name.starts_with("std::") && crate::semantics::calls::is_pure(&name)
    }
}
