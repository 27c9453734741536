//! The grid of a loop whose teams combine sums, and how long it takes.
//!
//! LLVM's runtime combines the sums of all teams that it starts, one after the other and whether they had work or not: that, and not the
//! loop, takes the time. On an NVIDIA H200 the runtime's own grid takes 40 us for 65,536 products, of which 30 are spent so, and four
//! blocks of 512 threads on each multiprocessor still read memory as fast as any (`bench/results/reductions`).

use super::DeviceProfile;
use super::choice::{Choice, GridClass, KernelShape, STREAM_OPERATIONS, is_better, plain_launch};
use super::launch::Launch;
use super::occupancy::KernelResources;
use super::time::{self, EMPTY_KERNEL, number};

/// How many iterations each thread makes before there are more blocks: a block more costs about as much as waiting for memory so often.
const EACH: u32 = 4;
/// What a kernel that combines anything takes longer than an empty one, in microseconds.
const START: f64 = 2.5;
/// Combining the sums of one more team, in microseconds, up to this many and beyond.
const TEAM: f64 = 0.0235;
const TEAMS: f64 = 1056.0;
const LATER_TEAM: f64 = 0.0055;
/// What a thread of a light loop waits for the memory in each iteration, in microseconds.
const WAITS: f64 = 0.6;

/// For no length the chosen grid may be predicted to take longer than this many times what the plain one does.
const NO_SLOWER: f64 = 1.0;

/// Microseconds that a kernel takes which combines values of all iterations, without its launch.
#[must_use]
pub fn predict(
    device: &DeviceProfile,
    resources: KernelResources,
    shape: &KernelShape,
    iterations: u64,
    launch: Launch,
) -> f64 {
    let teams = number(launch.grid.num_teams);
    let combining = TEAM * teams.min(TEAMS) + LATER_TEAM * (teams - TEAMS).max(0.0);
    let threads = f64::from(launch.grid.thread_limit.max(1));
    let resident = f64::from(device.sm_count) * f64::from(device.threads_per_sm) / threads;
    let waiting = number(launch.rounds(iterations)) * (teams / resident).max(1.0) * WAITS;
    let loop_alone = time::predict(device, resources, shape, iterations, launch);
    START + combining + loop_alone.max(EMPTY_KERNEL + waiting)
}

/// The grid of a loop that does little but sum up. `None` where nothing was measured, or if it is not predicted to be faster than
/// `thread_limit(128)`: for one length, and not slower for the others.
#[must_use]
pub fn choose(
    device: &DeviceProfile,
    resources: KernelResources,
    shape: &KernelShape,
    iterations: Option<u64>,
) -> Option<Choice> {
    let threads = device.reduction_threads_per_block?;
    let is_light = !shape.inner_loop && !shape.heavy && shape.operations <= STREAM_OPERATIONS;
    if !is_light || shape.uncoalesced > 0 {
        return None;
    }
    let blocks = u64::from(device.sm_count) * u64::from((device.threads_per_sm / threads).max(1));
    let choice = Choice { each: EACH, ..Choice::of(GridClass::Reduction, threads, blocks) };
    let times = |iterations: u64| {
        let time = |launch| predict(device, resources, shape, iterations, launch);
        (time(plain_launch(iterations)), time(choice.launch(iterations)))
    };
    is_better(iterations, NO_SLOWER, times).then_some(choice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::GridGeometry;
    use crate::device::launch::{WrittenGrid, llvm_launch};

    const RESOURCES: KernelResources = KernelResources { registers: 32, shared_memory: 0 };
    const MEASURED: &str = include_str!("../../../bench/results/reductions/h200.csv");

    /// The product of two arrays of `double`.
    fn shape() -> KernelShape {
        KernelShape {
            accesses: 2.0,
            lines: 2.0,
            sectors: 8.0,
            uncoalesced: 0,
            inner_loop: false,
            is_length_known: true,
            streams: false,
            loops: 1,
            stores_inside: false,
            stores_side_by_side: false,
            is_grouped: false,
            spread: false,
            walks: true,
            heavy: false,
            operations: 1.0,
        }
    }

    /// Iterations, teams, threads and microseconds; no teams where no clause was written.
    fn rows() -> Vec<(u64, Option<u64>, u32, f64)> {
        let lines = MEASURED.lines().filter(|line| line.starts_with("product,"));
        let cells = lines.map(|line| line.split(',').collect::<Vec<_>>());
        let read = |cells: Vec<&str>| {
            let teams = cells[2].parse().ok();
            (cells[1].parse().unwrap(), teams, cells[3].parse().unwrap(), cells[4].parse().unwrap())
        };
        cells.map(read).collect()
    }

    fn launch(iterations: u64, teams: Option<u64>, threads: u32) -> Launch {
        let written = WrittenGrid { num_teams: teams, thread_limit: teams.map(|_| threads) };
        llvm_launch(iterations, written)
    }

    /// One team on each multiprocessor does not reach the memory's rate, and is not chosen for so many iterations that it matters.
    #[test]
    fn measured_times_are_near_the_predicted_ones() {
        let device = DeviceProfile::named("h200").unwrap();
        assert!(rows().len() > 100);
        for (iterations, teams, threads, time) in rows().into_iter().filter(|row| row.1.is_none_or(|teams| teams > 132))
        {
            let predicted = predict(&device, RESOURCES, &shape(), iterations, launch(iterations, teams, threads));
            let factor = predicted / time;
            assert!((0.5..2.0).contains(&factor), "{iterations} {teams:?} {threads}: {predicted:.1} for {time}");
        }
    }

    /// Nothing that was measured is faster by a fifth of the construct, and the runtime's own grid never.
    #[test]
    fn the_chosen_grid_is_near_the_best() {
        let device = DeviceProfile::named("h200").unwrap();
        let choice = choose(&device, RESOURCES, &shape(), None).unwrap();
        for iterations in rows().into_iter().map(|row| row.0) {
            let GridGeometry { num_teams, thread_limit } = choice.grid(iterations);
            let same = rows().into_iter().filter(|row| row.0 == iterations);
            let own = same.clone().find(|row| row.1.is_none()).unwrap().3;
            let (near, others): (Vec<_>, Vec<_>) =
                same.partition(|row| row.1 >= Some(num_teams) && row.2 == thread_limit);
            // The next larger number of teams that was measured.
            let chosen = near.iter().map(|row| row.3).next().unwrap();
            let best = near.iter().chain(&others).map(|row| row.3).fold(f64::INFINITY, f64::min);
            assert!(30.0 + chosen < 1.2 * (30.0 + best), "{iterations}: {chosen} instead of {best}");
            assert!(chosen < own, "{iterations}: {chosen} instead of {own}");
        }
    }
}
