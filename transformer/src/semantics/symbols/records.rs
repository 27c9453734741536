//! Structures that are data and nothing else.

use super::declarators::inner_declarator;
use super::entries::{Entry, EntryKind};
use super::resolve::ANONYMOUS;
use super::{DeclaredType, Found, NameSpace, Symbols, Unit};
use crate::source::{Language, Span, words};
use crate::syntax::{Field, HostTree, NodeId, NodeKind};

/// How deep structures are followed into each other.
const FUEL: usize = 8;

/// What the use of an object of a class may run.
#[derive(Clone, Debug, Default)]
pub struct ClassFunctions {
    /// The definitions: the header, and the node.
    pub bodies: Vec<(Option<usize>, NodeId)>,
    /// The classes of its members.
    pub classes: Vec<DeclaredType>,
    /// May an object lead to other storage, by a pointer or reference, or change although it is constant?
    pub has_pointers: bool,
}

impl Symbols<'_> {
    /// Is it a structure in sight without bases, constructors, a destructor, operators and virtual functions, whose members are
    /// numbers, pointers, arrays of them or such structures? Creating, copying and destroying one then calls nothing.
    #[must_use]
    pub fn is_plain_record(&self, ty: &DeclaredType, at: usize) -> bool {
        self.is_plain(ty, at, FUEL)
    }

    /// Does the file or a header in sight define the structure?
    #[must_use]
    pub fn is_record_in_sight(&self, ty: &DeclaredType, at: usize) -> bool {
        self.specifier_of(ty, at).is_some()
    }

    /// The type of a structure's member; `None` where the structure is not in sight.
    #[must_use]
    pub fn member_type(&self, ty: &DeclaredType, member: &str, at: usize) -> Option<DeclaredType> {
        let (header, specifier) = self.specifier_of(ty, at)?;
        let unit = self.unit(header)?;
        let body = unit.tree.child(specifier, Field::Body)?;
        if unit.tree.language() == Language::C {
            return self.field_type(header, unit, body, member);
        }
        let entries = unit.table.by_name.get(member)?.iter().filter_map(|index| unit.table.entries.get(*index));
        let mut fields = entries.filter(|entry| entry.kind == EntryKind::Variable && entry.scope_node == body);
        let field = fields.next().filter(|entry| !entry.storage.is_static)?;
        fields.next().is_none().then(|| self.type_of(header, field))
    }

    /// The type of a member that is no part of a word, in C, where members are no names of a scope.
    fn field_type(&self, header: Option<usize>, unit: &Unit, body: NodeId, member: &str) -> Option<DeclaredType> {
        let tree = &unit.tree;
        let (declaration, declarator) = declarators(tree, body).find(|(_, declarator)| {
            unit.file.bytes(tree.span(tree.innermost_declarator(*declarator))) == member.as_bytes()
        })?;
        let is_part = |node: NodeId| tree.named_children(node).any(|part| tree.kind(part) == NodeKind::BitfieldClause);
        (!is_part(declaration)).then(|| self.declared_by(header, declaration, declarator))
    }

    /// The numbers that an object of a type is made of beside pointers: itself, or the members of a structure. `None` where it may hold
    /// anything else.
    #[must_use]
    pub fn numbers_in(&self, ty: &DeclaredType, at: usize) -> Option<Vec<DeclaredType>> {
        let mut found = Vec::new();
        self.collect_numbers(ty, at, FUEL, &mut found).then_some(found)
    }

    /// Is it a structure or class in sight, and so no union, whose members are seen as one another?
    pub(in crate::semantics) fn is_structure(&self, ty: &DeclaredType, at: usize) -> bool {
        let specifier = self.specifier_of(ty, at).and_then(|(header, node)| Some((self.unit(header)?, node)));
        specifier.is_some_and(|(unit, node)| {
            matches!(unit.tree.kind(node), NodeKind::StructSpecifier | NodeKind::ClassSpecifier)
        })
    }

    fn collect_numbers(&self, ty: &DeclaredType, at: usize, fuel: usize, found: &mut Vec<DeclaredType>) -> bool {
        let Some(fuel) = fuel.checked_sub(1) else { return false };
        match ty {
            DeclaredType::Scalar { .. } => {
                found.push(ty.clone());
                true
            }
            DeclaredType::Array { element, .. } => self.collect_numbers(element, at, fuel, found),
            DeclaredType::Pointer { .. } => true,
            // It leads to its elements by pointers.
            DeclaredType::Record { .. } if self.vector_element(ty, at).is_some() => true,
            DeclaredType::Record { .. } => {
                let Some((header, specifier)) = self.specifier_of(ty, at) else { return false };
                let Some(unit) = self.unit(header).filter(|_| self.is_structure(ty, at)) else { return false };
                let Some(body) = unit.tree.child(specifier, Field::Body) else { return false };
                let tree = &unit.tree;
                let has_names = tree.named_children(body).all(|member| has_names(tree, member));
                let fields = self.types_of_fields(header, unit, body);
                !has_bases(tree, specifier)
                    && has_names
                    && fields.iter().all(|ty| self.collect_numbers(ty, at, fuel, found))
            }
            _ => false,
        }
    }

    /// The types of a structure's members.
    fn types_of_fields(&self, header: Option<usize>, unit: &Unit, body: NodeId) -> Vec<DeclaredType> {
        if unit.tree.language() == Language::C {
            return declarators(&unit.tree, body).map(|(field, own)| self.declared_by(header, field, own)).collect();
        }
        let fields = unit.table.entries.iter().filter(|entry| entry.scope_node == body);
        let fields = fields.filter(|entry| entry.kind == EntryKind::Variable && !entry.storage.is_static);
        fields.map(|entry| self.type_of(header, entry)).collect()
    }

    fn is_plain(&self, ty: &DeclaredType, at: usize, fuel: usize) -> bool {
        let Some(fuel) = fuel.checked_sub(1) else { return false };
        let Some((header, specifier)) = self.specifier_of(ty, at) else { return false };
        let Some(unit) = self.unit(header) else { return false };
        let Some(body) = unit.tree.child(specifier, Field::Body) else { return false };
        let is_template =
            unit.tree.parent(specifier).is_some_and(|above| unit.tree.kind(above) == NodeKind::TemplateDeclaration);
        let name = unit.tree.child(specifier, Field::Name).map(|name| unit.tree.span(name));
        let name = name.map(|span| unit.file.show(span).into_owned()).unwrap_or_default();
        !has_bases(&unit.tree, specifier)
            && !is_template
            && unit.tree.named_children(body).all(|member| unit.is_plain_member(member, &name))
            && self.types_of_fields(header, unit, body).iter().all(|ty| self.is_plain_field(ty, at, fuel))
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
        if let Some(place) = name.strip_prefix(ANONYMOUS) {
            return self.anonymous_specifier(place);
        }
        let name = name.split_whitespace().last().filter(|name| !matches!(*name, "struct" | "class" | "union"))?;
        let found = self.find_in(NameSpace::Tags, None, name, at)?;
        let Some(only) = found.entries.iter().find(|entry| entry.kind == EntryKind::Tag) else {
            return self.specifier_behind(&found, ty);
        };
        // Of two structures by one name the use of one may be written in the scope of the other.
        let units = std::iter::once(&self.own).chain(self.header_units().map(|(_, unit)| unit));
        let named = units.flat_map(|unit| {
            let indices = unit.table.by_name.get(name).map(Vec::as_slice).unwrap_or_default();
            indices
                .iter()
                .filter(|index| unit.table.entries.get(**index).is_some_and(|entry| entry.kind == EntryKind::Tag))
        });
        if named.count() != 1 {
            return None;
        }
        Some((found.header, only.declaration))
    }
}

