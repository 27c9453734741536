//! Which functions a call means for certain.

use super::entries::{Entry, EntryKind};
use super::resolve::agreed;
use super::{DeclaredType, Scope, Symbols, Unit};
use crate::semantics::calls::{is_of_c, is_pure, is_reserved_in_c};
use crate::source::{Language, Span, words};
use crate::syntax::{Field, NodeId, NodeKind};

impl Symbols<'_> {
    /// Does a call of `name`, at a byte of a header or of the file, mean the functions that are defined by it in sight and nothing else: no
    /// macro, variable, type or member of that name, no function that the preprocessor may leave out?
    #[must_use]
    pub fn calls_function_in(&self, header: Option<usize>, name: &str, at: usize) -> bool {
        let all = self.entries_named(name);
        let global = |(unit, entry): &(Option<usize>, &Entry)| {
            let is_root = self.unit(*unit).is_some_and(|unit| entry.scope_node == unit.tree.root());
            entry.kind == EntryKind::Function && entry.class.is_none() && entry.scope == Scope::File && is_root
        };
        let is_elsewhere =
            |(unit, entry): &(Option<usize>, &Entry)| entry.is_local() && !(*unit == header && entry.is_visible(at));
        let functions = || all.iter().filter(|(_, entry)| entry.kind == EntryKind::Function);
        let definition = |(unit, entry): &(Option<usize>, &Entry)| self.unit(*unit).zip(entry.definition);
        let is_chosen =
            |one: &(Option<usize>, &Entry)| definition(one).is_some_and(|(unit, node)| is_conditional(unit, node));
        let is_inline = |one: &(Option<usize>, &Entry)| {
            definition(one).is_some_and(|(unit, node)| is_inline_definition(unit, node))
        };
        all.iter().all(|one| global(one) || is_elsewhere(one))
            && !all.iter().any(is_inline)
            && !self.replaces_functions()
            && self.macros_named(name, usize::MAX).is_empty()
            && (!functions().any(is_chosen) || functions().count() == 1 && !is_pure(name))
            && !self.is_named_unread(name)
            && !self.may_mean_another(header, name, at)
    }

    /// May a name at a byte of a header or of the file mean another function than those of the file: one that a macro declares, there
    /// or where the preprocessor leaves out what is defined?
    fn may_mean_another(&self, header: Option<usize>, name: &str, at: usize) -> bool {
        let Some(found) = self.find(header, name, at) else { return true };
        !found.entries.iter().any(|entry| entry.kind == EntryKind::Function)
    }

    /// Does a call of `name` at a byte of a header or of the file mean the function of the standard libraries, and nothing that the program
    /// declares?
    #[must_use]
    pub fn calls_library_in(&self, header: Option<usize>, name: &str, at: usize) -> bool {
        let last = name.rsplit("::").next().unwrap_or(name);
        if !self.macros_named(last, usize::MAX).is_empty() {
            return false;
        }
        if name.starts_with("std::") || name.starts_with("::") {
            return true;
        }
        let is_cpp = self.own.tree.language() == Language::Cpp;
        self.entries_named(name).iter().all(|(unit, entry)| match entry.kind {
            // C has one function of a name, whoever declares it; those that its standard leaves free may be the program's own.
            EntryKind::Function => !is_cpp && entry.definition.is_none() && is_reserved_in_c(name),
            _ => {
                entry.is_local() && !(*unit == header && entry.is_visible(at))
                    || !is_cpp && entry.scope == Scope::Member
            }
        })
    }

    /// The type that all functions have which a call may mean: in C++ those that overload the one of type `own`, in C another declaration
    /// of one that says nothing of its parameters. The standard headers may declare it, too.
    pub(super) fn type_of_all_functions(&self, name: &str, one: &Entry, own: DeclaredType) -> DeclaredType {
        let is_cpp = self.own.tree.language() == Language::Cpp;
        let is_open = matches!(&own, DeclaredType::Function { parameters, is_variadic: true } if parameters.is_empty());
        if !is_cpp && !is_open {
            return own;
        }
        if is_pure(name) || is_of_c(name) {
            return DeclaredType::Unknown;
        }
        let all = self.entries_named(name.rsplit("::").next().unwrap_or(name));
        let is_other = |entry: &Entry| entry.kind == EntryKind::Function && entry.class == one.class;
        let others = all.into_iter().filter(|(_, entry)| is_other(entry));
        let others = others.map(|(header, entry)| self.type_of(header, entry));
        agreed(std::iter::once(own).chain(others).collect())
    }

    /// In C++: may an unqualified call mean a member function, or a function of a namespace that is declared and not defined?
    pub(crate) fn may_call_other(&self, name: &str) -> bool {
        self.own.tree.language() == Language::Cpp
            && self
                .entries_named(name)
                .iter()
                .any(|(_, entry)| entry.kind == EntryKind::Function && entry.class.is_some())
    }

    /// May the preprocessor, the linker or a `declare variant` put another function in the place of the one that is defined in sight?
    pub(crate) fn may_be_replaced(&self, name: &str) -> bool {
        let all = self.entries_named(name.rsplit("::").next().unwrap_or(name));
        let is_chosen = |(unit, entry): &(Option<usize>, &Entry)| {
            let definition = self.unit(*unit).zip(entry.definition);
            definition.is_some_and(|(unit, node)| is_conditional(unit, node) || is_inline_definition(unit, node))
        };
        let mut functions = all.iter().filter(|(_, entry)| entry.kind == EntryKind::Function);
        functions.any(is_chosen) || self.replaces_functions() || self.is_named_unread(name)
    }

    /// Does a branch of `#if` name it that the tree leaves out?
    pub(super) fn is_named_unread(&self, name: &str) -> bool {
        self.unread_branches(name, Span::new(0, self.own.file.text.len())).next().is_some()
    }

    /// Is something that lasts as long as the program declared by this name in one of these parts of the file? Also where it is not
    /// certain that the name means it.
    #[must_use]
    pub fn is_declared_within(&self, name: &str, parts: &[Span]) -> bool {
        let last = name.rsplit("::").next().unwrap_or(name);
        let indices = self.own.table.by_name.get(last).map(Vec::as_slice).unwrap_or_default();
        let mut entries = indices.iter().filter_map(|index| self.own.table.entries.get(*index));
        let lasts = |entry: &Entry| entry.scope == Scope::File || entry.storage.is_static || entry.storage.is_extern;
        entries.any(|entry| lasts(entry) && parts.iter().any(|part| part.contains(entry.name_span)))
    }

    /// Does a type's name, as it stands, mean at a byte of the file what is found for it? A name of a namespace that nothing
    /// around the byte declares may only be known where it is qualified.
    #[must_use]
    pub fn is_known_unqualified(&self, name: &str, at: usize) -> bool {
        let is_around = |header: Option<usize>, entry: &Entry| match header {
            None => entry.is_visible(at),
            Some(_) => self.unit(header).is_some_and(|unit| entry.scope_node == unit.tree.root()),
        };
        let found = self.find(None, name, at);
        found.is_none_or(|found| found.entries.iter().all(|entry| is_around(found.header, entry)))
    }

    /// Is something declared by this name outside of functions and classes? A macro of that name may be absent, then.
    #[must_use]
    pub fn declares_at_file_scope(&self, name: &str) -> bool {
        let is_wide = |entry: &Entry| entry.scope == Scope::File || entry.kind == EntryKind::Enumerator;
        self.entries_named(name).iter().any(|(_, entry)| is_wide(entry))
    }

    /// May the program put other functions in the place of those that it calls: variants for target regions, weak functions, other
    /// names for the linker?
    fn replaces_functions(&self) -> bool {
        let replaces = |line: &str| {
            let is_said = ["__attribute__", "[[", "#", "_Pragma", "asm"].iter().any(|sign| line.contains(sign));
            let is_one = |word: &str| {
                let word = word.trim_matches('_');
                matches!(word, "weak" | "weakref" | "variant" | "alias" | "ifunc" | "redefine_extname" | "asm")
            };
            is_said && words(line).any(is_one)
        };
        *self.replaces_functions.get_or_init(|| {
            let files = std::iter::once(self.own.file).chain(self.headers.iter().map(|(header, _)| *header));
            files.into_iter().any(|file| String::from_utf8_lossy(&file.text).lines().any(replaces))
        })
    }

    /// All declarations of a name, in the file and its headers.
    pub(super) fn entries_named(&self, name: &str) -> Vec<(Option<usize>, &Entry)> {
        let own = std::iter::once((None, &self.own));
        let units = own.chain(self.header_units().map(|(index, unit)| (Some(index), unit)));
        let entries = units.flat_map(|(index, unit)| {
            let indices = unit.table.by_name.get(name).map(Vec::as_slice).unwrap_or_default();
            indices.iter().filter_map(move |at| Some((index, unit.table.entries.get(*at)?)))
        });
        entries.collect()
    }
}

