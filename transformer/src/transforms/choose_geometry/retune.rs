//! Grids that clauses of the program say: which of them are far off, and what takes their place with `--retune`.

use super::gain::Predicted;
use super::grid::{self, Chosen, GeometryFigures, clauses};
use super::{WARP, directive_of_teams, team_reasons};
use crate::analysis::associated_loops::{known_iterations, loops_of};
use crate::analysis::independence::dependence;
use crate::context::Context;
use crate::device::DeviceProfile;
use crate::device::launch::{WrittenGrid, llvm_launch};
use crate::device::time::gains;
use crate::edit::Edit;
use crate::edit::directive_writer::exchange_clauses;
use crate::plan::figures::time;
use crate::plan::{Certainty, Change, Reason, ReasonCode, Verdict};
use crate::region::target::TargetRegion;
use crate::semantics::{Integer, Program};
use crate::source::Span;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Clause, ClauseName};

/// A written grid is called far off if it is predicted to take this many times as long.
const FAR_OFF: f64 = 2.0;
/// The lengths by which a written grid is judged if the length of the loop is unknown.
const LENGTHS: [u64; 4] = [4096, 65_536, 1 << 20, 1 << 26];
/// A loop whose body is not followed has too few threads if each makes at least this many iterations.
const MANY_ROUNDS: u64 = 8;
/// A team of at most this many threads leaves three quarters of a warp idle.
const FEW_THREADS: u64 = 8;

/// A grid in the program's clauses that is far off.
pub(super) struct FarOff<'a> {
    /// What is said of it.
    pub reason: Reason,
    /// Its clauses, outermost first.
    written: Vec<&'a Clause>,
    /// The threads of a team, if clauses say how many.
    threads: Option<u64>,
    /// What would take its place.
    offered: Chosen,
}

/// The grid of the program's clauses, if it is far slower than the grid that this pass would choose, or if it has no more threads than
/// a warp for a long loop.
pub(super) fn far_off<'a>(cx: &'a Context<'_>, region: &'a TargetRegion) -> Option<FarOff<'a>> {
    let device = cx.device?;
    if clauses(cx, region).any(|clause| clause.name == ClauseName::DistSchedule) {
        return None;
    }
    let written: Vec<&Clause> = clauses(cx, region).filter(|clause| is_of_grid(clause.name)).collect();
    let span = written.iter().max_by_key(|clause| rank(clause.name))?.span;
    let (mut teams, mut threads) = (None, None);
    for clause in &written {
        let number = number(cx, clause)?;
        match clause.name {
            ClauseName::NumTeams => teams = Some(number),
            _ => threads = Some(threads.map_or(number, |other: u64| other.min(number))),
        }
    }
    let limit = threads.map_or(Some(None), |threads| u32::try_from(threads).ok().map(Some))?;
    let grid = WrittenGrid { num_teams: teams, thread_limit: limit };
    let figures = grid::figures(cx, region);
    let offered = grid::chosen(cx, region, figures.as_ref()).unwrap_or_else(Chosen::for_every_device);
    // Of a loop of unknown length this pass may know the most iterations, for which it chose the grid that is judged by other lengths here.
    let said = |clause: &&Clause| cx.file.show(clause.span).into_owned();
    let said = written.iter().map(said).collect::<Vec<_>>().join(" ");
    if offered.clauses.join(" ").split(" /*").next() == Some(said.as_str()) {
        return None;
    }
    let message = match &figures {
        Some(figures) => by_prediction(figures, grid, &offered),
        None => by_number(cx, region, device, grid).filter(|_| is_faster(cx, region, grid, &offered)),
    }?;
    Some(FarOff { reason: Reason::new(ReasonCode::GridFarOff, span, message), written, threads, offered })
}

pub(super) fn is_of_grid(name: ClauseName) -> bool {
    rank(name) > 0
}

/// Which clause is named where a grid is reported.
fn rank(name: ClauseName) -> u32 {
    match name {
        ClauseName::NumThreads => 1,
        ClauseName::NumTeams => 2,
        ClauseName::ThreadLimit => 3,
        _ => 0,
    }
}

/// The number in a clause, if it is one number above zero.
pub(super) fn number(cx: &Program<'_>, clause: &Clause) -> Option<u64> {
    let span = clause.expression().filter(|_| clause.modifiers.is_empty())?;
    let value = cx.symbols().constant(&cx.file.show(span), span.start)?;
    u64::try_from(value).ok().filter(|number| *number > 0)
}

