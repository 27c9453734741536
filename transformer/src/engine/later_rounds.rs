//! What later rounds decide, in terms of the original text: a kernel that `split` made may be collapsed, or be refused that.

use std::collections::BTreeMap;

use super::earlier::{Changed, is_changed};
use crate::edit::EditSet;
use crate::plan::{Applicability, Decision, Plan};
use crate::source::Span;

/// The plans of all rounds.
pub(super) struct Rounds {
    /// The plans of the first round, then those of later rounds that say something new.
    plans: Vec<Plan>,
    /// The plans by the directive that they are about.
    places: BTreeMap<Span, Vec<usize>>,
    /// What each round changed.
    changes: Vec<Changed>,
}

impl Rounds {
    /// Begins with the first round.
    pub fn new(plans: Vec<Plan>, chosen: &[usize], edits: &EditSet) -> Self {
        let changes = vec![Changed::new(carried_out(&plans, chosen), edits)];
        let mut places: BTreeMap<Span, Vec<usize>> = BTreeMap::new();
        for (index, plan) in plans.iter().enumerate() {
            places.entry(plan.span).or_default().push(index);
        }
        Self { plans, places, changes }
    }

    /// Adds a round: the plans that were carried out, and after the last round also those that were not. `chosen` is in
    /// order.
    pub fn add(&mut self, plans: Vec<Plan>, chosen: &[usize], edits: &EditSet) {
        let changed = Changed::new(carried_out(&plans, chosen), edits);
        for (index, plan) in plans.into_iter().enumerate() {
            if chosen.binary_search(&index).is_ok() || (edits.is_empty() && speaks(&plan)) {
                self.push(self.in_original(plan));
            }
        }
        self.changes.push(changed);
    }

    /// Did an earlier round change or make a part of the current text, by another pass than `geometry`? Before them came `others`.
    pub fn is_changed(&self, others: &[Changed], extent: Span) -> bool {
        is_changed(others.iter().chain(&self.changes), extent)
    }

    /// Every plan, in the order of the text and, for one place, of the rounds.
    pub fn into_plans(mut self) -> Vec<Plan> {
        self.plans.sort_by_key(|plan| plan.span.start);
        self.plans
    }

    /// Adds a plan, unless an earlier round decided the same about the same place. It takes the place of what did not pay then: with
    /// what other passes have changed since, it does.
    fn push(&mut self, plan: Plan) {
        let here = self.places.entry(plan.span).or_default();
        let did_not_pay = |index: &&usize| {
            let earlier = self.plans.get(**index);
            earlier.is_some_and(|other| other.pass == plan.pass && other.decision == Decision::DoesNotPay)
        };
        let overtaken = here.iter().find(did_not_pay).filter(|_| matches!(plan.decision, Decision::Apply(_)));
        if let Some(earlier) = overtaken.and_then(|index| self.plans.get_mut(*index)) {
            *earlier = plan;
            return;
        }
        if here.iter().filter_map(|index| self.plans.get(*index)).any(|other| is_same(other, &plan)) {
            return;
        }
        here.push(self.plans.len());
        self.plans.push(plan);
    }

    fn in_original(&self, plan: Plan) -> Plan {
        Plan { edits: Vec::new(), follows: true, ..plan.placed(|span| self.origin(span)) }
    }

    /// The place in the original text that a range of the current text comes from.
    fn origin(&self, span: Span) -> Span {
        self.changes.iter().rev().fold(span, |span, changed| changed.origins.of(span))
    }
}

fn carried_out<'p>(plans: &'p [Plan], chosen: &'p [usize]) -> impl Iterator<Item = &'p Plan> {
    chosen.iter().filter_map(|index| plans.get(*index))
}

fn is_same(one: &Plan, other: &Plan) -> bool {
    // Places are not compared: if an earlier round says something about a clause, it holds for the text that was
    // written for that clause.
    let said =
        |plan: &Plan| plan.reasons.iter().map(|reason| (reason.code, reason.message.clone())).collect::<Vec<_>>();
    one.pass == other.pass && one.decision == other.decision && one.summary == other.summary && said(one) == said(other)
}

/// Does a plan of the last round say something to the user? With `explain`, every plan with details does.
fn speaks(plan: &Plan) -> bool {
    matches!(plan.decision, Decision::Apply(Applicability::Assumed | Applicability::DisplayOnly) | Decision::Refuse)
        || !plan.details.is_empty()
}
