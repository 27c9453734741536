//! How each name in a piece of the program is used.

use crate::semantics::symbols::is_attribute;
use crate::source::{Language, SourceFile, Span};
use crate::syntax::{Field, HostTree, NodeId, NodeKind, Number};

/// What is done with a name at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Its value, or an element's or member's value, is read; a pointer may be handed on.
    Read,
    /// The object itself is assigned, incremented or the like.
    Write,
    /// An element, a member, or what it points to is assigned.
    ElementWrite,
    /// The address of the object itself is taken, or a C++ reference is bound to it.
    Address,
    /// It stands as an argument of a call, alone or with `&` before an element of it.
    Argument,
    /// It is called.
    Callee,
    /// A member function of it is called.
    MethodCall,
    /// It is declared here.
    Declaration,
}

/// One use of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// The name; with its qualifiers in C++ (`std::sqrt`).
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// Its node.
    pub node: NodeId,
    /// What is done with it.
    pub role: Role,
}

/// Every use of a variable or function name below `root`, in the order of the text. Member names, labels and type names
/// are no uses, and neither is what stands in attributes: those that may do something are refused as a whole.
#[must_use]
pub fn uses_below(file: &SourceFile, tree: &HostTree, root: NodeId) -> Vec<Use> {
    let mut behind_attribute = 0;
    let is_read = |node: &NodeId| {
        let span = tree.span(*node);
        if is_attribute(tree.kind(*node)) {
            behind_attribute = behind_attribute.max(span.end);
        }
        span.start >= behind_attribute
    };
    tree.descendants(root).filter(is_read).filter_map(|node| use_at(file, tree, node)).collect()
}

/// What `type name(other);` within a C++ function does with `other`, which the grammar takes for the declaration of a function: where
/// it is a variable it initialises an object, or a reference is bound to it. `None` for other names.
#[must_use]
pub fn initialiser_role(file: &SourceFile, tree: &HostTree, node: NodeId) -> Option<Role> {
    if !is_cpp(tree) || tree.kind(node) != NodeKind::TypeIdentifier {
        return None;
    }
    let mut above = tree.ancestors(node);
    let mut next_is = |kind: NodeKind| above.next().filter(|above| tree.kind(*above) == kind);
    next_is(NodeKind::ParameterDeclaration).filter(|parameter| tree.child(*parameter, Field::Declarator).is_none())?;
    next_is(NodeKind::ParameterList)?;
    next_is(NodeKind::FunctionDeclarator)?;
    let mut is_reference = false;
    let declaration = above.find(|above| {
        is_reference |= tree.kind(*above) == NodeKind::ReferenceDeclarator;
        !tree.kind(*above).is_declarator()
    })?;
    let is_local =
        tree.kind(declaration) == NodeKind::Declaration && above.any(|it| tree.kind(it) == NodeKind::CompoundStatement);
    let role = if !is_reference && copies_initialisers(file, tree, declaration) { Role::Read } else { Role::Address };
    is_local.then_some(role)
}

/// Are the objects of a declaration made from copies of what initialises them: numbers, and containers of the standard library
/// that hold no references?
#[must_use]
pub fn copies_initialisers(file: &SourceFile, tree: &HostTree, declaration: NodeId) -> bool {
    let Some(ty) = tree.child(declaration, Field::Type) else { return false };
    if matches!(tree.kind(ty), NodeKind::PrimitiveType | NodeKind::SizedTypeSpecifier) {
        return true;
    }
    let text = file.show(tree.span(ty)).split_whitespace().collect::<String>();
    let name = text.strip_prefix("std::").map(|rest| rest.split('<').next().unwrap_or_default());
    let is_container = name.is_some_and(|name| CONTAINERS.contains(&name)) && !text.contains('&');
    // An element of a class may keep a reference to what it is made from; a container's length is not handed to its elements.
    let is_number = |part: &str| {
        let part = part.trim();
        part.is_empty() || CONTAINERS.contains(&part.trim_start_matches("std::")) || Number::read(part).is_some()
    };
    let holds_numbers = || file.show(tree.span(ty)).split(['<', ',', '>']).all(is_number);
    let has_length_alone = || {
        let lists = tree.descendants(declaration).filter(|node| {
            matches!(tree.kind(*node), NodeKind::ArgumentList | NodeKind::ParameterList | NodeKind::InitializerList)
        });
        let mut lists = lists.into_iter();
        name.is_some_and(|name| OF_LENGTH.contains(&name))
            && lists.all(|list| tree.kind(list) != NodeKind::InitializerList && tree.named_children(list).count() <= 1)
    };
    is_container && (holds_numbers() || has_length_alone())
}

