//! Which loop is tiled, into tiles of how many iterations, and what that gains.

use super::work::Work;
use super::{Kernel, counting, numbers};
use crate::analysis::accesses::Access;
use crate::analysis::coalescing::{Pattern, WARP, pattern};
use crate::analysis::iteration_work::lengths;
use crate::device::DeviceProfile;
use crate::device::time::{EMPTY_KERNEL, number};
use crate::plan::figures::{count, time};

/// Rows of a tile. Eight gain no more where rows share no loads, and cost short loops twice as much.
const ROWS: u32 = 4;
/// Rows of a tile where a thread adds up its iterations: so many loads are under way at once.
const ROWS_OF_SUM: u32 = 8;
/// Neighbouring iterations of one loop whose results are added up, the most first. Threads then load elements that lie as far apart.
const TERMS: [u32; 2] = [4, 2];
/// The most bytes from an iteration's elements of an array to the next one's where they are added up: with four numbers of `float` an iteration,
/// tiles take 1.7 times as long.
const FARTHEST: u8 = 8;
/// The most bytes between the elements of neighbouring threads, in all arrays: with 96 of three arrays of `double` tiles take 1.1 times as long, with 64 of
/// two 0.7 times. Lines of so many threads stay in the first-level cache.
const MOST_BYTES: u32 = 64;
/// How many times as fast an iteration must become.
const ENOUGH: f64 = 1.2;

/// What tiles gain.
pub(super) struct Gain {
    /// Which of the loops is tiled, counted from 0.
    pub tiled: usize,
    /// How many of its iterations a thread makes.
    rows: u32,
    /// The condition under which there are iterations enough, if the text does not tell it.
    enough: Option<String>,
    /// The condition under which there is room for whole tiles, likewise.
    room: Option<String>,
    /// The kernel's time before and after, in microseconds.
    pub times: (f64, f64),
    /// How many times as fast an iteration becomes.
    faster: f64,
    /// Does the text tell how many iterations there are?
    is_known: bool,
}

impl Gain {
    /// The size of the loop's tiles.
    pub(super) fn size(&self) -> String {
        let conditions: Vec<&str> = self.enough.iter().chain(&self.room).map(String::as_str).collect();
        if conditions.is_empty() {
            self.rows.to_string()
        } else {
            format!("{} ? {} : 1", conditions.join(" && "), self.rows)
        }
    }

    /// One line on what is done and why so.
    pub(super) fn summary(&self, kernel: &Kernel<'_, '_>) -> String {
        let name = kernel.loops().get(self.tiled).map_or("", |own| own.variable.as_str());
        let from = self.enough.as_ref().map(|condition| format!("where `{condition}` ")).unwrap_or_default();
        let why =
            if kernel.is_sum() { "whose loads are under way at once" } else { "with one division for their variables" };
        let gain = match self.is_known {
            true => format!("{} instead of {}", time(self.times.1), time(self.times.0)),
            false => format!("{:.1} times as fast where there are many", self.faster),
        };
        format!("{from}each thread makes {} neighbouring iterations of `{name}`, {why}: predicted {gain}", self.rows)
    }
}

/// The loop of which a thread takes several iterations together, and what it gains.
///
/// # Errors
/// Why it does not pay.
pub(super) fn gain(kernel: &Kernel<'_, '_>, device: &DeviceProfile) -> Result<Gain, String> {
    let (tiled, rows) = tile(kernel)?;
    let (lengths, assumed) = lengths(&kernel.found, kernel.loops().len(), kernel.cx.assumed_iterations);
    let iterations: f64 = lengths.iter().product();
    let work = Work::of(kernel);
    let (before, after) = (work.nanoseconds(device, 1), work.nanoseconds(device, rows));
    let whole = |each: f64| EMPTY_KERNEL + each * iterations / 1e3;
    let times = (whole(before), whole(after));
    if before < ENOUGH * after {
        return Err(format!("tiles gain too little: predicted {} instead of {}", time(times.1), time(times.0)));
    }
    let own = kernel.loops().get(tiled).zip(kernel.lengths().trips().nth(tiled));
    let room = own.and_then(|(own, trips)| counting::room(kernel, own, trips));
    let enough = condition(kernel, device, iterations, assumed)?;
    Ok(Gain { tiled, rows, enough, room, times, faster: before / after, is_known: !assumed })
}

