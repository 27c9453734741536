//! Whether the original may race: the loops of a league run without an order.

use crate::plan::{Reason, ReasonCode};
use crate::semantics::Program;
use crate::transforms::split_target::facts::pieces::Piece;
use crate::transforms::split_target::shape::Shape;

/// Loops of a league that write data which another one reads or writes: the original does not order them.
pub(super) fn between_loops(cx: &Program<'_>, shape: &Shape, pieces: &[Piece]) -> Option<Reason> {
    if shape.form.widens() {
        return None;
    }
    for (index, first) in pieces.iter().enumerate() {
        for second in &pieces[index + 1..] {
            for (name, one) in &first.variables {
                let Some(other) = second.variables.get(name) else { continue };
                if one.elements_written.is_some() || other.elements_written.is_some() {
                    let directive = cx.constructs.directive(shape.outer.first().copied()?);
                    let message = format!(
                        "`teams` has no barrier between these loops, and both use `{name}`, which one of them writes: \
                         the original may race; the split orders them"
                    );
                    let reason = Reason::new(ReasonCode::OriginalRaces, directive.span, message);
                    return Some(reason.with_label(one.first, "first loop").with_label(other.first, "second loop"));
                }
            }
        }
    }
    None
}
