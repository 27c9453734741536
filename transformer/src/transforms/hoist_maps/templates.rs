//! A section or a length as text with places for values, so that the values can be told in terms of other functions.

use crate::context::Context;
use crate::edit::directive_writer::on_one_line;
use crate::semantics::Act;
use crate::semantics::evaluation::act;
use crate::source::Span;
use crate::syntax::{NodeId, NodeKind};
use crate::transforms::checks::addresses::{is_operand, operand};

/// A part of such a text.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Text(String),
    /// What an expression of the file gives.
    Value {
        of: Span,
        /// Is something computed from it, so that its type matters?
        is_operand: bool,
    },
}

/// A text with places for values.
#[derive(Clone, Debug, Default)]
pub(super) struct Template(pub Vec<Piece>);

impl Template {
    /// A piece of the file in which these expressions stand, in their order.
    pub(super) fn of(cx: &Context<'_>, extent: Span, expressions: &[Span]) -> Self {
        let (mut pieces, mut from) = (Vec::new(), extent.start);
        for span in expressions {
            pieces.push(Piece::Text(cx.file.show(Span::new(from, span.start)).into_owned()));
            pieces.push(Piece::Value { of: *span, is_operand: false });
            from = span.end;
        }
        pieces.push(Piece::Text(cx.file.show(Span::new(from, extent.end)).into_owned()));
        Self(pieces)
    }

    /// Nothing but a value.
    pub(super) fn of_value(of: Span) -> Self {
        Self(vec![Piece::Value { of, is_operand: false }])
    }

    /// A value compared with a number: `n > 0`.
    pub(super) fn compared(of: Span, with: &str) -> Self {
        Self(vec![Piece::Value { of, is_operand: true }, Piece::Text(format!(" {with}"))])
    }

    /// A test with the values that it compares.
    pub(super) fn of_test(cx: &Context<'_>, test: NodeId) -> Self {
        let mut values = Vec::new();
        compared_values(cx, test, &mut values);
        Self::of(cx, cx.tree.span(test), &values)
    }

    /// Whether a comparison of constants that are not large holds, `2 > 0`, or its opposite.
    pub(super) fn certainty(&self, cx: &Context<'_>) -> Option<bool> {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Value { of, .. } => {
                    let value = cx.constant(*of).filter(|value| (0..=i64::from(i32::MAX)).contains(value))?;
                    text.push_str(&value.to_string());
                }
            }
        }
        let text = text.replace(char::is_whitespace, "");
        match text.strip_prefix("!(").and_then(|rest| rest.strip_suffix(')')) {
            Some(test) => compared_numbers(test).map(|holds| !holds),
            None => compared_numbers(&text),
        }
    }

    /// Compares it no constants with each other, and nothing with itself?
    pub(super) fn is_plain(&self, cx: &Context<'_>) -> bool {
        let values = self.expressions();
        let constants = values.iter().filter(|value| cx.constant(**value).is_some()).count();
        let texts: Vec<String> = values.iter().map(|value| on_one_line(cx.file, *value)).collect();
        let is_twice = |(index, text): (usize, &String)| texts.get(..index).is_some_and(|before| before.contains(text));
        constants == 0 && !texts.iter().enumerate().any(is_twice)
    }

    /// The opposite.
    pub(super) fn negated(self, cx: &Context<'_>) -> Self {
        Self(std::iter::once(Piece::Text("!".to_owned())).chain(self.into_operand(cx).0).collect())
    }

    /// With brackets where it needs them beside an operator.
    pub(super) fn into_operand(self, cx: &Context<'_>) -> Self {
        if is_operand(&self.text(cx)) {
            return self;
        }
        let [open, close] = ["(", ")"].map(|text| Piece::Text(text.to_owned()));
        Self(std::iter::once(open).chain(self.0).chain([close]).collect())
    }

    /// In C, on one line.
    pub(super) fn text(&self, cx: &Context<'_>) -> String {
        let shown = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Value { of, is_operand: false } => on_one_line(cx.file, *of),
            Piece::Value { of, is_operand: true } => operand(&on_one_line(cx.file, *of)),
        };
        let text: String = self.0.iter().map(shown).collect();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The expressions that it is computed from.
    pub(super) fn expressions(&self) -> Vec<Span> {
        let values = self.0.iter().filter_map(|piece| match piece {
            Piece::Value { of, .. } => Some(*of),
            Piece::Text(_) => None,
        });
        values.collect()
    }

    /// With something else in the place of each value.
    pub(super) fn replaced(&self, mut value: impl FnMut(Span, bool) -> Option<Vec<Piece>>) -> Option<Self> {
        let mut pieces = Vec::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => pieces.push(Piece::Text(text.clone())),
                Piece::Value { of, is_operand } => pieces.extend(value(*of, *is_operand)?),
            }
        }
        Some(Self(pieces))
    }

    /// A section that began at the first element, from another one on.
    pub(super) fn starting_at(self, offset: Span) -> Option<Self> {
        let mut pieces = self.0.into_iter();
        let rest = pieces.by_ref().find_map(|piece| match piece {
            Piece::Text(text) => text.split_once(':').map(|(_, rest)| format!(":{rest}")),
            Piece::Value { .. } => None,
        })?;
        let start = [Piece::Text("[".to_owned()), Piece::Value { of: offset, is_operand: false }, Piece::Text(rest)];
        Some(Self(start.into_iter().chain(pieces).collect()))
    }
}

/// The values that a test compares, in the order of the text: `n` and `0` of `!(n > 0)`.
fn compared_values(cx: &Context<'_>, test: NodeId, found: &mut Vec<Span>) {
    let tree = cx.tree;
    let is_made_of_tests = match tree.kind(test) {
        NodeKind::ParenthesizedExpression => true,
        NodeKind::UnaryExpression | NodeKind::BinaryExpression => {
            matches!(act(cx.file, tree, test), Some(Act::Test | Act::Choice))
        }
        _ => false,
    };
    if !is_made_of_tests {
        found.push(tree.span(test));
        return;
    }
    for part in tree.named_children(test) {
        compared_values(cx, part, found);
    }
}

/// Whether a comparison of two numbers holds.
fn compared_numbers(text: &str) -> Option<bool> {
    type Relation = (&'static str, fn(&i64, &i64) -> bool);
    let relations: [Relation; 6] =
        [("<=", i64::le), (">=", i64::ge), ("==", i64::eq), ("!=", i64::ne), ("<", i64::lt), (">", i64::gt)];
    let parts = |(word, holds): Relation| text.split_once(word).map(|(left, right)| (left, holds, right));
    let (left, holds, right) = relations.into_iter().find_map(parts)?;
    Some(holds(&left.parse().ok()?, &right.parse().ok()?))
}
