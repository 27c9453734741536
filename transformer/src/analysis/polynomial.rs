//! Polynomials with integer coefficients: the normal form of subscripts and bounds.
//!
//! Two expressions that are equal by the rules of a ring have the same form, so a difference of zero is seen at once.
//! All arithmetic is checked: a polynomial that would grow too large is given up.

use std::collections::BTreeMap;

/// What stands for an integer that is not known: an iteration variable, a variable of the program, any other value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Atom(pub u32);

/// Atoms multiplied with each other, sorted; empty for one.
type Monomial = Vec<Atom>;

/// The most terms that are kept, and the highest degree: subscripts of real programs stay far below.
const MOST_TERMS: usize = 64;
const HIGHEST_DEGREE: usize = 8;

/// A sum of products of atoms.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Polynomial {
    /// No coefficient is zero.
    terms: BTreeMap<Monomial, i128>,
}

impl Polynomial {
    /// A number.
    #[must_use]
    pub fn constant(value: i128) -> Self {
        let mut terms = BTreeMap::new();
        if value != 0 {
            terms.insert(Vec::new(), value);
        }
        Self { terms }
    }

    /// An atom.
    #[must_use]
    pub fn atom(atom: Atom) -> Self {
        Self { terms: BTreeMap::from([(vec![atom], 1)]) }
    }

    /// Is it zero for all values of the atoms?
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// Its value, if it has no atoms.
    #[must_use]
    pub fn as_constant(&self) -> Option<i128> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// The part without atoms.
    #[must_use]
    pub fn constant_part(&self) -> i128 {
        self.terms.get(&Vec::new()).copied().unwrap_or(0)
    }

    /// The coefficients of the terms with atoms.
    pub fn coefficients(&self) -> impl Iterator<Item = i128> + '_ {
        self.terms.iter().filter(|(monomial, _)| !monomial.is_empty()).map(|(_, coefficient)| *coefficient)
    }

    /// Each term: its atoms and coefficient.
    pub fn terms(&self) -> impl Iterator<Item = (&[Atom], i128)> {
        self.terms.iter().map(|(monomial, coefficient)| (monomial.as_slice(), *coefficient))
    }

    /// The atoms that it holds, each once, in order.
    #[must_use]
    pub fn atoms(&self) -> Vec<Atom> {
        let mut all: Vec<Atom> = self.terms.keys().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Does it hold the atom?
    #[must_use]
    pub fn mentions(&self, atom: Atom) -> bool {
        self.terms.keys().any(|monomial| monomial.contains(&atom))
    }

    /// The sum. `None` if it grows too large.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let mut terms = self.terms.clone();
        for (monomial, coefficient) in &other.terms {
            add(&mut terms, monomial.clone(), *coefficient)?;
        }
        (terms.len() <= MOST_TERMS).then_some(Self { terms })
    }

    /// The difference. `None` if it grows too large.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.negated()?)
    }

    /// The polynomial times -1. `None` if it grows too large.
    #[must_use]
    pub fn negated(&self) -> Option<Self> {
        let terms =
            self.terms.iter().map(|(monomial, coefficient)| Some((monomial.clone(), coefficient.checked_neg()?)));
        Some(Self { terms: terms.collect::<Option<_>>()? })
    }

    /// The product. `None` if it grows too large.
    #[must_use]
    pub fn times(&self, other: &Self) -> Option<Self> {
        let mut terms = BTreeMap::new();
        for (left, first) in &self.terms {
            for (right, second) in &other.terms {
                let mut monomial = [left.as_slice(), right.as_slice()].concat();
                monomial.sort_unstable();
                if monomial.len() > HIGHEST_DEGREE {
                    return None;
                }
                add(&mut terms, monomial, first.checked_mul(*second)?)?;
            }
        }
        (terms.len() <= MOST_TERMS).then_some(Self { terms })
    }

    /// Splits the polynomial into `coefficient * atom + rest`, where neither part has the atom. `None` if the atom has
    /// a higher power.
    #[must_use]
    pub fn linear_in(&self, atom: Atom) -> Option<(Self, Self)> {
        let (mut coefficient, mut rest) = (Self::default(), Self::default());
        for (monomial, value) in &self.terms {
            match monomial.iter().filter(|one| **one == atom).count() {
                0 => rest.terms.insert(monomial.clone(), *value),
                1 => {
                    let others = monomial.iter().copied().filter(|one| *one != atom).collect();
                    coefficient.terms.insert(others, *value)
                }
                _ => return None,
            };
        }
        Some((coefficient, rest))
    }

    /// Puts a polynomial in the place of an atom. `None` if the result grows too large.
    #[must_use]
    pub fn with(&self, atom: Atom, value: &Self) -> Option<Self> {
        let mut sum = Self::default();
        for (monomial, coefficient) in &self.terms {
            let mut product = Self::constant(*coefficient);
            for one in monomial {
                product = product.times(&if *one == atom { value.clone() } else { Self::atom(*one) })?;
            }
            sum = sum.plus(&product)?;
        }
        Some(sum)
    }

    /// Renames some atoms.
    #[must_use]
    pub fn renamed(&self, name: &dyn Fn(Atom) -> Atom) -> Self {
        let mut terms = BTreeMap::new();
        for (monomial, coefficient) in &self.terms {
            let mut monomial: Monomial = monomial.iter().map(|atom| name(*atom)).collect();
            monomial.sort_unstable();
            // No two atoms get the same name, so no two terms become equal.
            terms.insert(monomial, *coefficient);
        }
        Self { terms }
    }

    /// `(q, r)` with `self = divisor * q + r`, where no term of `r` holds a multiple of the divisor's leading term.
    #[must_use]
    pub fn divided_by(&self, divisor: &Self) -> Option<(Self, Self)> {
        if let Some(number) = divisor.as_constant() {
            return self.divided_by_number(number);
        }
        let (leading, factor) = divisor.terms.iter().max_by_key(|(monomial, _)| (monomial.len(), *monomial))?;
        let (mut quotient, mut rest) = (Self::default(), self.clone());
        // Each step takes away the largest term that can be divided, and adds only smaller ones.
        for _ in 0..MOST_TERMS {
            let fitting = rest.terms.iter().rev().find_map(|(monomial, coefficient)| {
                let others = without(monomial, leading)?;
                (coefficient % factor == 0).then(|| Self { terms: BTreeMap::from([(others, coefficient / factor)]) })
            });
            let Some(step) = fitting else { return Some((quotient, rest)) };
            rest = rest.minus(&step.times(divisor)?)?;
            quotient = quotient.plus(&step)?;
        }
        None
    }

    /// Division by a number: each coefficient of the rest is as near to zero as possible.
    fn divided_by_number(&self, number: i128) -> Option<(Self, Self)> {
        let magnitude = number.checked_abs().filter(|magnitude| *magnitude > 0)?;
        let (mut quotient, mut rest) = (Self::default(), Self::default());
        for (monomial, coefficient) in &self.terms {
            let below = coefficient.rem_euclid(magnitude);
            let remainder = if below * 2 > magnitude { below - magnitude } else { below };
            add(&mut quotient.terms, monomial.clone(), (coefficient - remainder) / number)?;
            add(&mut rest.terms, monomial.clone(), remainder)?;
        }
        Some((quotient, rest))
    }
}

