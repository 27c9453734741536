//! What the tool says of the names of a file.

use std::collections::BTreeMap;

use ompsplit::semantics::calls::is_pure;
use ompsplit::semantics::symbols::{DeclaredType, NameKind, Scope, Symbols, Variable};
use ompsplit::semantics::uses::{Role, Use, uses_below};
use ompsplit::source::{Language, SourceFile};
use ompsplit::syntax::numbers::{Character, Format, Number, Rank};
use ompsplit::syntax::{Field, HostTree, NodeId, NodeKind};

use super::compiler::NO_DEFINITION;
use super::words::last_name;
use super::{Answers, Question, TYPE};

/// What is known of each name of a file, by where its last part starts.
pub fn read<'t>(
    file: &'t SourceFile,
    tree: &'t HostTree,
    symbols: &'t Symbols<'t>,
    headers: &'t [SourceFile],
) -> BTreeMap<usize, Answers> {
    let tool = Tool { file, tree, symbols, headers };
    let uses = uses_below(file, tree, tree.root()).into_iter().map(|found| tool.name(&found));
    let others = tree.descendants(tree.root()).filter_map(|node| match tree.kind(node) {
        NodeKind::TypeIdentifier => tool.type_name(node),
        NodeKind::FieldExpression => tool.member(node),
        _ => None,
    });
    let mut found: BTreeMap<usize, Answers> = others.collect();
    found.extend(uses);
    found
}

struct Tool<'t> {
    file: &'t SourceFile,
    tree: &'t HostTree,
    symbols: &'t Symbols<'t>,
    headers: &'t [SourceFile],
}

