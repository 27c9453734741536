//! The head of the parallel loop, from which the heads of its tiles are made.

use crate::analysis::accesses::Accesses;
use crate::analysis::polynomial::Polynomial;
use crate::plan::{Reason, ReasonCode};
use crate::region::loop_nest::{CanonicalLoop, Relation};
use crate::semantics::symbols::DeclaredType;
use crate::source::{Span, words};
use crate::syntax::Number;
use crate::transforms::host_copies::host_values::HostValues;
use crate::transforms::host_copies::text;

/// A loop that counts upwards by one, from a first value to before an end.
pub(super) struct Head {
    /// Its variable.
    pub variable: String,
    /// The type of the variable, as the file spells it.
    pub ty: String,
    /// The expression for the first value.
    pub lower: Span,
    /// The whole test.
    pub condition: Span,
    /// The first value, as a polynomial.
    pub first: Polynomial,
    /// If the first value is a variable of the type in which iterations are counted: is that type signed?
    pub named_start: Option<bool>,
    /// The value behind the last one.
    pub end: Polynomial,
    /// The first value and the end, in C.
    pub first_text: String,
    pub end_text: String,
    /// How many iterations there are, in C.
    pub trips_text: String,
    /// How many iterations there are, if it is known.
    pub trips: Option<i128>,
}

impl Head {
    /// Must the host test whether the first value lies behind a section's start? It can if that start is zero.
    pub(super) fn is_asked_to_start(&self, from: &Polynomial) -> bool {
        from.is_zero() && self.named_start.is_some() && self.first.as_constant().is_none()
    }
}

/// Reads the outermost loop of a nest.
///
/// # Errors
/// Why the loop cannot be cut into tiles.
pub(super) fn read(values: &HostValues<'_, '_>, only: &CanonicalLoop, found: &Accesses) -> Result<Head, Vec<Reason>> {
    let refuse = |span: Span, message: &str| Err(vec![Reason::new(ReasonCode::LoopNotTiled, span, message)]);
    let known = found.loops.first().filter(|known| known.span == only.span);
    let Some(known) = known.filter(|known| known.integer.bits >= 32) else {
        return refuse(only.variable_span, "the loop's variable is no integer of at least 32 bits");
    };
    for bound in [only.lower, only.upper] {
        values.check(bound)?;
    }
    if known.step != Some(1) || !matches!(only.relation, Relation::Less | Relation::LessOrEqual) {
        return refuse(only.step.span, "the loop does not run upwards by ones");
    }
    let (Some(first), Some(last)) = (&known.range.lower, &known.range.upper) else {
        return refuse(only.condition, "the bounds are not understood");
    };
    let end = last.plus(&Polynomial::constant(1));
    let trips = end.as_ref().and_then(|end| end.minus(first));
    let (Some(end), Some(trips)) = (end, trips) else {
        return refuse(only.condition, "the bounds are not understood");
    };
    let Some(ty) = variable_type(values, only) else {
        return refuse(only.variable_span, "the type of the loop's variable is not understood");
    };
    let first_text = values.spelled(only.lower);
    // Sums are computed in the type of the variable, even if their operands are of narrower types.
    let is_narrow = |name: &str| {
        let variable = values.symbols().lookup(name, only.lower.start).map(|variable| variable.ty.clone());
        let integer = variable.as_ref().and_then(DeclaredType::number).and_then(Number::integer);
        integer.is_none_or(|integer| integer.bits < known.integer.bits)
    };
    let is_exact = |spelled: &str| {
        let is_cast = spelled.trim_start_matches('(').starts_with(&format!("{ty})"));
        let is_number = spelled.bytes().all(|byte| byte.is_ascii_digit());
        known.integer.bits <= 32 || is_cast || is_number || !words(spelled).any(is_narrow)
    };
    let widened = |spelled: &str| {
        let operand = text::operand(spelled);
        if is_exact(spelled) { operand } else { format!("({ty}){operand}") }
    };
    let sum = |value: &Polynomial| {
        let spelled = text::narrow_sum(value, &found.symbols).filter(|_| value.as_constant().is_none());
        spelled.filter(|spelled| is_exact(spelled))
    };
    let end_text = match only.relation {
        Relation::Less => values.spelled(only.upper),
        _ if end.as_constant().is_some() => text::narrow_sum(&end, &found.symbols).unwrap_or_default(),
        _ => sum(&end).unwrap_or_else(|| format!("{} + 1", widened(&values.spelled(only.upper)))),
    };
    let trips_text = if first.is_zero() {
        end_text.clone()
    } else {
        let difference = || format!("{} - {}", widened(&end_text), text::operand(&first_text));
        sum(&trips).unwrap_or_else(difference)
    };
    let start = values.symbols().lookup(&first_text, only.lower.start).map(|variable| variable.ty.clone());
    let named_start = start.as_ref().and_then(DeclaredType::number).and_then(Number::integer);
    Ok(Head {
        variable: only.variable.clone(),
        named_start: named_start.filter(|start| *start == known.integer).map(|start| start.signed),
        ty,
        lower: only.lower,
        condition: only.condition,
        first: first.clone(),
        end,
        first_text,
        end_text,
        trips_text,
        trips: known.trips,
    })
}

fn variable_type(values: &HostValues<'_, '_>, only: &CanonicalLoop) -> Option<String> {
    let cx = values.cx();
    let start = cx.tree.span(only.body).start;
    let ty = values.symbols().lookup(&only.variable, start)?.ty.clone();
    if let Some(span) = only.declared_type {
        return Some(cx.file.show(span).into_owned()).filter(|_| ty != DeclaredType::Auto);
    }
    match ty {
        DeclaredType::Scalar { number, spelling, .. } => number.integer().map(|_| spelling.to_string()),
        _ => None,
    }
}
