//! What a call does to memory.

use std::collections::BTreeMap;

use super::binding::{Binding, parameters_of};
use super::kept_addresses::may_give_reference;
use super::{Reader, Storage, UnknownKind};
use crate::region::construct::ConstructId;
use crate::semantics::Program;
use crate::semantics::calls::{
    HANDLING, PointeeUse, RuntimeCall, extends_library, format_argument, is_pure, may_store_counts,
    only_reads_argument, pointees, runtime_call, takes_number,
};
use crate::semantics::evaluation::is_conversion;
use crate::semantics::macros::expansion::tokens;
use crate::semantics::symbols::{DeclaredType, NameKind};
use crate::semantics::uses::{Role, role_of_expression};
use crate::source::{Language, Span, words};
use crate::syntax::{Call, Field, Function, NodeId, NodeKind};

/// How many calls deep functions are followed.
const DEPTH: usize = 8;

impl Program<'_> {
    /// Is it a function of the C library, which evaluates what it is handed? `assert` may be none.
    pub(crate) fn is_function_of_library(&self, name: &str, at: usize) -> bool {
        let is_listed = is_pure(name) || pointees(name).is_some();
        is_listed && name.rsplit("::").next() != Some("assert") && self.symbols().calls_library_in(None, name, at)
    }

    /// May functions of the libraries run code or use memory that the file or a header gave to them?
    pub(super) fn library_is_extended(&self) -> bool {
        *self.library_is_extended.get_or_init(|| self.texts().any(|text| extends_library(&text)))
    }

    /// Does the file or a header name a function that acts on signals?
    fn handles_signals(&self) -> bool {
        let names_one = |text: &str| words(text).any(|word| HANDLING.contains(&word));
        *self.handles_signals.get_or_init(|| self.texts().any(|text| names_one(&text)))
    }
}

