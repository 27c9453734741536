//! What a call does to memory.

use super::{Reader, Storage, Touch, UnknownKind};
use crate::semantics::Program;
use crate::semantics::calls::{PointeeUse, RuntimeCall, is_pure, only_reads_argument, pointees, runtime_call};
use crate::semantics::symbols::{DeclaredType, VariableId};
use crate::semantics::uses::{Role, role_of_expression, uses_below};
use crate::source::{Language, Span};
use crate::syntax::{Call, Field, HostTree, NodeId, NodeKind};

/// How many calls deep functions are followed.
const DEPTH: usize = 8;

impl Reader<'_, '_> {
    pub(super) fn call(&mut self, call: NodeId) {
        let tree = self.cx.tree;
        let Some(function) = self.cx.called_name(call) else {
            self.unknown(UnknownKind::Code, call, "who is called here is not followed");
            return;
        };
        let at = tree.span(function).start;
        let name: String = self.cx.file.show(tree.span(function)).split_whitespace().collect();
        let symbols = self.cx.symbols();
        if let Some(expansion) = self.cx.expansion(&name, at) {
            // It may give back what it is handed, and that may be written.
            let is_value = matches!(role_of_expression(tree, call), Role::Read | Role::Argument);
            let is_of_numbers = self.arguments(call).into_iter().all(|argument| self.is_number(argument));
            match expansion.filter(|_| is_value && is_of_numbers) {
                Some(names) => names.iter().for_each(|inner| self.expanded(inner, function)),
                None => self.unknown(UnknownKind::Code, call, format!("the macro `{name}` is no plain expression")),
            }
            return;
        }
        if name.ends_with("_cast") && tree.language() == Language::Cpp {
            self.named_cast(call);
            return;
        }
        if symbols.is_variable_in(None, &name, at) {
            self.unknown(UnknownKind::Code, call, format!("`{name}` may call any function"));
            return;
        }
        if Call::of(tree, call).is_some_and(|call| self.cx.swaps_values(call)) {
            for argument in self.arguments(call) {
                let span = tree.span(argument);
                if let Some((named, _)) = self.cx.named(&self.cx.file.show(span), span.end) {
                    self.touch(Storage::Variable(named), true, argument);
                }
            }
            return;
        }
        match symbols.function_definitions(&name).as_slice() {
            [] => self.out_of_sight(&name, call),
            [(None, definition)] if !symbols.may_call_other(&name) && !symbols.may_be_replaced(&name) => {
                self.in_sight(&name, *definition, call);
            }
            _ => self.unknown(UnknownKind::Call, call, format!("`{name}` may be one of several functions")),
        }
    }

    /// `static_cast<T>(x)` makes an object where `T` is a class.
    fn named_cast(&mut self, call: NodeId) {
        let tree = self.cx.tree;
        let list = tree.child(call, Field::Function).and_then(|function| tree.child(function, Field::Arguments));
        let types: Vec<NodeId> = list.into_iter().flat_map(|list| tree.named_children(list)).collect();
        match types[..] {
            [ty] if tree.kind(ty) == NodeKind::TypeDescriptor => self.cast_to(ty, call),
            _ => self.unknown(UnknownKind::Code, call, "what is made by this cast is not followed"),
        }
    }

    fn arguments(&self, call: NodeId) -> Vec<NodeId> {
        let tree = self.cx.tree;
        tree.child(call, Field::Arguments).into_iter().flat_map(|list| tree.named_children(list)).collect()
    }

    /// A function of a library, or one that nobody knows.
    fn out_of_sight(&mut self, name: &str, call: NodeId) {
        let at = self.cx.tree.span(call).start;
        match runtime_call(name) {
            Some(RuntimeCall::Harmless | RuntimeCall::TeamDependent) => return,
            Some(_) => {
                self.unknown(UnknownKind::Code, call, format!("`{name}` changes what later constructs do"));
                return;
            }
            None => {}
        }
        let is_library = self.cx.symbols().calls_library_in(None, name, at);
        let pointees = pointees(name).or(is_pure(name).then_some(PointeeUse::Reads)).filter(|_| is_library);
        let Some(pointees) = pointees else {
            self.unknown(UnknownKind::Call, call, format!("what `{name}` does is not in sight"));
            return;
        };
        let writes = pointees == PointeeUse::Writes || self.stores_counts(call);
        if pointees == PointeeUse::None {
            return;
        }
        for (index, argument) in self.arguments(call).into_iter().enumerate() {
            if self.may_lead_somewhere(argument) {
                let storage = self.cx.pointed(argument);
                let reads = only_reads_argument(name, index) && !self.stores_counts(call);
                self.touch(storage, writes && !reads, argument);
            }
        }
    }

