//! From a declaration to its declared type.

use super::declarators::inner_declarator;
use super::entries::{Entry, EntryKind};
use super::types::standard_type;
use super::{DeclaredType, Dimension, ScalarKind, Scope, Symbols, Unit, constants};
use crate::source::Language;
use crate::syntax::NodeId;

/// What the names of anonymous structures start with.
pub(super) const ANONYMOUS: &str = "struct @";

/// How many typedefs are followed.
const FUEL: usize = 32;

/// The one type that several declarations of a name agree on; unknown where they contradict each other, as the branches
/// of an `#if` may.
pub(super) fn agreed(types: Vec<DeclaredType>) -> DeclaredType {
    types.into_iter().reduce(merged).unwrap_or(DeclaredType::Unknown)
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
        if header.is_none() && !written.is_known() { self.type_by_compiler(entry).unwrap_or(written) } else { written }
    }

    /// The declared type of one declaration by the text alone.
    pub(super) fn written_type(&self, header: Option<usize>, entry: &Entry) -> DeclaredType {
        self.unit(header)
            .map_or(DeclaredType::Unknown, |unit| Resolver { symbols: self, header, unit }.entry(entry, FUEL))
    }

    /// The value of a constant expression at a byte of the file or a header.
    pub(super) fn constant_in(&self, header: Option<usize>, text: &str, at: usize) -> Option<i64> {
        constants::evaluate(text, &|name| self.constant_text(header, name, at))
    }

    /// What a name stands for in a constant expression.
    fn constant_text(&self, header: Option<usize>, name: &str, at: usize) -> Option<String> {
        if let Some(found) = self.macro_definition(name, if header.is_none() { at } else { usize::MAX }) {
            let is_certain = !self.is_redefined(name) && !self.definitions.iter().any(|flag| flag.name == name);
            return (found.parameters.is_none() && is_certain).then_some(found.body);
        }
        let found = self.find(header, name, at)?;
        let entry = found.chosen();
        let unit = self.unit(found.header)?;
        let is_constant = match entry.kind {
            EntryKind::Enumerator => true,
            // Its type is not resolved: headers may define constants and arrays in terms of each other without end.
            EntryKind::Variable => {
                let has_plain_name = entry.declarator.is_some_and(|name| unit.tree.kind(name) == "identifier");
                unit.tree.language() == Language::Cpp && has_plain_name && unit.is_const(entry)
            }
            _ => false,
        };
        let value = unit.tree.span(entry.initializer.filter(|_| is_constant)?);
        // Braces keep what stands for a name one operand.
        Some(format!("({})", unit.file.show(value)))
    }
}

impl Unit<'_> {
    /// Is a declaration written with `const` or `constexpr`?
    fn is_const(&self, entry: &Entry) -> bool {
        let words = self.tree.named_children(entry.declaration);
        words.into_iter().any(|word| matches!(self.file.bytes(self.tree.span(word)), b"const" | b"constexpr"))
    }
}

struct Resolver<'s, 'a> {
    symbols: &'s Symbols<'a>,
    header: Option<usize>,
    unit: &'s Unit<'a>,
}

impl Resolver<'_, '_> {
    fn entry(&self, entry: &Entry, fuel: usize) -> DeclaredType {
        let Some(fuel) = fuel.checked_sub(1) else { return DeclaredType::Unknown };
        match entry.kind {
            // What is no type is a constant of the type that it is written with.
            EntryKind::TemplateParameter if self.kind(entry.declaration) == "parameter_declaration" => {
                self.typed(entry.declaration, entry.declarator, fuel)
            }
            EntryKind::TemplateParameter if self.kind(entry.declaration) == "type_parameter_declaration" => {
                let span = entry.name_span;
                DeclaredType::type_parameter(&self.unit.file.show(span))
            }
            EntryKind::TemplateParameter => DeclaredType::Unknown,
            EntryKind::Deduced => DeclaredType::Auto,
            EntryKind::Enumerator => DeclaredType::scalar(ScalarKind::Integer, "int").qualified(true, false),
            EntryKind::Tag => self.specifier(entry.declaration, fuel),
            EntryKind::Alias if self.kind(entry.declaration) == "alias_declaration" => {
                let descriptor = self.unit.tree.child(entry.declaration, "type");
                descriptor.map_or(DeclaredType::Unknown, |descriptor| {
                    self.typed(descriptor, self.unit.tree.child(descriptor, "declarator"), fuel)
                })
            }
            // `T x(y);` in a function: a variable with an argument far more often than a function.
            EntryKind::Function if entry.scope == Scope::Local && self.unit.tree.language() == Language::Cpp => {
                DeclaredType::Unknown
            }
            EntryKind::Variable | EntryKind::Function | EntryKind::Alias => {
                let ty = self.typed(entry.declaration, entry.declarator, fuel);
                let ty = if entry.scope == Scope::Parameter { ty.into_parameter() } else { ty };
                ty.qualified(entry.storage.is_constexpr, false)
            }
        }
    }

