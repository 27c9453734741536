//! The gain of more parallel loops: more threads, and accesses that are nearer to each other.

use crate::analysis::accesses::{Access, Accesses, Loop};
use crate::analysis::coalescing::{Pattern, from_start, pattern};
use crate::analysis::cost::{ASSUMED_INNER, NestWork, nest_time, nest_time_in_team};
use crate::analysis::independence::{Candidate, reason};
use crate::context::Context;
use crate::device::time::{LAUNCH, gains};
use crate::plan::figures::{count, time, transactions};
use crate::plan::{Reason, ReasonCode, Times};
use crate::syntax::ClauseName;
use crate::transforms::collapse::{nests, write};

/// The time of the kernel must fall to this part for a change, and the construct become 1.05 times as fast.
const ENOUGH: f64 = 0.9;
/// The time must fall to this part if neighbouring threads then access elements further apart.
const MUCH: f64 = 0.5;
/// The time must fall to this part for one more loop.
const SLIGHTLY: f64 = 0.98;
/// An order of loops counts as chosen for a GPU if at least this part of the accesses are next to each other.
const MEANT: f64 = 0.25;

/// How many times as long as loads stores take that neighbouring threads make far apart, which no cache gathers: on an H200 a transposition of
/// 6000 x 4000 elements takes 0.58 ms if its stores are far apart, and 0.21 if its loads are.
const FAR_STORES: f64 = 3.0;

/// The estimate for one number of collapsed loops.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    /// Microseconds.
    time: f64,
    /// Sectors for each access of a warp, on the average.
    sectors: f64,
    /// The same, each counted with what it takes.
    weight: f64,
    /// The part of the accesses that neighbouring threads make next to each other.
    near: f64,
    /// Iterations that run in parallel.
    iterations: f64,
}

/// Which loops run in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// How many loops are collapsed.
    pub depth: usize,
    /// Which of them runs fastest, counted from 0: neighbouring threads differ in its variable. If it is not the last,
    /// it is exchanged with the last.
    pub fastest: usize,
}

impl Choice {
    /// The first `depth` loops in the order in which they are written.
    pub(super) fn as_written(depth: usize) -> Self {
        Self { depth, fastest: depth - 1 }
    }

    /// Are two loops exchanged?
    pub(super) fn exchanges(self) -> bool {
        self.fastest + 1 != self.depth
    }
}

/// The estimates before and after.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gain {
    /// The best choice.
    pub choice: Choice,
    before: Estimate,
    after: Estimate,
    /// The assumed iterations of each loop of unknown length.
    assumed: Option<f64>,
}

impl Gain {
    /// The predicted times of the construct, its launch included.
    pub(super) fn times(&self) -> Times {
        Times::rounded(LAUNCH + self.before.time, LAUNCH + self.after.time)
    }

    /// One line about the change and its gain.
    pub(super) fn summary(&self, candidate: &Candidate<'_, '_>) -> String {
        let Self { before, after, choice, .. } = self;
        let loops = &candidate.nest.loops.loops;
        let exchanged = match (loops.get(choice.fastest), loops.get(choice.depth - 1)) {
            (Some(fastest), Some(last)) if choice.exchanges() => {
                format!("interchanged `{}` and `{}`", fastest.variable, last.variable)
            }
            _ => String::new(),
        };
        let collapsed = format!(
            "collapsed {} loops: {} iterations in parallel instead of {}",
            choice.depth,
            count(after.iterations),
            count(before.iterations)
        );
        let collapsed = if choice.depth > candidate.promised() { collapsed } else { String::new() };
        let what: Vec<String> = [exchanged, collapsed].into_iter().filter(|text| !text.is_empty()).collect();
        let transactions = transactions(before.sectors, after.sectors);
        let text = match (what.as_slice(), transactions) {
            // Only an exchange says nothing of iterations, and goes on with what it gains.
            ([exchange], Some(gained)) if choice.depth == candidate.promised() => format!("{exchange}: {gained}"),
            (all, gained) => {
                format!("{}{}", all.join(", "), gained.map_or_else(String::new, |gained| format!("; {gained}")))
            }
        };
        match self.assumed {
            Some(assumed) => format!("{text} {}", assumes(assumed)),
            None => text,
        }
    }

    /// Why the change is not worth it.
    pub(super) fn does_not_pay(&self, candidate: &Candidate<'_, '_>) -> Option<Reason> {
        let Self { before, after, choice, .. } = self;
        let worse = after.weight > before.weight;
        let wanted = if worse { MUCH } else { ENOUGH };
        // A program whose outer loop runs along the rows probably has many iterations there; the assumed number may be
        // too small. What is exchanged so that neighbouring threads keep their elements leaves that as it is.
        let exchanges = choice.exchanges() && choice.fastest + 1 != candidate.promised();
        // A team size that is written says the same: on an H100 the columns of 200,000 records of 34 values, which threads side by side write
        // and each read in turn, take 53 us, and 94 with the loops exchanged and collapsed.
        let is_fitted = has_written_threads(candidate);
        let is_meant_so = (worse || exchanges || is_fitted) && before.near >= MEANT && self.assumed.is_some();
        // A region may hold control flow that repeats its loops, while one launch starts them.
        let gains = || nests::is_of_one_team(candidate.cx, candidate.id) || gains(before.time, after.time);
        if after.time < wanted * before.time && gains() && !is_meant_so {
            return None;
        }
        let order = if choice.exchanges() { " and interchanged" } else { "" };
        let what = match is_meant_so {
            _ if after.time > before.time => "slower",
            true => {
                "neighbouring threads access elements side by side as it is, which may be better for other lengths than"
            }
            false => "too little to gain",
        };
        let mut message = format!(
            "{what} with {} loops collapsed{order}: predicted {} instead of {}, beside a launch of {LAUNCH:.0} us",
            choice.depth,
            time(after.time),
            time(before.time)
        );
        if let Some(transactions) = transactions(before.sectors, after.sectors) {
            message = format!("{message}; {transactions}");
        }
        if let Some(assumed) = self.assumed {
            message = format!("{message} {}", assumes(assumed));
        }
        let span = candidate.cx.constructs.directive(candidate.id).span;
        Some(reason(ReasonCode::CollapseDoesNotPay, span, message))
    }
}

