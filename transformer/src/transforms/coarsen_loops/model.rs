//! What a group of iterations takes: loads, registers, and the threads that are left.

use super::Kernel;
use super::body::{Copies, Crossing};
use super::groups::{Axis, LARGEST_GROUP, elements, size};
use super::neighbours;
use super::window::Window;
use crate::analysis::accesses::Access;
use crate::analysis::coalescing::{Pattern, pattern};
use crate::analysis::cost::{NestWork, nest_time};
use crate::analysis::iteration_work::{self, different, operations};
use crate::analysis::polynomial::{Atom, Polynomial};
use crate::device::DeviceProfile;
use crate::device::time::number;
use crate::plan::figures::count;
use crate::semantics::symbols::DeclaredType;
use crate::source::Span;

/// The most iterations of one loop in a group where neighbouring threads load side by side what the group does not share: products of
/// matrices took 1.2 to 1.4 times as long with 8 as with 4 on an H200 (`bench/results/coarsen`). Where each thread loads from lines of its own,
/// or all is shared, registers and what is gained say how many.
const MOST: u32 = 4;
/// The same for each loop where two are grouped, or where iterations lie apart: on an H200 a product of 4,096 numbers a side took 12.6 ms with
/// 4 x 4, 8.0 with 8 x 8; of `double` 24.0 with 4 x 2, 16.8 with 4 x 4, 14.8 with 8 x 4 (`bench/results/coarsen/candidates.csv`).
const MOST_OF_TILE: u32 = 8;
/// Sectors of a warp's load of neighbouring elements of eight bytes.
const SIDE_BY_SIDE: f64 = 8.0;
/// Registers of a thread beside those of its group.
const OTHER_REGISTERS: u32 = 24;
/// Registers of an address.
const ADDRESS: u32 = 2;
/// What an operation takes of the time of a load: a processor begins four of them while its cache serves one.
const OPERATION: f64 = 0.25;
/// The same where serial loops over a window are unrolled, so that their variables are numbers, and nothing is asked. On an H200 a window of
/// 9 x 9 takes 0.73 ms for 4,096 x 4,096 elements, in groups of 4 0.30 and of 8 0.24.
const UNROLLED_OPERATION: f64 = 0.06;
/// Sectors that a warp loads at once.
const SECTORS_AT_ONCE: f64 = 4.0;
/// What a load of elements that one thread alone loads once takes, against one of what others have loaded too: it comes from the device's
/// memory. A vector times a matrix by columns takes 1.3 to 4 times as long in groups (`transposed` in `learn/data/h100`).
const STREAMED: f64 = 16.0;
/// The part of the threads that a device holds which must be left: 2,048 numbers a side leave 8 x 8 as many threads, and it was the fastest.
const PART_LEFT: u32 = 8;
/// How many times as many where groups share windows: on an H200 images of 2,048 elements a side gain 1.6 to 2.5 times, those of 512 lose as much
/// as a half.
pub(super) const MORE_FOR_WINDOWS: u32 = 3;
/// The part of them which must find registers.
const PART_RESIDENT: u32 = 4;
/// At most this part of the iterations may be left over.
const LEFT_OVER: i128 = 8;

/// A kernel whose iterations may be grouped in one way.
pub(super) struct Model<'m, 'c, 'p> {
    kernel: &'m Kernel<'c, 'p>,
    device: &'m DeviceProfile,
    copies: &'m Copies,
    /// The different accesses, and how often each is made in an iteration.
    accesses: Vec<(&'m Access, f64)>,
    operations: f64,
    /// Do windows of neighbouring elements overlap, in serial loops that are unrolled?
    pub has_windows: bool,
}

impl<'m, 'c, 'p> Model<'m, 'c, 'p> {
    pub(super) fn of(kernel: &'m Kernel<'c, 'p>, device: &'m DeviceProfile, copies: &'m Copies) -> Self {
        let accesses = different(&kernel.found, kernel.loops().len());
        let nest = &kernel.candidate.nest.loops;
        let operations = operations(kernel.cx.tree, &kernel.found, nest.loops.len(), nest.body);
        let has_windows = Window::of(kernel, copies, &[]).is_some();
        Self { kernel, device, copies, accesses, operations, has_windows }
    }

    /// Do iterations share elements around their own?
    pub(super) fn has_neighbours(&self) -> bool {
        self.copies.have_neighbours()
    }

