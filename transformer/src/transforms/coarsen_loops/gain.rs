//! Which iterations each thread makes: of which loops, how many, and how far apart.

use super::Kernel;
use super::body::Copies;
use super::groups::{self, Axis, WARP};
use super::model::Model;
use crate::analysis::accesses::{Access, Accesses};
use crate::analysis::polynomial::Atom;
use crate::device::DeviceProfile;
use crate::device::time::{GAIN, gains};
use crate::plan::figures::{count, time};
use crate::plan::instructions::Group;

/// How many times as fast a kernel must become whose iterations share elements around their own.
const GAIN_OF_NEIGHBOURS: f64 = 1.15;

pub(super) const NOTHING_SHARED: &str = "no load of a serial loop is the same for neighbouring iterations";

/// Loops that may be grouped together, outermost first, and how a group of their iterations makes the body.
pub(super) type Set = (Vec<usize>, Copies);

/// The groups of iterations, and what they gain.
pub(super) struct Gain {
    /// How many iterations of which loops, outermost first.
    pub axes: Vec<Axis>,
    /// The kernel's time before and after, in microseconds.
    pub times: (f64, f64),
    loads: (f64, f64),
    registers: u32,
    left: f64,
    /// Why there are not twice as many.
    stopped: String,
    assumed: bool,
    /// Do their iterations share windows?
    pub has_windows: bool,
}

impl Gain {
    /// What groups of this size gain for a kernel that takes so many microseconds.
    fn of(model: &Model<'_, '_, '_>, axes: Vec<Axis>, before: f64, stopped: String) -> Self {
        Self {
            times: (before, before * model.cost(&axes) / model.cost(&[])),
            loads: (model.loads(&[]), model.loads(&axes)),
            registers: model.registers(&axes),
            left: model.left(&axes),
            assumed: model.lengths().1,
            has_windows: model.has_windows,
            axes,
            stopped,
        }
    }

    /// One line on what is done and why so.
    pub(super) fn summary(&self, kernel: &Kernel<'_, '_>) -> String {
        let name = |axis: &Axis| kernel.loops().get(axis.index).map_or("", |own| own.variable.as_str());
        let names: Vec<String> = self.axes.iter().map(|axis| format!("`{}`", name(axis))).collect();
        let apart = match (self.axes.iter().find(|axis| axis.apart > 1), self.axes.len()) {
            (None, _) => String::new(),
            (Some(axis), 1) => format!(" {} apart", axis.apart),
            (Some(axis), _) => format!(", those of `{}` {} apart", name(axis), axis.apart),
        };
        let Self { registers, stopped, .. } = self;
        let share = if self.loads.0 > 0.0 { 100.0 * (1.0 - self.loads.1 / self.loads.0) } else { 0.0 };
        let assumed = if self.assumed { " assumed" } else { "" };
        format!(
            "each thread makes {} iterations of {}{apart}, which share loads: {share:.0} % fewer, with about {registers} registers and \
             {} iterations left{assumed}; {stopped}",
            groups::size(&self.axes),
            names.join(" and "),
            count(self.left)
        )
    }

    /// How much the text of the loops changes: of two groups that gain alike the simpler one is written.
    fn effort(&self) -> (usize, bool) {
        (self.axes.len(), self.axes.iter().any(|axis| axis.apart > 1))
    }

