//! How long a kernel takes in a grid, predicted.
//!
//! The model follows one multiprocessor. Each of its threads makes the accesses of its iterations one after the other; each
//! takes as long as a thread waits for it, and as long as the first-level cache needs for the requests of all resident
//! warps; both overlap in part, so that the root of the sum of their squares comes nearest. The kernel takes no less than
//! its sectors need at the rate of the device's memory. The constants were measured on an NVIDIA H200
//! (`bench/results/geometry`): there the prediction is within a factor of two of the measured time in 54 % of 2141 grids,
//! most of them deliberately bad, and it is used for the ratio of two grids only.

use super::choice::KernelShape;
use super::grid::bytes_held;
use super::launch::Launch;
use super::occupancy::{KernelResources, resident_blocks};
use super::{DeviceProfile, GridGeometry};

/// One coalesced access in a serial loop, in nanoseconds, in a kernel compiled for blocks of one warp: without a barrier to wait
/// at, ptxas lets more of them be under way at once.
const ONE_WARP_ACCESS: f64 = 17.0;
/// One coalesced access in a serial loop, in nanoseconds, in a kernel compiled for larger blocks.
const ACCESS: f64 = 52.0;
/// One cache line of a request in the first-level cache, in nanoseconds.
const LINE: f64 = 0.51;
/// How much longer everything takes if lines are evicted before they are used up.
const EVICTED: f64 = 4.5;
/// The part of the memory's peak rate that kernels reach.
const REACHED: f64 = 0.85;
/// How much more a serial loop reads than comes from memory: neighbouring threads and iterations share sectors.
const CACHED: f64 = 8.0;
/// How much longer streams take in a grid of more blocks than are resident at once: 1.08 to 1.15 times in single kernels on an H200 and an
/// H100, 1.05 times in TeaLeaf, CloverLeaf and BabelStream, whose streams are of `double` and of 15 million elements and more.
const MANY_BLOCKS: f64 = 1.1;
/// The most accesses of such a stream: kernels of CloverLeaf with 8 accesses and more take as long in either grid, within 1.5 %.
const FEW_ACCESSES: f64 = 6.0;
/// Starting a block, in nanoseconds on the whole device, while others run.
const BLOCK: f64 = 0.6;
/// An empty kernel, in nanoseconds.
const KERNEL: f64 = 4000.0;

/// An empty kernel, in microseconds.
pub const EMPTY_KERNEL: f64 = KERNEL / 1e3;
/// One synchronous launch of a kernel, in microseconds; 16 to 55 on different machines.
pub const LAUNCH: f64 = 30.0;
/// A construct must be predicted to be this many times as fast for an edit, its launch included. A smaller gain would
/// not show.
pub const GAIN: f64 = 1.05;

/// Is it worth an edit if a kernel takes this many microseconds less?
#[must_use]
pub fn gains(before: f64, after: f64) -> bool {
    LAUNCH + before >= GAIN * (LAUNCH + after)
}

/// Microseconds that it takes to move this many bytes between memory and all processors.
#[must_use]
pub fn streamed(device: &DeviceProfile, bytes: f64) -> f64 {
    bytes / (device.memory_gb_per_s * REACHED) / 1e3
}

/// Microseconds that a kernel with this many iterations takes in a grid, without its launch.
#[must_use]
pub fn predict(
    device: &DeviceProfile,
    resources: KernelResources,
    shape: &KernelShape,
    iterations: u64,
    launch: Launch,
) -> f64 {
    let GridGeometry { num_teams, thread_limit: threads } = launch.grid;
    let sms = u64::from(device.sm_count);
    let chunks = iterations.div_ceil(u64::from(launch.chunk.max(1))).max(1);
    let working = chunks.min(num_teams).max(1);
    let resident = u64::from(resident_blocks(device, resources, threads)).min(working.div_ceil(sms));
    // If a team takes fewer iterations at once than it has threads, the other threads only wait.
    let busy = threads.min(launch.chunk).max(1);
    // The number of threads that clang compiles the kernel for: `thread_limit`, if there is one.
    let compiled = threads.max(launch.chunk);
    let wave = |blocks: u64| step(device, shape, (busy, compiled), number(blocks) * f64::from(busy));
    // If there are more teams than are resident, and each takes several chunks, they run in waves, of which the last
    // leaves SMs idle.
    let (waves, rest) = (working / (resident * sms), working % (resident * sms));
    let last = if rest > 0 { wave(rest.div_ceil(sms)) } else { 0.0 };
    let rounds = number(launch.rounds(iterations));
    let waiting = rounds * shape.accesses * (number(waves) * wave(resident) + last);
    let bytes = number(iterations) * shape.accesses * shape.sectors;
    // Data that are read once and are larger than the cache come from memory.
    let comes_from_memory = !shape.inner_loop || (shape.walks && bytes > number(device.l2_bytes));
    let rate = device.memory_gb_per_s * REACHED * if comes_from_memory { 1.0 } else { CACHED };
    let mut moving = bytes / rate;
    let is_stream = !shape.inner_loop && shape.accesses <= FEW_ACCESSES;
    if is_stream && num_teams > sms * u64::from(resident_blocks(device, resources, threads)) {
        moving *= MANY_BLOCKS;
    }
    (waiting.max(moving).max(number(num_teams) * BLOCK) + KERNEL) / 1e3
}

/// Nanoseconds of one access of each thread, with this many threads on a multiprocessor. `threads`: those of a block
/// that work, and those that the kernel is compiled for.
fn step(device: &DeviceProfile, shape: &KernelShape, threads: (u32, u32), resident_threads: f64) -> f64 {
    let lanes = f64::from(threads.0.min(device.warp_size));
    let warp = f64::from(device.warp_size);
    let lines = (shape.lines * lanes / warp).max(1.0);
    let wait = if threads.1 <= device.warp_size || shape.uncoalesced > 0 { ONE_WARP_ACCESS } else { ACCESS };
    let requests = resident_threads / lanes;
    let time = (wait + lines * LINE).hypot(requests * lines * LINE);
    time * evicted(device, shape, resident_threads)
}

/// By how much evicted lines slow a kernel down.
fn evicted(device: &DeviceProfile, shape: &KernelShape, resident_threads: f64) -> f64 {
    let Some(capacity) = device.uncoalesced_capacity.filter(|_| shape.uncoalesced > 0) else { return 1.0 };
    let held = resident_threads * f64::from(bytes_held(shape.uncoalesced));
    1.0 + (EVICTED - 1.0) * (held / f64::from(capacity) - 1.0).clamp(0.0, 1.0)
}

#[expect(clippy::cast_precision_loss, reason = "counts in an estimate")]
pub(crate) fn number(count: u64) -> f64 {
    count as f64
}
