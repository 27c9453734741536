//! Which functions get objects by reference, or as `this`, and can get pointers to them.

use std::collections::BTreeMap;

use crate::context::Context;
use crate::semantics::symbols::{DeclaredType, Scope, VariableId};
use crate::source::{Span, words};
use crate::syntax::{Field, NodeId, NodeKind};
use crate::transforms::hoist_maps::members::accesses::{is_own_member, tokens};

/// A function that gets pointers in the other text.
pub(super) struct Function {
    /// Its name without its class.
    pub name: String,
    /// What calls it in the other text.
    pub called: String,
    /// Of a member function: its class, and the name of the pointer to its object.
    pub object: Option<Object>,
    pub body: Span,
    /// Its declarators: of the definition, and of the declarations before it.
    pub heads: Vec<NodeId>,
    /// How many parameters it has.
    pub count: usize,
    /// Which of them are references to objects.
    pub references: BTreeMap<usize, Reference>,
}

/// The object of a member function.
pub(super) struct Object {
    pub class: String,
    pub pointer: String,
    /// May any function name its members?
    pub is_open: bool,
}

/// A parameter that is a reference.
pub(super) struct Reference {
    pub id: VariableId,
    pub name: String,
    /// What it refers to.
    pub class: String,
}

impl Function {
    /// The parameter that a name stands for.
    pub(super) fn reference(&self, id: VariableId) -> Option<&Reference> {
        self.references.values().find(|reference| reference.id == id)
    }
}

/// The functions of the file that may get pointers; nothing where none of them has constructs.
pub(super) fn functions(cx: &Context<'_>) -> Vec<Function> {
    let targets = || cx.constructs.ids().filter(|id| cx.constructs.is_target(*id));
    if targets().next().is_none() {
        return Vec::new();
    }
    let classes = classes(cx);
    let mut heads: BTreeMap<(Option<String>, String), Vec<NodeId>> = BTreeMap::new();
    for head in cx.tree.all_of(&[NodeKind::FunctionDeclarator]) {
        if let Some(key) = named(cx, head) {
            heads.entry(key).or_default().push(head);
        }
    }
    let found = heads.into_iter().filter_map(|((class, name), heads)| match &class {
        Some(class) => function(cx, Some(classes.iter().find(|known| known.class == *class)?), name, heads),
        None => function(cx, None, name, heads),
    });
    let mut found: Vec<Function> = found.collect();
    while let Some(index) = found.iter().position(|function| names_its_class(cx, &found, function)) {
        found.swap_remove(index);
    }
    let has_constructs = |one: &Function| targets().any(|id| one.body.contains(cx.constructs.directive(id).span));
    if found.iter().any(has_constructs) { found } else { Vec::new() }
}

/// The name of an object's class.
pub(super) fn class_of(ty: &DeclaredType) -> Option<String> {
    let DeclaredType::Record { name, .. } = ty else { return None };
    name.rsplit([' ', ':']).next().map(str::to_owned)
}

/// Does a member function that is defined outside of its class name something of the class that has no name there: a type, a constant, a
/// function that stays as it is?
fn names_its_class(cx: &Context<'_>, functions: &[Function], function: &Function) -> bool {
    let Some(object) = function.object.as_ref().filter(|_| !function.called.contains("::")) else { return false };
    let gets_pointer = |name: &str| {
        let is_it = |other: &Object| other.class == object.class;
        functions.iter().any(|other| other.name == name && other.object.as_ref().is_some_and(is_it))
    };
    tokens(&cx.file.text, function.body).into_iter().any(|token| {
        let word = cx.file.show(token);
        cx.symbols()
            .lookup(&word, token.start)
            .is_some_and(|found| found.scope == Scope::Member && !is_own_member(&found) && !gets_pointer(&word))
    })
}

