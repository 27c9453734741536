//! How many iterations each thread makes: what they share against the registers that they need and the threads that are left.

use std::collections::BTreeSet;

use super::Kernel;
use super::body::{Copies, Crossing};
use crate::analysis::accesses::{Access, Accesses};
use crate::analysis::coalescing::{Pattern, pattern};
use crate::analysis::cost::{ASSUMED_INNER, NestWork, nest_time};
use crate::analysis::polynomial::{Atom, Polynomial};
use crate::device::DeviceProfile;
use crate::device::time::{GAIN, gains};
use crate::plan::figures::{count, time};
use crate::plan::instructions::Group;
use crate::source::Span;
use crate::syntax::{NodeId, NodeKind};

pub(super) const NOTHING_SHARED: &str = "no load of a serial loop is the same for neighbouring iterations";

/// The most iterations of a group where neighbouring threads load side by side: products of matrices took 1.2 to 1.4 times as long with 8
/// as with 4 on an H200 (`bench/results/coarsen`).
const MOST: u32 = 4;
/// The same where each thread loads from lines of its own, which loads take longer than anything else: twice as long with 4 as with 8.
const MOST_APART: u32 = 8;
/// Sectors of a warp's load of neighbouring elements of eight bytes.
const SIDE_BY_SIDE: f64 = 8.0;
/// Registers of a thread beside those of its group.
const OTHER_REGISTERS: u32 = 24;
/// Registers of an address.
const ADDRESS: u32 = 2;
/// What an operation takes of the time of a load: a processor begins four of them while its cache serves one.
const OPERATION: f64 = 0.25;
/// Operations that a call stands for.
const CALL: f64 = 8.0;
/// Sectors that a warp loads at once.
const SECTORS_AT_ONCE: f64 = 4.0;
/// The part of the threads that a device holds which must be left, and find registers.
const PART: u32 = 2;
/// At most this part of the iterations may be left over.
const LEFT_OVER: i128 = 8;

/// The groups of one loop, and what they gain.
pub(super) struct Gain {
    /// Which of the kernel's loops, counted from 0.
    pub index: usize,
    /// Iterations of a group.
    pub factor: u32,
    /// The kernel's time before and after, in microseconds.
    pub times: (f64, f64),
    loads: (f64, f64),
    registers: u32,
    left: f64,
    /// Why there are not twice as many.
    stopped: String,
    assumed: bool,
}

impl Gain {
    /// One line on what is done and why so.
    pub(super) fn summary(&self, kernel: &Kernel<'_, '_>) -> String {
        let name = kernel.loops().get(self.index).map_or("", |own| &own.variable);
        let Self { factor, registers, stopped, .. } = self;
        let share = if self.loads.0 > 0.0 { 100.0 * (1.0 - self.loads.1 / self.loads.0) } else { 0.0 };
        let assumed = if self.assumed { " assumed" } else { "" };
        format!(
            "each thread makes {factor} iterations of `{name}`, which share loads: {share:.0} % fewer, with about {registers} registers and \
             {} iterations left{assumed}; {stopped}",
            count(self.left)
        )
    }
}

/// May one of a kernel's loops have neighbouring iterations that load the same in a serial loop?
pub(super) fn may_share(found: &Accesses, depth: usize) -> bool {
    let is_shared = |access: &Access| {
        let names = |atom: Atom| access.subscripts.iter().any(|subscript| subscript.form.mentions(atom));
        let atom = |index: usize| found.loops.get(index).map(|one| one.atom);
        let mut inner = access.loops.iter().filter(|index| **index >= depth);
        let changes = inner.any(|index| atom(*index).is_some_and(names));
        changes && !access.writes && (0..depth).any(|index| !atom(index).is_some_and(names))
    };
    found.accesses.iter().any(is_shared)
}

/// The loop whose groups gain most.
///
/// # Errors
/// Why it does not pay.
pub(super) fn best<'k>(
    kernel: &Kernel<'_, '_>,
    device: &DeviceProfile,
    all: &'k [(usize, Copies)],
) -> Result<(Gain, &'k Copies), String> {
    let mut best: Option<(Gain, &Copies)> = None;
    let mut refused = None;
    for (index, copies) in all {
        match Model::of(kernel, device, *index, copies).chosen() {
            Ok(gain) => {
                if best.as_ref().is_none_or(|(known, _)| gain.times.1 < known.times.1) {
                    best = Some((gain, copies));
                }
            }
            Err(message) => refused = refused.or(Some(message)),
        }
    }
    best.ok_or_else(|| refused.unwrap_or_else(|| "no loop of the kernel can be grouped".to_owned()))
}

