//! Functions that return one expression.

use std::sync::Arc;

use super::Expander;
use super::tokens::{Token, arguments, tokens};
use crate::semantics::symbols::{DeclaredType, Symbols};
use crate::source::{Language, SourceFile, Span, words};
use crate::syntax::host::parse_expression;
use crate::syntax::numbers::is_type_keyword;
use crate::syntax::{Field, HostTree, NodeId, NodeKind};

/// A function whose body is `return` with an expression.
pub(super) struct Returned {
    /// The header it stands in.
    header: Option<usize>,
    /// The expression, and where it stands.
    text: String,
    span: Span,
    /// The type of the result.
    ty: &'static str,
    parameters: Vec<(String, DeclaredType)>,
}

/// The function that a name stands for where an expression calls it, or `None` if that is not certain, or it does more. `outer` are the
/// names that are being replaced, this one among them.
pub(super) fn returned(from: &Expander<'_, '_>, name: &str, outer: &[&str]) -> Option<Returned> {
    let symbols = from.symbols;
    if !symbols.calls_function_in(None, name, from.at) {
        return None;
    }
    let all = symbols.function_definitions(name);
    let [(header, node)] = all.as_slice() else { return None };
    let (file, tree) = symbols.source_of(*header)?;
    let is_template = tree.parent(*node).is_some_and(|parent| tree.kind(parent) == NodeKind::TemplateDeclaration);
    if is_template || tree.problem_in(tree.span(*node)).is_some() {
        return None;
    }
    let expression = only_expression(tree, *node)?;
    let declarator =
        tree.child(*node, Field::Declarator).filter(|it| tree.kind(*it) == NodeKind::FunctionDeclarator)?;
    let span = tree.span(expression);
    let ty = keywords(&symbols.returned_type(*header, *node))?;
    let mut parameters = Vec::new();
    for parameter in tree.named_children(tree.child(declarator, Field::Parameters)?) {
        let parameter_span = tree.span(parameter);
        if symbols.type_written(*header, &file.show(parameter_span), parameter_span.start) == DeclaredType::Void {
            continue;
        }
        let inside = tree
            .child(parameter, Field::Declarator)
            .filter(|_| tree.kind(parameter) == NodeKind::ParameterDeclaration)?;
        let named = tree.descendants(inside).find(|inner| tree.kind(*inner) == NodeKind::Identifier)?;
        let name = file.show(tree.span(named)).into_owned();
        let variable = symbols.lookup_in(*header, &name, span.start)?;
        parameters.push((name, variable.ty.clone()));
    }
    let text = file.show(span);
    // What its macros name means what it means in the function.
    let text = match header {
        None => Expander { at: span.start, ..*from }.expand(&text, outer)?,
        Some(_) if names_macros(symbols, *header, &text, span) => return None,
        Some(_) => text.into_owned(),
    };
    Some(Returned { header: *header, text, span, ty, parameters })
}

/// Does a text in a header name macros that are no numbers?
fn names_macros(symbols: &Symbols<'_>, header: Option<usize>, text: &str, span: Span) -> bool {
    words(text).any(|word| {
        let body = symbols.macro_in(header, word, span.start).map(|found| found.body);
        body.is_some_and(|body| body.trim_matches(['(', ')']).parse::<f64>().is_err())
    })
}

/// The expression of the `return` statement that is all of a function's body.
fn only_expression(tree: &HostTree, function: NodeId) -> Option<NodeId> {
    let only = |node: NodeId| {
        let mut inside = tree.named_children(node).filter(|inner| tree.kind(*inner) != NodeKind::Comment);
        inside.next().filter(|_| inside.next().is_none())
    };
    let body = tree.child(function, Field::Body).filter(|body| tree.kind(*body) == NodeKind::CompoundStatement)?;
    only(only(body).filter(|statement| tree.kind(*statement) == NodeKind::ReturnStatement)?)
}

/// A type of numbers in words that are keywords.
fn keywords(ty: &DeclaredType) -> Option<&'static str> {
    ty.number().filter(|_| !ty.is_volatile())?.keywords()
}

