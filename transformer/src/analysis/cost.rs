//! What a rewrite gains against what its launches cost.
//!
//! The model follows the threads. A loop takes as long as its busiest thread, or as long as the device's memory and
//! arithmetic need for all iterations, whichever is more. How many iterations a thread executes one after the other
//! follows from the grid of clang 19 and its runtime. The times were measured on an NVIDIA H200 with the programs of
//! `bench`: where trip counts are known the model comes within a factor of four of them, and closer to the ratio of both
//! versions. It is meant for the decision whether to split, not as a forecast.

use crate::device::launch::Launch;
use crate::device::time::{GAIN, LAUNCH, number};

/// A parallel region inside a running kernel, in microseconds.
const PARALLEL: f64 = 0.8;
/// A parallel region in each row of a league whose teams share rows, in microseconds: the sums of 65,536 rows of 16 elements.
const ROW_REGION: f64 = 2.5;
/// One operation of a loop's body in one thread that waits for each access, in microseconds.
const THREAD_OPERATION: f64 = 0.025;
/// One operation if all processors work at once, in microseconds: the operations of all threads share the device's
/// memory.
const GRID_OPERATION: f64 = 0.5e-6;
/// How much longer a kernel takes that holds several loops of a league and so cannot start in SPMD mode.
const GENERIC: f64 = 1.3;
/// How much longer a thread of such a kernel waits in a serial loop of its iteration than one of a kernel in SPMD mode: 1.6 to 2.6 in the
/// `teams` forms of atax, bicg, mvt, covar and nbody against the same loops split (`bench/results/h200.json`).
const GENERIC_WAIT: f64 = 1.8;
/// Threads of the one team of `target { parallel for }`.
pub(crate) const TEAM: f64 = 128.0;
/// The most teams that the runtime starts by itself.
pub(crate) const TEAMS: f64 = 3200.0;

/// Assumed iterations of a loop inside a parallel one whose length is not known.
pub(crate) const ASSUMED_INNER: f64 = 64.0;

/// Moving one sector of 32 bytes for one of a warp's threads, in microseconds. 32 of them take the time that the
/// bandwidth of caches and memory allows.
const SECTOR: f64 = 0.1e-6;
/// How many times as long as the whole device one of its multiprocessors takes.
const PROCESSORS: f64 = 132.0;
/// Computing the variable of one loop from the number of an iteration, in microseconds: a division of 64 bits.
const DIVISION: f64 = 2.5e-6;

/// One loop or sequence of serial statements, which is a kernel or becomes one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopWork {
    /// Iterations of its associated loops together.
    pub iterations: f64,
    /// Operations in one iteration.
    pub operations: f64,
    /// Does a single thread execute it: between parallel regions in the original, and in a kernel of its own in the
    /// output?
    pub serial: bool,
    /// Has its body a serial loop of its own?
    pub walks: bool,
    /// How many iterations of loops inside are spread as well once it is a kernel, for each of its own; 1 where none are.
    pub spread: f64,
}

/// How the loops run in the original.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Grid {
    /// One team of so many threads runs them.
    OneTeam(f64),
    /// A league runs them in one kernel.
    League,
    /// A league whose teams have one thread each.
    OneThreadEach,
}

/// The estimate for both versions, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The original.
    pub before: f64,
    /// The output.
    pub after: f64,
}

impl Estimate {
    /// Is the output expected to be 1.05 times as fast?
    #[must_use]
    pub fn pays(&self) -> bool {
        self.before >= GAIN * self.after
    }

    /// The mean of several times. Zero for an empty list.
    #[must_use]
    pub fn mean(all: impl Iterator<Item = Self>) -> Self {
        let (mut sum, mut number) = (Self { before: 0.0, after: 0.0 }, 0.0);
        for Self { before, after } in all {
            sum = Self { before: sum.before + before, after: sum.after + after };
            number += 1.0;
        }
        Self { before: sum.before / f64::max(number, 1.0), after: sum.after / f64::max(number, 1.0) }
    }
}

