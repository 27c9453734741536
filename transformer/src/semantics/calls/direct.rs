//! What the body of one function does itself.

use std::collections::BTreeSet;

use super::Function;
use super::known;
use crate::semantics::macros::expansion::expansion_around;
use crate::semantics::symbols::{DeclaredType, NameKind, Place, Scope, Symbols};
use crate::source::{Language, SourceFile, Span};
use crate::syntax::numbers::is_type_keyword;
use crate::syntax::{Call, Field, HostTree, NodeId, NodeKind};

/// What one body does.
#[derive(Clone, Debug, Default)]
pub(super) struct Direct {
    pub openmp: Option<Place>,
    pub writes_globals: bool,
    /// The names that it calls, and where.
    pub callees: Vec<(String, Place)>,
    /// The classes of the objects that it uses, whose constructors, destructors and operators the text does not show.
    pub classes: Vec<(DeclaredType, Place)>,
    /// Does it write members of the object that it is called for?
    pub writes_members: bool,
    /// A call that the text does not show and no class tells: of an object's constructor or operator, or through a member.
    pub hidden_call: Option<(String, Place)>,
}

/// How many macros are followed from one name.
const MACRO_LIMIT: usize = 64;

/// Reads the body of one function.
pub(super) fn read(symbols: &Symbols<'_>, directives: &[Span], function: Function) -> Direct {
    let (header, node) = function;
    let Some((file, tree)) = symbols.source_of(header) else { return Direct::default() };
    let mut reader = Reader { symbols, header, file, tree, found: Direct::default() };
    let span = tree.span(node);
    let first = directives.partition_point(|directive| directive.start < span.start);
    if let Some(directive) = directives.get(first).filter(|directive| directive.start < span.end) {
        reader.found.openmp = Some(reader.place(*directive));
    }
    for inner in tree.descendants(node) {
        reader.visit(inner);
    }
    if let Some(ty) = tree.child(node, Field::Type) {
        reader.class_named(ty);
    }
    reader.found
}

/// What the text of a macro does that the file uses at a place, or `None` if the name is no macro.
pub(super) fn read_macro(symbols: &Symbols<'_>, name: &str, span: Span) -> Option<Direct> {
    symbols.macro_definition(name, span.start)?;
    let (file, tree) = symbols.source_of(None)?;
    let mut reader = Reader { symbols, header: None, file, tree, found: Direct::default() };
    reader.found.writes_globals |= reader.macro_at(name.to_owned(), span);
    Some(reader.found)
}

struct Reader<'s, 'a> {
    symbols: &'s Symbols<'a>,
    header: Option<usize>,
    file: &'s SourceFile,
    tree: &'s HostTree,
    found: Direct,
}

impl Reader<'_, '_> {
    fn place(&self, span: Span) -> Place {
        Place { header: self.header, span }
    }

    fn visit(&mut self, node: NodeId) {
        match self.tree.kind(node) {
            NodeKind::CallExpression => self.call(node),
            NodeKind::AssignmentExpression => self.written(self.tree.child(node, Field::Left)),
            NodeKind::UpdateExpression => self.written(self.tree.child(node, Field::Argument)),
            NodeKind::Identifier => {
                self.object(node);
                if self.macro_at(self.file.show(self.tree.span(node)).into_owned(), self.tree.span(node)) {
                    self.written_by_macro(node);
                }
            }
            NodeKind::GnuAsmExpression | NodeKind::MsBasedModifier => {
                self.found.openmp = self.found.openmp.or(Some(self.place(self.tree.span(node))));
            }
            NodeKind::NewExpression
            | NodeKind::DeleteExpression
            | NodeKind::ThrowStatement
            | NodeKind::CoAwaitExpression => self.hidden(node),
            NodeKind::Error => self.hidden(node),
            _ if self.symbols.is_unknown_attribute_in(self.header, node) => self.hidden(node),
            NodeKind::ParameterDeclaration | NodeKind::OptionalParameterDeclaration | NodeKind::TypeDescriptor => {
                if let Some(ty) = self.tree.child(node, Field::Type) {
                    self.class_named(ty);
                }
            }
            // A temporary of a class, handed to a template perhaps.
            NodeKind::CompoundLiteralExpression | NodeKind::InitializerList if self.may_make_object(node) => {
                let ty = self.tree.child(node, Field::Type);
                if !ty.is_some_and(|ty| self.class_named(ty)) {
                    self.hidden(node);
                }
            }
            _ => {}
        }
    }

