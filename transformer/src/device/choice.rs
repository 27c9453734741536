//! Which grid a kernel gets on a device.
//!
//! ## References
//!
//! - Lloyd, Chikin, Kedia, Jain, Amaral: Automated GPU Grid Geometry Selection for OpenMP Kernels, 2018, Figure 7.
//! - Chikin, Gobran, Amaral: OpenMP Code Offloading: Splitting GPU Kernels, Pipelining Communication and Computation,
//!   and Selecting Better Grid Geometries, 2018, section 6.
//!
//! If measurements on an H200 contradict the papers, the measurements decide: they are in `bench/results/geometry`, and
//! `tests/geometry.rs` checks what each rule gains and loses by them.

use super::grid::unsaturated_threads;
use super::launch::{DEFAULT_THREADS, Launch, WrittenGrid, llvm_launch};
use super::occupancy::{KernelResources, resident_blocks, uncapped_threads};
use super::time::{gains, predict};
use super::{DeviceProfile, GridGeometry};

/// With at least this many accesses in an iteration, the time to start a block can be neglected.
const LONG_ITERATION: f64 = 256.0;
/// More blocks than these gain nothing. Their product with any number of threads fits an `int`.
const MOST_BLOCKS: u64 = 1 << 16;
/// The most operations for each access in a kernel that is bound by memory.
pub(super) const STREAM_OPERATIONS: f64 = 8.0;
/// Elements of four bytes in a sector of 32.
const SECTOR_ELEMENTS: u64 = 8;
/// A grid that gains for some lengths may be predicted to take this much longer for others.
const LITTLE: f64 = 1.02;

/// A difference of this many microseconds is negligible beside a launch.
const SLACK: f64 = 2.0;
/// The lengths by which a loop of unknown length is judged: five decades.
pub const LENGTHS: [u64; 9] = [256, 1024, 4096, 16_384, 65_536, 262_144, 1 << 20, 1 << 23, 1 << 26];

/// What a kernel does in one iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelShape {
    /// Accesses of shared memory that its thread makes one after the other.
    pub accesses: f64,
    /// Cache lines of 128 bytes that an access of a warp touches, on the average.
    pub lines: f64,
    /// Sectors of 32 bytes that an access of a warp touches, on the average.
    pub sectors: f64,
    /// Uncoalesced accesses, each of which keeps a cache line for its thread.
    pub uncoalesced: u32,
    /// Are the accesses made in a serial loop?
    pub inner_loop: bool,
    /// Is the trip count of that serial loop known?
    pub is_length_known: bool,
    /// Do several loops run in parallel, and does each of their iterations access other elements? Then nothing is used
    /// twice, and the time depends on how many threads access memory at once.
    pub streams: bool,
    /// How many loops run in parallel.
    pub loops: u32,
    /// Is memory written in a serial loop? What is loaded next must wait then, as it may be the same memory.
    pub stores_inside: bool,
    /// Do neighbouring threads store to neighbouring elements in a serial loop? Blocks of few threads then store to the same
    /// sectors again and again, from several SMs.
    pub stores_side_by_side: bool,
    /// Does a parallel loop take several steps at once, so that each thread makes a group of neighbouring iterations?
    pub is_grouped: bool,
    /// Do neighbouring threads access neighbouring elements that change with the serial loop?
    pub spread: bool,
    /// Are the elements different in each iteration of all loops, serial ones too, so that they come from memory?
    pub walks: bool,
    /// Is there a call, or a serial loop without accesses?
    pub heavy: bool,
    /// Arithmetic operations for each access. Infinite if functions are called.
    pub operations: f64,
}

/// The rule that chose a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridClass {
    /// Uncoalesced, and so few iterations that they are spread over the SMs with few threads in each block.
    Short,
    /// Uncoalesced: as many threads as the first-level cache holds lines for.
    Saturated,
    /// A serial loop of coalesced accesses: the device's number of threads, and where iterations are long one thread for
    /// each. (Figure 7 of Lloyd 2018 has no more blocks than are resident; on an H200 that is up to 18 % slower.)
    Serial,
    /// Nothing but a few accesses in each iteration: as many threads as are resident.
    Stream,
    /// A stream that is summed up: few teams, as the sums of all are combined one after the other.
    Reduction,
    /// Each thread walks along a row of which data tell where it begins.
    RowsOfData,
}

impl GridClass {
    /// A few words about the rule.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Short => "few iterations with uncoalesced accesses, spread over the SMs",
            Self::Saturated => "as many threads as the cache holds lines of uncoalesced accesses for",
            Self::Serial => "coalesced accesses in a serial loop",
            Self::Stream => "a stream, as many threads as are resident",
            Self::Reduction => "a sum, few teams as their sums are combined one after the other",
            Self::RowsOfData => "each walks along a row of its own, of which data tell where it is",
        }
    }
}

