//! Sums of neighbouring columns: neighbouring threads load side by side already, or the same, but are few. So the threads of a team take 16 columns and parts of each.

mod write;

use super::parts::length;
use super::rows::{Inner, Row};
use super::updates::Combined;
use super::{conditions, in_two_forms};
use crate::analysis::coalescing::{Pattern, from_start, pattern};
use crate::analysis::combinations::Operator;
use crate::plan::{Change, Reason, ReasonCode, Verdict};
use crate::region::loop_nest::{CanonicalLoop, canonical_nest};
use crate::semantics::uses::{Role, uses_below};
use crate::source::Span;
use crate::syntax::{ClauseName, Declaration, Field, NodeId, NodeKind};
use crate::transforms::checks::questions::{Bound, Question, ROOM, condition, counts_on, strictest};
use crate::transforms::checks::{heads, restated};
use crate::transforms::two_forms;

/// Columns of a team, and parts of each: together as many as a team may have threads. With 32 columns there are too few teams for the device where there are
/// less than a few thousand; with 8 half of what the memory hands out at once is not used (`bench/results/reduce`).
const LANES: u32 = 16;
const PARTS: u32 = 64;

/// Elements that a thread loads of its part at once. With eight a processor holds one team in place of two; with two it is the level of optimization that decides: 4,096 columns of 16,384
/// elements take 106 or 149 us on an H200 (`-O2`, `-O3`), with four 122 or 125, with eight 156 or 150.
const AT_ONCE: u32 = 4;

/// With so many columns each thread of the device has one of its own.
const MANY_COLUMNS: i128 = 65_536;
/// The same where all threads load the same, and compute: on an H200 30,000 sums over bodies take 0.7 of their time in parts, 60,000 take 1.1 of it.
const MANY_SUMS: i128 = 32_768;
/// A column that is shorter leaves each part too little.
const SHORTEST: i128 = 512;
/// With more sums their parts might need more memory than a team has: each takes 8 KiB at most, of 48.
const MOST_SUMS: usize = 4;
/// The most bytes that each access of a warp may take from memory for each of its threads: elements side by side.
const CLOSE: u8 = 8;

/// A kernel whose iterations each form sums in one loop.
struct Columns<'r, 'c, 'p> {
    row: &'r Row<'c, 'p>,
    /// The kernel's loop.
    outer: &'r CanonicalLoop,
    /// The loop of a column.
    inner: CanonicalLoop,
    /// What is declared in front of it, in order.
    declared: Vec<Declared>,
    /// The sums among that.
    sums: Vec<Sum>,
    /// The name of the device that it is written for.
    device: &'r str,
}

/// A declaration in front of the loop, and the names that it declares.
struct Declared {
    span: Span,
    names: Vec<String>,
}

/// A sum, and the declaration that gives it a value.
struct Sum {
    name: String,
    /// Its type, as written.
    ty: String,
    /// The first value.
    value: Span,
}

/// What teams do with neighbouring columns, or `None` where the kernel has not this form, or gains nothing that is known.
pub(super) fn decide(row: &Row<'_, '_>, nodes: &[NodeId]) -> Option<Verdict> {
    let (cx, [outer], [node]) = (row.cx, row.nest.loops.as_slice(), nodes) else { return None };
    let device = cx.profile.filter(|device| !device.shares_host_memory)?;
    (cx.pipeline.transforms_loops() && !has_own_clauses(row)).then_some(())?;
    let many = many(row, *node)?;
    let inner = canonical_nest(cx.file, cx.tree, *node, 1).ok()?.loops.into_iter().next()?;
    let steps_by_one = outer.step.amount.is_none_or(|step| cx.constant(step) == Some(1));
    (steps_by_one && counts_on(row.cx, &inner)).then_some(())?;
    let questions = questions(row, (outer, many), &inner)?;
    let refused = |(span, message): (Span, String)| {
        Some(Verdict::Refuse(vec![Reason::new(ReasonCode::RowNotShared, span, message)]))
    };
    let shared = match row.checked(nodes) {
        Ok(shared) => shared,
        Err(reason) => return Some(Verdict::Refuse(vec![reason])),
    };
    let (declared, sums) = declared(row, *node, &shared)?;
    if let Err(problem) = heads::check(cx, outer, *node) {
        return refused(problem);
    }
    if let Some(problem) = text_trouble(row) {
        return refused(problem);
    }
    let columns = Columns { row, outer, inner, declared, sums, device: &device.name };
    let Some(mut edits) = write::edits(&columns) else {
        return refused((
            cx.tree.span(*node),
            "the statements cannot be written anew, or a declaration would have to be cut".to_owned(),
        ));
    };
    let mut summary =
        format!("the threads of a team share neighbouring sums, {PARTS} each: the device has more threads");
    if !questions.is_empty() {
        let condition = condition(&questions);
        let comment =
            format!("Shorter or more columns are faster with a thread for each (estimate for {}).", device.title);
        match in_two_forms(row, &edits, &condition, &comment) {
            Ok(both) => edits = vec![both],
            Err(reason) => return Some(Verdict::Refuse(vec![reason])),
        }
        summary = format!("where {condition} {summary}");
    }
    let reasons = conditions(cx, &shared);
    Some(Verdict::Change(Change { edits, summary, reasons, ..Change::default() }))
}

/// Does a clause say how many teams there are, or threads in them, or what a thread has for itself?
fn has_own_clauses(row: &Row<'_, '_>) -> bool {
    let mut clauses = row.region.chain.constructs.iter().flat_map(|id| &row.cx.constructs.directive(*id).clauses);
    clauses.any(|clause| match clause.name {
        ClauseName::NumTeams | ClauseName::ThreadLimit | ClauseName::Private => true,
        // Variables that bound the loops would have to be listed.
        ClauseName::Default => !row.cx.file.show(clause.span).contains("shared"),
        _ => false,
    })
}