impl Returned {
    /// The expression in the place of a call: arguments have the types of their parameters, and the result its own. `None` if a name
    /// in it means something else there.
    pub(super) fn with_arguments(&self, symbols: &Symbols<'_>, at: usize, given: &[String]) -> Option<String> {
        if given.len() != self.parameters.len() {
            return None;
        }
        let mut out = format!("(({})(", self.ty);
        let mut rest = self.text.as_str();
        let mut last = "";
        while let Some((token, after)) = tokens(rest) {
            rest = after;
            let Token::Word(word) = token else {
                out.push_str(token.text());
                last = if token.is_blank() { last } else { token.text() };
                continue;
            };
            match self.parameters.iter().position(|(name, _)| name == word) {
                Some(_) if matches!(last, "." | "->") => return None,
                Some(index) => out.push_str(&argument(symbols, at, &self.parameters.get(index)?.1, given.get(index)?)?),
                None if self.means_the_same(symbols, at, word, arguments(rest).is_some()) => out.push_str(word),
                None => return None,
            }
            last = word;
        }
        out.push_str("))");
        Some(out)
    }

    /// Does a name of the expression mean the same where the function is called?
    fn means_the_same(&self, symbols: &Symbols<'_>, at: usize, word: &str, is_called: bool) -> bool {
        let here = symbols.macro_definition(word, at);
        if here != symbols.macro_in(self.header, word, self.span.start) {
            return false;
        }
        if here.is_some() || is_keyword(word) {
            return true;
        }
        if is_called {
            let is_variable = |header, at| symbols.is_variable_in(header, word, at);
            return !is_variable(None, at) && !is_variable(self.header, self.span.start);
        }
        let declared = |found: &Arc<crate::semantics::symbols::Variable>| found.id();
        let there = symbols.lookup_in(self.header, word, self.span.start);
        let here = symbols.lookup(word, at);
        here.is_some() && here.as_ref().map(declared) == there.as_ref().map(declared)
    }
}

/// An argument as its parameter has it: a number of that type, or a pointer to the same elements.
fn argument(symbols: &Symbols<'_>, at: usize, ty: &DeclaredType, given: &str) -> Option<String> {
    let language = symbols.source_of(None)?.1.language();
    if ty.is_scalar() {
        return Some(format!("(({})({given}))", keywords(ty)?));
    }
    let name = pointer_in(given, language)?;
    let variable = symbols.lookup(&name, at).filter(|_| ty.is_pointer() || is_array(ty))?;
    let (own, other) = (ty.dereferenced(), variable.ty.dereferenced());
    let is_same = !own.is_volatile() && own.number().is_some() && own.number() == other.number();
    is_same.then(|| format!("({given})"))
}

/// The pointer or array of `a`, `a + i`, `&a[i]`.
fn pointer_in(given: &str, language: Language) -> Option<String> {
    let file = SourceFile::new("argument", given.as_bytes().to_vec());
    let tree = parse_expression(&file, Span::new(0, given.len()), language)?;
    let mut node = tree.root();
    loop {
        let operator = tree.operator(node);
        node = match (tree.kind(node), operator) {
            (NodeKind::Identifier, _) => return Some(file.show(tree.span(node)).into_owned()),
            (NodeKind::ParenthesizedExpression, _) => tree.named_children(node).next()?,
            (NodeKind::BinaryExpression, Some(NodeKind::Plus | NodeKind::Minus)) => tree.child(node, Field::Left)?,
            (NodeKind::PointerExpression, Some(NodeKind::Ampersand)) => {
                let element =
                    tree.child(node, Field::Argument).filter(|it| tree.kind(*it) == NodeKind::SubscriptExpression)?;
                tree.child(element, Field::Argument)?
            }
            _ => return None,
        };
    }
}

fn is_array(ty: &DeclaredType) -> bool {
    matches!(ty, DeclaredType::ArrayParameter { .. } | DeclaredType::Array { .. })
}

fn is_keyword(word: &str) -> bool {
    is_type_keyword(word) || matches!(word, "sizeof" | "true" | "false")
}
