//! What the checks of a pass found out about one construct, and the one place that makes a plan of it.

use crate::edit::Edit;
use crate::plan::{Applicability, Copies, Decision, Pass, Plan, Reason, ReasonCode, RuleKind, Times};
use crate::source::Span;

/// What a pass says of a construct that it has looked at.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Nothing is to be done.
    Nothing(Reason),
    /// It could be done, but would not be faster.
    DoesNotPay(Vec<Reason>),
    /// It must not be done, or cannot be shown to be right.
    Refuse(Vec<Reason>),
    /// It is to be done.
    Change(Change),
}

/// What is to be written for a construct.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// The edits.
    pub edits: Vec<Edit>,
    /// One line on what is done.
    pub summary: String,
    /// The assumptions under which the change is right, and remarks.
    pub reasons: Vec<Reason>,
    /// What becomes of its parts: see [`Plan::parts`].
    pub parts: Vec<(Span, String)>,
    /// How many kernels the construct launches, before and after. `None` if the number stays.
    pub kernels: Option<(usize, usize)>,
    /// How long it is predicted to take: see [`Plan::times`].
    pub times: Option<Times>,
    /// How often data travel: see [`Plan::copies`].
    pub copies: Option<Copies>,
    /// The pass whose changes come first: see [`Plan::yields_to`].
    pub yields_to: Option<Pass>,
}

impl Verdict {
    /// Is it a change that rests on no assumption?
    #[must_use]
    pub fn is_certain_change(&self) -> bool {
        matches!(self, Self::Change(change) if promise(&change.reasons) == Applicability::Safe)
    }

    /// The plan for a construct. A change that needs an assumption is applied on demand only. Refusals come in the
    /// order of the text, each once.
    #[must_use]
    pub fn into_plan(self, pass: Pass, span: Span, extent: Span) -> Plan {
        let plan = |decision, reasons| Plan { reasons, ..Plan::undecided(pass, span, extent, decision) };
        match self {
            Self::Nothing(reason) => plan(Decision::NothingToDo, vec![reason]),
            Self::DoesNotPay(reasons) => plan(Decision::DoesNotPay, reasons),
            Self::Refuse(mut reasons) => {
                reasons.sort_by_key(|reason| (reason.span.start, reason.code));
                reasons.dedup_by(|a, b| a.code == b.code && a.message == b.message);
                plan(Decision::Refuse, reasons)
            }
            Self::Change(change) => {
                let mut plan = plan(Decision::Apply(promise(&change.reasons)), change.reasons);
                plan.edits = change.edits;
                plan.summary = change.summary;
                plan.parts = change.parts;
                plan.kernels = change.kernels.unwrap_or(plan.kernels);
                plan.times = change.times;
                plan.copies = change.copies;
                plan.yields_to = change.yields_to;
                plan
            }
        }
    }
}

/// What a change with these remarks promises.
fn promise(reasons: &[Reason]) -> Applicability {
    let (orders, assumed): (Vec<_>, Vec<_>) = reasons
        .iter()
        .filter(|reason| reason.code.kind() == RuleKind::Assumption)
        .partition(|reason| reason.code == ReasonCode::OtherOrder);
    match (orders.is_empty(), assumed.is_empty()) {
        (true, true) => Applicability::Safe,
        (true, false) => Applicability::Assumed,
        (false, _) => Applicability::Reassociated { assumed: !assumed.is_empty() },
    }
}
