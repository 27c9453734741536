//! Uses of a number of which nothing but the value counts: no address, no reference, and nothing that is chosen by its type's
//! qualifiers.

use crate::semantics::Program;
use crate::semantics::calls::is_pure;
use crate::source::Language;
use crate::syntax::{Call, Field, NodeId, NodeKind};

impl Program<'_> {
    /// Is a name that stands for a number an operand of arithmetic, or copied into a variable of a named type?
    pub(crate) fn is_value_alone(&self, name: NodeId) -> bool {
        let tree = self.tree;
        let mut node = name;
        while let Some(parent) = tree.parent(node) {
            match tree.kind(parent) {
                NodeKind::ParenthesizedExpression
                | NodeKind::BinaryExpression
                | NodeKind::UnaryExpression
                | NodeKind::ConditionalExpression
                | NodeKind::CastExpression => node = parent,
                NodeKind::AssignmentExpression => return tree.child(parent, Field::Right) == Some(node),
                NodeKind::InitDeclarator => return self.is_copied_by(parent),
                NodeKind::ArgumentList => return self.is_copied_to(parent),
                NodeKind::SubscriptExpression | NodeKind::SubscriptArgumentList | NodeKind::SizeofExpression => {
                    return true;
                }
                kind => {
                    return kind == NodeKind::ConditionClause || kind.is_statement() && kind != NodeKind::CaseStatement;
                }
            }
        }
        false
    }

    /// Does a declarator make a number of a named type from its initialiser?
    fn is_copied_by(&self, declarator: NodeId) -> bool {
        let tree = self.tree;
        let name = tree.child(declarator, Field::Declarator).map(|name| tree.kind(name));
        let declaration = tree.parent(declarator);
        let ty = declaration.and_then(|declaration| tree.child(declaration, Field::Type)).map(|ty| tree.kind(ty));
        name == Some(NodeKind::Identifier)
            && matches!(ty, Some(NodeKind::PrimitiveType | NodeKind::SizedTypeSpecifier | NodeKind::TypeIdentifier))
    }

    /// Does a call copy a number that is its argument, whichever function its name may mean? C has one of each name.
    fn is_copied_to(&self, arguments: NodeId) -> bool {
        let tree = self.tree;
        let call = tree.parent(arguments).and_then(|call| Call::of(tree, call));
        let Some(function) = call.and_then(Call::function) else { return false };
        let span = tree.span(function);
        let name = self.file.show(span);
        match self.symbols().macro_definition(&name, span.start) {
            Some(_) => self.expansion(&name, span.start).flatten().is_some(),
            None if tree.language() == Language::C => tree.kind(function) == NodeKind::Identifier,
            None => is_pure(&name) && self.symbols().calls_library_in(None, &name, span.start),
        }
    }
}
