//! Quotients, remainders, shifts and masks by numbers.

use super::values::{Value, fits};
use super::{Accesses, Reader};
use crate::analysis::dependence::Range;
use crate::analysis::polynomial::{Atom, Polynomial};
use crate::semantics::Integer;
use crate::syntax::{NodeId, NodeKind};

/// What an unknown value is made of, so that its number can be told for each thread.
///
/// Predictions alone go by it. What is proved sees an unknown value, and the bounds that [`Accesses::ranges`] has of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divided {
    /// What is divided.
    pub dividend: Polynomial,
    /// The type in which it is divided.
    pub integer: Integer,
    /// What is made of it.
    pub part: Part,
}

/// A part of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// `x / 8`: rounded to zero.
    Quotient(i128),
    /// `x % 8`: with the sign of `x`.
    Remainder(i128),
    /// `x >> 3`: rounded down.
    Shifted(u32),
    /// `x & 7`.
    Masked(i128),
}

impl Divided {
    /// The value, where what is divided has this one. `None` if the number grows too large.
    #[must_use]
    pub fn of(&self, dividend: i128) -> Option<i128> {
        let dividend = held(self.integer, dividend)?;
        match self.part {
            Part::Quotient(divisor) => dividend.checked_div(divisor),
            Part::Remainder(divisor) => dividend.checked_rem(divisor),
            Part::Shifted(places) => dividend.checked_shr(places),
            Part::Masked(mask) => Some(dividend & mask),
        }
    }

    /// Where what is divided grows by multiples of this number, quotients grow alike, and remainders stay. `None` if the number grows too large.
    #[must_use]
    pub fn modulus(&self) -> Option<i128> {
        match self.part {
            Part::Quotient(divisor) | Part::Remainder(divisor) => Some(divisor),
            Part::Shifted(places) => 1_i128.checked_shl(places),
            Part::Masked(mask) => i128::try_from(mask.unsigned_abs().checked_add(1)?.checked_next_power_of_two()?).ok(),
        }
    }
}

/// The value of a type that a number becomes there.
fn held(integer: Integer, number: i128) -> Option<i128> {
    let values = 1_i128.checked_shl(integer.bits)?;
    let least = if integer.signed { -(values / 2) } else { 0 };
    number.checked_sub(least)?.rem_euclid(values).checked_add(least)
}

impl Accesses {
    /// All that a value is made of, itself included. `None` if that hangs on data.
    #[must_use]
    pub fn made_of(&self, atom: Atom) -> Option<Vec<Atom>> {
        let all = closure(vec![atom], |atom| self.dividend(atom));
        let hangs_on_data = |atom: &Atom| self.opaque.contains(atom) && !self.divided.contains_key(atom);
        (!all.iter().any(hangs_on_data)).then_some(all)
    }

    /// Does a value change with an atom, be it through parts that are made of it, or through the place that it is loaded from?
    #[must_use]
    pub fn hangs_on(&self, form: &Polynomial, atom: Atom) -> bool {
        let subscripts = |atom: &Atom| self.loads.get(atom).into_iter().flat_map(|load| &load.subscripts);
        let loaded = |atom: &Atom| subscripts(atom).flat_map(|one| one.form.atoms()).collect::<Vec<_>>();
        closure(form.atoms(), |atom| [self.dividend(atom), loaded(atom)].concat()).contains(&atom)
    }

    /// The atoms that a part is made of.
    fn dividend(&self, part: &Atom) -> Vec<Atom> {
        self.divided.get(part).map(|one| one.dividend.atoms()).unwrap_or_default()
    }
}

/// Some atoms, with those that lie behind them.
fn closure(mut atoms: Vec<Atom>, behind: impl Fn(&Atom) -> Vec<Atom>) -> Vec<Atom> {
    let mut next = 0;
    while let Some(atom) = atoms.get(next) {
        let new: Vec<Atom> = behind(atom).into_iter().filter(|atom| !atoms.contains(atom)).collect();
        atoms.extend(new);
        next += 1;
    }
    atoms
}