impl Reader<'_, '_> {
    pub(super) fn call(&mut self, call: NodeId) {
        let tree = self.cx.tree;
        // What `int(x)` is made of is read for itself.
        if self.cx.symbols().observes_vector(call) || is_conversion(self.cx.file, tree, call) {
            return;
        }
        let Some(function) = self.cx.called_name(call) else {
            self.unknown(UnknownKind::Code, call, "who is called here is not followed");
            return;
        };
        let at = tree.span(function).start;
        let name: String = self.cx.file.show(tree.span(function)).split_whitespace().collect();
        let symbols = self.cx.symbols();
        if let Some(expansion) = self.cx.expansion(&name, at) {
            if !symbols.declares_at_file_scope(&name) && self.by_expansion(function) {
                return;
            }
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
            self.unknown(UnknownKind::Code, call, "what is done through this reference is not followed");
            return;
        }
        // `T(x)` is a number as well; what it is made of is read for itself.
        if self.names_number(&name, at) {
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

    /// Is it a name for a number's type, or a type parameter that stands for one?
    fn names_number(&self, name: &str, at: usize) -> bool {
        let found = self.cx.symbols().lookup(name, at).filter(|_| self.cx.tree.language() == Language::Cpp);
        found.is_some_and(|found| match found.kind {
            NameKind::Type => self.cx.symbols().is_certain_number(&found.ty),
            NameKind::TemplateParameter => self.is_of_numbers(&found.ty, at),
            _ => false,
        })
    }

    fn arguments(&self, call: NodeId) -> Vec<NodeId> {
        Call::of(self.cx.tree, call).into_iter().flat_map(Call::arguments).collect()
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
        let pointees = pointees(name).or(is_pure(name).then_some(PointeeUse::None)).filter(|_| is_library);
        let Some(pointees) = pointees else {
            self.unknown(UnknownKind::Call, call, format!("what `{name}` does is not in sight"));
            return;
        };
        let is_extended = !is_pure(name) && self.cx.library_is_extended();
        if is_extended || name == "assert" && self.cx.handles_signals() {
            let message = format!("`{name}` may run code or reach memory that the program gave to the library");
            self.unknown(UnknownKind::Code, call, message);
            return;
        }
        let stores = self.stores_counts(name, call);
        let writes = pointees == PointeeUse::Writes || stores;
        if pointees == PointeeUse::None {
            return;
        }
        for (index, argument) in self.arguments(call).into_iter().enumerate() {
            if !takes_number(name, index) && self.may_lead_somewhere(argument) {
                let storage = self.cx.pointed(argument);
                let reads = only_reads_argument(name, index) && !stores;
                self.touch(storage, writes && !reads, argument);
            }
        }
    }

    /// May a format tell to store how much was written, since it is no literal, or has `%n`?
    fn stores_counts(&self, name: &str, call: NodeId) -> bool {
        let Some(index) = format_argument(name) else { return false };
        let format = self.arguments(call).get(index).and_then(|format| self.literal(*format));
        format.is_none_or(|format| may_store_counts(&format))
    }

    /// The text of a literal, between its quotes and as it is written. The macros of `<inttypes.h>`, which print numbers, are a `d`.
    fn literal(&self, node: NodeId) -> Option<String> {
        let (tree, file) = (self.cx.tree, self.cx.file);
        let text = file.show(tree.span(node));
        match tree.kind(node) {
            NodeKind::ParenthesizedExpression => self.literal(tree.named_children(node).next()?),
            NodeKind::StringLiteral => Some(text.strip_prefix('"')?.strip_suffix('"')?.to_owned()),
            NodeKind::ConcatenatedString => tree.named_children(node).map(|part| self.literal(part)).collect(),
            NodeKind::Identifier if text.starts_with("PRI") => Some("d".to_owned()),
            NodeKind::Identifier => self.literal_of_macro(&text, tree.span(node).start),
            _ => None,
        }
    }

    /// The texts of all literals that a name may stand for, where it is a macro and stands for nothing else.
    fn literal_of_macro(&self, name: &str, at: usize) -> Option<String> {
        let all = self.cx.symbols().macros_named(name, at);
        let is_shadowed = self.cx.symbols().lookup(name, at).is_some();
        let known = !all.is_empty() && !is_shadowed && all.iter().all(|it| it.parameters.is_none());
        let parts = known.then(|| all.iter().map(|it| tokens::literals(&it.body)));
        parts?.collect::<Option<Vec<_>>>().map(|parts| parts.join(" "))
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
            // Of the operators `+` and `-` alone give addresses.
            NodeKind::BinaryExpression
                if !matches!(tree.operator(argument), Some(NodeKind::Plus | NodeKind::Minus))
                    && (tree.language() == Language::C || !self.cx.has_operators()) =>
            {
                false
            }
            NodeKind::BinaryExpression | NodeKind::CallExpression | NodeKind::SubscriptExpression => {
                !self.is_number(argument)
            }
            NodeKind::ConditionalExpression => [Field::Consequence, Field::Alternative]
                .into_iter()
                .any(|field| tree.child(argument, field).is_none_or(|arm| self.may_lead_somewhere(arm))),
            NodeKind::Identifier if self.is_c_stream(argument) => false,
            NodeKind::Identifier => {
                let span = tree.span(argument);
                let name = self.cx.file.show(span);
                !matches!(self.cx.named(&name, span.start), Some((_, variable)) if variable.ty.is_scalar())
                    && self.literal_of_macro(&name, span.start).is_none()
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
                || (0..depth).fold(variable.ty.clone(), |ty, _| ty.dereferenced()).is_scalar()
        })
    }

    /// A function of the file: what its body does, with the arguments in place of what its parameters lead to.
    fn in_sight(&mut self, name: &str, definition: NodeId, call: NodeId) {
        let tree = self.cx.tree;
        let span = tree.span(definition);
        let Some(kernels) = self.kernels_of(span) else {
            self.unknown(UnknownKind::Constructs, call, format!("`{name}` has constructs of its own"));
            if self.has_unfollowed_directives(span) {
                self.unknown(UnknownKind::Code, call, format!("`{name}` has directives that are not followed"));
            }
            return;
        };
        let holds_data = self.cx.constructs.within(span).any(|(_, directive)| directive.is("target data"));
        if !kernels.is_empty() && !self.follows_kernels || holds_data {
            self.unknown(UnknownKind::Constructs, call, format!("`{name}` has constructs of its own"));
        }
        if self.callers.contains(&definition) || self.callers.len() >= DEPTH {
            self.unknown(UnknownKind::Code, call, format!("`{name}` calls itself, or too many functions in turn"));
            return;
        }
        let Some(body) = Function::of(tree, definition).and_then(Function::body) else { return };
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
        let (follows_kernels, expanded) = (self.follows_kernels, BTreeMap::new());
        let mut inner = Reader { cx: self.cx, left_out, found, callers, follows_kernels, numbers, expanded };
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

    /// Has a function directives other than kernels, loops that threads of the host share, and data environments?
    fn has_unfollowed_directives(&self, function: Span) -> bool {
        let constructs = self.cx.constructs;
        let kernels = constructs.ids_within(function).filter(|id| constructs.is_target(*id));
        let kernels: Vec<Span> = kernels.map(|id| constructs.construct(id).body_span).collect();
        constructs.ids_within(function).any(|id| {
            let span = constructs.directive(id).span;
            let is_followed = constructs.is_target(id)
                || constructs.directive(id).is("target data")
                || constructs.construct(id).stacked_under.is_some()
                || kernels.iter().any(|kernel| kernel.contains(span));
            !is_followed && !self.only_shares_loops(id)
        })
    }

    /// Is it a loop of the host that threads share, with no construct inside?
    fn only_shares_loops(&self, id: ConstructId) -> bool {
        let constructs = self.cx.constructs;
        let body = constructs.construct(id).body_span;
        constructs.directive(id).shares_host_loops() && constructs.ids_within(body).next().is_none()
    }

    /// The statements that the `target` regions of a function run on the device, or `None` if it has constructs that are not followed: others
    /// than data environments, in which the host's statements are read like any.
    fn kernels_of(&self, function: Span) -> Option<Vec<Span>> {
        let constructs = self.cx.constructs;
        let (targets, others): (Vec<_>, Vec<_>) =
            constructs.ids_within(function).partition(|id| constructs.is_target(*id));
        let kernels: Vec<Span> = targets.into_iter().map(|id| constructs.construct(id).body_span).collect();
        let is_of_kernel = |id| {
            let span = constructs.directive(id).span;
            kernels.iter().any(|kernel| kernel.contains(span))
                || constructs.construct(id).stacked_under.is_some()
                || constructs.directive(id).is("target data")
                || self.only_shares_loops(id)
        };
        others.into_iter().all(is_of_kernel).then_some(kernels)
    }

    /// May what a function of C++ gives back be an object, which is made and ends where it is called?
    fn returns_object(&self, definition: NodeId) -> bool {
        let tree = self.cx.tree;
        let declarator = Function::of(tree, definition).and_then(Function::declarator);
        let is_pointer = declarator.is_some_and(|it| tree.kind(it) == NodeKind::PointerDeclarator);
        let is_behind = tree.descendants(definition).any(|node| tree.kind(node) == NodeKind::TrailingReturnType);
        let is_plain = tree.child(definition, Field::Type).is_some_and(|ty| self.cx.is_number_or_nothing(ty));
        is_behind || may_give_reference(tree, definition) || !is_pointer && !is_plain
    }

    /// Is a parameter no number, no pointer and no plain structure, so that handing it over may run code?
    fn may_make_objects(&self, definition: NodeId) -> bool {
        let at = self.cx.tree.span(definition).end.saturating_sub(1);
        let parameters = parameters_of(self.cx, definition);
        parameters.into_iter().any(|id| {
            let Some(id) = id else { return true };
            let name = self.cx.file.show(id.declared_at).into_owned();
            let is_plain = |ty: &DeclaredType| {
                // A reference to a number or a vector is bound without code; a temporary may be made for it.
                let is_bound = || match ty {
                    DeclaredType::Reference { to } => {
                        to.is_scalar() || self.cx.symbols().vector_element(to, at).is_some()
                    }
                    _ => false,
                };
                let is_record = || matches!(ty, DeclaredType::Record { .. });
                ty.is_scalar()
                    || ty.is_pointer()
                    || is_bound()
                    || is_record() && self.cx.symbols().is_plain_record(ty, at)
            };
            !self.cx.named(&name, at).is_some_and(|(_, variable)| is_plain(&variable.ty))
        })
    }
}
