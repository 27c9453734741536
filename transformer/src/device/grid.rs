//! Grids by the published heuristics.
//!
//! ## References
//!
//! - Lloyd, Chikin, Kedia, Jain, Amaral: Automated GPU Grid Geometry Selection for OpenMP Kernels, 2018, Figure 7.
//! - Chikin, Gobran, Amaral: OpenMP Code Offloading: Splitting GPU Kernels, Pipelining Communication and Computation,
//!   and Selecting Better Grid Geometries, 2018, section 6 and Table 1.

use super::DeviceProfile;
use super::occupancy::{KernelResources, resident_blocks};

/// Bytes of the cache line that an uncoalesced access keeps.
const LINE: u32 = 128;

/// A grid: teams, which are blocks, and the threads of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridGeometry {
    /// `num_teams`.
    pub num_teams: u64,
    /// `thread_limit`.
    pub thread_limit: u32,
}

/// Which of the three classes a kernel is in (Lloyd 2018, section IV).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopClass {
    /// No more iterations than SMs: a thread for each block.
    Short,
    /// The device holds all blocks at once.
    Ideal,
    /// More blocks than the device holds at once: as many as it holds.
    Long,
}

/// The final heuristic of Lloyd 2018, exactly as Figure 7 has it: the number of blocks of an ideal loop is rounded down.
/// (Its text, section IV, rounds up; rows S-16 and S-17 of Table I show that the figure is what was run.)
///
/// `parallelism`: the iterations of the kernel's loop. `threads_per_block`: `ThreadsPerBlock` of the figure, which its
/// authors chose anew for each benchmark.
#[must_use]
pub fn final_heuristic(
    device: &DeviceProfile,
    kernel: KernelResources,
    parallelism: u64,
    threads_per_block: u32,
) -> (GridGeometry, LoopClass) {
    if parallelism <= u64::from(device.sm_count) {
        return (GridGeometry { num_teams: parallelism.max(1), thread_limit: 1 }, LoopClass::Short);
    }
    let threads = threads_per_block.clamp(1, device.threads_per_block_limit);
    let most = u64::from(resident_blocks(device, kernel, threads)) * u64::from(device.sm_count);
    let blocks = parallelism / u64::from(threads);
    let (num_teams, class) = if blocks > most { (most, LoopClass::Long) } else { (blocks.max(1), LoopClass::Ideal) };
    (GridGeometry { num_teams, thread_limit: threads }, class)
}

/// How many threads of an SM may run at once before the cache lines of their uncoalesced accesses evict each other:
/// threads x (accesses + 1) x 128 bytes are held to the device's capacity. Each access keeps a line until the thread
/// has walked through it, and one more is on its way. (Chikin 2018, section 6, does not count that further line; with
/// it one capacity fits both published and measured tables, see the tests.) The result is a whole number of warps, at
/// least one. `None` if no capacity is known or nothing is uncoalesced.
#[must_use]
pub fn unsaturated_threads(device: &DeviceProfile, uncoalesced_accesses: u32) -> Option<u32> {
    let capacity = device.uncoalesced_capacity.filter(|_| uncoalesced_accesses > 0)?;
    let threads = capacity.checked_div(bytes_held(uncoalesced_accesses))?.min(device.threads_per_sm);
    Some((threads / device.warp_size * device.warp_size).max(device.warp_size))
}

