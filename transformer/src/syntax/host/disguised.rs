//! Statements that look like something else, because a macro without a semicolon stands before them: like declarations where it stands
//! in the place of the type (`STEP(x) a[i] = x;`, `IF_POSITIVE x = 3;`), like calls of what a call returns (`STEP(x) (a[i]) = x;`).
//! The grammar takes what they assign for new variables or for arguments, and a write to an outer variable would be lost.

use std::collections::BTreeMap;

use super::{HostTree, NodeId, NodeKind};
use crate::source::{Language, Scan, SourceFile, without_comments, words};
use crate::syntax::Field;

/// How often macros are followed into each other.
const DEPTH: usize = 8;

/// Words that begin a statement, or an expression, and no type.
const NO_TYPES: &[&str] = &[
    "alignof",
    "asm",
    "break",
    "case",
    "co_await",
    "co_return",
    "co_yield",
    "continue",
    "default",
    "delete",
    "do",
    "else",
    "for",
    "goto",
    "if",
    "new",
    "return",
    "sizeof",
    "switch",
    "throw",
    "try",
    "while",
];

/// Words of the language with parentheses behind them that are types, or belong to them; without the underscores around them.
pub const TYPE_WORDS: &[&str] = &[
    "Alignas",
    "Atomic",
    "BitInt",
    "ExtInt",
    "alignas",
    "attribute",
    "declspec",
    "decltype",
    "typeof",
    "typeof_unqual",
];

/// What the macros in sight stand for, by each of their definitions.
#[derive(Clone, Debug, Default)]
pub struct MacroTexts {
    by_name: BTreeMap<String, Vec<MacroText>>,
}

#[derive(Clone, Debug)]
struct MacroText {
    takes_arguments: bool,
    body: String,
}

impl MacroTexts {
    /// The macros that a file defines.
    #[must_use]
    pub fn of(file: &SourceFile, scan: &Scan) -> Self {
        let mut all = Self::default();
        for definition in &scan.definitions {
            let (name, body) = (file.show(definition.name), file.show(definition.body));
            all.add(&name, definition.parameters.is_some(), &body);
        }
        all
    }

    /// Adds one more definition of a name.
    pub fn add(&mut self, name: &str, takes_arguments: bool, body: &str) {
        let text = MacroText { takes_arguments, body: on_one_line(body).trim().to_owned() };
        self.by_name.entry(name.to_owned()).or_default().push(text);
    }

    /// Adds the definitions of others.
    pub fn extend(&mut self, others: Self) {
        for (name, texts) in others.by_name {
            self.by_name.entry(name).or_default().extend(texts);
        }
    }

    fn get(&self, name: &str) -> &[MacroText] {
        self.by_name.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Is a word a macro in one of the texts in sight?
    pub(super) fn defines(&self, name: &str) -> bool {
        !self.get(name).is_empty()
    }

    /// May a macro's text declare something by a name: does the name stand behind a word, `*`, `&`, `>` or a comma in it?
    pub(super) fn may_declare(&self, name: &str) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        self.by_name.values().flatten().any(|text| {
            text.body.match_indices(name).any(|(at, _)| {
                let (before, behind) = (&text.body[..at], &text.body[at + name.len()..]);
                let is_whole = !before.ends_with(is_word) && !behind.starts_with(is_word);
                is_whole && before.trim_end().ends_with(|c: char| is_word(c) || "*&>,#".contains(c))
            })
        })
    }

    /// May a word stand for a type and nothing else, whichever definition holds? One that is no macro may.
    fn is_type(&self, name: &str, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        self.get(name).iter().all(|text| {
            let is_inner_type = |word: &str| word == name || self.is_type(word, depth);
            !text.takes_arguments && is_like_type(&text.body) && words(&text.body).all(is_inner_type)
        })
    }

    /// May a word stand for a name and nothing else?
    fn is_name(&self, name: &str) -> bool {
        let is_word = |body: &str| !body.is_empty() && body.chars().all(|c| c.is_alphanumeric() || c == '_');
        self.get(name).iter().all(|text| !text.takes_arguments && is_word(&text.body))
    }
}

/// Is a text made of what types are made of: words, `*`, `&`, `::` and `<>`, and a word first?
fn is_like_type(text: &str) -> bool {
    let without_scopes = text.replace("::", " ");
    let is_of_type = |c: char| c.is_alphanumeric() || c.is_whitespace() || "_*&<>".contains(c);
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && without_scopes.chars().all(is_of_type)
        && words(text).all(|word| !NO_TYPES.contains(&word))
}

