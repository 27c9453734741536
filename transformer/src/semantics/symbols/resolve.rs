//! From a declaration to its declared type.

use super::declarators::{inner_declarator, member_pointer};
use super::entries::{Entry, EntryKind};
use super::types::standard_type;
use super::{DeclaredType, Dimension, NameKind, Scope, Symbols, Unit};
use crate::semantics::Integer;
use crate::source::Language;
use crate::syntax::numbers::Format;
use crate::syntax::{Field, NodeId, NodeKind, Number};

mod named;

/// What the names of anonymous structures start with.
pub(super) const ANONYMOUS: &str = "struct @";

/// How many typedefs are followed.
const FUEL: usize = 32;

/// The one type that several declarations of a name agree on; unknown where they contradict each other, as the branches
/// of an `#if` may.
pub(super) fn agreed(types: Vec<DeclaredType>) -> DeclaredType {
    types.into_iter().reduce(merged).unwrap_or(DeclaredType::Unknown)
}

/// The one type of several declarations or definitions of a name, of which any may hold: of numbers of single and of double precision, one
/// of the two.
pub(super) fn agreed_or_real(types: Vec<DeclaredType>, name: &str) -> DeclaredType {
    let are_real = !types.is_empty() && types.iter().all(is_real);
    match agreed(types) {
        DeclaredType::Unknown if are_real => DeclaredType::scalar(Number::Floating(Format::SingleOrDouble), name),
        one => one,
    }
}

/// Is it `float` or `double`, or one of the two?
fn is_real(ty: &DeclaredType) -> bool {
    let formats = [Format::Single, Format::Double, Format::SingleOrDouble];
    formats.iter().any(|format| *ty == DeclaredType::scalar(Number::Floating(*format), ""))
}

fn merged(first: DeclaredType, second: DeclaredType) -> DeclaredType {
    use DeclaredType::Array;
    match (&first, &second) {
        _ if first == second => first,
        // `extern int a[];` and `int a[10];`
        (Array { element, dimensions: open, .. }, Array { element: same, dimensions, .. })
            if element == same && open.len() == dimensions.len() =>
        {
            let is_open = |all: &[Dimension]| all.first().is_some_and(|first| first.text.is_empty());
            if is_open(open) {
                second
            } else if is_open(dimensions) {
                first
            } else {
                DeclaredType::Unknown
            }
        }
        _ => DeclaredType::Unknown,
    }
}

