//! Whether loops may be widened if a clause may serialise or group their iterations in the one team: `num_threads`,
//! `if`, a chunk, `thread_limit`.
//!
//! A program without races may then carry values from one iteration to the next. The loop still becomes a kernel on the
//! full grid if its iterations are proved to be independent.

use std::collections::BTreeSet;

use crate::analysis::independence::dependence;
use crate::plan::{Reason, ReasonCode};
use crate::region::target::{Chain, TargetRegion};
use crate::semantics::Program;
use crate::source::Span;
use crate::syntax::{Clause, ClauseName};
use crate::transforms::split_target::facts::data::DataEnvironment;
use crate::transforms::split_target::facts::pieces::Piece;
use crate::transforms::split_target::facts::written_first::written_first;
use crate::transforms::split_target::shape::are_teams_of_one;
use crate::transforms::split_target::shape::clauses::{LoopClauses, RegionClauses, expressions_of};

/// Keeps clauses with the last use of a variable, because compilers may warn about unused variables.
pub(super) fn keep_last_uses(names: &Program<'_>, chain: &Chain, clauses: &mut LoopClauses) {
    clauses.take_back(&chain.leaves, |clause| effect(names, clause).is_none() && last_use(names, clause).is_some());
}

/// A place in a clause whose evaluation may have an effect.
fn effect(names: &Program<'_>, clause: &Clause) -> Option<Span> {
    expressions_of(clause).into_iter().find(|span| names.may_have_effect(*span))
}

/// A variable that is used only by the clause in its function.
fn last_use(names: &Program<'_>, clause: &Clause) -> Option<Span> {
    let named = expressions_of(clause).into_iter().flat_map(|span| names.names_in(span));
    named.into_iter().find(|(name, at)| names.is_named_in_clause_alone(name, *at, clause.span)).map(|(_, at)| at)
}

/// Why a clause may not be removed.
fn is_needed(names: &Program<'_>, clause: &Clause) -> Option<Reason> {
    let (span, message) = match effect(names, clause) {
        Some(span) => (span, "this would no longer be evaluated, and may do more than give a value"),
        None => (last_use(names, clause)?, "without this clause nothing uses the variable, of which compilers warn"),
    };
    Some(Reason::new(ReasonCode::ExpressionNotMovable, span, message))
}

/// Why loops may not be widened.
pub(super) fn reasons(
    names: &Program<'_>,
    region: &TargetRegion,
    clauses: &RegionClauses,
    pieces: &[Piece],
    data: &DataEnvironment,
) -> Vec<Reason> {
    let mut reasons = Vec::new();
    for (index, piece) in pieces.iter().enumerate().filter(|(_, piece)| piece.serial.is_none()) {
        reasons.extend(piece.clauses.dropped.iter().filter_map(|clause| is_needed(names, clause)));
        let few_teams = clauses.few_teams.filter(|_| are_teams_of_one(&piece.chain.leaves));
        let of_team = clauses.grouped.filter(|_| !shares_freely(names, clauses, piece));
        let grouped = piece.clauses.grouped.or(of_team).or(few_teams);
        let Some(grouped) = grouped.filter(|_| !piece.clauses.concurrent) else { continue };
        let own = data.kernel_private.iter().filter(|(of, _)| *of == index).map(|(_, name)| name.clone()).collect();
        if let Some(dependence) = between_iterations(names, region, piece, &own) {
            let message = "this lets one thread run several iterations in order, so that they need not be independent: drop it if they are";
            let because = format!("not proved: {}", dependence.message);
            reasons.push(
                Reason::new(ReasonCode::IterationsGrouped, grouped, message).with_label(dependence.span, because),
            );
        }
    }
    reasons
}

/// May any two iterations be those of different threads: there is more than one in the team, and no clause says which makes what?
fn shares_freely(names: &Program<'_>, clauses: &RegionClauses, piece: &Piece) -> bool {
    let of_loop = piece.chain.constructs.iter().flat_map(|id| &names.constructs.directive(*id).clauses);
    let is_scheduled = of_loop.into_iter().any(|clause| clause.name == ClauseName::Schedule);
    let limit = clauses.kernel.iter().find(|clause| clause.name == ClauseName::ThreadLimit);
    let threads = limit.and_then(Clause::expression).and_then(|span| names.constant(span));
    !is_scheduled && threads.is_some_and(|threads| threads > 1)
}

fn between_iterations(
    cx: &Program<'_>,
    region: &TargetRegion,
    piece: &Piece,
    own: &BTreeSet<String>,
) -> Option<Reason> {
    let mut chain = region.chain.constructs.clone();
    chain.extend(piece.chain.constructs.iter().filter(|id| !region.chain.constructs.contains(id)));
    let root = piece.directive().and_then(|id| cx.constructs.construct(id).body);
    let assigned = root.map(|root| written_first(cx, &[root])).unwrap_or_default();
    dependence(cx, chain, &piece.nest, &assigned, own)
}