    /// Notes the class of a variable, or of what it points to: its functions may be called wherever it is named.
    fn object(&mut self, node: NodeId) {
        if self.tree.language() != Language::Cpp {
            return;
        }
        let span = self.tree.span(node);
        let name = self.file.show(span).into_owned();
        let Some(found) = self.symbols.lookup_in(self.header, &name, span.start) else { return };
        if found.kind != NameKind::Variable {
            return;
        }
        let ty = match &found.ty {
            DeclaredType::Reference { to } => to,
            DeclaredType::Array { element, .. } => element,
            other => other,
        };
        if *ty == DeclaredType::Unknown && found.scope != Scope::Member {
            let place = self.place(span);
            self.found.hidden_call.get_or_insert((name, place));
        }
        if let Some(class) = found.ty.class() {
            self.found.classes.push((class.clone(), self.place(span)));
        }
    }

    /// Notes a class by its name; false where the name is not known to be one.
    fn class_named(&mut self, ty: NodeId) -> bool {
        let span = self.tree.span(ty);
        let name: String = self.file.show(span).split_whitespace().collect();
        let found = self.symbols.lookup_in(self.header, &name, span.start).filter(|found| found.kind == NameKind::Type);
        let class = found.and_then(|found| found.ty.class().cloned()).filter(|_| self.tree.language() == Language::Cpp);
        let place = self.place(span);
        self.found.classes.extend(class.clone().map(|class| (class, place)));
        class.is_some()
    }

    /// Is a function of an object called that a variable names, so that its class is known?
    fn is_method_of_variable(&self, function: NodeId) -> bool {
        let mut node = function;
        while matches!(
            self.tree.kind(node),
            NodeKind::FieldExpression | NodeKind::SubscriptExpression | NodeKind::ParenthesizedExpression
        ) {
            let inner = self.tree.child(node, Field::Argument).or_else(|| self.tree.named_children(node).next());
            let Some(inner) = inner else { return false };
            node = inner;
        }
        let span = self.tree.span(node);
        let is_class = |ty: &DeclaredType| ty.class().is_some() && !matches!(ty, DeclaredType::Pointer { .. });
        self.tree.kind(function) == NodeKind::FieldExpression
            && self.tree.language() == Language::Cpp
            && self.tree.kind(node) == NodeKind::Identifier
            && self
                .symbols
                .lookup_in(self.header, &self.file.show(span), span.start)
                .is_some_and(|found| is_class(&found.ty))
    }

    /// In C++: braces that may call a constructor, with a type that is no number's or as an argument.
    fn may_make_object(&self, node: NodeId) -> bool {
        let ty = self.tree.child(node, Field::Type).map(|ty| self.tree.kind(ty));
        let parent = self.tree.parent(node).map(|parent| self.tree.kind(parent));
        self.tree.language() == Language::Cpp
            && match self.tree.kind(node) {
                NodeKind::CompoundLiteralExpression => {
                    !matches!(ty, Some(NodeKind::PrimitiveType | NodeKind::SizedTypeSpecifier))
                }
                _ => parent == Some(NodeKind::ArgumentList),
            }
    }

    fn hidden(&mut self, node: NodeId) {
        let span = self.tree.span(node);
        let text = self.file.show(span).split_whitespace().next().unwrap_or_default().to_owned();
        let place = self.place(span);
        self.found.hidden_call.get_or_insert((text, place));
    }