impl Symbols<'_> {
    /// The declared type of one declaration: by the text, or by the compiler where that does not tell.
    pub(super) fn type_of(&self, header: Option<usize>, entry: &Entry) -> DeclaredType {
        let written = self.written_type(header, entry);
        let written = if header.is_none() { self.deduced(entry, written) } else { written };
        if header.is_none() && !written.is_known() { self.type_by_compiler(entry).unwrap_or(written) } else { written }
    }

    /// The declared type of one declaration by the text alone.
    pub(super) fn written_type(&self, header: Option<usize>, entry: &Entry) -> DeclaredType {
        self.unit(header).map_or(DeclaredType::Unknown, |unit| {
            Resolver { symbols: self, header, unit, measures: true }.entry(entry, FUEL)
        })
    }

    /// The type that one declarator of a declaration gives.
    pub(super) fn declared_by(&self, header: Option<usize>, declaration: NodeId, declarator: NodeId) -> DeclaredType {
        self.unit(header).map_or(DeclaredType::Unknown, |unit| {
            Resolver { symbols: self, header, unit, measures: true }.typed(declaration, Some(declarator), FUEL)
        })
    }

    /// The integer type of a declaration without declarators, or `None` if it is another. Lengths of arrays are not asked for: headers
    /// may define constants and arrays in terms of each other without end.
    pub(super) fn integer_of(&self, header: Option<usize>, entry: &Entry) -> Option<Integer> {
        let unit = self.unit(header)?;
        let resolver = Resolver { symbols: self, header, unit, measures: false };
        Integer::of(&resolver.typed(entry.declaration, entry.declarator, FUEL))
    }

    /// How many bytes an object of the number type takes up that words stand for, or `None` if they stand for another. Lengths of arrays
    /// are not asked for here either.
    pub(super) fn bytes_of_number(&self, header: Option<usize>, text: &str, at: usize) -> Option<u32> {
        let resolver = Resolver { symbols: self, header, unit: self.unit(header)?, measures: false };
        Some(resolver.replaced(text, at, FUEL).number()?.bits()? / 8)
    }

    /// The type that words stand for which name one without declarators, at a byte of the file or a header: `unsigned long`, `uint`.
    #[must_use]
    pub fn type_written(&self, header: Option<usize>, text: &str, at: usize) -> DeclaredType {
        let text = text.trim();
        if let Some(name) = text.strip_prefix("std::") {
            return standard_type(name).unwrap_or(DeclaredType::Unknown);
        }
        let resolver = self.unit(header).map(|unit| Resolver { symbols: self, header, unit, measures: true });
        let written = resolver.map_or(DeclaredType::Unknown, |resolver| resolver.replaced(text, at, FUEL));
        let found = || self.lookup_in(header, text, at).filter(|found| found.kind == NameKind::Type);
        if written.is_known() { written } else { found().map_or(written, |found| found.ty.clone()) }
    }

    /// Does a name mean the number that the standard headers call by it?
    #[must_use]
    pub fn is_standard_number(&self, name: &str, at: usize) -> bool {
        Number::read(name).is_some_and(|standard| self.type_named(name, at).number() == Some(&standard))
    }

    /// Every type that the file and its headers declare by a name, and every one that a macro of that name stands for; with each
    /// whether only a part of one function knows it.
    #[must_use]
    pub fn types_named(&self, name: &str) -> Vec<(DeclaredType, bool)> {
        let is_type = |entry: &Entry| matches!(entry.kind, EntryKind::Alias | EntryKind::Tag);
        let declared = self.entries_named(name).into_iter().filter(|(_, entry)| is_type(entry));
        let declared = declared.map(|(header, entry)| (self.type_of(header, entry), entry.is_local()));
        let end = self.own.file.text.len();
        let macros = self.macros_named(name, end).into_iter().filter(|found| found.body != name);
        let macros = macros.map(|found| match found.parameters {
            None => (self.type_written(None, &found.body, end), false),
            Some(_) => (DeclaredType::Unknown, false),
        });
        declared.chain(macros).collect()
    }

    /// The type of what a function returns that its definition writes without a declarator; unknown for others.
    #[must_use]
    pub fn returned_type(&self, header: Option<usize>, function: NodeId) -> DeclaredType {
        let Some(unit) = self.unit(header) else { return DeclaredType::Unknown };
        let declarator = unit.tree.child(function, Field::Declarator);
        let is_plain = declarator.is_some_and(|it| {
            unit.tree.kind(it) == NodeKind::FunctionDeclarator && unit.is_modelled(function, Some(it))
        });
        let resolver = Resolver { symbols: self, header, unit, measures: true };
        if is_plain { resolver.typed(function, None, FUEL) } else { DeclaredType::Unknown }
    }
}

struct Resolver<'s, 'a> {
    symbols: &'s Symbols<'a>,
    header: Option<usize>,
    unit: &'s Unit<'a>,
    /// Are lengths of arrays evaluated?
    measures: bool,
}

impl Resolver<'_, '_> {
    /// Is it a type parameter that calls alone give a class? One with a default may get that where no call names it.
    fn is_plain_type_parameter(&self, declaration: NodeId) -> bool {
        let tree = &self.unit.tree;
        match self.kind(declaration) {
            NodeKind::TypeParameterDeclaration => true,
            NodeKind::OptionalTypeParameterDeclaration => tree
                .child(declaration, Field::DefaultType)
                .is_some_and(|ty| Number::read(&self.unit.file.show(tree.span(ty))).is_some()),
            _ => false,
        }
    }

