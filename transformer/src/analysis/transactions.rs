//! The sectors of memory that a warp moves in one iteration, as the symbolic execution of Magni's thesis counts them (section 4.6): the
//! addresses of its threads are computed, and those that lie in one sector count once. `explain` shows them; a profiler counts them
//! (`tests/counters.rs`).

mod same;

use crate::analysis::accesses::{Access, Accesses};
use crate::analysis::coalescing::{SECTOR, WARP, pattern};
use crate::analysis::kernel_shape::{near, trips_or_assumed};
use crate::analysis::numbers::{Numbers, Place, greatest_divisor, touched};
use crate::analysis::polynomial::{Atom, Polynomial};
use crate::semantics::symbols::DeclaredType;

/// Sectors of a warp in one iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Transactions {
    /// Loaded.
    pub loaded: f64,
    /// Stored.
    pub stored: f64,
}

/// The sectors that a warp loads and stores in one iteration of the first `promised` loops, the last of them along its threads; serial loops of
/// unknown length are assumed to run often. An element that is changed in place counts as stored. What a compiler loads once counts once.
#[must_use]
pub fn transactions(found: &Accesses, promised: usize) -> Transactions {
    let mut sum = Transactions::default();
    let found = same::with_equal_parts(found);
    let Some(lane) = promised.checked_sub(1).and_then(|last| found.loops.get(last)) else { return sum };
    let warp = Warp::of(&found, promised);
    for (index, access) in found.accesses.iter().enumerate() {
        if is_loaded_before(&found, index) {
            continue;
        }
        let access = near(&found, access);
        let sectors =
            warp.sectors(&found, &access).unwrap_or_else(|| pattern(&access, lane.atom, &found.opaque).sectors());
        let all = sectors * times(&found, &access, promised);
        *(if access.writes { &mut sum.stored } else { &mut sum.loaded }) += all;
    }
    sum
}

/// A loop whose variable differs between the threads of a warp, or between warps.
struct Along {
    atom: Atom,
    /// The variable's distance from the first thread's, for each thread.
    distances: Vec<i128>,
}

impl Along {
    fn differs(&self) -> bool {
        self.distances.iter().any(|distance| *distance != 0)
    }
}

/// The iterations that the threads of a warp make.
struct Warp {
    loops: Vec<Along>,
    threads: i128,
}

impl Warp {
    /// The first threads of a launch: neighbours differ in the last loop, and where that is shorter than a warp in the one around it.
    fn of(found: &Accesses, promised: usize) -> Self {
        let promised: Vec<_> = found.loops.iter().take(promised).collect();
        let all: Option<i128> = promised.iter().try_fold(1_i128, |product, one| product.checked_mul(one.trips?));
        let threads = all.map_or(WARP, |all| all.clamp(1, WARP));
        let mut each = 1; // neighbours with the same value
        let mut loops = Vec::new();
        for one in promised.iter().rev() {
            let trips = one.trips.unwrap_or(WARP).max(1);
            let at = |thread: i128| thread / each % trips * one.step.unwrap_or(1);
            loops.push(Along { atom: one.atom, distances: (0..threads).map(at).collect() });
            each *= trips.min(WARP);
        }
        Self { loops, threads }
    }

    /// The sectors of an access. `None` if its addresses are not linear in what differs nor in its parts, or hang on data.
    fn sectors(&self, found: &Accesses, access: &Access) -> Option<f64> {
        let size = access.element.as_ref().and_then(DeclaredType::bytes).map(i128::from)?;
        let hangs_on_data = |atom: &Atom| found.opaque.contains(atom) && found.made_of(*atom).is_none();
        if access.subscripts.iter().any(|one| one.form.atoms().iter().any(hangs_on_data)) {
            return None;
        }
        let last = &access.subscripts.last()?.form;
        let differs = |atom| self.loops.iter().any(|along| along.atom == atom && along.differs());
        let shared = found.loops.get(..self.loops.len())?;
        if let Some(numbers) = Numbers::of(found, access, (shared, self.threads), differs) {
            return Some(touched(&numbers.places(size)?, &self.starts(found, &numbers.rest(last)?, size)?));
        }
        Some(touched(&[self.distances(access, size)?], &self.starts(found, last, size)?))
    }