impl Reader<'_, '_> {
    /// Quotients, remainders, shifts and masks: of constants, and `x << 3`. `x / 8`, `x % 8`, `x >> 3` and `x & 7` become unknown values, of
    /// which some lie between bounds.
    pub(super) fn of_constants(
        &mut self,
        node: NodeId,
        operator: NodeKind,
        left: &Value,
        right: &Value,
    ) -> Option<Value> {
        let integer = left.integer;
        let number = |value: &Value| value.form.as_constant().filter(|number| *number >= 0 && !value.wraps);
        let second = number(right)?;
        let places = u32::try_from(second).ok().filter(|places| *places < integer.bits);
        let first = number(left);
        let form = match (operator, first) {
            (NodeKind::Slash, Some(first)) => Polynomial::constant(first.checked_div(second)?),
            (NodeKind::Percent, Some(first)) => Polynomial::constant(first.checked_rem(second)?),
            (NodeKind::Ampersand, Some(first)) => Polynomial::constant(first & second),
            (NodeKind::Bar, Some(first)) => Polynomial::constant(first | second),
            (NodeKind::Caret, Some(first)) => Polynomial::constant(first ^ second),
            (NodeKind::GreaterGreater, Some(first)) => Polynomial::constant(first >> places?),
            (NodeKind::LessLess, _) if places? < 31 => left.form.times(&Polynomial::constant(1 << second))?,
            _ if left.form.as_constant().is_some() => return None,
            (NodeKind::Slash, None) if second > 0 => return Some(self.divided(node, left, Part::Quotient(second))),
            (NodeKind::GreaterGreater, None) => return Some(self.divided(node, left, Part::Shifted(places?))),
            (NodeKind::Ampersand, None) => return Some(self.divided(node, left, Part::Masked(second))),
            (NodeKind::Percent, None) if second > 0 => return Some(self.divided(node, left, Part::Remainder(second))),
            _ => return None,
        };
        let wraps = left.wraps || (integer.wraps() && operator == NodeKind::LessLess);
        fits(&form, integer).then_some(Value { form, integer, wraps })
    }

    /// A part of a value: unknown, between bounds if the part tells them.
    fn divided(&mut self, node: NodeId, dividend: &Value, part: Part) -> Value {
        let integer = dividend.integer;
        let between = match part {
            Part::Quotient(_) | Part::Shifted(_) => None,
            Part::Remainder(divisor) if integer.signed => Some((1 - divisor, divisor - 1)),
            Part::Remainder(divisor) => Some((0, divisor - 1)),
            Part::Masked(mask) => Some((0, mask)),
        };
        let form = self.opaque(node);
        if let Some(atom) = form.atoms().first() {
            if let Some((lower, upper)) = between {
                let [lower, upper] = [lower, upper].map(|number| Some(Polynomial::constant(number)));
                self.found.ranges.insert(*atom, Range { lower, upper });
            }
            self.found.divided.insert(*atom, Divided { dividend: dividend.form.clone(), integer, part });
        }
        Value::exact(form, integer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(integer: Integer, part: Part, number: i128) -> Option<i128> {
        Divided { dividend: Polynomial::default(), integer, part }.of(number)
    }

    #[test]
    fn parts_are_those_that_c_has() {
        let parts = [Part::Quotient(4), Part::Remainder(4), Part::Shifted(2), Part::Masked(3)];
        let all = |integer, number| parts.map(|part| of(integer, part, number).unwrap());
        assert_eq!(all(Integer::INT, 7), [1, 3, 1, 3]);
        assert_eq!(all(Integer::INT, -7), [-1, -3, -2, 1]);
        let unsigned = Integer { bits: 32, signed: false };
        assert_eq!(all(unsigned, -7), [(1 << 30) - 2, 1, (1 << 30) - 2, 1], "the same as 4,294,967,289");
    }

    #[test]
    fn parts_repeat() {
        let moduli = [Part::Quotient(12), Part::Remainder(5), Part::Shifted(3), Part::Masked(7), Part::Masked(10)];
        let moduli =
            moduli.map(|part| Divided { dividend: Polynomial::default(), integer: Integer::INT, part }.modulus());
        assert_eq!(moduli, [12, 5, 8, 8, 16].map(Some));
    }
}
