//! Statements and expressions that are more than loads, stores and arithmetic.

use super::{Obstacle, Reader};
use crate::syntax::NodeId;

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
                "gnu_asm_expression" | "gnu_asm_statement" => (Obstacle::NotPlain, "inline assembly"),
                "return_statement" | "goto_statement" | "labeled_statement" | "throw_statement" | "try_statement" => {
                    (Obstacle::NotPlain, "control may leave the loop here")
                }
                "lambda_expression"
                | "new_expression"
                | "delete_expression"
                | "for_range_loop"
                | "this"
                | "user_defined_literal"
                | "operator_name"
                | "qualified_identifier"
                | "template_function" => {
                    if tree.kind(node) == "qualified_identifier" && self.is_standard_function(node) {
                        continue;
                    }
                    (Obstacle::Hidden, "what this calls or captures is not followed")
                }
                "compound_literal_expression" | "initializer_list" if self.is_cpp() => {
                    (Obstacle::Hidden, "what this constructs is not followed")
                }
                kind if kind.starts_with("preproc") => {
                    (Obstacle::Conditional, "which text the compiler sees depends on the preprocessor")
                }
                _ => continue,
            };
            self.trouble(obstacle, tree.span(node), message);
        }
    }

    /// `std::sqrt`, called.
    fn is_standard_function(&self, node: NodeId) -> bool {
        let name = self.text(node).split_whitespace().collect::<String>();
        name.starts_with("std::") && crate::analysis::calls::is_pure(&name)
    }
}