/// What is said of a grid that is predicted to be far slower. If the length of the loop is unknown, it must be so for every length.
fn by_prediction(figures: &GeometryFigures, grid: WrittenGrid, offered: &Chosen) -> Option<String> {
    let times = |iterations: u64| {
        let figures = figures.with_iterations(iterations);
        (figures.time(llvm_launch(iterations, grid)), figures.time(offered.launch(iterations)))
    };
    let is_far_off = |iterations: u64| {
        let (before, after) = times(iterations);
        before >= FAR_OFF * after
    };
    let (before, after) = times(figures.iterations);
    let always = figures.is_known || LENGTHS.into_iter().all(is_far_off);
    let best = offered.launch(figures.iterations).grid;
    (always && is_far_off(figures.iterations) && gains(before, after)).then(|| {
        format!(
            "predicted {} on {} with this grid, {} with {} teams of {} threads",
            time(before),
            figures.device.name,
            time(after),
            best.num_teams,
            best.thread_limit
        )
    })
}

/// What is said of a grid that leaves most of the threads of a warp idle, or has no more threads in all, for a long loop of which nothing is
/// predicted.
fn by_number(cx: &Context<'_>, region: &TargetRegion, device: &DeviceProfile, grid: WrittenGrid) -> Option<String> {
    let threads = u64::from(grid.thread_limit?);
    let resident = u64::from(device.sm_count) * u64::from(device.blocks_per_sm);
    let at_once = grid.num_teams.unwrap_or(u64::MAX).min(resident).checked_mul(threads)?;
    let is_small = threads <= FEW_THREADS || at_once <= u64::from(WARP);
    let iterations = known_iterations(cx, region.chain.innermost()).unwrap_or(u64::from(cx.assumed_iterations));
    let plural = if at_once == 1 { "thread runs" } else { "threads run" };
    (is_small && iterations >= at_once.saturating_mul(MANY_ROUNDS).max(LENGTHS[0])).then(|| {
        format!(
            "{at_once} {plural} at once, {threads} in each team, for {iterations} iterations; {} runs {}",
            device.name,
            u64::from(device.sm_count) * u64::from(device.threads_per_sm)
        )
    })
}

/// Is the construct predicted to be 1.05 times as fast with the offered grid, by what the text shows of its loop?
fn is_faster(cx: &Context<'_>, region: &TargetRegion, grid: WrittenGrid, offered: &Chosen) -> bool {
    let predicted = Predicted::of(cx, region);
    predicted.is_none_or(|predicted| predicted.gain(grid, |iterations| offered.launch(iterations)).pays())
}

/// Puts the pass's own grid in the place of the written one, unless the number of teams or threads may decide a result.
pub(super) fn retune(cx: &Context<'_>, region: &TargetRegion, far_off: &FarOff<'_>) -> Verdict {
    let mut reasons = team_reasons(cx, region);
    reasons.extend(grid_matters(cx, region, &far_off.written, far_off.threads));
    if reasons.iter().any(|reason| reason.certainty == Certainty::Proved) {
        return Verdict::Refuse(reasons);
    }
    let FarOff { written, offered, reason, .. } = far_off;
    let edits = exchanged(cx, region, written, &offered.clauses);
    let summary = format!("{}; the written grid: {}", offered.summary, reason.message);
    Verdict::Change(Change { edits, summary, reasons, ..Change::default() })
}

/// The edits that put clauses in the place of others, on the directive of the teams.
pub(super) fn exchanged(cx: &Program<'_>, region: &TargetRegion, old: &[&Clause], new: &[String]) -> Vec<Edit> {
    let teams = directive_of_teams(cx, region);
    let edits = region.chain.constructs.iter().flat_map(|id| {
        let directive = cx.constructs.directive(*id);
        let is_of_teams = teams.is_some_and(|teams| teams.span == directive.span);
        let own = directive.clauses.iter().enumerate();
        let own = own.filter(|(_, clause)| old.iter().any(|other| other.span == clause.span));
        let own: Vec<usize> = own.map(|(index, _)| index).collect();
        exchange_clauses(cx.file, directive, &own, if is_of_teams { new } else { &[] })
    });
    edits.collect()
}

/// Why the number of teams or threads may decide a result. `threads`: those of a team, if clauses say how many.
pub(super) fn grid_matters(
    cx: &Program<'_>,
    region: &TargetRegion,
    written: &[&Clause],
    threads: Option<u64>,
) -> Option<Reason> {
    if let Some(reason) = clauses_matter(cx, region, written) {
        return Some(reason);
    }
    let body = cx.constructs.construct(region.chain.innermost()).body_span;
    let mut inside = cx.constructs.within(body).filter(|(construct, _)| construct.leaves != [Leaf::Simd]);
    if let Some((_, directive)) = inside.find(|(_, directive)| directive.name != "unroll") {
        let message =
            format!("what `{}` does may come in another order, or another number of times at once", directive.name);
        return Some(Reason::new(ReasonCode::GridDecides, directive.span, message));
    }
    let clause = grouping(cx, region, threads)?;
    Some(grouped(clause, &not_independent(cx, region)?))
}

