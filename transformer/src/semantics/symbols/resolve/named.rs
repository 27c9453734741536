//! The types that specifiers and names stand for.

use super::{ANONYMOUS, Resolver, agreed, agreed_or_real};
use crate::semantics::symbols::entries::{Entry, EntryKind};
use crate::semantics::symbols::types::{standard_class, standard_type};
use crate::semantics::symbols::{DeclaredType, Found};
use crate::source::{Language, Span};
use crate::syntax::{Field, NodeId, NodeKind, Number};

impl Resolver<'_, '_> {
    /// The type that a type specifier names.
    pub(super) fn specifier(&self, node: NodeId, fuel: usize) -> DeclaredType {
        let tree = &self.unit.tree;
        match self.kind(node) {
            NodeKind::PrimitiveType | NodeKind::TypeIdentifier => {
                // That a name stands for a reference is seen nowhere else: where one is bound, the text shows a copy.
                let named = self.name(&self.text(node), tree.span(node).start, fuel);
                if matches!(named, DeclaredType::Reference { .. }) { DeclaredType::Unknown } else { named }
            }
            NodeKind::SizedTypeSpecifier => {
                let text = self.text(node);
                self.words(&text.split_whitespace().collect::<Vec<_>>(), tree.span(node).start)
            }
            NodeKind::StructSpecifier | NodeKind::UnionSpecifier | NodeKind::ClassSpecifier
                if !self.unit.is_modelled_record(node) =>
            {
                DeclaredType::Unknown
            }
            NodeKind::StructSpecifier | NodeKind::UnionSpecifier | NodeKind::ClassSpecifier => {
                let name = self.name_of_record(node).unwrap_or_else(|| self.place_of_type(node));
                let may_be_class = tree.language() == Language::Cpp;
                DeclaredType::Record { name, is_const: false, may_be_class }
            }
            NodeKind::TemplateType => self.template(node),
            NodeKind::EnumSpecifier => {
                // Which integer type an enumeration has is up to the compiler.
                let name = tree.child(node, Field::Name).map_or_else(|| "@".to_owned(), |name| self.text(name));
                if !self.unit.is_modelled_record(node) {
                    return DeclaredType::Unknown;
                }
                DeclaredType::enumeration(&name)
            }
            NodeKind::QualifiedIdentifier => self.qualified_name(node, fuel),
            NodeKind::PlaceholderTypeSpecifier | NodeKind::Auto => DeclaredType::Auto,
            _ => DeclaredType::Unknown,
        }
    }

    /// `std::size_t`, `ns::real`: standard names by their last word, others where the file has only one such type.
    fn qualified_name(&self, node: NodeId, fuel: usize) -> DeclaredType {
        let text = self.text(node);
        let tree = &self.unit.tree;
        let mut last = node;
        while self.kind(last) == NodeKind::QualifiedIdentifier {
            match tree.child(last, Field::Name) {
                Some(inner) => last = inner,
                None => break,
            }
        }
        match self.kind(last) {
            NodeKind::TemplateType if text.starts_with("std::") => {
                let name = tree.child(last, Field::Name).map(|name| self.text(name)).unwrap_or_default();
                standard_class(&name, &text)
            }
            NodeKind::TemplateType => self.template(last),
            _ if text.starts_with("std::") => {
                let name = self.text(last);
                let is_direct = text.split_whitespace().collect::<String>() == format!("std::{name}");
                let class = if is_direct { standard_class(&name, &text) } else { DeclaredType::Unknown };
                standard_type(&name).filter(|_| is_direct).unwrap_or(class)
            }
            _ => self.name(&self.text(last), tree.span(node).start, fuel),
        }
    }

    /// A type by its name: a declaration in sight, a macro for a type, or a standard name.
    fn name(&self, name: &str, at: usize, fuel: usize) -> DeclaredType {
        let Some(fuel) = fuel.checked_sub(1) else { return DeclaredType::Unknown };
        // A macro behind a declaration of its name hides it.
        let hides = |(node, span): &(NodeId, Span)| span.end <= at && self.unit.macro_of(*node).body != name;
        if self.unit.table.macros.get(name).is_some_and(|all| all.iter().any(hides)) {
            return self.macro_named(name, at, fuel);
        }
        if let Some(found) = self.symbols.find(self.header, name, at) {
            return self.declared(&found, fuel);
        }
        self.macro_named(name, at, fuel)
    }

