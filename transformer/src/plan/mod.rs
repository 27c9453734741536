//! What a transformation decided for one construct, and why.

pub mod figures;
pub mod instructions;
mod limit;
mod pass;
mod reason_code;
pub mod select;
pub mod suppression;
mod verdict;

pub use limit::{Limit, LimitedBy};
pub use pass::Pass;
pub use reason_code::{ReasonCode, RuleKind};
pub use verdict::{Change, Verdict};

use crate::edit::Edit;
use crate::source::Span;

/// What an edit promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Applicability {
    /// The same results under OpenMP's memory and tasking rules, proved from what the tool can see.
    Safe,
    /// The same results if the listed assumptions hold; written only with `--assume`.
    Assumed,
    /// The same results but for the order in which sums and the like are formed; written only with `--assume=reassociation`.
    Reassociated {
        /// Must listed assumptions hold as well? Then it needs `--assume` too.
        assumed: bool,
    },
    /// Never written.
    DisplayOnly,
}

/// What the user consents to beside what is safe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Consent {
    /// Edits that rest on assumptions.
    pub assumptions: bool,
    /// Floating-point sums, minima and maxima in another order.
    pub reassociation: bool,
}

impl From<bool> for Consent {
    /// To all or nothing.
    fn from(all: bool) -> Self {
        Self { assumptions: all, reassociation: all }
    }
}

/// How sure a fact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// It follows from the text by the rules of the language.
    Proved,
    /// It holds if the stated assumption does.
    Assumed,
}

/// One reason for a decision, with the place that gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The rule; its page is `ompsplit rule OMPS###`.
    pub code: ReasonCode,
    /// The place in the original text.
    pub span: Span,
    /// How sure it is.
    pub certainty: Certainty,
    /// One sentence, lower case, without a full stop at its end.
    pub message: String,
    /// Further places with a word about each.
    pub labels: Vec<(Span, String)>,
    /// Is it about a declaration that is not in sight, and may stand in a header that was not found?
    pub is_unseen: bool,
}

impl Reason {
    /// A proved reason without further places.
    #[must_use]
    pub fn new(code: ReasonCode, span: Span, message: impl Into<String>) -> Self {
        Self { code, span, certainty: Certainty::Proved, message: message.into(), labels: Vec::new(), is_unseen: false }
    }

    /// A reason about a declaration that is not in sight.
    #[must_use]
    pub fn unseen(self) -> Self {
        Self { is_unseen: true, ..self }
    }

    /// Adds another place and a few words about it.
    #[must_use]
    pub fn with_label(mut self, span: Span, label: impl Into<String>) -> Self {
        self.labels.push((span, label.into()));
        self
    }
}

/// What is to be done with a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The edits are to be made.
    Apply(Applicability),
    /// Nothing is to be done; reported only when asked for.
    NothingToDo,
    /// It could be done but would not be faster.
    DoesNotPay,
    /// It must not be done, or cannot be shown to be right.
    Refuse,
}

impl Decision {
    /// Is it written, with what the user consents to?
    #[must_use]
    pub fn is_written(self, consent: impl Into<Consent>) -> bool {
        let consent = consent.into();
        match self {
            Self::Apply(Applicability::Safe) => true,
            Self::Apply(Applicability::Assumed) => consent.assumptions,
            Self::Apply(Applicability::Reassociated { assumed }) => {
                consent.reassociation && (!assumed || consent.assumptions)
            }
            _ => false,
        }
    }
}

/// One line of `explain` about the facts that led to a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// The place that the line is about, if there is one.
    pub at: Option<Span>,
    /// Does it belong to the line above it?
    pub is_inner: bool,
    /// The line.
    pub text: String,
}

impl Detail {
    /// A line that others belong to.
    #[must_use]
    pub fn head(text: impl Into<String>) -> Self {
        Self { at: None, is_inner: false, text: text.into() }
    }

    /// A line that belongs to the one above it.
    #[must_use]
    pub fn inner(text: impl Into<String>) -> Self {
        Self { at: None, is_inner: true, text: text.into() }
    }

