//! Collects the declarations of one file with their scopes, in one pass over the arena.

use std::collections::BTreeMap;

use super::{NameKind, Scope};
use crate::source::{Language, SourceFile, Span};
use crate::syntax::{HostTree, NodeId};

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
    fn is_local(&self) -> bool {
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
    tops: Vec<usize>,
    /// The definitions of each macro and where they end, in order.
    pub macros: BTreeMap<String, Vec<(NodeId, Span)>>,
    /// The member functions defined outside of their class, and the class.
    classes: Vec<(Span, String)>,
}

impl Table {
    /// The entries of a name that may be visible at a byte: all outside of functions, and those of the function there.
    pub fn candidates(&self, name: &str, at: usize) -> Option<Vec<&Entry>> {
        let indices = self.by_name.get(name)?;
        let (wide, local) = indices.split_at(indices.partition_point(|index| !self.entries[*index].is_local()));
        let top = self.tops.partition_point(|start| *start <= at).checked_sub(1).map_or(0, |index| self.tops[index]);
        let first = local.partition_point(|index| self.entries[*index].name_span.start < top);
        let behind = local.partition_point(|index| self.entries[*index].name_span.start <= at);
        let local = local.get(first..behind).unwrap_or_default();
        Some(wide.iter().chain(local).map(|index| &self.entries[*index]).collect())
    }

    /// The class whose member function is defined around a byte.
    pub fn class_around(&self, at: usize) -> Option<&str> {
        let before = self.classes.partition_point(|(span, _)| span.start <= at);
        self.classes[..before].iter().rev().find(|(span, _)| at < span.end).map(|(_, class)| class.as_str())
    }
}

/// Collects the declarations of a file.
pub(super) fn collect(file: &SourceFile, tree: &HostTree) -> Table {
    let mut collector = Collector { file, tree, table: Table::default() };
    for node in tree.descendants(tree.root()) {
        collector.visit(node);
    }
    let mut table = collector.table;
    table.tops = tree.children(tree.root()).map(|node| tree.span(node).start).collect();
    let Table { entries, by_name, .. } = &mut table;
    for indices in by_name.values_mut() {
        // Names of functions apart, so that those of one function can be found at once among thousands.
        indices.sort_by_key(|index| (entries[*index].is_local(), entries[*index].name_span.start));
    }
    table
}

struct Collector<'a> {
    file: &'a SourceFile,
    tree: &'a HostTree,
    table: Table,
}

