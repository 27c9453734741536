//! Along which loop the threads of a team compute, and what tiles gain.

use super::loads::{Load, is_across, pattern_along};
use super::{Kernel, THREADS, TILE};
use crate::analysis::coalescing::Pattern;
use crate::analysis::iteration_work::lengths;
use crate::device::DeviceProfile;
use crate::device::time::{gains, streamed};
use crate::plan::figures::{count, time, transactions};

/// The kernel must be predicted to take at most this part of its time.
const ENOUGH: f64 = 0.8;
/// A loop that is known to have fewer iterations than this many tiles leaves too much of them empty.
const FEWEST_TILES: i128 = 2;
/// With fewer tiles a large device has idle multiprocessors.
const FEWEST_TEAMS: f64 = 128.0;
/// How many times as long as loads stores take that neighbouring threads make far apart, which no cache gathers (`collapse` counts them so).
const FAR_STORES: f64 = 3.0;
/// Bytes of a sector that fall to one thread of a warp, for each sector that the warp touches.
const BYTES_OF_SECTOR: f64 = 1.0;
/// Microseconds that a team takes for a tile beside what it moves: barriers, and loads that wait for memory.
const EACH_TILE: f64 = 4.0;

/// What tiles gain.
pub(super) struct Gain {
    /// The kernel's time before and after, in microseconds.
    pub times: (f64, f64),
    /// Sectors of all accesses of an iteration before and after.
    sectors: (f64, f64),
    /// The iterations of each loop.
    lengths: Vec<f64>,
    assumed: bool,
}

impl Gain {
    /// One line on what is done and why so.
    pub(super) fn summary(&self, loads: &[Load]) -> String {
        let mut names: Vec<String> = loads.iter().map(|load| format!("`{}`", load.array)).collect();
        names.dedup();
        let fewer = transactions(self.sectors.0, self.sectors.1).map(|text| format!(": {text}")).unwrap_or_default();
        let lengths: Vec<String> = self.lengths.iter().map(|length| count(*length)).collect();
        let assumed = if self.assumed { ", assumed" } else { "" };
        format!(
            "each team loads tiles of {TILE} x {TILE} elements of {} along their rows{fewer}, predicted {} instead of {} (for {} \
             iterations{assumed})",
            names.join(" and "),
            time(self.times.1),
            time(self.times.0),
            lengths.join(" x ")
        )
    }
}

/// The loop along which threads side by side should compute: where fewest sectors are left. `None` if no load is far apart along it and near
/// along the other one.
pub(super) fn axis(kernel: &Kernel<'_, '_>) -> Option<usize> {
    let has_across = |axis: &usize| kernel.found.accesses.iter().any(|access| is_across(kernel, access, *axis));
    let best = [1, 0].into_iter().filter(has_across);
    best.min_by(|one, other| staged(kernel, *one).1.total_cmp(&staged(kernel, *other).1))
}

/// What is gained by tiles whose threads compute along a loop.
///
/// # Errors
/// Why it does not pay.
pub(super) fn gain(kernel: &Kernel<'_, '_>, device: &DeviceProfile, axis: usize) -> Result<Gain, String> {
    let own = || kernel.found.loops.iter().take(2);
    if own().any(|one| one.trips.is_some_and(|trips| trips < FEWEST_TILES * i128::from(TILE))) {
        return Err(format!("a loop is too short for tiles of {TILE} iterations"));
    }
    let (lengths, assumed) = lengths(&kernel.found, 2, kernel.cx.assumed_iterations);
    let iterations: f64 = lengths.iter().product();
    let tiles: f64 = lengths.iter().map(|length| (length / f64::from(TILE)).ceil()).product();
    if tiles < FEWEST_TEAMS {
        return Err(format!("{} tiles are too few for the device", count(tiles)));
    }
    let timed = |weight: f64| streamed(device, weight * BYTES_OF_SECTOR * iterations);
    let [as_it_is, exchanged] = [1, 0].map(|axis| plain(kernel, axis));
    let (sectors, weight) = staged(kernel, axis);
    let teams = f64::from(device.sm_count) * f64::from((device.threads_per_sm / THREADS).max(1));
    let after = timed(weight).max((tiles / teams).ceil() * EACH_TILE);
    let (before, other) = (timed(as_it_is.1), timed(exchanged.1));
    let gain = Gain { times: (before, after), sectors: (as_it_is.0, sectors), lengths, assumed };
    if after > ENOUGH * before || !gains(before, after) {
        return Err(format!("tiles gain too little: predicted {} instead of {}", time(after), time(before)));
    }
    if after > ENOUGH * other || !gains(other, after) {
        return Err(format!(
            "the loops in the other order are nearly as fast: predicted {}, and {} with tiles",
            time(other),
            time(after)
        ));
    }
    Ok(gain)
}

/// The sectors of an iteration where neighbouring threads differ in this loop's variable, and what they take.
fn plain(kernel: &Kernel<'_, '_>, axis: usize) -> (f64, f64) {
    let each = kernel.found.accesses.iter().map(|access| weigh(pattern_along(kernel, access, axis), access.writes));
    each.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

/// The same with tiles: what is far apart is loaded along the other loop.
fn staged(kernel: &Kernel<'_, '_>, axis: usize) -> (f64, f64) {
    let each = kernel.found.accesses.iter().map(|access| {
        let along = if is_across(kernel, access, axis) { 1 - axis } else { axis };
        weigh(pattern_along(kernel, access, along), access.writes)
    });
    each.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

fn weigh(pattern: Pattern, writes: bool) -> (f64, f64) {
    let is_far = matches!(pattern, Pattern::Strided | Pattern::Unknown);
    (pattern.sectors(), pattern.sectors() * if is_far && writes { FAR_STORES } else { 1.0 })
}
