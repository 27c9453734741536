//! Do the launches that are saved matter beside the kernels' time?

use std::collections::BTreeSet;

use super::Stopped;
use super::members::Member;
use super::together::PlaceOf;
use crate::analysis::accesses::{Access, Accesses, Loop};
use crate::analysis::body_work::operations_in_text;
use crate::analysis::coalescing::{Pattern, pattern};
use crate::analysis::cost::{NestWork, nest_time};
use crate::analysis::iteration_work::{self, known};
use crate::analysis::polynomial::Polynomial;
use crate::context::Context;
use crate::device::time::{GAIN, LAUNCH};
use crate::plan::figures::time;
use crate::plan::{Reason, ReasonCode};

/// A serial loop with so few iterations does not come back to its lines.
const FEW: i128 = 8;
/// Assumed iterations of a serial loop of unknown length.
const ASSUMED_INNER: f64 = 64.0;
/// What an access takes that finds its element in the cache, as a part of one that does not. Assumed; registers are faster still.
const CACHED: f64 = 0.125;
/// The most arrays of one kernel, whose addresses take registers.
const MOST_ARRAYS: usize = 24;
/// The most operations in the text of one kernel.
const MOST_OPERATIONS: usize = 400;
/// The same side by side, where the construct that needs the most registers decides how many threads of all are resident.
const MOST_OPERATIONS_BESIDE: usize = 120;

/// Why one kernel would not be `least` times as fast. `None` if it is.
pub(super) fn does_not_pay(
    cx: &Context<'_>,
    members: &[&Member],
    found: &Accesses,
    place_of: &PlaceOf<'_>,
    least: f64,
) -> Option<Reason> {
    let last = members.last()?;
    let no = |message: String| Some(Reason::new(ReasonCode::FuseDoesNotPay, last.directive, message));
    let depth = last.loops.len();
    if let Some(message) = may_be_slower(found, depth) {
        return no(message);
    }
    let kernel =
        |member: usize| kernel_time(cx, found, depth, &|access| if place_of(access) == member { 1.0 } else { 0.0 });
    let kernels: f64 = (0..members.len()).map(kernel).sum();
    let launches: f64 = members.iter().map(|_| LAUNCH).sum();
    let (before, after) = (launches + kernels, LAUNCH + kernels);
    (before < least * after)
        .then(|| no(format!("one kernel gains too little: predicted {} instead of {}", time(after), time(before))))?
}

/// Why one kernel that has the iterations of each construct beside those of the others would not be `least` times as fast. `own` are the loops of
/// the constructs. What a thread waits for is under way beside what others wait for. `None` if it is.
pub(super) fn beside_does_not_pay(
    cx: &Context<'_>,
    members: &[&Member],
    (found, own): (&Accesses, &[usize]),
    place_of: &PlaceOf<'_>,
    least: f64,
) -> Option<Reason> {
    let last = members.last()?;
    let no = |message: String| Some(Reason::new(ReasonCode::FuseDoesNotPay, last.directive, message));
    if let Some(message) = has_too_many_arrays(found) {
        return no(message);
    }
    if let Some(message) = wants_a_grid_of_its_own(found, own) {
        return no(message);
    }
    let work = |(member, own): (usize, &usize)| {
        let iterations = known(found.loops.get(*own)?.trips).unwrap_or_else(|| f64::from(cx.assumed_iterations));
        let lane = found.loops.get(*own)?.atom;
        let mut work = NestWork { iterations, accesses: 0.0, sectors: 0.0, divisions: 0 };
        for access in found.accesses.iter().filter(|access| place_of(access) == member) {
            let inner = access.loops.iter().filter(|index| **index > 0 && *index != own);
            let trips =
                inner.map(|index| found.loops.get(*index).and_then(|one| known(one.trips)).unwrap_or(ASSUMED_INNER));
            let times = trips.product::<f64>() * iterations;
            work.accesses += times;
            work.sectors += times * pattern(access, lane, &found.opaque).sectors();
        }
        Some(work)
    };
    let works: Vec<NestWork> = own.iter().enumerate().filter_map(work).collect();
    let iterations: f64 = works.iter().map(|work| work.iterations).sum();
    let longest = works.iter().map(|work| work.accesses / work.iterations.max(1.0)).fold(0.0, f64::max);
    let sectors = works.iter().map(|work| work.sectors).sum();
    let one = NestWork { iterations, accesses: iterations * longest, sectors, divisions: 1 };
    let before = works.iter().map(|work| LAUNCH + nest_time(work)).sum::<f64>();
    let after = LAUNCH + nest_time(&one);
    let message = || format!("side by side gains too little: predicted {} instead of {}", time(after), time(before));
    (before < least * after).then(|| no(message()))?
}

/// Why a construct should keep a grid of its own: where threads walk along rows, how many of them are a team decides much, and with other lengths
/// that construct may take most of the time. Side by side with loops of the same length, or of two of which each one is as long as the other has iterations, it gains in any case:
/// measured with products of a matrix and its transpose (`bench/fuse`).
fn wants_a_grid_of_its_own(found: &Accesses, own: &[usize]) -> Option<String> {
    let long = |index: &usize| {
        let one = found.loops.get(*index).filter(|_| *index > 0)?;
        (!own.contains(index) && one.trips.is_none_or(|trips| trips > FEW)).then_some(one)
    };
    let is_far = |access: &&Access| {
        let lane = access.loops.iter().find(|index| own.contains(index)).and_then(|index| found.loops.get(*index));
        let pattern = lane.map(|lane| pattern(access, lane.atom, &found.opaque));
        access.loops.iter().any(|index| long(index).is_some())
            && matches!(pattern, Some(Pattern::Strided | Pattern::Unknown))
    };
    let far = found.accesses.iter().find(is_far)?;
    let length = |one: &'_ Loop| (one.range.lower.clone(), one.range.upper.clone());
    let lengths: Vec<_> = found.loops.iter().skip(1).map(length).collect();
    let is_known = lengths.iter().all(|(_, upper)| upper.is_some());
    let is_square = lengths.windows(2).all(|pair| pair.first() == pair.last());
    // The loops in the order of the text: one construct's own, that in it, the other's own, and that in it.
    let are_crossed = match (own, lengths.as_slice()) {
        ([1, 3], [one, in_one, other, in_other]) => one == in_other && other == in_one,
        _ => false,
    };
    (!(is_known && (is_square || are_crossed))).then(|| {
        format!("a serial loop walks along `{}`, and needs as many threads in a team as suit it", far.root.name)
    })
}