    fn entry(&self, entry: &Entry, fuel: usize) -> DeclaredType {
        let Some(fuel) = fuel.checked_sub(1) else { return DeclaredType::Unknown };
        match entry.kind {
            // What is no type is a constant of the type that it is written with.
            EntryKind::TemplateParameter if self.kind(entry.declaration) == NodeKind::ParameterDeclaration => {
                self.typed(entry.declaration, entry.declarator, fuel)
            }
            EntryKind::TemplateParameter if self.is_plain_type_parameter(entry.declaration) => {
                let span = entry.name_span;
                DeclaredType::type_parameter(&self.unit.file.show(span))
            }
            EntryKind::TemplateParameter => DeclaredType::Unknown,
            _ if entry.scope == Scope::Unknown && entry.kind != EntryKind::TemplateParameter => DeclaredType::Unknown,
            EntryKind::Deduced => DeclaredType::Auto,
            EntryKind::Enumerator => self.enumerator(entry),
            EntryKind::Tag => self.specifier(entry.declaration, fuel),
            EntryKind::Alias if self.kind(entry.declaration) == NodeKind::AliasDeclaration => {
                let is_modelled = self.unit.is_modelled(entry.declaration, None);
                let descriptor = self.unit.tree.child(entry.declaration, Field::Type).filter(|_| is_modelled);
                descriptor.map_or(DeclaredType::Unknown, |descriptor| {
                    self.typed(descriptor, self.unit.tree.child(descriptor, Field::Declarator), fuel)
                })
            }
            // `T x(y);` in a function: a variable with an argument far more often than a function. Of a number nobody would see its value.
            EntryKind::Function if entry.scope == Scope::Local && self.unit.tree.language() == Language::Cpp => {
                let is_object = self.symbols.is_made_object(self.header, self.unit, entry);
                let ty = if is_object { self.typed(entry.declaration, None, fuel) } else { DeclaredType::Unknown };
                if matches!(ty, DeclaredType::Record { .. }) { ty } else { DeclaredType::Unknown }
            }
            EntryKind::Function if self.unit.declares_the_old_way(entry) => DeclaredType::Unknown,
            EntryKind::Variable | EntryKind::Function | EntryKind::Alias => {
                let ty = self.typed(entry.declaration, entry.declarator, fuel);
                let above = self.unit.tree.parent(entry.declaration).map(|above| self.unit.tree.kind(above));
                // The old way to declare parameters stands between the head and the body.
                let is_parameter = entry.scope == Scope::Parameter || above == Some(NodeKind::FunctionDefinition);
                let ty = if is_parameter && entry.kind == EntryKind::Variable { ty.into_parameter() } else { ty };
                ty.qualified(entry.storage.is_constexpr, false)
            }
        }
    }

    /// In C++ its enumeration; in C an `int`, where all of its constants are such.
    fn enumerator(&self, entry: &Entry) -> DeclaredType {
        let Some(specifier) = self.unit.enumeration_of(entry) else { return DeclaredType::Unknown };
        let ty = match self.unit.tree.language() {
            Language::C if self.unit.has_chosen_type(entry) => DeclaredType::Unknown,
            Language::C if !self.symbols.are_all_int(self.header, specifier) => DeclaredType::Unknown,
            Language::C => DeclaredType::scalar(Number::INT, "int"),
            _ => self.specifier(specifier, FUEL),
        };
        ty.qualified(true, false)
    }

    /// The type that a declaration's specifiers and one declarator give.
    fn typed(&self, declaration: NodeId, declarator: Option<NodeId>, fuel: usize) -> DeclaredType {
        let Some(specifier) = self.unit.tree.child(declaration, Field::Type) else { return DeclaredType::Unknown };
        if !self.unit.is_modelled(declaration, declarator) {
            return DeclaredType::Unknown;
        }
        let (is_const, is_volatile) = self.qualifiers(declaration);
        let mut ty = self.specifier(specifier, fuel).qualified(is_const, is_volatile);
        // From the outside in, each declarator says what the one inside it is made of.
        let mut at = declarator;
        while let Some(declarator) = at {
            ty = self.wrapped(ty, declarator, fuel);
            if member_pointer(&self.unit.tree, declarator).is_some() {
                return DeclaredType::Unknown;
            }
            at = match self.kind(declarator) {
                kind if kind.is_declarator() => inner_declarator(&self.unit.tree, declarator),
                _ => None,
            };
        }
        ty
    }

