//! From which value of a variable on a split pays: the condition that a host `if` can test.

use std::collections::BTreeSet;

use crate::analysis::cost::Estimate;
use crate::context::Context;
use crate::source::Span;
use crate::transforms::split_target::facts::cost::sizes::variables_of;
use crate::transforms::split_target::facts::cost::{Counts, Lengths, Taken, is_steered};
use crate::transforms::split_target::facts::pieces::Piece;
use crate::transforms::split_target::shape::Shape;

/// The largest value that is tried; a 32-bit number holds it.
const LARGEST: f64 = 1.0e9;

/// The positions of enclosing loops, in sixteenths, at which the lengths of inner loops are computed, because these may
/// change from round to round.
pub(super) const PROGRESS: [u8; 8] = [1, 3, 5, 7, 9, 11, 13, 15];

/// By how much the split form must be faster where control flow repeats what is lost and loops inside are counted as spread: one team took
/// 12.4 ms for an LU decomposition of 256 rows, 0.6 of what the model says, two launches a round 16.2 ms (NVIDIA H200).
const REPEATED: f64 = 1.6;

/// A variable or a product of variables, and the value from which on a split pays, for all values of the others.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Threshold {
    /// `n`, `m * n`
    pub name: String,
    /// Rounded up to two digits. `None` if this length alone never makes it pay.
    pub from: Option<f64>,
}

impl Threshold {
    /// The variables of the product, or the single variable.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        variables_of(&self.name)
    }
}

/// The variables and products that give the lengths of the loops, each with its threshold. Empty if each length is
/// known, or if none is given by one of them. A threshold of 1 means that it always pays.
pub(crate) fn thresholds(names: &Context<'_>, region: Span, shape: &Shape, pieces: &[Piece]) -> Vec<Threshold> {
    let lengths = Lengths::default();
    let nothing = Counts { names, region, progress: 8, taken: Taken::One("", 0.0), lengths: &lengths, spreads: true };
    let loops = pieces.iter().flat_map(|piece| &piece.nest.loops);
    let sizes = loops.filter_map(|canonical| nothing.size(canonical));
    let variables: BTreeSet<String> =
        sizes.filter(|size| size.terms.len() == 1).flat_map(|size| size.terms.into_keys()).collect();
    let spreads = pieces.iter().any(|piece| nothing.spread(piece) > 1.0);
    let margin = if spreads && is_steered(shape) { REPEATED } else { 1.0 };
    let threshold = |name: &String| {
        let gain = |progress, value| {
            let taken = Taken::One(name, value);
            let counts = Counts { names, region, progress, taken, lengths: &lengths, spreads: true };
            let Estimate { before, after } = counts.estimate(shape, pieces);
            before - margin * after
        };
        let from = last_change(|value| PROGRESS.iter().map(|progress| gain(*progress, value)).sum::<f64>() > 0.0);
        Threshold { name: name.clone(), from }
    };
    variables.iter().map(threshold).collect()
}

/// The least of the tried values from which on it always pays.
pub(super) fn last_change(pays: impl Fn(f64) -> bool) -> Option<f64> {
    let mut value = LARGEST;
    let mut found = None;
    while value >= 1.0 && pays(value) {
        found = Some(value);
        value = below(value);
    }
    found
}

/// The next smaller number of two digits: 10, 11, .. 99, 100, 110, ..
fn below(value: f64) -> f64 {
    let digits = 10_f64.powf((value.log10() - 1.0).floor().max(0.0));
    let next = value - digits;
    // Below a power of ten the steps are smaller: 99 is below 100, and 990 below 1000.
    if next < 10.0 * digits && digits > 1.0 { value - digits / 10.0 } else { next }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_have_two_digits() {
        for (least, expected) in [(1.0, 1.0), (7.0, 7.0), (601.0, 610.0), (100.0, 100.0), (99_001.0, 100_000.0)] {
            assert_eq!(last_change(|value| value >= least), Some(expected));
        }
        assert_eq!(last_change(|_| false), None);
    }

    #[test]
    fn a_size_in_between_that_does_not_pay_counts() {
        assert_eq!(last_change(|value| value >= 130.0 && !(200.0..=300.0).contains(&value)), Some(310.0));
    }
}
