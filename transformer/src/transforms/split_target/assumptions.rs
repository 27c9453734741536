//! `assume`, `assumes` and `begin assumes`: a program may promise that directives are absent which the output would write.

use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::region::target::TargetRegion;
use crate::syntax::ClauseName;
use crate::transforms::Context;

/// Why no further directive may stand in a region; none where nothing promises that. What `assumes` says holds for the whole
/// file (OpenMP 5.2, section 8.3), and `begin assumes` is taken to say it of the whole file too.
pub(in crate::transforms) fn excludes_directives(cx: &Context<'_>, region: &TargetRegion) -> Option<Reason> {
    let first = region.chain.constructs.first().copied();
    let around = std::iter::successors(first, |id| cx.constructs.enclosing(*id));
    let around: Vec<usize> = around.map(|id: ConstructId| cx.constructs.construct(id).directive).collect();
    let mut directives = cx.constructs.directives.iter().enumerate().filter(|(index, directive)| {
        matches!(directive.name.as_str(), "assumes" | "begin assumes") || around.contains(index)
    });
    directives.find_map(|(_, directive)| {
        let clause = directive.clauses_of(ClauseName::Absent).next()?;
        let message = "the program promises that directives are absent, which the output would hold";
        Some(Reason::new(ReasonCode::ClauseWithoutRule, clause.span, message))
    })
}
