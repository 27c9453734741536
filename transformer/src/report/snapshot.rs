//! What is decided about the constructs of a file, as a text that people review and programs compare.
//!
//! Places are numbers of constructs, and lines are left out, so that a change elsewhere in the file leaves the text as it is.

use std::fmt::Write as _;

use crate::plan::{Applicability, Decision, Plan};
use crate::report::FileReport;
use crate::report::constructs::constructs;

/// The text. `None` for a file without constructs.
#[must_use]
pub fn text(report: &FileReport, diff: &str) -> Option<String> {
    let constructs = constructs(&report.plans);
    if constructs.is_empty() {
        return None;
    }
    let mut text = format!("# {}\n", report.file.path.display());
    for (number, (span, plans)) in constructs.iter().enumerate() {
        let directive = report.file.show(*span).split_whitespace().collect::<Vec<_>>().join(" ");
        let _infallible = write!(text, "\n## {}: {directive}\n\n", number + 1);
        let extent = plans.iter().map(|plan| plan.extent).max_by_key(|extent| extent.len()).unwrap_or(*span);
        let later = report.plans.iter().filter(|plan| plan.follows && extent.contains(plan.extent));
        plans.iter().copied().chain(later).for_each(|plan| text.push_str(&decided(plan)));
    }
    if !diff.is_empty() {
        // Where a change stands in the file, and what stands around it, is no part of the decision.
        let is_changed =
            |line: &&str| line.starts_with(['+', '-']) && !line.starts_with("+++ ") && !line.starts_with("--- ");
        let lines = diff.lines().filter(is_changed);
        let _infallible = write!(text, "\n## Changes\n\n```diff\n{}\n```\n", lines.collect::<Vec<_>>().join("\n"));
    }
    Some(text)
}

fn decided(plan: &Plan) -> String {
    let decision = match plan.decision {
        Decision::Apply(Applicability::Safe) => "applied",
        Decision::Apply(Applicability::Assumed) => "applied with --assume",
        Decision::Apply(Applicability::Reassociated { .. }) => "applied with --assume=reassociation",
        Decision::Apply(Applicability::DisplayOnly) => "shown",
        Decision::NothingToDo => "nothing to do",
        Decision::DoesNotPay => "does not pay",
        Decision::Refuse => "refused",
    };
    let later = if plan.follows { ", of what came of it" } else { "" };
    let summary = if plan.summary.is_empty() { String::new() } else { format!(": {}", plan.summary) };
    let mut text = format!("- {}{later}: {decision}{summary}\n", plan.pass);
    for reason in &plan.reasons {
        let _infallible = writeln!(text, "  - {}: {}", reason.code.id(), reason.message);
    }
    text
}
