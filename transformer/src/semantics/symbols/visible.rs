//! Which declarations of a name are visible at a place of their file.

use super::entries::{Entry, EntryKind, NOTHING};
use super::{Scope, Unit};
use crate::source::Language;
use crate::syntax::NodeKind;

/// In which name space a name is looked up (C17, section 6.2.3); C++ has one for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameSpace {
    /// Variables, functions, typedef names, enumerators.
    Ordinary,
    /// What stands behind `struct`, `union` and `enum`.
    Tags,
}

/// The declarations of one name in one scope.
pub(super) struct Found<'s> {
    pub header: Option<usize>,
    pub entries: Vec<&'s Entry>,
}

impl<'s> Found<'s> {
    /// The definition of a function, else the last declaration.
    pub fn chosen(&self) -> &'s Entry {
        let defined = self.entries.iter().find(|entry| entry.definition.is_some());
        defined.or(self.entries.last()).copied().unwrap_or(&NOTHING)
    }
}

impl Unit<'_> {
    /// The declarations of a name that are visible at a byte, those of the innermost scope.
    ///
    /// A name of a namespace that is found nowhere else must have been made visible by a `using`: then the only
    /// namespace that has it counts.
    pub(super) fn visible(&self, space: NameSpace, name: &str, at: usize) -> Option<Vec<&Entry>> {
        let is_c = self.tree.language() == Language::C;
        let is_of_space = |entry: &&Entry| !is_c || (entry.kind == EntryKind::Tag) == (space == NameSpace::Tags);
        let candidates = || Some(self.table.candidates(name, at)?.filter(is_of_space));
        // A constructor is not found by its name, which means the class.
        let is_constructor = |entry: &Entry| entry.kind == EntryKind::Function && entry.class.as_deref() == Some(name);
        let mut seen: Vec<&Entry> =
            candidates()?.filter(|entry| entry.is_visible(at) && !is_constructor(entry)).collect();
        if seen.is_empty() {
            seen = self.members_seen_from(candidates()?.collect(), at);
        }
        if seen.is_empty() {
            seen = candidates()?.filter(|entry| entry.scope == Scope::File && entry.visible.start <= at).collect();
            if seen.iter().any(|entry| Some(entry.scope_node) != seen.first().map(|first| first.scope_node)) {
                return None;
            }
        }
        // `void N::f()`: what `N` declares comes before what stands around it.
        let is_of_file = |entry: &&Entry| !matches!(entry.scope, Scope::Local | Scope::Parameter);
        if self.table.class_around(at).is_some() && seen.iter().all(is_of_file) {
            let is_other = |entry: &&Entry| {
                let is_of_namespace = self.tree.kind(entry.scope_node) == NodeKind::NamespaceDefinition;
                let is_seen = seen.iter().any(|one| std::ptr::eq(*one, *entry));
                entry.scope == Scope::File && is_of_namespace && !is_seen
            };
            if self.table.candidates(name, at)?.any(|entry| is_other(&entry)) {
                return None;
            }
        }
        // Scopes nest: of those that hold a place the innermost is the one that starts last.
        let innermost = seen.iter().map(|entry| (entry.scope_start, entry.scope_node)).max()?.1;
        seen.retain(|entry| entry.scope_node == innermost);
        // In C++ a variable hides a class of the same name.
        if seen.iter().any(|entry| entry.kind != EntryKind::Tag) {
            seen.retain(|entry| entry.kind != EntryKind::Tag);
        }
        Some(seen)
    }

    /// Members of the class whose function `void A::f() ..` is defined around a place.
    fn members_seen_from<'e>(&self, candidates: Vec<&'e Entry>, at: usize) -> Vec<&'e Entry> {
        let is_member = candidates.iter().any(|entry| entry.scope == Scope::Member);
        let Some(class) = self.table.class_around(at).filter(|_| is_member) else { return Vec::new() };
        candidates.into_iter().filter(|entry| entry.class.as_deref() == Some(class)).collect()
    }
}
