//! What later rounds decide, in terms of the original text: a kernel that `split` made may be collapsed, or be refused that.

use std::collections::BTreeMap;

use crate::edit::{EditSet, Origins};
use crate::plan::{Applicability, Decision, Plan};
use crate::source::Span;

/// The plans of all rounds.
pub(super) struct Rounds {
    /// The plans of the first round, then those of later rounds that say something new.
    plans: Vec<Plan>,
    /// The plans by the directive that they are about.
    places: BTreeMap<Span, Vec<usize>>,
    /// The edits of each round.
    origins: Vec<Origins>,
}

impl Rounds {
    /// Begins with the first round.
    pub fn new(plans: Vec<Plan>, edits: &EditSet) -> Self {
        let mut places: BTreeMap<Span, Vec<usize>> = BTreeMap::new();
        for (index, plan) in plans.iter().enumerate() {
            places.entry(plan.span).or_default().push(index);
        }
        Self { plans, places, origins: vec![edits.origins()] }
    }

    /// Adds a round: the plans that were carried out, and after the last round also those that were not. `chosen` is in
    /// order.
    pub fn add(&mut self, plans: Vec<Plan>, chosen: &[usize], edits: &EditSet) {
        for (index, plan) in plans.into_iter().enumerate() {
            if chosen.binary_search(&index).is_ok() || (edits.is_empty() && speaks(&plan)) {
                self.push(self.in_original(plan));
            }
        }
        self.origins.push(edits.origins());
    }

    /// Every plan, in the order of the text and, for one place, of the rounds.
    pub fn into_plans(mut self) -> Vec<Plan> {
        self.plans.sort_by_key(|plan| plan.span.start);
        self.plans
    }

    /// Adds a plan, unless an earlier round decided the same about the same place.
    fn push(&mut self, plan: Plan) {
        let here = self.places.entry(plan.span).or_default();
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
        self.origins.iter().rev().fold(span, |span, origins| origins.of(span))
    }
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