    /// Does a format tell to store how much was written?
    fn stores_counts(&self, call: NodeId) -> bool {
        self.cx.file.bytes(self.cx.tree.span(call)).windows(2).any(|pair| pair == b"%n")
    }

    /// May the value of an argument be an address of something that the program writes?
    fn may_lead_somewhere(&self, argument: NodeId) -> bool {
        let tree = self.cx.tree;
        match tree.kind(argument) {
            NodeKind::NumberLiteral
            | NodeKind::StringLiteral
            | NodeKind::ConcatenatedString
            | NodeKind::CharLiteral
            | NodeKind::SizeofExpression
            | NodeKind::Null => false,
            NodeKind::CallExpression if self.measures_time(argument) => false,
            NodeKind::BinaryExpression | NodeKind::CallExpression | NodeKind::SubscriptExpression => {
                !self.is_number(argument)
            }
            NodeKind::Identifier if self.is_c_stream(argument) => false,
            NodeKind::Identifier => {
                let span = tree.span(argument);
                let name = self.cx.file.show(span);
                !matches!(self.cx.named(&name, span.start), Some((_, variable)) if variable.ty.is_scalar())
            }
            _ => true,
        }
    }

    /// Is an expression made of names, each of which is a number or an element that is one, and so a number itself?
    pub(super) fn is_number(&self, node: NodeId) -> bool {
        let tree = self.cx.tree;
        let names = tree.descendants(node).filter(|inner| tree.kind(*inner) == NodeKind::Identifier);
        names.into_iter().all(|inner| {
            let span = tree.span(inner);
            let name = self.cx.file.show(span);
            let Some((_, variable)) = self.cx.named(&name, span.start) else { return is_pure(&name) };
            let (depth, _) = super::places::dereferences(tree, inner);
            depth == 0 && self.measures_time(inner)
                || (0..depth).fold(variable.ty, |ty, _| ty.dereferenced()).is_scalar()
        })
    }

    /// A function of the file: what its body does, with the arguments in place of what its parameters lead to.
    fn in_sight(&mut self, name: &str, definition: NodeId, call: NodeId) {
        let tree = self.cx.tree;
        let span = tree.span(definition);
        let Some(kernels) = self.kernels_of(span) else {
            self.unknown(UnknownKind::Constructs, call, format!("`{name}` has constructs of its own"));
            return;
        };
        if !kernels.is_empty() && !self.follows_kernels {
            self.unknown(UnknownKind::Constructs, call, format!("`{name}` has constructs of its own"));
        }
        if self.callers.contains(&definition) || self.callers.len() >= DEPTH {
            self.unknown(UnknownKind::Code, call, format!("`{name}` calls itself, or too many functions in turn"));
            return;
        }
        let Some(body) = tree.child(definition, Field::Body) else { return };
        if !self.cx.has_plain_parameters(definition) {
            self.unknown(UnknownKind::Code, call, format!("the sizes of what `{name}` is handed are computed there"));
            return;
        }
        if tree.language() == Language::Cpp && (self.may_make_objects(definition) || self.returns_object(definition)) {
            let message = format!("what `{name}` is handed or gives back as an object is not followed");
            self.unknown(UnknownKind::Code, call, message);
            return;
        }
        let parameters = parameters_of(self.cx, definition);
        let mut callers = self.callers.clone();
        callers.push(definition);
        let left_out = if self.follows_kernels { &[] } else { kernels.as_slice() };
        let found = super::HostEffects::default();
        let numbers = self.cx.number_parameters(definition, call);
        let mut inner =
            Reader { cx: self.cx, left_out, found, callers, follows_kernels: self.follows_kernels, numbers };
        inner.read(body);
        let found = inner.found;
        for unknown in &found.unknown {
            self.found.unknown.push(super::Unknown { span: tree.span(call), ..unknown.clone() });
        }
        let binding = Binding { definition, parameters, arguments: self.arguments(call), call };
        let changed = |id| found.writes_variable(id).is_some();
        for touch in found.touches.iter().filter_map(|touch| self.cx.as_called(touch, &binding, &changed)) {
            if !self.found.touches.contains(&touch) {
                self.found.touches.push(touch);
            }
        }
    }

