//! Is it worth a variable that the iterations of a serial loop do not wait for memory?

use super::candidates::Sum;
use crate::analysis::accesses::Accesses;
use crate::analysis::associated_loops::known_iterations;
use crate::analysis::cost::{ASSUMED_INNER, launched};
use crate::analysis::independence::Candidate;
use crate::context::Context;
use crate::device::launch::{DEFAULT_THREADS, WrittenGrid, llvm_launch};
use crate::device::time::{gains, number};
use crate::source::Span;

/// Loops that are known to run less often stay.
const FEWEST: i128 = 4;
/// Microseconds that an iteration waits for the store of the one before: 0.03 to 0.3 (`bench/results/scalarize`).
const WAITS: f64 = 0.1;

/// Does the serial loop run often enough, and is what its iterations wait for a twentieth of the construct's time?
pub(super) fn pays(cx: &Context<'_>, candidate: &Candidate<'_, '_>, sum: &Sum, found: &Accesses) -> bool {
    let span = cx.tree.span(sum.serial);
    let promised = candidate.promised();
    if found.loops.iter().any(|known| known.span == span && known.trips.is_some_and(|trips| trips < FEWEST)) {
        return false;
    }
    let times = |index: usize| {
        let trips = found.loops.get(index).and_then(|known| known.trips);
        trips.and_then(|trips| u32::try_from(trips).ok()).map_or(ASSUMED_INNER, f64::from)
    };
    let around = (promised..found.loops.len()).filter(|index| {
        let is_around = |other: Span| other.contains(span);
        found.loops.get(*index).is_some_and(|known| is_around(known.span))
    });
    let steps: f64 = around.map(times).product();
    let inner = |loops: &[usize]| loops.iter().filter(|index| **index >= promised).map(|index| times(*index)).product();
    let accesses: f64 = found.accesses.iter().map(|access| -> f64 { inner(&access.loops) }).sum();
    let iterations = known_iterations(cx, candidate.id).unwrap_or(u64::from(cx.assumed_iterations));
    let launch = llvm_launch(iterations, WrittenGrid { num_teams: None, thread_limit: Some(DEFAULT_THREADS) });
    let after = launched(accesses, iterations, launch);
    gains(after + number(launch.rounds(iterations)) * steps * WAITS, after)
}
