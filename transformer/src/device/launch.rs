//! The grid that LLVM's offload runtime (17 to 19) chooses by itself, which a geometry clause competes with.
//!
//! Read in its sources and checked against launches recorded on an NVIDIA H200.

use super::GridGeometry;

/// The most blocks that the runtime starts if no clause gives a number.
pub const MOST_BLOCKS: u64 = 3200;
/// The threads of a block of a long loop, and the iterations of a chunk that are compiled into a kernel without
/// `thread_limit`.
pub const DEFAULT_THREADS: u32 = 128;
/// The threads of a block of a short loop.
const FEWEST_THREADS: u32 = 32;

/// The numbers in the clauses of a construct for its grid. `None` if there is no such clause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenGrid {
    /// `num_teams`.
    pub num_teams: Option<u64>,
    /// `thread_limit`.
    pub thread_limit: Option<u32>,
}

/// A launch: its grid, and how many iterations a team takes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks and threads.
    pub grid: GridGeometry,
    /// The iterations that `distribute` hands to a team at once.
    pub chunk: u32,
}

impl Launch {
    /// How many teams get work.
    #[must_use]
    pub fn working_teams(&self, iterations: u64) -> u64 {
        iterations.div_ceil(u64::from(self.chunk.max(1))).min(self.grid.num_teams)
    }

    /// How many iterations the busiest thread makes one after the other.
    #[must_use]
    pub fn rounds(&self, iterations: u64) -> u64 {
        let chunks = iterations.div_ceil(u64::from(self.chunk.max(1))).max(1);
        let in_chunk = self.chunk.div_ceil(self.grid.thread_limit.max(1)).max(1);
        chunks.div_ceil(self.working_teams(iterations).max(1)).saturating_mul(u64::from(in_chunk))
    }
}

/// The launch of a kernel in SPMD mode.
#[must_use]
pub fn llvm_launch(iterations: u64, written: WrittenGrid) -> Launch {
    let most = written.thread_limit.unwrap_or(DEFAULT_THREADS).max(1);
    let chunk = most;
    if let Some(num_teams) = written.num_teams.filter(|teams| *teams > 0) {
        return Launch { grid: GridGeometry { num_teams, thread_limit: most }, chunk };
    }
    let threads = if written.thread_limit.is_some() || iterations >= MOST_BLOCKS * u64::from(most) {
        most
    } else if iterations >= MOST_BLOCKS * u64::from(FEWEST_THREADS) {
        let each = iterations.div_ceil(MOST_BLOCKS).next_power_of_two();
        most.min(u32::try_from(each).unwrap_or(most))
    } else {
        most.min(FEWEST_THREADS)
    };
    let num_teams = iterations.div_ceil(u64::from(threads)).clamp(1, MOST_BLOCKS);
    Launch { grid: GridGeometry { num_teams, thread_limit: threads }, chunk }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Iterations, blocks and threads as launched without clauses on an H200 (`bench/results/geometry`).
    const RECORDED: &[(u64, u64, u32)] = &[
        (16, 1, 32),
        (132, 5, 32),
        (528, 17, 32),
        (1056, 33, 32),
        (2112, 66, 32),
        (4096, 128, 32),
        (4224, 132, 32),
        (8448, 264, 32),
        (16_384, 512, 32),
        (16_896, 528, 32),
        (33_792, 1056, 32),
        (65_536, 2048, 32),
        (67_584, 2112, 32),
        (135_168, 2112, 64),
        (262_144, 2048, 128),
        (270_336, 2112, 128),
        (540_672, 3200, 128),
        (1_048_576, 3200, 128),
        (268_435_456, 3200, 128),
    ];

    fn grid(iterations: u64, num_teams: Option<u64>, thread_limit: Option<u32>) -> (u64, u32) {
        let GridGeometry { num_teams, thread_limit } =
            llvm_launch(iterations, WrittenGrid { num_teams, thread_limit }).grid;
        (num_teams, thread_limit)
    }

    #[test]
    fn launches_are_as_recorded() {
        for (iterations, blocks, threads) in RECORDED {
            assert_eq!(grid(*iterations, None, None), (*blocks, *threads), "{iterations}");
        }
    }

    /// The recorded launches with `thread_limit(128)`.
    #[test]
    fn a_limit_is_the_number_of_threads() {
        let recorded = [(132, 2), (4224, 33), (33_792, 264), (270_336, 2112), (540_672, 3200), (268_435_456, 3200)];
        for (iterations, blocks) in recorded {
            assert_eq!(grid(iterations, None, Some(128)), (blocks, 128), "{iterations}");
        }
        assert_eq!(grid(1 << 28, Some(4224), Some(64)), (4224, 64));
    }

    #[test]
    fn three_quarters_of_the_teams_of_a_short_loop_get_no_work() {
        let short = llvm_launch(4096, WrittenGrid::default());
        assert_eq!((short.grid.num_teams, short.working_teams(4096)), (128, 32));
        let limited = llvm_launch(4096, WrittenGrid { thread_limit: Some(128), ..WrittenGrid::default() });
        assert_eq!((limited.grid.num_teams, limited.working_teams(4096)), (32, 32));
    }

    #[test]
    fn no_iterations_start_one_team() {
        assert_eq!(grid(0, None, None), (1, 32));
        assert_eq!(grid(0, Some(0), Some(0)), (1, 1));
    }
}