/// The class, for a member function, and the name that a declarator of a function gives it.
fn named(cx: &Context<'_>, head: NodeId) -> Option<(Option<String>, String)> {
    let tree = cx.tree;
    let text = |node: NodeId| cx.file.show(tree.span(node)).into_owned();
    let name = tree.child(head, Field::Declarator)?;
    match tree.kind(name) {
        NodeKind::Identifier => Some((None, text(name))),
        NodeKind::FieldIdentifier => {
            let list = tree.ancestors(head).find(|node| tree.kind(*node) == NodeKind::FieldDeclarationList)?;
            let class = tree.child(tree.parent(list)?, Field::Name)?;
            Some((Some(text(class)), text(name)))
        }
        NodeKind::QualifiedIdentifier => {
            let all: String = text(name).split_whitespace().collect();
            let (class, name) = all.split_once("::")?;
            (!name.contains("::") && !class.is_empty()).then(|| (Some(class.to_owned()), name.to_owned()))
        }
        _ => None,
    }
}

/// The classes whose member functions are those that calls name: no bases, no templates, one of a name.
fn classes(cx: &Context<'_>) -> Vec<Class> {
    let tree = cx.tree;
    let kinds = [NodeKind::ClassSpecifier, NodeKind::StructSpecifier];
    let defined = tree.all_of(&kinds).filter(|node| tree.child(*node, Field::Body).is_some());
    let named = |node: NodeId| tree.child(node, Field::Name).map(|name| cx.file.show(tree.span(name)).into_owned());
    let all: Vec<(NodeId, String)> = defined.filter_map(|node| Some((node, named(node)?))).collect();
    let bases: Vec<NodeId> = tree.all_of(&[NodeKind::BaseClassClause]).collect();
    let is_base = |name: &str| bases.iter().any(|base| words(&cx.file.show(tree.span(*base))).any(|word| word == name));
    let is_plain = |node: NodeId| {
        let has_bases = tree.named_children(node).any(|part| tree.kind(part) == NodeKind::BaseClassClause);
        let is_within = |kind| tree.ancestors(node).any(|above| tree.kind(above) == kind);
        !has_bases && !is_within(NodeKind::TemplateDeclaration) && !is_within(NodeKind::FunctionDefinition)
    };
    let is_only = |name: &str| all.iter().filter(|(_, other)| other == name).count() == 1;
    let own = all.iter().filter(|(node, name)| is_plain(*node) && is_only(name) && !is_base(name));
    own.map(|(node, name)| Class { class: name.clone(), is_open: is_open(cx, *node) }).collect()
}

/// A class whose member functions are those that calls name.
struct Class {
    class: String,
    is_open: bool,
}

/// May any function name the data members of a class?
fn is_open(cx: &Context<'_>, class: NodeId) -> bool {
    let tree = cx.tree;
    let mut is_public = tree.kind(class) == NodeKind::StructSpecifier;
    let parts = tree.child(class, Field::Body).into_iter().flat_map(|body| tree.named_children(body));
    parts.into_iter().all(|part| match tree.kind(part) {
        NodeKind::AccessSpecifier => {
            is_public = cx.file.bytes(tree.span(part)).starts_with(b"public");
            true
        }
        NodeKind::FieldDeclaration => {
            is_public || tree.descendants(part).any(|it| tree.kind(it) == NodeKind::FunctionDeclarator)
        }
        _ => true,
    })
}

