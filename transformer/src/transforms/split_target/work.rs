//! How much work the loops of a region do, as far as the text says, and whether that is worth the launches.

use crate::analysis::cost::{Estimate, Grid, LoopWork, estimate};
use crate::plan::{Reason, ReasonCode};
use crate::region::loop_nest::{CanonicalLoop, Relation, canonical_nest};
use crate::region::target::TargetRegion;
use crate::syntax::NodeId;
use crate::transforms::split_target::kernels::Kernel;
use crate::transforms::split_target::names::Names;
use crate::transforms::split_target::shape::{HostPart, Shape};

/// Iterations of a loop inside an associated one, where they are not known.
const ASSUMED_INNER: f64 = 64.0;

/// What the cost model says of a region.
pub(super) struct Verdict {
    estimate: Estimate,
    kernels: usize,
    /// The iterations that are assumed where the text does not tell, and from how many on the split pays.
    assumed: Option<(f64, Option<f64>)>,
}

/// Weighs a region.
pub(super) fn weigh(names: &Names<'_>, shape: &Shape, kernels: &[Kernel]) -> Verdict {
    let grid = if shape.form.widens() { Grid::OneTeam } else { Grid::League };
    let steered = shape.host.iter().any(|part| matches!(part, HostPart::Flow(_)));
    let with = |unknown: f64| {
        let counts = Counts { names, unknown };
        let loops: Vec<LoopWork> = kernels.iter().map(|kernel| counts.work(kernel)).collect();
        estimate(&loops, grid, steered)
    };
    let assumed = f64::from(names.cx.assumed_iterations);
    let is_known = kernels.iter().all(|kernel| Counts { names, unknown: 0.0 }.is_known(kernel));
    let from = || (5..=30).map(|power| f64::from(1_u32 << power)).find(|iterations| with(*iterations).pays());
    Verdict { estimate: with(assumed), kernels: kernels.len(), assumed: (!is_known).then(|| (assumed, from())) }
}

impl Verdict {
    /// Why the split is not worth its launches; none where it is.
    pub(super) fn does_not_pay(&self, names: &Names<'_>, region: &TargetRegion) -> Option<Reason> {
        if self.estimate.pays() {
            return None;
        }
        let plural = if self.kernels == 1 { "kernel" } else { "kernels" };
        let Estimate { before, after } = self.estimate;
        let mut message = format!("{before:.0} us as it is, {after:.0} us in {} {plural}", self.kernels);
        if let Some((assumed, from)) = self.assumed {
            message = format!("with {assumed:.0} iterations where the text does not tell: {message}");
            if let Some(from) = from {
                message = format!("{message}; pays from about {from:.0}");
            }
        }
        let span = names.cx.constructs.directive(region.chain.constructs.first().copied()?).span;
        Some(Reason::new(ReasonCode::TooSmall, span, message))
    }

    /// From how many iterations on it pays, where that is not known.
    pub(super) fn crossover(&self) -> Option<f64> {
        self.assumed.and_then(|(_, from)| from)
    }
}

/// Trip counts, known or assumed.
struct Counts<'a, 'n> {
    names: &'a Names<'n>,
    /// What an unknown trip count of an associated loop is taken for.
    unknown: f64,
}

impl Counts<'_, '_> {
    fn work(&self, kernel: &Kernel) -> LoopWork {
        if let Some(run) = &kernel.serial {
            let operations = run.nodes.iter().map(|node| self.body_operations(*node)).sum();
            return LoopWork { iterations: 1.0, operations, serial: true };
        }
        let counts = kernel.nest.loops.iter().map(|canonical| self.trip_count(canonical).unwrap_or(self.unknown));
        LoopWork { iterations: counts.product(), operations: self.body_operations(kernel.nest.body), serial: false }
    }

    fn is_known(&self, kernel: &Kernel) -> bool {
        kernel.nest.loops.iter().all(|canonical| self.trip_count(canonical).is_some())
    }

    /// Operators and subscripts below a statement, those in inner loops counted once for each of their iterations.
    fn body_operations(&self, body: NodeId) -> f64 {
        let cx = self.names.cx;
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
                    let count = nest.and_then(|nest| self.trip_count(nest.loops.first()?));
                    weights.push((node, weight * count.unwrap_or(ASSUMED_INNER)));
                }
                "while_statement" | "do_statement" => weights.push((node, weight * ASSUMED_INNER)),
                "binary_expression" | "assignment_expression" | "subscript_expression" | "update_expression" => {
                    sum += weight;
                }
                "call_expression" => sum += 8.0 * weight,
                _ => {}
            }
        }
        sum
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