/// With how many columns each thread may have one of its own, if the loop only loads, and neighbouring threads the same elements or some side by side.
fn many(row: &Row<'_, '_>, node: NodeId) -> Option<i128> {
    let found = &row.found;
    let span = row.cx.tree.span(node);
    let own = found.loops.iter().find(|one| one.span == span)?;
    let lane = found.loops.first()?.atom;
    let loaded = || found.accesses.iter().filter(|access| span.contains(access.span));
    let along = |access| from_start(access, own).map_or(Pattern::Unknown, |it| pattern(&it, lane, &found.opaque));
    let is_near = |access| matches!(along(access), Pattern::Near(bytes) if bytes <= CLOSE);
    let is_close = |access| is_near(access) || matches!(along(access), Pattern::Uniform);
    let is_column = |access| is_near(access) && pattern(access, own.atom, &found.opaque) == Pattern::Strided;
    loaded().all(|access| !access.writes && is_close(access)).then(|| match loaded().any(is_column) {
        true => MANY_COLUMNS,
        false => MANY_SUMS,
    })
}

/// What the host must ask first. `None` where it cannot, has asked, or the text tells that nothing is gained.
fn questions(row: &Row<'_, '_>, (outer, many): (&CanonicalLoop, i128), inner: &CanonicalLoop) -> Option<Vec<Question>> {
    let question = |own: &CanonicalLoop, bound| length(row, own).map(|variable| Question { variable, bound });
    let mut all = Vec::new();
    match row.trips(outer.node) {
        Some(columns) if columns >= many => return None,
        Some(_) => {}
        None => all.push(question(outer, Bound::Below(many))?),
    }
    match row.trips(inner.node) {
        Some(trips) if !(SHORTEST..ROOM).contains(&trips) => return None,
        Some(_) => {}
        None => all.extend([question(inner, Bound::AtLeast(SHORTEST))?, question(inner, Bound::Below(ROOM))?]),
    }
    let all = strictest(all);
    (all.is_empty() || !two_forms::was_denied(row.cx, row.region.extent, &condition(&all))).then_some(all)
}

/// What is declared in front of the loop, and the sums of it, if the loop stands in the body behind declarations alone, which may stand twice.
fn declared(row: &Row<'_, '_>, node: NodeId, shared: &[Inner]) -> Option<(Vec<Declared>, Vec<Sum>)> {
    let tree = row.cx.tree;
    let [only] = shared else { return None };
    let is_block = tree.kind(row.nest.body) == NodeKind::CompoundStatement;
    (is_block && tree.parent(node) == Some(row.nest.body) && only.assumptions.is_empty()).then_some(())?;
    let statements = tree.named_children(row.nest.body).filter(|it| tree.kind(*it) != NodeKind::Comment);
    let before: Vec<NodeId> = statements.take_while(|it| *it != node).collect();
    before.iter().all(|it| restated::only_declares(row.cx, *it)).then_some(())?;
    let sums: Vec<Sum> = only.combined.iter().map(|one| sum(row, &before, one)).collect::<Option<_>>()?;
    let declared = before.iter().map(|it| Declared { span: tree.span(*it), names: names_of(row, *it) });
    (1..=MOST_SUMS).contains(&sums.len()).then(|| (declared.collect(), sums))
}

fn names_of(row: &Row<'_, '_>, statement: NodeId) -> Vec<String> {
    let uses = uses_below(row.cx.file, row.cx.tree, statement);
    uses.into_iter().filter(|used| used.role == Role::Declaration).map(|used| used.name).collect()
}

/// The declaration of a sum, which nothing else names in front of the loop.
fn sum(row: &Row<'_, '_>, before: &[NodeId], one: &Combined) -> Option<Sum> {
    let cx = row.cx;
    let is_sum = one.operator == Operator::Plus && Inner::through_unsigned(one).is_none();
    let at = one.variable.declared_at;
    let declares = |statement: &&NodeId| cx.tree.span(**statement).contains(at);
    let declaration = Declaration::of(cx.tree, *before.iter().find(declares).filter(|_| is_sum)?)?;
    let mut declared = declaration.declarators().filter(|it| cx.tree.span(*it).contains(at));
    let value = cx.tree.span(cx.tree.child(declared.next()?, Field::Value)?);
    // `float sum(2)` would become another name.
    (cx.file.show(Span::new(at.end, value.start)).trim() == "=").then_some(())?;
    let named = |statement: &NodeId| {
        let uses = uses_below(cx.file, cx.tree, *statement);
        uses.iter().filter(|used| used.name == one.name && used.span != at).count()
    };
    let ty = cx.file.show(cx.tree.span(declaration.ty()?)).into_owned();
    (restated::is_name_of_type(&ty) && before.iter().map(named).sum::<usize>() == 0).then(|| Sum {
        name: one.name.clone(),
        ty,
        value,
    })
}

/// What in the body may not stand in another place, or twice.
fn text_trouble(row: &Row<'_, '_>) -> Option<(Span, String)> {
    let cx = row.cx;
    let candidate = row.candidate();
    restated::between_iterations(&candidate, &row.found).or_else(|| restated::trouble(cx, row.nest.body)).or_else(
        || {
            let again = restated::declared_again(cx, &row.nest.loops, row.nest.body);
            again.map(|span| (span, "another variable has the name of that of the loop".to_owned()))
        },
    )
}
