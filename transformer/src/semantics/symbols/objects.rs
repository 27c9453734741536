//! Declarations that the grammar takes for something else than they may be: in C++ objects that are made from arguments read like
//! functions, and macros stand where storage classes do.

use super::entries::{Entry, EntryKind};
use super::types::{standard_class, standard_type};
use super::visible::Found;
use super::{DeclaredType, NameKind, Scope, Symbols, Unit};
use crate::source::{Language, Span};
use crate::syntax::{Field, NodeId, NodeKind};

impl Symbols<'_> {
    /// What sort of thing declarations declare, or `None` if it cannot be told: `T a(x);`.
    pub(super) fn kind_of(&self, found: &Found<'_>) -> Option<NameKind> {
        let chosen = found.chosen();
        let first = self.unit(found.header).and_then(|unit| Some((unit, unit.first_of_ambiguous(chosen)?)));
        let Some((unit, first)) = first else { return Some(chosen.name_kind()) };
        let span = unit.tree.span(first);
        let is_type = self.is_type(found.header, &unit.file.show(span), span.start)?;
        Some(if is_type { NameKind::Function } else { NameKind::Variable })
    }

    /// Is what reads like a function's declaration one of an object that is made from values: `std::vector<double> v(n);`?
    pub(super) fn is_made_object(&self, header: Option<usize>, unit: &Unit<'_>, entry: &Entry) -> bool {
        let declarator = entry.declarator.filter(|it| unit.tree.kind(*it) == NodeKind::FunctionDeclarator);
        let first = declarator.and_then(|_| unit.first_of_ambiguous(entry)).map(|first| unit.tree.span(first));
        first.is_some_and(|span| self.is_type(header, &unit.file.show(span), span.start) == Some(false))
    }

    /// Does a name at a byte of a header or of the file mean a type? `None` where that is not known.
    fn is_type(&self, header: Option<usize>, name: &str, at: usize) -> Option<bool> {
        if let Some(found) = self.find(header, name, at) {
            let are_types = |entry: &&Entry| match entry.kind {
                EntryKind::Alias | EntryKind::Tag => true,
                // One that is no type is declared as a parameter is.
                EntryKind::TemplateParameter => entry.declarator.is_none(),
                _ => false,
            };
            let types = found.entries.iter().copied().filter(are_types).count();
            return (types == 0 || types == found.entries.len()).then_some(types > 0);
        }
        let is_standard =
            |name: &str| standard_type(name).is_some() || standard_class(name, name) != DeclaredType::Unknown;
        let name = name.strip_prefix("std::").unwrap_or(name);
        let is_macro = !self.macros_named(name, at).is_empty();
        let is_known = if is_macro { self.type_written(header, name, at).is_known() } else { is_standard(name) };
        is_known.then_some(true)
    }

    /// Could declarations be read up to the name that they declare, and definitions of functions up to the body?
    pub(super) fn is_head_read(&self, found: &Found<'_>) -> bool {
        let Some(unit) = self.unit(found.header) else { return false };
        found.entries.iter().all(|entry| {
            let start = unit.tree.span(entry.declaration).start;
            let body = entry.definition.and_then(|function| unit.tree.child(function, Field::Body));
            let end = body.map_or(entry.name_span.end, |body| unit.tree.span(body).start);
            unit.tree.problem_in(Span::new(start, end.max(start))).is_none()
        })
    }

    /// May a macro in a declaration stand for a storage class?
    pub(super) fn may_hide_storage(&self, found: &Found<'_>) -> bool {
        let Some(unit) = self.unit(found.header) else { return true };
        found.entries.iter().filter(|entry| entry.kind == EntryKind::Variable).any(|entry| {
            let Some(ty) = unit.tree.child(entry.declaration, Field::Type) else { return false };
            let span = unit.tree.span(ty);
            let is_word = unit.tree.kind(ty) == NodeKind::TypeIdentifier;
            is_word && !self.macros_named(&unit.file.show(span), span.start).is_empty()
        })
    }
}

impl Unit<'_> {
    /// The first of the words that are the types of a function's parameters, or what an object is made from, or `None` if what is
    /// declared is one of them for certain.
    fn first_of_ambiguous(&self, entry: &Entry) -> Option<NodeId> {
        let tree = &self.tree;
        let may_be_object = entry.kind == EntryKind::Function
            && entry.definition.is_none()
            && entry.class.is_none()
            && !entry.storage.is_extern
            && entry.scope != Scope::Member
            && tree.language() == Language::Cpp;
        let declarator = entry.declarator.filter(|_| may_be_object)?;
        let ty = tree.child(entry.declaration, Field::Type)?;
        let is_function = tree.kind(declarator) == NodeKind::FunctionDeclarator;
        if is_function && self.file.bytes(tree.span(ty)) == b"void" {
            return None;
        }
        let mut inside = tree.descendants(declarator);
        let function = inside.find(|node| tree.kind(*node) == NodeKind::FunctionDeclarator)?;
        let list = tree.child(function, Field::Parameters)?;
        // `const`, `noexcept` and the like stand behind functions alone.
        if tree.named_children(function).count() != 2 {
            return None;
        }
        let mut parameters = tree.named_children(list).filter(|node| tree.kind(*node) != NodeKind::Comment);
        let types: Option<Vec<NodeId>> = parameters.by_ref().map(|parameter| self.ambiguous_type(parameter)).collect();
        types?.first().copied()
    }

    /// The type of a parameter that may be an expression, too: `x`, `x * y`, `f(x)`.
    fn ambiguous_type(&self, parameter: NodeId) -> Option<NodeId> {
        let tree = &self.tree;
        let ty = tree.child(parameter, Field::Type)?;
        let is_name = matches!(tree.kind(ty), NodeKind::TypeIdentifier | NodeKind::QualifiedIdentifier);
        let declarator = tree.child(parameter, Field::Declarator);
        let is_plain = tree.named_children(parameter).count() == 1 + usize::from(declarator.is_some());
        // Two words in a row are a type and a name.
        let is_named = declarator.is_some_and(|it| tree.kind(it) == NodeKind::Identifier);
        let may_be_value = tree.kind(parameter) == NodeKind::ParameterDeclaration && is_name && is_plain && !is_named;
        may_be_value.then_some(ty)
    }
}