    /// Are these groups better than others that were found before?
    fn is_better(&self, known: &Self) -> bool {
        let least = if self.effort() > known.effort() { GAIN } else { 1.0 };
        least * self.times.1 < known.times.1
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

/// The groups that gain most.
///
/// # Errors
/// Why it does not pay.
pub(super) fn best<'k>(
    kernel: &Kernel<'_, '_>,
    device: &DeviceProfile,
    all: &'k [Set],
) -> Result<(Gain, &'k Copies), String> {
    let mut best: Option<(Gain, &Copies)> = None;
    let mut refused = None;
    for (set, copies) in all {
        let model = Model::of(kernel, device, copies);
        for apart in [1, WARP] {
            let innermost = kernel.loops().len().checked_sub(1);
            if apart > 1 && set.last().copied() != innermost {
                continue;
            }
            let last = set.len().saturating_sub(1);
            let axis = |(at, index): (usize, &usize)| Axis::single(*index, if at == last { apart } else { 1 });
            match chosen(&model, set.iter().enumerate().map(axis).collect()) {
                Ok(gain) => {
                    if best.as_ref().is_none_or(|(known, _)| gain.is_better(known)) {
                        best = Some((gain, copies));
                    }
                }
                Err(message) => refused = refused.or(Some(message)),
            }
        }
    }
    best.ok_or_else(|| refused.unwrap_or_else(|| "no loop of the kernel can be grouped".to_owned()))
}

/// The groups that somebody else chose, and what they are predicted to gain; of several loops that may be meant, those of the one that
/// gains most.
pub(super) fn told<'k>(
    kernel: &Kernel<'_, '_>,
    device: &DeviceProfile,
    all: &'k [Set],
    told: Group,
) -> Option<(Gain, &'k Copies)> {
    let innermost = kernel.loops().len().checked_sub(1)?;
    let meant = all.iter().filter_map(|(set, copies)| Some((groups::told(told, set, innermost)?, copies)));
    let gains = meant.map(|(axes, copies)| {
        let model = Model::of(kernel, device, copies);
        (Gain::of(&model, axes, model.time(), "as it was told".to_owned()), copies)
    });
    gains.min_by(|(one, _), (other, _)| one.times.1.total_cmp(&other.times.1))
}

/// Groups of these loops that are doubled as long as that gains.
fn chosen(model: &Model<'_, '_, '_>, mut axes: Vec<Axis>) -> Result<Gain, String> {
    let is_shared = |axis: &Axis| {
        let twice = Axis { factor: 2, ..*axis };
        model.inside().any(|access| model.is_shared(access, axis.index) || model.overlap(access, twice) > 1.0)
    };
    if !axes.iter().all(is_shared) {
        return Err(NOTHING_SHARED.to_owned());
    }
    if let Some(far) = model.far(&axes) {
        let name = &far.root.name;
        return Err(format!(
            "neighbouring threads load elements of `{name}` far apart, and a group would need more lines of the cache"
        ));
    }
    let stopped = loop {
        match doubled(model, &axes) {
            Ok(next) => axes = next,
            Err(stopped) => break stopped,
        }
    };
    if axes.iter().any(|axis| axis.factor == 1) {
        return Err(stopped);
    }
    let before = model.time();
    let gain = Gain::of(model, axes, before, stopped);
    // Stencils wait for memory longer than is predicted, so that a launch is a smaller part.
    let pays =
        if model.has_neighbours() { before >= GAIN_OF_NEIGHBOURS * gain.times.1 } else { gains(before, gain.times.1) };
    if !pays {
        let (before, after) = (time(before), time(gain.times.1));
        return Err(format!("groups gain too little: predicted {after} instead of {before}"));
    }
    Ok(gain)
}

/// Groups with twice as many iterations of the loop where that gains most.
///
/// # Errors
/// Why none has more.
fn doubled(model: &Model<'_, '_, '_>, axes: &[Axis]) -> Result<Vec<Axis>, String> {
    let mut best: Option<Vec<Axis>> = None;
    let mut stopped = None;
    for at in 0..axes.len() {
        let twice =
            |(index, axis): (usize, &Axis)| Axis { factor: axis.factor * if index == at { 2 } else { 1 }, ..*axis };
        let next: Vec<Axis> = axes.iter().enumerate().map(twice).collect();
        let too_little = || {
            let gains = model.cost(axes) >= GAIN * model.cost(&next);
            (!gains).then(|| format!("groups of {} gain too little", groups::size(&next)))
        };
        match model.stopped(&next).or_else(too_little) {
            Some(reason) => stopped = stopped.or(Some(reason)),
            None if best.as_ref().is_none_or(|known| model.cost(&next) < model.cost(known)) => best = Some(next),
            None => {}
        }
    }
    best.ok_or_else(|| stopped.unwrap_or_default())
}