/// Which loop is tiled, counted from 0, and how many of its iterations make a tile.
fn tile(kernel: &Kernel<'_, '_>) -> Result<(usize, u32), String> {
    let found = &kernel.found;
    let Some(last) = kernel.loops().len().checked_sub(1).filter(|last| *last < found.loops.len()) else {
        return Err("the loops are not known".to_owned());
    };
    let own = found.loops.get(..=last).unwrap_or_default();
    let Some(lane) = own.last().filter(|lane| lane.trips.is_none_or(|trips| trips >= WARP)) else {
        return Err("the innermost loop has fewer iterations than a warp has threads".to_owned());
    };
    let patterns = || found.accesses.iter().map(|access| (access, pattern(access, lane.atom, &found.opaque)));
    let is_far = |(_, pattern): &(&Access, Pattern)| matches!(pattern, Pattern::Strided | Pattern::Unknown);
    if let Some((far, _)) = patterns().find(is_far) {
        return Err(format!("neighbouring threads access elements of `{}` far apart", far.root.name));
    }
    if kernel.is_sum() && found.accesses.iter().any(|access| access.writes) {
        return Err("with stores between them loads were measured to be no faster".to_owned());
    }
    if last > 0 && !kernel.is_sum() && numbers::are_those_of_elements(kernel) {
        return Err("iterations have the numbers of their elements, so that nothing is divided".to_owned());
    }
    if last > 0 {
        let rows = if kernel.is_sum() { ROWS_OF_SUM } else { ROWS };
        let is_long = |index: &usize| {
            own.get(*index).is_some_and(|one| one.trips.is_none_or(|trips| trips >= 2 * i128::from(rows)))
        };
        return (0..last)
            .find(is_long)
            .map(|index| (index, rows))
            .ok_or_else(|| "the outer loops are too short".into());
    }
    let mut apart: Vec<(&str, u8)> = Vec::new();
    for (access, pattern) in patterns() {
        match pattern {
            Pattern::Near(bytes) if bytes > FARTHEST => {
                return Err(format!("neighbouring threads would access elements of `{}` far apart", access.root.name));
            }
            Pattern::Near(bytes) if !apart.contains(&(access.root.name.as_str(), bytes)) => {
                apart.push((&access.root.name, bytes));
            }
            _ => {}
        }
    }
    let bytes: u32 = apart.iter().map(|(_, bytes)| u32::from(*bytes)).sum();
    let terms = TERMS.into_iter().find(|terms| terms * bytes <= MOST_BYTES);
    terms
        .map(|terms| (0, terms))
        .ok_or_else(|| "neighbouring threads would access too many elements far apart".to_owned())
}

/// Fewer iterations than the device holds threads keep one thread each: a thread would make those of its tile one after the other, while others
/// have none. Sums take longer than that to combine, and lose nothing.
fn condition(
    kernel: &Kernel<'_, '_>,
    device: &DeviceProfile,
    iterations: f64,
    assumed: bool,
) -> Result<Option<String>, String> {
    let held = u64::from(device.threads_per_sm) * u64::from(device.sm_count);
    if !assumed {
        let message = || format!("{} iterations leave threads idle as they are", count(iterations));
        return if iterations < number(held) { Err(message()) } else { Ok(None) };
    }
    if kernel.is_sum() {
        return Ok(None);
    }
    let lengths = kernel.lengths();
    match lengths.at_least(held).filter(|_| lengths.can_be_asked()) {
        None if kernel.is_confined() => Err("no variable says how long the loops are".to_owned()),
        condition => Ok(condition),
    }
}