/// The groups that somebody else chose, and what they are predicted to gain; of several loops that may be meant, those of the one that
/// gains most.
pub(super) fn told<'k>(
    kernel: &Kernel<'_, '_>,
    device: &DeviceProfile,
    all: &'k [(usize, Copies)],
    told: Group,
) -> Option<(Gain, &'k Copies)> {
    let is_meant = |index: usize| told.loop_index.is_none_or(|meant| meant == index);
    let meant = all.iter().filter(|(index, _)| is_meant(*index));
    let gains = meant.map(|(index, copies)| {
        let model = Model::of(kernel, device, *index, copies);
        let before = model.time();
        (model.gain(told.factor, before, "as it was told".to_owned()), copies)
    });
    gains.min_by(|(one, _), (other, _)| one.times.1.total_cmp(&other.times.1))
}

struct Model<'m, 'c, 'p> {
    kernel: &'m Kernel<'c, 'p>,
    device: &'m DeviceProfile,
    index: usize,
    copies: &'m Copies,
    /// The variable of the loop that is grouped.
    variable: Option<Atom>,
    /// The different accesses, and how often each is made in an iteration.
    accesses: Vec<(&'m Access, f64)>,
    operations: f64,
}

impl<'m, 'c, 'p> Model<'m, 'c, 'p> {
    fn of(kernel: &'m Kernel<'c, 'p>, device: &'m DeviceProfile, index: usize, copies: &'m Copies) -> Self {
        let variable = kernel.found.loops.get(index).map(|one| one.atom);
        let accesses = different(&kernel.found, kernel.loops().len());
        let operations = operations(kernel);
        Self { kernel, device, index, copies, variable, accesses, operations }
    }

    fn chosen(&self) -> Result<Gain, String> {
        let inside = || self.accesses.iter().map(|(access, _)| *access).filter(|access| self.is_together(access.span));
        if !inside().any(|access| self.is_shared(access)) {
            return Err(NOTHING_SHARED.to_owned());
        }
        let is_far = |access: &&Access| matches!(self.pattern(access), Pattern::Strided | Pattern::Unknown);
        if let Some(far) = inside().filter(|access| !self.is_shared(access)).find(is_far) {
            let name = &far.root.name;
            return Err(format!(
                "neighbouring threads load elements of `{name}` far apart, and a group would need more lines of the cache"
            ));
        }
        let mut factor = 1;
        let stopped = loop {
            let next = factor * 2;
            if let Some(stopped) = self.stopped(next) {
                break stopped;
            }
            if self.cost(factor) < GAIN * self.cost(next) {
                break format!("groups of {next} gain too little");
            }
            factor = next;
        };
        if factor == 1 {
            return Err(stopped);
        }
        let before = self.time();
        let after = before * self.cost(factor) / self.cost(1);
        if !gains(before, after) {
            return Err(format!("groups gain too little: predicted {} instead of {}", time(after), time(before)));
        }
        Ok(self.gain(factor, before, stopped))
    }

    /// What groups of this size gain for a kernel that takes so many microseconds.
    fn gain(&self, factor: u32, before: f64, stopped: String) -> Gain {
        Gain {
            index: self.index,
            factor,
            times: (before, before * self.cost(factor) / self.cost(1)),
            loads: (self.loads(1), self.loads(factor)),
            registers: self.registers(factor),
            left: self.left(factor),
            stopped,
            assumed: self.lengths().1,
        }
    }

