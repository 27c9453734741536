//! What whole teams for rows gain: neighbouring threads then differ in the variable of the inner loop.

use std::collections::BTreeSet;

use super::parts::{Parts, length, summing};
use super::rows::Row;
use crate::analysis::accesses::{Access, Loop};
use crate::analysis::coalescing::{Pattern, from_start, pattern};
use crate::analysis::cost::{ASSUMED_INNER, NestWork, RowWork, nest_time, rows_time};
use crate::device::time::LAUNCH;
use crate::plan::figures::{time, transactions};
use crate::plan::{Reason, ReasonCode};
use crate::semantics::Act;
use crate::source::Span;
use crate::syntax::{ClauseName, NodeId, NodeKind};
use crate::transforms::checks::lengths::Lengths;
use crate::transforms::checks::questions::{Bound, Question};
use crate::transforms::two_forms;

/// Iterations of a loop in a row, where the text does not tell.
const ASSUMED_ROW: f64 = 1024.0;
/// With fewer iterations in all loops a team has too little to share.
const LONG: f64 = 128.0;
/// The sectors must fall to this part.
const FEWER: f64 = 0.5;
/// The time must fall to this part, a launch included.
const ENOUGH: f64 = 0.8;
/// A row that is longer than the number of rows by this factor is worth a kernel of its own, on the whole device.
const OWN_KERNEL: f64 = 15_000.0;

/// With so many plain rows threads of their own are faster, whose loads `unroll` makes wide: on an H200 4,096 rows of 16,384 elements take half of their time in whole
/// teams, 16,384 rows 0.9 to 1.4 of it, and 65,536 rows twice as long (`bench/results/reduce`).
const MANY_ROWS: i128 = 12_288;

/// The same for rows of so many elements, through which teams walk in parts: 65,536 rows of 1,024 elements take 100 us so and 105 with threads of their own, 16,384 of 4,096 take 88 and 119,
/// 262,144 of 256 take 374 and 114.
const MANY_LONG_ROWS: i128 = 65_536;
const LONG_ROW: i128 = 1024;

/// The gain, and how it is reached.
pub(super) struct Gain<'c> {
    /// Threads of a team. `None` where a clause says how many.
    pub threads: Option<u32>,
    /// A few words about it.
    pub summary: String,
    /// The loops whose threads walk through parts.
    pub parts: Option<Parts<'c>>,
    /// What the host must ask where many or short rows would lose, and the text does not tell.
    pub asked: Vec<Question>,
}

/// How a loop of the row touches memory: all numbers are those of one row.
struct Shared {
    trips: Option<f64>,
    accesses: f64,
    before: f64,
    after: f64,
}

/// What is gained if the threads of teams share these loops.
///
/// # Errors
/// Why it does not pay.
pub(super) fn gain<'c>(row: &Row<'c, '_>, nodes: &[NodeId]) -> Result<Gain<'c>, Reason> {
    let cx = row.cx;
    let directive = cx.constructs.directive(row.region.chain.innermost()).span;
    let no = |span: Span, message: String| Err(Reason::new(ReasonCode::RowsDoNotPay, span, message));
    if let Some(span) = nodes.iter().find_map(|node| loaded_bound(row, *node)) {
        return no(span, "rows whose length is read from memory are taken to be short".to_owned());
    }
    let shared: Vec<Shared> = nodes.iter().filter_map(|node| shared(row, *node)).collect();
    let length = |one: &Shared| one.trips.unwrap_or(ASSUMED_ROW);
    let longest = shared.iter().map(length).fold(0.0, f64::max);
    if longest < LONG {
        return no(directive, format!("the loops in a row have at most {longest:.0} iterations"));
    }
    let rows = outer(row).map(|one| one.trips.map(number)).try_fold(1.0, |product: f64, trips| Some(product * trips?));
    if let Some(rows) = rows {
        let known = |one: &Shared| one.trips.unwrap_or(f64::from(cx.assumed_iterations));
        let longest = shared.iter().map(known).fold(0.0, f64::max);
        if longest > OWN_KERNEL * rows {
            return no(directive, format!("{rows:.0} rows of {longest:.0} iterations are too few for whole teams"));
        }
    }
    let mut written = row.region.chain.constructs.iter().flat_map(|id| &cx.constructs.directive(*id).clauses);
    let has_limit = written.any(|clause| clause.name == ClauseName::ThreadLimit);
    let threads = threads(&shared);
    let rows_assumed = rows.unwrap_or(f64::from(cx.assumed_iterations));
    let [accesses, before, after] = [
        shared.iter().map(|one| one.accesses).sum::<f64>(),
        shared.iter().map(|one| one.before).sum::<f64>(),
        shared.iter().map(|one| one.after).sum::<f64>(),
    ];
    let work = RowWork {
        rows: rows_assumed,
        loops: shared.iter().map(|one| (length(one), one.accesses / length(one).max(1.0))).collect(),
        sectors: after,
        threads: f64::from(threads),
    };
    let as_it_is = NestWork {
        iterations: rows_assumed,
        accesses: rows_assumed * accesses,
        sectors: rows_assumed * before,
        divisions: 0,
    };
    let times = [nest_time(&as_it_is), rows_time(&work)];
    let summary = transactions(before, after).unwrap_or_else(|| "as many memory transactions".to_owned());
    if after > FEWER * before || LAUNCH + times[1] > ENOUGH * (LAUNCH + times[0]) {
        let message = format!(
            "whole teams for rows gain too little: predicted {} instead of {}, {summary}",
            time(times[1]),
            time(times[0])
        );
        return no(directive, message);
    }
    let asked = few_rows(row, nodes).map_err(|message| Reason::new(ReasonCode::RowsDoNotPay, directive, message))?;
    let parts = match Parts::of(row, nodes, threads) {
        Ok(parts) => parts.filter(|_| !has_limit),
        Err(question) => {
            return no(directive, format!("the host asked whether `{question}`, and has whole teams then"));
        }
    };
    Ok(Gain { threads: (!has_limit).then_some(threads), summary, parts, asked })
}