    /// The accesses in loops that a group makes together.
    pub(super) fn inside(&self) -> impl Iterator<Item = &'m Access> + '_ {
        self.accesses.iter().map(|(access, _)| *access).filter(|access| self.is_together(access.span))
    }

    /// A load of elements far apart that groups would make more of.
    pub(super) fn far(&self, axes: &[Axis]) -> Option<&'m Access> {
        let is_far = |access: &&Access| matches!(self.pattern(access), Pattern::Strided | Pattern::Unknown);
        let is_own = |access: &&Access| axes.iter().any(|axis| !self.is_shared(access, axis.index));
        self.inside().filter(is_own).find(is_far).filter(|_| !self.copies.have_neighbours())
    }

    /// Why groups may not have this many iterations.
    pub(super) fn stopped(&self, axes: &[Axis]) -> Option<String> {
        let (device, size) = (self.device, size(axes));
        let is_measured = matches!(axes, [Axis { apart: 1, .. }]) && !self.has_windows && !self.has_neighbours();
        if self.has_windows && Window::of(self.kernel, self.copies, axes).is_none() {
            return Some(format!("groups of {size} would make too much text of unrolled windows"));
        }
        let most = if is_measured { MOST } else { MOST_OF_TILE };
        if axes.iter().any(|axis| axis.factor > self.most(*axis, most)) {
            let why = if is_measured { "were measured to be slower" } else { "are more than is counted on" };
            return Some(format!("groups of {size} {why}"));
        }
        let registers = self.registers(axes);
        if registers > device.registers_per_sm / (device.threads_per_sm / PART_RESIDENT).max(1) {
            return Some(format!("groups of {size} would take about {registers} registers of a thread"));
        }
        let more = if self.has_windows { MORE_FOR_WINDOWS } else { 1 };
        let (held, left) = (number(held(device)) * f64::from(more), self.left(axes));
        if left < held && !self.kernel.host_asks {
            let (left, held) = (count(left), count(held));
            return Some(format!("groups of {size} would leave {left} iterations for {held} threads"));
        }
        let trips = |axis: &Axis| self.kernel.found.loops.get(axis.index).and_then(|one| one.trips);
        let is_over = |(trips, axis): &(i128, &Axis)| trips % i128::from(axis.length()) * LEFT_OVER > *trips;
        let over = axes.iter().filter_map(|axis| Some((trips(axis)?, axis))).find(is_over);
        over.map(|(trips, _)| format!("groups of {size} would leave over too much of {trips} iterations"))
    }

    /// The most iterations of a loop that a group may have.
    fn most(&self, axis: Axis, side_by_side: u32) -> u32 {
        let is_apart = self.accesses.iter().any(|(access, _)| self.pattern(access).sectors() > SIDE_BY_SIDE);
        let shares_all = self.inside().all(|access| self.is_shared(access, axis.index));
        if self.copies.have_neighbours() {
            return MOST_OF_TILE;
        }
        if is_apart || shares_all { LARGEST_GROUP } else { side_by_side }
    }

    pub(super) fn registers(&self, axes: &[Axis]) -> u32 {
        let crossing = self.copies.crossing.values().map(|one: &Crossing| one.registers);
        let values: u32 = crossing.chain(self.copies.computed().map(|one| one.registers)).sum();
        let mut addresses: Vec<(&Access, Vec<Polynomial>)> = Vec::new();
        for access in self.inside().filter(|access| axes.iter().any(|axis| !self.is_shared(access, axis.index))) {
            let apart = without_constants(access);
            if !addresses.iter().any(|(known, form)| known.root == access.root && *form == apart) {
                addresses.push((access, apart));
            }
        }
        let several = |access: &Access| -> u32 {
            let differs = axes.iter().filter(|axis| !self.is_shared(access, axis.index));
            differs.filter(|axis| !self.is_apart_by_constant(access, axis.index)).map(|axis| axis.factor).product()
        };
        let addresses: u32 = addresses.iter().map(|(access, _)| ADDRESS * several(access)).sum();
        let values = values.saturating_mul(elements(axes));
        OTHER_REGISTERS.saturating_add(values).saturating_add(addresses).saturating_add(self.loaded(axes))
    }

    /// Registers of what is loaded and used for several elements, where two loops are grouped: a row of the group at once.
    fn loaded(&self, axes: &[Axis]) -> u32 {
        let [_, .., last] = axes else { return self.loaded_beside(axes) };
        let each = |access: &Access| {
            let wide = access.element.as_ref().and_then(DeclaredType::bytes).is_some_and(|bytes| bytes > 4);
            let times = if self.is_shared(access, last.index) { 1 } else { last.factor };
            times * if wide { 2 } else { 1 }
        };
        self.inside().map(each).sum()
    }

    /// Registers of elements that neighbouring iterations share, and of what they compute.
    fn loaded_beside(&self, axes: &[Axis]) -> u32 {
        let [axis] = axes else { return 0 };
        let wide = |access: &Access| access.element.as_ref().and_then(DeclaredType::bytes).is_some_and(|it| it > 4);
        let each = |access: &Access| {
            let times = f64::from(axis.factor) / self.overlap(access, *axis);
            times * if wide(access) { 2.0 } else { 1.0 }
        };
        let all: f64 = self.inside().filter(|_| self.copies.have_neighbours()).map(each).sum();
        (0..OTHER_REGISTERS * LARGEST_GROUP).find(|count| f64::from(*count) >= all).unwrap_or(u32::MAX)
    }

    /// Do the elements of neighbouring iterations lie a constant apart, so that one address leads to all of them?
    fn is_apart_by_constant(&self, access: &Access, index: usize) -> bool {
        let Some(variable) = self.variable(index) else { return false };
        let Some((last, others)) = access.subscripts.split_last() else { return false };
        let is_constant = last.form.linear_in(variable).is_some_and(|(step, _)| step.as_constant().is_some());
        is_constant && !others.iter().any(|other| other.form.mentions(variable))
    }

    /// What one iteration takes in groups of this size, in loads.
    pub(super) fn cost(&self, axes: &[Axis]) -> f64 {
        let is_unrolled = self.has_windows && !axes.is_empty();
        self.loads(axes) + self.operations * if is_unrolled { UNROLLED_OPERATION } else { OPERATION }
    }

    /// How often the iterations of a group load an element that the windows of several have in common.
    pub(super) fn overlap(&self, access: &Access, axis: Axis) -> f64 {
        let found = &self.kernel.found;
        let is_beside = !access.writes && self.is_together(access.span) && !self.is_shared(access, axis.index);
        if self.copies.have_neighbours() && is_beside {
            let all: Vec<&Access> = self.inside().collect();
            return neighbours::overlap(self.kernel, &all, access, (axis.index, axis.factor));
        }
        let Some(variable) = self.variable(axis.index).filter(|_| self.has_windows && !access.writes) else {
            return 1.0;
        };
        let step = |atom: Atom| -> Option<Vec<Polynomial>> {
            access.subscripts.iter().map(|one| one.form.linear_in(atom).map(|(step, _)| step)).collect()
        };
        let own = step(variable).filter(|steps| steps.iter().any(|step| !step.is_zero()));
        let inner = access.loops.iter().filter(|index| **index >= self.kernel.loops().len());
        let mut alike =
            inner.filter_map(|index| found.loops.get(*index)).filter(|one| own.is_some() && step(one.atom) == own);
        let trips =
            alike.next().and_then(|one| one.trips).and_then(|trips| u32::try_from(trips).ok()).map_or(1.0, f64::from);
        let factor = f64::from(axis.factor);
        trips * factor / (trips + factor - 1.0)
    }

    /// The accesses of one iteration, each counted with the sectors of a warp.
    pub(super) fn loads(&self, axes: &[Axis]) -> f64 {
        let lane = self.kernel.loops().len().checked_sub(1);
        let each = |(access, times): &(&Access, f64)| {
            let pattern = self.pattern(access);
            // Neighbouring threads are then as far apart as groups are long.
            let is_further = |axis: &&Axis| Some(axis.index) == lane && axis.apart == 1 && pattern != Pattern::Uniform;
            let further: f64 = axes.iter().filter(is_further).map(|axis| f64::from(axis.factor)).product();
            let sectors = (pattern.sectors() * further).min(Pattern::Strided.sectors());
            let sharing = axes.iter().filter(|axis| self.is_shared(access, axis.index));
            let shared: f64 = sharing.map(|axis| f64::from(axis.factor)).product();
            let shared: f64 = shared * axes.iter().map(|axis| self.overlap(access, *axis)).product::<f64>();
            let streamed = if self.is_streamed(access) { STREAMED } else { 1.0 };
            times * streamed * (sectors / SECTORS_AT_ONCE).max(1.0) / shared
        };
        self.accesses.iter().map(each).sum()
    }

    /// Is each element that it loads in serial loops loaded by one thread, once?
    fn is_streamed(&self, access: &Access) -> bool {
        let found = &self.kernel.found;
        let inner = access.loops.iter().copied().filter(|index| *index >= self.kernel.loops().len());
        let around: Vec<Atom> = (0..self.kernel.loops().len())
            .chain(inner.clone())
            .filter_map(|index| found.loops.get(index).map(|one| one.atom))
            .collect();
        let step = |atom: &Atom| -> Option<Vec<Polynomial>> {
            access.subscripts.iter().map(|one| one.form.linear_in(*atom).map(|(step, _)| step)).collect()
        };
        let changes = |step: &Vec<Polynomial>| step.iter().any(|one| one.as_constant() != Some(0));
        let steps: Option<Vec<Vec<Polynomial>>> = around.iter().map(step).collect();
        // Two loops that step alike come to the same elements.
        let differ = |steps: &[Vec<Polynomial>]| {
            let is_new = |(at, step): (usize, &Vec<Polynomial>)| !steps.iter().take(at).any(|other| other == step);
            steps.iter().all(changes) && steps.iter().enumerate().all(is_new)
        };
        inner.count() > 0 && steps.is_some_and(|steps| differ(&steps))
    }

    /// How neighbouring threads access memory.
    fn pattern(&self, access: &Access) -> Pattern {
        let lane = self.kernel.loops().len().checked_sub(1).and_then(|lane| self.kernel.found.loops.get(lane));
        lane.map_or(Pattern::Unknown, |lane| pattern(access, lane.atom, &self.kernel.found.opaque))
    }

    fn is_together(&self, span: Span) -> bool {
        self.copies.together.iter().any(|together| together.contains(span))
    }

    fn variable(&self, index: usize) -> Option<Atom> {
        self.kernel.found.loops.get(index).map(|one| one.atom)
    }

    /// Is it a load that all iterations of a group make of one element, where this loop is grouped, in a loop that they make together and
    /// that stores nothing?
    pub(super) fn is_shared(&self, access: &Access, index: usize) -> bool {
        let found = &self.kernel.found;
        let variable = self.variable(index);
        let differs =
            |atom: &Atom| Some(*atom) == variable || found.opaque.contains(atom) || found.loads.contains_key(atom);
        let stores = |together: &Span| found.accesses.iter().any(|other| other.writes && together.contains(other.span));
        let mut around = self.copies.together.iter().filter(|together| together.contains(access.span));
        !access.writes
            && !access.subscripts.iter().any(|subscript| subscript.form.atoms().iter().any(differs))
            && around.next().is_some_and(|together| !stores(together))
    }

    /// The iterations of the kernel's loops, and whether they are assumed.
    pub(super) fn lengths(&self) -> (Vec<f64>, bool) {
        iteration_work::lengths(&self.kernel.found, self.kernel.loops().len(), self.kernel.cx.assumed_iterations)
    }

    /// The iterations that threads share: groups, and of those that lie apart as many as a warp has threads.
    pub(super) fn left(&self, axes: &[Axis]) -> f64 {
        let lengths = self.lengths().0.into_iter().enumerate();
        let length = |(at, length): (usize, f64)| match axes.iter().find(|axis| axis.index == at) {
            Some(axis) => (length / f64::from(axis.length())).ceil() * f64::from(axis.apart),
            None => length,
        };
        lengths.map(length).product()
    }

    /// The kernel's time as it is, in microseconds.
    pub(super) fn time(&self) -> f64 {
        let iterations: f64 = self.lengths().0.into_iter().product();
        let sectors = |access: &Access| self.pattern(access).sectors();
        let accesses = self.accesses.iter().map(|(_, times)| times).sum::<f64>() * iterations;
        let sectors = self.accesses.iter().map(|(access, times)| times * sectors(access)).sum::<f64>() * iterations;
        nest_time(&NestWork { iterations, accesses, sectors, divisions: 0 })
    }
}

/// The threads that groups must leave on a device.
pub(super) fn held(device: &DeviceProfile) -> u64 {
    u64::from((device.threads_per_sm / PART_LEFT).max(1)) * u64::from(device.sm_count)
}

/// The subscripts of an access without the constants in them: what is apart by a constant has one address.
fn without_constants(access: &Access) -> Vec<Polynomial> {
    let apart = |form: &Polynomial| form.minus(&Polynomial::constant(form.constant_part()));
    access.subscripts.iter().map(|one| apart(&one.form).unwrap_or_else(|| one.form.clone())).collect()
}
