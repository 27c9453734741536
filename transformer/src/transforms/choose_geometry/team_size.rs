//! The team size of a `distribute` loop with parallel loops inside: what these can use, and sizes in clauses that are far off.

use super::grid::clauses;
use super::levels::{inner_trouble, is_parallel_loop};
use super::retune::{clauses_matter, exchanged, grouped, number, rounds};
use super::{WARP, directive_of_teams, is_a_choice_of_the_original, team_reasons};
use crate::analysis::associated_loops::known_iterations;
use crate::analysis::body_work::body_work;
use crate::analysis::cost::launched;
use crate::context::Context;
use crate::device::launch::{Launch, MOST_BLOCKS};
use crate::device::time::{gains, number as number_of};
use crate::device::{DeviceProfile, GridGeometry};
use crate::edit::directive_writer::append_clauses;
use crate::plan::{Certainty, Change, Decision, Pass, Plan, Reason, ReasonCode, Verdict};
use crate::region::construct::ConstructId;
use crate::region::target::TargetRegion;
use crate::semantics::Program;
use crate::source::Span;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Clause, ClauseName};
use crate::transforms::{TEAM_THREADS, checks};

/// Inner loops of at most this many iterations are as fast with one warp in a team, of which more fit on a multiprocessor.
const SHORT: u64 = 2 * WARP as u64;
/// With fewer outer iterations the launch takes most of the time.
const MANY_ROWS: u64 = 1 << 15;
/// A size is called far off if the device has room for this many times as much.
const FAR_OFF: u64 = 4;

/// Two levels: a loop that the teams share, and those that the threads of each team share.
struct Levels<'a> {
    region: &'a TargetRegion,
    device: &'a DeviceProfile,
    inner: Vec<ConstructId>,
    /// How many iterations the outer loop has, as known or assumed.
    rows: u64,
    /// The most threads that an inner loop can use, if that is known of all.
    usable: Option<u64>,
}

/// A number of teams or threads in a clause that is far off.
struct FarOff<'a> {
    clause: &'a Clause,
    number: u64,
    message: String,
}

/// What is decided about the team size. `None` if the region has no such form, or no device is given.
pub(super) fn plan(cx: &Context<'_>, region: &TargetRegion) -> Option<Plan> {
    let levels = levels(cx, region)?;
    let span = cx.constructs.directive(*region.chain.constructs.first()?).span;
    let verdict = decide(cx, &levels);
    let mut plan = verdict.into_plan(Pass::Geometry, span, region.extent);
    if !cx.retune && plan.decision != Decision::Refuse {
        let reasons = far_off(cx, &levels);
        plan.reasons
            .extend(reasons.into_iter().map(|it| Reason::new(ReasonCode::GridFarOff, it.clause.span, it.message)));
    }
    Some(plan)
}

fn levels<'a>(cx: &'a Context<'_>, region: &'a TargetRegion) -> Option<Levels<'a>> {
    let device = cx.device?;
    let outer = region.chain.innermost();
    if region.chain.leaves != [Leaf::Target, Leaf::Teams, Leaf::Distribute] {
        return None;
    }
    let body = cx.constructs.construct(outer).body_span;
    let inner: Vec<ConstructId> =
        cx.constructs.ids().filter(|id| body.contains(cx.constructs.directive(*id).span)).collect();
    let are_loops = inner.iter().all(|id| is_parallel_loop(cx, *id));
    let usable = inner.iter().map(|id| usable_threads(cx, *id)).collect::<Option<Vec<u64>>>();
    let usable = usable.and_then(|all| all.into_iter().max());
    let rows = known_iterations(cx, outer).unwrap_or(u64::from(cx.assumed_iterations));
    (!inner.is_empty() && are_loops).then_some(Levels { region, device, rows, usable, inner })
}

/// How many threads a parallel loop can use: it has no more iterations, or asks for no more.
fn usable_threads(cx: &Program<'_>, id: ConstructId) -> Option<u64> {
    let asked = cx.constructs.directive(id).clauses_of(ClauseName::NumThreads).find_map(|clause| number(cx, clause));
    // A loop that asks for a warp has no use for more, however long it is; one that has few iterations is as fast in a warp.
    let few = known_iterations(cx, id).map(|trips| if trips <= SHORT { trips.min(u64::from(WARP)) } else { trips });
    asked.into_iter().chain(few).min()
}

fn decide(cx: &Context<'_>, levels: &Levels<'_>) -> Verdict {
    let Levels { region, rows, usable, .. } = levels;
    let mut reasons = checks::clause_reasons(cx, region);
    if !reasons.is_empty() {
        return Verdict::Refuse(reasons);
    }
    let span = cx.constructs.directive(region.chain.innermost()).span;
    let far_off = far_off(cx, levels);
    if cx.retune && !far_off.is_empty() {
        return retune(cx, levels, &far_off);
    }
    let has_limit = clauses(cx, region).any(|clause| clause.name == ClauseName::ThreadLimit);
    let Some(teams) = directive_of_teams(cx, region).filter(|_| !has_limit) else {
        let message = "the number of threads in a team is written down";
        return Verdict::Nothing(Reason::new(ReasonCode::GridWritten, span, message));
    };
    if usable.is_none_or(|usable| usable > u64::from(WARP)) || *rows < MANY_ROWS {
        let message = "the inner loops use the threads that a team has anyway, or the outer loop is too short for more";
        return Verdict::DoesNotPay(vec![Reason::new(ReasonCode::TwoLevels, span, message)]);
    }
    reasons.extend(team_reasons(cx, region));
    if reasons.iter().any(|reason| reason.certainty == Certainty::Proved) {
        return Verdict::Refuse(reasons);
    }
    if is_a_choice_of_the_original(cx, region, WARP) {
        reasons.clear();
    }
    let edits = vec![append_clauses(cx.file, teams, &[format!("thread_limit({WARP})")])];
    let summary = format!("{WARP} threads in each team: the inner loops can use no more");
    Verdict::Change(Change { edits, summary, reasons, ..Change::default() })
}

