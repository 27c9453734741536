//! Calls of functions in sight: which function is called, and what each of its parameters gets.

use super::{Named, Storage, Touch};
use crate::semantics::Program;
use crate::semantics::symbols::{DeclaredType, VariableId};
use crate::syntax::{Call, Field, Function, NodeId, NodeKind};

/// A call of a function in sight: what its parameters get.
pub(crate) struct Binding {
    /// The function.
    pub definition: NodeId,
    /// Its parameters, or `None` for one whose name is not found.
    pub parameters: Vec<Option<VariableId>>,
    /// The arguments of the call.
    pub arguments: Vec<NodeId>,
    /// The call.
    pub call: NodeId,
}

impl Binding {
    /// What a parameter gets.
    pub(crate) fn argument(&self, id: VariableId) -> Option<NodeId> {
        let index = self.parameters.iter().position(|parameter| *parameter == Some(id))?;
        self.arguments.get(index).copied()
    }

    /// The parameter that gets an argument.
    pub(in crate::semantics) fn parameter_of(&self, argument: NodeId) -> Option<VariableId> {
        let index = self.arguments.iter().position(|known| *known == argument)?;
        *self.parameters.get(index)?
    }
}

impl Program<'_> {
    /// Is a type, as it is written without declarators, one of numbers, or `void`?
    pub(super) fn is_number_or_nothing(&self, ty: NodeId) -> bool {
        let span = self.tree.span(ty);
        let ty = self.symbols().type_written(None, &self.file.show(span), span.start);
        ty == DeclaredType::Void || ty.is_scalar()
    }

    /// Is nothing but numbers and names of variables in the parameters of a function? The sizes of arrays are computed when it is entered
    /// (C17, section 6.9.1), and so are arguments that a call leaves out.
    pub(super) fn has_plain_parameters(&self, definition: NodeId) -> bool {
        let tree = self.tree;
        let parameters = tree.descendants(definition).find(|node| tree.kind(*node) == NodeKind::ParameterList);
        let nodes = parameters.into_iter().flat_map(|list| tree.descendants(list));
        nodes.into_iter().all(|node| match tree.kind(node) {
            NodeKind::OptionalParameterDeclaration => {
                tree.child(node, Field::DefaultValue).is_some_and(|value| self.is_literal(value))
            }
            NodeKind::AssignmentExpression
            | NodeKind::UpdateExpression
            | NodeKind::CallExpression
            | NodeKind::CommaExpression
            | NodeKind::SubscriptExpression
            | NodeKind::PointerExpression
            | NodeKind::FieldExpression => false,
            _ => true,
        })
    }

    /// Is it a number, with a sign or without, or null?
    fn is_literal(&self, value: NodeId) -> bool {
        let tree = self.tree;
        match tree.kind(value) {
            NodeKind::NumberLiteral | NodeKind::True | NodeKind::False | NodeKind::Null => true,
            NodeKind::UnaryExpression => {
                tree.child(value, Field::Argument).is_some_and(|it| tree.kind(it) == NodeKind::NumberLiteral)
            }
            _ => false,
        }
    }

    /// The type parameters of a template that stand for numbers where it is called: some parameter is a pointer to them, and gets one to
    /// numbers, from which they are deduced, or must be what is said in `<>`.
    pub(super) fn number_parameters(&self, definition: NodeId, call: NodeId) -> Vec<String> {
        let tree = self.tree;
        let is_template = tree.parent(definition).is_some_and(|it| tree.kind(it) == NodeKind::TemplateDeclaration);
        let arguments = Call::of(tree, call).filter(|_| is_template).into_iter().flat_map(Call::arguments);
        let at = tree.span(definition).end.saturating_sub(1);
        let pairs = parameters_of(self, definition).into_iter().zip(arguments);
        let numbers = pairs.filter_map(|(parameter, argument)| {
            let (_, own) = self.named(&self.file.show(parameter?.declared_at), at)?;
            let span = tree.span(argument);
            let (_, given) = self.named(&self.file.show(span), span.start)?;
            match own.ty.dereferenced() {
                DeclaredType::TypeParameter { name, .. } if own.ty.is_pointer() => {
                    self.symbols().is_certain_number(&given.ty.dereferenced()).then_some(name)
                }
                _ => None,
            }
        });
        numbers.collect()
    }

    /// The name that a call calls, qualified or not, without the arguments of a template, or `None` for any other expression.
    pub(crate) fn called_name(&self, call: NodeId) -> Option<NodeId> {
        let tree = self.tree;
        let function = Call::of(tree, call)?.function()?;
        match tree.kind(function) {
            NodeKind::Identifier | NodeKind::QualifiedIdentifier => Some(function),
            NodeKind::TemplateFunction => {
                tree.child(function, Field::Name).filter(|name| tree.kind(*name) == NodeKind::Identifier)
            }
            _ => None,
        }
    }

    /// A call of a function that is certainly the one in sight.
    pub(crate) fn binding(&self, call: NodeId) -> Option<Binding> {
        let tree = self.tree;
        let function = self.called_name(call)?;
        let at = tree.span(function).start;
        let name: String = self.file.show(tree.span(function)).split_whitespace().collect();
        let is_other = self.expansion(&name, at).is_some()
            || self.symbols().is_variable_in(None, &name, at)
            || self.symbols().may_call_other(&name)
            || self.symbols().may_be_replaced(&name);
        let [(None, definition)] = self.symbols().function_definitions(&name)[..] else { return None };
        let arguments: Vec<NodeId> = Call::of(tree, call)?.arguments().collect();
        let parameters = parameters_of(self, definition);
        let is_plain = !is_other && self.has_plain_parameters(definition) && arguments.len() == parameters.len();
        is_plain.then_some(Binding { definition, parameters, arguments, call })
    }

    /// An access of a called function as the caller sees it: with what the arguments lead to in place of what its parameters do. None
    /// where it is of a variable that ends with the call, or behind a null pointer, where nothing is.
    pub(crate) fn as_called(
        &self,
        touch: &Touch,
        binding: &Binding,
        changed: &dyn Fn(VariableId) -> bool,
    ) -> Option<Touch> {
        let function = self.tree.span(binding.definition);
        let is_own = |id: VariableId| id.is_within(function);
        let storage = match &touch.storage {
            Storage::Variable(named) if is_own(named.id) => return None,
            Storage::Behind(named) if is_own(named.id) => {
                let argument = binding.argument(named.id).filter(|_| !changed(named.id));
                if argument.is_some_and(|argument| self.is_null_handed(argument, named)) {
                    return None;
                }
                let is_reference = || {
                    let ty = self.named(&named.name, named.at).map(|(_, variable)| variable.ty.clone());
                    matches!(ty, Some(DeclaredType::Reference { .. }))
                };
                match argument {
                    Some(node) if is_reference() => self.bound(node),
                    _ => argument.map_or(Storage::Memory, |node| self.pointed(node)),
                }
            }
            other => other.clone(),
        };
        let is_of_first = touch.is_of_first && self.hands_on_first(&touch.storage, &storage, binding);
        Some(Touch { storage, writes: touch.writes, is_of_first, span: self.tree.span(binding.call) })
    }

    /// Does a parameter lead to the same object as the caller's pointer, of the same type?
    fn hands_on_first(&self, called: &Storage, caller: &Storage, binding: &Binding) -> bool {
        let (Storage::Behind(called), Storage::Behind(caller)) = (called, caller) else { return false };
        let object = |named: &Named| {
            let (_, variable) = self.named(&named.name, named.at)?;
            variable.ty.is_pointer().then(|| variable.ty.dereferenced().without_const())
        };
        let is_name = |node: NodeId| self.tree.kind(node) == NodeKind::Identifier;
        called.id == caller.id
            || binding.argument(called.id).is_some_and(is_name)
                && object(called).is_some_and(|ty| Some(ty) == object(caller))
    }
}

