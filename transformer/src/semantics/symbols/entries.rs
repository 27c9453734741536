//! The declarations of one file, each with its scope, and where they are found by name.

use std::collections::BTreeMap;

use super::{NameKind, Scope};
use crate::source::Span;
use crate::syntax::NodeId;

/// What a declaration declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    /// A variable, parameter or data member.
    Variable,
    /// A function.
    Function,
    /// `typedef`, `using A = B`.
    Alias,
    /// A structure, union, class or enumeration by its tag.
    Tag,
    /// An enumerator.
    Enumerator,
    /// A parameter of a template.
    TemplateParameter,
    /// A name whose type only the compiler knows: structured bindings, captures with an initialiser.
    Deduced,
}

/// The storage class specifiers of a declaration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Storage {
    pub is_static: bool,
    pub is_extern: bool,
    pub is_thread_local: bool,
    pub is_constexpr: bool,
}

/// One declaration of one name.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub name_span: Span,
    pub kind: EntryKind,
    pub scope: Scope,
    /// The node whose extent is the scope, and where that starts.
    pub scope_node: NodeId,
    pub scope_start: usize,
    /// From the point of declaration to the end of the scope; empty where only other rules make it visible.
    pub visible: Span,
    pub storage: Storage,
    /// The node that holds the type.
    pub declaration: NodeId,
    pub declarator: Option<NodeId>,
    pub initializer: Option<NodeId>,
    /// The `function_definition` node.
    pub definition: Option<NodeId>,
    /// The class that it is a member of.
    pub class: Option<String>,
}

/// Stands for a declaration where there is none.
pub(super) static NOTHING: Entry = Entry {
    name_span: Span { start: 0, end: 0 },
    kind: EntryKind::Deduced,
    scope: Scope::Unknown,
    scope_node: NodeId(0),
    scope_start: 0,
    visible: Span { start: 0, end: 0 },
    storage: Storage { is_static: false, is_extern: false, is_thread_local: false, is_constexpr: false },
    declaration: NodeId(0),
    declarator: None,
    initializer: None,
    definition: None,
    class: None,
};

impl Entry {
    /// Is it declared in a function, its parameters included?
    pub fn is_local(&self) -> bool {
        matches!(self.scope, Scope::Local | Scope::Parameter)
    }

    /// Can its name be used unqualified at a byte? In its own declaration a name means what it declares.
    pub fn is_visible(&self, at: usize) -> bool {
        self.name_span.start <= at && at < self.name_span.end
            || self.visible.start <= at && at < self.visible.end.max(self.visible.start)
            // The end of the file is behind every declaration of file scope.
            || self.scope == Scope::File && self.visible.start <= at && at == self.visible.end
    }

    pub fn name_kind(&self) -> NameKind {
        match self.kind {
            EntryKind::Variable | EntryKind::Deduced => NameKind::Variable,
            EntryKind::Function => NameKind::Function,
            EntryKind::Alias | EntryKind::Tag => NameKind::Type,
            EntryKind::Enumerator => NameKind::Enumerator,
            EntryKind::TemplateParameter => NameKind::TemplateParameter,
        }
    }
}

/// All declarations of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub entries: Vec<Entry>,
    /// The entries of each name: those outside of functions first, then in the order of the text.
    pub by_name: BTreeMap<String, Vec<usize>>,
    /// Where each declaration at the top of the file starts.
    pub tops: Vec<usize>,
    /// The definitions of each macro and where they end, in order.
    pub macros: BTreeMap<String, Vec<(NodeId, Span)>>,
    /// Where a file is included within a function, class or namespace, in order: it may declare anything there.
    pub inner_includes: Vec<usize>,
    /// The bodies of functions whose heads could not be read, in order: their parameters are not known.
    pub loose_bodies: Vec<Span>,
    /// The member functions defined outside of their class, and the class.
    pub classes: Vec<(Span, String)>,
}

impl Table {
    /// The entries of a name that may be visible at a byte: all outside of functions, and those of the function there.
    pub fn candidates(&self, name: &str, at: usize) -> Option<impl Iterator<Item = &Entry>> {
        let indices = self.by_name.get(name)?;
        let (wide, local) = indices.split_at(indices.partition_point(|index| !self.entries[*index].is_local()));
        let top = self.tops.partition_point(|start| *start <= at).checked_sub(1).map_or(0, |index| self.tops[index]);
        let first = local.partition_point(|index| self.entries[*index].name_span.start < top);
        let behind = local.partition_point(|index| self.entries[*index].name_span.start <= at);
        let local = local.get(first..behind).unwrap_or_default();
        Some(wide.iter().chain(local).map(|index| &self.entries[*index]))
    }

    /// The body around a byte of a function whose head could not be read.
    pub fn loose_body_around(&self, at: usize) -> Option<Span> {
        let before = self.loose_bodies.partition_point(|body| body.start <= at);
        self.loose_bodies[..before].last().copied().filter(|body| at < body.end)
    }

    /// The class whose member function is defined around a byte.
    pub fn class_around(&self, at: usize) -> Option<&str> {
        let before = self.classes.partition_point(|(span, _)| span.start <= at);
        self.classes[..before].iter().rev().find(|(span, _)| at < span.end).map(|(_, class)| class.as_str())
    }
}
