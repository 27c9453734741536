//! How far the serial loop of a kernel is unrolled.
//!
//! A thread of a kernel waits for each element that it loads, unless several loads are under way. clang 19 unrolls such a loop
//! four times by itself. `bench/unroll` measured more, with the same bits in all results; `bench/results/unroll` has the tables.

use super::DeviceProfile;

/// How often a loop must run at least, in units of the iterations that become one.
const LEAST_ROUNDS: u64 = 2;
/// Iterations that become one where a thread loads several elements of its row at once: the most that gained without more registers.
const WIDE: u32 = 32;

/// What one iteration of a serial loop loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loads {
    /// One element of a row that the thread has for itself.
    OfRow,
    /// One element beside those of the neighbouring threads.
    OfColumn,
    /// One element of its row, and one that all threads of a warp share.
    OfRowAndShared,
    /// One element beside those of the neighbouring threads, and one that all threads of a warp share.
    OfColumnAndShared,
    /// One element of each of two rows that the thread has for itself, and perhaps one that all threads of a warp share.
    OfTwoRows,
    /// One element in each iteration of an inner loop of unknown length. The next iteration of the outer loop loads the
    /// neighbouring elements.
    InLoopInside,
}

/// How many iterations of a serial loop of known length become one, or of any loop where nothing is known of its length and nobody asks. `None`
/// if it was not measured for the device, or if the loop is too short.
#[must_use]
pub fn unrolled(device: &DeviceProfile, loads: Loads, trips: Option<u64>) -> Option<u32> {
    let factor = match loads {
        Loads::OfRow => device.unrolled_rows,
        Loads::OfRowAndShared | Loads::OfColumnAndShared => device.unrolled_products,
        Loads::InLoopInside => device.unrolled_around,
        Loads::OfColumn if trips.is_some() => device.unrolled_rows,
        Loads::OfColumn | Loads::OfTwoRows => None,
    }?;
    trips.is_none_or(|trips| trips >= LEAST_ROUNDS * u64::from(factor)).then_some(factor)
}

/// How many iterations of a serial loop become one where the kernel asks first how long the loop is, and how long it must be. Shorter
/// loops then run as before, but with the registers of the unrolled ones: where so many iterations run beside each other that these tell (in
/// nests that are `collapsed`), and where each needs two, fewer become one.
#[must_use]
pub fn unrolled_where_long(device: &DeviceProfile, loads: Loads, collapsed: bool) -> Option<(u32, u64)> {
    let factor = match loads {
        Loads::OfRow | Loads::OfColumn => device.unrolled_rows,
        Loads::OfColumnAndShared if !collapsed => device.unrolled_products.map(|factor| 2 * factor),
        Loads::OfRowAndShared | Loads::OfColumnAndShared => device.unrolled_products,
        Loads::OfTwoRows | Loads::InLoopInside => None,
    }?;
    Some((factor, LEAST_ROUNDS * u64::from(factor)))
}

/// How many iterations become one where each thread loads 16 bytes of its rows at a time, of elements of so many bytes, and how long the loop
/// must be. One round is enough, as nothing of these is left over.
#[must_use]
pub fn unrolled_wide(device: &DeviceProfile, loads: Loads, bytes: u32) -> Option<(u32, u64)> {
    let gains = match (loads, bytes) {
        (Loads::OfRow | Loads::OfRowAndShared, 4 | 8) | (Loads::OfTwoRows, 4) => device.unrolled_rows.is_some(),
        _ => false,
    };
    gains.then_some((WIDE, u64::from(WIDE)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_of_unknown_length_are_unrolled_and_short_ones_are_not() {
        let device = DeviceProfile::named("h200").unwrap();
        assert_eq!(unrolled(&device, Loads::OfRow, None), Some(64));
        assert_eq!(unrolled(&device, Loads::OfRow, Some(128)), Some(64));
        assert_eq!(unrolled(&device, Loads::OfRow, Some(127)), None);
        assert_eq!(unrolled(&device, Loads::OfColumn, Some(128)), Some(64));
        assert_eq!(unrolled(&device, Loads::OfColumn, None), None);
        assert_eq!(unrolled(&device, Loads::OfRowAndShared, Some(32)), Some(16));
        assert_eq!(unrolled(&device, Loads::OfRowAndShared, Some(31)), None);
        assert_eq!(unrolled(&device, Loads::InLoopInside, None), Some(8));
        assert_eq!(unrolled(&device, Loads::InLoopInside, Some(15)), None);
    }

    #[test]
    fn kernels_that_ask_unroll_further() {
        let device = DeviceProfile::named("h200").unwrap();
        assert_eq!(unrolled_where_long(&device, Loads::OfColumn, false), Some((64, 128)));
        assert_eq!(unrolled_where_long(&device, Loads::OfColumnAndShared, false), Some((32, 64)));
        assert_eq!(unrolled_where_long(&device, Loads::OfColumnAndShared, true), Some((16, 32)));
        assert_eq!(unrolled_where_long(&device, Loads::OfTwoRows, false), None);
        assert_eq!(unrolled_wide(&device, Loads::OfTwoRows, 4), Some((32, 32)));
        assert_eq!(unrolled_wide(&device, Loads::OfRow, 8), Some((32, 32)));
        assert_eq!(unrolled_wide(&device, Loads::OfTwoRows, 8), None);
        assert_eq!(unrolled_wide(&device, Loads::OfRow, 2), None);
    }

    #[test]
    fn where_nobody_measured_it_nothing_is_unrolled() {
        let device = DeviceProfile::named("a100").unwrap();
        assert_eq!(unrolled(&device, Loads::OfRow, None), None);
    }
}
