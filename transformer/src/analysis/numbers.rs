//! The addresses of a warp as numbers, where subscripts have parts of loop variables: `a[i / 16 * 32 + i % 16]`. What warps touch then differs
//! from warp to warp, so that several of the launch are looked at.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::accesses::{Access, Accesses, Divided, Loop};
use crate::analysis::coalescing::SECTOR;
use crate::analysis::polynomial::{Atom, Polynomial};

/// The most warps that are looked at.
const MOST_WARPS: i128 = 64;
/// Iterations of a loop whose length does not follow from the text.
const ASSUMED: i128 = 1 << 16;
/// The golden ratio in parts of 2 to the power of 64: its multiples are spread evenly, and no period lines up with them.
const GOLDEN: i128 = 0x9E37_79B9_7F4A_7C15;

/// A loop whose iterations are counted.
struct Counted {
    atom: Atom,
    first: i128,
    step: i128,
    trips: i128,
}

impl Counted {
    fn of(one: &Loop) -> Self {
        let step = one.step.unwrap_or(1);
        let first = if step < 0 { &one.range.upper } else { &one.range.lower };
        let first = first.as_ref().and_then(Polynomial::as_constant).unwrap_or(0);
        Self { atom: one.atom, first, step, trips: one.trips.unwrap_or(ASSUMED).max(1) }
    }
}

/// Where a thread accesses memory.
#[derive(PartialEq, Eq)]
pub(super) struct Place<R> {
    /// In which row. Rows are at least a sector long.
    pub(super) row: R,
    /// At which byte of it.
    pub(super) byte: i128,
}

/// What is known of each subscript of a row: the number that each product of unknown atoms is multiplied with.
type Row = Vec<BTreeMap<Vec<Atom>, i128>>;

/// The values that the subscripts of an access are made of, of each thread of a launch.
pub(super) struct Numbers<'a> {
    access: &'a Access,
    /// Threads of a warp.
    threads: i128,
    /// Warps of a launch.
    warps: i128,
    /// The loops that threads share, innermost first.
    shared: Vec<Counted>,
    /// Other loops that parts hang on, innermost first.
    serial: Vec<Counted>,
    /// The parts, each behind those that it is made of.
    divided: Vec<(Atom, &'a Divided)>,
}

impl<'a> Numbers<'a> {
    /// The numbers of an access by warps of so many threads, which share these loops. `None` if no part that it holds hangs on what `differs`, or
    /// one hangs on data.
    pub(super) fn of(
        found: &'a Accesses,
        access: &'a Access,
        (shared, threads): (&[Loop], i128),
        differs: impl Fn(Atom) -> bool,
    ) -> Option<Self> {
        let held = access.subscripts.iter().flat_map(|one| one.form.atoms());
        let parts = held.filter(|atom| found.divided.contains_key(atom)).map(|part| found.made_of(part));
        let atoms: BTreeSet<Atom> = parts.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect();
        if !atoms.iter().any(|atom| differs(*atom)) {
            return None;
        }
        let is_shared = |one: &Loop| shared.iter().any(|other| other.atom == one.atom);
        let serial = found.loops.iter().rev().filter(|one| atoms.contains(&one.atom) && !is_shared(one));
        let (shared, serial): (Vec<_>, _) =
            (shared.iter().rev().map(Counted::of).collect(), serial.map(Counted::of).collect());
        let divided = atoms.iter().filter_map(|atom| Some((*atom, found.divided.get(atom)?))).collect();
        let warps = (product(&shared)? / threads).max(1);
        Some(Self { access, threads, warps, shared, serial, divided })
    }

    /// What is left of a subscript without these numbers.
    pub(super) fn rest(&self, form: &Polynomial) -> Option<Polynomial> {
        let loops = self.shared.iter().chain(&self.serial).map(|one| one.atom);
        let mut atoms = loops.chain(self.divided.iter().map(|(atom, _)| *atom));
        atoms.try_fold(form.clone(), |form, atom| form.with(atom, &Polynomial::default()))
    }

    /// Where the threads of each warp that is looked at access memory, in elements of this size.
    pub(super) fn places(&self, size: i128) -> Option<Vec<Vec<Place<Row>>>> {
        let warp = |index: i128| (0..self.threads).map(|lane| self.place(index, lane, size)).collect();
        self.sample(size)?.into_iter().map(warp).collect()
    }

    /// The warps to look at, in each iteration of serial loops others: all, or those after which it all begins anew, or some that are spread evenly.
    fn sample(&self, size: i128) -> Option<Vec<i128>> {
        let all = self.warps.checked_mul(product(&self.serial)?)?;
        let period = Some(all).filter(|all| *all <= MOST_WARPS).or_else(|| self.period(size));
        if let Some(period) = period {
            return Some((0..period.min(all)).collect());
        }
        let at = |index: i128| Some(((index * GOLDEN) & i128::from(u64::MAX)).checked_mul(all)? >> u64::BITS);
        (0..MOST_WARPS).map(at).collect()
    }

