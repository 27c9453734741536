//! Declarations that others may hide which the scopes of a text do not show: those of C++ that come from elsewhere, and those that
//! could not be parsed.

use crate::syntax::{Field, NodeKind};
use std::collections::BTreeMap;

use super::entries::{Entry, EntryKind};
use super::{Scope, Symbols, Unit};
use crate::source::{Language, SourceFile, Span, words};

/// The names of `using` declarations by their last parts: the header, the whole name, and where it stands.
pub(super) type Brought = BTreeMap<String, Vec<(Option<usize>, String, usize)>>;

impl Symbols<'_> {
    /// May a name at a byte of the file mean something else than its declaration at file scope: what a `using` declaration brings
    /// there, or a member of a base class?
    pub(super) fn is_hidden(&self, name: &str, at: usize, found: &[&Entry]) -> bool {
        let tree = self.own.tree.as_ref();
        let from = self.start_of_inner_scopes(at, found);
        let is_included = |include: &usize| from <= *include && *include < at;
        let is_parameter_perhaps = self
            .own
            .table
            .loose_body_around(at)
            .is_some_and(|body| !found.iter().any(|entry| body.contains(entry.name_span)));
        if is_parameter_perhaps
            || self.own.table.inner_includes.iter().any(is_included)
            || self.is_lost(name, from, at)
            || self.may_be_declared_by_macro(name, from, at)
        {
            return true;
        }
        if tree.language() != Language::Cpp || found.is_empty() {
            return false;
        }
        // A block may have a `using` of its own. What is not visible by itself was found because there is one.
        let is_visible = found.iter().any(|entry| entry.is_visible(at));
        if is_visible && (self.is_brought_from_elsewhere(name, found) || self.is_brought_by_enum(name)) {
            return true;
        }
        found.iter().all(|entry| entry.scope == Scope::File)
            && (self.is_member_somewhere(name) && self.is_in_derived_class(at)
                || self.is_of_another_namespace(name, at, found))
    }

    /// May the name be that of a namespace in which it was not found: one that is opened again around the byte, by this or another
    /// form of its name, an inline one, or one of a `using` directive?
    fn is_of_another_namespace(&self, name: &str, at: usize, found: &[&Entry]) -> bool {
        let is_other = |(header, entry): &(Option<usize>, &Entry)| {
            let is_found = header.is_none() && found.iter().any(|one| one.name_span == entry.name_span);
            let unit = self.unit(*header);
            !is_found && unit.is_some_and(|unit| unit.tree.kind(entry.scope_node) == NodeKind::NamespaceDefinition)
        };
        self.entries_named(name).iter().any(is_other) && (self.opens_namespaces() || self.is_in_namespace(at))
    }

    fn is_in_namespace(&self, at: usize) -> bool {
        let tree = self.own.tree.as_ref();
        let mut around = tree.ancestors(tree.covering(Span::new(at, at)));
        around.any(|node| tree.kind(node) == NodeKind::NamespaceDefinition) || self.own.table.class_around(at).is_some()
    }

    /// Are there namespaces whose names are visible outside of them: inline ones, or `using` directives but for the standard
    /// library's?
    fn opens_namespaces(&self) -> bool {
        let opens = |file: &SourceFile| {
            memchr::memmem::find_iter(&file.text, "namespace").any(|at| {
                let head = file.text.get(..at).unwrap_or_default().trim_ascii_end();
                let rest = file.text.get(at + "namespace".len()..).unwrap_or_default();
                let line = String::from_utf8_lossy(rest.split(|byte| *byte == b';').next().unwrap_or_default());
                (head.ends_with(b"inline") || head.ends_with(b"using")) && words(&line).next() != Some("std")
            })
        };
        *self.opens_namespaces.get_or_init(|| self.files().any(opens))
    }

    /// Is it a constant of an enumeration with a scope of its own, and does a `using enum` bring those of one?
    fn is_brought_by_enum(&self, name: &str) -> bool {
        let is_scoped =
            |(_, entry): &(Option<usize>, &Entry)| entry.kind == EntryKind::Enumerator && entry.scope == Scope::Member;
        let uses = |file: &SourceFile| {
            memchr::memmem::find_iter(&file.text, "using").any(|at| {
                let rest = file.text.get(at + "using".len()..).unwrap_or_default();
                rest.trim_ascii_start().starts_with(b"enum")
            })
        };
        *self.uses_enums.get_or_init(|| self.files().any(uses)) && self.entries_named(name).iter().any(is_scoped)
    }

    /// The file and its headers.
    fn files(&self) -> impl Iterator<Item = &SourceFile> {
        std::iter::once(self.own.file).chain(self.headers.iter().map(|(header, _)| *header))
    }

    /// From where on declarations hide those that were found: behind the last of them, in the function around a byte.
    fn start_of_inner_scopes(&self, at: usize, found: &[&Entry]) -> usize {
        let tops = &self.own.table.tops;
        let top = tops.partition_point(|start| *start <= at).checked_sub(1).map_or(0, |index| tops[index]);
        let declared = found.iter().map(|entry| entry.name_span.end).filter(|end| *end <= at).max();
        top.max(declared.unwrap_or(0))
    }

    /// May a declaration that could not be parsed, between two bytes of the file, declare the name anew: `t` of
    /// `double s ALIGNED = 2, t = 4;`?
    fn is_lost(&self, name: &str, from: usize, at: usize) -> bool {
        let (tree, text) = (self.own.tree.as_ref(), self.own.file.text.as_slice());
        let problems = tree.problems();
        if problems.is_empty() {
            return false;
        }
        let first = problems.partition_point(|problem| tree.span(*problem).end <= from);
        let before = problems.iter().skip(first).take_while(|problem| {
            let span = tree.span(**problem);
            span.start < at || span.start == at && !span.is_empty()
        });
        before.into_iter().any(|problem| {
            let span = tree.span(*problem);
            // A call of a macro may do without its semicolon.
            let is_call =
                span.is_empty() && tree.parent(*problem).map(|it| tree.kind(it)) == Some(NodeKind::ExpressionStatement);
            let head = text.get(..span.start).unwrap_or_default();
            let start = head.iter().rposition(|byte| matches!(byte, b';' | b'{' | b'}')).map_or(0, |at| at + 1);
            let rest = text.get(span.end..).unwrap_or_default();
            let is_whole = text.get(..span.end).is_some_and(|text| text.ends_with(b";"));
            let behind = if is_whole { Some(0) } else { rest.iter().position(|byte| *byte == b';') };
            let end = behind.map_or(text.len(), |length| span.end + length);
            let statement = String::from_utf8_lossy(text.get(start.max(from)..end).unwrap_or_default());
            !is_call && words(&statement).any(|word| word == name)
        })
    }

    /// Does a `using a::b;` bring a name that is not what was found in the file, or may not be? Where all bring just that, the name means
    /// the same with them and without.
    fn is_brought_from_elsewhere(&self, name: &str, found: &[&Entry]) -> bool {
        let all = self.brought.get_or_init(|| self.names_brought()).get(name).map(Vec::as_slice).unwrap_or_default();
        all.iter().any(|(header, path, at)| {
            let meant = self.find_qualified(*header, path, *at);
            let is_found = |entry: &&Entry| found.iter().any(|one| one.name_span == entry.name_span);
            !meant.is_some_and(|meant| meant.header.is_none() && meant.entries.iter().all(is_found))
        })
    }

    /// The names in `using a::b;` by their last parts: the header, the whole name, and where it stands.
    fn names_brought(&self) -> Brought {
        let mut found = Brought::new();
        let headers = self.headers.iter().enumerate().map(|(index, (header, _))| (Some(index), *header));
        for (header, file) in std::iter::once((None, self.own.file)).chain(headers) {
            for at in memchr::memmem::find_iter(&file.text, "using") {
                let rest = file.text.get(at + "using".len()..).unwrap_or_default();
                let text =
                    String::from_utf8_lossy(rest.split(|byte| *byte == b';').next().unwrap_or_default()).into_owned();
                let last = words(&text).last().filter(|_| text.contains("::") && !text.contains('='));
                if let Some(last) = last {
                    let path = text.split_whitespace().collect();
                    found.entry(last.to_owned()).or_default().push((header, path, at));
                }
            }
        }
        found
    }

    fn is_member_somewhere(&self, name: &str) -> bool {
        let is_member = |unit: &Unit<'_>| {
            let indices = unit.table.by_name.get(name).map(Vec::as_slice).unwrap_or_default();
            let mut entries = indices.iter().filter_map(|index| unit.table.entries.get(*index));
            entries.any(|entry| unit.tree.kind(entry.scope_node) == NodeKind::FieldDeclarationList)
        };
        is_member(&self.own) || self.header_units().any(|(_, unit)| is_member(unit))
    }

    /// Is a place in a class with bases, or in a member function that is defined outside of its class?
    fn is_in_derived_class(&self, at: usize) -> bool {
        let tree = self.own.tree.as_ref();
        let node = tree.covering(Span::new(at, at));
        let is_derived = |node| match tree.kind(node) {
            NodeKind::ClassSpecifier | NodeKind::StructSpecifier => {
                tree.named_children(node).any(|child| tree.kind(child) == NodeKind::BaseClassClause)
            }
            NodeKind::FunctionDefinition => tree.child(node, Field::Declarator).is_some_and(|declarator| {
                tree.descendants(declarator).any(|inner| tree.kind(inner) == NodeKind::QualifiedIdentifier)
            }),
            _ => false,
        };
        std::iter::once(node).chain(tree.ancestors(node)).any(is_derived)
    }
}
