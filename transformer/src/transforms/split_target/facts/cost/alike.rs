//! Variables that give the lengths of several loops of a nest at once, as the size of a square matrix does, and the
//! values assumed for them.
//!
//! Then one assumption gives all of these lengths. The iterations that are assumed for a parallel loop and a loop
//! inside it are shared evenly: 2,048 each. Control flow around the kernels repeats the loss of a split in each round;
//! then a matrix is assumed to have only as many elements as a loop has iterations, 256 x 256.

use std::collections::BTreeSet;

use crate::analysis::cost::ASSUMED_INNER;
use crate::context::Context;
use crate::region::loop_nest::CanonicalLoop;
use crate::source::Span;
use crate::transforms::split_target::facts::cost::sizes::{Size, variables_of};
use crate::transforms::split_target::facts::cost::{Counts, Lengths, Taken, is_steered};
use crate::transforms::split_target::facts::pieces::Piece;
use crate::transforms::split_target::shape::Shape;

/// Such variables and the assumed value of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Alike {
    variables: BTreeSet<String>,
    /// What is only taken away from these, as `k` in `n - k`: half of the value, since a difference of equal ones would be no loop.
    taken_away: BTreeSet<String>,
    pub value: f64,
    /// How many iterations the loops of a nest have together, for each iteration that one loop is assumed to have.
    inside: f64,
}

impl Alike {
    pub(super) fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }

    /// These variables with another value.
    pub(super) fn with(&self, value: f64) -> Self {
        Self { value, ..self.clone() }
    }

    /// `n`, or `n = m`, or `n = 2 k`, for people.
    pub(super) fn names(&self) -> String {
        let names = self.variables.iter().map(|name| format!("`{name}`"));
        let halves = self.taken_away.iter().map(|name| format!("2 `{name}`"));
        names.chain(halves).collect::<Vec<_>>().join(" = ")
    }

    fn value_of(&self, name: &str) -> Option<f64> {
        let of = |names: &BTreeSet<String>, value: f64| names.contains(name).then_some(value);
        of(&self.variables, self.value).or_else(|| of(&self.taken_away, self.value / 2.0))
    }

    /// How long each of several parallel loops in a nest is, if a single loop is assumed to have `one` iterations.
    pub(super) fn evenly(&self, one: f64, loops: usize) -> f64 {
        let several = u32::try_from(loops).unwrap_or(u32::MAX);
        if several < 2 { one } else { (one * self.inside).powf(f64::from(several).recip()).floor() }
    }

    /// The length of a loop that depends only on such variables.
    pub(super) fn length(&self, size: &Size) -> Option<f64> {
        let value_of = |term: &str| variables_of(term).map(|name| self.value_of(name)).product::<Option<f64>>();
        let is_given = !size.terms.is_empty() && size.terms.keys().all(|term| value_of(term).is_some());
        is_given.then(|| size.value(|term| value_of(term).unwrap_or_default()))
    }
}

/// The variables that give the lengths of two loops of a nest, or of a loop that becomes a kernel and of one inside such a
/// loop.
pub(super) fn alike(names: &Context<'_>, region: Span, shape: &Shape, pieces: &[Piece], lengths: &Lengths) -> Alike {
    let nothing = Alike::default();
    let counts = Counts { names, region, progress: 8, taken: Taken::All(0.0, &nothing), lengths, spreads: false };
    let with_sign = |canonical: &CanonicalLoop, sign: f64| {
        let mut terms = counts.size(canonical).map(|size| size.terms).unwrap_or_default();
        terms.retain(|_, factor| *factor * sign > 0.0);
        terms.keys().flat_map(|term| variables_of(term)).map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let mut taken_away = BTreeSet::new();
    let mut variables = |canonical: &CanonicalLoop| {
        taken_away.extend(with_sign(canonical, -1.0));
        with_sign(canonical, 1.0)
    };
    let (mut outer, mut inner, mut twice) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut deepest = 0;
    for piece in pieces.iter().filter(|piece| piece.serial.is_none()) {
        let mut of_kernel = BTreeSet::new();
        for name in piece.nest.loops.iter().flat_map(&mut variables) {
            twice.extend((!of_kernel.insert(name.clone())).then_some(name));
        }
        outer.extend(of_kernel);
        let open = |loops: &[CanonicalLoop]| loops.iter().filter(|it| !with_sign(it, 1.0).is_empty()).count();
        let nests = counts.nests_inside(piece.nest.body);
        inner.extend(nests.iter().flatten().flat_map(&mut variables));
        let inside = nests.iter().map(|loops| open(loops)).max().unwrap_or(0);
        deepest = deepest.max(open(&piece.nest.loops) + inside);
    }
    twice.extend(outer.intersection(&inner).cloned());
    let assumed = f64::from(names.assumed_iterations);
    let inside = if is_steered(shape) { 1.0 } else { ASSUMED_INNER };
    // If no two such loops are nested, the variable has the usual assumed value.
    let value = if deepest < 2 { assumed } else { (assumed * inside).sqrt().floor() };
    taken_away.retain(|name| !twice.contains(name));
    let taken_away = if twice.is_empty() { BTreeSet::new() } else { taken_away };
    Alike { variables: twice, taken_away, value, inside }
}
