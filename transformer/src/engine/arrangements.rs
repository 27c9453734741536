//! What is decided by each choice among the branches of `#if` groups, where a file cannot be decided on as it is.
//!
//! A file is read as it is first, with all branches beside each other: what is right then is right whichever branch is compiled. Only where
//! a pass refuses something, each arrangement of the branches is looked at, and its edits count where all of them want the same.

use crate::plan::{Decision, Pass, Plan};
use crate::source::Span;

/// What is refused, and may be clearer in an arrangement.
pub(super) fn refused(plans: &[Plan]) -> Vec<(Pass, Span)> {
    plans.iter().filter(|plan| is_refused(plan)).map(|plan| (plan.pass, plan.extent)).collect()
}

/// The plans for the file as it is, with those for its arrangements in the place of refusals, if these change no less.
pub(super) fn better(plans: Vec<Plan>, arranged: Vec<Plan>) -> Vec<Plan> {
    let mut found = Vec::new();
    let mut rest: Vec<(bool, Plan)> = plans.into_iter().map(|plan| (false, plan)).collect();
    rest.extend(arranged.into_iter().map(|plan| (true, plan)));
    // The plans of one pass about one part of the text belong together: one may stand for several others.
    while let Some((is_arranged, plan)) = rest.pop() {
        let (pass, mut extent) = (plan.pass, plan.extent);
        let mut together = vec![(is_arranged, plan)];
        loop {
            let touches = |(_, other): &mut (bool, Plan)| {
                other.pass == pass && (other.extent.overlaps(extent) || other.extent == extent)
            };
            let before = together.len();
            together.extend(rest.extract_if(.., touches));
            if together.len() == before {
                break;
            }
            let all = together.iter().map(|(_, plan)| plan.extent);
            extent = all.fold(extent, |one, other| Span::new(one.start.min(other.start), one.end.max(other.end)));
        }
        found.extend(chosen(together));
    }
    // Plans for one place keep the order of the passes, and that in which they were made.
    found.sort_by_key(|plan| (plan.span.start, plan.pass));
    found
}

/// Those of one of the two readings.
fn chosen(plans: Vec<(bool, Plan)>) -> Vec<Plan> {
    let (arranged, plain): (Vec<_>, Vec<_>) = plans.into_iter().partition(|(is_arranged, _)| *is_arranged);
    let [arranged, plain] = [arranged, plain].map(|all| all.into_iter().map(|(_, plan)| plan).collect::<Vec<_>>());
    let changes = |all: &[Plan]| all.iter().filter(|plan| matches!(plan.decision, Decision::Apply(_))).count();
    let is_better = plain.iter().any(is_refused) && !arranged.is_empty() && changes(&arranged) >= changes(&plain);
    let mut all = if is_better { arranged } else { plain };
    all.sort_by_key(|plan| (plan.span.start, plan.extent.start));
    all
}

fn is_refused(plan: &Plan) -> bool {
    plan.decision == Decision::Refuse
}