/// The bytes of the cache lines that one thread keeps for its uncoalesced accesses, with the one that is on its way.
pub(super) fn bytes_held(uncoalesced_accesses: u32) -> u32 {
    uncoalesced_accesses.saturating_add(1).saturating_mul(LINE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::occupancy::percent;

    fn device(name: &str) -> DeviceProfile {
        DeviceProfile::named(name).unwrap_or_else(|| panic!("{name}"))
    }

    /// Lloyd 2018, Table I: the benchmark, the blocks of 128 threads that LLVM chose, and the columns of the final
    /// heuristic. The table gives neither trip counts nor registers. LLVM's blocks bound the trip count
    /// to `(128 (blocks - 1), 128 blocks]`; registers and the threads of a block are fitted (see the tests).
    const TABLE_I: &[(&str, u64, u32, u64)] = &[
        ("S-1", 1, 1, 10),
        ("S-2", 1, 1, 10),
        ("S-3", 4, 64, 8),
        ("S-4", 4, 64, 8),
        ("P-5", 4, 64, 8),
        ("P-6", 8, 64, 16),
        ("P-7", 8, 64, 16),
        ("P-8", 8, 64, 16),
        ("P-9", 8, 64, 16),
        ("P-10", 16, 64, 32),
        ("P-11", 16, 32, 64),
        ("S-12", 24, 64, 48),
        ("P-13", 64, 64, 128),
        ("P-14", 64, 64, 128),
        ("P-15", 64, 96, 256),
        ("S-16", 79, 64, 156),
        ("S-17", 79, 64, 156),
        ("S-18", 256, 64, 448),
        ("S-19", 1024, 64, 448),
        ("P-20", 8192, 64, 448),
        ("S-21", 10_157, 64, 448),
        ("P-22", 32_768, 64, 448),
        ("S-23", 125_986, 64, 448),
    ];

    /// The rows that Figure 7 gives for no trip count within LLVM's bounds: at most 8192 iterations make 85 blocks of
    /// 96.
    const AGAINST_THE_FIGURE: &[&str] = &["P-15"];

    /// 448 blocks are 16 on each of 28 SMs. With 64 threads a block, 61 to 64 registers a thread lead to this bound;
    /// one value for all long kernels is a fit, not a test.
    const FITTED: KernelResources = KernelResources { registers: 64, shared_memory: 0 };

    fn some_trip_count_gives(llvm_blocks: u64, threads: u32, blocks: u64) -> Option<LoopClass> {
        let titan = device("titan-x-pascal");
        let trip_counts = (128 * (llvm_blocks - 1) + 1)..=(128 * llvm_blocks);
        let mut grids = trip_counts.map(|trip_count| final_heuristic(&titan, FITTED, trip_count, threads));
        let wanted = GridGeometry { num_teams: blocks, thread_limit: threads };
        grids.find(|(grid, _)| *grid == wanted).map(|(_, class)| class)
    }

    #[test]
    fn table_one_follows_figure_seven() {
        for (name, llvm_blocks, threads, blocks) in TABLE_I {
            let class = some_trip_count_gives(*llvm_blocks, *threads, *blocks);
            assert_eq!(class.is_none(), AGAINST_THE_FIGURE.contains(name), "{name}: {class:?}");
        }
    }

    /// The class of each row follows from the trip count alone, without a fit.
    #[test]
    fn the_classes_of_table_one() {
        for (name, llvm_blocks, threads, blocks) in TABLE_I {
            let Some(class) = some_trip_count_gives(*llvm_blocks, *threads, *blocks) else { continue };
            let expected = match llvm_blocks {
                1 => LoopClass::Short,
                ..=79 => LoopClass::Ideal,
                _ => LoopClass::Long,
            };
            assert_eq!(class, expected, "{name}");
        }
    }

    /// The text's rounding up cannot give 156 blocks where LLVM has 79 of 128 threads.
    #[test]
    fn rounding_up_contradicts_the_table() {
        let mut trip_counts = (128 * 78 + 1)..=(128 * 79_u64);
        assert!(trip_counts.all(|trip_count| trip_count.div_ceil(64) != 156));
    }

    #[test]
    fn no_iterations_still_make_a_grid() {
        let (grid, _) = final_heuristic(&device("h200"), FITTED, 0, 128);
        assert_eq!(grid, GridGeometry { num_teams: 1, thread_limit: 1 });
        let (grid, _) = final_heuristic(&device("l40s"), FITTED, 143, 1024);
        assert_eq!(grid, GridGeometry { num_teams: 1, thread_limit: 1024 });
    }

    /// Chikin 2018, Table 1: optimal occupancy in percent for 1 to 10 uncoalesced accesses on a Titan X. With one capacity
    /// all ten are met within a factor of 1.6, seven of them within a third.
    #[test]
    fn saturation_comes_near_table_one() {
        const OPTIMAL: [f64; 10] = [25.0, 12.5, 6.3, 6.3, 6.3, 6.3, 6.3, 4.0, 4.0, 3.1];
        let titan = device("titan-x-pascal");
        let mut near = 0;
        for (accesses, optimal) in (1..).zip(OPTIMAL) {
            let chosen = unsaturated_threads(&titan, accesses).map_or(0.0, |threads| percent(&titan, threads));
            let factor = (chosen / optimal).max(optimal / chosen);
            assert!(factor < 1.6, "{accesses}: {chosen} for {optimal}");
            near += usize::from(factor < 1.34);
        }
        assert_eq!(near, 7);
    }

    /// Threads of an SM that were fastest on an H200, where the data comes from memory and from the second-level cache
    /// (`bench/results/geometry/h200-variable.csv`, programs `rows_of_k` and `matrix_sums`). What a choice costs by these
    /// measurements is in `tests/geometry.rs`.
    #[test]
    fn the_h200_holds_256_kib() {
        const ROWS: [u32; 10] = [1024, 512, 512, 384, 384, 320, 320, 256, 256, 192];
        const MATRICES: [u32; 10] = [1024, 640, 512, 320, 320, 256, 256, 192, 192, 192];
        let h200 = device("h200");
        for ((accesses, rows), matrices) in (1..).zip(ROWS).zip(MATRICES) {
            let chosen = f64::from(unsaturated_threads(&h200, accesses).unwrap_or(0));
            let (least, most) = (f64::from(rows.min(matrices)), f64::from(rows.max(matrices)));
            assert!(chosen >= 0.8 * least && chosen <= 1.2 * most, "{accesses}: {chosen} for {least} to {most}");
        }
        assert_eq!(unsaturated_threads(&h200, 0), None);
        assert_eq!(unsaturated_threads(&device("a100"), 1), None);
    }
}
