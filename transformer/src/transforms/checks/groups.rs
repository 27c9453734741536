//! Groups of iterations, as `coarsen` writes them.

use crate::analysis::associated_loops::loops_of;
use crate::semantics::Program;
use crate::source::Span;

/// A loop in a part of the file that takes several steps at once, in whose body a loop is unrolled: what is left there to be done for others.
pub(in crate::transforms) fn written_in(cx: &Program<'_>, part: Span) -> Option<Span> {
    let mut unrolled = cx.constructs.ids_within(part).filter(|id| cx.constructs.directive(*id).name == "unroll");
    unrolled.find_map(|id| {
        let loops = loops_of(cx, cx.constructs.enclosing(id)?)?.loops;
        loops.iter().filter_map(|one| one.step.amount).find(|amount| cx.constant(*amount).is_some_and(|step| step > 1))
    })
}