/// Estimates both versions. `steered`: does the region hold control flow around the loops? Then the original launches
/// once but may run the loops many times, so that its launch is not counted.
#[must_use]
pub fn estimate(loops: &[LoopWork], grid: Grid, steered: bool) -> Estimate {
    let inside = |work: &LoopWork| match grid {
        _ if work.serial => busiest_thread(work, 1.0),
        Grid::OneTeam(threads) => PARALLEL + busiest_thread(work, threads),
        Grid::OneThreadEach => busiest_thread(work, TEAMS).max(all_threads(work)),
        Grid::League => {
            // Fewer iterations than a league has threads are distributed as well as separate kernels do it, if nothing in them waits.
            let factor = if work.iterations < TEAMS * TEAM && !work.walks { 1.0 } else { GENERIC };
            let wait = if work.walks { GENERIC_WAIT } else { 1.0 };
            PARALLEL + (wait * busiest_thread(work, TEAMS * TEAM)).max(factor * all_threads(work))
        }
    };
    let own = |work: &LoopWork| {
        let spread = LoopWork {
            iterations: work.iterations * work.spread,
            operations: work.operations / work.spread.max(1.0),
            ..*work
        };
        LAUNCH + busiest_thread(&spread, TEAMS * TEAM).max(all_threads(work))
    };
    let launch = if steered { 0.0 } else { LAUNCH };
    Estimate { before: launch + loops.iter().map(inside).sum::<f64>(), after: loops.iter().map(own).sum() }
}

/// Estimates both versions of loops inside a loop that the teams of a league share. The host of the output runs that
/// outer loop in order.
#[must_use]
pub fn estimate_in_order(loops: &[LoopWork], iterations: f64) -> Estimate {
    let in_team = |work: &LoopWork| {
        if work.serial { busiest_thread(work, 1.0) } else { PARALLEL + busiest_thread(work, TEAM) }
    };
    let by_team = (iterations / TEAMS).ceil() * loops.iter().map(in_team).sum::<f64>();
    let by_device = iterations * loops.iter().map(all_threads).sum::<f64>();
    let Estimate { after, .. } = estimate(loops, Grid::OneTeam(TEAM), true);
    Estimate { before: LAUNCH + by_team.max(by_device), after: iterations * after }
}

/// What a loop nest does, all iterations together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NestWork {
    /// Iterations that run in parallel.
    pub iterations: f64,
    /// Accesses of memory, by all threads.
    pub accesses: f64,
    /// The accesses, each counted with the sectors that a warp needs for it.
    pub sectors: f64,
    /// Loop variables that are computed from the number of an iteration.
    pub divisions: usize,
}

/// How long a kernel of a league takes for a nest, without its launch, in microseconds.
#[must_use]
pub fn nest_time(work: &NestWork) -> f64 {
    shared_nest_time(work, TEAMS * TEAM, 1.0)
}

/// The same if the threads of one team share it.
#[must_use]
pub fn nest_time_in_team(work: &NestWork) -> f64 {
    PARALLEL + shared_nest_time(work, TEAM, PROCESSORS)
}

/// How long so many threads take, which move data and compute so many times as slowly as all of the device.
fn shared_nest_time(work: &NestWork, threads: f64, slower: f64) -> f64 {
    let each = work.accesses / work.iterations.max(1.0);
    let waiting = (work.iterations / threads).ceil() * each * THREAD_OPERATION;
    let divisions = f64::from(u32::try_from(work.divisions).unwrap_or(u32::MAX));
    waiting.max(slower * (work.sectors * SECTOR).max(work.iterations * divisions * DIVISION))
}

/// Loops that the threads of one team share, one after the other, in each of many rows.
#[derive(Clone, Debug, PartialEq)]
pub struct RowWork {
    /// How many rows there are.
    pub rows: f64,
    /// The iterations of each loop in a row, and the accesses of one of them.
    pub loops: Vec<(f64, f64)>,
    /// The accesses of one row, each counted with the sectors that a warp needs for it.
    pub sectors: f64,
    /// Threads of a team.
    pub threads: f64,
}