impl Tool<'_> {
    /// A use or declaration of a variable or function.
    fn name(&self, found: &Use) -> (usize, Answers) {
        let start = found.span.start;
        let last = found.name.rsplit("::").next().unwrap_or_default();
        let at = if found.name.contains("::") { found.span.end - last.len() } else { start };
        let mut answers = Answers::new();
        let macros = self.symbols.macros_named(&found.name, start);
        // `using Base::Base;` names constructors, of which libclang tells the class alone.
        let mut parts = found.name.rsplit("::").skip(1);
        let is_constructor = parts.next() == Some(last);
        if macros.is_empty() && !is_constructor {
            let variable = self.symbols.lookup(&found.name, start);
            answers.extend(variable.iter().flat_map(|variable| self.variable(variable)));
        }
        if found.role == Role::Callee {
            answers.extend(self.callee(&found.name, start).map(|callee| (Question::Callee, callee)));
        }
        let value = self.symbols.constant(&found.name, start).filter(|_| found.role != Role::Declaration);
        answers.extend(value.map(|value| (Question::Constant, value.to_string())));
        (at, answers)
    }

    fn variable(&self, variable: &Variable) -> Answers {
        let mut answers = types(&variable.ty, self.tree.language());
        let sort = match variable.kind {
            NameKind::Variable => "variable",
            NameKind::Function => "function",
            NameKind::Type => TYPE,
            NameKind::Enumerator => "enumerator",
            NameKind::TemplateParameter => "template parameter",
        };
        let place = self.shown_place(variable.header, variable.declared_at.start);
        let is_placed = !matches!(variable.kind, NameKind::Function | NameKind::Type);
        let declaration = if is_placed { format!("{sort} at {place}") } else { sort.to_owned() };
        answers.insert(Question::Declaration, declaration);
        if variable.kind == NameKind::Variable {
            let storage = match variable.scope {
                _ if variable.is_thread_local => Some("thread"),
                _ if variable.has_static_storage() => Some("static"),
                Scope::Local | Scope::Parameter => Some("automatic"),
                Scope::Member => Some("member"),
                Scope::File | Scope::Unknown => None,
            };
            answers.extend(storage.map(|storage| (Question::Storage, storage.to_owned())));
        }
        if variable.kind == NameKind::Enumerator {
            answers.remove(&Question::Qualifier);
        }
        answers
    }

    fn shown_place(&self, header: Option<usize>, at: usize) -> String {
        let file = header.and_then(|index| self.headers.get(index)).map_or(self.file, |header| header);
        let canonical = std::fs::canonicalize(&file.path).ok().filter(|_| header.is_some());
        format!("{}:{at}", canonical.as_deref().unwrap_or(&file.path).display())
    }

    fn type_name(&self, node: NodeId) -> Option<(usize, Answers)> {
        let is_scope = |above: &NodeId| self.tree.kind(*above) == NodeKind::QualifiedIdentifier;
        if self.tree.parent(node).as_ref().is_some_and(is_scope) {
            return None;
        }
        let span = self.tree.span(node);
        // `struct level` looks among the tags, where C's `level` alone may be a typedef name.
        let above = self.tree.parent(node).filter(|above| self.tree.kind(*above) == NodeKind::StructSpecifier);
        let is_tag = |above: &NodeId| self.tree.child(*above, Field::Body).is_none();
        let asked = self.tree.span(above.filter(is_tag).unwrap_or(node));
        let ty = self.symbols.type_named(&self.file.show(asked), span.start);
        Some((span.start, types(&ty, self.tree.language())))
    }

    /// `name.member`, `name->member`.
    fn member(&self, node: NodeId) -> Option<(usize, Answers)> {
        let argument = self.tree.child(node, Field::Argument)?;
        let field = self.tree.child(node, Field::Field)?;
        let is_plain =
            self.tree.kind(argument) == NodeKind::Identifier && self.tree.kind(field) == NodeKind::FieldIdentifier;
        let span = self.tree.span(argument);
        let name = self.file.show(span);
        let found = self.symbols.lookup(&name, span.start).filter(|_| is_plain)?;
        let ty = if found.ty.is_pointer() { found.ty.dereferenced() } else { found.ty.clone() };
        let span = self.tree.span(field);
        let ty = self.symbols.member_type(&ty, &self.file.show(span), span.start)?;
        Some((span.start, types(&ty, self.tree.language())))
    }

    /// The one function that runs, or that it is a function out of sight.
    fn callee(&self, name: &str, at: usize) -> Option<String> {
        if self.symbols.is_variable_in(None, name, at) {
            return None;
        }
        let definitions = self.symbols.function_definitions(name);
        let is_certain = !definitions.is_empty() && self.symbols.calls_function_in(None, name, at);
        if let ([(header, node)], true) = (definitions.as_slice(), is_certain) {
            let (file, tree) = self.symbols.source_of(*header)?;
            let declarator = tree.child(*node, Field::Declarator)?;
            let is_name = |node: &NodeId| tree.kind(*node).is_identifier();
            let last = name.rsplit("::").next().unwrap_or(name);
            let mut names = tree.descendants(declarator).filter(is_name);
            let named = names.find(|node| file.show(tree.span(*node)) == last)?;
            return Some(self.shown_place(*header, tree.span(named).start));
        }
        let is_macro = !self.symbols.macros_named(name, at).is_empty();
        let is_library = !is_macro && is_pure(name) && self.symbols.calls_library_in(None, name, at);
        is_library.then(|| NO_DEFINITION.to_owned())
    }
}

/// What is known of a type.
fn types(ty: &DeclaredType, language: Language) -> Answers {
    let mut answers = Answers::new();
    let mut words = Words::new(language);
    if words.read(ty).is_none() {
        return answers;
    }
    answers.insert(Question::Type, words.shape);
    answers.insert(Question::Qualifier, words.qualifiers.join(" "));
    for (index, length) in words.lengths.iter().enumerate().filter_map(|(index, length)| Some((index, (*length)?))) {
        answers.insert(Question::Length(index), length.to_string());
    }
    answers.extend(ty.bytes().map(|bytes| (Question::Size, bytes.to_string())));
    if let Some(integer) = ty.number().and_then(Number::integer) {
        answers.insert(Question::Signedness, if integer.signed { "signed" } else { "unsigned" }.to_owned());
    }
    answers
}

/// A type in plain words.
struct Words {
    language: Language,
    shape: String,
    qualifiers: Vec<&'static str>,
    lengths: Vec<Option<i64>>,
}

impl Words {
    fn new(language: Language) -> Self {
        Self { language, shape: String::new(), qualifiers: Vec::new(), lengths: Vec::new() }
    }