/// What the host must ask, where many rows would be faster without teams of their own: whether there are few, or less and long ones.
///
/// # Errors
/// Why they are faster so.
fn few_rows(row: &Row<'_, '_>, nodes: &[NodeId]) -> Result<Vec<Question>, String> {
    let (cx, loops) = (row.cx, row.nest.loops.as_slice());
    if cx.profile.is_none_or(|device| device.unrolled_rows.is_none()) || !nodes.iter().all(|node| is_plain(row, *node))
    {
        return Ok(Vec::new());
    }
    let lengths = Lengths { cx, region: row.region, loops, found: &row.found };
    let known = outer(row).map(|one| one.trips).try_fold(1, |product: i128, trips| product.checked_mul(trips?));
    if known.is_some_and(|rows| rows < MANY_ROWS) {
        return Ok(Vec::new());
    }
    let (many, mut questions) = match are_long(row, nodes) {
        Some(questions) => (MANY_LONG_ROWS, questions),
        None => (MANY_ROWS, Vec::new()),
    };
    match (known, loops) {
        (Some(rows), _) if rows < many => {}
        (Some(rows), _) => {
            return Err(format!(
                "{rows} rows are faster with threads of their own, which load several elements at once"
            ));
        }
        (None, [only]) => {
            let variable = lengths.length(only).ok_or("there may be many rows, and the host cannot ask")?;
            questions.insert(0, Question { variable, bound: Bound::Below(many) });
        }
        (None, _) => return Err("rows of several loops may be many".to_owned()),
    }
    match questions.iter().any(|question| two_forms::was_denied(cx, row.region.extent, &question.to_string())) {
        true => Err("the host asked how many rows there are, and has whole teams for few and long ones".to_owned()),
        false => Ok(questions),
    }
}

/// The questions whether all loops of a row are long, and can be walked through in parts. `None` where one is not, or the host cannot ask.
fn are_long(row: &Row<'_, '_>, nodes: &[NodeId]) -> Option<Vec<Question>> {
    let mut questions = Vec::new();
    for node in nodes {
        let own = summing(row, *node)?;
        match row.trips(*node) {
            Some(trips) if trips >= LONG_ROW => {}
            Some(_) => return None,
            None => questions.push(Question { variable: length(row, &own)?, bound: Bound::AtLeast(LONG_ROW) }),
        }
    }
    Some(questions)
}

