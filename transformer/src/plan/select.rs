//! From all plans for a file to one set of edits that do not conflict.

use crate::edit::EditSet;
use crate::plan::{Applicability, Decision, Plan};

/// Takes the edits of every plan that may be applied, in the order of the text; a plan that conflicts with one already
/// taken waits for the next round. Returns the edits and which plans (indices) they come from.
#[must_use]
pub fn select(plans: &[Plan], assume: bool) -> (EditSet, Vec<usize>) {
    let mut chosen = Vec::new();
    let mut set = EditSet::default();
    for (index, plan) in plans.iter().enumerate() {
        let wanted = match plan.decision {
            Decision::Apply(Applicability::Safe) => true,
            Decision::Apply(Applicability::Assumed) => assume,
            _ => false,
        };
        if !wanted || plan.edits.is_empty() {
            continue;
        }
        let mut edits = set.edits().to_vec();
        edits.extend(plan.edits.iter().cloned());
        if let Ok(larger) = EditSet::new(edits) {
            set = larger;
            chosen.push(index);
        }
    }
    (set, chosen)
}
