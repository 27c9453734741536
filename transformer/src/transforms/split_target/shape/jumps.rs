//! Where `break` and `continue` lead.

use crate::semantics::Program;
use crate::source::Span;
use crate::syntax::{NodeId, NodeKind};

/// Is it a `break` or `continue` of a loop inside a span?
pub(crate) fn leaves_inner_loop(cx: &Program<'_>, inner: Span, node: NodeId) -> bool {
    let loops = [NodeKind::ForStatement, NodeKind::WhileStatement, NodeKind::DoStatement];
    let steers = |above: &NodeId| {
        let kind = cx.tree.kind(*above);
        loops.contains(&kind) || (kind == NodeKind::SwitchStatement && cx.tree.kind(node) == NodeKind::BreakStatement)
    };
    let target = cx.tree.ancestors(node).find(steers);
    matches!(cx.tree.kind(node), NodeKind::BreakStatement | NodeKind::ContinueStatement)
        && target.is_some_and(|target| {
            cx.tree.kind(target) != NodeKind::SwitchStatement && inner.contains(cx.tree.span(target))
        })
}

/// Does a jump stay within a span: is its loop or, for `break`, its `switch` inside?
pub(crate) fn stays_within(cx: &Program<'_>, span: Span, jump: NodeId) -> bool {
    leaves_inner_loop(cx, span, jump) || leaves_inner_switch(cx, span, jump)
}

fn leaves_inner_switch(cx: &Program<'_>, inner: Span, jump: NodeId) -> bool {
    let kinds = [
        NodeKind::ForStatement,
        NodeKind::WhileStatement,
        NodeKind::DoStatement,
        NodeKind::SwitchStatement,
        NodeKind::ForRangeLoop,
    ];
    let target = cx.tree.ancestors(jump).find(|above| kinds.contains(&cx.tree.kind(*above)));
    cx.tree.kind(jump) == NodeKind::BreakStatement
        && target.is_some_and(|target| {
            cx.tree.kind(target) == NodeKind::SwitchStatement && inner.contains(cx.tree.span(target))
        })
}
