//! When a loop runs at all whose steps are no sums: `for (int k = 2; k <= n; k *= 2)`, `for (int s = n / 2; s > 0; s >>= 1)`.

use super::is_stable;
use crate::analysis::accesses::Accesses;
use crate::analysis::integers::integer_of;
use crate::context::Context;
use crate::region::loop_nest::{FirstTest, Relation, first_test};
use crate::semantics::effects::HostEffects;
use crate::semantics::symbols::DeclaredType;
use crate::semantics::{Integer, Program};
use crate::source::Span;
use crate::syntax::{Field, NodeId, NodeKind};
use crate::transforms::hoist_maps::templates::Template;

/// Numbers that are the same in every type.
const SMALL: std::ops::RangeInclusive<i64> = 0..=127;

/// The condition, in C, on which a loop in `root` begins; empty where it does so in any case.
pub(super) fn condition(
    cx: &Context<'_>,
    (root, is_first): (NodeId, bool),
    node: NodeId,
    host: &HostEffects,
) -> Option<Option<Template>> {
    let read = first_test(cx.file, cx.tree, node)?;
    let at = cx.tree.span(root).start;
    let is_known = |span: Span| cx.means_the_same(span, at) && is_stable(cx, span, host);
    let integer = integer_of_variable(cx, &read)?;
    let [lower, upper] = [read.lower, read.upper].map(|span| cx.tree.covering(span));
    match (first_value(cx, root, lower), first_value(cx, root, upper)) {
        (Some(lower), Some(upper)) => holds(lower, read.relation, upper).then_some(None),
        // A negative bound becomes a large one where the variable is unsigned; `bound > lower` then only leaves out loops that would run.
        (Some(lower), None) => {
            let relation = match read.relation {
                Relation::Less => ">",
                Relation::LessOrEqual => ">=",
                _ => return None,
            };
            // Where another loop is around this one, nothing is divided that may not be where that one does not run.
            let divides = cx.file.bytes(read.upper).iter().any(|byte| matches!(byte, b'/' | b'%'));
            let is_free = (node == root || !divides) && is_known(read.upper);
            is_free.then(|| Some(Template::compared(read.upper, &format!("{relation} {lower}"))))
        }
        // The first value is computed where the loop begins, and nowhere else.
        (None, Some(upper)) => {
            let relation = match read.relation {
                Relation::Greater => ">",
                Relation::GreaterOrEqual if upper > 0 => ">=",
                _ => return None,
            };
            let given = integer_of(cx, &Accesses::default(), lower)?;
            let is_kept = integer.bits > given.bits || integer.bits == given.bits && (given.signed || !integer.signed);
            let is_free = node == root && is_first && is_kept && is_known(read.lower);
            is_free.then(|| Some(Template::compared(read.lower, &format!("{relation} {upper}"))))
        }
        (None, None) => None,
    }
}

fn integer_of_variable(cx: &Program<'_>, read: &FirstTest) -> Option<Integer> {
    let ty: DeclaredType = cx.declared_type(&read.variable, read.variable_span.end)?;
    Integer::of(&ty)
}

fn holds(lower: i64, relation: Relation, upper: i64) -> bool {
    match relation {
        Relation::Less => lower < upper,
        Relation::LessOrEqual => lower <= upper,
        Relation::Greater => lower > upper,
        Relation::GreaterOrEqual => lower >= upper,
        Relation::NotEqual => lower != upper,
    }
}

/// The value of an expression when it is evaluated for the first time, where that is small: variables of the loops around it have the
/// values that they begin with.
fn first_value(cx: &Context<'_>, root: NodeId, node: NodeId) -> Option<i64> {
    let tree = cx.tree;
    let value = match tree.kind(node) {
        NodeKind::ParenthesizedExpression => first_value(cx, root, tree.named_children(node).next()?),
        NodeKind::BinaryExpression => {
            let [left, right] = [Field::Left, Field::Right].map(|side| tree.child(node, side));
            let (left, right) = (first_value(cx, root, left?)?, first_value(cx, root, right?)?);
            match tree.operator(node)? {
                NodeKind::Plus => left.checked_add(right),
                NodeKind::Minus => left.checked_sub(right),
                NodeKind::Star => left.checked_mul(right),
                NodeKind::Slash => left.checked_div(right),
                NodeKind::LessLess => left.checked_shl(u32::try_from(right).ok()?).filter(|_| right < 8),
                NodeKind::GreaterGreater => left.checked_shr(u32::try_from(right).ok()?).filter(|_| right < 8),
                _ => None,
            }
        }
        _ => cx.constant(tree.span(node)).or_else(|| first_value_of_counter(cx, root, node)),
    };
    value.filter(|value| SMALL.contains(value))
}

/// What a variable of a loop around has in the loop's first pass.
fn first_value_of_counter(cx: &Context<'_>, root: NodeId, name: NodeId) -> Option<i64> {
    let tree = cx.tree;
    let span = tree.span(name);
    (tree.kind(name) == NodeKind::Identifier && name != root).then_some(())?;
    let (named, _) = cx.named(&cx.file.show(span), span.start)?;
    let inside = tree.ancestors(name).take_while(|node| tree.span(root).contains(tree.span(*node)));
    let around = inside.filter(|node| tree.kind(*node) == NodeKind::ForStatement);
    around.into_iter().find_map(|node| {
        let body = tree.child(node, Field::Body).filter(|body| tree.span(*body).contains(span))?;
        let read = first_test(cx.file, tree, node)?;
        let (own, _) = cx.named(&read.variable, read.variable_span.end)?;
        let so_far = Span::new(tree.span(body).start, span.start);
        let is_kept = own.id == named.id
            && cx.cannot_be_aliased(&named.name, named.at)
            && cx.symbols().written_in(&named.name, named.at, so_far).is_empty();
        is_kept.then(|| first_value(cx, root, tree.covering(read.lower)))?
    })
}
