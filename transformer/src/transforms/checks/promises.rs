//! `assume`, `assumes` and `begin assumes`: a program may promise not to use directives that the output would write.

use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::region::target::TargetRegion;
use crate::semantics::Program;
use crate::source::Span;
use crate::syntax::ClauseName;

/// Why no further directive may be written in a region. `None` if the program makes no such promise. What `assumes`
/// says holds for the whole file (OpenMP 5.2, section 8.3), and `begin assumes` is taken to say it of the whole file
/// too.
pub(in crate::transforms) fn excludes_directives(cx: &Program<'_>, region: &TargetRegion) -> Option<Reason> {
    let message = "the program promises that directives are absent, which the output would hold";
    promise(cx, region, &[ClauseName::Absent], message)
}

/// Why threads of the host may not launch kernels there, or call routines of the runtime (OpenMP 5.2, section 8.3.1).
pub(in crate::transforms) fn excludes_host_threads(cx: &Program<'_>, region: &TargetRegion) -> Option<Reason> {
    let message = "the program promises that here is none of the routines and threads that the output would have";
    let names =
        [ClauseName::NoOpenmp, ClauseName::NoOpenmpConstructs, ClauseName::NoOpenmpRoutines, ClauseName::NoParallelism];
    promise(cx, region, &names, message)
}

/// Where the program says that host and device share their memory (OpenMP 5.2, section 8.2).
pub(in crate::transforms) fn unified_memory(cx: &Program<'_>) -> Option<Span> {
    let required = cx.constructs.directives.iter().filter(|directive| directive.is("requires"));
    let mut clauses = required.flat_map(|directive| &directive.clauses);
    clauses.find(|clause| clause.name == ClauseName::UnifiedSharedMemory).map(|clause| clause.span)
}

fn promise(cx: &Program<'_>, region: &TargetRegion, names: &[ClauseName], message: &str) -> Option<Reason> {
    let first = region.chain.constructs.first().copied();
    let around = std::iter::successors(first, |id| cx.constructs.enclosing(*id));
    let around: Vec<usize> = around.map(|id: ConstructId| cx.constructs.construct(id).directive).collect();
    let directives = cx.constructs.directives.iter().enumerate().filter(|(index, directive)| {
        matches!(directive.name.as_str(), "assumes" | "begin assumes") || around.contains(index)
    });
    let mut clauses = directives.flat_map(|(_, directive)| &directive.clauses);
    let clause = clauses.find(|clause| names.contains(&clause.name))?;
    Some(Reason::new(ReasonCode::ClauseWithoutRule, clause.span, message))
}
