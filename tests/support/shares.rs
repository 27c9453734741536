//! How many functions of each family of generated programs are changed.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};
use std::ops::Range;
use std::sync::Mutex;

use ompsplit::plan::{Decision, Plan};

/// Of each family: how many functions were tried, how many were changed.
pub struct Shares<F>(Mutex<BTreeMap<F, [usize; 2]>>);

impl<F: Copy + Debug + Ord> Shares<F> {
    pub fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Counts the functions of one program, each with its family and place.
    pub fn note(&self, functions: &[(F, Range<usize>)], plans: &[Plan]) -> Result<(), String> {
        let changes = plans.iter().filter(|plan| matches!(plan.decision, Decision::Apply(_)));
        let changes: Vec<usize> = changes.map(|plan| plan.span.start).collect();
        let mut shares = self.0.lock().map_err(|error| error.to_string())?;
        for (family, place) in functions {
            let [tried, changed] = shares.entry(*family).or_default();
            *tried += 1;
            *changed += usize::from(changes.iter().any(|change| place.contains(change)));
        }
        Ok(())
    }

    /// A line for each family, for people.
    pub fn table(&self) -> String {
        let mut table = String::new();
        for (family, [tried, changed]) in self.0.lock().iter().flat_map(|shares| shares.iter()) {
            let _ = writeln!(table, "{family:?} {tried} {changed}");
        }
        table
    }

    /// Asserts that of each of these families so many in a hundred are changed.
    pub fn hold(&self, families: impl IntoIterator<Item = F>, least: usize) {
        let of = |family: F| self.0.lock().ok()?.get(&family).copied();
        for family in families {
            let [tried, changed] = of(family).unwrap_or_default();
            assert!(tried > 0 && changed * 100 >= tried * least, "{family:?}: {changed} of {tried}\n{}", self.table());
        }
    }
}
