//! Kernels that were measured and stay in the form that was found to be fastest.

use crate::context::Context;
use crate::plan::{Decision, Pass, Plan, Reason, ReasonCode};
use crate::region::target::target_regions;
use crate::source::Span;

/// Takes from plans what would change a kernel that stays as it is, and remarks about its grid. What passes do around kernels is another
/// matter: their data environments and copies are no part of what was measured.
pub(super) fn keep(plans: &mut [Plan], cx: &Context<'_>) {
    let kept = kept(cx);
    for plan in plans.iter_mut().filter(|plan| changes_kernels(plan.pass)) {
        let touches = |extent: Span| plan.extent.contains(extent) || extent.contains(plan.extent);
        let Some((extent, words)) = kept.iter().find(|(extent, _)| touches(*extent)) else { continue };
        let span = if plan.extent == *extent { plan.span } else { *extent };
        plan.reasons.clear();
        if matches!(plan.decision, Decision::Apply(_)) {
            plan.edits.clear();
            plan.summary.clear();
            plan.kernels.1 = plan.kernels.0;
            plan.times = None;
            plan.copies = None;
        }
        plan.decision = Decision::NothingToDo;
        plan.reasons.push(Reason::new(ReasonCode::Tuned, span, words.clone()));
    }
}

/// The kernels that stay as they are, each with the words about it.
fn kept(cx: &Context<'_>) -> Vec<(Span, String)> {
    if cx.instructions.kept.is_empty() {
        return Vec::new();
    }
    let regions = target_regions(cx.tree, cx.constructs);
    let words = |region| Some((cx.instructions.kept.get(&cx.loop_hash(region))?).clone());
    regions.iter().filter_map(|region| Some((region.extent, words(region)?))).collect()
}

fn changes_kernels(pass: Pass) -> bool {
    !matches!(pass, Pass::Hoist | Pass::Overlap)
}