    /// The type that a declaration's specifiers and one declarator give.
    fn typed(&self, declaration: NodeId, declarator: Option<NodeId>, fuel: usize) -> DeclaredType {
        let Some(specifier) = self.unit.tree.child(declaration, "type") else { return DeclaredType::Unknown };
        let (is_const, is_volatile) = self.qualifiers(declaration);
        let mut ty = self.specifier(specifier, fuel).qualified(is_const, is_volatile);
        // From the outside in, each declarator says what the one inside it is made of.
        let mut at = declarator;
        while let Some(declarator) = at {
            ty = self.wrapped(ty, declarator, fuel);
            at = match self.kind(declarator) {
                kind if kind.ends_with("declarator") => inner_declarator(&self.unit.tree, declarator),
                _ => None,
            };
        }
        ty
    }

    fn wrapped(&self, inner: DeclaredType, declarator: NodeId, fuel: usize) -> DeclaredType {
        match self.kind(declarator) {
            "pointer_declarator" | "abstract_pointer_declarator" | "pointer_type_declarator" => {
                let (is_const, _) = self.qualifiers(declarator);
                DeclaredType::Pointer { pointee: Box::new(inner), is_const }
            }
            "reference_declarator" | "abstract_reference_declarator" => DeclaredType::Reference { to: Box::new(inner) },
            "array_declarator" | "abstract_array_declarator" | "array_type_declarator" => self.array(inner, declarator),
            "function_declarator" | "abstract_function_declarator" | "function_type_declarator" => {
                self.function(declarator, fuel)
            }
            _ => inner,
        }
    }

    fn array(&self, element: DeclaredType, declarator: NodeId) -> DeclaredType {
        let size = self.unit.tree.child(declarator, "size");
        let at = self.unit.tree.span(declarator).start;
        let text = size.map(|size| self.text(size)).unwrap_or_default();
        let value = self.symbols.constant_in(self.header, &text, at);
        let varies = value.is_none() && !text.is_empty() && !self.is_constant_size(size);
        element.array_of(Dimension { text, value }, varies)
    }

    /// Is a size constant although its value is not known: `sizeof`, a literal? In C++ and outside of functions all are.
    fn is_constant_size(&self, size: Option<NodeId>) -> bool {
        let tree = &self.unit.tree;
        let Some(size) = size else { return true };
        let in_function = tree.ancestors(size).any(|node| tree.kind(node) == "function_definition");
        !in_function || tree.kind(size) == "sizeof_expression"
    }

    fn function(&self, declarator: NodeId, fuel: usize) -> DeclaredType {
        let tree = &self.unit.tree;
        let Some(list) = tree.child(declarator, "parameters") else { return DeclaredType::Unknown };
        let mut parameters = Vec::new();
        let mut is_variadic = false;
        for child in tree.children(list) {
            match tree.kind(child) {
                "parameter_declaration" | "optional_parameter_declaration" if fuel > 0 => {
                    let declarator = tree.child(child, "declarator");
                    parameters.push(self.typed(child, declarator, fuel - 1).into_parameter());
                }
                "variadic_parameter" | "..." | "variadic_parameter_declaration" => is_variadic = true,
                _ => {}
            }
        }
        if parameters == [DeclaredType::Void] {
            parameters.clear();
        }
        DeclaredType::Function { parameters, is_variadic }
    }

    /// The type that a type specifier names.
    fn specifier(&self, node: NodeId, fuel: usize) -> DeclaredType {
        let tree = &self.unit.tree;
        match self.kind(node) {
            "primitive_type" | "type_identifier" => self.name(&self.text(node), node, fuel),
            "sized_type_specifier" => {
                let name = self.text(node).split_whitespace().collect::<Vec<_>>().join(" ");
                let is_floating = name.split(' ').any(|word| word == "double");
                DeclaredType::scalar(if is_floating { ScalarKind::Floating } else { ScalarKind::Integer }, &name)
            }
            "struct_specifier" | "union_specifier" | "class_specifier" | "template_type" => {
                let name =
                    tree.child(node, "name").map_or_else(|| self.place_of_type(node), |_| self.text_of_type(node));
                let may_be_class = tree.language() == Language::Cpp;
                DeclaredType::Record { name, is_const: false, may_be_class }
            }
            "enum_specifier" => {
                let name =
                    tree.child(node, "name").map_or("int".to_owned(), |name| format!("enum {}", self.text(name)));
                DeclaredType::scalar(ScalarKind::Integer, &name)
            }
            "qualified_identifier" => self.qualified_name(node, fuel),
            "placeholder_type_specifier" | "auto" => DeclaredType::Auto,
            _ => DeclaredType::Unknown,
        }
    }

