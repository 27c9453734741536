//! Loops whose heads can count groups of iterations, or the first ones of tiles.

use crate::context::Context;
use crate::edit::Edit;
use crate::region::loop_nest::{CanonicalLoop, Relation, VariableKind};
use crate::semantics::Program;
use crate::source::{Language, Span, words};
use crate::syntax::{NodeId, NodeKind, Number};

/// The largest first value of a loop. So the distance to the bound is a number of the bound's type.
const LARGEST_START: i64 = i32::MAX as i64;

/// Checks that a loop can count groups: up by one, to a bound that the body of the innermost loop can ask for again.
///
/// # Errors
/// Why it cannot, and where.
pub(in crate::transforms) fn check(
    cx: &Context<'_>,
    own: &CanonicalLoop,
    innermost: NodeId,
) -> Result<(), (Span, String)> {
    if own.kind != VariableKind::Integer || !own.declared_in_loop {
        let message = format!("`{}` is not declared in the loop as an integer", own.variable);
        return Err((own.variable_span, message));
    }
    let at = cx.tree.span(own.body).start;
    if !cx.holds_32_bits(&own.variable, at) {
        return Err((own.variable_span, format!("`{}` may wrap around", own.variable)));
    }
    let is_up = matches!(own.relation, Relation::Less | Relation::LessOrEqual) && !own.step.is_subtracted;
    if !is_up {
        return Err((own.condition, "the loop does not count up to a bound".to_owned()));
    }
    if !has_distance(cx, own, at) {
        let message =
            "the distance from the first value to the bound is not known to be a number of the variable's type";
        return Err((own.lower, message.to_owned()));
    }
    changing(cx, own.upper, own, cx.tree.span(innermost).start).map_or(Ok(()), Err)
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

/// The edits by which a loop counts the first iterations of groups, which lie `length` apart, in a variable of the name `first`. `None` where
/// its head has a form that is not expected.
pub(in crate::transforms) fn counting(
    cx: &Context<'_>,
    own: &CanonicalLoop,
    first: &str,
    length: u32,
) -> Option<[Edit; 3]> {
    let is_name = |node: &NodeId| {
        let span = cx.tree.span(*node);
        let is_identifier = cx.tree.kind(*node) == NodeKind::Identifier;
        is_identifier && own.condition.contains(span) && cx.file.show(span) == own.variable.as_str()
    };
    let mut names = cx.tree.descendants(own.node).filter(is_name);
    let (name, None) = (names.next()?, names.next()) else { return None };
    let edit = |span: Span, text: String| Edit { span, text };
    Some([
        edit(own.variable_span, first.to_owned()),
        edit(cx.tree.span(name), first.to_owned()),
        edit(own.step.span, format!("{first} += {length}")),
    ])
}

/// The declaration of a loop's variable in an iteration that other loops count. In C++ a call may choose its function by whether it is `const`.
pub(in crate::transforms) fn copied_variable(cx: &Program<'_>, ty: &str, name: &str, value: &str) -> String {
    let qualifier = if cx.tree.language() == Language::C { "const " } else { "" };
    format!("{qualifier}{ty} {name} = {value};")
}

/// How the variable of a loop is compared with the bound, where it counts up.
pub(in crate::transforms) fn relation(own: &CanonicalLoop) -> &'static str {
    if own.relation == Relation::LessOrEqual { "<=" } else { "<" }
}

/// The bound as the left side of a difference.
pub(in crate::transforms) fn bound(cx: &Context<'_>, own: &CanonicalLoop) -> String {
    let text = cx.file.show(own.upper).into_owned();
    let is_plain = |text: &str| text.trim().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_sum = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_ .+-*/%()".contains(&byte));
    // A macro may stand for operators that bind less.
    let opens = |word: &str| {
        let definition = cx.symbols().macro_definition(word, own.upper.start);
        definition.is_some_and(|definition| !is_plain(&definition.body))
    };
    if is_sum && !words(&text).any(opens) { text } else { format!("({text})") }
}

/// The side of a comparison, in parentheses where operators may stand in it that bind no closer.
pub(in crate::transforms) fn operand(text: &str) -> String {
    let is_close = |byte: u8| byte.is_ascii_alphanumeric() || b"_ .+-*/%()[]".contains(&byte);
    if text.bytes().all(is_close) { text.to_owned() } else { format!("({text})") }
}