/// Why a clause on the way to the loop may mean something else in another grid, or a clause that goes is needed.
pub(super) fn clauses_matter(cx: &Program<'_>, region: &TargetRegion, written: &[&Clause]) -> Option<Reason> {
    if let Some(clause) = clauses(cx, region).find(|clause| !is_allowed(clause.name)) {
        let text = cx.file.show(clause.name_span);
        let message = format!("`{text}` may mean something else in another grid");
        return Some(Reason::new(ReasonCode::GridDecides, clause.span, message));
    }
    let (clause, name) = match clauses(cx, region).find_map(|clause| rounds(cx, clause)) {
        Some(reason) => return Some(reason),
        None => written.iter().find_map(|clause| Some((clause, last_use(cx, clause)?)))?,
    };
    let message = format!("without this clause nothing uses `{name}`, of which compilers warn");
    Some(Reason::new(ReasonCode::ExpressionNotMovable, clause.span, message))
}

/// Why the result of a reduction hangs on how many threads take part: its terms are no integers, so that their order matters.
pub(super) fn rounds(cx: &Program<'_>, clause: &Clause) -> Option<Reason> {
    if clause.name != ClauseName::Reduction {
        return None;
    }
    let item = clause.items().iter().find(|item| !is_integer(cx, item.base.as_deref(), item.span))?;
    let message = "the terms of this reduction are added up in the order that the grid gives";
    Some(Reason::new(ReasonCode::GridDecides, item.span, message))
}

/// The reason if a clause makes one thread run iterations in order that are not proved to be independent.
pub(super) fn grouped(clause: Span, unproved: &Reason) -> Reason {
    let message = "this lets one thread run several iterations in order, so that they need not be independent: drop it if they are";
    let because = format!("not proved: {}", unproved.message);
    Reason::new(ReasonCode::IterationsGrouped, clause, message).with_label(unproved.span, because)
}

/// Does the clause mean the same in each grid, but for the order of a reduction and of iterations in one thread?
fn is_allowed(name: ClauseName) -> bool {
    use ClauseName as C;
    is_of_grid(name)
        || matches!(name, C::Map | C::Device | C::If | C::IsDevicePtr | C::HasDeviceAddr | C::Nowait | C::Depend)
        || matches!(name, C::Default | C::Shared | C::Private | C::Firstprivate | C::Lastprivate | C::Defaultmap)
        || matches!(name, C::Collapse | C::Order | C::Bind | C::Schedule | C::Reduction | C::Simdlen | C::Safelen)
}

fn is_integer(cx: &Program<'_>, name: Option<&str>, at: Span) -> bool {
    let found = name.and_then(|name| cx.symbols().lookup(name, at.start));
    found.is_some_and(|found| Integer::of(&found.ty).is_some())
}

/// A local variable that the clause alone uses.
fn last_use(cx: &Program<'_>, clause: &Clause) -> Option<String> {
    let named = clause.expression().map(|span| cx.names_in(span)).unwrap_or_default();
    named.into_iter().find(|(name, at)| cx.is_named_in_clause_alone(name, *at, clause.span)).map(|(name, _)| name)
}

/// A clause by which one thread makes certain iterations in order: a team of one, a schedule, or a condition on `parallel`. What the
/// implementation chooses by itself gives no such promise.
fn grouping(cx: &Program<'_>, region: &TargetRegion, threads: Option<u64>) -> Option<Span> {
    let is_one = |clause: &&Clause| {
        matches!(clause.name, ClauseName::ThreadLimit | ClauseName::NumThreads) && threads == Some(1)
    };
    let groups = |clause: &&Clause| match clause.name {
        ClauseName::Schedule => true,
        ClauseName::If => !clause.has_modifier("target"),
        _ => is_one(clause),
    };
    clauses(cx, region).find(groups).map(|clause| clause.span)
}

/// Why iterations of the loop may depend on each other.
fn not_independent(cx: &Program<'_>, region: &TargetRegion) -> Option<Reason> {
    let Some(nest) = loops_of(cx, region.chain.innermost()) else {
        let span = cx.constructs.directive(region.chain.innermost()).span;
        return Some(Reason::new(ReasonCode::IterationsGrouped, span, "the loop is not understood"));
    };
    let none = std::collections::BTreeSet::new();
    dependence(cx, region.chain.constructs.clone(), &nest, &none, &none)
}
