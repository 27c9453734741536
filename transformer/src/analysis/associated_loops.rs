//! The loops that a construct takes by its `collapse` clause.

use crate::analysis::accesses::accesses;
use crate::region::construct::ConstructId;
use crate::region::loop_nest::{CanonicalLoop, CanonicalLoopNest, Relation, canonical_nest};
use crate::region::target::TargetRegion;
use crate::semantics::Program;
use crate::syntax::{ClauseArgument, ClauseName};

/// The most loops that `collapse` takes together on a device.
const DEEPEST: usize = 4;

/// The loops of a region's innermost construct and their number, if they are in canonical form and rectangular.
#[must_use]
pub fn associated_loops(program: &Program<'_>, region: &TargetRegion) -> Option<(Vec<CanonicalLoop>, usize)> {
    let nest = loops_of(program, region.chain.innermost())?;
    let depth = nest.loops.len();
    Some((nest.loops, depth))
}

/// The loops of a construct, if they are in canonical form and rectangular.
#[must_use]
pub fn loops_of(program: &Program<'_>, id: ConstructId) -> Option<CanonicalLoopNest> {
    let depth = match program.constructs.directive(id).clauses_of(ClauseName::Collapse).next().map(|it| &it.argument) {
        None => 1,
        Some(ClauseArgument::Expression(span)) => {
            let value = program.symbols().constant(&program.file.show(*span), span.start)?;
            usize::try_from(value).ok().filter(|depth| (1..=DEEPEST).contains(depth))?
        }
        Some(_) => return None,
    };
    let nest = canonical_nest(program.file, program.tree, program.constructs.construct(id).body?, depth).ok()?;
    let is_rectangular = nest.loops.iter().all(|one| one.names_outer_variable.is_none());
    is_rectangular.then_some(nest)
}

/// How many iterations the loops of a construct have together, if that follows from the text. Their body need not be understood.
#[must_use]
pub fn known_iterations(program: &Program<'_>, id: ConstructId) -> Option<u64> {
    let CanonicalLoopNest { loops, .. } = loops_of(program, id)?;
    let depth = loops.len();
    let found = accesses(program.file, program.tree, program.symbols(), &loops, depth, &[]).loops;
    let trips = found.iter().take(depth).map(|one| u64::try_from(one.trips?).ok());
    let product = trips.into_iter().try_fold(1, |product: u64, trips| product.checked_mul(trips?));
    product.filter(|_| found.len() >= depth)
}

/// How many iterations a loop has, if that follows from the text.
#[must_use]
pub(crate) fn trip_count(program: &Program<'_>, canonical: &CanonicalLoop) -> Option<f64> {
    let lower = program.constant(canonical.lower)?;
    let upper = program.constant(canonical.upper)?;
    let step = canonical.step.amount.map_or(Some(1), |span| program.constant(span))?.checked_abs()?.max(1);
    let width = match canonical.relation {
        Relation::Less | Relation::NotEqual => upper.checked_sub(lower),
        Relation::LessOrEqual => upper.checked_sub(lower)?.checked_add(1),
        Relation::Greater => lower.checked_sub(upper),
        Relation::GreaterOrEqual => lower.checked_sub(upper)?.checked_add(1),
    }?;
    let trips = width.max(0).checked_add(step - 1)? / step;
    i32::try_from(trips).ok().map(f64::from)
}