    /// The statements that the `target` regions of a function run on the device; none where it has other constructs as well.
    fn kernels_of(&self, function: Span) -> Option<Vec<Span>> {
        let constructs = self.cx.constructs;
        let inside = constructs.ids().filter(|id| function.contains(constructs.directive(*id).span));
        let (targets, others): (Vec<_>, Vec<_>) = inside.partition(|id| constructs.is_target(*id));
        let kernels: Vec<Span> = targets.into_iter().map(|id| constructs.construct(id).body_span).collect();
        let is_of_kernel = |id| {
            let span = constructs.directive(id).span;
            kernels.iter().any(|kernel| kernel.contains(span)) || constructs.construct(id).stacked_under.is_some()
        };
        others.into_iter().all(is_of_kernel).then_some(kernels)
    }

    /// May what a function of C++ gives back be an object, which is made and ends where it is called?
    fn returns_object(&self, definition: NodeId) -> bool {
        let tree = self.cx.tree;
        let declarator = tree.child(definition, Field::Declarator);
        let is_pointer = declarator.is_some_and(|it| tree.kind(it) == NodeKind::PointerDeclarator);
        let is_behind = tree.descendants(definition).any(|node| tree.kind(node) == NodeKind::TrailingReturnType);
        let is_plain = tree.child(definition, Field::Type).is_some_and(|ty| self.cx.is_number_or_nothing(ty));
        is_behind || may_give_reference(tree, definition) || !is_pointer && !is_plain
    }

    /// Is a parameter no number and no pointer, so that handing it over may run code?
    fn may_make_objects(&self, definition: NodeId) -> bool {
        let at = self.cx.tree.span(definition).end.saturating_sub(1);
        let parameters = parameters_of(self.cx, definition);
        parameters.into_iter().any(|id| {
            let Some(id) = id else { return true };
            let name = self.cx.file.show(id.declared_at).into_owned();
            !self.cx.named(&name, at).is_some_and(|(_, variable)| variable.ty.is_scalar() || variable.ty.is_pointer())
        })
    }
}

/// A call of a function in sight: what its parameters get.
pub(crate) struct Binding {
    /// The function.
    pub definition: NodeId,
    /// Its parameters; none for one whose name is not found.
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
    /// (C17, section 6.9.1), and so are the arguments that a call leaves out.
    fn has_plain_parameters(&self, definition: NodeId) -> bool {
        let tree = self.tree;
        let parameters = tree.descendants(definition).find(|node| tree.kind(*node) == NodeKind::ParameterList);
        let nodes = parameters.into_iter().flat_map(|list| tree.descendants(list));
        nodes.into_iter().all(|node| {
            !matches!(
                tree.kind(node),
                NodeKind::AssignmentExpression
                    | NodeKind::UpdateExpression
                    | NodeKind::CallExpression
                    | NodeKind::CommaExpression
                    | NodeKind::SubscriptExpression
                    | NodeKind::PointerExpression
                    | NodeKind::FieldExpression
                    | NodeKind::OptionalParameterDeclaration
            )
        })
    }