    fn call(&mut self, node: NodeId) {
        let Some(call) = Call::of(self.tree, node) else { return };
        let Some(function) = call.function() else { return };
        let mut named = function;
        if self.tree.kind(named) == NodeKind::TemplateFunction {
            named = self.tree.child(named, Field::Name).unwrap_or(named);
        }
        let span = self.tree.span(named);
        match self.tree.kind(named) {
            NodeKind::PrimitiveType | NodeKind::SizedTypeSpecifier => {}
            NodeKind::Identifier | NodeKind::QualifiedIdentifier => {
                let name: String = self.file.show(span).split_whitespace().collect();
                if !self.is_type_or_macro(&name, span.start) && !self.class_named(named) {
                    self.found.callees.push((name.clone(), self.place(span)));
                }
                if known::of(&name) == Some(known::Known::Memory) {
                    self.written(call.arguments().next());
                }
            }
            NodeKind::FieldExpression if self.is_method_of_variable(named) => {}
            _ => self.hidden(function),
        }
    }

    /// Is a name that is called a type (a conversion), or a macro, which is looked into where its name is met?
    fn is_type_or_macro(&self, name: &str, at: usize) -> bool {
        if self.symbols.macro_in(self.header, name, at).is_some() {
            return true;
        }
        let found = self.symbols.lookup_in(self.header, name, at);
        found.is_some_and(|found| found.kind == NameKind::Type && found.ty.is_scalar())
    }

    /// Looks into a macro's text, and the macros in it, for calls and pragmas. Does it write anything?
    fn macro_at(&mut self, name: String, span: Span) -> bool {
        let mut writes = false;
        let mut open = vec![name];
        let mut seen: BTreeSet<String> = BTreeSet::new();
        while let Some(name) = open.pop() {
            let is_macro = self.symbols.macro_in(self.header, &name, span.start).is_some();
            if !is_macro || seen.len() > MACRO_LIMIT || !seen.insert(name.clone()) {
                continue;
            }
            // In some builds it may be a function.
            if self.symbols.declares_at_file_scope(&name) {
                self.found.callees.push((name.clone(), self.place(span)));
            }
            let all = self.symbols.macros_named(&name, span.start);
            let parameters: Vec<String> =
                all.iter().flat_map(|found| found.parameters.clone().unwrap_or_default()).collect();
            for (word, is_called) in all.iter().flat_map(|found| words(&found.body)) {
                if parameters.iter().any(|parameter| parameter == word) {
                    continue;
                }
                if matches!(word, "_Pragma" | "__pragma" | "asm" | "__asm__" | "__asm") {
                    self.found.openmp = self.found.openmp.or(Some(self.place(span)));
                } else if is_called
                    && self.symbols.macro_in(self.header, word, span.start).is_none()
                    && !is_keyword(word)
                {
                    writes |= known::of(word) == Some(known::Known::Memory);
                    self.found.callees.push((word.to_owned(), self.place(span)));
                }
                open.push(word.to_owned());
            }
            writes |= all.iter().any(|found| assigns(&found.body));
        }
        writes
    }

    /// Notes what a macro writes, by what it stands for. Where that is not known, it may be anything.
    fn written_by_macro(&mut self, name: NodeId) {
        let own = self.header.is_none();
        let whole = own.then(|| expansion_around(self.file, self.tree, self.symbols, name)).flatten();
        let Some(whole) = whole else { return self.found.writes_globals = true };
        let (tree, text) = (&whole.tree, Text { file: &whole.file, tree: &whole.tree, at: Some(whole.span.start) });
        for node in tree.descendants(tree.root()) {
            match tree.kind(node) {
                NodeKind::AssignmentExpression => self.written_in(&text, tree.child(node, Field::Left)),
                NodeKind::UpdateExpression => self.written_in(&text, tree.child(node, Field::Argument)),
                NodeKind::CallExpression => {
                    let Some(call) = Call::of(tree, node) else { continue };
                    let name = call.function().map(|function| whole.file.show(tree.span(function)));
                    if name.is_none_or(|name| known::of(&name) == Some(known::Known::Memory)) {
                        self.written_in(&text, call.arguments().next());
                    }
                }
                // What it declares has no place in the file.
                kind if kind.is_declaration() || kind == NodeKind::LambdaExpression => self.found.writes_globals = true,
                _ => {}
            }
        }
    }

