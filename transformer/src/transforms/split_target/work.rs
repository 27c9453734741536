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
    // Launched again and again, a region must not lose: then an unknown size is taken as a middling one.
    let repeated = is_repeated(names, region);
    let counts = Counts { names, unknown: repeated.then_some((ASSUMED_ITERATIONS, ASSUMED_INNER)) };
    let operations: Option<f64> = kernels.iter().map(|kernel| counts.operations(kernel)).sum();
    let mut iterations = kernels.iter().map(|kernel| counts.iterations(kernel));
    let iterations = iterations.try_fold(0.0_f64, |most, n| Some(most.max(n?)));
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

/// Is the region in a loop of its function?
fn is_repeated(names: &Names<'_>, region: &TargetRegion) -> bool {
    let tree = names.cx.tree;
    let Some(body) = names.cx.constructs.construct(region.chain.innermost()).body else { return false };
    let loops = ["for_statement", "while_statement", "do_statement", "for_range_loop"];
    tree.ancestors(body).any(|node| loops.contains(&tree.kind(node)))
}

/// Iterations of an associated loop whose trip count is not known, where a guess is needed: 2^16.
const ASSUMED_ITERATIONS: f64 = 65_536.0;
/// Iterations of a loop inside it.
const ASSUMED_INNER: f64 = 64.0;

/// Trip counts, known or guessed.
struct Counts<'a, 'n> {
    names: &'a Names<'n>,
    /// What an unknown trip count of an associated loop, and of a loop inside, is taken for; nothing where the whole
    /// estimate is then unknown.
    unknown: Option<(f64, f64)>,
}

impl Counts<'_, '_> {
    /// The iterations of the associated loops together.
    fn iterations(&self, kernel: &Kernel) -> Option<f64> {
        let counts: Option<Vec<f64>> = kernel.nest.loops.iter().map(|l| self.trip_count(l)).collect();
        counts.map(|counts| counts.iter().product()).or(self.unknown.map(|(associated, _)| associated))
    }

    fn operations(&self, kernel: &Kernel) -> Option<f64> {
        Some(self.iterations(kernel)? * self.body_operations(kernel.nest.body)?)
    }

    /// Operators and subscripts below a statement, those in inner loops counted once for each of their iterations.
    fn body_operations(&self, body: NodeId) -> Option<f64> {
        let cx = self.names.cx;
        let inner = self.unknown.map(|(_, inner)| inner);
        let mut weights: Vec<(NodeId, f64)> = Vec::new();
        let mut sum = 0.0;
        for node in cx.tree.descendants(body) {
            while weights.last().is_some_and(|(outer, _)| !cx.tree.span(*outer).contains(cx.tree.span(node))) {
                weights.pop();
            }
            let weight = weights.last().map_or(1.0, |(_, weight)| *weight);
            match cx.tree.kind(node) {
                "for_statement" => {
                    let nest = canonical_nest(cx.file, cx.tree, node, 1).ok();
                    let count = nest.and_then(|nest| self.trip_count(nest.loops.first()?)).or(inner)?;
                    weights.push((node, weight * count));
                }
                "while_statement" | "do_statement" => weights.push((node, weight * inner?)),
                "binary_expression" | "assignment_expression" | "subscript_expression" | "update_expression" => {
                    sum += weight;
                }
                "call_expression" => sum += 8.0 * weight,
                _ => {}
            }
        }
        Some(sum)
    }

    fn trip_count(&self, canonical: &CanonicalLoop) -> Option<f64> {
        let lower = self.names.constant(canonical.lower)?;
        let upper = self.names.constant(canonical.upper)?;
        let step = canonical.step.amount.map_or(Some(1), |span| self.names.constant(span))?.abs().max(1);
        let width = match canonical.relation {
            Relation::Less | Relation::NotEqual => upper - lower,
            Relation::LessOrEqual => upper - lower + 1,
            Relation::Greater => lower - upper,
            Relation::GreaterOrEqual => lower - upper + 1,
        };
        i32::try_from((width.max(0) + step - 1) / step).ok().map(f64::from)
    }
}