    /// Why groups may not have this many iterations.
    fn stopped(&self, factor: u32) -> Option<String> {
        let device = self.device;
        let is_apart = self.accesses.iter().any(|(access, _)| self.pattern(access).sectors() > SIDE_BY_SIDE);
        if factor > if is_apart { MOST_APART } else { MOST } {
            return Some(format!("groups of {factor} were measured to be slower"));
        }
        let threads = (device.threads_per_sm / PART).max(1);
        let registers = self.registers(factor);
        if registers > device.registers_per_sm / threads {
            return Some(format!("groups of {factor} would take about {registers} registers of a thread"));
        }
        let (held, left) = (f64::from(threads) * f64::from(device.sm_count), self.left(factor));
        if left < held {
            let (left, held) = (count(left), count(held));
            return Some(format!("groups of {factor} would leave {left} iterations for {held} threads"));
        }
        let trips = self.kernel.found.loops.get(self.index).and_then(|one| one.trips);
        let over = trips.filter(|trips| trips % i128::from(factor) * LEFT_OVER > *trips);
        over.map(|trips| format!("groups of {factor} would leave over too much of {trips} iterations"))
    }

    fn registers(&self, factor: u32) -> u32 {
        let values: u32 = self.copies.crossing.values().map(|one: &Crossing| one.registers).sum();
        let mut addresses: Vec<(&Access, Vec<Polynomial>)> = Vec::new();
        let own = self.accesses.iter().map(|(access, _)| *access);
        for access in own.filter(|access| self.is_together(access.span) && !self.is_shared(access)) {
            let apart = without_constants(access);
            if !addresses.iter().any(|(known, form)| known.root == access.root && *form == apart) {
                addresses.push((access, apart));
            }
        }
        let addresses = u32::try_from(addresses.len()).unwrap_or(u32::MAX);
        let each = values.saturating_add(addresses.saturating_mul(ADDRESS));
        OTHER_REGISTERS.saturating_add(each.saturating_mul(factor))
    }

    /// What one iteration takes in groups of this size, in loads.
    fn cost(&self, factor: u32) -> f64 {
        self.loads(factor) + self.operations * OPERATION
    }

    /// The accesses of one iteration, each counted with the sectors of a warp.
    fn loads(&self, factor: u32) -> f64 {
        let is_lane = self.kernel.loops().len() == self.index + 1;
        let each = |(access, times): &(&Access, f64)| {
            let pattern = self.pattern(access);
            // Neighbouring threads are then as far apart as groups are long.
            let further = if is_lane && pattern != Pattern::Uniform { f64::from(factor) } else { 1.0 };
            let sectors = (pattern.sectors() * further).min(Pattern::Strided.sectors());
            let shared = if self.is_shared(access) { f64::from(factor) } else { 1.0 };
            times * (sectors / SECTORS_AT_ONCE).max(1.0) / shared
        };
        self.accesses.iter().map(each).sum()
    }

    /// How neighbouring threads access memory.
    fn pattern(&self, access: &Access) -> Pattern {
        let lane = self.kernel.loops().len().checked_sub(1).and_then(|lane| self.kernel.found.loops.get(lane));
        lane.map_or(Pattern::Unknown, |lane| pattern(access, lane.atom, &self.kernel.found.opaque))
    }

    fn is_together(&self, span: Span) -> bool {
        self.copies.together.iter().any(|together| together.contains(span))
    }

    /// Is it a load that all iterations of a group make of one element, in a loop that they make together and that stores nothing?
    fn is_shared(&self, access: &Access) -> bool {
        let found = &self.kernel.found;
        let differs =
            |atom: &Atom| Some(*atom) == self.variable || found.opaque.contains(atom) || found.loads.contains_key(atom);
        let stores = |together: &Span| found.accesses.iter().any(|other| other.writes && together.contains(other.span));
        let mut around = self.copies.together.iter().filter(|together| together.contains(access.span));
        !access.writes
            && !access.subscripts.iter().any(|subscript| subscript.form.atoms().iter().any(differs))
            && around.next().is_some_and(|together| !stores(together))
    }

    /// The iterations of the kernel's loops, and whether they are assumed.
    fn lengths(&self) -> (Vec<f64>, bool) {
        let depth = self.kernel.loops().len();
        let own = || self.kernel.found.loops.iter().take(depth);
        let unknown = u32::try_from(own().filter(|one| one.trips.is_none()).count()).unwrap_or(u32::MAX);
        let all = f64::from(self.kernel.cx.assumed_iterations) * if unknown > 1 { ASSUMED_INNER } else { 1.0 };
        let each = all.powf(f64::from(unknown.max(1)).recip());
        (own().map(|one| known(one.trips).unwrap_or(each)).collect(), unknown > 0)
    }