/// Containers of which one argument in parentheses is the length.
const OF_LENGTH: &[&str] = &["deque", "list", "valarray", "vector"];

/// Classes of the standard library whose objects keep no reference to a number that they are made from.
const CONTAINERS: &[&str] = &[
    "array",
    "bitset",
    "complex",
    "deque",
    "list",
    "map",
    "multimap",
    "multiset",
    "set",
    "shared_ptr",
    "string",
    "unique_ptr",
    "unordered_map",
    "unordered_set",
    "valarray",
    "vector",
];

fn use_at(file: &SourceFile, tree: &HostTree, node: NodeId) -> Option<Use> {
    let kind = tree.kind(node);
    if let Some(role) = initialiser_role(file, tree, node) {
        let span = tree.span(node);
        return Some(Use { name: file.show(span).into_owned(), span, node, role });
    }
    if kind != NodeKind::Identifier && kind != NodeKind::This && kind != NodeKind::QualifiedIdentifier {
        return None;
    }
    if tree.ancestors(node).take(2).any(|above| tree.kind(above) == NodeKind::QualifiedIdentifier) {
        return None;
    }
    // A type's name, or a scope's.
    if kind == NodeKind::QualifiedIdentifier && tree.field(node) == Some(Field::Type) {
        return None;
    }
    let span = tree.span(node);
    let text = file.show(span);
    let is_spaced = kind == NodeKind::QualifiedIdentifier;
    let name = if is_spaced { text.split_whitespace().collect() } else { text.into_owned() };
    Some(Use { name, span, node, role: role_of(tree, node) })
}

/// The member of a structure that a use of its name goes through first: `width` in `net.width`.
#[must_use]
pub fn member_of(file: &SourceFile, tree: &HostTree, name: NodeId) -> Option<String> {
    let parent = tree.parent(name).filter(|parent| tree.kind(*parent) == NodeKind::FieldExpression)?;
    tree.child(parent, Field::Field).map(|field| file.show(tree.span(field)).into_owned())
}

/// What is done with the value of an expression: `this->n`, which stands for a member.
#[must_use]
pub fn role_of_expression(tree: &HostTree, node: NodeId) -> Role {
    role_of(tree, node)
}

/// Is the address taken of an element, a member or what the name points to, and not of the object itself?
#[must_use]
pub fn is_element_address(tree: &HostTree, name: NodeId) -> bool {
    let outwards = |node: &NodeId| {
        let kind = tree.kind(*node);
        let selects = matches!(
            kind,
            NodeKind::SubscriptExpression | NodeKind::FieldExpression | NodeKind::ParenthesizedExpression
        );
        selects || (kind == NodeKind::PointerExpression && tree.operator(*node) == Some(NodeKind::Star))
    };
    let taken = tree.ancestors(name).find(|node| !outwards(node));
    let direct = tree.parent(name) == taken;
    !direct
        && taken.is_some_and(|node| {
            tree.kind(node) == NodeKind::PointerExpression && tree.operator(node) == Some(NodeKind::Ampersand)
        })
}

/// What the expression around a name does with it.
fn role_of(tree: &HostTree, name: NodeId) -> Role {
    let mut node = name;
    let mut element = false;
    let written = |element: bool| if element { Role::ElementWrite } else { Role::Write };
    while let Some(parent) = tree.parent(node) {
        let field = tree.field(node);
        match tree.kind(parent) {
            NodeKind::ParenthesizedExpression
            | NodeKind::CastExpression
            | NodeKind::CommaExpression
            | NodeKind::ConditionalExpression
            | NodeKind::TemplateFunction => {}
            NodeKind::SubscriptExpression if field == Some(Field::Argument) => element = true,
            NodeKind::FieldExpression if field == Some(Field::Argument) => element = true,
            NodeKind::PointerExpression => match tree.operator(parent) {
                Some(NodeKind::Ampersand) if !element => return Role::Address,
                Some(NodeKind::Ampersand) => return Role::Argument,
                _ => element = true,
            },
            NodeKind::BinaryExpression if is_sum(tree, parent) => {}
            NodeKind::AssignmentExpression if field == Some(Field::Left) => return written(element),
            NodeKind::UpdateExpression => return written(element),
            NodeKind::CallExpression if field == Some(Field::Function) => {
                return if element { Role::MethodCall } else { Role::Callee };
            }
            NodeKind::ArgumentList if makes_reference(tree, parent) => {
                return if element { Role::ElementWrite } else { Role::Address };
            }
            NodeKind::ArgumentList => return if element { Role::Read } else { Role::Argument },
            NodeKind::InitDeclarator if field == Some(Field::Declarator) => return Role::Declaration,
            // In a condition, a parameter's default or a member, no declarator stands around the value.
            _ if matches!(field, Some(Field::Value | Field::DefaultValue)) && binds_reference(tree, parent) => {
                return if element { Role::ElementWrite } else { Role::Address };
            }
            NodeKind::ReferenceDeclarator => return Role::Declaration,
            kind if kind.is_declarator() && field == Some(Field::Declarator) => return Role::Declaration,
            NodeKind::Declaration | NodeKind::ParameterDeclaration | NodeKind::ForRangeLoop
                if field == Some(Field::Declarator) =>
            {
                return Role::Declaration;
            }
            // A variable that is no reference is a copy of each element.
            NodeKind::ForRangeLoop
                if tree
                    .child(parent, Field::Declarator)
                    .is_some_and(|node| tree.kind(node) == NodeKind::Identifier) =>
            {
                return Role::Read;
            }
            NodeKind::InitializerList if initialises_numbers(tree, parent) => return Role::Read,
            NodeKind::ForRangeLoop | NodeKind::InitializerList if !element && is_cpp(tree) => return Role::Address,
            _ => return Role::Read,
        }
        node = parent;
    }
    Role::Read
}