    /// A macro for a type, or the standard's type of that name where there is none. Of several definitions any may hold.
    fn macro_named(&self, name: &str, at: usize, fuel: usize) -> DeclaredType {
        if self.symbols.is_redefined(name) {
            return DeclaredType::Unknown;
        }
        let types = self.symbols.macros_named(name, at).into_iter().map(|found| match found.parameters {
            None => self.replaced(&found.body, at, fuel),
            Some(_) => DeclaredType::Unknown,
        });
        let mut types: Vec<DeclaredType> = types.collect();
        if !types.is_empty() && self.symbols.may_macro_be_absent(name, at) {
            types.extend(self.without_macro(name, fuel));
        }
        if types.is_empty() {
            let standard = standard_type(name).filter(|_| !self.symbols.may_be_named_out_of_sight(name));
            return standard.unwrap_or(DeclaredType::Unknown);
        }
        agreed_or_real(types, name)
    }

    /// What a name stands for where no macro of that name is defined.
    fn without_macro(&self, name: &str, fuel: usize) -> Option<DeclaredType> {
        let is_type = |entry: &Entry| matches!(entry.kind, EntryKind::Alias | EntryKind::Tag);
        let declared = self.symbols.entries_named(name).into_iter().filter(|(_, entry)| is_type(entry));
        let declared: Vec<DeclaredType> =
            declared.map(|(header, entry)| self.declared(&Found { header, entries: vec![entry] }, fuel)).collect();
        if declared.is_empty() { standard_type(name) } else { Some(agreed(declared)) }
    }

    /// The type that declarations found for a name give it.
    fn declared(&self, found: &Found<'_>, fuel: usize) -> DeclaredType {
        let Some(fuel) = fuel.checked_sub(1) else { return DeclaredType::Unknown };
        let Some(unit) = self.symbols.unit(found.header) else { return DeclaredType::Unknown };
        let there = Resolver { unit, header: found.header, ..*self };
        let is_type =
            |entry: &&&Entry| matches!(entry.kind, EntryKind::Alias | EntryKind::Tag | EntryKind::TemplateParameter);
        let types = found.entries.iter().filter(is_type);
        let name = found.entries.first().map(|entry| unit.file.show(entry.name_span)).unwrap_or_default();
        agreed_or_real(types.map(|entry| there.entry(entry, fuel)).collect(), &name)
    }

    /// A macro's body that is a type's name: `#define DATA_TYPE double`.
    pub(super) fn replaced(&self, body: &str, at: usize, fuel: usize) -> DeclaredType {
        let words: Vec<&str> = body.split_whitespace().collect();
        match words.as_slice() {
            [] => DeclaredType::Unknown,
            [word] => self.name(word, at, fuel),
            ["struct" | "union", name] => {
                DeclaredType::Record { name: format!("{} {name}", words[0]), is_const: false, may_be_class: false }
            }
            ["const", rest @ ..] => self.replaced(&rest.join(" "), at, fuel.saturating_sub(1)).qualified(true, false),
            words => self.words(words, at),
        }
    }

    /// A type of the language in several words: `unsigned long`.
    fn words(&self, words: &[&str], at: usize) -> DeclaredType {
        let is_macro = |word: &&str| self.symbols.macro_in(self.header, word, at).is_some();
        let number = Number::of_keywords(words).filter(|_| !words.iter().any(is_macro));
        number.map_or(DeclaredType::Unknown, |number| DeclaredType::scalar(number, &words.join(" ")))
    }

    /// What an anonymous structure goes by: where it is declared.
    fn place_of_type(&self, node: NodeId) -> String {
        let header = self.header.map(|header| header.to_string()).unwrap_or_default();
        format!("{ANONYMOUS}{header}:{}", self.unit.tree.span(node).start)
    }

    /// `Vec<int>`: a class where the template in sight is one. Other templates may stand for anything.
    fn template(&self, node: NodeId) -> DeclaredType {
        let text = self.text(node).split_whitespace().collect::<Vec<_>>().join(" ");
        let Some(name) = self.unit.tree.child(node, Field::Name).map(|name| self.text(name)) else {
            return DeclaredType::Unknown;
        };
        let Some(found) = self.symbols.find(self.header, &name, self.unit.tree.span(node).start) else {
            return standard_class(&name, &text);
        };
        let is_class = found.entries.iter().all(|entry| entry.kind == EntryKind::Tag);
        // Two names of one class would be taken for two.
        if is_class {
            DeclaredType::Record { name: text, is_const: false, may_be_class: true }
        } else {
            DeclaredType::Unknown
        }
    }

    /// `struct S`.
    fn name_of_record(&self, node: NodeId) -> Option<String> {
        let keyword = match self.kind(node) {
            NodeKind::UnionSpecifier => "union",
            NodeKind::ClassSpecifier => "class",
            _ => "struct",
        };
        let name = self.unit.tree.child(node, Field::Name)?;
        Some(format!("{keyword} {}", self.text(name).split_whitespace().collect::<String>()))
    }
}
