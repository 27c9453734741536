//! How the threads of a region's kernel begin, as clang 19 compiles it.
//!
//! clang decides by the shape of the constructs alone, before any optimisation: a `target` construct whose block is one
//! parallel construct, and nothing else, starts all threads at once (SPMD). In any other region one thread runs and
//! hands parallel regions to the others (generic). The optimiser may turn a generic kernel into SPMD mode if it can
//! restrict the sequential code to one thread; the kernel is still launched with one team.

use crate::region::construct::ConstructTree;
use crate::region::target::{Parallel, Segment, TargetRegion};
use crate::source::Span;
use crate::syntax::HostTree;
use crate::syntax::spec_table::Leaf;

/// How the threads of a kernel begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Predicted {
    /// All threads run the kernel from its start.
    Spmd,
    /// One thread of each team runs, the others wait.
    Generic {
        /// The statement that prevents SPMD mode.
        spoiled_at: Span,
        /// What the statement is.
        because: &'static str,
    },
}

/// The mode of a region's kernel without optimisation.
#[must_use]
pub fn execution_mode(tree: &HostTree, constructs: &ConstructTree, region: &TargetRegion) -> Predicted {
    let leaves = &region.chain.leaves;
    if leaves.iter().any(|leaf| matches!(leaf, Leaf::Parallel | Leaf::Loop)) {
        return Predicted::Spmd;
    }
    let innermost = region.chain.innermost();
    if region.chain.is_loop() {
        let spoiled_at = constructs.directive(innermost).span;
        return Predicted::Generic { spoiled_at, because: "its loop is not parallel inside a team" };
    }
    let mut first_loop = None;
    for segment in &region.segments {
        let (node, because) = match segment {
            Segment::Loop(chain) | Segment::Construct(chain) | Segment::Parallel(Parallel { chain, .. }) => {
                let span = chain.constructs.first().map_or(region.extent, |id| constructs.directive(*id).span);
                match first_loop.replace(span) {
                    Some(_) => return Predicted::Generic { spoiled_at: span, because: "a second construct" },
                    None => continue,
                }
            }
            Segment::Declaration(node) => (node, "a declaration of one thread"),
            Segment::Flow(flow) => (&flow.node, "sequential control flow"),
            Segment::Control(node) => (node, "sequential control flow"),
            Segment::Jump(node) => (node, "a jump or label"),
            Segment::Preprocessor(node) => (node, "a preprocessor line"),
            Segment::Serial(node) => (node, "a statement of one thread"),
        };
        return Predicted::Generic { spoiled_at: tree.span(*node), because };
    }
    let spoiled_at = first_loop.unwrap_or(constructs.directive(innermost).span);
    Predicted::Generic { spoiled_at, because: "no parallel construct alone fills it" }
}