/// A choice: threads of a block, and the most blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The rule.
    pub class: GridClass,
    /// `thread_limit`.
    pub threads: u32,
    /// The most blocks; fewer if there are too few iterations for them.
    pub most_blocks: u64,
    /// If there are too few iterations for one per thread of the blocks, this many blocks share them: each takes only a
    /// few at once. (A block of 16 threads of which one works is as fast as a block of one.)
    pub sharing_blocks: Option<u64>,
    /// How many iterations each thread makes before there are more blocks.
    pub each: u32,
}

impl Choice {
    /// A choice that treats few iterations like many.
    #[must_use]
    pub fn of(class: GridClass, threads: u32, most_blocks: u64) -> Self {
        Self { class, threads, most_blocks, sharing_blocks: None, each: 1 }
    }

    /// The grid for this many iterations.
    #[must_use]
    pub fn grid(&self, iterations: u64) -> GridGeometry {
        self.launch(iterations).grid
    }

    /// The blocks that share the iterations, if there are few.
    fn sharing(&self, iterations: u64) -> Option<u64> {
        self.sharing_blocks.filter(|blocks| iterations <= blocks.saturating_mul(u64::from(self.threads)))
    }

    /// The choice with fewer threads in more blocks, if `thread_limit` would reduce the registers of a thread.
    fn uncapped(self, device: &DeviceProfile, resources: KernelResources) -> Self {
        let threads = uncapped_threads(device, resources, self.threads);
        let times = u64::from((self.threads / threads.max(1)).max(1));
        let most_blocks = (self.most_blocks * times).min(MOST_BLOCKS.max(self.most_blocks));
        Self { threads, most_blocks, ..self }
    }

    /// The launch for this many iterations.
    #[must_use]
    pub fn launch(&self, iterations: u64) -> Launch {
        let Self { threads, most_blocks, .. } = *self;
        let (num_teams, chunk) = match self.sharing(iterations) {
            Some(blocks) => (blocks, iterations.div_ceil(blocks).max(1)),
            None => {
                let block = u64::from(threads) * u64::from(self.each);
                (iterations.div_ceil(block).clamp(1, most_blocks), u64::from(threads))
            }
        };
        let chunk = u32::try_from(chunk).unwrap_or(threads);
        Launch { grid: GridGeometry { num_teams, thread_limit: threads }, chunk }
    }
}

/// The launch with `thread_limit(128)` as the only clause.
#[must_use]
pub fn plain_launch(iterations: u64) -> Launch {
    llvm_launch(iterations, WrittenGrid { thread_limit: Some(DEFAULT_THREADS), num_teams: None })
}

/// The grid of a kernel whose loop has this many iterations; `iterations` is `None` if the number does not follow from
/// the text. Returns `None` if no rule fits or the grid is not predicted to be faster than `thread_limit(128)`, the
/// launch included. For an unknown length it must be faster for one length, and not slower for the others.
#[must_use]
pub fn choose(
    device: &DeviceProfile,
    resources: KernelResources,
    shape: &KernelShape,
    iterations: Option<u64>,
) -> Option<Choice> {
    let choice = by_rule(device, resources, shape, iterations)?.uncapped(device, resources);
    let times = |iterations: u64| {
        let time = |launch| predict(device, resources, shape, iterations, launch);
        (time(plain_launch(iterations)), time(choice.launch(iterations)))
    };
    let pays = match iterations {
        // According to the model, no grid reads memory faster than another. On devices that were measured, a few small
        // blocks do.
        Some(iterations) if device.memory_blocks_per_sm.is_some() && is_from_memory(shape) => {
            let (before, after) = times(iterations);
            is_as_good(before, after, LITTLE)
        }
        // Nor does it know that the runtime's 3,200 blocks make several groups each, one after the other (`bench/results/coarsen`).
        None if shape.is_grouped && shape.loops >= 2 => LENGTHS.into_iter().all(|iterations| {
            let (before, after) = times(iterations);
            is_as_good(before, after, LITTLE)
        }),
        _ => is_better(iterations, LITTLE, times),
    };
    pays.then_some(choice)
}

/// Is a grid faster than another one, by their times with some number of iterations? Where that is not known: for one length, and for no other
/// one slower by more than `little`.
pub(super) fn is_better(iterations: Option<u64>, little: f64, times: impl Fn(u64) -> (f64, f64)) -> bool {
    let gains = |iterations: u64| {
        let (before, after) = times(iterations);
        gains(before, after)
    };
    let holds = |iterations: u64| {
        let (before, after) = times(iterations);
        is_as_good(before, after, little)
    };
    match iterations {
        Some(iterations) => gains(iterations),
        None => LENGTHS.into_iter().any(gains) && LENGTHS.into_iter().all(holds),
    }
}

fn is_as_good(before: f64, after: f64, little: f64) -> bool {
    after <= before * little + SLACK
}

fn by_rule(
    device: &DeviceProfile,
    resources: KernelResources,
    shape: &KernelShape,
    iterations: Option<u64>,
) -> Option<Choice> {
    if !shape.inner_loop {
        return stream(device, shape, iterations);
    }
    if shape.uncoalesced == 0 {
        return serial(device, resources, shape, iterations);
    }
    let held = unsaturated_threads(device, shape.uncoalesced).unwrap_or(device.threads_per_sm);
    iterations
        .and_then(|iterations| short(device, shape, iterations, held))
        .or_else(|| saturated(device, resources, shape, held, iterations.is_none()))
}