    /// Reads a type from the outside in; none where a part of it is not known.
    fn read(&mut self, ty: &DeclaredType) -> Option<()> {
        let qualifier = match (ty.is_const(), ty.is_volatile()) {
            (false, false) => "plain",
            (true, false) => "const",
            (false, true) => "volatile",
            (true, true) => "const volatile",
        };
        match ty {
            DeclaredType::Scalar { number, .. } => {
                self.qualifiers.push(qualifier);
                self.shape.push_str(&number_words(number, self.language)?);
            }
            DeclaredType::Array { element, dimensions, .. } => {
                self.lengths.extend(dimensions.iter().map(|dimension| dimension.value));
                self.shape.push_str(&"array of ".repeat(dimensions.len()));
                self.read(element)?;
            }
            DeclaredType::ArrayParameter { element, dimensions } => {
                self.qualifiers.push("parameter");
                self.lengths.extend(dimensions.iter().skip(1).map(|dimension| dimension.value));
                self.shape.push_str("pointer to ");
                self.shape.push_str(&"array of ".repeat(dimensions.len().saturating_sub(1)));
                self.read(element)?;
            }
            DeclaredType::Pointer { pointee, .. } => {
                self.qualifiers.push(qualifier);
                self.shape.push_str("pointer to ");
                self.read(pointee)?;
            }
            DeclaredType::Reference { to } => {
                self.qualifiers.push("reference");
                self.shape.push_str("reference to ");
                self.read(to)?;
            }
            DeclaredType::Record { name, .. } => {
                self.qualifiers.push(qualifier);
                self.shape.push_str(&format!("record {}", last_name(name)));
            }
            DeclaredType::Function { parameters, is_variadic } => {
                self.qualifiers.push("function");
                let words = parameters.iter().map(|parameter| {
                    let mut words = Self::new(self.language);
                    words.read(parameter).map(|()| words.shape)
                });
                let mut parameters = words.collect::<Option<Vec<String>>>()?;
                parameters.extend(is_variadic.then(|| "...".to_owned()));
                self.shape.push_str(&format!("function({})", parameters.join(", ")));
            }
            DeclaredType::Void => {
                self.qualifiers.push("void");
                self.shape.push_str("void");
            }
            DeclaredType::TypeParameter { .. } | DeclaredType::Auto | DeclaredType::Unknown => return None,
        }
        Some(())
    }
}

/// An arithmetic type as clang writes it.
fn number_words(number: &Number, language: Language) -> Option<String> {
    let rank = |rank: &Rank, signed: bool| {
        let word = match rank {
            Rank::Char if signed => return "signed char".to_owned(),
            Rank::Char => "char",
            Rank::Short => "short",
            Rank::Int => "int",
            Rank::Long => "long",
            Rank::LongLong => "long long",
            Rank::Int128 => "__int128",
        };
        if signed { word.to_owned() } else { format!("unsigned {word}") }
    };
    let format = |format: &Format| match format {
        Format::Half => Some("_Float16"),
        Format::Single => Some("float"),
        Format::Double => Some("double"),
        Format::LongDouble => Some("long double"),
        Format::Quad => Some("__float128"),
        Format::SingleOrDouble => None,
    };
    let is_cpp = language == Language::Cpp;
    Some(match number {
        Number::Bool => "bool".to_owned(),
        Number::Character(Character::Plain) => "char".to_owned(),
        Number::Character(Character::Utf8) => if is_cpp { "char8_t" } else { "unsigned char" }.to_owned(),
        Number::Character(Character::Utf16) => if is_cpp { "char16_t" } else { "unsigned short" }.to_owned(),
        Number::Character(Character::Utf32) => if is_cpp { "char32_t" } else { "unsigned int" }.to_owned(),
        Number::Character(Character::Wide) => if is_cpp { "wchar_t" } else { "int" }.to_owned(),
        Number::Integer { rank: of, signed } => rank(of, *signed),
        Number::Floating(of) => format(of)?.to_owned(),
        Number::Complex(of) => format!("_Complex {}", format(of)?),
        Number::Enumeration { name } => format!("enum {}", last_name(name)),
    })
}
