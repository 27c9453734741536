//! How much of a kernel a device holds at once.

use super::DeviceProfile;

/// What a kernel needs of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelResources {
    /// 32-bit registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory of a block.
    pub shared_memory: u32,
}

/// The most registers that a thread can have.
const MOST_REGISTERS: u32 = 255;

/// What a compiler reports about a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedKernel {
    /// The registers and shared memory that the compiler gave it.
    pub resources: KernelResources,
    /// Bytes of registers that a thread stores to memory because there are too few registers.
    pub spills: u32,
}

impl CountedKernel {
    /// The resources that it would need without a limit: the registers that it spills are added.
    #[must_use]
    pub fn wanted(self) -> KernelResources {
        let registers = self.resources.registers.saturating_add(self.spills / 4).min(MOST_REGISTERS);
        KernelResources { registers, ..self.resources }
    }
}

/// The largest of `threads`, a half, a quarter of them and so on, down to a warp, that as a literal `thread_limit`
/// costs no registers. Such a limit is a launch bound: the compiler limits the registers so that a whole block fits on
/// an SM.
#[must_use]
pub fn uncapped_threads(device: &DeviceProfile, kernel: KernelResources, threads: u32) -> u32 {
    let is_capped = |threads: u32| device.registers_per_sm / threads.max(1) < kernel.registers;
    let mut threads = threads;
    while threads > device.warp_size && is_capped(threads) {
        threads /= 2;
    }
    threads
}

/// The resource that limits the blocks on an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// The threads of an SM.
    Threads,
    /// Its registers.
    Registers,
    /// Its shared memory.
    SharedMemory,
    /// Its blocks.
    Blocks,
}

impl Limit {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Registers => "registers",
            Self::SharedMemory => "shared memory",
            Self::Blocks => "blocks",
        }
    }
}

/// How many blocks with this many threads an SM holds at once (Lloyd 2018, Figure 7): the threads, registers, shared
/// memory and blocks of an SM limit them. At least 1, since a kernel that is launched runs.
#[must_use]
pub fn resident_blocks(device: &DeviceProfile, kernel: KernelResources, threads_per_block: u32) -> u32 {
    bounded_blocks(device, kernel, threads_per_block).0
}

/// The number of resident blocks, and the resource that runs out first.
#[must_use]
pub fn bounded_blocks(device: &DeviceProfile, kernel: KernelResources, threads_per_block: u32) -> (u32, Limit) {
    let threads = threads_per_block.max(1);
    let by_threads = device.threads_per_sm / threads;
    let by_registers = device.registers_per_sm / kernel.registers.max(1).saturating_mul(threads).max(1);
    let by_shared_memory = device.shared_memory_per_sm.checked_div(kernel.shared_memory).unwrap_or(u32::MAX);
    let bounds = [
        (by_threads, Limit::Threads),
        (by_registers, Limit::Registers),
        (by_shared_memory, Limit::SharedMemory),
        (device.blocks_per_sm, Limit::Blocks),
    ];
    let (blocks, limit) = bounds.into_iter().min().unwrap_or((1, Limit::Blocks));
    (blocks.max(1), limit)
}

/// The share of an SM's threads that are resident, in percent.
#[must_use]
pub fn percent(device: &DeviceProfile, resident_threads: u32) -> f64 {
    100.0 * f64::from(resident_threads) / f64::from(device.threads_per_sm)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(registers: u32, shared_memory: u32, threads: u32) -> u32 {
        let device = DeviceProfile::named("h200")
            .map(|device| resident_blocks(&device, KernelResources { registers, shared_memory }, threads));
        device.unwrap_or_default()
    }

    #[test]
    fn the_scarcest_resource_bounds_the_blocks() {
        assert_eq!(blocks(16, 0, 128), 16, "threads");
        assert_eq!(blocks(255, 0, 128), 2, "registers");
        assert_eq!(blocks(16, 100_000, 128), 2, "shared memory");
        assert_eq!(blocks(16, 0, 1), 32, "blocks");
    }

    #[test]
    fn what_runs_out_first_is_named() {
        let device = DeviceProfile::named("h200").unwrap();
        let limit = |registers, shared_memory, threads| {
            bounded_blocks(&device, KernelResources { registers, shared_memory }, threads).1.name()
        };
        assert_eq!(limit(16, 0, 128), "threads");
        assert_eq!(limit(255, 0, 128), "registers");
        assert_eq!(limit(16, 100_000, 128), "shared memory");
        assert_eq!(limit(16, 0, 1), "blocks");
    }

    #[test]
    fn a_limit_takes_no_registers_away() {
        let device = DeviceProfile::named("h200").unwrap();
        let threads = |registers, spills| {
            let resources = KernelResources { registers, shared_memory: 0 };
            uncapped_threads(&device, CountedKernel { resources, spills }.wanted(), 1024)
        };
        assert_eq!(threads(64, 0), 1024);
        assert_eq!(threads(65, 0), 512);
        assert_eq!(threads(64, 4), 512, "64 registers are the cap, and one more was spilled");
        assert_eq!(threads(255, 4000), 256);
    }

    #[test]
    fn a_kernel_that_is_launched_runs() {
        assert_eq!(blocks(255, 1_000_000, 1024), 1);
        assert_eq!(blocks(0, 0, 0), 32);
    }
}