impl Collector<'_> {
    fn visit(&mut self, node: NodeId) {
        match self.tree.kind(node) {
            "declaration" | "field_declaration" => self.declaration(node, EntryKind::Variable),
            "type_definition" => self.declaration(node, EntryKind::Alias),
            "for_range_loop" => self.declarator_of(node),
            "function_definition" => self.function(node),
            "parameter_declaration" | "optional_parameter_declaration" | "variadic_parameter_declaration" => {
                self.parameter(node);
            }
            "alias_declaration" => self.named(node, EntryKind::Alias, "name"),
            "struct_specifier" | "union_specifier" | "class_specifier" | "enum_specifier" => self.tag(node),
            "enumerator" => self.enumerator(node),
            "type_parameter_declaration"
            | "optional_type_parameter_declaration"
            | "variadic_type_parameter_declaration" => self.type_parameter(node),
            "lambda_capture_initializer" => {
                if let Some(name) = self.tree.named_children(node).next() {
                    self.add(Draft { kind: EntryKind::Deduced, ..Draft::new(name, node) });
                }
            }
            "preproc_def" | "preproc_function_def" => self.macro_definition(node),
            _ => {}
        }
    }

    /// Every declarator of a declaration.
    fn declaration(&mut self, node: NodeId, kind: EntryKind) {
        if kind == EntryKind::Variable && self.is_member(node) && self.tree.language() == Language::C {
            return; // Members of C structures are never named alone.
        }
        let tree = self.tree;
        for declarator in tree.children(node).filter(|child| tree.field_name(*child) == Some("declarator")) {
            let has_initializer = tree.kind(declarator) == "init_declarator";
            let initializer = tree.child(if has_initializer { declarator } else { node }, "value");
            let inner = if has_initializer { tree.child(declarator, "declarator") } else { Some(declarator) };
            if let Some(inner) = inner {
                self.declared(node, inner, initializer, kind);
            }
        }
    }

    fn is_member(&self, node: NodeId) -> bool {
        self.tree.kind(node) == "field_declaration"
    }

    /// The variable of a range-based `for`.
    fn declarator_of(&mut self, node: NodeId) {
        if let Some(declarator) = self.tree.child(node, "declarator") {
            self.declared(node, declarator, None, EntryKind::Variable);
        }
    }

    /// One declarator: the name in it, and whether it declares a function.
    fn declared(&mut self, declaration: NodeId, declarator: NodeId, initializer: Option<NodeId>, kind: EntryKind) {
        let (name, is_function) = innermost(self.tree, declarator);
        if self.tree.kind(name) == "structured_binding_declarator" {
            let names: Vec<NodeId> = self.tree.named_children(name).collect();
            for name in names {
                self.add(Draft { kind: EntryKind::Deduced, ..Draft::new(name, declaration) });
            }
            return;
        }
        let kind = if kind == EntryKind::Variable && is_function { EntryKind::Function } else { kind };
        self.add(Draft { kind, declarator: Some(declarator), initializer, ..Draft::new(name, declaration) });
    }

    fn function(&mut self, node: NodeId) {
        let Some(declarator) = self.tree.child(node, "declarator") else { return };
        let (name, _) = innermost(self.tree, declarator);
        let class = self.qualifier(name);
        if let Some(class) = &class {
            self.table.classes.push((self.tree.span(node), class.clone()));
        }
        let definition = Some(node);
        let declarator = Some(declarator);
        self.add(Draft { kind: EntryKind::Function, declarator, definition, class, ..Draft::new(name, node) });
    }

    /// `A` of `A::f`, `B` of `A::B<T>::f`: the last scope, template arguments left out.
    fn qualifier(&self, name: NodeId) -> Option<String> {
        if self.tree.kind(name) != "qualified_identifier" {
            return None;
        }
        let mut at = name;
        let mut class = None;
        while self.tree.kind(at) == "qualified_identifier" {
            let scope = self.tree.child(at, "scope");
            let scope = scope.map(|scope| self.tree.child(scope, "name").unwrap_or(scope));
            class = scope.map(|scope| self.text(scope)).or(class);
            match self.tree.child(at, "name") {
                Some(inner) => at = inner,
                None => break,
            }
        }
        class
    }

    /// A parameter of a function definition, a lambda, a handler or a template; those of other declarators are visible
    /// nowhere.
    fn parameter(&mut self, node: NodeId) {
        let Some(declarator) = self.tree.child(node, "declarator") else { return };
        let Some(list) = self.tree.parent(node) else { return };
        let Some(owner) = self.tree.parent(list) else { return };
        if self.tree.kind(list) == "template_parameter_list" {
            let (name, _) = innermost(self.tree, declarator);
            self.add(Draft { kind: EntryKind::TemplateParameter, scope_node: Some(owner), ..Draft::new(name, node) });
            return;
        }
        let scope_node = match self.tree.kind(owner) {
            "catch_clause" => Some(owner),
            "abstract_function_declarator" | "lambda_declarator" => {
                self.tree.parent(owner).filter(|above| self.tree.kind(*above) == "lambda_expression")
            }
            "function_declarator" => self.defined_by(owner),
            _ => None,
        };
        let (name, _) = innermost(self.tree, declarator);
        if scope_node.is_some() && matches!(self.tree.kind(name), "identifier") {
            let draft = Draft { kind: EntryKind::Variable, declarator: Some(declarator), ..Draft::new(name, node) };
            self.add(Draft { scope_node, scope: Some(Scope::Parameter), ..draft });
        }
    }

    /// The function definition whose own parameters a function declarator lists.
    fn defined_by(&self, owner: NodeId) -> Option<NodeId> {
        let named = self.tree.child(owner, "declarator")?;
        if matches!(self.tree.kind(named), "parenthesized_declarator" | "function_declarator") {
            return None;
        }
        let mut above = self.tree.ancestors(owner).skip_while(|node| self.tree.kind(*node).ends_with("_declarator"));
        above.next().filter(|node| self.tree.kind(*node) == "function_definition")
    }

    fn tag(&mut self, node: NodeId) {
        if self.tree.child(node, "body").is_some() {
            self.named(node, EntryKind::Tag, "name");
        }
    }

    fn enumerator(&mut self, node: NodeId) {
        let specifier = self.tree.ancestors(node).find(|above| self.tree.kind(*above) == "enum_specifier");
        let is_scoped = specifier.is_some_and(|specifier| {
            self.tree.children(specifier).any(|child| matches!(self.tree.kind(child), "class" | "struct"))
        });
        let initializer = self.tree.child(node, "value");
        let Some(name) = self.tree.child(node, "name") else { return };
        let draft = Draft { kind: EntryKind::Enumerator, initializer, ..Draft::new(name, node) };
        let specifier = specifier.filter(|_| is_scoped).and_then(|specifier| self.tree.child(specifier, "name"));
        match (is_scoped, specifier) {
            (false, _) => self.add(draft),
            // It is named by its enumeration alone.
            (true, Some(name)) => {
                let class = Some(self.text(name));
                self.add(Draft { scope: Some(Scope::Member), class, ..draft });
            }
            (true, None) => {}
        }
    }

    fn type_parameter(&mut self, node: NodeId) {
        let name = self.tree.named_children(node).find(|child| self.tree.kind(*child) == "type_identifier");
        let list = self.tree.parent(node);
        if let (Some(name), Some(scope_node)) = (name, list.and_then(|list| self.tree.parent(list))) {
            let kind = EntryKind::TemplateParameter;
            self.add(Draft { kind, scope_node: Some(scope_node), ..Draft::new(name, node) });
        }
    }

    fn macro_definition(&mut self, node: NodeId) {
        if let Some(name) = self.tree.child(node, "name") {
            let definition = (node, self.tree.span(node));
            self.table.macros.entry(self.text(name)).or_default().push(definition);
        }
    }

    fn named(&mut self, node: NodeId, kind: EntryKind, field: &str) {
        if let Some(name) = self.tree.child(node, field) {
            self.add(Draft { kind, ..Draft::new(name, node) });
        }
    }

    fn add(&mut self, draft: Draft) {
        // The variable of a range-based loop lives in the loop.
        let own = Some(draft.declaration).filter(|node| self.tree.kind(*node) == "for_range_loop");
        let scope_node = draft.scope_node.or(own).unwrap_or_else(|| self.scope_around(draft.declaration));
        let extent = self.tree.span(scope_node);
        let scope = draft.scope.unwrap_or_else(|| self.scope_kind(scope_node));
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

    fn last_component(&self, name: NodeId) -> NodeId {
        let mut at = name;
        while matches!(self.tree.kind(at), "qualified_identifier" | "template_function" | "template_type") {
            match self.tree.child(at, "name") {
                Some(inner) => at = inner,
                None => break,
            }
        }
        at
    }

    fn class_of(&self, scope_node: NodeId) -> Option<String> {
        let specifier = self.tree.parent(scope_node)?;
        let name = self.tree.child(specifier, "name")?;
        Some(self.text(self.last_component(name)))
    }

    /// The node whose extent is the scope of a declaration.
    fn scope_around(&self, declaration: NodeId) -> NodeId {
        self.tree.ancestors(declaration).find(|node| self.is_scope(*node)).unwrap_or(self.tree.root())
    }

    fn is_scope(&self, node: NodeId) -> bool {
        match self.tree.kind(node) {
            "compound_statement"
            | "for_statement"
            | "for_range_loop"
            | "if_statement"
            | "while_statement"
            | "switch_statement"
            | "catch_clause"
            | "lambda_expression"
            | "function_definition" => true,
            // What a C structure declares inside (tags, enumerators) belongs to the scope around it.
            "field_declaration_list" => self.tree.language() == Language::Cpp,
            // Names of an unnamed namespace are visible behind it.
            "namespace_definition" => self.tree.child(node, "name").is_some(),
            _ => false,
        }
    }

    fn scope_kind(&self, scope_node: NodeId) -> Scope {
        match self.tree.kind(scope_node) {
            "field_declaration_list" => Scope::Member,
            "namespace_definition" => Scope::File,
            _ if scope_node == self.tree.root() => Scope::File,
            "template_declaration" => Scope::Unknown,
            _ => Scope::Local,
        }
    }

    fn storage(&self, declaration: NodeId) -> Storage {
        let mut storage = Storage::default();
        for child in self.tree.named_children(declaration) {
            if !matches!(self.tree.kind(child), "storage_class_specifier" | "type_qualifier") {
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

    fn text(&self, node: NodeId) -> String {
        self.file.show(self.tree.span(node)).into_owned()
    }
}

/// What is known of a declaration before its scope is looked for.
struct Draft {
    name: NodeId,
    declaration: NodeId,
    kind: EntryKind,
    declarator: Option<NodeId>,
    initializer: Option<NodeId>,
    definition: Option<NodeId>,
    class: Option<String>,
    scope_node: Option<NodeId>,
    scope: Option<Scope>,
}

impl Draft {
    fn new(name: NodeId, declaration: NodeId) -> Self {
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

/// The name in a declarator, and whether what is named is a function: `f` in `*f(int)`, not `p` in `(*p)(int)`.
pub(super) fn innermost(tree: &HostTree, declarator: NodeId) -> (NodeId, bool) {
    let mut at = declarator;
    let mut is_function = false;
    loop {
        let kind = tree.kind(at);
        match kind {
            "parenthesized_declarator" | "attributed_declarator" => {}
            _ if kind.ends_with("_declarator") && kind != "structured_binding_declarator" => {
                is_function = kind == "function_declarator";
            }
            _ => return (at, is_function),
        }
        let inner = inner_declarator(tree, at);
        match inner {
            Some(inner) => at = inner,
            None => return (at, is_function),
        }
    }
}

/// The declarator that a declarator wraps.
pub(super) fn inner_declarator(tree: &HostTree, declarator: NodeId) -> Option<NodeId> {
    tree.child(declarator, "declarator").or_else(|| {
        let is_name =
            |kind: &str| kind.ends_with("identifier") || kind.ends_with("declarator") || kind == "operator_name";
        tree.named_children(declarator).find(|child| is_name(tree.kind(*child)))
    })
}

/// The text with its comments replaced by blanks, blanks at the ends left out.
pub(super) fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("/*").into_iter().chain(rest.find("//")).min() {
        out.push_str(&rest[..at]);
        out.push(' ');
        let comment = &rest[at..];
        let end = if comment.starts_with("/*") { comment.find("*/").map(|end| end + 2) } else { comment.find('\n') };
        rest = end.map_or("", |end| &comment[end..]);
    }
    out.push_str(rest);
    out.trim().to_owned()
}
