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

/// How many blocks of so many threads an SM holds at once (Lloyd 2018, Figure 7): the threads, registers, shared memory
/// and blocks of an SM bound it. At least 1, since a kernel that is launched runs.
#[must_use]
pub fn resident_blocks(device: &DeviceProfile, kernel: KernelResources, threads_per_block: u32) -> u32 {
    let threads = threads_per_block.max(1);
    let by_threads = device.threads_per_sm / threads;
    let by_registers = device.registers_per_sm / kernel.registers.max(1).saturating_mul(threads).max(1);
    let by_shared_memory = device.shared_memory_per_sm.checked_div(kernel.shared_memory).unwrap_or(u32::MAX);
    by_threads.min(by_registers).min(by_shared_memory).min(device.blocks_per_sm).max(1)
}

/// The share of an SM's threads that so many resident threads are, in percent.
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
    fn a_kernel_that_is_launched_runs() {
        assert_eq!(blocks(255, 1_000_000, 1024), 1);
        assert_eq!(blocks(0, 0, 0), 32);
    }
}