    /// How far from the first thread each accesses memory, if that is linear in what differs.
    fn distances(&self, access: &Access, size: i128) -> Option<Vec<Place<Vec<i128>>>> {
        let mut places: Vec<Place<_>> = (0..self.threads).map(|_| Place { row: Vec::new(), byte: 0 }).collect();
        for (index, subscript) in access.subscripts.iter().enumerate() {
            for along in self.loops.iter().filter(|along| along.differs() && subscript.form.mentions(along.atom)) {
                let (coefficient, _) = subscript.form.linear_in(along.atom)?;
                let constant = coefficient.as_constant().filter(|_| index + 1 == access.subscripts.len());
                for (place, distance) in places.iter_mut().zip(&along.distances) {
                    match constant {
                        Some(elements) => {
                            let bytes = elements.checked_mul(*distance)?.checked_mul(size)?;
                            place.byte = place.byte.checked_add(bytes)?;
                        }
                        // A row that is at least a sector long.
                        None => place.row.push(*distance),
                    }
                }
            }
        }
        Some(places)
    }

    /// Where in a sector the first thread's element may begin: what is known of it, and what other loops and rows add.
    fn starts(&self, found: &Accesses, last: &Polynomial, size: i128) -> Option<Vec<i128>> {
        let (mut first, mut apart) = (last.constant_part().checked_mul(size)?, SECTOR);
        for (atoms, elements) in last.terms() {
            // Rows of unknown length begin with a sector.
            let [atom] = atoms else { continue };
            let bytes = elements.checked_mul(size)?;
            let (lower, step) = values(found, *atom);
            first = first.checked_add(bytes.checked_mul(lower)?)?;
            // Of a warp's first thread a variable that differs in it is a multiple of what the warp covers.
            if !self.loops.iter().any(|along| along.atom == *atom && along.differs()) {
                apart = greatest_divisor(apart, bytes.checked_mul(step)?);
            }
        }
        let first = first.rem_euclid(apart);
        Some((0..SECTOR / apart).map(|index| first + index * apart).collect())
    }
}

/// The least value of a loop's variable and its step; of what else there is, any value.
fn values(found: &Accesses, atom: Atom) -> (i128, i128) {
    let own = found.loops.iter().find(|one| one.atom == atom);
    let known = own.and_then(|one| Some((one.range.lower.as_ref()?.as_constant()?, one.step?)));
    known.filter(|(_, step)| *step > 0).unwrap_or((0, 1))
}

/// Does a compiler have the value in a register? The same element was accessed before, as often, and nothing is stored between.
fn is_loaded_before(found: &Accesses, index: usize) -> bool {
    let (before, rest) = found.accesses.split_at(index);
    let Some(access) = rest.first().filter(|access| !access.writes) else { return false };
    let is_same = |other: &Access| {
        other.root == access.root
            && other.subscripts == access.subscripts
            && other.loops == access.loops
            && other.guards == access.guards
    };
    let hidden = before.iter().rposition(|other| other.writes && may_be_same(other, access));
    let known = before.iter().rposition(is_same);
    known.is_some_and(|known| hidden.is_none_or(|hidden| known >= hidden))
}

/// How often an access is made in one iteration. Loads that a serial loop does not change are made before it, if it stores nothing that they
/// may load.
fn times(found: &Accesses, access: &Access, promised: usize) -> f64 {
    let inner = || access.loops.iter().rev().filter(|index| **index >= promised);
    let is_same = |index: &&usize| {
        let Some(one) = found.loops.get(**index) else { return false };
        let stores = |other: &Access| other.writes && other.loops.contains(*index) && may_be_same(other, access);
        !access.writes
            && !access.subscripts.iter().any(|subscript| found.hangs_on(&subscript.form, one.atom))
            && !found.accesses.iter().any(stores)
    };
    inner().skip_while(is_same).map(|index| trips_or_assumed(found, *index)).product()
}

/// May two accesses be of one element? Elements of different numbers are not (ISO C, 6.5), which compilers make use of.
fn may_be_same(one: &Access, other: &Access) -> bool {
    match (&one.element, &other.element) {
        (Some(DeclaredType::Scalar { number: one, .. }), Some(DeclaredType::Scalar { number: other, .. })) => {
            one == other
        }
        _ => true,
    }
}