fn on_all(device: &DeviceProfile, blocks_per_sm: u32) -> u64 {
    u64::from(blocks_per_sm.max(1)) * u64::from(device.sm_count)
}

/// As many threads as are resident. With three loops or more, the divisions that compute their variables take the time,
/// not the memory.
fn stream(device: &DeviceProfile, shape: &KernelShape, iterations: Option<u64>) -> Option<Choice> {
    let most_blocks = on_all(device, device.threads_per_sm / DEFAULT_THREADS);
    let is_long = iterations.is_none_or(|iterations| iterations >= 2 * most_blocks * u64::from(DEFAULT_THREADS));
    let is_stream = shape.uncoalesced == 0 && shape.operations <= STREAM_OPERATIONS && shape.loops <= 2;
    (is_stream && is_long).then(|| Choice::of(GridClass::Stream, DEFAULT_THREADS, most_blocks))
}

/// A small block gains nothing if loads wait for stores, or if all threads of a warp read the same element. Then
/// several loops still gain from a thread for each iteration: the runtime's 3,200 blocks come in waves, the last of
/// which leaves SMs idle.
fn serial(
    device: &DeviceProfile,
    resources: KernelResources,
    shape: &KernelShape,
    iterations: Option<u64>,
) -> Option<Choice> {
    let all = on_all(device, device.threads_per_sm);
    if shape.streams && iterations.is_none_or(|iterations| iterations >= all) {
        return None;
    }
    if shape.stores_inside || (shape.loops >= 2 && !shape.spread) {
        return (shape.loops >= 2).then(|| Choice::of(GridClass::Serial, DEFAULT_THREADS, MOST_BLOCKS));
    }
    // Groups load less often, and the cache serves several warps of a block as one (`bench/results/coarsen`).
    let threads = if shape.is_grouped { DEFAULT_THREADS } else { device.preferred_threads_per_block };
    let is_short = shape.is_length_known && shape.accesses < LONG_ITERATION;
    let most_blocks = match device.memory_blocks_per_sm.filter(|_| is_from_memory(shape)) {
        Some(blocks) => on_all(device, blocks),
        None if is_short => on_all(device, resident_blocks(device, resources, threads)),
        None => MOST_BLOCKS,
    };
    Some(Choice::of(GridClass::Serial, threads, most_blocks))
}

/// Does one loop read each element once, and do little else?
fn is_from_memory(shape: &KernelShape) -> bool {
    shape.inner_loop && shape.uncoalesced == 0 && shape.walks && shape.loops == 1 && !shape.heavy
}

/// As many threads as the first-level cache holds lines for, in blocks of a warp, or smaller ones if the iterations of
/// a single loop do nothing but walk along their own lines. If the number of iterations is unknown, few iterations are
/// shared as in `short`. If an iteration does much else, one access does not fill the cache.
fn saturated(
    device: &DeviceProfile,
    resources: KernelResources,
    shape: &KernelShape,
    held: u32,
    may_be_few: bool,
) -> Option<Choice> {
    if shape.heavy && shape.uncoalesced == 1 {
        return None;
    }
    let is_light = shape.loops == 1 && !shape.heavy;
    let own = device.uncoalesced_threads_per_block.filter(|_| is_light);
    let threads = own.unwrap_or(device.warp_size);
    let resident = resident_blocks(device, resources, threads);
    let blocks = held / threads;
    // If the cache holds the lines of all resident threads, more blocks do no harm: they wait until others end.
    let most_blocks = if blocks >= resident { MOST_BLOCKS } else { on_all(device, blocks) };
    let few = on_all(device, device.short_loop_blocks_per_sm.min(device.blocks_per_sm).min(blocks));
    let shares = may_be_few && !shape.stores_side_by_side;
    let sharing_blocks = own.filter(|_| shares).map(|_| few.min(most_blocks));
    Some(Choice { sharing_blocks, ..Choice::of(GridClass::Saturated, threads, most_blocks) })
}

/// The fewest threads, a power of two below a warp, that do not make too many blocks. If neighbouring threads store
/// side by side, at least as many threads as a sector has elements.
fn short(device: &DeviceProfile, shape: &KernelShape, iterations: u64, held: u32) -> Option<Choice> {
    let sms = u64::from(device.sm_count);
    let most = sms * u64::from(device.short_loop_blocks_per_sm.min(device.blocks_per_sm));
    let least = if shape.stores_side_by_side { SECTOR_ELEMENTS } else { 1 };
    let each = iterations.div_ceil(most).max(least).checked_next_power_of_two()?;
    let threads = u32::try_from(each).ok().filter(|threads| *threads < device.warp_size)?;
    let blocks = iterations.div_ceil(each).max(1);
    let resident = blocks.div_ceil(sms) * each;
    (resident <= u64::from(held)).then(|| Choice::of(GridClass::Short, threads, blocks))
}
