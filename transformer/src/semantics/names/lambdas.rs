//! Lambdas that a loop's body declares and calls, and range-based loops over arrays in it.
//!
//! The body of such a lambda runs where it is called, in the same iteration. What it names counts as if it stood in the loop, so that
//! nothing needs to be known of when it runs.

use crate::semantics::Program;
use crate::semantics::effects::parameters_of;
use crate::semantics::names::kinds::{Kind, is_builtin};
use crate::semantics::symbols::{DeclaredType, Scope};
use crate::semantics::uses::{Role, Use, uses_below};
use crate::source::{Span, words};
use crate::syntax::{Call, Field, Function, NodeId, NodeKind};

impl Program<'_> {
    /// Is it a lambda that a variable in `body` is made of, whose captures and results are followed?
    pub(crate) fn is_plain_lambda(&self, lambda: NodeId, body: Span) -> bool {
        let tree = self.tree;
        let is_variable = tree.parent(lambda).is_some_and(|parent| {
            let declarator = tree.child(parent, Field::Declarator);
            tree.kind(parent) == NodeKind::InitDeclarator
                && body.contains(tree.span(parent))
                && declarator.is_some_and(|declarator| tree.kind(declarator) == NodeKind::Identifier)
                && tree.parent(parent).is_some_and(|above| tree.kind(above) == NodeKind::Declaration)
        });
        let opaque = |node: NodeId| {
            let kind = tree.kind(node);
            node != lambda
                && (matches!(
                    kind,
                    NodeKind::LambdaExpression
                        | NodeKind::LambdaCaptureInitializer
                        | NodeKind::This
                        | NodeKind::Static
                        | NodeKind::Mutable
                ) || kind.is_of_template()
                    || tree.is_problem(node))
        };
        let text = self.file.show(tree.span(lambda));
        let is_mutable = words(&text).any(|word| word == "mutable");
        let members = uses_below(self.file, tree, lambda);
        let names_member = members.iter().any(|used| matches!(self.kind(&used.name, used.span.start), Kind::Member(_)));
        is_variable
            && !is_mutable
            && !names_member
            && !tree.descendants(lambda).any(opaque)
            && self.gives_numbers(lambda)
    }

    /// Does every `return` of a lambda give a number, and no way to an object?
    fn gives_numbers(&self, lambda: NodeId) -> bool {
        let tree = self.tree;
        let declarator = tree.child(lambda, Field::Declarator);
        let trailing = declarator.and_then(|declarator| {
            tree.named_children(declarator).find(|child| tree.kind(*child) == NodeKind::TrailingReturnType)
        });
        if let Some(trailing) = trailing {
            let text = self.file.show(tree.span(trailing)).into_owned();
            let text = text.trim_start_matches("->").trim();
            return !text.contains(['&', '*', '(']) && self.is_void_or_builtin(text, tree.span(trailing).start);
        }
        let returns = tree.descendants(lambda).filter(|node| tree.kind(*node) == NodeKind::ReturnStatement);
        returns.into_iter().all(|node| {
            let takes_address = tree
                .descendants(node)
                .any(|inner| matches!(tree.kind(inner), NodeKind::PointerExpression | NodeKind::InitializerList));
            !takes_address && uses_below(self.file, tree, node).iter().all(|used| self.is_number_here(used))
        })
    }

    /// Does a name stand for a number, or for an element of an array of them?
    fn is_number_here(&self, used: &Use) -> bool {
        let tree = self.tree;
        let subscripted = tree.parent(used.node).is_some_and(|parent| {
            tree.kind(parent) == NodeKind::SubscriptExpression && tree.field(used.node) == Some(Field::Argument)
        });
        let ty = || self.declared_type(&used.name, used.span.start);
        match self.kind(&used.name, used.span.start) {
            _ if used.role == Role::Callee => self.calls_own_lambda(used) || self.call_reason(used).is_none(),
            Kind::Scalar { .. } | Kind::Constant => true,
            Kind::Pointer { plain, .. } | Kind::Array { plain, .. } => {
                plain && subscripted && ty().is_some_and(|ty| is_builtin(&ty.dereferenced()))
            }
            _ => false,
        }
    }

    /// The lambda that a variable is made of.
    fn lambda_of(&self, name: &str, at: usize) -> Option<NodeId> {
        let found =
            self.symbols().lookup(name, at).filter(|found| found.header.is_none() && found.scope == Scope::Local)?;
        let tree = self.tree;
        let node = tree.covering(found.declared_at);
        let declarator = tree.parent(node).filter(|parent| tree.kind(*parent) == NodeKind::InitDeclarator)?;
        tree.child(declarator, Field::Value).filter(|value| tree.kind(*value) == NodeKind::LambdaExpression)
    }

    /// The lambdas that a call may run as far as the file tells: the one that its callee is made of, or those that the calls of a function
    /// template hand over, where it is that one's parameter.
    pub(crate) fn lambdas_run_by(&self, call: Call<'_>) -> Vec<NodeId> {
        let tree = self.tree;
        let Some(callee) = call.function().filter(|callee| tree.kind(*callee) == NodeKind::Identifier) else {
            return Vec::new();
        };
        let span = tree.span(callee);
        let name = self.file.show(span);
        match self.lambda_of(&name, span.start) {
            Some(own) => vec![own],
            None => self.lambdas_handed_over(&name, callee).unwrap_or_default(),
        }
    }

    /// The lambdas that calls in the file hand to the function around a place for its parameter of this name.
    fn lambdas_handed_over(&self, parameter: &str, place: NodeId) -> Option<Vec<NodeId>> {
        let tree = self.tree;
        let (_, variable) = self.named(parameter, tree.span(place).start)?;
        (variable.scope == Scope::Parameter && variable.ty.as_type_parameter().is_some()).then_some(())?;
        let definition = tree.ancestors(place).find(|above| tree.kind(*above) == NodeKind::FunctionDefinition)?;
        let declarator = Function::of(tree, definition)?.declarator().map(|node| tree.innermost_declarator(node))?;
        let function = self.file.bytes(tree.span(declarator));
        let index = parameters_of(self, definition).iter().position(|own| *own == Some(variable.id()))?;
        let calls = tree.all_of(&[NodeKind::CallExpression]).filter_map(|node| Call::of(tree, node));
        let calls = calls.filter(|call| call.function().is_some_and(|it| self.file.bytes(tree.span(it)) == function));
        let handed = calls.filter_map(|call| call.arguments().nth(index));
        let lambda = |argument: NodeId| match tree.kind(argument) {
            NodeKind::LambdaExpression => Some(argument),
            _ => self.lambda_of(&self.file.show(tree.span(argument)), tree.span(argument).start),
        };
        Some(handed.filter_map(lambda).collect())
    }

    /// Does a use declare or call a variable that is made of a lambda?
    pub(crate) fn calls_own_lambda(&self, used: &Use) -> bool {
        matches!(used.role, Role::Callee | Role::Declaration) && self.lambda_of(&used.name, used.span.start).is_some()
    }

    /// The types of a lambda's parameters, by the name of the variable that it makes.
    pub(super) fn lambda_takes_value(&self, name: &str, at: usize, index: usize) -> bool {
        let tree = self.tree;
        let Some(declarator) = self.lambda_of(name, at).and_then(|lambda| tree.child(lambda, Field::Declarator)) else {
            return false;
        };
        let list = tree.child(declarator, Field::Parameters);
        let mut parameters = list.into_iter().flat_map(|list| tree.named_children(list));
        parameters.nth(index).is_some_and(|parameter| {
            let named =
                tree.child(parameter, Field::Declarator).is_some_and(|node| tree.kind(node) == NodeKind::Identifier);
            let ty = tree.child(parameter, Field::Type).map(|ty| tree.span(ty));
            named && ty.is_some_and(|ty| self.is_builtin_type(ty))
        })
    }

    /// The array that a range-based loop runs over, if it is one with numbers for elements.
    pub(crate) fn range_element(&self, range_loop: NodeId) -> Option<DeclaredType> {
        let tree = self.tree;
        let right = tree.child(range_loop, Field::Right).filter(|right| tree.kind(*right) == NodeKind::Identifier)?;
        let span = tree.span(right);
        let name = self.file.show(span).into_owned();
        if self.expansion(&name, span.start).is_some() {
            return None;
        }
        match self.declared_type(&name, span.start)? {
            DeclaredType::Array { element, dimensions, .. } if dimensions.len() == 1 && is_builtin(&element) => {
                Some(*element)
            }
            _ => None,
        }
    }

    /// What the variable of a range-based loop over such an array is, where its type is deduced.
    pub(super) fn kind_of_range_variable(&self, declared_at: &Span) -> Option<Kind> {
        let tree = self.tree;
        let node = tree.covering(*declared_at);
        let range_loop = tree.ancestors(node).find(|above| tree.kind(*above) == NodeKind::ForRangeLoop)?;
        let declarator =
            tree.child(range_loop, Field::Declarator).filter(|found| tree.span(*found).contains(*declared_at))?;
        matches!(tree.kind(declarator), NodeKind::Identifier | NodeKind::ReferenceDeclarator).then_some(())?;
        self.range_element(range_loop).map(|element| Kind::of_type(&element))
    }
}
