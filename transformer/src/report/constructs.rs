//! What became of each construct of a file, by the strongest decision of all passes about it.

use std::collections::BTreeMap;

use crate::plan::{Consent, Decision, Plan, ReasonCode};
use crate::source::Span;

/// What became of one construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// A pass changes it.
    Changed,
    /// A pass would change it with `--assume`.
    Assumable,
    /// A pass refuses, and none changes it: the first reason of the first such pass.
    Refused(Option<ReasonCode>),
    /// A change would not pay: likewise.
    NotPaying(Option<ReasonCode>),
    /// Nothing is to be done.
    Nothing,
}

/// The plans about each construct of the original, by the place of its directive.
pub(super) fn constructs(plans: &[Plan]) -> BTreeMap<Span, Vec<&Plan>> {
    let mut constructs: BTreeMap<Span, Vec<&Plan>> = BTreeMap::new();
    for plan in plans.iter().filter(|plan| !plan.follows) {
        constructs.entry(plan.span).or_default().push(plan);
    }
    for plans in constructs.values_mut() {
        plans.sort_by_key(|plan| plan.pass);
    }
    constructs
}

/// The strongest decision about a construct.
pub(super) fn fate(plans: &[&Plan], consent: Consent) -> Fate {
    let first_with = |decision: Decision| plans.iter().find(|plan| plan.decision == decision);
    let code = |plan: &&Plan| plan.reasons.first().map(|reason| reason.code);
    if plans.iter().any(|plan| plan.decision.is_written(consent)) {
        Fate::Changed
    } else if plans.iter().any(|plan| plan.decision.is_written(true)) {
        Fate::Assumable
    } else if let Some(plan) = first_with(Decision::Refuse) {
        Fate::Refused(code(plan))
    } else if let Some(plan) = first_with(Decision::DoesNotPay) {
        Fate::NotPaying(code(plan))
    } else {
        Fate::Nothing
    }
}
