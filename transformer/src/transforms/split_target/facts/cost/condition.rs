//! From which lengths on the split form is faster: the condition of a host `if` between both forms.
//!
//! The condition only compares variables with constants, or the last variable of a product with a constant divided by
//! the others, which are above zero. So nothing in it can overflow, trap or have an effect, and the region gets a copy
//! of each variable anyway. Both branches give the original's results, so a wrong condition costs only time.

use std::fmt;

use crate::context::Context;
use crate::plan::{Reason, ReasonCode};
use crate::region::target::TargetRegion;
use crate::semantics::{Class, Kind, Program};
use crate::source::Span;
use crate::syntax::ClauseName;
use crate::transforms::split_target::facts::cost::{Threshold, thresholds};
use crate::transforms::split_target::facts::pieces::Piece;
use crate::transforms::split_target::shape::Shape;
use crate::transforms::two_forms;

/// The split form runs if one of these lengths is reached.
#[derive(Clone, Debug)]
pub(crate) struct Condition(Vec<Threshold>);

/// The condition that chooses between both forms. `None` if one form is faster for all lengths.
///
/// # Errors
/// A note that the choice depends on the lengths, and why both forms cannot be written.
pub(crate) fn condition(
    cx: &Context<'_>,
    region: &TargetRegion,
    shape: &Shape,
    pieces: &[Piece],
) -> Result<Option<Condition>, Reason> {
    // If the loops were inside one that teams share, the loss depends on two lengths at once.
    if shape.shared.is_some() {
        return Ok(None);
    }
    let thresholds = thresholds(cx, region.extent, shape, pieces);
    let some_pay = thresholds.iter().any(|threshold| threshold.from.is_some());
    if !some_pay || thresholds.iter().any(|threshold| threshold.from.is_some_and(|from| from <= 1.0)) {
        return Ok(None);
    }
    let directive = region.extent.start;
    let note = |span, message: String| Reason::new(ReasonCode::NotVersioned, span, message);
    let first = region.chain.constructs.first();
    let obstacle = first.and_then(|first| two_forms::cannot_stand_twice(cx, *first, region.extent));
    if let Some((span, what)) = obstacle {
        return Err(note(span, format!("the region cannot stand twice: {what}")));
    }
    let asked = |threshold: &&Threshold| {
        let mut types = threshold.variables().map(|name| cx.integer_type(name, directive));
        let first = types.next();
        let is_readable = |name| is_readable(cx, region, shape, name);
        threshold.from.is_some() && types.all(|other| Some(other) == first) && threshold.variables().all(is_readable)
    };
    let asked: Vec<Threshold> = thresholds.iter().filter(asked).cloned().collect();
    if asked.is_empty() {
        let all: Vec<String> = thresholds.iter().map(|threshold| format!("`{}`", threshold.name)).collect();
        let message = format!(
            "the length hangs on {}: no integers of 32 bits, and of one type, that the host can read before the region",
            all.join(", ")
        );
        return Err(note(Span::new(directive, directive + 1), message));
    }
    Ok(Some(Condition(asked)))
}

impl fmt::Display for Condition {
    /// The expression: `n >= 610 || (m > 0 && n > 389 / m)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let several = self.0.len() > 1;
        let written = |(product, text)| if product && several { format!("({text})") } else { text };
        let terms: Vec<String> = self.0.iter().filter_map(term).map(written).collect();
        f.write_str(&terms.join(" || "))
    }
}

/// The comparison, and whether it is for a product: `a * b * c >= 390` becomes `a > 0 && b > 0 && c > 389 / a / b`,
/// which means the same and cannot overflow.
fn term(threshold: &Threshold) -> Option<(bool, String)> {
    let from = threshold.from?;
    let variables: Vec<&str> = threshold.variables().collect();
    let (last, others) = variables.split_last()?;
    if others.is_empty() {
        return Some((false, format!("{last} >= {from:.0}")));
    }
    let positive: String = others.iter().map(|name| format!("{name} > 0 && ")).collect();
    let divided: String = others.iter().map(|name| format!(" / {name}")).collect();
    Some((true, format!("{positive}{last} > {:.0}{divided}", from - 1.0)))
}

/// Is it an integer of at least 32 bits of which the region gets the host's value?
fn is_readable(cx: &Program<'_>, region: &TargetRegion, shape: &Shape, name: &str) -> bool {
    let at = region.extent.start;
    let is_number = matches!(cx.kind(name, at), Kind::Scalar { wide: false, class: Class::Integer, builtin: true });
    let mut clauses = shape.outer.iter().flat_map(|id| &cx.constructs.directive(*id).clauses);
    let on_device = clauses.any(|clause| {
        let listed = clause.lists(name);
        clause.name == ClauseName::Defaultmap || (listed && clause.name != ClauseName::Firstprivate)
    });
    is_number
        && !on_device
        && cx.holds_32_bits(name, at)
        && !cx.is_declare_target(name)
        && !cx.may_be_declared_for_device(name, at)
        && !cx.is_threadprivate(name)
}
