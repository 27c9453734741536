//! Loops whose heads can count groups of iterations.

use super::refusal;
use crate::context::Context;
use crate::plan::Reason;
use crate::region::loop_nest::{CanonicalLoop, Relation, VariableKind};
use crate::source::{Span, words};
use crate::syntax::{NodeId, Number};

/// The largest first value of a loop. So the distance to the bound is a number of the bound's type.
const LARGEST_START: i64 = i32::MAX as i64;

/// Checks that a loop can count groups: up by one, to a bound that the body of the innermost loop can ask for again.
pub(super) fn check(cx: &Context<'_>, own: &CanonicalLoop, innermost: NodeId) -> Result<(), Reason> {
    if own.kind != VariableKind::Integer || !own.declared_in_loop {
        let message = format!("`{}` is not declared in the loop as an integer", own.variable);
        return Err(refusal(own.variable_span, message));
    }
    let at = cx.tree.span(own.body).start;
    if !cx.holds_32_bits(&own.variable, at) {
        return Err(refusal(own.variable_span, format!("`{}` may wrap around", own.variable)));
    }
    let is_up = matches!(own.relation, Relation::Less | Relation::LessOrEqual) && !own.step.is_subtracted;
    if !is_up {
        return Err(refusal(own.condition, "the loop does not count up to a bound"));
    }
    if !has_distance(cx, own, at) {
        let message =
            "the distance from the first value to the bound is not known to be a number of the variable's type";
        return Err(refusal(own.lower, message));
    }
    match changing(cx, own.upper, own, cx.tree.span(innermost).start) {
        Some((span, message)) => Err(refusal(span, message)),
        None => Ok(()),
    }
}

/// Is the bound less any value of the variable a number of the type in which both are compared? So it is from a number on that is not
/// negative, and without signs. Otherwise the loop counts its iterations in the type of the variable and of both bounds, which holds their
/// number (OpenMP 5.2, section 4.4.2).
fn has_distance(cx: &Context<'_>, own: &CanonicalLoop, at: usize) -> bool {
    let ty = cx.integer_type(&own.variable, at);
    let is_number =
        |word: &str| !word.starts_with(|c: char| c.is_ascii_digit()) || word.bytes().all(|b| b.is_ascii_digit());
    let is_of_type = |span: Span| {
        let names = cx.names_in(span);
        let of_type = |(name, at): &(String, Span)| cx.constant(*at).is_some() || cx.integer_type(name, at.start) == ty;
        cx.is_arithmetic(span) && words(&cx.file.show(span)).all(is_number) && names.iter().all(of_type)
    };
    let is_unsigned = ty.as_ref().and_then(Number::integer).is_some_and(|integer| !integer.signed);
    let starts = cx.constant(own.lower).is_some_and(|lower| (0..=LARGEST_START).contains(&lower));
    starts || is_unsigned || is_of_type(own.lower) && is_of_type(own.upper)
}

/// What in a bound may have another value, or none, where the body asks for it again.
fn changing(cx: &Context<'_>, bound: Span, own: &CanonicalLoop, asked: usize) -> Option<(Span, String)> {
    if !cx.is_arithmetic(bound) {
        return Some((bound, "the bound is more than arithmetic with numbers and variables".to_owned()));
    }
    let body = cx.tree.span(own.body);
    cx.names_in(bound).into_iter().find_map(|(name, at)| {
        if cx.constant(at).is_some() {
            return None;
        }
        let is_integer = cx.integer_type(&name, at.start).is_some() && cx.expansion(&name, at.start).is_none();
        let keeps = is_integer
            && cx.symbols().written_in(&name, at.start, body).is_empty()
            && cx.cannot_be_aliased(&name, at.start)
            && cx.means_the_same(at, asked);
        (!keeps).then(|| (at, format!("`{name}` is not known to be an integer that keeps its value")))
    })
}
