//! What a rewrite gains against what its launches cost.
//!
//! The model follows the threads. A loop takes as long as its busiest thread, or as long as the device's memory and
//! arithmetic need for all iterations, whichever is more. How many iterations a thread executes one after the other
//! follows from the grid that clang 19 and its runtime choose without clauses; the times were measured on an NVIDIA
//! H200 with the programs of `bench`. Where trip counts are known it comes within a factor of four of their times, and
//! closer to the ratio of both versions; it is meant for the decision whether to split, not as a forecast.

/// One synchronous launch of a kernel, in microseconds; 16 to 55 on different machines.
const LAUNCH: f64 = 30.0;
/// A parallel region inside a running kernel, in microseconds.
const PARALLEL: f64 = 0.8;
/// One operation of a loop's body in one thread that waits for each access, in microseconds.
const THREAD_OPERATION: f64 = 0.025;
/// The same where all processors work at once: all operations of all threads share the device's memory.
const GRID_OPERATION: f64 = 0.5e-6;
/// How much longer a kernel takes that holds several loops of a league and so cannot start in SPMD mode.
const GENERIC: f64 = 1.3;
/// Threads of the one team of `target { parallel for }`.
const TEAM: f64 = 128.0;
/// The most teams that the runtime starts by itself.
const TEAMS: f64 = 3200.0;

/// One loop that is, or becomes, a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopWork {
    /// Iterations of its associated loops together.
    pub iterations: f64,
    /// Operations in one iteration.
    pub operations: f64,
}

/// How the loops run in the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// One team runs them.
    OneTeam,
    /// A league runs them in one kernel.
    League,
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
    /// Is the output expected to be faster?
    #[must_use]
    pub fn pays(&self) -> bool {
        self.after < self.before
    }
}

/// Estimates both versions. `steered`: does the region hold control flow around the loops? It may run them many times for its
/// one launch, which then counts for nothing.
#[must_use]
pub fn estimate(loops: &[LoopWork], grid: Grid, steered: bool) -> Estimate {
    let inside = |work: &LoopWork| match grid {
        Grid::OneTeam => PARALLEL + busiest_thread(work, (work.iterations / TEAM).ceil()),
        Grid::League => {
            let thread = busiest_thread(work, (work.iterations / (TEAMS * TEAM)).ceil());
            PARALLEL + thread.max(GENERIC * all_threads(work))
        }
    };
    let own = |work: &LoopWork| LAUNCH + busiest_thread(work, default_share(work.iterations)).max(all_threads(work));
    let launch = if steered { 0.0 } else { LAUNCH };
    Estimate { before: launch + loops.iter().map(inside).sum::<f64>(), after: loops.iter().map(own).sum() }
}

fn busiest_thread(work: &LoopWork, share: f64) -> f64 {
    share * work.operations * THREAD_OPERATION
}

fn all_threads(work: &LoopWork) -> f64 {
    work.iterations * work.operations * GRID_OPERATION
}

/// How many iterations one thread of a combined construct without clauses executes. Below 409,600 iterations the runtime of
/// clang 19 starts 32 or 64 threads a team, but the compiler hands out chunks of 128 iterations, so that some teams
/// get none and the others several for each thread.
fn default_share(iterations: f64) -> f64 {
    let teams_of = |threads: f64| TEAMS * threads;
    if iterations >= teams_of(TEAM) {
        (iterations / teams_of(TEAM)).ceil()
    } else if iterations >= teams_of(64.0) {
        1.0
    } else if iterations >= teams_of(32.0) {
        2.0
    } else {
        4.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pays(iterations: f64, operations: f64, loops: usize, grid: Grid) -> bool {
        estimate(&vec![LoopWork { iterations, operations }; loops], grid, false).pays()
    }

    #[test]
    fn one_team_splits_from_a_thousand_rows() {
        assert!(pays(4096.0, 40_000.0, 2, Grid::OneTeam));
        assert!(!pays(256.0, 40_000.0, 2, Grid::OneTeam));
    }

    #[test]
    fn tiny_loops_are_not_worth_a_launch() {
        assert!(!pays(1024.0, 4.0, 2, Grid::OneTeam));
        assert!(!pays(1e6, 4.0, 4, Grid::League));
    }

    #[test]
    fn a_league_splits_where_all_threads_get_work_by_default() {
        assert!(!pays(4096.0, 40_000.0, 2, Grid::League));
        assert!(pays(16.0e6, 40_000.0, 2, Grid::League));
    }

    #[test]
    fn control_flow_around_the_loops_hides_the_first_launch() {
        let work = [LoopWork { iterations: 4096.0, operations: 40.0 }];
        let [once, often] = [false, true].map(|steered| estimate(&work, Grid::OneTeam, steered));
        assert!(once.before > often.before);
        assert_eq!(once.after, often.after);
    }

    #[test]
    fn the_default_grid_gives_each_thread_four_iterations_of_a_short_loop() {
        let shares = [64.0, 102_399.0, 102_400.0, 204_800.0, 409_600.0, 409_601.0].map(default_share);
        assert_eq!(shares, [4.0, 4.0, 2.0, 1.0, 1.0, 2.0]);
    }
}