    /// Notes an assignment to something that is no local object.
    fn written(&mut self, target: Option<NodeId>) {
        self.written_in(&Text { file: self.file, tree: self.tree, at: None }, target);
    }

    fn written_in(&mut self, text: &Text<'_>, target: Option<NodeId>) {
        let Some(target) = target else { return self.found.writes_globals = true };
        let root = text.root(target);
        let found = (text.tree.kind(root) == NodeKind::Identifier)
            .then(|| self.symbols.lookup_in(self.header, &text.file.show(text.tree.span(root)), text.place(root)))
            .flatten();
        let is_member = text.tree.kind(root) == NodeKind::This
            || found.as_ref().is_some_and(|found| {
                found.scope == Scope::Member && !found.is_static && found.kind == NameKind::Variable
            });
        // A local variable, or what a parameter or local pointer points to.
        let is_local = found.is_some_and(|found| {
            matches!(found.scope, Scope::Local | Scope::Parameter)
                && !found.has_static_storage()
                && !matches!(found.ty, DeclaredType::Reference { .. } if found.scope == Scope::Local)
        });
        match is_member {
            true => self.found.writes_members = true,
            false => self.found.writes_globals |= !is_local,
        }
    }
}

/// A text of the function, or what a macro in it stands for.
struct Text<'t> {
    file: &'t SourceFile,
    tree: &'t HostTree,
    /// Where the names of another text than the function's mean what they mean.
    at: Option<usize>,
}

impl Text<'_> {
    fn place(&self, node: NodeId) -> usize {
        self.at.unwrap_or_else(|| self.tree.span(node).start)
    }

    /// What an assigned expression starts from.
    fn root(&self, target: NodeId) -> NodeId {
        let mut node = target;
        loop {
            let next = match self.tree.kind(node) {
                NodeKind::ParenthesizedExpression => self.tree.named_children(node).next(),
                NodeKind::SubscriptExpression | NodeKind::FieldExpression | NodeKind::PointerExpression => {
                    self.tree.child(node, Field::Argument)
                }
                NodeKind::CastExpression => self.tree.child(node, Field::Value),
                NodeKind::BinaryExpression => self.tree.child(node, Field::Left),
                _ => None,
            };
            match next {
                Some(inner) => node = inner,
                None => return node,
            }
        }
    }
}

/// The identifiers of a text, each with whether a parenthesis follows.
fn words(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(is_word)?;
            let from = &rest[start..];
            let end = from.find(|c| !is_word(c)).unwrap_or(from.len());
            let word = &from[..end];
            rest = &from[end..];
            if !word.starts_with(|c: char| c.is_ascii_digit()) {
                return Some((word, rest.trim_start().starts_with('(')));
            }
        }
    })
}

fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "if" | "for" | "while" | "switch" | "return" | "sizeof" | "do" | "else" | "defined" | "alignof" | "void"
    ) || is_type_keyword(word)
}

/// Does a text hold an assignment or an increment?
fn assigns(text: &str) -> bool {
    let bytes = text.as_bytes();
    let plain = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
        let after = bytes.get(at + 1).copied().unwrap_or(b' ');
        let is_shift = at >= 2 && matches!(&bytes[at - 2..at], b"<<" | b">>");
        after != b'=' && (!matches!(before, b'=' | b'!' | b'<' | b'>') || is_shift)
    };
    text.contains("++") || text.contains("--") || bytes.iter().enumerate().any(|(at, byte)| *byte == b'=' && plain(at))
}