/// How long a kernel takes whose teams take rows, without its launch, in microseconds.
#[must_use]
pub fn rows_time(work: &RowWork) -> f64 {
    let each = |(iterations, accesses): &(f64, f64)| {
        ROW_REGION + (iterations / work.threads).ceil() * accesses * THREAD_OPERATION
    };
    let waiting = (work.rows / TEAMS).ceil() * work.loops.iter().map(each).sum::<f64>();
    waiting.max(work.rows * work.sectors * SECTOR)
}

/// How long the busiest of some threads takes that share a loop, in microseconds.
pub(crate) fn busiest_thread(work: &LoopWork, threads: f64) -> f64 {
    (work.iterations / threads).ceil() * work.operations * THREAD_OPERATION
}

/// How long a launch takes for a loop of which only its operations are known, in microseconds.
#[must_use]
pub fn launched(operations: f64, iterations: u64, launch: Launch) -> f64 {
    let thread = number(launch.rounds(iterations)) * operations * THREAD_OPERATION;
    thread.max(number(iterations) * operations * GRID_OPERATION)
}

/// How long the device takes for all iterations of a loop, in microseconds.
pub(crate) fn all_threads(work: &LoopWork) -> f64 {
    work.iterations * work.operations * GRID_OPERATION
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pays(iterations: f64, operations: f64, loops: usize, grid: Grid) -> bool {
        estimate(
            &vec![LoopWork { iterations, operations, serial: false, walks: false, spread: 1.0 }; loops],
            grid,
            false,
        )
        .pays()
    }

    #[test]
    fn one_team_splits_where_it_has_too_few_threads() {
        assert!(pays(256.0, 40_000.0, 2, Grid::OneTeam(TEAM)));
        assert!(!pays(128.0, 40_000.0, 2, Grid::OneTeam(TEAM)));
    }

    #[test]
    fn tiny_loops_are_not_worth_a_launch() {
        assert!(!pays(1024.0, 4.0, 2, Grid::OneTeam(TEAM)));
        assert!(!pays(1e6, 4.0, 4, Grid::League));
    }

    #[test]
    fn a_league_splits_where_the_whole_device_is_busy() {
        assert!(!pays(4096.0, 40_000.0, 2, Grid::League));
        assert!(!pays(400_000.0, 40_000.0, 2, Grid::League));
        assert!(pays(16.0e6, 40_000.0, 2, Grid::League));
    }

    #[test]
    fn a_league_splits_where_its_threads_wait_in_serial_loops() {
        let loops =
            |operations| vec![LoopWork { iterations: 4096.0, operations, serial: false, walks: true, spread: 1.0 }; 2];
        assert!(estimate(&loops(40_000.0), Grid::League, false).pays());
        assert!(!estimate(&loops(400.0), Grid::League, false).pays());
    }

    #[test]
    fn few_teams_with_long_loops_are_slower_than_kernels_in_order() {
        let pays = |shared, iterations| {
            let work = LoopWork { iterations, operations: 10.0, serial: false, walks: false, spread: 1.0 };
            estimate_in_order(&[work, work], shared).pays()
        };
        assert!(pays(3.0, 1e6));
        assert!(!pays(3.0, 1e4));
        assert!(!pays(65_536.0, 1e6));
    }

    #[test]
    fn serial_statements_gain_nothing_and_cost_a_launch() {
        let wide = LoopWork { iterations: 4096.0, operations: 40.0, serial: false, walks: false, spread: 1.0 };
        let serial = LoopWork { iterations: 1.0, operations: 1e4, serial: true, walks: false, spread: 1.0 };
        let [alone, with] = [vec![wide], vec![wide, serial]].map(|work| estimate(&work, Grid::OneTeam(TEAM), false));
        let added = (with.after - alone.after) - (with.before - alone.before);
        assert!((added - LAUNCH).abs() < 1e-6, "{added}");
    }

    #[test]
    fn control_flow_around_the_loops_hides_the_first_launch() {
        let work = [LoopWork { iterations: 4096.0, operations: 40.0, serial: false, walks: false, spread: 1.0 }];
        let [once, often] = [false, true].map(|steered| estimate(&work, Grid::OneTeam(TEAM), steered));
        assert!(once.before > often.before);
        assert_eq!(once.after, often.after);
    }
}