    /// The type parameters of a template that stand for numbers where it is called: some parameter is a pointer to them, and gets one to
    /// numbers, from which they are deduced, or must be what is said in `<>`.
    fn number_parameters(&self, definition: NodeId, call: NodeId) -> Vec<String> {
        let tree = self.tree;
        let is_template = tree.parent(definition).is_some_and(|it| tree.kind(it) == NodeKind::TemplateDeclaration);
        let arguments = tree.child(call, Field::Arguments).filter(|_| is_template);
        let arguments = arguments.into_iter().flat_map(|list| tree.named_children(list));
        let at = tree.span(definition).end.saturating_sub(1);
        let pairs = parameters_of(self, definition).into_iter().zip(arguments);
        let numbers = pairs.filter_map(|(parameter, argument)| {
            let (_, own) = self.named(&self.file.show(parameter?.declared_at), at)?;
            let span = tree.span(argument);
            let (_, given) = self.named(&self.file.show(span), span.start)?;
            match own.ty.dereferenced() {
                DeclaredType::TypeParameter { name, .. } if own.ty.is_pointer() => {
                    given.ty.dereferenced().number().is_some().then_some(name)
                }
                _ => None,
            }
        });
        numbers.collect()
    }

    /// The name that a call calls, qualified or not, without the arguments of a template; none for any other expression.
    pub(crate) fn called_name(&self, call: NodeId) -> Option<NodeId> {
        let tree = self.tree;
        let function = tree.child(call, Field::Function)?;
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
        let function = self.called_name(call).filter(|node| tree.kind(*node) == NodeKind::Identifier)?;
        let at = tree.span(function).start;
        let name = self.file.show(tree.span(function)).into_owned();
        let is_other = self.expansion(&name, at).is_some()
            || self.symbols().is_variable_in(None, &name, at)
            || self.symbols().may_call_other(&name)
            || self.symbols().may_be_replaced(&name);
        let [(None, definition)] = self.symbols().function_definitions(&name)[..] else { return None };
        let list = tree.child(call, Field::Arguments)?;
        let arguments: Vec<NodeId> = tree.named_children(list).collect();
        let parameters = parameters_of(self, definition);
        let is_plain = !is_other && self.has_plain_parameters(definition) && arguments.len() == parameters.len();
        is_plain.then_some(Binding { definition, parameters, arguments, call })
    }

    /// An access of a called function as the caller sees it: with what the arguments lead to in place of what its parameters do. None
    /// where it is of a variable that ends with the call.
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
                argument.map_or(Storage::Memory, |node| self.pointed(node))
            }
            other => other.clone(),
        };
        Some(Touch { storage, writes: touch.writes, span: self.tree.span(binding.call) })
    }
}

/// The parameters of a function; none for one whose name is not found.
pub(super) fn parameters_of(cx: &Program<'_>, definition: NodeId) -> Vec<Option<VariableId>> {
    let tree = cx.tree;
    let declarator = tree.child(definition, Field::Declarator);
    let list =
        declarator.and_then(|node| tree.descendants(node).find(|inner| tree.kind(*inner) == NodeKind::ParameterList));
    let parameters = list.into_iter().flat_map(|list| tree.named_children(list));
    let named = |parameter: NodeId| {
        let declarator = tree.child(parameter, Field::Declarator)?;
        let name = tree.descendants(declarator).find(|node| tree.kind(*node) == NodeKind::Identifier)?;
        Some(VariableId { header: None, declared_at: tree.span(name) })
    };
    let is_void = |parameter: &NodeId| cx.file.bytes(tree.span(*parameter)) == b"void";
    parameters.filter(|parameter| !is_void(parameter)).map(named).collect()
}

/// Does the call that the value of a name is handed to keep its address no longer than it lasts? It is a function of a library that does
/// so, or one in sight that only follows its parameter, or hands it on to such ones.
pub(in crate::semantics) fn keeps_no_address(cx: &Program<'_>, name: NodeId) -> bool {
    keeps_none(cx, name, 0)
}

