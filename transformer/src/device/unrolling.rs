//! How far the serial loop of a kernel is unrolled.
//!
//! A thread of a kernel waits for each element that it loads, unless several loads are under way. clang 19 unrolls such a loop
//! four times by itself. `bench/unroll` measured more, with the same bits in all results; `bench/results/unroll` has the table.

use super::DeviceProfile;

/// How often a loop must run at least, in units of the iterations that become one.
const LEAST_ROUNDS: u64 = 2;

/// What one iteration of a serial loop loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loads {
    /// One element of a row that the thread has for itself.
    OfRow,
    /// One element of its own, in a row or beside those of the neighbouring threads, and one that all threads of a warp
    /// share.
    OwnAndShared,
    /// One element in each iteration of an inner loop of unknown length. The next iteration of the outer loop loads the
    /// neighbouring elements.
    InLoopInside,
}

/// How many iterations of a serial loop become one. `None` if it was not measured for the device, or if the loop is
/// known to be too short.
#[must_use]
pub fn unrolled(device: &DeviceProfile, loads: Loads, trips: Option<u64>) -> Option<u32> {
    let factor = match loads {
        Loads::OfRow => device.unrolled_rows,
        Loads::OwnAndShared => device.unrolled_products,
        Loads::InLoopInside => device.unrolled_around,
    }?;
    trips.is_none_or(|trips| trips >= LEAST_ROUNDS * u64::from(factor)).then_some(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_is_known_to_be_short_stays() {
        let device = DeviceProfile::named("h200").unwrap();
        assert_eq!(unrolled(&device, Loads::OfRow, None), Some(64));
        assert_eq!(unrolled(&device, Loads::OfRow, Some(128)), Some(64));
        assert_eq!(unrolled(&device, Loads::OfRow, Some(127)), None);
        assert_eq!(unrolled(&device, Loads::OwnAndShared, Some(32)), Some(16));
        assert_eq!(unrolled(&device, Loads::OwnAndShared, Some(31)), None);
        assert_eq!(unrolled(&device, Loads::InLoopInside, None), Some(8));
        assert_eq!(unrolled(&device, Loads::InLoopInside, Some(15)), None);
    }

    #[test]
    fn where_nobody_measured_it_nothing_is_unrolled() {
        let device = DeviceProfile::named("a100").unwrap();
        assert_eq!(unrolled(&device, Loads::OfRow, None), None);
    }
}
