//! May two accesses of an array touch the same element in different iterations?
//!
//! They may if their subscripts can be equal. All rules are for mathematical integers; the caller makes sure that the
//! program's arithmetic does not overflow. Accesses are taken for dependent unless a rule proves the contrary.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::inequalities::{greatest_common_divisor, have_no_solution};
use crate::analysis::polynomial::{Atom, Polynomial};

/// The least and the greatest value of an iteration variable, both included. `None` if a bound is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// The least.
    pub lower: Option<Polynomial>,
    /// The greatest.
    pub upper: Option<Polynomial>,
}

/// What is known of the atoms.
#[derive(Clone, Debug, Default)]
pub struct Space {
    /// The atoms that vary, outer loops first. The bounds of an atom may contain only atoms before it.
    pub varying: Vec<(Atom, Range)>,
    /// Atoms that do not vary, but whose bounds are known. The bounds of an atom may contain only atoms before it.
    pub steady: Vec<(Atom, Range)>,
    /// Lower bounds of the atoms that do not vary.
    pub at_least: BTreeMap<Atom, i128>,
    /// What is at least zero: bounds of the loops around the accesses, and conditions under which they happen.
    pub facts: Vec<Polynomial>,
}

impl Range {
    /// What is at least zero for a value of the range.
    #[must_use]
    pub fn facts(&self, atom: Atom) -> Vec<Polynomial> {
        let value = Polynomial::atom(atom);
        let above = self.lower.as_ref().and_then(|lower| value.minus(lower));
        let below = self.upper.as_ref().and_then(|upper| upper.minus(&value));
        above.into_iter().chain(below).collect()
    }
}

/// How often an equation is taken apart.
const DEPTH: usize = 4;
/// The most bounds on one side that are tried for an atom.
const MOST_BOUNDS: usize = 4;

impl Space {
    /// Notes that a loop with these bounds has an iteration: the greatest value is not below the least.
    pub fn runs(&mut self, range: &Range) {
        let (Some(lower), Some(upper)) = (&range.lower, &range.upper) else { return };
        let Some(width) = upper.minus(lower) else { return };
        let [atom] = width.atoms()[..] else { return };
        let least = -width.constant_part();
        let is_plain = width.linear_in(atom).is_some_and(|(coefficient, _)| coefficient == Polynomial::constant(1));
        if is_plain && !self.varies(atom) {
            let known = self.at_least.entry(atom).or_insert(least);
            *known = (*known).max(least);
        }
    }

    fn varies(&self, atom: Atom) -> bool {
        self.varying.iter().any(|(other, _)| *other == atom)
    }

    /// Is the value never negative?
    #[must_use]
    pub fn is_nonnegative(&self, value: &Polynomial) -> bool {
        self.never_negative(value, self.steady.len() + self.varying.len()).unwrap_or(false)
            || value.negated().and_then(|below| below.minus(&Polynomial::constant(1))).is_some_and(|below| {
                let rows = self.rows(std::slice::from_ref(&below));
                have_no_solution(&[rows, vec![below]].concat(), &[])
            })
    }

    /// All that is known of the atoms of some values.
    fn rows(&self, values: &[Polynomial]) -> Vec<Polynomial> {
        let mut rows = self.facts.clone();
        let mut seen: BTreeSet<Atom> = BTreeSet::new();
        let mut waiting: Vec<Atom> = values.iter().chain(&self.facts).flat_map(Polynomial::atoms).collect();
        while let Some(atom) = waiting.pop() {
            if !seen.insert(atom) {
                continue;
            }
            let bounds = self.steady.iter().chain(&self.varying).filter(|(other, _)| *other == atom);
            let own: Vec<Polynomial> = bounds.flat_map(|(_, range)| range.facts(atom)).collect();
            waiting.extend(own.iter().flat_map(Polynomial::atoms));
            rows.extend(own);
            let least = self.at_least.get(&atom).map(|least| Polynomial::constant(*least));
            rows.extend(least.and_then(|least| Polynomial::atom(atom).minus(&least)));
        }
        rows
    }

