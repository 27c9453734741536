//! The clauses of the construct, which are repeated for each tile.

use crate::analysis::associated_loops::known_iterations;
use crate::analysis::independence::clauses::{self, Clauses};
use crate::context::Context;
use crate::plan::{Reason, ReasonCode};
use crate::source::Span;
use crate::syntax::{ClauseArgument, ClauseName};
use crate::transforms::host_copies::host_code;
use crate::transforms::host_copies::host_values::HostValues;

/// What the clauses say about variables, and which clauses of the grid tiles do not allow.
///
/// # Errors
/// The clauses that group or order iterations, or mean something else when they stand on several constructs.
pub(super) fn read(values: &HostValues<'_, '_>) -> Result<(Clauses, Vec<Reason>), Vec<Reason>> {
    let cx = values.cx();
    let chain = &values.region.chain.constructs;
    let mut reasons: Vec<Reason> = of_one_thread(values.names, values.region.extent).into_iter().collect();
    let inner = chain.iter().skip(1).flat_map(|id| cx.constructs.directive(*id).clauses_of(ClauseName::Default));
    for clause in inner {
        let message = "what it says of the bounds of tiles has no clause to stand in";
        reasons.push(Reason::new(ReasonCode::TileClause, clause.span, message));
    }
    let mut of_grid = Vec::new();
    for clause in chain.iter().flat_map(|id| &cx.constructs.directive(*id).clauses) {
        let reasons = if clauses::is_of_grid(clause.name) { &mut of_grid } else { &mut reasons };
        if !host_code::is_plain(clause) {
            let message = format!("`{}` does not go with tiles", cx.file.show(clause.name_span));
            reasons.push(Reason::new(ReasonCode::TileClause, clause.span, message));
        } else if let ClauseArgument::Expression(span) = &clause.argument {
            reasons.extend(values.check(*span).err().into_iter().flatten());
        } else if let (ClauseName::DistSchedule, ClauseArgument::Words(words)) = (clause.name, &clause.argument) {
            reasons.extend(words.iter().skip(1).filter_map(|chunk| values.check(*chunk).err()).flatten());
        }
        for section in clause.items().iter().flat_map(|item| &item.sections) {
            for bound in [section.lower_bound, section.length].into_iter().flatten() {
                reasons.extend(values.check(bound).err().into_iter().flatten());
            }
        }
    }
    let as_own = |reason: Reason| Reason { code: ReasonCode::TileClause, ..reason };
    // It does not matter which team takes an iteration, since the threads of the team share it.
    match clauses::read_besides(cx, chain, &[ClauseName::DistSchedule]) {
        Ok((found, grouping)) if reasons.is_empty() => {
            // A single iteration is in no group.
            let is_single = known_iterations(cx, values.region.chain.innermost()).is_some_and(|number| number <= 1);
            of_grid.extend(grouping.into_iter().filter(|_| !is_single).map(as_own));
            Ok((found, of_grid))
        }
        Ok(_) => Err(reasons),
        Err(grouping) => {
            reasons.extend(grouping.into_iter().map(as_own));
            Err(reasons)
        }
    }
}

/// A variable of which each thread of the host has its own: the threads that launch tiles would use other copies than
/// the thread that reaches the construct.
fn of_one_thread(names: &Context<'_>, extent: Span) -> Option<Reason> {
    let name = host_code::of_one_thread(names, extent)?;
    let message = format!("{name} is another variable in each thread of the host");
    Some(Reason::new(ReasonCode::TileReach, extent, message))
}