impl Symbols<'_> {
    /// The structure for which a `typedef` of the same name stands: `typedef geo::Point Point;`. Before it the name means the structure.
    fn specifier_behind(&self, found: &Found<'_>, ty: &DeclaredType) -> Option<(Option<usize>, NodeId)> {
        let [alias] = found.entries.as_slice() else { return None };
        let is_same = found.header.is_none()
            && alias.kind == EntryKind::Alias
            && self.type_of(None, alias).qualified(ty.is_const(), false) == *ty;
        is_same.then(|| self.specifier_of(ty, self.own.tree.span(alias.declaration).start)).flatten()
    }
}

fn has_bases(tree: &HostTree, specifier: NodeId) -> bool {
    tree.named_children(specifier).any(|part| tree.kind(part) == NodeKind::BaseClassClause)
}

/// Is a part of a structure no member without a name, whose own members count as the structure's, and nothing that hides members?
fn has_names(tree: &HostTree, member: NodeId) -> bool {
    match tree.kind(member) {
        NodeKind::FieldDeclaration => tree.child(member, Field::Declarator).is_some(),
        kind => {
            kind.is_declaration()
                || kind.is_definition()
                || matches!(kind, NodeKind::AccessSpecifier | NodeKind::Comment | NodeKind::TypeDefinition)
        }
    }
}