    fn wrapped(&self, inner: DeclaredType, declarator: NodeId, fuel: usize) -> DeclaredType {
        match self.kind(declarator) {
            NodeKind::PointerDeclarator | NodeKind::AbstractPointerDeclarator | NodeKind::PointerTypeDeclarator => {
                let (is_const, is_volatile) = self.qualifiers(declarator);
                DeclaredType::Pointer { pointee: Box::new(inner), is_const }.qualified(false, is_volatile)
            }
            NodeKind::ReferenceDeclarator | NodeKind::AbstractReferenceDeclarator => {
                DeclaredType::Reference { to: Box::new(inner) }
            }
            NodeKind::ArrayDeclarator | NodeKind::AbstractArrayDeclarator => self.array(inner, declarator),
            NodeKind::FunctionDeclarator | NodeKind::AbstractFunctionDeclarator => self.function(declarator, fuel),
            NodeKind::ParenthesizedDeclarator
            | NodeKind::AbstractParenthesizedDeclarator
            | NodeKind::AttributedDeclarator
            | NodeKind::VariadicDeclarator
            | NodeKind::InitDeclarator => inner,
            kind if kind.is_declarator() => DeclaredType::Unknown,
            _ => inner,
        }
    }

    fn array(&self, element: DeclaredType, declarator: NodeId) -> DeclaredType {
        let size = self.unit.tree.child(declarator, Field::Size);
        let at = self.unit.tree.span(declarator).start;
        let text = size.map(|size| self.text(size)).unwrap_or_default();
        let value = if self.measures { self.symbols.constant_in(self.header, &text, at) } else { None };
        let varies = value.is_none() && !text.is_empty() && !self.is_constant_size(size);
        element.array_of(Dimension { text, value }, varies)
    }

    /// Is a size constant although its value is not known: `sizeof`, a literal? In C++ and outside of functions all are.
    fn is_constant_size(&self, size: Option<NodeId>) -> bool {
        let tree = &self.unit.tree;
        let Some(size) = size else { return true };
        let in_function = tree.ancestors(size).any(|node| tree.kind(node) == NodeKind::FunctionDefinition);
        !in_function || tree.kind(size) == NodeKind::SizeofExpression
    }

    fn function(&self, declarator: NodeId, fuel: usize) -> DeclaredType {
        let tree = &self.unit.tree;
        let Some(list) = tree.child(declarator, Field::Parameters) else { return DeclaredType::Unknown };
        let mut parameters = Vec::new();
        let mut is_variadic = false;
        for child in tree.children(list) {
            match tree.kind(child) {
                NodeKind::ParameterDeclaration | NodeKind::OptionalParameterDeclaration if fuel > 0 => {
                    let declarator = tree.child(child, Field::Declarator);
                    parameters.push(self.typed(child, declarator, fuel - 1).into_parameter());
                }
                NodeKind::VariadicParameter | NodeKind::DotDotDot | NodeKind::VariadicParameterDeclaration => {
                    is_variadic = true
                }
                NodeKind::Comment | NodeKind::OpenParenthesis | NodeKind::CloseParenthesis | NodeKind::Comma => {}
                // The names of parameters that are declared behind the head.
                _ => return DeclaredType::Unknown,
            }
        }
        // In C it takes whatever is handed to it.
        is_variadic |= parameters.is_empty() && tree.language() == Language::C;
        if parameters == [DeclaredType::Void] {
            parameters.clear();
        }
        DeclaredType::Function { parameters, is_variadic }
    }

    /// `const` and `volatile` among the children of a declaration or a pointer's declarator.
    fn qualifiers(&self, node: NodeId) -> (bool, bool) {
        let tree = &self.unit.tree;
        let words = tree.named_children(node).filter(|child| tree.kind(*child) == NodeKind::TypeQualifier);
        let mut found = (false, false);
        for word in words {
            match &*self.text(word) {
                "const" | "constexpr" => found.0 = true,
                "volatile" | "_Atomic" => found.1 = true,
                _ => {}
            }
        }
        found
    }

    fn kind(&self, node: NodeId) -> NodeKind {
        self.unit.tree.kind(node)
    }

    fn text(&self, node: NodeId) -> String {
        self.unit.file.show(self.unit.tree.span(node)).into_owned()
    }
}
