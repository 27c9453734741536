//! How long a loop and its copies take one after the other, and in tiles, predicted.
//!
//! One after the other, memory that is not page-locked is copied at the rates of such memory, and the kernel runs in between. In
//! tiles of memory that is page-locked first and unlocked last the longest of the stages (copies in, kernels, copies back) hides the
//! others but for one tile of each:
//!
//! ```text
//! total = locking + threads + longest + (in + kernel + back - longest) / tiles + tiles * tile_us
//! tiles = sqrt((in + kernel + back - longest) / tile_us)
//! ```
//!
//! Where threads pass their tiles through page-locked buffers, the memory of the host is what all copies share, so that copies in and
//! copies back are one stage. All threads copy at the same time, so that of the shorter stage four tiles are not hidden.
//!
//! Several loops in tiles, one after the other, take the sum of that, with as many tiles each; what is locked is locked once for all.
//!
//! Of loops that were measured on NVIDIA H200s (`bench/results/pipeline`) the prediction is within a quarter from 64 MiB an array on, on one
//! machine; on another, pageable memory was copied up to a half more slowly. In memory that was page-locked, best were there 8 tiles for 64 MiB, 16 to 32 for 256 MiB, 32 to 64 for 1 GiB; half and twice as
//! many cost 5 % at most. Through buffers 16 were best up to 256 MiB; 32 and 64 gained 8 % at most for 1 GiB.

use super::TransferRates;

/// What is copied and computed for each byte of the largest array that moves in tiles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stages {
    /// The loops that are cut into tiles, one after the other.
    pub loops: Vec<LoopStages>,
    /// Bytes that go to the device as a whole, never page-locked.
    pub shared_to_device: f64,
    /// Bytes that come back from the device as a whole, never page-locked.
    pub shared_from_device: f64,
    /// How the tiles are copied.
    pub copies: Copies,
}

/// The memory from which the tiles of a pipeline are copied.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Copies {
    /// Memory that is page-locked already.
    #[default]
    Locked,
    /// Memory that is page-locked for the tiles.
    Registered {
        /// Bytes of it.
        bytes: f64,
        /// The number of arrays.
        arrays: u32,
    },
    /// Through a page-locked buffer of each thread.
    Staged,
}

/// What is copied and computed in one loop, for each byte of that array.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoopStages {
    /// Bytes that go to the device in its tiles.
    pub to_device: f64,
    /// Bytes that come back in its tiles.
    pub from_device: f64,
    /// Milliseconds of the kernel for 10^9 bytes.
    pub kernel_ms_per_gb: f64,
}

/// Starting a team of threads on the host, in milliseconds: what pipelines of 4 MiB take beyond their stages.
const THREADS_MS: f64 = 0.2;
/// The predicted gain must be at least this factor, since locking takes up to a third longer for memory that was never
/// locked before.
const GAIN: f64 = 1.1;
/// The bytes of an array below which no pipeline gained when it was measured.
const LEAST_MEASURED: u64 = 16 << 20;
/// The least bytes with buffers: below that, the first pipeline of a program took longer than the loop as it was, since
/// it makes the buffers.
const LEAST_STAGED: u64 = 32 << 20;
/// The largest array that is considered: if tiles do not pay there, they never pay.
const LARGEST: u64 = 16 << 30;
/// The number of tiles is chosen as if an array of unknown size had at most these bytes.
const USUAL_LARGEST: u64 = 1 << 30;
/// The fewest tiles, and the most: one for each thread that copies; more than 64 gained nothing.
const TILES: (u32, u32) = (4, 64);
const STAGED_TILES: (u32, u32) = (16, 64);
/// Tiles of the shorter stage that are not hidden if all threads copy at the same time.
const STAGED_TOGETHER: f64 = 4.0;

impl Stages {
    /// Milliseconds of the copies and the kernel one after the other.
    #[must_use]
    pub fn whole_ms(&self, rates: &TransferRates, bytes: u64) -> f64 {
        let gb = gigabytes(bytes);
        let is_locked = self.copies == Copies::Locked;
        let to = if is_locked { rates.to_device_gb_per_s } else { rates.pageable_to_device_gb_per_s };
        let from = if is_locked { rates.from_device_gb_per_s } else { rates.pageable_from_device_gb_per_s };
        let of_loop =
            |it: &LoopStages| ms(gb * it.to_device, to) + ms(gb * it.from_device, from) + gb * it.kernel_ms_per_gb;
        self.loops.iter().map(of_loop).sum::<f64>() + self.shared_ms(rates, gb)
    }

    /// Milliseconds in this many tiles, page-locking included.
    #[must_use]
    pub fn tiled_ms(&self, rates: &TransferRates, bytes: u64, tiles: u32) -> f64 {
        let gb = gigabytes(bytes);
        let tiles = f64::from(tiles.max(1));
        let of_loop = |it: &LoopStages| {
            let (longest, rest) = self.longest_and_rest(it, rates, gb);
            THREADS_MS + longest + rest / tiles + tiles * self.tile_us(rates) / 1e3
        };
        let locking = match self.copies {
            Copies::Registered { bytes, arrays } => {
                f64::from(arrays) * rates.pin_us / 1e3 + gb * bytes * (rates.pin_ms_per_gb + rates.unpin_ms_per_gb)
            }
            Copies::Locked | Copies::Staged => 0.0,
        };
        locking + self.loops.iter().map(of_loop).sum::<f64>() + self.shared_ms(rates, gb)
    }

