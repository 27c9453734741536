//! What evaluating an expression does, part by part.
//!
//! Passes ask whether an expression may be evaluated on the host, once more, or where it was not evaluated before. Each of them has
//! its own policy; all of them judge the parts that are read here. A kind of node that is not listed in [`act`] is [`Act::Unknown`],
//! which no policy accepts.

use std::borrow::Cow;

use crate::semantics::Program;
use crate::semantics::calls::is_pure;
use crate::semantics::uses::{Use, uses_below};
use crate::source::{SourceFile, Span};
use crate::syntax::host::parse_expression;
use crate::syntax::{Field, HostTree, NodeId, NodeKind};

/// What one part of an expression does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// A number, a character or a text stands there.
    Literal,
    /// A name stands there: for a value, an object or a function.
    Name,
    /// Values are added, subtracted, multiplied, or change their sign.
    Arithmetic,
    /// Bits are combined or moved.
    Bits,
    /// Values are compared.
    Test,
    /// A quotient or a remainder is formed: it traps where the divisor is zero.
    Division,
    /// One value decides whether others are evaluated: `?:`, `&&`, `||`.
    Choice,
    /// A value is converted to the type that is written there.
    Conversion,
    /// A type is named.
    Type,
    /// The size of a type or of an operand, which is not evaluated unless it is an array of variable length.
    Size,
    /// Memory is reached through an address: `a[i]`, `*p`, `p->m`.
    Load,
    /// A member of an object: `s.m`.
    Member,
    /// An address is taken.
    Address,
    /// Something is called, or may be.
    Call,
    /// Something is changed, made or deleted.
    Effect,
    /// What this does is not modelled.
    Unknown,
}

/// One part of an expression.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// What it does.
    pub act: Act,
    /// The smallest expression that does it.
    pub node: NodeId,
}

/// All that evaluating an expression does.
pub(crate) struct Evaluation<'t> {
    /// The tree that the parts' nodes are of.
    pub tree: Cow<'t, HostTree>,
    /// The parts in the order of the text, each before its operands.
    pub parts: Vec<Part>,
    /// The names in it, and what is done with them.
    pub names: Vec<Use>,
}

impl<'t> Evaluation<'t> {
    /// Reads the expression, or the statement of one, that a node of a file is.
    pub(crate) fn of(file: &SourceFile, tree: &'t HostTree, root: NodeId) -> Self {
        Self::read(file, Cow::Borrowed(tree), root)
    }

    /// Reads the expression that a text consists of.
    pub(crate) fn of_text(file: &SourceFile, tree: HostTree) -> Self {
        let root = tree.root();
        Self::read(file, Cow::Owned(tree), root)
    }

    fn read(file: &SourceFile, tree: Cow<'t, HostTree>, root: NodeId) -> Self {
        let parts: Vec<Part> =
            tree.descendants(root).filter_map(|node| Some(Part { act: act(file, &tree, node)?, node })).collect();
        let names = uses_below(file, &tree, root);
        Self { tree, parts, names }
    }

    /// Does a part of it do this?
    pub(crate) fn does(&self, act: Act) -> bool {
        self.parts.iter().any(|part| part.act == act)
    }

    /// The first part that is not accepted.
    pub(crate) fn first_without(&self, is_accepted: impl Fn(&Part) -> bool) -> Option<Span> {
        self.parts.iter().find(|part| !is_accepted(part)).map(|part| self.tree.span(part.node))
    }

    /// Do its operators give a value and do nothing else? What its names stand for may do more.
    pub(crate) fn only_gives_value(&self) -> bool {
        !self.parts.iter().any(|part| matches!(part.act, Act::Effect | Act::Unknown))
    }

    /// The divisor of a part that divides.
    pub(crate) fn divisor(&self, part: &Part) -> Option<Span> {
        self.tree.child(part.node, Field::Right).map(|right| self.tree.span(right))
    }
}

impl Program<'_> {
    /// What evaluating the expression does that stands at a place of the file, in a clause as well; `None` where the text there is no
    /// expression.
    pub(crate) fn evaluation(&self, span: Span) -> Option<Evaluation<'static>> {
        let tree = parse_expression(self.file, span, self.tree.language())?;
        Some(Evaluation::of_text(self.file, tree))
    }

    /// Are all functions that an expression calls those of the libraries that compute a value and do nothing else?
    pub(crate) fn calls_only_compute(&self, expression: NodeId) -> bool {
        self.only_computes_below(self.tree, expression)
    }

    /// The same of the expression that stands at a place of the file, in a clause as well.
    pub(crate) fn calls_only_compute_in(&self, span: Span) -> bool {
        let tree = parse_expression(self.file, span, self.tree.language());
        tree.is_some_and(|tree| self.only_computes_below(&tree, tree.root()))
    }

    fn only_computes_below(&self, tree: &HostTree, root: NodeId) -> bool {
        let calls = tree.descendants(root).filter(|node| tree.kind(*node) == NodeKind::CallExpression);
        calls.filter(|call| !is_conversion(self.file, tree, *call)).all(|call| {
            let name = tree.child(call, Field::Function).map(|function| tree.span(function));
            name.is_some_and(|name| {
                let text = self.file.show(name);
                is_pure(&text) && self.symbols().calls_library_in(None, &text, name.start)
            })
        })
    }
}

