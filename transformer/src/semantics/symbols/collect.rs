//! Collects the declarations of one file in one pass over the arena.

use super::Scope;
use super::declarators::innermost;
use super::entries::{EntryKind, Table};
use crate::source::{Language, SourceFile, Span};
use crate::syntax::{Field, HostTree, NodeId, NodeKind};

mod scopes;

use scopes::Draft;

/// Collects the declarations of a file.
pub(super) fn collect(file: &SourceFile, tree: &HostTree) -> Table {
    let mut collector = Collector { file, tree, table: Table::default(), loose_heads: Vec::new() };
    for node in tree.all_of(READ) {
        collector.visit(node);
    }
    collector.leave_loose_heads();
    let mut table = collector.table;
    table.tops = tree.children(tree.root()).map(|node| tree.span(node).start).collect();
    let Table { entries, by_name, .. } = &mut table;
    for indices in by_name.values_mut() {
        // Names of functions apart, so that those of one function can be found at once among thousands.
        indices.sort_by_key(|index| (entries[*index].is_local(), entries[*index].name_span.start));
    }
    table
}

/// The kinds of nodes that [`Collector::visit`] reads.
const READ: &[NodeKind] = &[
    NodeKind::Declaration,
    NodeKind::FieldDeclaration,
    NodeKind::TypeDefinition,
    NodeKind::ForRangeLoop,
    NodeKind::FunctionDefinition,
    NodeKind::ParameterDeclaration,
    NodeKind::OptionalParameterDeclaration,
    NodeKind::VariadicParameterDeclaration,
    NodeKind::AliasDeclaration,
    NodeKind::StructSpecifier,
    NodeKind::UnionSpecifier,
    NodeKind::ClassSpecifier,
    NodeKind::EnumSpecifier,
    NodeKind::Enumerator,
    NodeKind::TypeParameterDeclaration,
    NodeKind::OptionalTypeParameterDeclaration,
    NodeKind::VariadicTypeParameterDeclaration,
    NodeKind::LambdaCaptureInitializer,
    NodeKind::PreprocDef,
    NodeKind::PreprocFunctionDef,
    NodeKind::PreprocInclude,
    NodeKind::CompoundStatement,
];

struct Collector<'a> {
    file: &'a SourceFile,
    tree: &'a HostTree,
    table: Table,
    /// The declarations that may be those of the parameters of a function whose head could not be read.
    loose_heads: Vec<Span>,
}

