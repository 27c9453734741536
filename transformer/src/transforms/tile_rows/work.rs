//! What an iteration takes: divisions, waiting, accesses and operations against the device's memory.
//!
//! The constants were measured on an H200, with up to 200 million iterations (`bench/results/tile`).

use std::collections::BTreeSet;

use super::Kernel;
use crate::analysis::accesses::Access;
use crate::analysis::iteration_work::{different, operations};
use crate::analysis::polynomial::Polynomial;
use crate::device::DeviceProfile;
use crate::device::time::number;
use crate::semantics::symbols::{DeclaredType, VariableId};

/// The variables of one loop more, of the number of an iteration: nanoseconds of a multiprocessor.
const DIVIDED: f64 = 0.38;
/// The same for waiting until what one iteration loads has come, where a thread adds up many, one after the other.
const WAITING: f64 = 0.55;
/// An access of a warp's neighbouring elements, for each of its threads.
const ACCESS: f64 = 0.049;
/// An operation, likewise.
const OPERATION: f64 = 0.004;
/// The part of the memory's peak rate that kernels reach which also store, and those that only load.
const REACHED: (f64, f64) = (0.6, 0.9);
/// Bytes of an element of unknown type.
const UNKNOWN_BYTES: f64 = 8.0;

/// The work of one iteration.
pub(super) struct Work {
    /// Nanoseconds of a multiprocessor that all iterations of a tile share.
    shared: f64,
    /// Those that each takes.
    own: f64,
    /// Bytes to and from the device's memory.
    bytes: f64,
    reached: f64,
}

impl Work {
    pub(super) fn of(kernel: &Kernel<'_, '_>) -> Self {
        let depth = kernel.loops().len();
        let each = |(access, times): &(&Access, f64)| if is_updated(access) { 2.0 * times } else { *times };
        let accesses: f64 = different(&kernel.found, depth).iter().map(each).sum();
        let operations = operations(kernel.cx.tree, &kernel.found, depth, kernel.candidate.nest.loops.body);
        let divisions = u64::try_from(depth).map_or(0, |depth| depth.saturating_sub(1));
        let waiting = if kernel.is_sum() { WAITING } else { 0.0 };
        Self {
            shared: DIVIDED * number(divisions) + waiting,
            own: ACCESS * accesses + OPERATION * operations,
            bytes: streamed_bytes(kernel),
            reached: if kernel.is_sum() { REACHED.1 } else { REACHED.0 },
        }
    }

    /// What an iteration takes on the whole device, where a thread makes so many of them.
    pub(super) fn nanoseconds(&self, device: &DeviceProfile, rows: u32) -> f64 {
        let processors = (self.shared / f64::from(rows) + self.own) / f64::from(device.sm_count);
        processors.max(self.bytes / (device.memory_gb_per_s * self.reached))
    }
}

/// The bytes that an iteration moves to and from the device's memory: elements that it alone comes to, or loads first. Those that lie a constant number of
/// iterations apart are the same in other iterations.
fn streamed_bytes<'k>(kernel: &'k Kernel<'_, '_>) -> f64 {
    let own: Vec<_> = kernel.found.loops.iter().take(kernel.loops().len()).map(|one| one.atom).collect();
    let steps = |access: &Access| -> Vec<Option<Polynomial>> {
        let step = |form: &Polynomial, atom| form.linear_in(atom).map(|(step, _)| step);
        access.subscripts.iter().flat_map(|one| own.iter().map(move |atom| step(&one.form, *atom))).collect()
    };
    let mut seen: BTreeSet<(VariableId, &str, bool, Vec<Option<Polynomial>>)> = BTreeSet::new();
    let mut each = |access: &'k Access| {
        let is_everywhere = own.iter().all(|atom| access.subscripts.iter().any(|one| one.form.mentions(*atom)));
        let stream = (access.root.key, access.root.name.as_str(), access.writes, steps(access));
        if !is_everywhere || !seen.insert(stream) {
            return 0.0;
        }
        let bytes = access.element.as_ref().and_then(DeclaredType::bytes);
        let bytes = bytes.map_or(UNKNOWN_BYTES, |bytes| number(bytes.unsigned_abs()));
        if is_updated(access) { 2.0 * bytes } else { bytes }
    };
    kernel.found.accesses.iter().map(&mut each).sum()
}

/// Is the element loaded and stored, as by `+=`?
fn is_updated(access: &Access) -> bool {
    access.writes && !access.is_target
}
