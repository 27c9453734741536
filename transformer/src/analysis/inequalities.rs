//! Have integer inequalities a common solution? Fourier-Motzkin elimination over the integers' relaxation.
//!
//! Each product of atoms counts as an unknown of its own, and unknowns may take fractions after the first step. Both
//! only add solutions, so that "none" is certain and anything else means "perhaps".

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::polynomial::{Atom, Polynomial};

/// The most inequalities that are kept. Systems of loops and guards have a few dozen.
const MOST_ROWS: usize = 160;

/// Is there certainly no integer solution in which all of `rows` are at least zero and all of `zeros` are zero?
#[must_use]
pub fn have_no_solution(rows: &[Polynomial], zeros: &[Polynomial]) -> bool {
    let mut rows = rows.to_vec();
    let mut zeros = zeros.to_vec();
    while let Some(zero) = zeros.pop() {
        if has_no_root(&zero) {
            return true;
        }
        if !replace(&zero, &mut rows) || !replace(&zero, &mut zeros) {
            rows.extend(zero.negated());
            rows.push(zero);
        }
    }
    eliminate_all(rows)
}

/// Is a sum of multiples of unknowns never zero, because their common divisor does not divide the number beside them?
fn has_no_root(zero: &Polynomial) -> bool {
    match divisor(zero) {
        0 => zero.constant_part() != 0,
        divisor => zero.constant_part() % divisor != 0,
    }
}

/// Takes an unknown that an equation gives as a sum of others out of all of `rows`. False if no unknown has a factor of
/// one there, or a row grows too large.
fn replace(zero: &Polynomial, rows: &mut Vec<Polynomial>) -> bool {
    let alone = zero.terms().find(|(atoms, factor)| !atoms.is_empty() && factor.abs() == 1);
    let Some((unknown, factor)) = alone else { return zero.is_zero() };
    let replaced = rows.iter().map(|row| match coefficient(row, unknown) {
        0 => Some(row.clone()),
        own => row.minus(&zero.times(&Polynomial::constant(own.checked_mul(factor)?))?),
    });
    match replaced.collect::<Option<Vec<_>>>() {
        Some(replaced) => {
            *rows = replaced;
            true
        }
        None => false,
    }
}

/// Takes one unknown after the other away. True if that leads to a contradiction.
fn eliminate_all(rows: Vec<Polynomial>) -> bool {
    let mut rows: BTreeSet<Polynomial> = rows.iter().filter_map(tightened).collect();
    loop {
        if rows.iter().any(|row| row.as_constant().is_some_and(|number| number < 0)) {
            return true;
        }
        let Some(unknown) = cheapest(&rows) else { return false };
        let Some(fewer) = eliminate(&rows, &unknown) else { return false };
        rows = fewer;
    }
}

/// The unknown whose elimination leaves the fewest rows.
fn cheapest(rows: &BTreeSet<Polynomial>) -> Option<Vec<Atom>> {
    let mut signs: BTreeMap<&[Atom], (usize, usize)> = BTreeMap::new();
    for (atoms, factor) in rows.iter().flat_map(Polynomial::terms).filter(|(atoms, _)| !atoms.is_empty()) {
        let (above, below) = signs.entry(atoms).or_default();
        *(if factor > 0 { above } else { below }) += 1;
    }
    let cheapest = signs.into_iter().min_by_key(|(_, (above, below))| above * below)?;
    Some(cheapest.0.to_vec())
}

/// What remains of the rows without an unknown: each that bounds it from below is added to each that bounds it from
/// above. `None` if there are too many.
fn eliminate(rows: &BTreeSet<Polynomial>, unknown: &[Atom]) -> Option<BTreeSet<Polynomial>> {
    let (with, mut left): (Vec<_>, BTreeSet<_>) = (
        rows.iter().filter(|row| coefficient(row, unknown) != 0).collect(),
        rows.iter().filter(|row| coefficient(row, unknown) == 0).cloned().collect(),
    );
    let (below, above): (Vec<&Polynomial>, Vec<&Polynomial>) =
        with.into_iter().partition(|row| coefficient(row, unknown) > 0);
    for first in &below {
        for second in &above {
            // A sum that grows too large is left out, which only allows more solutions.
            left.extend(sum_without(first, second, unknown).as_ref().and_then(tightened));
        }
    }
    (left.len() <= MOST_ROWS).then_some(left)
}

/// The sum of multiples of two rows in which an unknown cancels out: its factor is above zero in the first, and below in
/// the second.
fn sum_without(first: &Polynomial, second: &Polynomial, unknown: &[Atom]) -> Option<Polynomial> {
    let by_second = Polynomial::constant(coefficient(second, unknown).checked_neg()?);
    let by_first = Polynomial::constant(coefficient(first, unknown));
    first.times(&by_second)?.plus(&second.times(&by_first)?)
}