    /// Is the value never negative? Only the first `depth` atoms with bounds may still occur in it. Each is replaced by
    /// the bound at which the value is least; the rest must then be sums and products of values that are not negative.
    fn never_negative(&self, value: &Polynomial, depth: usize) -> Option<bool> {
        let bounded = |index: usize| self.steady.get(index).or_else(|| self.varying.get(index - self.steady.len()));
        let Some((atom, range)) = depth.checked_sub(1).and_then(bounded) else {
            return self.is_sum_of_nonnegative(value);
        };
        if depth == self.steady.len() && self.is_sum_of_nonnegative(value) == Some(true) {
            return Some(true);
        }
        if !value.mentions(*atom) {
            return self.never_negative(value, depth - 1);
        }
        let (coefficient, rest) = value.linear_in(*atom)?;
        let bounds = if self.never_negative(&coefficient, depth - 1)? {
            self.bounds(*atom, range.lower.as_ref(), 1)
        } else if self.never_negative(&coefficient.negated()?, depth - 1)? {
            self.bounds(*atom, range.upper.as_ref(), -1)
        } else {
            return Some(false);
        };
        let mut least = bounds.iter().filter_map(|bound| coefficient.times(bound)?.plus(&rest));
        Some(least.any(|least| self.never_negative(&least, depth - 1) == Some(true)))
    }

    /// The bounds of an atom on one side: that of its range, and those of facts that hold it with this factor, 1 from below
    /// and -1 from above.
    fn bounds(&self, atom: Atom, of_range: Option<&Polynomial>, factor: i128) -> Vec<Polynomial> {
        let of_fact = |fact: &Polynomial| {
            let (coefficient, rest) = fact.linear_in(atom)?;
            let bound = if factor > 0 { rest.negated()? } else { rest };
            (coefficient == Polynomial::constant(factor)).then_some(bound)
        };
        let mut all: Vec<Polynomial> = of_range.cloned().into_iter().collect();
        for bound in self.facts.iter().filter_map(of_fact) {
            if !all.contains(&bound) && all.len() < MOST_BOUNDS {
                all.push(bound);
            }
        }
        all
    }

    fn is_sum_of_nonnegative(&self, value: &Polynomial) -> Option<bool> {
        let mut value = value.clone();
        for atom in value.atoms() {
            let Some(least) = self.at_least.get(&atom) else { return Some(false) };
            // From here on the atom means its distance from its least value.
            value = value.with(atom, &Polynomial::atom(atom).plus(&Polynomial::constant(*least))?)?;
        }
        Some(value.terms().all(|(_, coefficient)| coefficient >= 0))
    }

    /// Is the value never zero?
    #[must_use]
    pub fn is_nonzero(&self, value: &Polynomial) -> bool {
        let one = Polynomial::constant(1);
        let above = |value: &Polynomial| value.minus(&one).is_some_and(|less| self.is_nonnegative(&less));
        let divisor = value.coefficients().fold(0, greatest_common_divisor);
        let is_between_multiples = divisor > 1 && value.constant_part() % divisor != 0;
        value.as_constant().is_some_and(|constant| constant != 0)
            || is_between_multiples
            || above(value)
            || value.negated().is_some_and(|negative| above(&negative))
            || self.is_product_of_nonzero(value)
    }

    /// Is it a product of two values that are never zero, one of which is the factor of a varying atom: `(i - k) * n`?
    fn is_product_of_nonzero(&self, value: &Polynomial) -> bool {
        self.strides(value).iter().any(|stride| {
            value
                .divided_by(stride)
                .is_some_and(|(quotient, rest)| rest.is_zero() && self.is_nonzero(stride) && self.is_nonzero(&quotient))
        })
    }

    /// Are two elements different whenever the iterations are? `differences` holds, for each dimension, the first
    /// subscript less the second; `pairs` the iteration variables of both iterations. True if the elements differ, or if
    /// equal subscripts force every pair to be equal.
    #[must_use]
    pub fn are_independent(&self, differences: &[Polynomial], pairs: &[(Atom, Atom)]) -> bool {
        let mut forced: BTreeSet<(Atom, Atom)> = BTreeSet::new();
        loop {
            let mut equations = Vec::new();
            for difference in differences {
                let merged = forced.iter().try_fold(difference.clone(), |value, (first, second)| {
                    value.with(*second, &Polynomial::atom(*first))
                });
                self.take_apart(merged.as_ref().unwrap_or(difference), DEPTH, &mut equations);
            }
            let before = forced.len();
            let known = forced.clone();
            forced.extend(equations.iter().filter_map(|equation| self.forced_by(equation, pairs)));
            // Most pairs are found equal so, which takes less than to ask what no solution has.
            if !pairs.is_empty() && pairs.iter().all(|pair| forced.contains(pair))
                || equations.iter().any(|equation| self.is_nonzero(equation))
                || self.excludes(&equations, pairs, &known)
            {
                return true;
            }
            if forced.len() == before {
                return false;
            }
        }
    }