fn keeps_none(cx: &Program<'_>, name: NodeId, depth: usize) -> bool {
    let tree = cx.tree;
    let Some(list) = tree.ancestors(name).find(|node| tree.kind(*node) == NodeKind::ArgumentList) else { return false };
    let Some(call) = tree.parent(list).filter(|call| tree.kind(*call) == NodeKind::CallExpression) else {
        return false;
    };
    let index = tree.named_children(list).position(|argument| tree.span(argument).contains(tree.span(name)));
    // A number made of an address may come back as one.
    let becomes_number = |node: NodeId| {
        let ty = tree.child(node, Field::Type).filter(|_| tree.kind(node) == NodeKind::CastExpression);
        ty.is_some_and(|ty| tree.child(ty, Field::Declarator).is_none())
    };
    if tree.ancestors(name).take_while(|node| *node != list).any(becomes_number) {
        return false;
    }
    let Some(function) = tree.child(call, Field::Function) else { return false };
    let at = tree.span(function).start;
    let text: String = cx.file.show(tree.span(function)).split_whitespace().collect();
    if cx.symbols().macro_definition(&text, at).is_some() || cx.symbols().is_variable_in(None, &text, at) {
        return false;
    }
    match cx.symbols().function_definitions(&text).as_slice() {
        [] => {
            let is_known = pointees(&text).is_some() || is_pure(&text);
            let is_discarded = || tree.parent(call).is_some_and(|it| tree.kind(it) == NodeKind::ExpressionStatement);
            is_known
                && (!returns_argument(&text) || is_discarded())
                && !may_print_address(cx, &text, list)
                && cx.symbols().calls_library_in(None, &text, at)
        }
        [(None, definition)]
            if depth < DEPTH && !cx.symbols().may_call_other(&text) && !cx.symbols().may_be_replaced(&text) =>
        {
            let Some(Some(parameter)) = index.and_then(|index| parameters_of(cx, *definition).into_iter().nth(index))
            else {
                return false;
            };
            !may_give_reference(tree, *definition) && only_follows(cx, *definition, parameter, depth)
        }
        _ => false,
    }
}

/// Does `%p` make a text of an address, from which the program may read it again? What is no literal may say so.
fn may_print_address(cx: &Program<'_>, name: &str, list: NodeId) -> bool {
    let tree = cx.tree;
    let is_text = |node: &NodeId| matches!(tree.kind(*node), NodeKind::StringLiteral | NodeKind::ConcatenatedString);
    let mut texts = tree.named_children(list).filter(is_text).map(|node| cx.file.show(tree.span(node))).peekable();
    let has_address = |text: &str| {
        text.split('%').skip(1).any(|conversion| {
            conversion.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #.*".contains(c)).starts_with('p')
        })
    };
    name.ends_with("printf") && (texts.peek().is_none() || texts.any(|text| has_address(&text)))
}

/// Does a function give back an address that it was handed?
fn returns_argument(name: &str) -> bool {
    matches!(name, "fgets" | "memcpy" | "memmove" | "memset" | "strchr" | "strcpy" | "strncpy")
}

/// In C++: may what a function gives back be the object itself that a parameter leads to?
fn may_give_reference(tree: &HostTree, definition: NodeId) -> bool {
    let declarator = tree.child(definition, Field::Declarator);
    let is_plain = |node: NodeId| matches!(tree.kind(node), NodeKind::FunctionDeclarator | NodeKind::PointerDeclarator);
    let ty = tree.child(definition, Field::Type).map(|ty| tree.kind(ty));
    tree.language() == Language::Cpp
        && (!declarator.is_some_and(is_plain)
            || matches!(ty, Some(NodeKind::PlaceholderTypeSpecifier | NodeKind::Decltype)))
}

/// Does a function only follow a parameter, or hand it on to functions that do?
fn only_follows(cx: &Program<'_>, definition: NodeId, parameter: VariableId, depth: usize) -> bool {
    let tree = cx.tree;
    let name = cx.file.show(parameter.declared_at).into_owned();
    let Some(body) = tree.child(definition, Field::Body) else { return false };
    let uses = uses_below(cx.file, tree, body);
    let mut own = uses.iter().filter(|used| used.name == name);
    own.all(|used| {
        let Some((named, found)) = cx.named(&used.name, used.span.end) else { return false };
        if named.id != parameter {
            return true;
        }
        let (followed, _) = super::places::dereferences(tree, used.node);
        match used.role {
            Role::Read => {
                let reached = (0..followed).fold(found.ty, |ty, _| ty.dereferenced());
                followed > 0 && !matches!(reached, DeclaredType::Array { .. }) && !cx.may_lend_element(used.node)
            }
            Role::ElementWrite => !cx.may_lend_element(used.node),
            Role::Argument => keeps_none(cx, used.node, depth + 1),
            _ => false,
        }
    })
}
