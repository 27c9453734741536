//! Ways out of the statements around which an environment would stand.

use crate::context::Context;
use crate::source::Span;
use crate::syntax::{NodeId, NodeKind as K};

/// How statements are left other than past the last of them.
#[derive(Default)]
pub(super) struct WaysOut {
    /// Jumps to behind them, or out of the function.
    pub jumps: Vec<NodeId>,
    /// Calls that end the program: functions that run then may read what others know.
    pub ends: Vec<NodeId>,
    /// What leads into them or out of them where no directive can stand before: labels, exceptions, code that runs elsewhere.
    pub blocked: Option<Span>,
}

impl WaysOut {
    /// The first of them.
    pub(super) fn first(&self, cx: &Context<'_>) -> Option<Span> {
        self.jumps.first().map(|jump| cx.tree.span(*jump)).into_iter().chain(self.blocked).min_by_key(|span| span.start)
    }
}

const LOOPS: [K; 4] = [K::ForStatement, K::WhileStatement, K::DoStatement, K::ForRangeLoop];

/// The ways out of some statements.
pub(super) fn ways_out(cx: &Context<'_>, statements: &[NodeId]) -> WaysOut {
    let tree = cx.tree;
    let mut found = WaysOut::default();
    for (root, node) in statements.iter().flat_map(|root| tree.descendants(*root).map(move |node| (*root, node))) {
        let caught = |kinds: &[K]| {
            let inner = tree.ancestors(node).take_while(|above| *above != root).chain(std::iter::once(root));
            node != root && inner.into_iter().any(|above| kinds.contains(&tree.kind(above)))
        };
        let (is_jump, is_blocked) = match tree.kind(node) {
            K::ReturnStatement | K::GotoStatement => (true, caught(&[K::LambdaExpression])),
            K::LabeledStatement | K::ThrowStatement | K::CoReturnStatement => (false, true),
            K::BreakStatement => (!caught(&LOOPS) && !caught(&[K::SwitchStatement]), false),
            K::ContinueStatement => (!caught(&LOOPS), false),
            _ => (false, false),
        };
        let is_in_kernel = || {
            cx.constructs.ids().any(|id| {
                cx.constructs.is_target(id) && cx.constructs.construct(id).body_span.contains(tree.span(node))
            })
        };
        let is_end = cx.ends_program(node);
        if !(is_jump || is_blocked || is_end) || is_in_kernel() {
            continue;
        }
        if is_end && caught(&[K::LambdaExpression]) {
            found.blocked.get_or_insert(tree.span(node));
        } else if is_end {
            found.ends.push(node);
        } else if is_blocked {
            found.blocked.get_or_insert(tree.span(node));
        } else {
            found.jumps.push(node);
        }
    }
    found
}
