//! A first cost model: what a split gains against what its launches cost.
//!
//! The figures are medians measured with LLVM 19 on an NVIDIA H200. Without an estimate of the work a split is
//! taken to pay.

/// One synchronous launch of a kernel, in nanoseconds.
const LAUNCH: f64 = 30_000.0;
/// One operation of a loop body run by one team, in nanoseconds: FDTD-2D took 3264 ms for 1.3e9 iterations of 6 operations.
const ONE_TEAM: f64 = 0.4;
/// The same on the full grid: 331 ms.
const FULL_GRID: f64 = 0.04;
/// The same on a full grid whose kernel holds several loops, which cannot run in SPMD mode at once.
const FULL_GRID_GENERIC: f64 = 0.08;

/// What is known of a region's work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Operations in all loops together; `None` where a trip count is not known.
    pub operations: Option<f64>,
    /// How many kernels the output launches for the one of the original.
    pub kernels: usize,
    /// Does one team become a league?
    pub widens: bool,
    /// The iterations that may run at once, where known: below one team's threads nothing is gained.
    pub iterations: Option<f64>,
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

/// Estimates both versions; `None` where the work is not known, and then taken to pay.
#[must_use]
pub fn estimate(work: Work) -> Option<Estimate> {
    let operations = work.operations?;
    let launches = f64::from(u32::try_from(work.kernels).unwrap_or(u32::MAX)) * LAUNCH;
    let one_team_is_enough = work.iterations.is_some_and(|iterations| iterations <= 128.0);
    let per_operation = if work.widens { ONE_TEAM } else { FULL_GRID_GENERIC };
    let after = if work.widens && one_team_is_enough { ONE_TEAM } else { FULL_GRID };
    Some(Estimate {
        before: (LAUNCH + operations * per_operation) / 1_000.0,
        after: (launches + operations * after) / 1_000.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(operations: f64, kernels: usize, widens: bool) -> Work {
        Work { operations: Some(operations), kernels, widens, iterations: None }
    }

    #[test]
    fn large_loops_pay() {
        assert!(estimate(work(1e9, 4, true)).is_some_and(|e| e.pays()));
        assert!(estimate(work(1e9, 2, false)).is_some_and(|e| e.pays()));
    }

    #[test]
    fn tiny_loops_do_not() {
        assert!(estimate(work(1e3, 2, true)).is_some_and(|e| !e.pays()));
        assert!(estimate(work(1e5, 2, false)).is_some_and(|e| !e.pays()));
    }

    #[test]
    fn one_team_is_enough_for_a_hundred_iterations() {
        let work = Work { iterations: Some(100.0), ..work(1e6, 1, true) };
        assert!(estimate(work).is_some_and(|e| !e.pays()));
    }

    #[test]
    fn unknown_trip_counts_give_no_estimate() {
        assert_eq!(estimate(Work { operations: None, kernels: 3, widens: true, iterations: None }), None);
    }
}