/// Is it an inline definition of C that provides no external one? Which of the two is called is unspecified then (C17, section 6.7.4).
fn is_inline_definition(unit: &Unit<'_>, definition: NodeId) -> bool {
    let text = unit.file.show(unit.tree.span(definition));
    let head = text.split('{').next().unwrap_or_default();
    let has = |wanted: &str| words(head).any(|word| word.trim_matches('_') == wanted);
    unit.tree.language() == Language::C && has("inline") && !has("static") && (!has("extern") || has("gnu_inline"))
}

/// Does a definition stand in a conditional of the preprocessor that is not the guard of its whole file?
fn is_conditional(unit: &Unit<'_>, definition: NodeId) -> bool {
    let tree = unit.tree.as_ref();
    let mut around = tree.ancestors(definition).filter(|node| tree.kind(*node).is_preprocessor());
    around.any(|node| !unit.is_guard(node))
}

impl Unit<'_> {
    /// `#ifndef NAME`, `#define NAME` first of all in a file.
    pub(super) fn is_guard(&self, node: NodeId) -> bool {
        let tree = self.tree.as_ref();
        let text = |node: NodeId| self.file.show(tree.span(node)).into_owned();
        let is_first =
            tree.named_children(tree.root()).find(|node| tree.kind(*node) != NodeKind::Comment) == Some(node);
        let name = tree.child(node, Field::Name).map(text);
        let mut inside = tree.named_children(node).filter(|inner| tree.kind(*inner) == NodeKind::PreprocDef);
        let defined = inside.next().and_then(|define| tree.child(define, Field::Name)).map(text);
        is_first && text(node).starts_with("#ifndef") && name.is_some() && name == defined
    }
}