    /// `std::size_t`, `ns::real`: standard names by their last word, others where the file has only one such type.
    fn qualified_name(&self, node: NodeId, fuel: usize) -> DeclaredType {
        let text = self.text(node);
        let tree = &self.unit.tree;
        let mut last = node;
        while self.kind(last) == "qualified_identifier" {
            match tree.child(last, "name") {
                Some(inner) => last = inner,
                None => break,
            }
        }
        match self.kind(last) {
            "template_type" => DeclaredType::Record { name: text, is_const: false, may_be_class: true },
            _ if text.starts_with("std::") => standard_type(&self.text(last)).unwrap_or(DeclaredType::Record {
                name: text,
                is_const: false,
                may_be_class: true,
            }),
            _ => self.name(&self.text(last), node, fuel),
        }
    }

    /// A type by its name: a declaration in sight, a macro for a type, or a standard name.
    fn name(&self, name: &str, node: NodeId, fuel: usize) -> DeclaredType {
        let Some(fuel) = fuel.checked_sub(1) else { return DeclaredType::Unknown };
        let at = self.unit.tree.span(node).start;
        if let Some(found) = self.symbols.find(self.header, name, at) {
            let Some(unit) = self.symbols.unit(found.header) else { return DeclaredType::Unknown };
            let there = Resolver { symbols: self.symbols, header: found.header, unit };
            let types = found
                .entries
                .iter()
                .filter(|entry| matches!(entry.kind, EntryKind::Alias | EntryKind::Tag | EntryKind::TemplateParameter));
            return agreed(types.map(|entry| there.entry(entry, fuel)).collect());
        }
        let end_of_header = self.unit.file.text.len();
        let replaced = self.symbols.macro_definition(name, if self.header.is_none() { at } else { end_of_header });
        match replaced {
            Some(found) if found.parameters.is_none() => self.replaced(&found.body, node, fuel),
            Some(_) => DeclaredType::Unknown,
            None => standard_type(name).unwrap_or(DeclaredType::Unknown),
        }
    }

    /// A macro's body that is a type's name: `#define DATA_TYPE double`.
    fn replaced(&self, body: &str, node: NodeId, fuel: usize) -> DeclaredType {
        let words: Vec<&str> = body.split_whitespace().collect();
        match words.as_slice() {
            [] => DeclaredType::Unknown,
            [word] => self.name(word, node, fuel),
            words
                if words
                    .iter()
                    .all(|word| matches!(*word, "unsigned" | "signed" | "long" | "short" | "int" | "char")) =>
            {
                DeclaredType::scalar(ScalarKind::Integer, &words.join(" "))
            }
            ["long", "double"] => DeclaredType::scalar(ScalarKind::Floating, "long double"),
            ["struct" | "union", name] => {
                DeclaredType::Record { name: format!("{} {name}", words[0]), is_const: false, may_be_class: false }
            }
            ["const", rest @ ..] => self.replaced(&rest.join(" "), node, fuel.saturating_sub(1)).qualified(true, false),
            _ => DeclaredType::Unknown,
        }
    }

    /// `const` and `volatile` among the children of a declaration or a pointer's declarator.
    fn qualifiers(&self, node: NodeId) -> (bool, bool) {
        let tree = &self.unit.tree;
        let words = tree.named_children(node).filter(|child| tree.kind(*child) == "type_qualifier");
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

    /// What an anonymous structure goes by: where it is declared.
    fn place_of_type(&self, node: NodeId) -> String {
        let header = self.header.map(|header| header.to_string()).unwrap_or_default();
        format!("{ANONYMOUS}{header}:{}", self.unit.tree.span(node).start)
    }

    /// `struct S`, `Vec<int>`: a type as written without its body.
    fn text_of_type(&self, node: NodeId) -> String {
        let tree = &self.unit.tree;
        let whole = tree.span(node);
        let end = tree.child(node, "body").map_or(whole.end, |body| tree.span(body).start);
        let text = self.unit.file.show(crate::source::Span::new(whole.start, end)).into_owned();
        let text = text.split(" :").next().unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn kind(&self, node: NodeId) -> &'static str {
        self.unit.tree.kind(node)
    }

    fn text(&self, node: NodeId) -> String {
        self.unit.file.show(self.unit.tree.span(node)).into_owned()
    }
}
