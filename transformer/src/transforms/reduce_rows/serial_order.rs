//! Serial loops of one sum in the other order, where the terms of neighbouring iterations of the outer one lie side by side.

use super::conditions;
use super::rows::{Inner, Row};
use super::updates::combined_in;
use crate::analysis::accesses::Loop;
use crate::analysis::coalescing::{Pattern, pattern};
use crate::edit::Edit;
use crate::plan::{Change, Verdict};
use crate::region::loop_nest::{CanonicalLoop, Relation, canonical_nest};
use crate::semantics::{Act, Part};
use crate::source::Span;
use crate::syntax::{NodeId, NodeKind, Number};

/// A loop that is known to run no more often has no neighbours to speak of.
const FEW: i128 = 8;

/// Two serial loops, one directly in the other, and the sum in them.
struct Pair {
    outer: CanonicalLoop,
    inner: CanonicalLoop,
    sum: Inner,
}

/// The kernel with such loops in the other order, or `None` where there are none.
pub(super) fn decide(row: &Row<'_, '_>) -> Option<Verdict> {
    let (cx, tree) = (row.cx, row.cx.tree);
    row.found.troubles.is_empty().then_some(())?;
    let loops = tree.descendants(row.nest.body).filter(|node| tree.kind(*node) == NodeKind::ForStatement);
    let pairs: Vec<Pair> = loops.filter_map(|node| pair(row, node)).collect();
    let first = pairs.first()?;
    let summary = format!(
        "the serial loops over `{}` and `{}` change places: the terms of a sum lie side by side",
        first.outer.variable, first.inner.variable
    );
    let edits = pairs.iter().flat_map(|pair| {
        let [outer, inner] = [head(row, &pair.outer), head(row, &pair.inner)];
        let exchanged = |at: Span, other: Span| Edit { span: at, text: cx.file.show(other).into_owned() };
        [exchanged(outer, inner), exchanged(inner, outer)]
    });
    let edits = edits.collect();
    let sums: Vec<Inner> = pairs.into_iter().map(|pair| pair.sum).collect();
    Some(Verdict::Change(Change { edits, summary, reasons: conditions(cx, &sums), ..Change::default() }))
}

/// The text from `for` to the body.
fn head(row: &Row<'_, '_>, own: &CanonicalLoop) -> Span {
    let (cx, start) = (row.cx, own.span.start);
    let text = cx.file.bytes(Span::new(start, cx.tree.span(own.body).start));
    Span::new(start, start + text.trim_ascii_end().len())
}

/// The loop at a node and the one in it, if they may change places, and gain by it.
fn pair(row: &Row<'_, '_>, node: NodeId) -> Option<Pair> {
    let cx = row.cx;
    let nest = canonical_nest(cx.file, cx.tree, node, 2).ok()?;
    let [outer, inner] = <[CanonicalLoop; 2]>::try_from(nest.loops).ok()?;
    (have_plain_heads(row, [&outer, &inner]) && ends(row, &inner) && gains(row, &outer, &inner)).then_some(())?;
    let sum = sum_alone(row, &inner)?;
    let names_sum = |bound: &Span| {
        let names = cx.names_in(*bound);
        names.iter().any(|(name, _)| sum.combined.iter().any(|one| one.name == *name))
    };
    (![inner.lower, inner.upper].iter().any(names_sum)).then_some(())?;
    Some(Pair { outer, inner, sum })
}

/// May each head be evaluated where the other one is? Nothing stands between them, and numbers and variables alone tell how often they run.
fn have_plain_heads(row: &Row<'_, '_>, loops: [&CanonicalLoop; 2]) -> bool {
    let cx = row.cx;
    let [outer, inner] = loops;
    let between = cx.file.bytes(Span::new(head(row, outer).end, inner.span.start));
    let is_plain = |own: &CanonicalLoop, other: &CanonicalLoop| {
        let steps = own.step.amount.is_none_or(|step| cx.constant(step).is_some());
        let is_free = |bound: &Span| {
            let is_name = |part: &Part| matches!(part.act, Act::Literal | Act::Name);
            let keeps = |name: &String, at: Span| {
                let is_integer = cx.integer_type(name, at.start).is_some() && cx.expansion(name, at.start).is_none();
                // One of the row may have got no value where a loop does not run.
                let variable = cx.symbols().lookup(name, at.start);
                let is_of_row = variable.is_none_or(|it| it.id().is_within(cx.tree.span(row.nest.body)));
                let is_other = *name != other.variable && *name != own.variable;
                is_other && (is_integer && !is_of_row || cx.constant(at).is_some())
            };
            cx.evaluation(*bound).is_some_and(|it| it.first_without(is_name).is_none())
                && cx.names_in(*bound).iter().all(|(name, at)| keeps(name, *at))
        };
        own.declared_in_loop && steps && [own.lower, own.upper].iter().all(is_free)
    };
    between.iter().all(|byte| byte.is_ascii_whitespace() || *byte == b'{')
        && !cx.file.bytes(head(row, outer)).contains(&b'/')
        && !cx.file.bytes(head(row, inner)).contains(&b'/')
        && outer.variable != inner.variable
        && is_plain(outer, inner)
        && is_plain(inner, outer)
}