fn function(cx: &Context<'_>, class: Option<&Class>, name: String, heads: Vec<NodeId>) -> Option<Function> {
    let tree = cx.tree;
    let definition_of = |head: &NodeId| tree.parent(*head).filter(|it| tree.kind(*it) == NodeKind::FunctionDefinition);
    let mut defined = heads.iter().filter_map(|head| Some((*head, definition_of(head)?)));
    let (head, definition) = defined.next().filter(|_| defined.next().is_none())?;
    heads.iter().all(|head| is_plain(cx, *head)).then_some(())?;
    // Only the declaration in the class, beside the definition.
    (class.is_none() || heads.len() <= 2).then_some(())?;
    let block = tree.child(definition, Field::Body).filter(|it| tree.kind(*it) == NodeKind::CompoundStatement)?;
    let is_lambda = |node| tree.kind(node) == NodeKind::LambdaExpression;
    (!tree.descendants(block).any(is_lambda)).then_some(())?;
    // A constructor has no type.
    tree.child(definition, Field::Type)?;
    let body = tree.span(block);
    let parameters = parameters(cx, head)?;
    let mut references = BTreeMap::new();
    for (index, parameter) in parameters.iter().enumerate() {
        if let Some(reference) = reference(cx, *parameter, body) {
            references.insert(index, reference);
        }
    }
    let same = |head: &NodeId| self::parameters(cx, *head).is_some_and(|own| own.len() == parameters.len());
    heads.iter().all(same).then_some(())?;
    let object = class.map(|Class { class, is_open }| Object {
        class: class.clone(),
        pointer: cx.fresh_in(tree.span(definition), "own"),
        is_open: *is_open,
    });
    (object.is_some() || !references.is_empty()).then_some(())?;
    let called = match class {
        None => name.clone(),
        Some(Class { class, .. }) if tree.kind(tree.child(head, Field::Declarator)?) == NodeKind::FieldIdentifier => {
            format!("{class}::{name}")
        }
        // Outside of its class it is a function of its own.
        Some(Class { class, .. }) => cx.fresh(&format!("{class}_{name}")),
    };
    Some(Function { name, called, object, body, heads, count: parameters.len(), references })
}

/// Is a function declared by nothing but its type, name and parameters?
fn is_plain(cx: &Context<'_>, head: NodeId) -> bool {
    let tree = cx.tree;
    let Some(declaration) = tree.parent(head) else { return false };
    let is_declaration = matches!(
        tree.kind(declaration),
        NodeKind::FunctionDefinition | NodeKind::Declaration | NodeKind::FieldDeclaration
    );
    let above = tree.parent(declaration).map(|above| tree.kind(above));
    let text = cx.file.show(Span::new(tree.span(declaration).start, tree.span(head).end));
    let is_other = |word: &str| matches!(word, "virtual" | "friend" | "operator" | "override" | "final");
    let is_static_member = above == Some(NodeKind::FieldDeclarationList) && words(&text).any(|word| word == "static");
    is_declaration && above != Some(NodeKind::TemplateDeclaration) && !is_static_member && !words(&text).any(is_other)
}

/// The parameters of a declarator, where each is one.
pub(super) fn parameters(cx: &Context<'_>, head: NodeId) -> Option<Vec<NodeId>> {
    let tree = cx.tree;
    let list = tree.child(head, Field::Parameters)?;
    let is_void = |node: &NodeId| cx.file.bytes(tree.span(*node)) == b"void";
    let all: Vec<NodeId> = tree.named_children(list).filter(|node| !is_void(node)).collect();
    let is_parameter = |node: &NodeId| {
        matches!(tree.kind(*node), NodeKind::ParameterDeclaration | NodeKind::OptionalParameterDeclaration)
    };
    all.iter().all(is_parameter).then_some(all)
}

/// A parameter that is a reference to an object.
fn reference(cx: &Context<'_>, parameter: NodeId, body: Span) -> Option<Reference> {
    let tree = cx.tree;
    let declarator = tree.child(parameter, Field::Declarator)?;
    (tree.kind(declarator) == NodeKind::ReferenceDeclarator).then_some(())?;
    (!cx.file.bytes(tree.span(declarator)).starts_with(b"&&")).then_some(())?;
    let name = tree.named_children(declarator).next().filter(|it| tree.kind(*it) == NodeKind::Identifier)?;
    let name = cx.file.show(tree.span(name)).into_owned();
    let (named, variable) = cx.named(&name, body.start + 1)?;
    let DeclaredType::Reference { to } = &variable.ty else { return None };
    let class = class_of(to).filter(|_| cx.symbols().is_record_in_sight(to, body.start))?;
    Some(Reference { id: named.id, name, class })
}