    /// How many tiles of each loop suit an array of this many bytes: a power of two.
    #[must_use]
    pub fn tiles(&self, rates: &TransferRates, bytes: u64) -> u32 {
        let gb = gigabytes(bytes);
        let hidden: f64 = self.loops.iter().map(|it| self.longest_and_rest(it, rates, gb).1).sum();
        let loops = u32::try_from(self.loops.len()).unwrap_or(u32::MAX).max(1);
        let best = (hidden * 1e3 / (f64::from(loops) * self.tile_us(rates)).max(f64::MIN_POSITIVE)).sqrt();
        let (fewest, most) = if self.copies == Copies::Staged { STAGED_TILES } else { TILES };
        let mut tiles = fewest;
        // The nearest power of two, by ratio: twice as many tiles are taken only beyond the geometric mean of both.
        while tiles < most && best > f64::from(tiles) * std::f64::consts::SQRT_2 {
            tiles *= 2;
        }
        tiles
    }

    /// How many tiles suit an array of unknown size: one between the size at which tiles begin to pay and the usual
    /// size.
    #[must_use]
    pub fn usual_tiles(&self, rates: &TransferRates) -> u32 {
        let least = self.pays_from(rates).unwrap_or(self.least_measured()).min(USUAL_LARGEST);
        let mut middle = least;
        while middle < least.saturating_mul(USUAL_LARGEST / middle) {
            middle *= 2;
        }
        self.tiles(rates, middle)
    }

    /// The least bytes of the largest array, a power of two, from which on tiles pay. `None` if they never pay.
    #[must_use]
    pub fn pays_from(&self, rates: &TransferRates) -> Option<u64> {
        let mut bytes = self.least_measured();
        while bytes <= LARGEST {
            if self.whole_ms(rates, bytes) >= GAIN * self.tiled_ms(rates, bytes, self.tiles(rates, bytes)) {
                return Some(bytes);
            }
            bytes *= 2;
        }
        None
    }

    fn least_measured(&self) -> u64 {
        if self.copies == Copies::Staged { LEAST_STAGED } else { LEAST_MEASURED }
    }

    fn tile_us(&self, rates: &TransferRates) -> f64 {
        if self.copies == Copies::Staged { rates.staged_tile_us } else { rates.tile_us }
    }

    /// Milliseconds of a loop's longest stage, and of what a pipeline of one tile would add to it.
    fn longest_and_rest(&self, stages: &LoopStages, rates: &TransferRates, gb: f64) -> (f64, f64) {
        match self.copies {
            Copies::Staged => {
                let copies = stages.staged_copies_ms(rates, gb);
                let kernel = gb * stages.kernel_ms_per_gb;
                (copies.max(kernel), STAGED_TOGETHER * copies.min(kernel))
            }
            Copies::Locked | Copies::Registered { .. } => stages.longest_and_rest(rates, gb),
        }
    }

    fn shared_ms(&self, rates: &TransferRates, gb: f64) -> f64 {
        ms(gb * self.shared_to_device, rates.pageable_to_device_gb_per_s)
            + ms(gb * self.shared_from_device, rates.pageable_from_device_gb_per_s)
    }
}

impl LoopStages {
    /// Milliseconds of the longest of all copies in, kernels and copies back of the tiles, and of the others.
    fn longest_and_rest(&self, rates: &TransferRates, gb: f64) -> (f64, f64) {
        let both = self.to_device > 0.0 && self.from_device > 0.0;
        let rate = |alone: f64| if both { rates.both_ways_gb_per_s.min(alone) } else { alone };
        let to = ms(gb * self.to_device, rate(rates.to_device_gb_per_s));
        let from = ms(gb * self.from_device, rate(rates.from_device_gb_per_s));
        let stages = [to, gb * self.kernel_ms_per_gb, from];
        let longest = stages.into_iter().fold(0.0, f64::max);
        (longest, stages.into_iter().sum::<f64>() - longest)
    }

    /// Milliseconds of all copies through buffers: both directions share the memory of the host, but not the bus.
    fn staged_copies_ms(&self, rates: &TransferRates, gb: f64) -> f64 {
        let to = ms(gb * self.to_device, rates.to_device_gb_per_s);
        let from = ms(gb * self.from_device, rates.from_device_gb_per_s);
        ms(gb * (self.to_device + self.from_device), rates.staged_gb_per_s).max(to).max(from)
    }
}

/// Milliseconds for this many 10^9 bytes.
fn ms(gb: f64, gb_per_s: f64) -> f64 {
    gb / gb_per_s * 1e3
}

#[allow(clippy::cast_precision_loss, reason = "an estimate")]
fn gigabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e9
}

#[cfg(test)]
mod tests;