    /// Do the equations and what is known exclude that a pair differs? Those of `forced` are known to be equal.
    fn excludes(&self, equations: &[Polynomial], pairs: &[(Atom, Atom)], forced: &BTreeSet<(Atom, Atom)>) -> bool {
        let equal = |(first, second): &(Atom, Atom)| Polynomial::atom(*first).minus(&Polynomial::atom(*second));
        let equations: Vec<Polynomial> = equations.iter().cloned().chain(forced.iter().filter_map(equal)).collect();
        let rows = self.rows(&equations);
        let one = Polynomial::constant(1);
        let is_below = |first: Atom, second: Atom| {
            Polynomial::atom(second).minus(&Polynomial::atom(first)).and_then(|distance| distance.minus(&one))
        };
        let is_excluded = |order: Option<Polynomial>| {
            order.is_some_and(|order| have_no_solution(&[rows.as_slice(), &[order]].concat(), &equations))
        };
        !pairs.is_empty()
            && pairs
                .iter()
                .filter(|pair| !forced.contains(pair))
                .all(|(first, second)| is_excluded(is_below(*first, *second)) && is_excluded(is_below(*second, *first)))
    }

    /// Splits `C * q + r = 0` with `|r| < C` into `q = 0` and `r = 0`. This recovers the dimensions of a linearised
    /// subscript such as `a[i * n + j]`.
    fn take_apart(&self, equation: &Polynomial, depth: usize, into: &mut Vec<Polynomial>) {
        let parts = depth
            .checked_sub(1)
            .and_then(|_| self.strides(equation).iter().find_map(|stride| self.split(equation, stride)));
        let Some((quotient, rest)) = parts else { return into.push(equation.clone()) };
        self.take_apart(&quotient, depth - 1, into);
        self.take_apart(&rest, depth - 1, into);
    }

    /// The factors of varying atoms, without their sign, other than 1. The sign of one that is no number is not known.
    fn strides(&self, equation: &Polynomial) -> Vec<Polynomial> {
        let coefficients = self.varying.iter().filter_map(|(atom, _)| Some(equation.linear_in(*atom)?.0));
        let mut strides: Vec<Polynomial> = coefficients
            .flat_map(|stride| [stride.negated(), Some(stride)])
            .flatten()
            .filter(|stride| stride.as_constant().is_none_or(|number| number > 1))
            .filter(|stride| !self.varying.iter().any(|(atom, _)| stride.mentions(*atom)))
            .collect();
        strides.sort();
        strides.dedup();
        strides
    }

    fn split(&self, equation: &Polynomial, stride: &Polynomial) -> Option<(Polynomial, Polynomial)> {
        let (quotient, rest) = equation.divided_by(stride)?;
        let largest = stride.minus(&Polynomial::constant(1))?;
        let is_split = !quotient.is_zero() && !rest.is_zero();
        let is_below = |rest: &Polynomial| largest.minus(rest).is_some_and(|room| self.is_nonnegative(&room));
        (is_split && is_below(&rest) && is_below(&rest.negated()?)).then_some((quotient, rest))
    }

    /// The pair of variables that must be equal because `c * (v - v') = 0` and `c` is never zero.
    fn forced_by(&self, equation: &Polynomial, pairs: &[(Atom, Atom)]) -> Option<(Atom, Atom)> {
        let equal = |(first, second): &&(Atom, Atom)| {
            let with_first = equation.linear_in(*first)?;
            let (with_second, rest) = with_first.1.linear_in(*second)?;
            let cancels = rest.is_zero() && with_first.0.plus(&with_second)?.is_zero();
            (cancels && !with_first.0.mentions(*second) && self.is_nonzero(&with_first.0)).then_some(())
        };
        pairs.iter().find(|pair| equal(pair).is_some()).copied()
    }
}

#[cfg(test)]
mod tests;