/// Does a loop end, whatever its bounds are? Where the one around it had no iterations, it did not run before. It counts by one and stops in front of a bound of its own type, or between numbers.
fn ends(row: &Row<'_, '_>, own: &CanonicalLoop) -> bool {
    let cx = row.cx;
    let at = cx.tree.span(own.body).start;
    let ty = cx.integer_type(&own.variable, at);
    let is_signed = ty.as_ref().and_then(Number::integer).is_some_and(|integer| integer.signed);
    let is_small = |bound: Span| cx.constant(bound).is_some_and(|number| (0..=i64::from(u16::MAX)).contains(&number));
    let of_type = |bound: Span| cx.names_in(bound).iter().all(|(name, at)| cx.integer_type(name, at.start) == ty);
    let bounds = [own.lower, own.upper];
    let is_up = matches!(own.relation, Relation::Less | Relation::LessOrEqual);
    let is_down = matches!(own.relation, Relation::Greater | Relation::GreaterOrEqual);
    let stops_before = matches!(own.relation, Relation::Less | Relation::Greater)
        && own.step.amount.is_none_or(|step| cx.constant(step) == Some(1))
        && bounds.iter().all(|bound| of_type(*bound) || is_small(*bound));
    // Below zero there is no number without a sign.
    let between_numbers =
        bounds.iter().all(|bound| is_small(*bound)) && own.step.amount.is_none_or(is_small) && (is_up || is_signed);
    let has_direction = is_up && !own.step.is_subtracted || is_down && own.step.is_subtracted;
    has_direction && cx.holds_32_bits(&own.variable, at) && (stops_before || between_numbers)
}

/// Does the inner loop load far apart what the outer one would load side by side, while neighbouring threads do not do so already?
fn gains(row: &Row<'_, '_>, outer: &CanonicalLoop, inner: &CanonicalLoop) -> bool {
    let found = &row.found;
    let loop_of = |own: &CanonicalLoop| -> Option<&Loop> { found.loops.iter().find(|one| one.span == own.span) };
    let lane = row.nest.loops.len().checked_sub(1).and_then(|last| found.loops.get(last));
    let (Some(outer), Some(inner), Some(lane)) = (loop_of(outer), loop_of(inner), lane) else { return false };
    let loaded: Vec<_> = found.accesses.iter().filter(|access| inner.span.contains(access.span)).collect();
    let along = |one: &Loop| loaded.iter().map(|access| pattern(access, one.atom, &found.opaque)).collect::<Vec<_>>();
    let is_near = |pattern: &Pattern| matches!(pattern, Pattern::Near(_));
    let [by_outer, by_inner, by_lane] = [outer, inner, lane].map(along);
    outer.trips.is_none_or(|trips| trips > FEW)
        && by_inner.iter().zip(&by_outer).any(|(one, other)| is_near(other) && *one == Pattern::Strided)
        && by_outer.iter().all(|pattern| is_near(pattern) || *pattern == Pattern::Uniform)
        && by_inner.iter().all(|pattern| matches!(pattern, Pattern::Uniform | Pattern::Strided))
        && by_lane.iter().all(|pattern| matches!(pattern, Pattern::Uniform | Pattern::Strided))
}

/// The sum, if it is all that the innermost loop does, in one statement whose terms call nothing.
fn sum_alone(row: &Row<'_, '_>, inner: &CanonicalLoop) -> Option<Inner> {
    let (cx, tree) = (row.cx, row.cx.tree);
    let statement = match tree.kind(inner.body) {
        NodeKind::CompoundStatement => {
            let mut statements = tree.named_children(inner.body);
            let (only, None) = (statements.next()?, statements.next()) else { return None };
            only
        }
        _ => inner.body,
    };
    let combined = combined_in(cx, inner.body);
    let [one] = combined.as_slice() else { return None };
    let is_value = |act: Act| !matches!(act, Act::Call | Act::Effect | Act::Unknown | Act::Address);
    let calls_nothing = |term: &NodeId| {
        cx.evaluation(tree.span(*term)).is_some_and(|it| it.first_without(|part| is_value(part.act)).is_none())
    };
    let is_free = one.terms.iter().all(calls_nothing)
        && Inner::through_unsigned(one).is_none()
        && row.trouble(inner.node, one, &row.found).is_none();
    (tree.span(statement) == one.first && is_free).then(|| Inner {
        span: inner.span,
        combined,
        assumptions: Vec::new(),
    })
}
