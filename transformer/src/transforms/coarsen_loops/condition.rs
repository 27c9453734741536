//! From which lengths on groups leave threads enough: the condition of a host `if` between both forms. Both branches give the original's results: a
//! wrong condition costs only time.

use super::Kernel;
use super::gain::Gain;
use super::groups::elements;
use super::model::{MORE_FOR_WINDOWS, held};
use crate::device::DeviceProfile;
use crate::device::time::number;

/// By how much more iterations there must be than the model asks for: products of matrices become faster from about 900 (`float`) and 650 numbers
/// a side on (`double`), a matrix times its transpose from 256 on (`bench/results/coarsen`).
const MARGIN: f64 = 1.6;

/// The condition. `None` where the text tells all lengths, or one of them is no variable that the host can read.
pub(super) fn condition(kernel: &Kernel<'_, '_>, device: &DeviceProfile, gain: &Gain) -> Option<String> {
    kernel.lengths().at_least(enough(device, gain)?)
}

/// With how many iterations groups are faster. Threads that the device cannot fill make all iterations of a group one after the other, which takes
/// as long as their number, and less than a thread's own iteration by what they share.
fn enough(device: &DeviceProfile, gain: &Gain) -> Option<u64> {
    let all = held(device).checked_mul(u64::from(elements(&gain.axes)))?;
    if gain.has_windows {
        return all.checked_mul(u64::from(MORE_FOR_WINDOWS));
    }
    let (before, after) = gain.times;
    // The model is not good enough for groups that gain less than half of the time.
    let share = if 2.0 * after <= before { 100.0 * MARGIN * after / before } else { 100.0 };
    let percent = (1..100).find(|percent| number(*percent) >= share).unwrap_or(100);
    Some(all.checked_mul(percent)?.div_ceil(100))
}
