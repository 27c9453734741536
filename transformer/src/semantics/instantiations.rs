//! Type parameters of templates that stand for numbers wherever the template is used.
//!
//! Only the file that defines a function template can make functions of it, as long as it is no header: all uses are in sight then.

use std::collections::BTreeSet;

use super::Program;
use super::effects::parameters_of;
use super::symbols::{DeclaredType, NameKind};
use crate::device::pinned_memory::is_header;
use crate::source::{Language, Span, words};
use crate::syntax::{Call, Field, Function, NodeId, NodeKind};

/// A type parameter of a function template.
struct Parameter<'n> {
    name: &'n str,
    /// Where it stands among the template's parameters.
    position: usize,
    /// May it be left out, since it has a default? That is a number's type, where it counts as a type parameter at all.
    has_default: bool,
}

impl Program<'_> {
    /// Is it known that only arithmetic types stand for the template's parameter of this name, by the compiler or by all its uses?
    pub(crate) fn stands_for_numbers(&self, parameter: &str, at: usize) -> bool {
        if self.symbols().is_arithmetic_parameter(parameter, at) {
            return true;
        }
        let found = self.symbols().lookup(parameter, at);
        let declared = found.filter(|found| found.kind == NameKind::TemplateParameter && found.header.is_none());
        declared.is_some_and(|declared| self.is_given_numbers(parameter, declared.declared_at, &mut BTreeSet::new()))
    }

    /// Is it a number, or of a type parameter that stands for one?
    pub(crate) fn is_number_type(&self, ty: &DeclaredType, at: usize) -> bool {
        match ty {
            DeclaredType::TypeParameter { name, is_volatile, .. } => !is_volatile && self.stands_for_numbers(name, at),
            ty => self.symbols().is_certain_number(ty),
        }
    }

    fn is_given_numbers(&self, parameter: &str, declared: Span, open: &mut BTreeSet<Span>) -> bool {
        if let Some(known) = self.number_parameters.borrow().get(&declared) {
            return *known;
        }
        // A template that uses itself gets what its other uses give it.
        if !open.insert(declared) {
            return true;
        }
        let found = self.find_given_numbers(parameter, declared, open).unwrap_or(false);
        // What hangs on a question that is still open is asked again.
        if !found || open.len() == 1 {
            self.number_parameters.borrow_mut().insert(declared, found);
        }
        open.remove(&declared);
        found
    }

    fn find_given_numbers(&self, name: &str, declared: Span, open: &mut BTreeSet<Span>) -> Option<bool> {
        let tree = self.tree;
        let node = tree.covering(declared);
        let template = tree.ancestors(node).find(|above| tree.kind(*above) == NodeKind::TemplateDeclaration)?;
        let is_outside = |above: NodeId| {
            matches!(
                tree.kind(above),
                NodeKind::TranslationUnit | NodeKind::DeclarationList | NodeKind::NamespaceDefinition
            )
        };
        let list = tree.child(template, Field::Parameters)?;
        let all: Vec<NodeId> = tree.named_children(list).collect();
        let position = all.iter().position(|own| tree.span(*own).contains(declared))?;
        let own = *all.get(position)?;
        let is_pack = |own: &NodeId| self.file.bytes(tree.span(*own)).windows(3).any(|dots| dots == b"...");
        let definition = tree.named_children(template).find(|it| tree.kind(*it) == NodeKind::FunctionDefinition)?;
        let declarator = Function::of(tree, definition)?.declarator().map(|node| tree.innermost_declarator(node))?;
        let called = self.file.show(tree.span(declarator)).into_owned();
        let parameter =
            Parameter { name, position, has_default: tree.kind(own) == NodeKind::OptionalTypeParameterDeclaration };
        let is_plain = tree.ancestors(template).all(is_outside)
            && tree.kind(declarator) == NodeKind::Identifier
            && !all.iter().any(is_pack)
            && !Language::is_header(&self.file.path)
            && self.symbols().function_definitions(&called) == [(None, definition)]
            && self.is_named_in_file_alone(&called);
        let mut uses = 0;
        let is_number = |span: Span| {
            uses += 1;
            span == tree.span(declarator) || self.use_gives_number(tree.covering(span), definition, &parameter, open)
        };
        Some(is_plain && self.places_of(&called).all(is_number) && uses > 1)
    }

    /// Do no header, no macro and no branch that is left out name it?
    pub(super) fn is_named_in_file_alone(&self, name: &str) -> bool {
        let names_it = |text: &str| words(text).any(|word| word == name);
        let all = Span::new(0, self.file.text.len());
        let mut headers = self.compilation.headers.iter().filter(|header| !is_header(&header.text));
        !headers.any(|header| names_it(&String::from_utf8_lossy(&header.text)))
            && !self.symbols().misses_headers()
            && !self.uses_macro_with(all, &|body| names_it(body) || body.contains("##"))
            && self.symbols().unread_branches(name, all).next().is_none()
            && self.tree.problem_in(all).is_none()
    }

    /// Where a name stands in the file, apart from comments and texts.
    fn places_of<'s>(&'s self, name: &'s str) -> impl Iterator<Item = Span> + 's {
        let text = self.file.text.as_slice();
        let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let found =
            (0..text.len()).filter(move |at| text.get(*at..).is_some_and(|rest| rest.starts_with(name.as_bytes())));
        let found = found.map(|at| Span::new(at, at + name.len()));
        found.filter(move |span| {
            let before = span.start.checked_sub(1).and_then(|at| text.get(at));
            let kind = self.tree.kind(self.tree.covering(*span));
            !is_word(before)
                && !is_word(text.get(span.end))
                && !matches!(kind, NodeKind::Comment | NodeKind::StringContent | NodeKind::StringLiteral)
        })
    }

    /// Is a place where a template is named a call of it that gives the parameter a number's type?
    fn use_gives_number(
        &self,
        name: NodeId,
        definition: NodeId,
        parameter: &Parameter<'_>,
        open: &mut BTreeSet<Span>,
    ) -> bool {
        let tree = self.tree;
        let above = tree.parent(name).filter(|_| tree.kind(name) == NodeKind::Identifier);
        let named = above.filter(|above| tree.kind(*above) == NodeKind::TemplateFunction);
        let function = named.unwrap_or(name);
        let call = tree.parent(function).and_then(|node| Call::of(tree, node));
        let Some(call) = call.filter(|call| call.function() == Some(function)) else { return false };
        let list = named.and_then(|named| tree.child(named, Field::Arguments));
        let types: Vec<NodeId> = list.into_iter().flat_map(|list| tree.named_children(list)).collect();
        if let Some(ty) = types.get(parameter.position) {
            let span = tree.span(*ty);
            let given = self.symbols().type_written(None, &self.file.show(span), span.start);
            return tree.kind(*ty) == NodeKind::TypeDescriptor && self.is_given(&given, span.start, open);
        }
        let end = tree.span(definition).end.saturating_sub(1);
        let pairs = parameters_of(self, definition).into_iter().zip(call.arguments());
        let mut deducing = pairs.filter_map(|(own, argument)| {
            let own = own?.declared_at;
            let (_, variable) = self.named(&self.file.show(own), end)?;
            (variable.ty.as_type_parameter() == Some(parameter.name)).then_some((variable.ty.clone(), argument))
        });
        let mut deduces = false;
        let is_known = deducing.any(|(own, argument)| {
            deduces = true;
            self.deduces_number(&own, argument, open)
        });
        is_known || !deduces && parameter.has_default
    }

    fn is_given(&self, ty: &DeclaredType, at: usize, open: &mut BTreeSet<Span>) -> bool {
        let DeclaredType::TypeParameter { name, .. } = ty else { return self.symbols().is_certain_number(ty) };
        let found = self.symbols().lookup(name, at);
        let declared = found.filter(|found| found.kind == NameKind::TemplateParameter && found.header.is_none());
        declared.is_some_and(|declared| self.is_given_numbers(name, declared.declared_at, open))
    }

    /// Is the type parameter of a function's parameter, `T x`, `T *x` or `T &x`, a number's type where it gets this argument?
    fn deduces_number(&self, own: &DeclaredType, argument: NodeId, open: &mut BTreeSet<Span>) -> bool {
        let tree = self.tree;
        let span = tree.span(argument);
        let text = self.file.show(span);
        if tree.kind(argument) == NodeKind::NumberLiteral {
            return !own.is_pointer();
        }
        let found = self.named(&text, span.start).filter(|_| tree.kind(argument) == NodeKind::Identifier);
        let Some((_, variable)) = found.filter(|_| self.expansion(&text, span.start).is_none()) else { return false };
        let given = match own.is_pointer() {
            true => variable.ty.dereferenced(),
            false => match &variable.ty {
                DeclaredType::Reference { to } => (**to).clone(),
                ty => ty.clone(),
            },
        };
        let own = if own.is_pointer() { own.dereferenced() } else { own.clone() };
        let is_parameter = |ty: &DeclaredType| matches!(ty, DeclaredType::TypeParameter { .. });
        let is_plain = match &own {
            DeclaredType::Reference { to } => is_parameter(to),
            ty => is_parameter(ty),
        };
        is_plain && self.is_given(&given, span.start, open)
    }
}