/// What a node does by itself; `None` where it only holds its parts together.
pub(crate) fn act(file: &SourceFile, tree: &HostTree, node: NodeId) -> Option<Act> {
    if tree.is_problem(node) {
        return Some(Act::Unknown);
    }
    if !tree.is_named(node) {
        return None;
    }
    match tree.kind(node) {
        NodeKind::NumberLiteral
        | NodeKind::CharLiteral
        | NodeKind::StringLiteral
        | NodeKind::RawStringLiteral
        | NodeKind::ConcatenatedString
        | NodeKind::True
        | NodeKind::False
        | NodeKind::Null => Some(Act::Literal),
        NodeKind::Identifier | NodeKind::QualifiedIdentifier | NodeKind::This => Some(Act::Name),
        NodeKind::PrimitiveType | NodeKind::SizedTypeSpecifier | NodeKind::TypeIdentifier => Some(Act::Type),
        NodeKind::BinaryExpression | NodeKind::UnaryExpression => Some(operator_act(tree.operator(node))),
        NodeKind::ConditionalExpression => Some(Act::Choice),
        NodeKind::CastExpression => Some(Act::Conversion),
        NodeKind::SizeofExpression | NodeKind::AlignofExpression | NodeKind::OffsetofExpression => Some(Act::Size),
        NodeKind::SubscriptExpression => Some(Act::Load),
        NodeKind::PointerExpression if tree.operator(node) == Some(NodeKind::Ampersand) => Some(Act::Address),
        NodeKind::PointerExpression => Some(Act::Load),
        NodeKind::FieldExpression if tree.children(node).any(|child| tree.kind(child) == NodeKind::Dot) => {
            Some(Act::Member)
        }
        NodeKind::FieldExpression => Some(Act::Load),
        NodeKind::CallExpression => Some(if is_conversion(file, tree, node) { Act::Conversion } else { Act::Call }),
        NodeKind::AssignmentExpression
        | NodeKind::UpdateExpression
        | NodeKind::NewExpression
        | NodeKind::DeleteExpression => Some(Act::Effect),
        kind => (!holds_parts_together(kind)).then_some(Act::Unknown),
    }
}

/// Nodes that do nothing beside what their parts do.
fn holds_parts_together(kind: NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::AbstractArrayDeclarator
            | NodeKind::AbstractPointerDeclarator
            | NodeKind::AbstractReferenceDeclarator
            | NodeKind::ArgumentList
            | NodeKind::Character
            | NodeKind::CommaExpression
            | NodeKind::Comment
            | NodeKind::ConditionClause
            | NodeKind::EscapeSequence
            | NodeKind::ExpressionStatement
            | NodeKind::FieldIdentifier
            | NodeKind::NamespaceIdentifier
            | NodeKind::ParenthesizedExpression
            | NodeKind::RawStringContent
            | NodeKind::RawStringDelimiter
            | NodeKind::StringContent
            | NodeKind::SubscriptArgumentList
            | NodeKind::TemplateArgumentList
            | NodeKind::TemplateFunction
            | NodeKind::TranslationUnit
            | NodeKind::TypeDescriptor
            | NodeKind::TypeQualifier
    )
}

fn operator_act(operator: Option<NodeKind>) -> Act {
    match operator {
        Some(NodeKind::Plus | NodeKind::Minus | NodeKind::Star) => Act::Arithmetic,
        Some(NodeKind::Slash | NodeKind::Percent) => Act::Division,
        Some(NodeKind::AmpersandAmpersand | NodeKind::BarBar | NodeKind::And | NodeKind::Or) => Act::Choice,
        Some(
            NodeKind::Less
            | NodeKind::Greater
            | NodeKind::LessEqual
            | NodeKind::GreaterEqual
            | NodeKind::EqualEqual
            | NodeKind::ExclamationEqual
            | NodeKind::Exclamation
            | NodeKind::Not
            | NodeKind::NotEq,
        ) => Act::Test,
        Some(
            NodeKind::Ampersand
            | NodeKind::Bar
            | NodeKind::Caret
            | NodeKind::Tilde
            | NodeKind::LessLess
            | NodeKind::GreaterGreater
            | NodeKind::Bitand
            | NodeKind::Bitor
            | NodeKind::Xor
            | NodeKind::Compl,
        ) => Act::Bits,
        _ => Act::Unknown,
    }
}

/// Is it written as a call, or read as one, and a conversion to one of the language's own types: `int(x)`, `static_cast<double>(x)`?
pub(crate) fn is_conversion(file: &SourceFile, tree: &HostTree, call: NodeId) -> bool {
    let Some(function) = tree.child(call, Field::Function) else { return false };
    match tree.kind(function) {
        NodeKind::PrimitiveType | NodeKind::SizedTypeSpecifier => true,
        // `(__UINTPTR_TYPE__)(a + n)`: the compiler's own name of a type, which no function can have.
        NodeKind::ParenthesizedExpression => file.bytes(tree.span(function)) == b"(__UINTPTR_TYPE__)",
        _ => false,
    }
}

mod rounding;
#[cfg(test)]
mod tests;
