//! A section or a length as text with places for values, so that the values can be told in terms of other functions.

use crate::context::Context;
use crate::edit::directive_writer::on_one_line;
use crate::source::Span;
use crate::transforms::hoist_maps::items::operand;

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
