//! Expressions as they read where calls are replaced by what they stand for: macros by their text, and functions that return one
//! expression by that.

use std::cell::Cell;
use std::collections::BTreeSet;

use crate::semantics::symbols::{Macro, Symbols, is_operand};
use crate::source::{SourceFile, Span};
use crate::syntax::host::parse_expression;
use crate::syntax::{Call, Field, HostTree, NodeId, NodeKind};

mod functions;
pub(crate) mod tokens;

use tokens::{Token, arguments, tokens};

/// How many words are read for one expression.
const MOST_WORDS: usize = 1 << 13;
/// The longest text of one expression, in bytes.
const LONGEST: usize = 1 << 15;
/// The expressions that are counted as an operation each.
pub const OPERATIONS: &[NodeKind] =
    &[NodeKind::BinaryExpression, NodeKind::AssignmentExpression, NodeKind::ConditionalExpression];
/// How deep macros and functions are followed into each other.
const DEEPEST: usize = 24;

/// An expression with macros or calls of functions that return one expression, as it reads with these in their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expanded {
    /// Where it stands.
    pub span: Span,
    /// How many calls are left in it.
    pub calls: usize,
    /// How many operators of arithmetic and assignments it has.
    pub operations: usize,
}

/// A whole expression of the file, and what it stands for.
pub struct Expansion {
    /// Where it stands in the file; its names mean what they mean there.
    pub span: Span,
    /// Is it a bound, and so a part of another expression?
    pub is_bound: bool,
    /// Its text with everything replaced.
    pub file: SourceFile,
    /// The expression that this is.
    pub tree: HostTree,
}

impl Expansion {
    /// What is left to be counted in it.
    #[must_use]
    pub fn counted(&self) -> Expanded {
        let count = |wanted: &[NodeKind]| self.tree.all_of(wanted).count();
        Expanded { span: self.span, calls: count(&[NodeKind::CallExpression]), operations: count(OPERATIONS) }
    }
}

/// The expressions below `body` in which something is replaced. What cannot be is left to the file's text.
#[must_use]
pub fn expansions(file: &SourceFile, tree: &HostTree, symbols: &Symbols<'_>, body: NodeId) -> Vec<Expansion> {
    let mut spans = BTreeSet::new();
    for node in tree.descendants(body).filter(|node| tree.kind(*node) == NodeKind::Identifier) {
        let place = tree.span(node);
        let expander = Expander { symbols, at: place.start, budget: &Cell::new(MOST_WORDS) };
        let is_called = Call::naming(tree, node).is_some();
        if expander.stands_for_more(&file.show(place), is_called) {
            let whole = whole_expression(tree, node);
            spans.insert((tree.span(whole), false));
            spans.extend(bound(tree, whole, place).map(|span| (span, true)));
        }
    }
    let expanded = spans.into_iter().filter_map(|(span, is_bound)| expansion(file, tree, symbols, span, is_bound));
    expanded.collect()
}

/// The whole expression around a macro or a call that is named at `name`, with it and all others in it replaced, or `None` if one cannot
/// be.
#[must_use]
pub fn expansion_around(file: &SourceFile, tree: &HostTree, symbols: &Symbols<'_>, name: NodeId) -> Option<Expansion> {
    expansion(file, tree, symbols, tree.span(whole_expression(tree, name)), false)
}

fn expansion(
    file: &SourceFile,
    tree: &HostTree,
    symbols: &Symbols<'_>,
    span: Span,
    is_bound: bool,
) -> Option<Expansion> {
    let text = Expander { symbols, at: span.start, budget: &Cell::new(MOST_WORDS) }.expand(&file.show(span), &[])?;
    let file = SourceFile::new(file.path.clone(), text.into_bytes());
    let tree = parse_expression(&file, Span::new(0, file.text.len()), tree.language())?;
    Some(Expansion { span, is_bound, file, tree })
}

/// The expression around a name that is part of no other one.
fn whole_expression(tree: &HostTree, name: NodeId) -> NodeId {
    let is_part = |node: NodeId| {
        let kind = tree.kind(node);
        let is_list = matches!(kind, NodeKind::ArgumentList | NodeKind::SubscriptArgumentList);
        is_list || kind.is_expression() && kind != NodeKind::LambdaExpression
    };
    tree.ancestors(name).take_while(|node| is_part(*node)).last().unwrap_or(name)
}

