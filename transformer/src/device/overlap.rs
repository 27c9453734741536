//! How long a loop and its copies take one after the other, and in tiles, predicted.
//!
//! One after the other, memory that is not page-locked is copied at the rates of such memory, and the kernel runs in between. In
//! tiles everything is page-locked first and unlocked last; in between the longest of the stages (copies in, kernels, copies back)
//! hides the others but for one tile of each:
//!
//! ```text
//! total = locking + threads + longest + (in + kernel + back - longest) / tiles + tiles * tile_us
//! tiles = sqrt((in + kernel + back - longest) / tile_us)
//! ```
//!
//! Several loops in tiles, one after the other, take the sum of that, with as many tiles each; what is locked is locked once for all.
//!
//! Of loops that were measured on an NVIDIA H200 (`bench/results/pipeline`) the prediction is within a quarter from 64 MiB an array
//! on. Best were there 8 tiles for 64 MiB, 16 to 32 for 256 MiB, 32 to 64 for 1 GiB; half and twice as many cost 5 % at most.

use super::TransferRates;

/// What is copied and computed for each byte of the largest array that moves in tiles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stages {
    /// The loops that are cut into tiles, one after the other.
    pub loops: Vec<LoopStages>,
    /// Bytes that go to the device as a whole, never page-locked.
    pub shared_to_device: f64,
    /// The same that come back.
    pub shared_from_device: f64,
    /// Bytes that are page-locked for the tiles. Where there are none, the memory is taken to be page-locked always.
    pub locked: f64,
    /// In how many pieces.
    pub locked_arrays: u32,
}

/// The same of one loop.
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
/// How much must be gained, since locking takes up to a third longer for memory that was never locked before.
const GAIN: f64 = 1.1;
/// The bytes of an array below which no pipeline gained when it was measured.
const LEAST_MEASURED: u64 = 16 << 20;
/// The largest array that is looked at: what does not pay there does not pay.
const LARGEST: u64 = 16 << 30;
/// An array whose size is not known is not taken to be larger, for the number of tiles.
const USUAL_LARGEST: u64 = 1 << 30;
/// The fewest tiles, and the most: one for each thread that copies; more than 64 gained nothing.
const TILES: (u32, u32) = (4, 64);

impl Stages {
    /// Milliseconds of the copies and the kernel one after the other.
    #[must_use]
    pub fn whole_ms(&self, rates: &TransferRates, bytes: u64) -> f64 {
        let gb = gigabytes(bytes);
        let is_locked = self.locked_arrays == 0;
        let to = if is_locked { rates.to_device_gb_per_s } else { rates.pageable_to_device_gb_per_s };
        let from = if is_locked { rates.from_device_gb_per_s } else { rates.pageable_from_device_gb_per_s };
        let of_loop =
            |it: &LoopStages| ms(gb * it.to_device, to) + ms(gb * it.from_device, from) + gb * it.kernel_ms_per_gb;
        self.loops.iter().map(of_loop).sum::<f64>() + self.shared_ms(rates, gb)
    }

    /// Milliseconds in so many tiles, page-locking included.
    #[must_use]
    pub fn tiled_ms(&self, rates: &TransferRates, bytes: u64, tiles: u32) -> f64 {
        let gb = gigabytes(bytes);
        let tiles = f64::from(tiles.max(1));
        let of_loop = |it: &LoopStages| {
            let (longest, rest) = it.longest_and_rest(rates, gb);
            THREADS_MS + longest + rest / tiles + tiles * rates.tile_us / 1e3
        };
        let locking = f64::from(self.locked_arrays) * rates.pin_us / 1e3
            + gb * self.locked * (rates.pin_ms_per_gb + rates.unpin_ms_per_gb);
        locking + self.loops.iter().map(of_loop).sum::<f64>() + self.shared_ms(rates, gb)
    }

    /// How many tiles of each loop suit an array of so many bytes: a power of two.
    #[must_use]
    pub fn tiles(&self, rates: &TransferRates, bytes: u64) -> u32 {
        let gb = gigabytes(bytes);
        let hidden: f64 = self.loops.iter().map(|it| it.longest_and_rest(rates, gb).1).sum();
        let loops = u32::try_from(self.loops.len()).unwrap_or(u32::MAX).max(1);
        let best = (hidden * 1e3 / (f64::from(loops) * rates.tile_us).max(f64::MIN_POSITIVE)).sqrt();
        let (fewest, most) = TILES;
        let mut tiles = fewest;
        // The nearest power: twice as many are too many from their geometric mean on.
        while tiles < most && best > f64::from(tiles) * std::f64::consts::SQRT_2 {
            tiles *= 2;
        }
        tiles
    }

    /// The same where the text does not tell the size: between where it begins to pay and what is usual.
    #[must_use]
    pub fn usual_tiles(&self, rates: &TransferRates) -> u32 {
        let least = self.pays_from(rates).unwrap_or(LEAST_MEASURED).min(USUAL_LARGEST);
        let mut middle = least;
        while middle < least.saturating_mul(USUAL_LARGEST / middle) {
            middle *= 2;
        }
        self.tiles(rates, middle)
    }

    /// The least bytes of the largest array, a power of two, from which on tiles pay; none where they never do.
    #[must_use]
    pub fn pays_from(&self, rates: &TransferRates) -> Option<u64> {
        let mut bytes = LEAST_MEASURED;
        while bytes <= LARGEST {
            if self.whole_ms(rates, bytes) >= GAIN * self.tiled_ms(rates, bytes, self.tiles(rates, bytes)) {
                return Some(bytes);
            }
            bytes *= 2;
        }
        None
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
}

/// Milliseconds for so many 10^9 bytes.
fn ms(gb: f64, gb_per_s: f64) -> f64 {
    gb / gb_per_s * 1e3
}

#[allow(clippy::cast_precision_loss, reason = "an estimate")]
fn gigabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e9
}

#[cfg(test)]
mod tests;
