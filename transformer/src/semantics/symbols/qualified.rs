//! Qualified names: `grid::width`, `::count`, `Shape::Round`.
//!
//! A qualified name is looked for in the namespaces and classes around its place, from the inside out, by the whole path to
//! it. Aliases of namespaces, inline namespaces and what a `using` brings into another namespace are not followed: such a name
//! is not found.

use super::entries::{Entry, EntryKind};
use super::{Scope, Unit};
use crate::syntax::{Field, HostTree, NodeId, NodeKind};

/// A qualified name taken apart.
pub(super) struct Path<'n> {
    /// Does it start from the global namespace?
    absolute: bool,
    scopes: Vec<&'n str>,
    last: &'n str,
}

impl<'n> Path<'n> {
    /// Takes a name apart; `None` where it is not qualified, or a template's arguments stand in it.
    pub(super) fn of(name: &'n str) -> Option<Self> {
        let (scopes, last) = name.rsplit_once("::")?;
        let absolute = scopes.is_empty() || scopes.starts_with("::");
        let scopes: Vec<&str> = scopes.trim_start_matches("::").split("::").filter(|scope| !scope.is_empty()).collect();
        (!name.contains('<')).then_some(Self { absolute, scopes, last })
    }
}

impl Unit<'_> {
    /// The named namespaces and classes around a byte, outermost first.
    pub(super) fn scopes_around(&self, at: usize) -> Vec<String> {
        let node = self.tree.covering(crate::source::Span::new(at, at));
        let mut scopes = self.scopes_of(std::iter::once(node).chain(self.tree.ancestors(node)));
        scopes.extend(self.table.class_around(at).map(str::to_owned));
        scopes
    }

    fn scopes_of(&self, inside_out: impl Iterator<Item = NodeId>) -> Vec<String> {
        let mut scopes = Vec::new();
        for node in inside_out.filter(|node| is_named_scope(&self.tree, *node)) {
            let Some(name) = self.tree.child(node, Field::Name) else { continue };
            let name = self.file.show(self.tree.span(name)).into_owned();
            scopes.extend(name.rsplit("::").map(|part| part.trim().to_owned()));
        }
        scopes.reverse();
        scopes
    }

    /// The path to a declaration; `None` where it stands in a function.
    fn path_to(&self, entry: &Entry) -> Option<Vec<String>> {
        let mut above = self.tree.ancestors(entry.declaration);
        if matches!(entry.scope, Scope::Local | Scope::Parameter | Scope::Unknown)
            || above.any(|node| self.tree.kind(node) == NodeKind::CompoundStatement)
        {
            return None;
        }
        let mut path = self.scopes_of(self.tree.ancestors(entry.declaration));
        if entry.scope != Scope::Member {
            path.extend(entry.class.clone());
        }
        Some(path)
    }

    /// The declarations that a qualified name means at a byte in the scopes `around`.
    pub(super) fn qualified(&self, path: &Path<'_>, around: &[String], at: usize) -> Option<Vec<&Entry>> {
        let indices = self.table.by_name.get(path.last)?;
        let entries: Vec<&Entry> = indices.iter().filter_map(|index| self.table.entries.get(*index)).collect();
        let depths = if path.absolute { 0..=0 } else { 0..=around.len() };
        depths.rev().find_map(|depth| {
            let wanted: Vec<&str> =
                around.iter().take(depth).map(String::as_str).chain(path.scopes.iter().copied()).collect();
            let meant = |entry: &&&Entry| {
                let declared = entry.scope == Scope::Member || entry.name_span.start <= at;
                declared && self.path_to(entry).is_some_and(|found| found == wanted)
            };
            let mut found: Vec<&Entry> = entries.iter().filter(meant).copied().collect();
            if found.iter().any(|entry| entry.kind != EntryKind::Tag) {
                found.retain(|entry| entry.kind != EntryKind::Tag);
            }
            (!found.is_empty()).then_some(found)
        })
    }

    /// The functions that a name may mean by its last part and, where it is qualified, the end of its path: free ones, and
    /// static members by their class.
    pub(super) fn functions(&self, name: &str) -> Vec<&Entry> {
        let path = Path::of(name);
        let last = path.as_ref().map_or(name, |path| path.last);
        let indices = self.table.by_name.get(last).map(Vec::as_slice).unwrap_or_default();
        let entries = indices.iter().filter_map(|index| self.table.entries.get(*index));
        let functions = entries.filter(|entry| entry.kind == EntryKind::Function);
        match path {
            None => functions.filter(|entry| entry.class.is_none()).collect(),
            Some(path) => functions
                .filter(|entry| {
                    let fits = |found: &[String]| {
                        if path.absolute { found == path.scopes } else { ends_with(found, &path.scopes) }
                    };
                    let callable = entry.class.is_none() || entry.storage.is_static;
                    callable && self.path_to(entry).is_some_and(|found| fits(&found))
                })
                .collect(),
        }
    }
}

fn ends_with(path: &[String], scopes: &[&str]) -> bool {
    let start = path.len().checked_sub(scopes.len());
    start.is_some_and(|start| path[start..].iter().map(String::as_str).eq(scopes.iter().copied()))
}

fn is_named_scope(tree: &HostTree, node: NodeId) -> bool {
    match tree.kind(node) {
        NodeKind::NamespaceDefinition
        | NodeKind::StructSpecifier
        | NodeKind::ClassSpecifier
        | NodeKind::UnionSpecifier => true,
        NodeKind::EnumSpecifier => {
            tree.children(node).any(|child| matches!(tree.kind(child), NodeKind::Class | NodeKind::Struct))
        }
        _ => false,
    }
}
