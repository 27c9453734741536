//! Does a serial loop run at least once?

use crate::context::Context;
use crate::region::loop_nest::{CanonicalLoop, Relation, VariableKind};
use crate::source::Span;
use crate::transforms::checks::heads::operand;

/// Does a loop run at least once: by its numbers, or as it has the bound of a loop around it and starts no later?
pub(super) fn certainly_runs(cx: &Context<'_>, own: &CanonicalLoop, loops: &[CanonicalLoop]) -> bool {
    let [lower, upper] = [own.lower, own.upper].map(|span| cx.constant(span));
    let Some(lower) = lower.filter(|lower| (0..=127).contains(lower) && grows(own)) else { return false };
    let by_numbers = upper.is_some_and(|upper| lower < upper && upper <= i64::from(i32::MAX));
    let bound = cx.file.show(own.upper);
    let is_around = |read: &CanonicalLoop| {
        let starts = cx.constant(read.lower).is_some_and(|start| lower <= start && start <= i64::from(i32::MAX));
        let is_same = read.relation == own.relation && cx.file.show(read.upper) == bound;
        starts && is_same && grows(read) && keeps_values(cx, own.upper, cx.tree.span(read.body))
    };
    by_numbers || loops.iter().any(is_around)
}

/// Is an expression made of numbers and of names that keep their values in a part of the file?
pub(super) fn keeps_values(cx: &Context<'_>, expression: Span, part: Span) -> bool {
    cx.is_arithmetic(expression)
        && cx.names_in(expression).iter().all(|(name, span)| {
            let keeps = || cx.symbols().written_in(name, span.start, part).is_empty();
            let is_variable = cx.named(name, span.start).is_some();
            let is_own = is_variable && keeps() && cx.cannot_be_aliased(name, span.start);
            cx.constant(*span).is_some() || cx.expansion(name, span.start).is_none() && is_own
        })
}

/// An expression that tells in front of a loop whether it runs: its first value, compared with its bound as its test compares its variable.
/// `None` where that may be another comparison, of numbers of other types.
pub(super) fn test(cx: &Context<'_>, own: &CanonicalLoop) -> Option<String> {
    let sign = match own.relation {
        Relation::Less => "<",
        Relation::LessOrEqual => "<=",
        Relation::Greater | Relation::GreaterOrEqual | Relation::NotEqual => return None,
    };
    let variable = cx.integer_type(&own.variable, cx.tree.span(own.body).start)?;
    let is_signed = variable.integer().is_some_and(|integer| integer.signed);
    let is_kept = grows(own) && own.kind == VariableKind::Integer && keeps_values(cx, own.upper, own.span);
    // The bound's type decides how a small number is compared that both types hold, unless it is the variable's that has no sign.
    let is_number = cx.constant(own.lower).is_some_and(|lower| (0..=127).contains(&lower));
    let is_of_type = || {
        let names = cx.names_in(own.lower);
        let is_same = |(name, span): &(String, Span)| cx.integer_type(name, span.start).as_ref() == Some(&variable);
        variable.integer().is_some_and(|integer| integer.bits >= 32)
            && keeps_values(cx, own.lower, own.span)
            && names.iter().all(is_same)
            && is_sum_of_names(&cx.file.show(own.lower))
    };
    if !is_signed || !is_kept || !(is_number || is_of_type()) {
        return None;
    }
    let [lower, upper] = [own.lower, own.upper].map(|side| operand(&cx.file.show(side)));
    Some(format!("{lower} {sign} {upper}"))
}

fn grows(read: &CanonicalLoop) -> bool {
    matches!(read.relation, Relation::Less | Relation::LessOrEqual) && !read.step.is_subtracted
}

/// Names and numbers that are added or subtracted; no suffix or point makes the numbers more than `int`.
fn is_sum_of_names(text: &str) -> bool {
    let is_number = |word: &str| word.len() < 9 && word.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = |word: &str| {
        word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    text.split(['+', '-']).map(str::trim).all(|word| is_name(word) || is_number(word))
}