/// A macro's text without comments, and on one line.
fn on_one_line(body: &str) -> String {
    without_comments(&body.replace("\\\r\n", " ").replace("\\\n", " "))
}

impl HostTree {
    /// Counts statements that a macro makes look like declarations or calls among the problems of the tree.
    pub(super) fn distrusted(mut self, file: &SourceFile, macros: &MacroTexts) -> Self {
        let is_disguised = |node: &NodeId| match self.kind(*node) {
            NodeKind::Declaration => self.is_no_declaration(file, macros, *node),
            _ => self.is_no_call(file, macros, *node),
        };
        let all = self.all_of(&[NodeKind::Declaration, NodeKind::CallExpression]);
        let found: Vec<NodeId> = all.filter(is_disguised).collect();
        for node in found {
            let span = self.span(node);
            if self.is_problem(node) || self.problems.iter().any(|problem| self.span(*problem).contains(span)) {
                continue;
            }
            let outside = |problem: &NodeId| !span.contains(self.span(*problem));
            let mut problems: Vec<NodeId> = self.problems.iter().copied().filter(outside).collect();
            problems.insert(problems.partition_point(|problem| *problem < node), node);
            self.problems = problems;
            if let Some(node) = self.nodes.get_mut(node.0 as usize) {
                node.is_unreadable = true;
            }
        }
        self
    }

    fn is_no_declaration(&self, file: &SourceFile, macros: &MacroTexts, declaration: NodeId) -> bool {
        let Some(ty) = self.child(declaration, Field::Type) else { return false };
        let is_first = self.span(ty).start == self.span(declaration).start;
        let is_statement = match self.kind(ty) {
            NodeKind::MacroTypeSpecifier => is_first && !self.is_word_of_type(file, ty),
            NodeKind::TypeIdentifier => {
                is_first && !macros.is_type(&file.show(self.span(ty)), DEPTH)
                    || self
                        .declarators(declaration)
                        .any(|declarator| self.is_element(declarator) || !self.declares_name(file, macros, declarator))
            }
            _ => false,
        };
        is_statement && self.ancestors(declaration).any(|above| self.kind(above) == NodeKind::CompoundStatement)
    }

    /// A call of what the use of a macro seems to return; in C also one that is assigned, which no function's value can be.
    fn is_no_call(&self, file: &SourceFile, macros: &MacroTexts, call: NodeId) -> bool {
        let callee = self.child(call, Field::Function).filter(|callee| self.kind(*callee) == NodeKind::CallExpression);
        let Some(inner) = callee.and_then(|callee| self.child(callee, Field::Function)) else { return false };
        let is_changed = || {
            let above = self.parent(call);
            above.is_some_and(|above| match self.kind(above) {
                NodeKind::AssignmentExpression => self.field(call) == Some(Field::Left),
                NodeKind::UpdateExpression => true,
                _ => false,
            })
        };
        !macros.get(&file.show(self.span(inner))).is_empty() || self.language() == Language::C && is_changed()
    }

    /// `typeof(x)` and the like.
    fn is_word_of_type(&self, file: &SourceFile, specifier: NodeId) -> bool {
        let text = file.show(self.span(specifier));
        words(&text).next().is_some_and(|word| TYPE_WORDS.contains(&word.trim_matches('_')))
    }

    fn declarators(&self, declaration: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.children(declaration).filter(|child| self.field(*child) == Some(Field::Declarator))
    }

    /// `a[i] = x + 1`: arrays begin with braces or strings, which a name or a call may stand for.
    fn is_element(&self, declarator: NodeId) -> bool {
        let inner =
            self.child(declarator, Field::Declarator).filter(|_| self.kind(declarator) == NodeKind::InitDeclarator);
        let is_array = inner.is_some_and(|inner| self.kind(inner) == NodeKind::ArrayDeclarator);
        let may_be_list = |value: NodeId| {
            use NodeKind as K;
            matches!(
                self.kind(value),
                K::InitializerList
                    | K::StringLiteral
                    | K::RawStringLiteral
                    | K::ConcatenatedString
                    | K::CompoundLiteralExpression
                    | K::ParenthesizedExpression
                    | K::Identifier
                    | K::CallExpression
            )
        };
        is_array && self.child(declarator, Field::Value).is_some_and(|value| !may_be_list(value))
    }

    /// Is what is declared a name, rather than a macro for what is done with what looks like the type: `x INCREMENT;`?
    fn declares_name(&self, file: &SourceFile, macros: &MacroTexts, declarator: NodeId) -> bool {
        let node = self.innermost_declarator(declarator);
        self.kind(node) != NodeKind::Identifier || macros.is_name(&file.show(self.span(node)))
    }
}