impl Program<'_> {
    /// Does a call hand over a null pointer for a parameter that is a pointer?
    pub(crate) fn is_null_handed(&self, argument: NodeId, parameter: &Named) -> bool {
        let is_pointer = || self.named(&parameter.name, parameter.at).is_some_and(|(_, it)| it.ty.is_pointer());
        self.is_null_pointer(argument) && is_pointer()
    }

    /// What a reference to a number is bound to that gets an expression: a variable by its name, or anything.
    fn bound(&self, argument: NodeId) -> Storage {
        let span = self.tree.span(argument);
        let name = self.file.show(span).into_owned();
        let is_name = self.tree.kind(argument) == NodeKind::Identifier && self.expansion(&name, span.start).is_none();
        match self.named(&name, span.start).filter(|_| is_name) {
            Some((named, variable)) if variable.ty.is_scalar() => Storage::Variable(named),
            _ => Storage::Memory,
        }
    }
}

/// The parameters of a function, or `None` for one whose name is not found.
pub(in crate::semantics) fn parameters_of(cx: &Program<'_>, definition: NodeId) -> Vec<Option<VariableId>> {
    let tree = cx.tree;
    let parameters = Function::of(tree, definition).into_iter().flat_map(Function::parameters);
    let named = |parameter: NodeId| {
        let declarator = tree.child(parameter, Field::Declarator)?;
        let name = tree.descendants(declarator).find(|node| tree.kind(*node) == NodeKind::Identifier)?;
        Some(VariableId { header: None, declared_at: tree.span(name) })
    };
    let is_void = |parameter: &NodeId| cx.file.bytes(tree.span(*parameter)) == b"void";
    parameters.filter(|parameter| !is_void(parameter)).map(named).collect()
}
