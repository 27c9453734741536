//! What people are told of a file: one message for each construct.
//!
//! Formats for programs list every reason of every pass. A person wants to know of a construct what is done with it, or else
//! the one thing that keeps the tool from it; the rest follows as notes.

use std::collections::BTreeMap;

use crate::plan::{Pass, RuleKind};
use crate::report::{Diagnostic, FileReport, Kind, Severity};

/// Which constructs are told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Those that change.
    Changes,
    /// All of which a pass has something to say.
    All,
}

/// A file's messages for people, in the order of the text.
#[must_use]
pub fn digest(report: &FileReport, told: Told) -> Vec<Diagnostic> {
    let mut messages: Vec<Diagnostic> = Vec::new();
    // By the places where they begin: what later passes say of all that came of a construct may end elsewhere.
    let mut constructs: BTreeMap<usize, Vec<&Diagnostic>> = BTreeMap::new();
    for diagnostic in &report.diagnostics {
        match report.plan_of(diagnostic) {
            Some(plan) => constructs.entry(plan.span.start).or_default().push(diagnostic),
            None => messages.push(diagnostic.clone()),
        }
    }
    messages.extend(constructs.into_values().filter_map(|said| Construct { report, said }.message(told)));
    messages.sort_by_key(|message| (message.span, message.plan));
    messages
}

/// All that is said of one construct.
struct Construct<'a> {
    report: &'a FileReport,
    said: Vec<&'a Diagnostic>,
}

impl Construct<'_> {
    /// The one message about it.
    fn message(&self, told: Told) -> Option<Diagnostic> {
        let mut said = self.said.clone();
        // What later passes add is told behind what they add it to.
        let follows = |diagnostic: &Diagnostic| self.report.plan_of(diagnostic).is_some_and(|plan| plan.follows);
        said.sort_by_key(|diagnostic| (rank(diagnostic), follows(diagnostic), self.pass(diagnostic)));
        let (first, rest) = said.split_first()?;
        if told == Told::Changes && !matches!(first.severity, Severity::Help | Severity::Error) {
            return None;
        }
        let mut message = (*first).clone();
        message.notes = Vec::new();
        for further in rest {
            let is_of_change = self.is_written(further);
            if is_change(further) && is_change(first) {
                message.message = format!("{}; {}", message.message, further.message);
            } else if self.is_outdated(further) {
                // What did not pay for the construct as it was pays for what another pass makes of it.
            } else if told == Told::All || is_of_change {
                message.notes.push(self.note(first, further));
            }
        }
        if told == Told::All {
            message.notes.extend(advice(first));
        }
        Some(message)
    }

    fn pass(&self, diagnostic: &Diagnostic) -> Option<Pass> {
        self.report.plan_of(diagnostic).map(|plan| plan.pass)
    }

    /// Is it about an edit that is made?
    fn is_written(&self, diagnostic: &Diagnostic) -> bool {
        self.report.plan_of(diagnostic).is_some_and(|plan| plan.decision.is_written(self.report.consent))
    }

    /// Does a pass say that nothing pays where a later round finds something?
    fn is_outdated(&self, diagnostic: &Diagnostic) -> bool {
        diagnostic.kind == Kind::Rule(RuleKind::DoesNotPay)
            && self.said.iter().any(|other| is_change(other) && self.pass(other) == self.pass(diagnostic))
    }

    /// What another pass, or another reason, adds to the message.
    fn note(&self, first: &Diagnostic, further: &Diagnostic) -> String {
        let by = match self.pass(further).filter(|pass| Some(*pass) != self.pass(first)) {
            Some(pass) if further.kind == Kind::Rule(RuleKind::Refusal) => format!("`{pass}` leaves it alone: "),
            Some(pass) => format!("`{pass}`: "),
            None if further.kind == first.kind => "also: ".to_owned(),
            None => String::new(),
        };
        let line = |diagnostic: &Diagnostic| self.report.position(diagnostic).map(|position| position.line);
        let place = match line(further) {
            Some(there) if line(first) != Some(there) => format!(" (line {there})"),
            _ => String::new(),
        };
        let rule = further.code.map_or_else(String::new, |code| format!(" [{}]", code.id()));
        format!("{by}{}{place}{rule}", further.message)
    }
}

fn is_change(diagnostic: &Diagnostic) -> bool {
    diagnostic.kind == Kind::Change && diagnostic.severity == Severity::Help
}

/// Which of several is said first: what is done, what could be done, what keeps the tool from it.
fn rank(diagnostic: &Diagnostic) -> u8 {
    match (diagnostic.kind, diagnostic.severity) {
        (_, Severity::Error) => 0,
        (Kind::Change, Severity::Help) => 1,
        (Kind::Change, _) => 2,
        (Kind::Rule(RuleKind::Refusal), _) => 3,
        (Kind::Rule(RuleKind::DoesNotPay), _) => 4,
        _ => 5,
    }
}

/// Where to read on.
fn advice(first: &Diagnostic) -> Option<String> {
    match (first.kind, first.code) {
        (Kind::Change, _) if first.severity == Severity::Note => {
            Some("that flag writes it: check first that what it assumes holds".to_owned())
        }
        (_, Some(code)) => Some(format!("`ompsplit rule {}` says what to do", code.id())),
        _ => None,
    }
}
