//! Which `parallel` regions hold several worksharing loops, and what else may stand in them.
//!
//! Every thread of the team executes what stands around the loops. If all threads compute the same, the host can
//! execute it once; the facts tell whether they do.

use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::region::target::{Chain, Flow, Segment, TargetRegion};
use crate::semantics::Program;
use crate::source::{Span, Spelling};
use crate::syntax::spec_table::Leaf;

/// The `parallel` constructs whose loops become kernels of their own, in the order of the text.
pub(super) fn regions(cx: &Program<'_>, region: &TargetRegion) -> Vec<ConstructId> {
    let whole = (region.chain.leaves == [Leaf::Target, Leaf::Parallel]).then(|| region.chain.innermost());
    let inside = region.all_segments().into_iter().filter_map(|segment| match segment {
        Segment::Parallel(parallel) => Some(parallel.chain.innermost()),
        _ => None,
    });
    let mut found: Vec<ConstructId> = whole.into_iter().chain(inside).collect();
    found.sort_by_key(|id| cx.constructs.directive(*id).span.start);
    found
}

/// Why the loops of a `parallel` region cannot become kernels. `None` if it has none but encloses one that can.
pub(super) fn without_loops(cx: &Program<'_>, region: &TargetRegion, id: ConstructId) -> Option<Reason> {
    let has_loop = region.loops().any(|chain| chain.constructs.contains(&id));
    (!has_loop).then(|| {
        let directive = cx.constructs.directive(id);
        let message = format!("`{}` without a loop in it is not taken apart", directive.name);
        Reason::new(ReasonCode::BareParallel, directive.span, message)
    })
}

/// Does one of the `parallel` regions enclose the segment?
pub(super) fn encloses(cx: &Program<'_>, parallel: &[ConstructId], segment: &Segment) -> bool {
    let directive = |chain: &Chain| chain.constructs.last().map(|id| cx.constructs.directive(*id).span);
    let span = match segment {
        Segment::Loop(chain) | Segment::Construct(chain) => directive(chain),
        Segment::Parallel(parallel) => directive(&parallel.chain),
        Segment::Flow(Flow { node, .. })
        | Segment::Declaration(node)
        | Segment::Control(node)
        | Segment::Jump(node)
        | Segment::Preprocessor(node)
        | Segment::Serial(node) => Some(cx.tree.span(*node)),
    };
    // A single statement that is the region's whole body, without braces, is enclosed as well.
    parallel.iter().any(|id| span.is_some_and(|span| cx.constructs.construct(*id).body_span.contains(span)))
}

/// Is it a directive that only orders the threads of the team, in a way that the order of the kernels guarantees too?
/// For `taskwait` there are no tasks, because a construct that creates one is refused.
pub(super) fn only_orders(cx: &Program<'_>, id: ConstructId) -> bool {
    let directive = cx.constructs.directive(id);
    matches!(directive.name.as_str(), "barrier" | "flush" | "taskwait")
        && directive.clauses.is_empty()
        && directive.spelling == Spelling::Pragma
        && cx.constructs.construct(id).doubt.is_none()
}

/// Why a statement that every thread executes prevents the split.
pub(super) fn executed_by_all(span: Span) -> Reason {
    Reason::new(ReasonCode::BareParallel, span, "every thread of the parallel region executes this statement")
}