    fn left(&self, factor: u32) -> f64 {
        let lengths = self.lengths().0.into_iter().enumerate();
        let length = |(at, length): (usize, f64)| {
            if at == self.index { (length / f64::from(factor)).ceil() } else { length }
        };
        lengths.map(length).product()
    }

    /// The kernel's time as it is, in microseconds.
    fn time(&self) -> f64 {
        let iterations: f64 = self.lengths().0.into_iter().product();
        let sectors = |access: &Access| self.pattern(access).sectors();
        let accesses = self.accesses.iter().map(|(_, times)| times).sum::<f64>() * iterations;
        let sectors = self.accesses.iter().map(|(access, times)| times * sectors(access)).sum::<f64>() * iterations;
        nest_time(&NestWork { iterations, accesses, sectors, divisions: 0 })
    }
}

fn known(trips: Option<i128>) -> Option<f64> {
    trips.and_then(|trips| u32::try_from(trips).ok()).map(f64::from)
}

/// The subscripts of an access without the constants in them: what is apart by a constant has one address.
fn without_constants(access: &Access) -> Vec<Polynomial> {
    let apart = |form: &Polynomial| form.minus(&Polynomial::constant(form.constant_part()));
    access.subscripts.iter().map(|one| apart(&one.form).unwrap_or_else(|| one.form.clone())).collect()
}

/// The accesses of an iteration, each once, with the number of times that it is made. What no serial loop changes is made in front of it.
fn different(found: &Accesses, depth: usize) -> Vec<(&Access, f64)> {
    let mut all: Vec<(&Access, f64)> = Vec::new();
    for access in &found.accesses {
        let is_known = |(other, _): &(&Access, f64)| {
            other.root == access.root
                && other.subscripts == access.subscripts
                && other.loops == access.loops
                && other.writes == access.writes
        };
        if !all.iter().any(is_known) {
            all.push((access, times(found, access, depth)));
        }
    }
    all
}

fn times(found: &Accesses, access: &Access, depth: usize) -> f64 {
    let atoms: BTreeSet<Atom> = access.subscripts.iter().flat_map(|one| one.form.atoms()).collect();
    let is_unknown =
        access.writes || atoms.iter().any(|atom| found.opaque.contains(atom) || found.loads.contains_key(atom));
    let inner: Vec<usize> = access.loops.iter().copied().filter(|index| *index >= depth).collect();
    let changes = |index: &usize| found.loops.get(*index).is_some_and(|one| atoms.contains(&one.atom));
    let last = if is_unknown { Some(inner.len()) } else { inner.iter().rposition(changes).map(|at| at + 1) };
    let around = inner.get(..last.unwrap_or(0)).unwrap_or_default();
    around.iter().map(|index| length(found, *index)).product()
}

fn length(found: &Accesses, index: usize) -> f64 {
    found.loops.get(index).and_then(|one| known(one.trips)).unwrap_or(ASSUMED_INNER)
}

/// The operations of one iteration, without those that compute subscripts.
fn operations(kernel: &Kernel<'_, '_>) -> f64 {
    let (tree, found, depth) = (kernel.cx.tree, &kernel.found, kernel.loops().len());
    let body = kernel.candidate.nest.loops.body;
    let each = |node: NodeId| {
        let weight = match tree.kind(node) {
            NodeKind::BinaryExpression | NodeKind::ConditionalExpression => 1.0,
            NodeKind::AssignmentExpression if tree.operator(node) != Some(NodeKind::Equal) => 1.0,
            NodeKind::CallExpression => CALL,
            _ => return 0.0,
        };
        let mut above = tree.ancestors(node).take_while(|above| *above != body);
        if above
            .any(|above| matches!(tree.kind(above), NodeKind::SubscriptArgumentList | NodeKind::SubscriptExpression))
        {
            return 0.0;
        }
        let span = tree.span(node);
        let around = (depth..found.loops.len())
            .filter(|index| found.loops.get(*index).is_some_and(|one| one.span.contains(span)));
        weight * around.map(|index| length(found, index)).product::<f64>()
    };
    tree.descendants(body).map(each).sum()
}
