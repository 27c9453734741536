//! Which macros only read what their text names and what is handed to them.

use std::collections::BTreeSet;

use super::{DeclaredType, Macro, Symbols};
use crate::semantics::calls::{only_computes, takes_values};
use crate::semantics::uses::{Role, role_of_expression};
use crate::source::{Language, words};
use crate::syntax::{Field, NodeId, NodeKind};

/// How many macros are followed from one use.
const MOST: usize = 64;

/// What a macro's text names.
#[derive(Clone, Copy, Debug)]
pub(super) enum Named<'n> {
    /// A variable, by its name.
    Variable(&'n str),
    /// One of its arguments.
    Argument(usize),
}

impl Symbols<'_> {
    /// Does the use of a macro, named at `name`, only read a number or a pointer? Its text assigns nothing and takes no address, and what
    /// it stands for is read as well, or leads to what is written, or what is asked for is part of subscripts in it or the pointer before
    /// them.
    pub(super) fn macro_only_reads(&self, name: NodeId, named: Named<'_>) -> bool {
        let tree = self.own.tree.as_ref();
        let span = tree.span(name);
        let word = self.own.file.show(span).into_owned();
        self.macro_computes(&word, span.start)
            && (self.is_value_read(name)
                || self.role_of_macro(name) == Role::ElementWrite
                || self
                    .macros_named(&word, span.start)
                    .iter()
                    .all(|found| self.is_in_subscripts(found, named, span.start)))
    }

    /// What is done with what a macro stands for, which is named at `name`.
    #[must_use]
    pub fn role_of_macro(&self, name: NodeId) -> Role {
        role_of_expression(&self.own.tree, self.macro_use(name))
    }

    /// The name with the arguments behind it.
    pub(super) fn macro_use(&self, name: NodeId) -> NodeId {
        let tree = self.own.tree.as_ref();
        tree.parent(name).filter(|_| tree.field(name) == Some(Field::Function)).unwrap_or(name)
    }

    /// Is the value of what a macro stands for, which is named at `name`, read and nothing else done with it?
    #[must_use]
    pub fn is_value_read(&self, name: NodeId) -> bool {
        let tree = self.own.tree.as_ref();
        let whole = self.macro_use(name);
        let mut around = tree.ancestors(whole);
        if around.any(|above| tree.kind(above).is_assembly() || self.is_stream_operator(above)) {
            return false;
        }
        match role_of_expression(tree, whole) {
            Role::Read => true,
            Role::Argument => {
                let mut above = std::iter::once(whole).chain(tree.ancestors(whole));
                let argument = above
                    .find(|node| tree.parent(*node).is_some_and(|parent| tree.kind(parent) == NodeKind::ArgumentList));
                argument.is_some_and(|argument| self.is_read_by_call(argument))
            }
            _ => false,
        }
    }

    /// In C++: may it read from a stream into its right side?
    fn is_stream_operator(&self, node: NodeId) -> bool {
        let tree = self.own.tree.as_ref();
        let operator = tree.operator(node);
        tree.language() == Language::Cpp && operator == Some(NodeKind::GreaterGreater)
    }

    fn is_read_by_call(&self, argument: NodeId) -> bool {
        let tree = self.own.tree.as_ref();
        let Some(list) = tree.parent(argument) else { return false };
        let Some(function) = tree.parent(list).and_then(|call| tree.child(call, Field::Function)) else { return false };
        let span = tree.span(function);
        let name = self.own.file.show(span);
        if self.macro_definition(&name, span.start).is_some() {
            let position = tree.named_children(list).position(|child| child == argument);
            return position.is_some_and(|at| self.macro_only_reads(function, Named::Argument(at)));
        }
        let is_lower = name.bytes().any(|byte| byte.is_ascii_lowercase());
        let position = tree.named_children(list).position(|child| child == argument);
        let is_copied = match self.lookup(&name, span.start).map(|found| found.ty.clone()) {
            Some(DeclaredType::Function { parameters, .. }) => {
                position.and_then(|at| parameters.get(at)).is_some_and(DeclaredType::is_scalar)
            }
            _ => false,
        };
        is_copied || takes_values(&name) || tree.language() == Language::C && is_lower
    }

    /// Does the text of a macro, with those of the macros in it, compute a value and nothing else?
    fn macro_computes(&self, word: &str, at: usize) -> bool {
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut open = vec![word.to_owned()];
        while let Some(word) = open.pop() {
            let all = self.macros_named(&word, at);
            if all.is_empty() || !seen.insert(word.clone()) {
                continue;
            }
            if seen.len() > MOST || !all.iter().all(|found| self.text_computes(found, at)) {
                return false;
            }
            open.extend(all.iter().flat_map(|found| words(&found.body)).map(str::to_owned));
        }
        true
    }

    fn text_computes(&self, found: &Macro, at: usize) -> bool {
        let body = found.body.replace("&&", " ").replace("==", " ").replace("!=", " ");
        let body = body.replace("<=", " ").replace(">=", " ");
        let is_shift = |text: &str| text.contains(">>") && self.own.tree.language() == Language::Cpp;
        let writes = ["=", "++", "--", "&", "{", ";", "#", "\"", "'"].iter().any(|token| body.contains(token))
            || ["<<=", ">>="].iter().any(|token| found.body.contains(token));
        let calls = called(&found.body);
        let is_known = |name: &&str| {
            !self.macros_named(name, at).is_empty()
                || only_computes(name)
                || *name == "sizeof"
                || self.own.tree.language() == Language::C && !self.function_definitions(name).is_empty()
        };
        let is_parameter = |name: &str| found.parameters.iter().flatten().any(|parameter| parameter == name);
        !writes && !is_shift(&body) && calls.iter().all(|name| !is_parameter(name) && is_known(name))
    }

    /// Does a macro's text name something only between brackets, or as the pointer before them, whatever is done with the element?
    fn is_in_subscripts(&self, found: &Macro, named: Named<'_>, at: usize) -> bool {
        let parameter = match named {
            Named::Argument(index) => found.parameters.as_ref().and_then(|all| all.get(index)).map(String::as_str),
            Named::Variable(_) => None,
        };
        let is_it = |word: &str| match named {
            Named::Argument(_) => parameter.is_none_or(|parameter| parameter == word),
            Named::Variable(name) => name == word || self.macro_names(word, at, name),
        };
        let is_base = |word: &str| match named {
            Named::Argument(_) => parameter == Some(word),
            Named::Variable(name) => name == word,
        };
        let mut depth = 0_usize;
        let mut outside = String::new();
        for c in found.body.chars() {
            match c {
                '[' => {
                    let before = outside.trim_end();
                    let base = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
                    if depth == 0 && is_base(&before[base..]) {
                        outside.truncate(base);
                    }
                    depth += 1;
                }
                ']' => depth = depth.saturating_sub(1),
                _ if depth == 0 => outside.push(c),
                _ => {}
            }
        }
        !words(&outside).any(is_it)
    }
}

/// The names before parentheses.
fn called(text: &str) -> Vec<&str> {
    let parts = text.match_indices('(').map(|(at, _)| text[..at].trim_end());
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let names = parts.map(|before| &before[before.trim_end_matches(is_word).len()..]);
    names.filter(|name| !name.is_empty()).collect()
}
