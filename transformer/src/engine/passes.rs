//! Which passes run, and how far they may go.

use crate::plan::Pass;
use crate::transforms::{ByDefault, TRANSFORMS};

/// The passes that run. Those that were named, and most of those that run by default, do all they can; some of the latter change only what
/// is sure to gain much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passes {
    whole: Vec<Pass>,
    sure: Vec<Pass>,
}

impl Default for Passes {
    /// Those that run when none are named.
    fn default() -> Self {
        let of = |kind: ByDefault| {
            let chosen = TRANSFORMS.iter().filter(|transform| transform.default == kind);
            chosen.map(|transform| transform.pass).collect()
        };
        Self { whole: of(ByDefault::Runs), sure: of(ByDefault::WhereSure) }
    }
}

impl From<Vec<Pass>> for Passes {
    /// Named passes, in any order.
    fn from(mut whole: Vec<Pass>) -> Self {
        whole.sort();
        whole.dedup();
        Self { whole, sure: Vec::new() }
    }
}

impl Passes {
    /// These and one that is named.
    #[must_use]
    pub fn with(mut self, pass: Pass) -> Self {
        self.sure.retain(|other| *other != pass);
        self.whole.push(pass);
        self.whole.sort();
        self.whole.dedup();
        self
    }

    /// These without some.
    #[must_use]
    pub fn without(mut self, others: &[Pass]) -> Self {
        self.whole.retain(|pass| !others.contains(pass));
        self.sure.retain(|pass| !others.contains(pass));
        self
    }

    /// This pass alone, as far as it goes among these; as if it was named where it does not run.
    #[must_use]
    pub fn only(&self, pass: Pass) -> Self {
        if self.is_confined(pass) {
            return Self { whole: Vec::new(), sure: vec![pass] };
        }
        Self::from(vec![pass])
    }

    /// Does it run?
    #[must_use]
    pub fn contains(&self, pass: Pass) -> bool {
        self.whole.contains(&pass) || self.sure.contains(&pass)
    }

    /// Those that change only what is sure to gain much.
    #[must_use]
    pub fn confined(&self) -> &[Pass] {
        &self.sure
    }

    /// Is it one of these?
    #[must_use]
    pub fn is_confined(&self, pass: Pass) -> bool {
        self.sure.contains(&pass)
    }

    /// Do all passes that run by default run?
    #[must_use]
    pub fn cover_default(&self) -> bool {
        Self::default().iter().all(|pass| self.contains(pass))
    }

    /// In the order in which they run.
    pub fn iter(&self) -> impl Iterator<Item = Pass> + '_ {
        Pass::ALL.into_iter().filter(|pass| self.contains(*pass))
    }

    /// The words that name them on the command line and in configuration.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        let default = Self::default();
        let as_default = self.cover_default() && !self.sure.is_empty();
        let is_told = |pass: &Pass| !as_default || !default.whole.contains(pass);
        let named = self.whole.iter().filter(|pass| is_told(pass)).map(|pass| pass.name());
        as_default.then_some(DEFAULT).into_iter().chain(named).collect()
    }
}

/// The word for the passes that run when none are named.
pub const DEFAULT: &str = "default";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_passes_are_not_confined() {
        let default = Passes::default();
        assert!(default.is_confined(Pass::Coarsen) && !default.is_confined(Pass::Split));
        let named = default.clone().with(Pass::Coarsen);
        assert!(named.contains(Pass::Coarsen) && !named.is_confined(Pass::Coarsen));
        assert_eq!(default.only(Pass::Coarsen).iter().collect::<Vec<_>>(), [Pass::Coarsen]);
        assert!(default.only(Pass::Coarsen).is_confined(Pass::Coarsen));
        assert!(!default.only(Pass::Overlap).is_confined(Pass::Overlap));
    }

    #[test]
    fn the_order_is_that_of_the_registry() {
        let passes = Passes::from(vec![Pass::Geometry, Pass::Split]);
        assert_eq!(passes.iter().collect::<Vec<_>>(), [Pass::Split, Pass::Geometry]);
        assert_eq!(passes.names(), ["split", "geometry"]);
        assert_eq!(Passes::default().with(Pass::Overlap).names(), ["default", "overlap"]);
        assert_eq!(Passes::default().without(&[Pass::Split]).names().first(), Some(&"hoist"));
    }
}
