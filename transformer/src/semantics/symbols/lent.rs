//! In C++: uses that hand out a variable itself and not its value, so that something else may lead to it from then on.

use super::{DeclaredType, Symbols, Variable};
use crate::semantics::uses::{Role, copies_initialisers, initialiser_role};
use crate::source::Span;
use crate::syntax::{Call, Field, NodeId, NodeKind};

/// Functions that give back one of the objects handed to them.
const GIVE_BACK: &[&str] = &["as_const", "clamp", "exchange", "forward", "max", "min", "minmax", "move"];

impl Symbols<'_> {
    /// Is there a use of the variable in the range that lends it: as the result of an assignment, a template's argument, the operand of
    /// an operator that the program declares, a returned reference, or what an object is made of?
    pub(super) fn is_lent(&self, variable: &Variable, extent: Span, is_harmless: &dyn Fn(Span) -> bool) -> bool {
        let tree = self.own.tree.as_ref();
        let name = variable.name.as_bytes();
        let inside = tree.descendants(tree.covering(extent)).filter(|node| extent.contains(tree.span(*node)));
        inside.into_iter().any(|node| match tree.kind(node) {
            NodeKind::Identifier => {
                let span = tree.span(node);
                self.own.file.bytes(span) == name && self.lends(node, variable) && !is_harmless(span)
            }
            // `T object(x);` and `f<x>()` read like declarations and types.
            NodeKind::TypeIdentifier => {
                let is_place = |above| {
                    matches!(
                        tree.kind(above),
                        NodeKind::ParameterDeclaration | NodeKind::TypeDescriptor | NodeKind::TemplateArgumentList
                    )
                };
                // `T object(x * y);` is made of a new value.
                let is_operand = || {
                    let place = tree.parent(node).filter(|it| tree.kind(*it) == NodeKind::ParameterDeclaration);
                    let declarator = place.and_then(|place| tree.child(place, Field::Declarator));
                    declarator.is_some_and(|it| {
                        matches!(tree.kind(it), NodeKind::PointerDeclarator | NodeKind::ReferenceDeclarator)
                            && variable.ty.is_scalar()
                    })
                };
                self.own.file.bytes(tree.span(node)) == name
                    && tree.parent(node).is_some_and(is_place)
                    && !is_operand()
                    && initialiser_role(self.own.file, tree, node) != Some(Role::Read)
                    && self.means(node, variable)
            }
            _ => false,
        })
    }

    fn means(&self, node: NodeId, variable: &Variable) -> bool {
        let found = self.lookup(&variable.name, self.own.tree.span(node).start);
        found.is_some_and(|found| found.id() == variable.id())
    }

    fn lends(&self, name: NodeId, variable: &Variable) -> bool {
        let tree = self.own.tree.as_ref();
        // Is it the result of an assignment or a call that is looked at, not the name?
        let mut is_result = false;
        let mut node = name;
        while let Some(parent) = tree.parent(node) {
            let field = tree.field(node);
            let lends = match tree.kind(parent) {
                NodeKind::ParenthesizedExpression | NodeKind::CommaExpression => false,
                NodeKind::ConditionalExpression if field != Some(Field::Condition) => false,
                // Its result is the variable again.
                NodeKind::AssignmentExpression if field == Some(Field::Left) => false,
                NodeKind::UpdateExpression => false,
                NodeKind::PointerExpression => {
                    let operator = tree.operator(parent);
                    return operator == Some(NodeKind::Ampersand)
                        && self.means(name, variable)
                        && self.call_that_allocates_for(name).is_none();
                }
                NodeKind::TemplateArgumentList => true,
                NodeKind::ReturnStatement => variable.has_static_storage() && self.returns_reference(parent),
                NodeKind::BinaryExpression => {
                    let text = |operator| self.own.file.bytes(tree.span(operator));
                    let operator = tree.children(parent).find(|part| tree.field(*part) == Some(Field::Operator));
                    let is_own = operator.is_none_or(|operator| self.declares_operator(text(operator)));
                    is_own && !self.is_arithmetic(parent, node)
                }
                NodeKind::InitializerList => !self.is_copied_by_list(parent),
                NodeKind::InitDeclarator | NodeKind::OptionalParameterDeclaration => {
                    let declarator = tree.child(parent, Field::Declarator);
                    let is_reference = declarator.is_some_and(|it| tree.declares_reference(it));
                    is_reference && node != name
                }
                NodeKind::ArgumentList => {
                    let call = tree.parent(parent).and_then(|call| Call::of(tree, call));
                    let function = call.and_then(Call::function);
                    let text = function.map(|function| self.own.file.show(tree.span(function)));
                    let base = text.as_deref().and_then(|text| text.split('<').next()).unwrap_or_default();
                    let base = base.rsplit("::").next().unwrap_or_default();
                    match call.filter(|_| GIVE_BACK.contains(&base)) {
                        Some(call) => {
                            (node, is_result) = (call.node, true);
                            continue;
                        }
                        // What a call does to the name itself is asked elsewhere.
                        None => return is_result && self.means(name, variable),
                    }
                }
                _ => return false,
            };
            if lends {
                return self.means(name, variable);
            }
            if matches!(tree.kind(parent), NodeKind::BinaryExpression | NodeKind::ReturnStatement) {
                return false;
            }
            is_result |= matches!(tree.kind(parent), NodeKind::AssignmentExpression | NodeKind::UpdateExpression);
            node = parent;
        }
        false
    }

    /// Does the head of the function or lambda around a statement have a reference, or a type that may be one?
    fn returns_reference(&self, statement: NodeId) -> bool {
        let tree = self.own.tree.as_ref();
        let is_function =
            |node: &NodeId| matches!(tree.kind(*node), NodeKind::FunctionDefinition | NodeKind::LambdaExpression);
        let Some(function) = tree.ancestors(statement).find(is_function) else { return true };
        let start = tree.span(function).start;
        let body = tree.child(function, Field::Body).map_or(start, |body| tree.span(body).start);
        let head = self.own.file.show(Span::new(start, body));
        head.contains('&') || head.contains("decltype")
    }

    /// Is the other operand a number or a pointer for certain, so that the operator is the language's own?
    fn is_arithmetic(&self, operation: NodeId, operand: NodeId) -> bool {
        let tree = self.own.tree.as_ref();
        let others = tree.named_children(operation).filter(|child| *child != operand);
        // What `sizeof` is asked about is not evaluated.
        let mut sized = 0;
        others.flat_map(|other| tree.descendants(other).collect::<Vec<_>>()).all(|node| match tree.kind(node) {
            NodeKind::SizeofExpression => {
                sized = sized.max(tree.span(node).end);
                true
            }
            _ if tree.span(node).end <= sized => true,
            NodeKind::Identifier => {
                let span = tree.span(node);
                let ty = self.lookup(&self.own.file.show(span), span.start).map(|found| found.ty.clone());
                ty.is_some_and(|ty| ty.is_scalar() || ty.is_pointer() || matches!(ty, DeclaredType::Array { .. }))
            }
            NodeKind::CallExpression
            | NodeKind::CompoundLiteralExpression
            | NodeKind::FieldExpression
            | NodeKind::LambdaExpression
            | NodeKind::This => false,
            _ => true,
        })
    }

    /// Is a list in braces what a number or an array of numbers is initialised with?
    fn is_copied_by_list(&self, list: NodeId) -> bool {
        let tree = self.own.tree.as_ref();
        let mut around = tree.ancestors(list);
        let declaration = around.find(|node| tree.kind(*node) == NodeKind::Declaration);
        let parent = tree.parent(list).map(|parent| tree.kind(parent));
        parent != Some(NodeKind::CompoundLiteralExpression)
            && declaration.is_some_and(|declaration| copies_initialisers(self.own.file, tree, declaration))
    }
}