    /// A line about a place, for others that belong to it.
    #[must_use]
    pub fn at(self, at: Span) -> Self {
        Self { at: Some(at), ..self }
    }
}

/// How long a construct is predicted to take, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// As it is.
    pub before: u64,
    /// As it becomes.
    pub after: u64,
}

impl Times {
    /// Rounds a prediction; what is no number counts as nothing.
    #[must_use]
    pub fn rounded(before: f64, after: f64) -> Self {
        // A cast of a float saturates, and takes what is no number for zero.
        Self { before: before.round() as u64, after: after.round() as u64 }
    }
}

/// How often data travel between host and device, each time the code runs: where a loop repeats constructs, in one pass of it before, and
/// in all passes together after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copies {
    /// In the original.
    pub before: usize,
    /// In the output.
    pub after: usize,
    /// How many bytes that is, before and after, where the text tells.
    pub bytes: Option<(u64, u64)>,
}

/// What one transformation decided for one construct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The pass that decided it.
    pub pass: Pass,
    /// The directive that the decision is about: [`crate::syntax::Directive::span`] of the outermost one of a stack.
    pub span: Span,
    /// The whole construct, body included: what `--lines` and suppressions are compared with.
    pub extent: Span,
    /// What is to be done.
    pub decision: Decision,
    /// Why: at least one reason for a refusal and for a change that does not pay. For other decisions, notes and
    /// assumptions.
    pub reasons: Vec<Reason>,
    /// The edits; empty unless it is to be applied.
    pub edits: Vec<Edit>,
    /// One line on what is done: `split into 3 kernels inside one target data`.
    pub summary: String,
    /// What becomes of its parts, for `explain`: each place with a few words, in the order of the text.
    pub parts: Vec<(Span, String)>,
    /// The facts that led to the decision. Empty unless `explain` asks for them.
    pub details: Vec<Detail>,
    /// How many kernels the construct launches, before and after.
    pub kernels: (usize, usize),
    /// How long it is predicted to take before and after, where the pass goes by that.
    pub times: Option<Times>,
    /// How often data travel, where the pass goes by that.
    pub copies: Option<Copies>,
    /// The pass that changes one of its constructs in a better way, if it changes it: then this is left, and the other pass does not wait for it.
    pub yields_to: Option<Pass>,
    /// What takes the time of a construct in which nothing is left to do.
    pub limit: Option<Limit>,
    /// Is it about the text that an earlier change of this run wrote? Its spans are those of the original text that was
    /// changed. It has no edits, since they would not fit the original text.
    pub follows: bool,
}

impl Plan {
    /// A plan without reasons and edits. Its numbers of kernels are those of an unchanged construct until they are set.
    #[must_use]
    pub fn undecided(pass: Pass, span: Span, extent: Span, decision: Decision) -> Self {
        Self {
            pass,
            span,
            extent,
            decision,
            reasons: Vec::new(),
            edits: Vec::new(),
            summary: String::new(),
            parts: Vec::new(),
            details: Vec::new(),
            kernels: (1, 1),
            times: None,
            copies: None,
            yields_to: None,
            limit: None,
            follows: false,
        }
    }

    /// Drops the edits and refuses the construct for this reason.
    pub fn refuse(&mut self, reason: Reason) {
        self.decision = Decision::Refuse;
        self.reasons = vec![reason];
        self.edits.clear();
        self.summary.clear();
        self.kernels.1 = self.kernels.0;
        self.copies = None;
    }

    /// The plan with its places in another text, from which this one was made; its edits are left as they are.
    #[must_use]
    pub fn placed(self, place: impl Fn(Span) -> Span) -> Self {
        let reason = |reason: Reason| Reason {
            span: place(reason.span),
            labels: reason.labels.into_iter().map(|(span, label)| (place(span), label)).collect(),
            ..reason
        };
        Self {
            span: place(self.span),
            extent: place(self.extent),
            reasons: self.reasons.into_iter().map(reason).collect(),
            parts: self.parts.into_iter().map(|(span, words)| (place(span), words)).collect(),
            details: self.details.into_iter().map(|line| Detail { at: line.at.map(&place), ..line }).collect(),
            ..self
        }
    }
}
