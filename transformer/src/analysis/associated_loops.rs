//! The loops that a construct takes by its `collapse` clause.

use crate::region::loop_nest::{CanonicalLoop, canonical_nest};
use crate::region::target::TargetRegion;
use crate::semantics::Program;
use crate::syntax::{ClauseArgument, ClauseName};

/// The most loops that `collapse` takes together on a device.
const DEEPEST: usize = 4;

#[must_use]
/// The loops of a construct and their number, if they are in canonical form and rectangular.
pub fn associated_loops(program: &Program<'_>, region: &TargetRegion) -> Option<(Vec<CanonicalLoop>, usize)> {
    let id = region.chain.innermost();
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
    is_rectangular.then_some((nest.loops, depth))
}
