//! Which loops inside of one that becomes a kernel are spread with it, by the pass that collapses loops.

use std::rc::Rc;

use crate::analysis::cost::ASSUMED_INNER;
use crate::analysis::independence::dependence_in_team;
use crate::region::loop_nest::{CanonicalLoop, CanonicalLoopNest, loop_inside};
use crate::syntax::spec_table::Leaf;
use crate::syntax::{NodeId, NodeKind};
use crate::transforms::checks::may_move;
use crate::transforms::split_target::facts::cost::{Counts, remembered};
use crate::transforms::split_target::facts::pieces::Piece;

/// The most loops inside that are spread.
const DEEPEST: usize = 2;

impl Counts<'_, '_> {
    /// How many iterations of loops inside are spread, for each iteration of a loop.
    pub(super) fn spread(&self, piece: &Piece) -> f64 {
        let place = self.names.tree.span(piece.nest.body);
        let loops = remembered(&self.lengths.spread, place, || Rc::from(self.loops_spread(piece)));
        let count = |one: &CanonicalLoop| self.trip_count(one).or_else(|| self.concerned(one)).unwrap_or(ASSUMED_INNER);
        loops.iter().map(count).product::<f64>().max(1.0)
    }

    /// The loops directly inside, one in the other, whose iterations are proved to be independent.
    fn loops_spread(&self, piece: &Piece) -> Vec<CanonicalLoop> {
        let cx = self.names;
        let Some(id) = piece.directive().filter(|_| cx.collapses && self.spreads) else { return Vec::new() };
        let mut chain = vec![id];
        while let Some(above) = chain.first().and_then(|first| cx.constructs.enclosing(*first)) {
            chain.insert(0, above);
            if cx.constructs.construct(above).leaves.first() == Some(&Leaf::Target) {
                break;
            }
        }
        let mut inner = CanonicalLoopNest { loops: Vec::new(), body: piece.nest.body };
        while inner.loops.len() < DEEPEST {
            let Ok((next, declarations)) = loop_inside(cx.file, cx.tree, &inner) else { break };
            let deeper =
                CanonicalLoopNest { body: next.body, loops: inner.loops.iter().cloned().chain([next]).collect() };
            let depends = || dependence_in_team(cx, chain.clone(), &piece.nest, &deeper).is_some();
            let stay = || !declarations.is_empty() && !self.go_inside(&declarations, inner.body, &deeper);
            if stay() || depends() {
                break;
            }
            inner = deeper;
        }
        inner.loops
    }

    /// Do declarations before the last of these loops move into it, and read no memory that other iterations of it may write?
    fn go_inside(&self, declarations: &[NodeId], outer: NodeId, loops: &CanonicalLoopNest) -> bool {
        let cx = self.names;
        let loads = [NodeKind::SubscriptExpression, NodeKind::PointerExpression, NodeKind::FieldExpression];
        let reads = |node: &NodeId| cx.tree.descendants(*node).any(|inner| loads.contains(&cx.tree.kind(inner)));
        let last = loops.loops.last();
        !declarations.iter().any(reads) && last.is_some_and(|last| may_move(cx, declarations, outer, last))
    }
}