    /// The number of warps after which all addresses are as many sectors further. `None` if that is too many.
    fn period(&self, size: i128) -> Option<i128> {
        let inner = |loops: &[Counted]| loops.split_last().map_or(Some(1), |(_, inner)| product(inner));
        let mut period = match self.serial.as_slice() {
            [] => {
                let within = inner(&self.shared)?;
                within / greatest_divisor(within, self.threads)
            }
            serial => self.warps.checked_mul(inner(serial)?)?,
        };
        let last = &self.access.subscripts.last()?.form;
        let parts = self.divided.iter().map(|(_, one)| Some((&one.dividend, 1, one.modulus()?)));
        for all in parts.chain([Some((last, size, SECTOR))]) {
            let (form, factor, modulus) = all?;
            let [from, to] = [0, period].map(|index| number(form, &self.values(index, 0)?));
            let change = to?.checked_sub(from?)?.checked_mul(factor)?;
            period = period.checked_mul(modulus / greatest_divisor(modulus, change))?;
            if period > MOST_WARPS {
                return None;
            }
        }
        Some(period)
    }

    /// What a thread's loop variables and their parts are.
    fn values(&self, index: i128, lane: i128) -> Option<Vec<(Atom, i128)>> {
        let (warp, iteration) =
            if self.serial.is_empty() { (index, 0) } else { (index % self.warps, index / self.warps) };
        let mut values = Vec::new();
        for (loops, mut left) in
            [(&self.shared, warp.checked_mul(self.threads)?.checked_add(lane)?), (&self.serial, iteration)]
        {
            for (at, one) in loops.iter().enumerate() {
                let own = if at + 1 == loops.len() { left } else { left % one.trips };
                left /= one.trips;
                values.push((one.atom, one.step.checked_mul(own)?.checked_add(one.first)?));
            }
        }
        for (atom, one) in &self.divided {
            values.push((*atom, one.of(number(&one.dividend, &values)?)?));
        }
        Some(values)
    }

    /// Where a thread accesses memory.
    fn place(&self, index: i128, lane: i128, size: i128) -> Option<Place<Row>> {
        let values = self.values(index, lane)?;
        let mut row: Row =
            self.access.subscripts.iter().map(|one| known_parts(&one.form, &values)).collect::<Option<_>>()?;
        let elements = row.last_mut().and_then(|last| last.remove(&Vec::new())).unwrap_or(0);
        Some(Place { row, byte: elements.checked_mul(size)? })
    }
}

/// The sectors that a warp touches, on average over warps and over where the first thread's row may begin.
pub(super) fn touched<R: Ord>(warps: &[Vec<Place<R>>], starts: &[i128]) -> f64 {
    let sectors = |warp: &[Place<R>], start: &i128| {
        let sectors = warp.iter().map(|place| (&place.row, (start + place.byte).div_euclid(SECTOR)));
        sectors.collect::<BTreeSet<_>>().len()
    };
    let all: usize = warps.iter().flat_map(|warp| starts.iter().map(|start| sectors(warp, start))).sum();
    count(all) / count(warps.len() * starts.len())
}

#[expect(clippy::cast_precision_loss, reason = "a warp touches few sectors")]
fn count(number: usize) -> f64 {
    number as f64
}

pub(super) fn greatest_divisor(one: i128, other: i128) -> i128 {
    if other == 0 { one.abs() } else { greatest_divisor(other, one % other) }
}

/// How often the innermost of some loops runs.
fn product(loops: &[Counted]) -> Option<i128> {
    loops.iter().try_fold(1_i128, |product, one| product.checked_mul(one.trips))
}

/// The value that is known of a product of atoms, and those of which nothing is known.
fn known(atoms: &[Atom], values: &[(Atom, i128)]) -> Option<(i128, Vec<Atom>)> {
    let mut all = (1_i128, Vec::new());
    for atom in atoms {
        match values.iter().find(|(one, _)| one == atom) {
            Some((_, value)) => all.0 = all.0.checked_mul(*value)?,
            None => all.1.push(*atom),
        }
    }
    Some(all)
}

/// The sums of what is known, for each product of unknown atoms that they are multiplied with, without constants.
fn known_parts(form: &Polynomial, values: &[(Atom, i128)]) -> Option<BTreeMap<Vec<Atom>, i128>> {
    let mut sums = BTreeMap::new();
    for (atoms, factor) in form.terms() {
        let (value, unknown) = known(atoms, values)?;
        if unknown.len() < atoms.len() {
            let sum: &mut i128 = sums.entry(unknown).or_default();
            *sum = sum.checked_add(value.checked_mul(factor)?)?;
        }
    }
    Some(sums)
}

/// The value of a polynomial, in which unknown atoms count as zero.
fn number(form: &Polynomial, values: &[(Atom, i128)]) -> Option<i128> {
    known_parts(form, values)?.remove(&Vec::new()).unwrap_or(0).checked_add(form.constant_part())
}
