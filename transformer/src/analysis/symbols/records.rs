//! Structures that are data and nothing else.

use super::entries::{EntryKind, inner_declarator};
use super::{DeclaredType, Symbols, Unit};
use crate::syntax::NodeId;

/// How deep structures are followed into each other.
const FUEL: usize = 8;

impl Symbols<'_> {
    /// Is it a structure in sight without bases, constructors, a destructor, operators and virtual functions, whose members are
    /// numbers, pointers, arrays of them or such structures? Creating, copying and destroying one then calls nothing.
    #[must_use]
    pub fn is_plain_record(&self, ty: &DeclaredType, at: usize) -> bool {
        self.is_plain(ty, at, FUEL)
    }

    /// The type of a structure's member; none where the structure is not in sight.
    #[must_use]
    pub fn member_type(&self, ty: &DeclaredType, member: &str, at: usize) -> Option<DeclaredType> {
        let (header, specifier) = self.specifier_of(ty, at)?;
        let unit = self.unit(header)?;
        let body = unit.tree.child(specifier, "body")?;
        let entries = unit.table.by_name.get(member)?.iter().filter_map(|index| unit.table.entries.get(*index));
        let mut fields = entries.filter(|entry| entry.kind == EntryKind::Variable && entry.scope_node == body);
        let field = fields.next().filter(|entry| !entry.storage.is_static)?;
        fields.next().is_none().then(|| self.type_of(header, field))
    }

    fn is_plain(&self, ty: &DeclaredType, at: usize, fuel: usize) -> bool {
        let Some(fuel) = fuel.checked_sub(1) else { return false };
        let Some((header, specifier)) = self.specifier_of(ty, at) else { return false };
        let Some(unit) = self.unit(header) else { return false };
        let Some(body) = unit.tree.child(specifier, "body") else { return false };
        let is_based = unit.tree.named_children(specifier).any(|node| unit.tree.kind(node) == "base_class_clause");
        let is_template =
            unit.tree.parent(specifier).is_some_and(|above| unit.tree.kind(above) == "template_declaration");
        let name = unit.tree.child(specifier, "name").map(|name| unit.tree.span(name));
        let name = name.map(|span| unit.file.show(span).into_owned()).unwrap_or_default();
        let fields = unit.table.entries.iter().filter(|entry| entry.scope_node == body);
        let mut fields = fields.filter(|entry| entry.kind == EntryKind::Variable && !entry.storage.is_static);
        !is_based
            && !is_template
            && unit.tree.named_children(body).all(|member| unit.is_plain_member(member, &name))
            && fields.all(|entry| self.is_plain_field(&self.type_of(header, entry), at, fuel))
    }

    fn is_plain_field(&self, ty: &DeclaredType, at: usize, fuel: usize) -> bool {
        match ty {
            DeclaredType::Scalar { is_volatile, .. } => !is_volatile,
            DeclaredType::Pointer { pointee, .. } => !matches!(**pointee, DeclaredType::Unknown),
            DeclaredType::Array { element, .. } => self.is_plain_field(element, at, fuel),
            DeclaredType::Record { .. } => self.is_plain(ty, at, fuel),
            _ => false,
        }
    }

    /// Where the one definition of a structure stands.
    fn specifier_of(&self, ty: &DeclaredType, at: usize) -> Option<(Option<usize>, NodeId)> {
        let DeclaredType::Record { name, .. } = ty else { return None };
        let name = name.split_whitespace().last().filter(|name| !matches!(*name, "struct" | "class" | "union"))?;
        let found = self.find(None, name, at)?;
        let mut tags = found.entries.iter().filter(|entry| entry.kind == EntryKind::Tag);
        let only = tags.next().filter(|_| tags.next().is_none())?;
        Some((found.header, only.declaration))
    }
}

impl Unit<'_> {
    /// Is it a data member without a call in its initialiser, or a function that is called by its name alone?
    fn is_plain_member(&self, member: NodeId, class: &str) -> bool {
        let tree = &self.tree;
        match tree.kind(member) {
            "access_specifier" | "comment" => true,
            "field_declaration" | "function_definition" => {
                let calls =
                    |node| matches!(tree.kind(node), "call_expression" | "virtual" | "bitfield_clause" | "ERROR");
                let inside = tree.descendants(member).take_while(|node| tree.kind(*node) != "compound_statement");
                let mut declarators = tree.children(member).filter(|node| tree.field_name(*node) == Some("declarator"));
                !inside.into_iter().any(calls) && declarators.all(|declarator| self.has_plain_name(declarator, class))
            }
            _ => false,
        }
    }

    /// Not that of a constructor, a destructor or an operator.
    fn has_plain_name(&self, declarator: NodeId, class: &str) -> bool {
        let mut at = declarator;
        while let Some(inner) = inner_declarator(&self.tree, at) {
            at = inner;
        }
        self.tree.kind(at).ends_with("identifier") && self.file.show(self.tree.span(at)) != class
    }
}
