//! From a declared name to its entry: the scope, where the name is visible, and how it is stored.

use super::Collector;
use crate::semantics::symbols::Scope;
use crate::semantics::symbols::entries::{Entry, EntryKind, Storage};
use crate::source::{Language, Span};
use crate::syntax::{Field, NodeId, NodeKind};

/// What is known of a declaration before its scope is looked for.
pub(super) struct Draft {
    pub name: NodeId,
    pub declaration: NodeId,
    pub kind: EntryKind,
    pub declarator: Option<NodeId>,
    pub initializer: Option<NodeId>,
    pub definition: Option<NodeId>,
    pub class: Option<String>,
    pub scope_node: Option<NodeId>,
    pub scope: Option<Scope>,
}

impl Draft {
    pub fn new(name: NodeId, declaration: NodeId) -> Self {
        Self {
            name,
            declaration,
            kind: EntryKind::Variable,
            declarator: None,
            initializer: None,
            definition: None,
            class: None,
            scope_node: None,
            scope: None,
        }
    }
}

impl Collector<'_> {
    pub(super) fn add(&mut self, draft: Draft) {
        // The variable of a range-based loop lives in the loop.
        let own = Some(draft.declaration).filter(|node| self.tree.kind(*node) == NodeKind::ForRangeLoop);
        let scope_node = draft.scope_node.or(own).unwrap_or_else(|| self.scope_around(draft.declaration));
        let extent = self.tree.span(scope_node);
        let is_stray = self.is_stray(&draft);
        let scope = draft.scope.filter(|_| !is_stray);
        let scope = scope.unwrap_or_else(|| if is_stray { Scope::Unknown } else { self.scope_kind(scope_node) });
        let is_member = scope == Scope::Member;
        let point =
            draft.declarator.map_or(self.tree.span(draft.name).end, |declarator| self.tree.span(declarator).end);
        let visible = match (&draft.class, is_member) {
            (Some(_), _) => Span::new(0, 0),
            // Members are known everywhere in their class, in the functions above them too.
            (None, true) => extent,
            (None, false) => Span::new(point, extent.end),
        };
        let class = draft.class.or_else(|| if is_member { self.class_of(scope_node) } else { None });
        let name = self.last_component(draft.name);
        let index = self.table.entries.len();
        self.table.by_name.entry(self.text(name)).or_default().push(index);
        self.table.entries.push(Entry {
            name_span: self.tree.span(name),
            kind: draft.kind,
            scope,
            scope_node,
            scope_start: extent.start,
            visible,
            storage: self.storage(draft.declaration),
            declaration: draft.declaration,
            declarator: draft.declarator,
            initializer: draft.initializer,
            definition: draft.definition,
            class,
        });
    }

    /// Does it stand between the head and the body of a function, and is none of its parameters? Then what is around it was misread.
    fn is_stray(&self, draft: &Draft) -> bool {
        let tree = self.tree;
        let above = tree.parent(draft.declaration).filter(|above| tree.kind(*above) == NodeKind::FunctionDefinition);
        let Some(function) = above.filter(|_| tree.kind(draft.declaration) == NodeKind::Declaration) else {
            return false;
        };
        let name = self.file.bytes(tree.span(draft.name));
        let declarator = tree.child(function, Field::Declarator);
        let mut inside = declarator.into_iter().flat_map(|declarator| tree.descendants(declarator));
        !inside.any(|node| {
            let is_listed = tree.parent(node).is_some_and(|list| tree.kind(list) == NodeKind::ParameterList);
            is_listed && self.file.bytes(tree.span(node)) == name
        })
    }

    fn last_component(&self, name: NodeId) -> NodeId {
        let mut at = name;
        while matches!(
            self.tree.kind(at),
            NodeKind::QualifiedIdentifier | NodeKind::TemplateFunction | NodeKind::TemplateType
        ) {
            match self.tree.child(at, Field::Name) {
                Some(inner) => at = inner,
                None => break,
            }
        }
        at
    }

    fn class_of(&self, scope_node: NodeId) -> Option<String> {
        let specifier = self.tree.parent(scope_node)?;
        let name = self.tree.child(specifier, Field::Name)?;
        Some(self.text(self.last_component(name)))
    }

    /// The node whose extent is the scope of a declaration.
    fn scope_around(&self, declaration: NodeId) -> NodeId {
        self.tree.ancestors(declaration).find(|node| self.is_scope(*node)).unwrap_or(self.tree.root())
    }

    fn is_scope(&self, node: NodeId) -> bool {
        match self.tree.kind(node) {
            NodeKind::CompoundStatement
            | NodeKind::ForStatement
            | NodeKind::ForRangeLoop
            | NodeKind::IfStatement
            | NodeKind::WhileStatement
            | NodeKind::SwitchStatement
            | NodeKind::CatchClause
            | NodeKind::LambdaExpression
            | NodeKind::FunctionDefinition => true,
            // What a C structure declares inside (tags, enumerators) belongs to the scope around it.
            NodeKind::FieldDeclarationList => self.tree.language() == Language::Cpp,
            // Names of an unnamed namespace are visible behind it.
            NodeKind::NamespaceDefinition => self.tree.child(node, Field::Name).is_some(),
            _ => false,
        }
    }

    fn scope_kind(&self, scope_node: NodeId) -> Scope {
        match self.tree.kind(scope_node) {
            NodeKind::FieldDeclarationList => Scope::Member,
            NodeKind::NamespaceDefinition => Scope::File,
            _ if scope_node == self.tree.root() => Scope::File,
            NodeKind::TemplateDeclaration => Scope::Unknown,
            _ => Scope::Local,
        }
    }

    fn storage(&self, declaration: NodeId) -> Storage {
        let mut storage = Storage::default();
        for child in self.tree.named_children(declaration) {
            if !matches!(self.tree.kind(child), NodeKind::StorageClassSpecifier | NodeKind::TypeQualifier) {
                continue;
            }
            match self.file.bytes(self.tree.span(child)) {
                b"static" => storage.is_static = true,
                b"extern" => storage.is_extern = true,
                // The last one is as much of `_Thread_local` as the parser sees of it.
                b"thread_local" | b"__thread" | b"_Thread_loca" => storage.is_thread_local = true,
                b"constexpr" => storage.is_constexpr = true,
                _ => {}
            }
        }
        storage
    }

    pub(super) fn text(&self, node: NodeId) -> String {
        self.file.show(self.tree.span(node)).into_owned()
    }
}
