//! Does a loop of the host run at all? Without any pass it maps nothing and launches nothing.

use super::{HostLoop, stays};
use crate::analysis::integers::integer_of;
use crate::context::Context;
use crate::edit::directive_writer::on_one_line;
use crate::plan::Reason;
use crate::semantics::Integer;
use crate::source::Span;
use crate::syntax::{NodeId, NodeKind};

/// The loop's own test, with its first value in the place of its variable.
///
/// # Errors
/// Why that could give something else than the test does.
pub(super) fn condition(cx: &Context<'_>, around: &HostLoop) -> Result<String, Reason> {
    let read = &around.read;
    let is_name = |node: &NodeId| {
        let span = cx.tree.span(*node);
        cx.tree.kind(*node) == NodeKind::Identifier
            && read.condition.contains(span)
            && cx.file.show(span) == read.variable.as_str()
    };
    let mut names = cx.tree.descendants(read.node).filter(is_name).map(|node| cx.tree.span(node));
    let (Some(name), None) = (names.next(), names.next()) else {
        return Err(stays(read.condition, "the test of the loop has an unusual form"));
    };
    if !is_compared_alike(cx, around) {
        let message = "the first value may be compared with the bound in another type than the variable";
        return Err(stays(read.condition, message));
    }
    let part = |from: usize, to: usize| cx.file.show(Span::new(from, to)).into_owned();
    let lower = on_one_line(cx.file, read.lower);
    // A macro may stand for operators that bind less.
    let is_macro = |(name, at): &(String, Span)| cx.symbols().is_macro(name, at.start);
    let is_sum = cx.is_arithmetic(read.lower) && !cx.names_in(read.lower).iter().any(is_macro);
    let lower = if is_sum { lower } else { format!("({lower})") };
    let text = format!("{}{lower}{}", part(read.condition.start, name.start), part(name.end, read.condition.end));
    Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Does it make no difference whether the first value is compared with the bound, or the variable that holds it?
fn is_compared_alike(cx: &Context<'_>, around: &HostLoop) -> bool {
    let read = &around.read;
    let found = around.accesses(cx);
    let own = found.loops.first().map(|known| known.integer);
    let of = |span: Span| {
        let node = cx.tree.covering(span);
        // A sign is part of a number to the parser.
        let text = cx.file.show(span);
        let digits = text.strip_prefix('-').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let is_int = digits.is_some() && cx.constant(span).is_some_and(|number| i32::try_from(number).is_ok());
        let known = integer_of(cx, &found, node).filter(|_| cx.tree.span(node) == span);
        known.or(is_int.then_some(Integer::INT))
    };
    let (Some(own), Some(lower), Some(upper)) = (own, of(read.lower), of(read.upper)) else { return false };
    let constant = cx.constant(read.lower).map(i128::from);
    let keeps = own == lower || constant.is_some_and(|first| own.holds(first) && lower.holds(first));
    let is_exact = |ty: Integer| ty.holds_all_of(upper) && constant.is_none_or(|first| ty.holds(first));
    let (before, after) = (own.common(upper), lower.common(upper));
    keeps && (before == after || is_exact(before) && is_exact(after))
}