/// The bound of a loop that a name is part of, where it is less than the whole expression.
fn bound(tree: &HostTree, whole: NodeId, name: Span) -> Option<Span> {
    tree.parent(whole).filter(|parent| tree.kind(*parent) == NodeKind::ForStatement)?;
    let operands = [Field::Left, Field::Right].into_iter().filter_map(|side| tree.child(whole, side));
    operands.map(|operand| tree.span(operand)).find(|operand| operand.contains(name))
}

/// Replaces calls in the text of an expression.
struct Expander<'s, 'a> {
    symbols: &'s Symbols<'a>,
    /// Where the expression stands.
    at: usize,
    /// How many words may still be read.
    budget: &'s Cell<usize>,
}

impl Expander<'_, '_> {
    /// Is a name one that is replaced?
    fn stands_for_more(&self, name: &str, is_called: bool) -> bool {
        match self.definition(name) {
            Some(found) => (is_called || found.parameters.is_none()) && !self.is_number(name, &found),
            None => is_called && functions::returned(self, name, &[name]).is_some(),
        }
    }

    fn definition(&self, name: &str) -> Option<Macro> {
        self.symbols.macro_definition(name, self.at)
    }

    /// Does a macro stand for a number, which is read as one?
    fn is_number(&self, name: &str, found: &Macro) -> bool {
        found.parameters.is_none()
            && is_operand(&found.body)
            && (self.symbols.constant(name, self.at).is_some()
                || found.body.trim_end_matches(['f', 'F', 'l', 'L']).parse::<f64>().is_ok())
    }

    /// The text with all calls replaced, but for those of `outer`, or `None` if something in it cannot be.
    fn expand(&self, text: &str, outer: &[&str]) -> Option<String> {
        if outer.len() > DEEPEST {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut behind_member = false;
        while let Some((token, after)) = tokens(rest) {
            let is_member = std::mem::replace(&mut behind_member, matches!(token, Token::Other("." | "->" | "::")));
            rest = after;
            let Token::Word(word) = token else {
                behind_member |= is_member && token.is_blank();
                out.push_str(token.text());
                continue;
            };
            let (replaced, behind) = self.word(word, rest, is_member, outer)?;
            out.push_str(&replaced);
            rest = behind;
            if out.len() > LONGEST {
                return None;
            }
        }
        Some(out)
    }

    /// What a name stands for, with the arguments behind it, and the text behind those.
    fn word<'t>(&self, word: &str, rest: &'t str, is_member: bool, outer: &[&str]) -> Option<(String, &'t str)> {
        self.budget.set(self.budget.get().checked_sub(1)?);
        let as_it_is = Some((word.to_owned(), rest));
        if outer.contains(&word) {
            return as_it_is;
        }
        let inner: Vec<&str> = outer.iter().copied().chain([word]).collect();
        let Some(found) = self.definition(word) else {
            let call = arguments(rest).filter(|_| !self.symbols.function_definitions(word).is_empty());
            let Some((arguments, behind)) = call else { return as_it_is };
            if is_member {
                return None;
            }
            let Some(function) = functions::returned(self, word, &inner) else { return as_it_is };
            let arguments = arguments.iter().map(|one| self.expand(one, outer)).collect::<Option<Vec<_>>>()?;
            let text = function.with_arguments(self.symbols, self.at, &arguments)?;
            return Some((self.expand(&text, &inner)?, behind));
        };
        if self.is_number(word, &found) {
            return as_it_is;
        }
        if found.is_elsewhere || self.symbols.is_ambiguous_macro(word) || found.body.contains('#') {
            return None;
        }
        let Some(parameters) = &found.parameters else { return Some((self.expand(&found.body, &inner)?, rest)) };
        let Some((arguments, behind)) = arguments(rest) else { return as_it_is };
        let is_empty = parameters.is_empty() && arguments.iter().all(|one| one.trim().is_empty());
        if parameters.len() != arguments.len() && !is_empty || found.body.contains("__VA_") {
            return None;
        }
        let arguments = arguments.iter().map(|one| self.expand(one, outer)).collect::<Option<Vec<_>>>()?;
        let text = tokens::replaced(&found.body, |word| {
            let index = parameters.iter().position(|parameter| parameter == word)?;
            arguments.get(index).cloned()
        });
        Some((self.expand(&text, &inner)?, behind))
    }
}
