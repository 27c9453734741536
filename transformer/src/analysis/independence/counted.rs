//! Has a loop the iterations that a directive would count from its bounds and its step?
//!
//! A directive counts in integers, once. A serial loop compares and adds as the language does: with a bound that is no integer, in a wider or an
//! unsigned type, past the largest number of a type that wraps around.

use crate::analysis::accesses::Accesses;
use crate::analysis::integers::integer_of;
use crate::region::loop_nest::{CanonicalLoop, Relation};
use crate::semantics::{Integer, Program};
use crate::source::Span;
use crate::syntax::{Binary, NodeId, NodeKind};

/// Where and why it may have others. `found` are the accesses around it.
pub(crate) fn miscounts(cx: &Program<'_>, found: &Accesses, read: &CanonicalLoop) -> Option<(Span, &'static str)> {
    let start = cx.tree.span(read.body).start;
    let variable = cx.symbols().lookup(&read.variable, start);
    let Some(own) = variable.and_then(|variable| Integer::of(&variable.ty)) else {
        return Some((read.variable_span, "the loop's variable is no integer"));
    };
    let integer = |span: Span| type_of(cx, found, cx.tree.covering(span));
    let (Some(lower), Some(upper)) = (integer(read.lower), integer(read.upper)) else {
        return Some((read.upper, "a bound of the loop is not known to be an integer"));
    };
    let step = read.step.amount;
    let Some(added) = step.map_or(Some(Integer::INT), integer) else {
        return Some((read.step.span, "the step is not known to be an integer"));
    };
    let constant = step.map_or(Some(1), |span| cx.constant(span));
    let Some(constant) = constant.filter(|step| *step > 0) else {
        return Some((read.step.span, "the step is no positive number"));
    };
    let is_upward = matches!(read.relation, Relation::Less | Relation::LessOrEqual);
    let is_downward = matches!(read.relation, Relation::Greater | Relation::GreaterOrEqual);
    if is_upward && read.step.is_subtracted || is_downward && !read.step.is_subtracted {
        return Some((read.step.span, "the loop does not run towards its bound"));
    }
    // Where the largest number of the type is an error, no loop goes past it.
    let overflows = own.bits >= 32 && own.signed && added.signed && added.bits <= own.bits;
    if !overflows && (constant > 1 || read.relation == Relation::NotEqual) {
        return Some((read.variable_span, "the loop's variable may wrap around before it meets its bound"));
    }
    let is_positive = is_upward && cx.constant(read.lower).is_some_and(|first| first >= 0);
    let keeps_value = |other: Integer| own.common(other).signed == own.promoted().signed || is_positive;
    if !keeps_value(upper) || !keeps_value(lower) {
        return Some((read.condition, "the loop's variable and its bound are compared in an unsigned type"));
    }
    None
}

/// The type of a bound, in which macros stand for numbers.
fn type_of(cx: &Program<'_>, found: &Accesses, node: NodeId) -> Option<Integer> {
    let tree = cx.tree;
    let of = |node: NodeId| type_of(cx, found, node);
    match tree.kind(node) {
        NodeKind::Identifier => integer_of(cx, found, node).or_else(|| type_of_macro(cx, tree.span(node))),
        NodeKind::ParenthesizedExpression => of(tree.named_children(node).next()?),
        NodeKind::BinaryExpression => {
            let binary = Binary::of(tree, node)?;
            let computed = [NodeKind::Plus, NodeKind::Minus, NodeKind::Star, NodeKind::Slash, NodeKind::Percent];
            match computed.contains(&binary.operator()?) {
                true => Some(of(binary.left()?)?.common(of(binary.right()?)?)),
                false => integer_of(cx, found, node),
            }
        }
        _ => integer_of(cx, found, node),
    }
}

/// The type of a macro that is a number, whichever of its definitions holds: an unsigned one, if a letter in its text may say so.
fn type_of_macro(cx: &Program<'_>, span: Span) -> Option<Integer> {
    let all = cx.symbols().macros_named(&cx.file.show(span), span.start);
    let digits =
        |body: &str| body.trim_matches(|c: char| c == '(' || c == ')' || c.is_whitespace()).parse::<i32>().is_ok();
    if !all.is_empty() && all.iter().all(|found| found.parameters.is_none() && digits(&found.body)) {
        return Some(Integer::INT);
    }
    let bits = if i32::try_from(cx.constant(span)?).is_ok() { 32 } else { 64 };
    Some(Integer { bits, signed: false })
}
