//! A grid that somebody else chose, by measuring: it is written if it may be, whatever is predicted of it.

use super::grid::{self, clauses};
use super::retune::{exchanged, grid_matters, is_of_grid, number};
use super::{directive_of_teams, is_a_choice_of_the_original, team_reasons};
use crate::context::Context;
use crate::edit::directive_writer::append_clauses;
use crate::plan::instructions::Grid;
use crate::plan::{Certainty, Change, Reason, ReasonCode, Verdict};
use crate::region::target::TargetRegion;
use crate::syntax::{Clause, ClauseName};
use crate::transforms::checks;

/// Writes the grid that is told for a loop, in the place of the one that clauses say, if there is one.
pub(super) fn write(cx: &Context<'_>, region: &TargetRegion, told: Grid) -> Verdict {
    let span = cx.constructs.directive(region.chain.innermost()).span;
    let written: Vec<&Clause> = clauses(cx, region).filter(|clause| is_of_grid(clause.name)).collect();
    let mut reasons = checks::clause_reasons(cx, region);
    if reasons.is_empty() {
        reasons.extend(team_reasons(cx, region));
        reasons.extend(matters(cx, region, &written));
    }
    let Some(teams) = directive_of_teams(cx, region) else {
        return Verdict::Refuse(vec![Reason::new(ReasonCode::GridDecides, span, "no directive takes the clauses")]);
    };
    if reasons.iter().any(|reason| reason.certainty == Certainty::Proved) {
        return Verdict::Refuse(reasons);
    }
    let Some(new) = grid::told(cx, region, told) else {
        let message = "how many iterations it has is no simple expression";
        return Verdict::Refuse(vec![Reason::new(ReasonCode::GridDecides, span, message)]);
    };
    let said: Vec<_> = written.iter().map(|clause| cx.file.show(clause.span)).collect();
    if said.iter().eq(&new) {
        return Verdict::Nothing(Reason::new(ReasonCode::GridWritten, span, "the grid that is told is written"));
    }
    if written.is_empty() && is_a_choice_of_the_original(cx, region, told.threads) {
        reasons.clear();
    }
    let edits = match written.is_empty() {
        true => vec![append_clauses(cx.file, teams, &new)],
        false => exchanged(cx, region, &written, &new),
    };
    Verdict::Change(Change { edits, summary: format!("the grid that is told: {told}"), reasons, ..Change::default() })
}

/// Why another grid may decide a result, where clauses say the present one.
fn matters(cx: &Context<'_>, region: &TargetRegion, written: &[&Clause]) -> Option<Reason> {
    let decides = |clause: &Clause, message: &str| Some(Reason::new(ReasonCode::GridDecides, clause.span, message));
    if let Some(clause) = clauses(cx, region).find(|clause| clause.name == ClauseName::DistSchedule) {
        return decides(clause, "this gives the teams certain iterations");
    }
    if written.is_empty() {
        return None;
    }
    let threads = written.iter().filter(|clause| clause.name != ClauseName::NumTeams);
    let mut least: Option<u64> = None;
    for clause in threads {
        let Some(number) = number(cx, clause) else {
            return decides(
                clause,
                "how many threads a team has now is not known: one would take its iterations in order",
            );
        };
        least = Some(least.map_or(number, |least| least.min(number)));
    }
    grid_matters(cx, region, written, least)
}