/// The declarators of a structure's members, each with its declaration.
fn declarators(tree: &HostTree, body: NodeId) -> impl Iterator<Item = (NodeId, NodeId)> {
    let fields = tree.named_children(body).filter(|node| tree.kind(*node) == NodeKind::FieldDeclaration);
    fields.flat_map(|field| {
        let own = tree.children(field).filter(|node| tree.field(*node) == Some(Field::Declarator));
        own.map(move |declarator| (field, declarator))
    })
}

impl Symbols<'_> {
    /// Does the file or one of its headers declare operators? The word alone counts, wherever it stands.
    #[must_use]
    pub fn declares_operators(&self) -> bool {
        let holds = |text: &[u8]| memchr::memmem::find(text, b"operator").is_some();
        holds(&self.own.file.text) || self.headers.iter().any(|(header, _)| holds(&header.text))
    }

    /// Does the file or one of its headers declare an operator that is written so? A macro that holds the word may make any.
    #[must_use]
    pub fn declares_operator(&self, symbol: &[u8]) -> bool {
        const WORD: &[u8] = b"operator";
        // `operator and`, a comment, and a line that goes on, behind which anything may stand.
        const OTHERS: [&[u8]; 11] =
            [b"and", b"bitand", b"bitor", b"compl", b"not", b"or", b"xor", b"/*", b"//", b"\\", b"??/"];
        let is_it = |text: &[u8], at: usize| {
            let rest = text.get(at + WORD.len()..).unwrap_or_default().trim_ascii_start();
            let line = text.get(..at).unwrap_or_default().rsplit(|byte| *byte == b'\n');
            let mut lines = line.map(<[u8]>::trim_ascii);
            let own = lines.next().is_some_and(|line| line.starts_with(b"#"));
            let in_macro = || {
                let mut above = lines.take_while(|line| line.ends_with(b"\\"));
                above.any(|line| line.starts_with(b"#"))
            };
            rest.starts_with(symbol) || OTHERS.iter().any(|it| rest.starts_with(it)) || own || in_macro()
        };
        let holds = |text: &[u8]| memchr::memmem::find_iter(text, WORD).any(|at| is_it(text, at));
        holds(&self.own.file.text) || self.headers.iter().any(|(header, _)| holds(&header.text))
    }

    /// Is arithmetic on enumerators the language's own: does nobody declare operators that may be for them?
    #[must_use]
    pub fn has_own_arithmetic(&self) -> bool {
        self.own.tree.language() != Language::Cpp || !self.declares_operators()
    }

    /// Is it a number for which no operators can be declared, or nobody does?
    #[must_use]
    pub(in crate::semantics) fn is_certain_number(&self, ty: &DeclaredType) -> bool {
        ty.number().is_some_and(|number| !number.is_enumeration() || self.has_own_arithmetic())
    }

    /// Does the use of an object of this type call nothing, nor does its creation and end: a plain structure, for which nobody
    /// declares operators?
    pub(super) fn calls_nothing(&self, ty: &DeclaredType, at: usize) -> bool {
        self.is_plain_record(ty, at) && !self.declares_operators()
    }

    /// The functions that the use of an object may call without a call in the text, its named functions among them, and the
    /// classes of its members. `None` where not all of them are in sight.
    #[must_use]
    pub fn class_functions(&self, ty: &DeclaredType, at: usize) -> Option<ClassFunctions> {
        if self.calls_nothing(ty, at) {
            return Some(ClassFunctions::default());
        }
        let (header, specifier) = self.specifier_of(ty, at)?;
        let unit = self.unit(header)?;
        let tree = &unit.tree;
        let body = tree.child(specifier, Field::Body)?;
        let above = tree.parent(specifier).map(|above| tree.kind(above));
        let is_hidden = |node: &NodeId| {
            matches!(
                tree.kind(*node),
                NodeKind::Virtual | NodeKind::Error | NodeKind::UsingDeclaration | NodeKind::TemplateDeclaration
            ) || self.is_hidden_call(unit, *node)
        };
        let is_based = tree.named_children(specifier).any(|node| tree.kind(node) == NodeKind::BaseClassClause);
        if is_based
            || above == Some(NodeKind::TemplateDeclaration)
            || tree.descendants(specifier).any(|node| is_hidden(&node))
        {
            return None;
        }
        let name = unit.file.show(tree.span(tree.child(specifier, Field::Name)?)).into_owned();
        if self.macro_makes_operators() {
            return None;
        }
        let text = unit.file.show(tree.span(specifier));
        let mut found =
            ClassFunctions { has_pointers: words(&text).any(|w| w == "mutable"), ..ClassFunctions::default() };
        let units =
            std::iter::once((None, &self.own)).chain(self.header_units().map(|(index, unit)| (Some(index), unit)));
        let (mut declared, mut defined) = (Vec::new(), Vec::new());
        for (index, unit) in units {
            for entry in unit.table.entries.iter().filter(|entry| entry.kind == EntryKind::Function) {
                let word = unit.file.show(entry.name_span);
                let is_of_class = entry.class.as_deref() == Some(&*name);
                let is_operator = entry.class.is_none() && word.starts_with("operator");
                let head = unit.file.show(tree_head(&unit.tree, entry));
                // Nobody writes to a stream where an object is only computed with.
                let is_output = matches!(&*word, "operator<<" | "operator>>") && head.contains("stream");
                if is_output || !(is_of_class || is_operator) {
                    continue;
                }
                match entry.definition {
                    Some(definition) => found.bodies.push((index, definition)),
                    None => declared.push((word.into_owned(), self.type_of(index, entry))),
                }
                if entry.definition.is_some() {
                    defined.push((unit.file.show(entry.name_span).into_owned(), self.type_of(index, entry)));
                }
            }
        }
        let fields =
            unit.table.entries.iter().filter(|entry| entry.scope_node == body && entry.kind == EntryKind::Variable);
        for ty in fields.map(|entry| self.type_of(header, entry)) {
            found.has_pointers |= !holds_values(&ty);
            if !ty.is_known() {
                return None;
            }
            found.classes.extend(ty.class().cloned());
        }
        declared.iter().all(|function| defined.contains(function)).then_some(found)
    }

    /// Is it a call, or a macro, in the default value of a member or of a parameter? It is made where no call stands.
    fn is_hidden_call(&self, unit: &Unit<'_>, node: NodeId) -> bool {
        let tree = &unit.tree;
        let may_call = match tree.kind(node) {
            NodeKind::CallExpression | NodeKind::NewExpression | NodeKind::LambdaExpression => true,
            NodeKind::Identifier => {
                !self.macros_named(&unit.file.show(tree.span(node)), tree.span(node).start).is_empty()
            }
            _ => false,
        };
        let mut around = tree.ancestors(node);
        let place = around.find(|above| {
            matches!(
                tree.kind(*above),
                NodeKind::CompoundStatement | NodeKind::FieldDeclaration | NodeKind::OptionalParameterDeclaration
            )
        });
        may_call && place.is_some_and(|place| tree.kind(place) != NodeKind::CompoundStatement)
    }

    /// Does the text of a macro declare operators, perhaps?
    fn macro_makes_operators(&self) -> bool {
        let units = std::iter::once(&self.own).chain(self.header_units().map(|(_, unit)| unit));
        units.into_iter().any(|unit| {
            let mut macros = unit.table.macros.values().flatten();
            macros.any(|(_, span)| memchr::memmem::find(unit.file.bytes(*span), b"operator").is_some())
        })
    }

    fn anonymous_specifier(&self, place: &str) -> Option<(Option<usize>, NodeId)> {
        let (header, start) = place.split_once(':')?;
        let header = if header.is_empty() { None } else { Some(header.parse::<usize>().ok()?) };
        let start = start.parse::<usize>().ok()?;
        let tree = &self.unit(header)?.tree;
        let node = tree.covering(Span::new(start, start));
        let mut around = std::iter::once(node).chain(tree.ancestors(node));
        around
            .find(|node| tree.span(*node).start == start && tree.kind(*node).is_specifier())
            .map(|node| (header, node))
    }
}