impl Collector<'_> {
    fn visit(&mut self, node: NodeId) {
        match self.tree.kind(node) {
            NodeKind::Declaration | NodeKind::FieldDeclaration => self.declaration(node, EntryKind::Variable),
            NodeKind::TypeDefinition => self.declaration(node, EntryKind::Alias),
            NodeKind::ForRangeLoop => self.declarator_of(node),
            NodeKind::FunctionDefinition => self.function(node),
            NodeKind::ParameterDeclaration
            | NodeKind::OptionalParameterDeclaration
            | NodeKind::VariadicParameterDeclaration => {
                self.parameter(node);
            }
            NodeKind::AliasDeclaration => self.named(node, EntryKind::Alias, Field::Name),
            NodeKind::StructSpecifier
            | NodeKind::UnionSpecifier
            | NodeKind::ClassSpecifier
            | NodeKind::EnumSpecifier => self.tag(node),
            NodeKind::Enumerator => self.enumerator(node),
            NodeKind::TypeParameterDeclaration
            | NodeKind::OptionalTypeParameterDeclaration
            | NodeKind::VariadicTypeParameterDeclaration => self.type_parameter(node),
            NodeKind::LambdaCaptureInitializer => {
                if let Some(name) = self.tree.named_children(node).next() {
                    self.add(Draft { kind: EntryKind::Deduced, ..Draft::new(name, node) });
                }
            }
            NodeKind::PreprocDef | NodeKind::PreprocFunctionDef => self.macro_definition(node),
            NodeKind::PreprocInclude => self.include(node),
            NodeKind::CompoundStatement => self.loose_body(node),
            _ => {}
        }
    }

    /// Every declarator of a declaration.
    fn declaration(&mut self, node: NodeId, kind: EntryKind) {
        if kind == EntryKind::Variable && self.is_member(node) && self.tree.language() == Language::C {
            return; // Members of C structures are never named alone.
        }
        let tree = self.tree;
        if tree.is_problem(node) {
            return; // A statement that looks like a declaration.
        }
        for declarator in tree.children(node).filter(|child| tree.field(*child) == Some(Field::Declarator)) {
            let has_initializer = tree.kind(declarator) == NodeKind::InitDeclarator;
            let initializer = tree.child(if has_initializer { declarator } else { node }, Field::Value);
            let inner = if has_initializer { tree.child(declarator, Field::Declarator) } else { Some(declarator) };
            if let Some(inner) = inner {
                self.declared(node, inner, initializer, kind);
            }
        }
    }

    fn is_member(&self, node: NodeId) -> bool {
        self.tree.kind(node) == NodeKind::FieldDeclaration
    }

    /// The variable of a range-based `for`.
    fn declarator_of(&mut self, node: NodeId) {
        if let Some(declarator) = self.tree.child(node, Field::Declarator) {
            self.declared(node, declarator, None, EntryKind::Variable);
        }
    }

    /// One declarator: the name in it, and whether it declares a function.
    fn declared(&mut self, declaration: NodeId, declarator: NodeId, initializer: Option<NodeId>, kind: EntryKind) {
        let (name, is_function) = innermost(self.tree, declarator);
        if self.tree.kind(name) == NodeKind::StructuredBindingDeclarator {
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
        let Some(declarator) = self.tree.child(node, Field::Declarator) else { return };
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
        if self.tree.kind(name) != NodeKind::QualifiedIdentifier {
            return None;
        }
        let mut at = name;
        let mut class = None;
        while self.tree.kind(at) == NodeKind::QualifiedIdentifier {
            let scope = self.tree.child(at, Field::Scope);
            let scope = scope.map(|scope| self.tree.child(scope, Field::Name).unwrap_or(scope));
            class = scope.map(|scope| self.text(scope)).or(class);
            match self.tree.child(at, Field::Name) {
                Some(inner) => at = inner,
                None => break,
            }
        }
        class
    }

    /// A parameter of a function, a lambda, a handler or a template; those of declarators without names are visible nowhere.
    fn parameter(&mut self, node: NodeId) {
        let Some(declarator) = self.tree.child(node, Field::Declarator) else { return };
        let Some(list) = self.tree.parent(node) else { return };
        let Some(owner) = self.tree.parent(list) else { return };
        if self.tree.kind(list) == NodeKind::TemplateParameterList {
            let (name, _) = innermost(self.tree, declarator);
            let kind = EntryKind::TemplateParameter;
            let declarator = Some(declarator);
            self.add(Draft { kind, scope_node: Some(owner), declarator, ..Draft::new(name, node) });
            return;
        }
        let scope_node = match self.tree.kind(owner) {
            NodeKind::CatchClause => Some(owner),
            NodeKind::AbstractFunctionDeclarator => {
                self.tree.parent(owner).filter(|above| self.tree.kind(*above) == NodeKind::LambdaExpression)
            }
            // Those of a prototype are known up to its end.
            NodeKind::FunctionDeclarator => self.defined_by(owner).or(Some(owner)),
            _ => None,
        };
        let (name, _) = innermost(self.tree, declarator);
        if scope_node.is_some() && matches!(self.tree.kind(name), NodeKind::Identifier) {
            let draft = Draft { kind: EntryKind::Variable, declarator: Some(declarator), ..Draft::new(name, node) };
            self.add(Draft { scope_node, scope: Some(Scope::Parameter), ..draft });
        }
    }

    /// The function definition whose own parameters a function declarator lists.
    fn defined_by(&self, owner: NodeId) -> Option<NodeId> {
        let named = self.tree.child(owner, Field::Declarator)?;
        if matches!(self.tree.kind(named), NodeKind::ParenthesizedDeclarator | NodeKind::FunctionDeclarator) {
            return None;
        }
        let mut above = self.tree.ancestors(owner).skip_while(|node| self.tree.kind(*node).is_declarator());
        above.next().filter(|node| self.tree.kind(*node) == NodeKind::FunctionDefinition)
    }

    fn tag(&mut self, node: NodeId) {
        if self.tree.child(node, Field::Body).is_some() {
            self.named(node, EntryKind::Tag, Field::Name);
        }
    }

    fn enumerator(&mut self, node: NodeId) {
        let specifier = self.tree.ancestors(node).find(|above| self.tree.kind(*above) == NodeKind::EnumSpecifier);
        let is_scoped = specifier.is_some_and(|specifier| {
            self.tree
                .children(specifier)
                .any(|child| matches!(self.tree.kind(child), NodeKind::Class | NodeKind::Struct))
        });
        let initializer = self.tree.child(node, Field::Value);
        let Some(name) = self.tree.child(node, Field::Name) else { return };
        let draft = Draft { kind: EntryKind::Enumerator, initializer, ..Draft::new(name, node) };
        let specifier = specifier.filter(|_| is_scoped).and_then(|specifier| self.tree.child(specifier, Field::Name));
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
        let name = self.tree.named_children(node).find(|child| self.tree.kind(*child) == NodeKind::TypeIdentifier);
        let list = self.tree.parent(node);
        if let (Some(name), Some(scope_node)) = (name, list.and_then(|list| self.tree.parent(list))) {
            let kind = EntryKind::TemplateParameter;
            self.add(Draft { kind, scope_node: Some(scope_node), ..Draft::new(name, node) });
        }
    }

    fn macro_definition(&mut self, node: NodeId) {
        if let Some(name) = self.tree.child(node, Field::Name) {
            let definition = (node, self.tree.span(node));
            self.table.macros.entry(self.text(name)).or_default().push(definition);
        }
    }

    fn include(&mut self, node: NodeId) {
        let is_of_file = |kind: NodeKind| {
            matches!(kind, NodeKind::TranslationUnit | NodeKind::LinkageSpecification | NodeKind::DeclarationList)
                || kind.is_preprocessor()
        };
        if !self.tree.ancestors(node).all(|above| is_of_file(self.tree.kind(above))) {
            self.table.inner_includes.push(self.tree.span(node).start);
        }
    }

    /// The body of a function whose head could not be read: parameters in the old style, or a macro.
    fn loose_body(&mut self, node: NodeId) {
        let above = self.tree.parent(node).map(|above| self.tree.kind(above));
        let is_outside = above.is_some_and(|kind| {
            matches!(kind, NodeKind::TranslationUnit | NodeKind::DeclarationList | NodeKind::Error)
                || kind.is_preprocessor()
        });
        let in_function = || {
            self.tree.ancestors(node).any(|above| {
                matches!(self.tree.kind(above), NodeKind::FunctionDefinition | NodeKind::CompoundStatement)
            })
        };
        if is_outside && !in_function() {
            self.table.loose_bodies.push(self.tree.span(node));
            self.loose_heads.extend(self.loose_head(node));
        }
    }

    /// The declarations directly before such a body, which may be those of its parameters.
    fn loose_head(&self, body: NodeId) -> Option<Span> {
        let tree = self.tree;
        let is_parameter = |node: &NodeId| match tree.kind(*node) {
            NodeKind::Comment => true,
            NodeKind::Declaration => tree.named_children(*node).all(|part| match tree.kind(part) {
                NodeKind::InitDeclarator => false,
                NodeKind::StorageClassSpecifier => self.file.bytes(tree.span(part)) == b"register",
                _ => true,
            }),
            _ => false,
        };
        let siblings: Vec<NodeId> = tree.children(tree.parent(body)?).take_while(|node| *node != body).collect();
        let first = siblings.into_iter().rev().take_while(is_parameter).last()?;
        Some(Span::new(tree.span(first).start, tree.span(body).start))
    }

    /// What is declared there is known to be declared, and nothing else.
    fn leave_loose_heads(&mut self) {
        for head in &self.loose_heads {
            let entries = self.table.entries.iter_mut().filter(|entry| head.contains(entry.name_span));
            entries.filter(|entry| entry.scope == Scope::File).for_each(|entry| entry.scope = Scope::Unknown);
        }
    }

    fn named(&mut self, node: NodeId, kind: EntryKind, field: Field) {
        if let Some(name) = self.tree.child(node, field) {
            self.add(Draft { kind, ..Draft::new(name, node) });
        }
    }
}