/// Does a loop do nothing but load elements of the row that a thread would have for itself, and perhaps others, as `unroll` takes it?
fn is_plain(row: &Row<'_, '_>, node: NodeId) -> bool {
    let (tree, found) = (row.cx.tree, &row.found);
    let span = tree.span(node);
    let Some(own) = found.loops.iter().find(|one| one.span == span) else { return false };
    let Some(lane) = outer(row).last().map(|one| one.atom) else { return false };
    let loaded: Vec<_> = found.accesses.iter().filter(|access| span.contains(access.span)).collect();
    let element = |access: &Access| {
        let forms: Vec<_> = access.subscripts.iter().map(|subscript| subscript.form.clone()).collect();
        (access.root.key, forms)
    };
    let elements: BTreeSet<_> = loaded.iter().map(|access| element(access)).collect();
    let is_row = |access: &&Access| {
        matches!(pattern(access, lane, &found.opaque), Pattern::Strided)
            && matches!(pattern(access, own.atom, &found.opaque), Pattern::Near(_))
    };
    is_straight(row, node)
        && elements.len() <= 2
        && loaded.iter().all(|access| !access.writes)
        && loaded.iter().any(is_row)
}

/// Does a loop choose nothing, call nothing, and have no other inside?
pub(super) fn is_straight(row: &Row<'_, '_>, node: NodeId) -> bool {
    let tree = row.cx.tree;
    let is_other = |node: NodeId| {
        let kind = tree.kind(node);
        kind.is_loop()
            || matches!(kind, NodeKind::IfStatement | NodeKind::ConditionalExpression | NodeKind::CallExpression)
    };
    !tree.descendants(node).skip(1).any(is_other)
}

/// May a loop be unrolled? Functions that set `errno`, as many of real numbers do on a processor, may change what the loop's bound is read from, for all that
/// clang 19 knows; it then warns that it cannot. Functions of one operation set nothing.
pub(super) fn can_be_unrolled(row: &Row<'_, '_>, node: NodeId) -> bool {
    let tree = row.cx.tree;
    let sets_nothing = |call: NodeId| row.found.instructions.iter().any(|name| name.start == tree.span(call).start);
    tree.descendants(node).filter(|inner| tree.kind(*inner) == NodeKind::CallExpression).all(sets_nothing)
}

/// The threads of a team: fewer where rows are short, so that more teams are under way.
fn threads(shared: &[Shared]) -> u32 {
    let known = shared.iter().map(|one| one.trips).collect::<Option<Vec<f64>>>();
    match known.map(|all| all.into_iter().fold(0.0, f64::max)) {
        Some(longest) if longest <= 256.0 => 32,
        Some(longest) if longest <= 1024.0 => 64,
        Some(longest) if longest >= 16_384.0 => 256,
        _ => 128,
    }
}

/// The loops that are the construct's own.
fn outer<'r>(row: &'r Row<'_, '_>) -> impl Iterator<Item = &'r Loop> {
    row.found.loops.iter().take(row.nest.loops.len())
}

/// A bound that is loaded from memory: the rows of a sparse matrix.
fn loaded_bound(row: &Row<'_, '_>, node: NodeId) -> Option<Span> {
    let cx = row.cx;
    let read = crate::region::loop_nest::canonical_head(cx.file, cx.tree, node)?;
    let loads = |bound: &Span| cx.evaluation(*bound).is_some_and(|it| it.does(Act::Load) || it.does(Act::Member));
    [read.lower, read.upper].into_iter().find(loads)
}

fn shared(row: &Row<'_, '_>, node: NodeId) -> Option<Shared> {
    let found = &row.found;
    let span = row.cx.tree.span(node);
    let index = found.loops.iter().position(|one| one.span == span)?;
    let own = found.loops.get(index)?;
    let lane = outer(row).last()?.atom;
    let outermost = row.nest.loops.len();
    let mut sums = Shared { trips: own.trips.map(number), accesses: 0.0, before: 0.0, after: 0.0 };
    for access in found.accesses.iter().filter(|access| span.contains(access.span)) {
        let inside = access.loops.iter().filter(|at| **at >= outermost && **at != index);
        let each = |at: &usize| found.loops.get(*at).and_then(|one| one.trips).map_or(ASSUMED_INNER, number);
        let times = sums.trips.unwrap_or(ASSUMED_ROW) * inside.map(each).product::<f64>();
        sums.accesses += times;
        let before = from_start(access, own).map_or(Pattern::Unknown, |access| pattern(&access, lane, &found.opaque));
        sums.before += times * before.sectors();
        sums.after += times * pattern(access, own.atom, &found.opaque).sectors();
    }
    Some(sums)
}

#[expect(clippy::cast_precision_loss, reason = "counts in an estimate")]
fn number(trips: i128) -> f64 {
    trips as f64
}
