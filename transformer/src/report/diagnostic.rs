//! From the plans of one file to the messages about it.

use crate::plan::suppression::Suppressions;
use crate::plan::{Applicability, Consent, Decision, Plan, Reason, ReasonCode, RuleKind};
use crate::source::{LineColumn, Scan, SourceFile, Span};

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// What is done.
    Help,
    /// What the user should know.
    Note,
    /// What was refused.
    Warning,
    /// The file could not be processed.
    Error,
}

impl Severity {
    /// Its name in every format.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Help => "help",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What a diagnostic is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An edit is made, or would be with `--assume`.
    Change,
    /// A rule speaks.
    Rule(RuleKind),
    /// What a profile says of a kernel.
    Advice,
    /// The file could not be processed.
    Failure,
}

impl Kind {
    /// Its name in the formats for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Change => "change",
            Self::Advice => "advice",
            Self::Rule(RuleKind::Refusal) => "refusal",
            Self::Rule(RuleKind::DoesNotPay) => "does-not-pay",
            Self::Rule(RuleKind::Assumption) => "assumption",
            Self::Rule(RuleKind::Note) => "note",
            Self::Rule(RuleKind::Error) | Self::Failure => "error",
        }
    }
}

/// One message about one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// What it is about.
    pub kind: Kind,
    /// The rule. `None` for a change, and for problems of the files or flags rather than their text.
    pub code: Option<ReasonCode>,
    /// One sentence, lower case, without a full stop at its end.
    pub message: String,
    /// The place in the original text. `None` if the whole file is meant.
    pub span: Option<Span>,
    /// Further places with a word about each.
    pub labels: Vec<(Span, String)>,
    /// Sentences that follow the source lines.
    pub notes: Vec<String>,
    /// The plan that it explains: an index into [`FileReport::plans`].
    pub plan: Option<usize>,
}

/// Which plans may be written.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanUse {
    /// What is written beside what is safe.
    pub consent: Consent,
    /// Did every pass look at the whole file, so that a suppression that silenced nothing has no effect?
    pub complete: bool,
}

/// What is said about one file.
#[derive(Clone, Debug)]
pub struct FileReport {
    /// The file. Its text is empty if it could not be read.
    pub file: SourceFile,
    /// The plans, without those for constructs that are switched off.
    pub plans: Vec<Plan>,
    /// The messages in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// Does the file change?
    pub changed: bool,
    /// What was written beside what is safe.
    pub consent: Consent,
}

impl FileReport {
    /// Reports the plans of a file that was processed, without those that its comments suppress.
    #[must_use]
    pub fn new(file: SourceFile, scan: &Scan, plans: Vec<Plan>, changed: bool, plan_use: PlanUse) -> Self {
        let suppressions = Suppressions::read(&file, scan);
        let plans: Vec<Plan> = plans.into_iter().filter(|plan| !suppressions.is_off(plan.extent)).collect();
        let mut used = vec![false; suppressions.silences.len()];
        let mut diagnostics = Vec::new();
        for (index, plan) in plans.iter().enumerate() {
            for diagnostic in of_plan(plan, index, plan_use) {
                match silencer(&file, &suppressions, &diagnostic) {
                    Some(silence) => mark(&mut used, silence),
                    None => diagnostics.push(diagnostic),
                }
            }
        }
        if plan_use.complete {
            diagnostics.extend(unused(&suppressions, &used));
        }
        diagnostics.sort_by_key(|diagnostic| (diagnostic.span, diagnostic.plan));
        Self { file, plans, diagnostics, changed, consent: plan_use.consent }
    }

    /// Reports that a file could not be processed.
    #[must_use]
    pub fn failure(file: SourceFile, code: Option<ReasonCode>, message: String) -> Self {
        let diagnostic = Diagnostic {
            severity: Severity::Error,
            kind: Kind::Failure,
            code,
            message,
            span: None,
            labels: Vec::new(),
            notes: Vec::new(),
            plan: None,
        };
        Self { file, plans: Vec::new(), diagnostics: vec![diagnostic], changed: false, consent: Consent::default() }
    }

    /// Is there a refusal that no comment silences?
    #[must_use]
    pub fn has_refusal(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.kind == Kind::Rule(RuleKind::Refusal))
    }

    /// The place where a diagnostic starts.
    #[must_use]
    pub fn position(&self, diagnostic: &Diagnostic) -> Option<LineColumn> {
        diagnostic.span.map(|span| self.file.lines.line_column(span.start))
    }

    /// The plan that a diagnostic explains.
    #[must_use]
    pub fn plan_of(&self, diagnostic: &Diagnostic) -> Option<&Plan> {
        self.plans.get(diagnostic.plan?)
    }
}

