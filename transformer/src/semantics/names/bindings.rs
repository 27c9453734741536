//! Variables that objects of C++ may keep a reference to although no call stands in the text.

use crate::semantics::Program;
use crate::semantics::symbols::{DeclaredType, NameKind};
use crate::syntax::{Field, NodeId, NodeKind};

/// Classes of the standard library that copy what their constructors get.
const CONTAINERS: &[&str] = &["std::vector", "std::valarray", "std::deque", "std::string", "std::complex"];

impl Program<'_> {
    /// The variables that constructors get (`T x(k)`, `T x = k`), and those that functions return by reference: their names, and where.
    pub(super) fn bound_by_objects(&self) -> Vec<(String, usize)> {
        let tree = self.tree;
        let mut names = Vec::new();
        for node in tree.all_of(&[NodeKind::InitDeclarator, NodeKind::FunctionDeclarator, NodeKind::ReturnStatement]) {
            match tree.kind(node) {
                NodeKind::InitDeclarator if self.declares_object(node) => {
                    names.extend(
                        tree.child(node, Field::Value).into_iter().flat_map(|value| self.named_as_a_whole(value)),
                    );
                }
                // What may be a declaration of a function is one of an object where a variable has the name of its
                // parameter's type.
                NodeKind::FunctionDeclarator if self.is_inside_a_function(node) && !self.is_container(node) => {
                    let list = tree.child(node, Field::Parameters).into_iter();
                    let words = list.flat_map(|list| tree.descendants(list));
                    let words = words
                        .filter(|word| matches!(tree.kind(*word), NodeKind::Identifier | NodeKind::TypeIdentifier));
                    names.extend(words.filter_map(|word| self.variable_name(word)));
                }
                NodeKind::ReturnStatement if self.returns_reference(node) => {
                    names.extend(tree.named_children(node).flat_map(|value| self.named_as_a_whole(value)));
                }
                _ => {}
            }
        }
        names
    }

    /// Does it declare something whose constructor may keep what it gets?
    fn declares_object(&self, init_declarator: NodeId) -> bool {
        let tree = self.tree;
        let Some(declarator) = tree.child(init_declarator, Field::Declarator) else { return false };
        if tree.kind(declarator) != NodeKind::Identifier {
            return false;
        }
        if self.is_container(declarator) {
            return false;
        }
        let span = tree.span(declarator);
        let Some(found) = self.symbols().lookup(&self.file.show(span), span.start) else { return true };
        let is_data = found.ty.is_scalar() || found.ty.is_pointer() || matches!(found.ty, DeclaredType::Array { .. });
        !is_data && !self.symbols().is_plain_record(&found.ty, span.start)
    }

    fn is_inside_a_function(&self, node: NodeId) -> bool {
        self.tree.ancestors(node).any(|above| self.tree.kind(above) == NodeKind::CompoundStatement)
    }

    /// Is it declared as something that copies its values? So does `auto`, which is no class where the value is a number.
    fn is_container(&self, declarator: NodeId) -> bool {
        let tree = self.tree;
        let declaration = tree.ancestors(declarator).find(|above| tree.kind(*above) == NodeKind::Declaration);
        let Some(ty) = declaration.and_then(|declaration| tree.child(declaration, Field::Type)) else { return false };
        let text = self.file.show(tree.span(ty));
        let name = text.split('<').next().unwrap_or_default();
        tree.kind(ty) == NodeKind::PlaceholderTypeSpecifier || CONTAINERS.contains(&name)
    }

    fn returns_reference(&self, statement: NodeId) -> bool {
        let tree = self.tree;
        let mut functions = tree.ancestors(statement);
        let function = functions
            .find(|above| matches!(tree.kind(*above), NodeKind::FunctionDefinition | NodeKind::LambdaExpression));
        let declarator = function.and_then(|function| tree.child(function, Field::Declarator));
        declarator.is_some_and(|declarator| tree.declares_reference(declarator))
    }

    /// The variables that an expression, or a list of arguments, stands for without an operator.
    fn named_as_a_whole(&self, value: NodeId) -> Vec<(String, usize)> {
        let tree = self.tree;
        match tree.kind(value) {
            NodeKind::Identifier => self.variable_name(value).into_iter().collect(),
            NodeKind::ArgumentList
            | NodeKind::ParenthesizedExpression
            | NodeKind::ConditionalExpression
            | NodeKind::CommaExpression => {
                tree.named_children(value).flat_map(|child| self.named_as_a_whole(child)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn variable_name(&self, word: NodeId) -> Option<(String, usize)> {
        let span = self.tree.span(word);
        let name = self.file.show(span).into_owned();
        let found = self.symbols().lookup(&name, span.start)?;
        (found.kind == NameKind::Variable && found.declared_at != span).then_some((name, span.start))
    }
}