/// Why it would not pay that one launch of a construct makes all passes of a loop around it. `found` are the accesses of the kernel with
/// that loop in its body. `None` if it does.
pub(super) fn saved_launches(cx: &Context<'_>, member: &Member, found: &Accesses) -> Option<Reason> {
    let depth = member.loops.len();
    let passes = lengths(cx, found, depth).get(depth).copied().unwrap_or(ASSUMED_INNER);
    let again = |access: &Access| if stays(found, access, depth) { CACHED.max(passes.recip()) } else { 1.0 };
    let before = passes * LAUNCH + kernel_time(cx, found, depth, &|_| 1.0);
    let after = LAUNCH + kernel_time(cx, found, depth, &again);
    let message = || {
        let (before, after) = (time(before), time(after));
        format!(
            "one launch for all passes of the loop around it gains too little: predicted {after} instead of {before}"
        )
    };
    (before < GAIN * after).then(|| Reason::new(ReasonCode::FuseDoesNotPay, member.directive, message()))
}

/// Does a thread access the same few elements in all passes of the loop at `depth`, so that they stay in registers or in the cache?
fn stays(found: &Accesses, access: &Access, depth: usize) -> bool {
    let Some(passes) = found.loops.get(depth) else { return false };
    let is_short = |index: &usize| {
        *index <= depth || found.loops.get(*index).and_then(|l| l.trips).is_some_and(|trips| trips <= FEW)
    };
    let is_same =
        |form: &Polynomial| form.atoms().iter().all(|atom| *atom != passes.atom && !found.opaque.contains(atom));
    access.loops.iter().all(is_short) && access.subscripts.iter().all(|subscript| is_same(&subscript.form))
}

/// How long the kernel takes, in microseconds, if of each access a part counts.
pub(super) fn kernel_time(cx: &Context<'_>, found: &Accesses, depth: usize, part: &dyn Fn(&Access) -> f64) -> f64 {
    let trips = lengths(cx, found, depth);
    let iterations: f64 = trips.iter().take(depth).product();
    let lane = depth.checked_sub(1).and_then(|innermost| found.loops.get(innermost)).map(|l| l.atom);
    let (mut accesses, mut sectors) = (0.0, 0.0);
    for access in &found.accesses {
        let inner = access.loops.iter().filter(|index| **index >= depth);
        let times = inner.filter_map(|index| trips.get(*index)).product::<f64>() * iterations * part(access);
        accesses += times;
        sectors += times * lane.map_or(1.0, |lane| pattern(access, lane, &found.opaque).sectors());
    }
    nest_time(&NestWork { iterations, accesses, sectors, divisions: 0 })
}

/// The first construct with which one kernel would have more operations than it should.
pub(super) fn too_large(cx: &Context<'_>, members: &[&Member], is_beside: bool) -> Option<Stopped> {
    let most = if is_beside { MOST_OPERATIONS_BESIDE } else { MOST_OPERATIONS };
    let mut operations = 0;
    members.iter().enumerate().find_map(|(at, member)| {
        operations += operations_in_text(cx, member.body);
        let message = format!("one kernel would have {operations} operations");
        let reason = Reason::new(ReasonCode::FuseDoesNotPay, member.directive, message);
        (at > 0 && operations > most).then_some(Stopped { at, reason })
    })
}

/// The iterations of each loop, known or assumed.
fn lengths(cx: &Context<'_>, found: &Accesses, depth: usize) -> Vec<f64> {
    let (mut lengths, _) = iteration_work::lengths(found, depth, cx.assumed_iterations);
    lengths.extend(found.loops.iter().skip(depth).map(|one| known(one.trips).unwrap_or(ASSUMED_INNER)));
    lengths
}

/// Why one kernel needs more registers than several.
fn has_too_many_arrays(found: &Accesses) -> Option<String> {
    let arrays: BTreeSet<_> = found.accesses.iter().map(|access| (access.root.key, &access.root.name)).collect();
    (arrays.len() > MOST_ARRAYS).then(|| format!("one kernel would access {} arrays", arrays.len()))
}

/// Why one kernel could be slower than several: it needs more registers than they do, or evicts lines that a serial loop comes back to.
fn may_be_slower(found: &Accesses, depth: usize) -> Option<String> {
    if let Some(message) = has_too_many_arrays(found) {
        return Some(message);
    }
    let lane = found.loops.get(depth.checked_sub(1)?)?.atom;
    let is_long = |index: &usize| {
        *index >= depth && found.loops.get(*index).is_none_or(|l| l.trips.is_none_or(|trips| trips > FEW))
    };
    let is_far = |access: &&Access| {
        access.loops.iter().any(is_long)
            && matches!(pattern(access, lane, &found.opaque), Pattern::Strided | Pattern::Unknown)
    };
    let far = found.accesses.iter().find(is_far)?;
    Some(format!("a serial loop walks along `{}`, and needs the cache for the lines of its warp", far.root.name))
}
