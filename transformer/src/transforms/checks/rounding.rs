//! May a compiler round otherwise where statements stand in other surroundings?

use crate::context::Context;
use crate::plan::{Certainty, Reason, ReasonCode};
use crate::source::Span;

/// The assumption that numbers may be rounded otherwise, where flags or pragmas allow compilers to combine the operations of several
/// statements.
pub(in crate::transforms) fn other_rounding(cx: &Context<'_>, directive: Span) -> Option<Reason> {
    let is_allowed = cx.arithmetic.reassociates || cx.arithmetic.contracts_statements || cx.rounds_freely();
    is_allowed.then(|| {
        let message = "assumes that floating-point numbers may be rounded otherwise, as the flags allow";
        Reason { certainty: Certainty::Assumed, ..Reason::new(ReasonCode::OtherRounding, directive, message) }
    })
}