/// The threads that a team should have.
fn wanted(levels: &Levels<'_>) -> u32 {
    if levels.usable.is_some_and(|usable| usable <= u64::from(WARP)) { WARP } else { TEAM_THREADS }
}

/// The numbers in clauses that are far off.
fn far_off<'a>(cx: &'a Context<'_>, levels: &'a Levels<'_>) -> Vec<FarOff<'a>> {
    let Levels { region, device, rows, usable, .. } = levels;
    let sms = u64::from(device.sm_count);
    let judge = |clause: &'a Clause| {
        let number = number(cx, clause)?;
        let message = match clause.name {
            ClauseName::ThreadLimit if number * FAR_OFF <= usable.unwrap_or(u64::MAX).min(u64::from(WARP)) => {
                format!("teams of {number}, where the inner loops can use {WARP} threads or more, which run in step")
            }
            ClauseName::NumTeams if number.saturating_mul(FAR_OFF) <= sms.min(*rows) => {
                format!("{number} teams for {rows} iterations; {} has {sms} multiprocessors", device.name)
            }
            _ => return None,
        };
        Some(FarOff { clause, number, message })
    };
    let wanted = (None, wanted(levels));
    let is_faster = |it: &FarOff<'_>| {
        let number = it.number;
        let written = match it.clause.name {
            ClauseName::NumTeams => (Some(number), wanted.1),
            _ => (None, u32::try_from(number).unwrap_or(u32::MAX)),
        };
        gains(time(cx, levels, written), time(cx, levels, wanted))
    };
    clauses(cx, region).filter_map(judge).filter(is_faster).collect()
}

/// Microseconds of the kernel with this many teams of this many threads: each team takes rows one after the other, whose iterations its
/// threads share.
fn time(cx: &Context<'_>, levels: &Levels<'_>, (teams, threads): (Option<u64>, u32)) -> f64 {
    let Levels { region, rows, usable, .. } = levels;
    let Some(body) = cx.constructs.construct(region.chain.innermost()).body else { return 0.0 };
    let (operations, _) = body_work(cx, body);
    let num_teams = teams.unwrap_or(MOST_BLOCKS).min(*rows);
    let busy = u64::from(threads).min(usable.unwrap_or(u64::from(threads))).max(1);
    let launch = Launch { grid: GridGeometry { num_teams, thread_limit: threads }, chunk: 1 };
    launched(operations / number_of(busy), *rows, launch)
}

/// Takes numbers that are far off away, and writes how many threads a team should have, unless they may decide a result.
fn retune(cx: &Context<'_>, levels: &Levels<'_>, far_off: &[FarOff<'_>]) -> Verdict {
    let Levels { region, .. } = levels;
    let mut reasons = team_reasons(cx, region);
    let written: Vec<&Clause> = far_off.iter().map(|it| it.clause).collect();
    reasons.extend(clauses_matter(cx, region, &written));
    reasons.extend(far_off.iter().find_map(|it| decides(cx, levels, it)));
    if reasons.iter().any(|reason| reason.certainty == Certainty::Proved) {
        return Verdict::Refuse(reasons);
    }
    let has_threads = far_off.iter().any(|it| it.clause.name == ClauseName::ThreadLimit);
    let new = if has_threads { vec![format!("thread_limit({})", wanted(levels))] } else { Vec::new() };
    let edits = exchanged(cx, region, &written, &new);
    let words: Vec<&str> = far_off.iter().map(|it| it.message.as_str()).collect();
    let summary = format!("another grid; written are {}", words.join(", and "));
    Verdict::Change(Change { edits, summary, reasons, ..Change::default() })
}

/// Why another number than the written one may give another result.
fn decides(cx: &Program<'_>, levels: &Levels<'_>, far_off: &FarOff<'_>) -> Option<Reason> {
    let FarOff { clause, number, .. } = far_off;
    if clause.name == ClauseName::NumTeams {
        let message = "one team makes all iterations of the outer loop in order";
        return (*number == 1).then(|| Reason::new(ReasonCode::GridDecides, clause.span, message));
    }
    levels.inner.iter().find_map(|id| {
        let own = &cx.constructs.directive(*id).clauses;
        let reduction = own.iter().find_map(|clause| rounds(cx, clause));
        reduction.or_else(|| {
            let (message, at): (String, Span) = inner_trouble(cx, levels.region, *id)?;
            Some(grouped(clause.span, &Reason::new(ReasonCode::IterationsGrouped, at, message)))
        })
    })
}