fn add(terms: &mut BTreeMap<Monomial, i128>, monomial: Monomial, coefficient: i128) -> Option<()> {
    let sum = terms.get(&monomial).copied().unwrap_or(0).checked_add(coefficient)?;
    if sum == 0 {
        terms.remove(&monomial);
    } else {
        terms.insert(monomial, sum);
    }
    Some(())
}

/// Divides one product of atoms by another. `None` if it cannot be divided.
fn without(monomial: &[Atom], part: &[Atom]) -> Option<Monomial> {
    let mut rest = monomial.to_vec();
    for atom in part {
        let at = rest.iter().position(|one| one == atom)?;
        rest.remove(at);
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const I: Atom = Atom(0);
    const J: Atom = Atom(1);
    const N: Atom = Atom(2);

    fn at(atom: Atom) -> Polynomial {
        Polynomial::atom(atom)
    }

    fn number(value: i128) -> Polynomial {
        Polynomial::constant(value)
    }

    #[test]
    fn equal_expressions_have_one_form() {
        let next = at(I).plus(&number(1)).unwrap().times(&at(N)).unwrap();
        let this = at(I).times(&at(N)).unwrap();
        assert_eq!(next.minus(&this).unwrap(), at(N));
        assert!(next.minus(&next).unwrap().is_zero());
    }

    #[test]
    fn division_gives_back_the_whole() {
        let pitch = at(N).plus(&number(2)).unwrap();
        let cell = at(I).times(&pitch).unwrap().plus(&at(J)).unwrap();
        assert_eq!(cell.divided_by(&pitch).unwrap(), (at(I), at(J)));
        let constant = at(I).times(&number(1024)).unwrap().plus(&at(J)).unwrap().minus(&number(1)).unwrap();
        let (quotient, rest) = constant.divided_by(&number(1024)).unwrap();
        assert_eq!((quotient, rest), (at(I), at(J).minus(&number(1)).unwrap()));
    }

    #[test]
    fn what_grows_too_large_has_no_form() {
        assert_eq!(number(i128::MAX).plus(&number(1)), None);
        assert_eq!(number(i128::MAX).times(&number(2)), None);
        let mut power = at(N);
        for _ in 0..10 {
            let Some(next) = power.times(&at(N)) else { return };
            power = next;
        }
        panic!("a degree without bound");
    }
}