/// Do braces hold the value of a number, or those of an array of numbers, by the words of its declaration or conversion? They are copied,
/// and make no object.
pub(crate) fn initialises_numbers(tree: &HostTree, braces: NodeId) -> bool {
    let ty = type_initialised(tree, braces).map(|ty| tree.kind(ty));
    matches!(ty, Some(NodeKind::PrimitiveType | NodeKind::SizedTypeSpecifier))
}

/// The type of the object, or of the elements of the array, that braces hold the value of, by its declaration or conversion; `None` for
/// pointers, references and what the text does not show.
pub(crate) fn type_initialised(tree: &HostTree, braces: NodeId) -> Option<NodeId> {
    let is_list = |node: &NodeId| tree.kind(*node) == NodeKind::InitializerList;
    let list = std::iter::successors(Some(braces), |node| tree.parent(*node).filter(is_list)).last()?;
    let around = tree.parent(list)?;
    match tree.kind(around) {
        NodeKind::CompoundLiteralExpression => tree.child(around, Field::Type),
        NodeKind::InitDeclarator if tree.child(around, Field::Value) == Some(list) => {
            let inner = |node: &NodeId| {
                tree.child(*node, Field::Declarator).filter(|_| tree.kind(*node) == NodeKind::ArrayDeclarator)
            };
            let name = std::iter::successors(tree.child(around, Field::Declarator), inner).last()?;
            let is_plain = tree.kind(name) == NodeKind::Identifier;
            tree.parent(around).filter(|_| is_plain).and_then(|declaration| tree.child(declaration, Field::Type))
        }
        _ => None,
    }
}

fn is_cpp(tree: &HostTree) -> bool {
    tree.language() == Language::Cpp
}

/// Is it `a + b` or `a - b`, through which a pointer may reach an assignment?
fn is_sum(tree: &HostTree, node: NodeId) -> bool {
    matches!(tree.operator(node), Some(NodeKind::Plus | NodeKind::Minus))
}

/// Are these the arguments of `static_cast<T &>(..)`, or of another template made for references?
fn makes_reference(tree: &HostTree, arguments: NodeId) -> bool {
    let function = tree.parent(arguments).and_then(|call| tree.child(call, Field::Function));
    let function = function.filter(|function| tree.kind(*function) != NodeKind::Identifier);
    function.is_some_and(|function| {
        tree.descendants(function).any(|inner| tree.kind(inner) == NodeKind::AbstractReferenceDeclarator)
    })
}

/// Does a declaration, or a declarator with its initialiser, bind a reference to the value in it, as far as the syntax tells? Which
/// type `decltype` gives it does not.
fn binds_reference(tree: &HostTree, holder: NodeId) -> bool {
    let declaration = if tree.kind(holder) == NodeKind::InitDeclarator { tree.parent(holder) } else { Some(holder) };
    let ty = declaration.and_then(|declaration| tree.child(declaration, Field::Type));
    tree.child(holder, Field::Declarator).is_some_and(|declarator| tree.declares_reference(declarator))
        || ty.is_some_and(|ty| tree.descendants(ty).any(|inner| tree.kind(inner) == NodeKind::Decltype))
}
