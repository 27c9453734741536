//! Do the loops of two constructs run over the same range?

use super::apart;
use super::members::Member;
use crate::analysis::accesses::{Loop, accesses_in};
use crate::plan::Reason;
use crate::region::loop_nest::CanonicalLoop;
use crate::semantics::Program;
use crate::source::Span;

/// Compares the types of the loops' variables, whose names mean the same for both: nothing is declared between the constructs.
pub(super) fn same_kind(cx: &Program<'_>, first: &Member, second: &Member) -> Result<(), Reason> {
    compare(cx, first, second, &|_, _| Ok(()))
}

/// Compares the heads of the loops as well.
pub(super) fn same_range(cx: &Program<'_>, first: &Member, second: &Member) -> Result<(), Reason> {
    compare(cx, first, second, &|(other, one), (own, two)| {
        if is_written_alike(cx, other, own) || is_one_range(one, two) {
            return Ok(());
        }
        let head = Span::new(own.span.start, cx.tree.span(own.body).start);
        let message = "this loop is not known to run over the range of the one before";
        Err(apart(head, message).with_label(other.span, "the other loop"))
    })?;
    names_stay_apart(cx, second, first)
}

/// A loop, and what is known of it.
type Known<'a> = (&'a CanonicalLoop, &'a Loop);

fn compare(
    cx: &Program<'_>,
    first: &Member,
    second: &Member,
    are_alike: &dyn Fn(Known<'_>, Known<'_>) -> Result<(), Reason>,
) -> Result<(), Reason> {
    let depth = first.loops.len();
    if depth != second.loops.len() {
        return Err(apart(second.directive, "the constructs take different numbers of loops"));
    }
    let both: Vec<CanonicalLoop> = first.loops.iter().chain(&second.loops).cloned().collect();
    let known = accesses_in(cx.file, cx.tree, cx.symbols(), (&both, second.body), both.len(), &[]).loops;
    let is_known = |(read, known): (&CanonicalLoop, &Loop)| read.span == known.span;
    if known.len() < both.len() || !both.iter().zip(&known).all(is_known) {
        return Err(apart(second.directive, "the variable of a loop is no integer"));
    }
    for (index, own) in second.loops.iter().enumerate() {
        let (Some(other), Some(one), Some(two)) = (first.loops.get(index), known.get(index), known.get(depth + index))
        else {
            break;
        };
        let head = Span::new(own.span.start, cx.tree.span(own.body).start);
        if one.integer != two.integer {
            return Err(apart(head, format!("`{}` has another type than `{}`", own.variable, other.variable)));
        }
        are_alike((other, one), (own, two))?;
        if own.declared_in_loop != other.declared_in_loop
            || !own.declared_in_loop && first.variables.get(index) != second.variables.get(index)
        {
            return Err(apart(head, "the loops do not declare their variables, and use different ones"));
        }
    }
    Ok(())
}

/// In one loop, a variable of the second construct is a copy of the one in its place; so its name must be no other loop's.
pub(super) fn names_stay_apart(cx: &Program<'_>, second: &Member, first: &Member) -> Result<(), Reason> {
    for (own, other) in second.loops.iter().zip(&first.loops).filter(|(own, other)| own.variable != other.variable) {
        if first.loops.iter().any(|any| any.variable == own.variable) {
            let message = format!("`{}` is the variable of another loop there", own.variable);
            return Err(apart(own.variable_span, message));
        }
        if second.names(cx, &other.variable) {
            let message = format!("`{}` means something else in this loop", other.variable);
            return Err(apart(own.variable_span, message));
        }
    }
    Ok(())
}

fn is_written_alike(cx: &Program<'_>, one: &CanonicalLoop, other: &CanonicalLoop) -> bool {
    let text = |span: Span| cx.file.show(span).split_whitespace().collect::<Vec<_>>().join(" ");
    let step = |read: &CanonicalLoop| (read.step.is_subtracted, read.step.amount.map(text));
    (text(one.lower), one.relation, text(one.upper), step(one))
        == (text(other.lower), other.relation, text(other.upper), step(other))
}

/// Are bounds and step equal by their values?
fn is_one_range(one: &Loop, other: &Loop) -> bool {
    let is_read = one.range.lower.is_some() && one.range.upper.is_some() && one.step.is_some();
    is_read && one.range == other.range && one.step == other.step
}
