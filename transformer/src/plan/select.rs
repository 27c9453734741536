//! From all plans for a file to one set of edits that do not conflict.

use std::collections::BTreeMap;

use crate::edit::{Edit, EditSet};
use crate::plan::{Consent, Plan};
use crate::source::Span;

/// Takes the edits of every plan that may be applied, in the order of the text; a plan that conflicts with one already
/// taken waits for the next round. Returns the edits and which plans (indices) they come from.
#[must_use]
pub fn select(plans: &[Plan], consent: Consent) -> (EditSet, Vec<usize>) {
    let mut chosen = Vec::new();
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    let mut edits: Vec<Edit> = Vec::new();
    for (index, plan) in plans.iter().enumerate() {
        if !plan.decision.is_written(consent) || plan.edits.is_empty() {
            continue;
        }
        let own = EditSet::new(plan.edits.clone());
        if own.is_err() || plan.edits.iter().any(|edit| conflicts(&taken, edit.span)) {
            continue;
        }
        taken.extend(plan.edits.iter().map(|edit| (edit.span.start, edit.span.end)));
        edits.extend(plan.edits.iter().cloned());
        chosen.push(index);
    }
    (EditSet::new(edits).unwrap_or_default(), chosen)
}

/// Does a range share a byte with a range that is taken, or start at the same place?
fn conflicts(taken: &BTreeMap<usize, usize>, span: Span) -> bool {
    let before = taken.range(..span.start).next_back().is_some_and(|(_, end)| *end > span.start);
    before || taken.range(span.start..span.end.max(span.start + 1)).next().is_some()
}
