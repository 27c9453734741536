//! Declarations at file scope that C++ may hide behind ones that the scopes of a text do not show.

use std::collections::BTreeSet;

use super::entries::Entry;
use super::{Symbols, Unit};
use crate::source::{Language, words};

impl Symbols<'_> {
    /// May a name at a byte of the file mean something else than its declaration at file scope: what a `using` declaration brings
    /// there, or a member of a base class?
    pub(super) fn is_hidden(&self, name: &str, at: usize, found: &[&Entry]) -> bool {
        let tree = self.own.tree.as_ref();
        let is_of_file = |entry: &&Entry| tree.kind(entry.scope_node) == "translation_unit";
        if tree.language() != Language::Cpp || !found.iter().all(is_of_file) {
            return false;
        }
        self.brought.get_or_init(|| self.names_brought()).contains(name)
            || self.is_member_somewhere(name) && self.is_in_derived_class(at)
    }

    /// The last parts of the names in `using a::b;`.
    fn names_brought(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for file in std::iter::once(self.own.file).chain(self.headers.iter().map(|(header, _)| *header)) {
            for at in memchr::memmem::find_iter(&file.text, "using") {
                let rest = file.text.get(at + "using".len()..).unwrap_or_default();
                let text =
                    String::from_utf8_lossy(rest.split(|byte| *byte == b';').next().unwrap_or_default()).into_owned();
                if text.contains("::") && !text.contains('=') {
                    found.extend(words(&text).last().map(str::to_owned));
                }
            }
        }
        found
    }

    fn is_member_somewhere(&self, name: &str) -> bool {
        let is_member = |unit: &Unit<'_>| {
            let indices = unit.table.by_name.get(name).map(Vec::as_slice).unwrap_or_default();
            let mut entries = indices.iter().filter_map(|index| unit.table.entries.get(*index));
            entries.any(|entry| unit.tree.kind(entry.scope_node) == "field_declaration_list")
        };
        is_member(&self.own) || self.header_units().any(|(_, unit)| is_member(unit))
    }

    /// Is a place in a class with bases, or in a member function that is defined outside of its class?
    fn is_in_derived_class(&self, at: usize) -> bool {
        let tree = self.own.tree.as_ref();
        let node = tree.covering(crate::source::Span::new(at, at));
        let is_derived = |node| match tree.kind(node) {
            "class_specifier" | "struct_specifier" => {
                tree.named_children(node).any(|child| tree.kind(child) == "base_class_clause")
            }
            "function_definition" => tree.child(node, "declarator").is_some_and(|declarator| {
                tree.descendants(declarator).any(|inner| tree.kind(inner) == "qualified_identifier")
            }),
            _ => false,
        };
        std::iter::once(node).chain(tree.ancestors(node)).any(is_derived)
    }
}
