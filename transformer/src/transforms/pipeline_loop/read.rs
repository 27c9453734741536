//! One loop of a league: its head, what it maps, and what it reaches.

use crate::analysis::accesses::{Accesses, accesses};
use crate::plan::{Reason, ReasonCode};
use crate::region::loop_nest::{CanonicalLoopNest, canonical_nest};
use crate::syntax::{ClauseArgument, ClauseName};
use crate::transforms::host_copies::host_values::HostValues;
use crate::transforms::pipeline_loop::clauses;
use crate::transforms::pipeline_loop::head::{self, Head};
use crate::transforms::pipeline_loop::maps::{self, Mapped};

/// A loop that is understood.
pub(super) struct Loop {
    pub head: Head,
    /// The items that it and the construct around it map, before any moves in tiles.
    pub items: Vec<Mapped>,
    pub found: Accesses,
    /// The clauses of its grid that tiles do not allow. They are the reason against tiles if there is no other.
    pub of_grid: Vec<Reason>,
}

/// Reads the loop of a region. `around` is what a `target data` construct around it maps.
///
/// # Errors
/// What is not understood, or not allowed in tiles.
pub(super) fn read(values: &HostValues<'_, '_>, around: &[Mapped]) -> Result<Loop, Vec<Reason>> {
    let cx = values.cx();
    let (data, of_grid) = clauses::read(values)?;
    if let Some(item) = around.iter().find(|item| data.is_private(item.key)) {
        let message = format!("`{}` is not the variable that the data construct around it maps", item.name);
        return Err(vec![Reason::new(ReasonCode::TileClause, values.region.extent, message)]);
    }
    let own = maps::read(values, &values.region.chain.constructs)?;
    let mut items: Vec<Mapped> = around.iter().map(|item| item.around(&own)).collect();
    items.extend(own.into_iter().filter(|item| !around.iter().any(|other| other.key == item.key)));
    let nest = nest(values)?;
    let found = accesses(cx.file, cx.tree, values.symbols(), &nest.loops, 1, &maps::expressions(&items));
    if let Some(trouble) = found.troubles.first() {
        return Err(vec![Reason::new(ReasonCode::TileReach, trouble.span, trouble.message.clone())]);
    }
    let outermost = nest.loops.first().ok_or_else(Vec::new)?;
    let head = head::read(values, outermost, &found)?;
    maps::check_reach(&items, &data, &found)?;
    Ok(Loop { head, items, found, of_grid })
}

/// The associated loops of the construct.
pub(super) fn nest(values: &HostValues<'_, '_>) -> Result<CanonicalLoopNest, Vec<Reason>> {
    let cx = values.cx();
    let id = values.region.chain.innermost();
    let span = cx.constructs.directive(id).span;
    let refuse = |span, message: &str| vec![Reason::new(ReasonCode::LoopNotTiled, span, message)];
    let depth = match cx.constructs.directive(id).clauses_of(ClauseName::Collapse).next().map(|it| &it.argument) {
        None => Some(1),
        Some(ClauseArgument::Expression(span)) => {
            let depth = values.symbols().constant(&cx.file.show(*span), span.start);
            depth.and_then(|depth| usize::try_from(depth).ok())
        }
        Some(_) => None,
    };
    let body = cx.constructs.construct(id).body;
    let (Some(depth), Some(body)) = (depth, body) else {
        return Err(refuse(span, "how many loops it takes is not known"));
    };
    let nest =
        canonical_nest(cx.file, cx.tree, body, depth).map_err(|(problem, span)| refuse(span, problem.explanation()))?;
    match nest.loops.iter().find_map(|read| read.names_outer_variable) {
        Some(span) => Err(refuse(span, "the loops form no rectangle")),
        None => Ok(nest),
    }
}
