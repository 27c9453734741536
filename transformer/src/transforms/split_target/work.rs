//! How much work the loops of a region do, as far as the text says.

use crate::analysis::cost::{Work, estimate};
use crate::plan::{Reason, ReasonCode};
use crate::region::loop_nest::{CanonicalLoop, Relation, canonical_nest};
use crate::region::target::TargetRegion;
use crate::syntax::NodeId;
use crate::transforms::split_target::kernels::Kernel;
use crate::transforms::split_target::names::Names;
use crate::transforms::split_target::shape::Shape;

/// Why the split is not worth its launches; none where it is, or where the work is not known.
pub(super) fn does_not_pay(
    names: &Names<'_>,
    region: &TargetRegion,
    shape: &Shape,
    kernels: &[Kernel],
) -> Option<Reason> {
    let operations: Option<f64> = kernels.iter().map(|kernel| operations(names, kernel)).sum();
    let iterations =
        kernels.iter().map(|kernel| iterations(names, kernel)).try_fold(0.0_f64, |most, n| Some(most.max(n?)));
    let work = Work { operations, kernels: kernels.len(), widens: shape.form.widens(), iterations };
    let estimate = estimate(work)?;
    if estimate.pays() {
        return None;
    }
    let message = format!(
        "about {:.0} operations in all: {:.0} us as it is, {:.0} us in {} {}",
        operations?,
        estimate.before,
        estimate.after,
        kernels.len(),
        if kernels.len() == 1 { "kernel" } else { "kernels" },
    );
    let span = names.cx.constructs.directive(region.chain.constructs.first().copied()?).span;
    Some(Reason::new(ReasonCode::TooSmall, span, message))
}

/// The iterations of the associated loops together.
fn iterations(names: &Names<'_>, kernel: &Kernel) -> Option<f64> {
    kernel.nest.loops.iter().map(|l| trip_count(names, l)).try_fold(1.0, |all, count| Some(all * count?))
}

fn operations(names: &Names<'_>, kernel: &Kernel) -> Option<f64> {
    Some(iterations(names, kernel)? * body_operations(names, kernel.nest.body)?)
}

/// Operators and subscripts below a statement, those in inner loops counted once for each of their iterations.
fn body_operations(names: &Names<'_>, body: NodeId) -> Option<f64> {
    let cx = names.cx;
    let mut weights: Vec<(NodeId, f64)> = Vec::new();
    let mut sum = 0.0;
    for node in cx.tree.descendants(body) {
        while weights.last().is_some_and(|(outer, _)| !cx.tree.span(*outer).contains(cx.tree.span(node))) {
            weights.pop();
        }
        let weight = weights.last().map_or(1.0, |(_, weight)| *weight);
        match cx.tree.kind(node) {
            "for_statement" => {
                let nest = canonical_nest(cx.file, cx.tree, node, 1).ok()?;
                weights.push((node, weight * trip_count(names, nest.loops.first()?)?));
            }
            "while_statement" | "do_statement" => return None,
            "binary_expression" | "assignment_expression" | "subscript_expression" | "update_expression" => {
                sum += weight
            }
            "call_expression" => sum += 8.0 * weight,
            _ => {}
        }
    }
    Some(sum)
}

fn trip_count(names: &Names<'_>, canonical: &CanonicalLoop) -> Option<f64> {
    let lower = names.constant(canonical.lower)?;
    let upper = names.constant(canonical.upper)?;
    let step = canonical.step.amount.map_or(Some(1), |span| names.constant(span))?.abs().max(1);
    let width = match canonical.relation {
        Relation::Less | Relation::NotEqual => upper - lower,
        Relation::LessOrEqual => upper - lower + 1,
        Relation::Greater => lower - upper,
        Relation::GreaterOrEqual => lower - upper + 1,
    };
    i32::try_from((width.max(0) + step - 1) / step).ok().map(f64::from)
}