/// What is said about one plan: what is done, then a message for each reason.
fn of_plan(plan: &Plan, index: usize, plan_use: PlanUse) -> Vec<Diagnostic> {
    let change = match plan.decision {
        // Only `explain` says that nothing is to be done, so that a file of good kernels gives no messages. A bad grid
        // is left alone as well, but is reported.
        Decision::NothingToDo => {
            let said = plan.reasons.iter().filter(|reason| reason.code == ReasonCode::GridFarOff);
            return said.map(|reason| of_reason(plan, index, reason)).collect();
        }
        Decision::Apply(applicability) => Some(change(plan, index, applicability, plan_use)),
        Decision::DoesNotPay | Decision::Refuse => None,
    };
    change.into_iter().chain(plan.reasons.iter().map(|reason| of_reason(plan, index, reason))).collect()
}

/// The message for an edit that is made, or that could be made with `--assume`.
fn change(plan: &Plan, index: usize, applicability: Applicability, plan_use: PlanUse) -> Diagnostic {
    let (severity, message, note) = match applicability {
        Applicability::Safe => (Severity::Help, plan.summary.clone(), None),
        Applicability::Assumed if plan_use.consent.assumptions => {
            (Severity::Help, plan.summary.clone(), Some("this rests on the assumptions reported with it"))
        }
        Applicability::Assumed => {
            let note = "`--assume` writes this; it is the same program only if the assumptions reported with it hold";
            (Severity::Note, format!("not done without `--assume`: {}", plan.summary), Some(note))
        }
        Applicability::Reassociated { .. } if plan.decision.is_written(plan_use.consent) => {
            (Severity::Help, plan.summary.clone(), Some("floating-point results may differ in their last digits"))
        }
        Applicability::Reassociated { assumed } => {
            let both = "`--assume --assume=reassociation`";
            let flags = if assumed { both } else { "`--assume=reassociation`" };
            let note = "floating-point results may differ in their last digits then";
            (Severity::Note, format!("not done without {flags}: {}", plan.summary), Some(note))
        }
        Applicability::DisplayOnly => (Severity::Note, format!("never written: {}", plan.summary), None),
    };
    Diagnostic {
        severity,
        kind: Kind::Change,
        code: None,
        message,
        span: Some(plan.span),
        labels: Vec::new(),
        notes: note.map(str::to_owned).into_iter().collect(),
        plan: Some(index),
    }
}

/// The message for one reason.
fn of_reason(plan: &Plan, index: usize, reason: &Reason) -> Diagnostic {
    let kind = reason.code.kind();
    let severity = match kind {
        RuleKind::Refusal => Severity::Warning,
        RuleKind::DoesNotPay | RuleKind::Assumption | RuleKind::Note => Severity::Note,
        RuleKind::Error => Severity::Error,
    };
    let note = match plan.decision {
        Decision::Refuse => format!("`{}` leaves this construct as it is", plan.pass),
        Decision::DoesNotPay => format!("`{}` would not make this construct faster", plan.pass),
        Decision::Apply(_) | Decision::NothingToDo => format!("reported by `{}`", plan.pass),
    };
    Diagnostic {
        severity,
        kind: Kind::Rule(kind),
        code: Some(reason.code),
        message: reason.message.clone(),
        span: Some(reason.span),
        labels: reason.labels.clone(),
        notes: vec![format!("{note}; see `ompsplit rule {}`", reason.code.id())],
        plan: Some(index),
    }
}

/// The suppression that silences a diagnostic: one for the line where it starts, or for the line where a directive of
/// several lines ends.
fn silencer(file: &SourceFile, suppressions: &Suppressions, diagnostic: &Diagnostic) -> Option<usize> {
    let span = diagnostic.span?;
    let line = |offset: usize| file.lines.line_column(offset).line;
    let lines = [line(span.start), line(span.end.saturating_sub(1).max(span.start))];
    suppressions.silenced_by(diagnostic.code.map_or("", ReasonCode::id), &lines)
}

fn mark(used: &mut [bool], index: usize) {
    if let Some(flag) = used.get_mut(index) {
        *flag = true;
    }
}

/// Suppressions that name a rule of this tool and silenced nothing. Those in a range that is switched off do not count:
/// they are needed when it is switched on again.
fn unused(suppressions: &Suppressions, used: &[bool]) -> Vec<Diagnostic> {
    let idle = suppressions.silences.iter().zip(used).filter(|(_, used)| !**used).map(|(silence, _)| silence);
    idle.filter(|silence| !suppressions.is_off(silence.span))
        .filter_map(|silence| {
            let names: Vec<&str> = silence.own_rules().collect();
            (!names.is_empty()).then(|| Diagnostic {
                severity: Severity::Note,
                kind: Kind::Rule(ReasonCode::UnusedSuppression.kind()),
                code: Some(ReasonCode::UnusedSuppression),
                message: format!("nothing to suppress here: {} is not reported", names.join(", ")),
                span: Some(silence.span),
                labels: Vec::new(),
                notes: Vec::new(),
                plan: None,
            })
        })
        .collect()
}