/// Is the number of threads in a team written down?
fn has_written_threads(candidate: &Candidate<'_, '_>) -> bool {
    let names = [ClauseName::ThreadLimit, ClauseName::NumThreads];
    let clauses = &candidate.cx.constructs.directive(candidate.id).clauses;
    clauses.iter().any(|clause| names.contains(&clause.name))
}

/// What the estimate rests on, where the text does not tell.
fn assumes(iterations: f64) -> String {
    format!("(assumes {} iterations of each loop of unknown length)", count(iterations))
}

/// The best choice of up to `deepest` loops, and what it gains.
pub(super) fn best(cx: &Context<'_>, candidate: &Candidate<'_, '_>, found: &Accesses, deepest: usize) -> Gain {
    let (nest, promised) = (candidate.nest.loops.loops.len(), candidate.promised());
    let unknown = found.loops.iter().take(deepest).filter(|l| l.trips.is_none()).count();
    let one = f64::from(cx.assumed_iterations);
    let assumed = match u32::try_from(unknown).unwrap_or(u32::MAX) {
        0 => None,
        1 => Some(one),
        several => Some((one * ASSUMED_INNER).powf(f64::from(several).recip()).floor()),
    };
    let trips = |index: usize| {
        let known = found.loops.get(index).and_then(|l| l.trips);
        let inner = if index < deepest.min(nest) { assumed.unwrap_or(1.0) } else { ASSUMED_INNER };
        known.and_then(|trips| u32::try_from(trips).ok()).map_or(inner, f64::from)
    };
    let as_it_is = Choice::as_written(promised);
    let is_of_one_team = nests::is_of_one_team(cx, candidate.id);
    let time: fn(&NestWork) -> f64 = if is_of_one_team { nest_time_in_team } else { nest_time };
    let estimate = |choice| estimate(found, choice, promised, &trips, time);
    let before = estimate(as_it_is);
    // The order as written comes first: loops are exchanged only if that is clearly better than any number of loops in
    // the order as written.
    let written = (promised + 1..=deepest).map(Choice::as_written);
    let exchanged = (promised..=deepest).flat_map(|depth| (0..depth - 1).map(move |fastest| Choice { depth, fastest }));
    let others = written.chain(exchanged.filter(|choice| write::can_exchange(candidate, choice.depth)));
    let others = others.map(|choice| (choice, estimate(choice)));
    let best = others.reduce(|best, next| {
        let enough = if next.0.exchanges() { ENOUGH } else { SLIGHTLY };
        if next.1.time < enough * best.1.time { next } else { best }
    });
    let (choice, after) = best.unwrap_or((as_it_is, before));
    Gain { choice, before, after, assumed }
}

/// The access pattern of a warp whose thread index drives `lane`. Where that loop takes several steps at once, a loop inside begins with
/// its variable: each thread goes through steps of its own.
fn pattern_on(found: &Accesses, access: &Access, lane: &Loop) -> Pattern {
    let takes_steps = lane.step.is_some_and(|step| step.unsigned_abs() > 1);
    let begins = |own: &&Loop| own.range.lower.as_ref().is_some_and(|lower| lower.mentions(lane.atom));
    let mut inside =
        access.loops.iter().filter_map(|index| found.loops.get(*index)).filter(begins).filter(|_| takes_steps);
    let shifted = inside.try_fold(access.clone(), |access, own| from_start(&access, own));
    shifted.map_or(Pattern::Unknown, |access| pattern(&access, lane.atom, &found.opaque))
}

/// The estimate for a choice of parallel loops, by how often each loop runs and how long a nest takes.
fn estimate(
    found: &Accesses,
    choice: Choice,
    promised: usize,
    trips: &dyn Fn(usize) -> f64,
    time: fn(&NestWork) -> f64,
) -> Estimate {
    let Choice { depth, fastest } = choice;
    let lane = found.loops.get(fastest);
    let iterations: f64 = (0..depth).map(trips).product();
    let (mut accesses, mut sectors, mut weight, mut near) = (0.0, 0.0, 0.0, 0.0);
    for access in &found.accesses {
        let times: f64 = access.loops.iter().map(|index| trips(*index)).product();
        let pattern = lane.map_or(Pattern::Unknown, |lane| pattern_on(found, access, lane));
        accesses += times;
        sectors += times * pattern.sectors();
        let is_far = matches!(pattern, Pattern::Strided | Pattern::Unknown) && access.writes;
        weight += times * pattern.sectors() * if is_far { FAR_STORES } else { 1.0 };
        if matches!(pattern, Pattern::Near(_)) {
            near += times;
        }
    }
    let work = NestWork { iterations, accesses, sectors: weight, divisions: depth - promised };
    let each = |sum: f64| if accesses > 0.0 { sum / accesses } else { 0.0 };
    Estimate { time: time(&work), sectors: each(sectors), weight: each(weight), near: each(near), iterations }
}
