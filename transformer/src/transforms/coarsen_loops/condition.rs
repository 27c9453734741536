//! From which lengths on groups leave threads enough: the condition of a host `if` between both forms.
//!
//! It compares variables with constants, so that nothing in it overflows, traps or has an effect. Both branches give the original's results: a
//! wrong condition costs only time.

use super::Kernel;
use super::gain::Gain;
use super::groups::elements;
use super::model::held;
use crate::context::Context;
use crate::device::DeviceProfile;
use crate::device::time::number;
use crate::region::loop_nest::CanonicalLoop;
use crate::syntax::ClauseName;

/// By how much more iterations there must be than the model asks for: products of matrices become faster from about 900 (`float`) and 650 numbers
/// a side on (`double`), a matrix times its transpose from 256 on (`bench/results/coarsen`).
const MARGIN: f64 = 1.6;

/// Are there lengths that the text does not tell, and can the host read all of them, and compare them with each other?
pub(super) fn can_be_asked(kernel: &Kernel<'_, '_>) -> bool {
    let at = kernel.region.extent.start;
    let unknown = kernel.loops().iter().zip(kernel.trips()).filter(|(_, trips)| trips.is_none());
    let types: Option<Vec<_>> =
        unknown.map(|(own, _)| length(kernel, own).and_then(|name| kernel.cx.integer_type(&name, at))).collect();
    types.is_some_and(|types| !types.is_empty() && types.windows(2).all(|pair| pair.first() == pair.last()))
}

/// The condition. `None` where the text tells all lengths, or one of them is no variable that the host can read.
pub(super) fn condition(kernel: &Kernel<'_, '_>, device: &DeviceProfile, gain: &Gain) -> Option<String> {
    let mut least = enough(device, gain)?;
    let mut names = Vec::new();
    for (own, trips) in kernel.loops().iter().zip(kernel.trips()) {
        match trips {
            Some(trips) => least = least.div_ceil(u64::try_from(trips).ok()?.max(1)),
            None => names.push(length(kernel, own)?),
        }
    }
    let (last, others) = names.split_last()?;
    if others.iter().all(|other| other == last) {
        let power = u32::try_from(names.len()).ok()?;
        let is_enough = |length: &u64| length.checked_pow(power).is_none_or(|product| product >= least);
        return (1..=u64::from(u32::MAX)).find(is_enough).map(|from| format!("{last} >= {from}"));
    }
    let positive: String = others.iter().map(|name| format!("{name} > 0 && ")).collect();
    let divided: String = others.iter().map(|name| format!(" / {name}")).collect();
    Some(format!("{positive}{last} > {}{divided}", least.saturating_sub(1)))
}

/// With how many iterations groups are faster. Threads that the device cannot fill make all iterations of a group one after the other, which takes
/// as long as their number, and less than a thread's own iteration by what they share.
fn enough(device: &DeviceProfile, gain: &Gain) -> Option<u64> {
    let all = held(device).checked_mul(u64::from(elements(&gain.axes)))?;
    let (before, after) = gain.times;
    // The model is not good enough for groups that gain less than half of the time.
    let share = if 2.0 * after <= before { 100.0 * MARGIN * after / before } else { 100.0 };
    let percent = (1..100).find(|percent| number(*percent) >= share).unwrap_or(100);
    Some(all.checked_mul(percent)?.div_ceil(100))
}

/// The variable that says how long a loop is, but for numbers that are added and taken away.
fn length(kernel: &Kernel<'_, '_>, own: &CanonicalLoop) -> Option<String> {
    let cx = kernel.cx;
    let mut names = cx.names_in(own.upper).into_iter().filter(|(_, at)| cx.constant(*at).is_none());
    let (Some((name, at)), None) = (names.next(), names.next()) else { return None };
    let text = cx.file.show(own.upper);
    let is_sum = !text.contains(['*', '/', '%']) && text.starts_with(&name);
    let before = kernel.region.extent.start;
    (is_sum && cx.means_the_same(at, before) && is_readable(cx, kernel, &name)).then_some(name)
}

/// Is it an integer of which the region gets the host's value?
fn is_readable(cx: &Context<'_>, kernel: &Kernel<'_, '_>, name: &str) -> bool {
    let at = kernel.region.extent.start;
    let mut clauses = kernel.region.chain.constructs.iter().flat_map(|id| &cx.constructs.directive(*id).clauses);
    let on_device = clauses.any(|clause| {
        clause.name == ClauseName::Defaultmap || clause.name != ClauseName::Firstprivate && clause.lists(name)
    });
    cx.integer_type(name, at).is_some()
        && cx.holds_32_bits(name, at)
        && !on_device
        && !cx.is_declare_target(name)
        && !cx.may_be_declared_for_device(name, at)
        && !cx.is_threadprivate(name)
}