/// The same inequality for integers, divided by what divides all factors. `None` if it always holds.
fn tightened(row: &Polynomial) -> Option<Polynomial> {
    let divisor = divisor(row);
    if divisor == 0 {
        return (row.constant_part() < 0).then(|| row.clone());
    }
    let number = Polynomial::constant(row.constant_part());
    let (factors, _) = row.minus(&number)?.divided_by(&Polynomial::constant(divisor))?;
    factors.plus(&Polynomial::constant(row.constant_part().div_euclid(divisor)))
}

fn coefficient(row: &Polynomial, unknown: &[Atom]) -> i128 {
    row.terms().find(|(atoms, _)| *atoms == unknown).map_or(0, |(_, factor)| factor)
}

/// The greatest number that divides the factors of all unknowns; zero if there are none.
fn divisor(row: &Polynomial) -> i128 {
    row.coefficients().fold(0, greatest_common_divisor)
}

/// The greatest number that divides both.
pub(super) fn greatest_common_divisor(first: i128, second: i128) -> i128 {
    let (mut first, mut second) = (first.unsigned_abs(), second.unsigned_abs());
    while second != 0 {
        (first, second) = (second, first % second);
    }
    i128::try_from(first).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(factors: &[i128], number: i128) -> Polynomial {
        let terms = factors
            .iter()
            .zip(0_u32..)
            .filter_map(|(factor, index)| Polynomial::atom(Atom(index)).times(&Polynomial::constant(*factor)));
        terms.fold(Polynomial::constant(number), |sum, term| sum.plus(&term).unwrap())
    }

    fn value(row: &Polynomial, at: &[i128]) -> i128 {
        row.terms().fold(0, |sum, (atoms, factor)| {
            sum + atoms.iter().fold(factor, |product, atom| product * at[usize::try_from(atom.0).unwrap()])
        })
    }

    #[test]
    fn bounds_exclude_each_other() {
        assert!(have_no_solution(&[row(&[1, -1], -1), row(&[-1, 1], 0)], &[]), "i > j and j >= i");
        assert!(!have_no_solution(&[row(&[1, -1], 0), row(&[-1, 1], 0)], &[]), "i = j");
        assert!(have_no_solution(&[row(&[1, -1], -1)], &[row(&[1, 0, -1], 0), row(&[0, 1, -1], 0)]));
    }

    #[test]
    fn only_integers_count() {
        assert!(have_no_solution(&[], &[row(&[2, -4], 1)]), "an odd number is no sum of even ones");
        assert!(have_no_solution(&[row(&[2], -1), row(&[-2], 1)], &[]), "nothing between 1/2 and 1/2");
    }

    #[test]
    fn what_grows_too_large_proves_nothing() {
        let large = i128::MAX / 2;
        assert!(!have_no_solution(&[row(&[large, -7], 0), row(&[-7, large], -1)], &[]));
    }

    const WIDTH: i128 = 3;

    fn small_row() -> impl Strategy<Value = Polynomial> {
        (prop::collection::vec(-3_i128..=3, 3), -4_i128..=4).prop_map(|(factors, number)| row(&factors, number))
    }

    fn box_points() -> impl Iterator<Item = [i128; 3]> {
        let values = || -WIDTH..=WIDTH;
        values().flat_map(move |x| values().flat_map(move |y| values().map(move |z| [x, y, z])))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        /// No system that has a solution in a small box is said to have none.
        #[test]
        fn no_solution_is_overlooked(
            rows in prop::collection::vec(small_row(), 0..6),
            zeros in prop::collection::vec(small_row(), 0..3),
        ) {
            let solves = |at: &[i128; 3]| {
                rows.iter().all(|row| value(row, at) >= 0) && zeros.iter().all(|row| value(row, at) == 0)
            };
            if box_points().any(|at| solves(&at)) {
                prop_assert!(!have_no_solution(&rows, &zeros));
            }
        }

        /// Bounds of differences, as loops have them, are decided exactly.
        #[test]
        fn differences_are_decided_exactly(bounds in prop::collection::vec((0..3_u32, 0..3_u32, -4_i128..=4), 0..8)) {
            let at = |index: u32| Polynomial::atom(Atom(index));
            let mut rows: Vec<Polynomial> = bounds
                .iter()
                .filter(|(first, second, _)| first != second)
                .map(|(first, second, number)| {
                    at(*first).minus(&at(*second)).unwrap().plus(&Polynomial::constant(*number)).unwrap()
                })
                .collect();
            for index in 0..3 {
                rows.push(at(index).plus(&Polynomial::constant(WIDTH)).unwrap());
                rows.push(Polynomial::constant(WIDTH).minus(&at(index)).unwrap());
            }
            let is_solved = box_points().any(|at| rows.iter().all(|row| value(row, &at) >= 0));
            prop_assert_eq!(have_no_solution(&rows, &[]), !is_solved);
        }
    }
}