/// Does an object of this type hold its values in itself?
fn holds_values(ty: &DeclaredType) -> bool {
    match ty {
        DeclaredType::Scalar { is_volatile, .. } => !is_volatile,
        DeclaredType::Array { element, .. } => holds_values(element),
        DeclaredType::Record { .. } => true,
        _ => false,
    }
}

/// A function's declaration without its body.
fn tree_head(tree: &HostTree, entry: &Entry) -> Span {
    let whole = tree.span(entry.declaration);
    let body = entry.definition.and_then(|definition| tree.child(definition, Field::Body));
    Span::new(whole.start, body.map_or(whole.end, |body| tree.span(body).start))
}

impl Unit<'_> {
    /// Is it a data member without a call in its initialiser, or a function that is called by its name alone?
    fn is_plain_member(&self, member: NodeId, class: &str) -> bool {
        let tree = &self.tree;
        match tree.kind(member) {
            NodeKind::AccessSpecifier | NodeKind::Comment => true,
            NodeKind::FieldDeclaration | NodeKind::FunctionDefinition => {
                let calls = |node| {
                    matches!(
                        tree.kind(node),
                        NodeKind::CallExpression | NodeKind::Virtual | NodeKind::BitfieldClause | NodeKind::Error
                    )
                };
                let inside =
                    tree.descendants(member).take_while(|node| tree.kind(*node) != NodeKind::CompoundStatement);
                let mut declarators = tree.children(member).filter(|node| tree.field(*node) == Some(Field::Declarator));
                let initialiser = tree.child(member, Field::DefaultValue);
                !inside.into_iter().any(calls)
                    && initialiser.is_none_or(|value| self.is_made_of_literals(value))
                    && declarators.all(|declarator| self.has_plain_name(declarator, class))
            }
            _ => false,
        }
    }

    /// Does a member's initialiser read nothing? It is evaluated wherever an object is made.
    fn is_made_of_literals(&self, value: NodeId) -> bool {
        let tree = &self.tree;
        tree.descendants(value).filter(|node| tree.is_named(*node)).all(|node| {
            matches!(
                tree.kind(node),
                NodeKind::NumberLiteral
                    | NodeKind::CharLiteral
                    | NodeKind::Character
                    | NodeKind::True
                    | NodeKind::False
                    | NodeKind::Null
                    | NodeKind::UnaryExpression
                    | NodeKind::BinaryExpression
                    | NodeKind::ParenthesizedExpression
                    | NodeKind::InitializerList
                    | NodeKind::Comment
            )
        })
    }

    /// Not that of a constructor, a destructor or an operator.
    fn has_plain_name(&self, declarator: NodeId, class: &str) -> bool {
        let mut at = declarator;
        while let Some(inner) = inner_declarator(&self.tree, at) {
            at = inner;
        }
        self.tree.kind(at).is_identifier() && self.file.show(self.tree.span(at)) != class
    }
}
