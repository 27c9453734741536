//! Ways out of the statements around which an environment would stand.

use crate::context::Context;
use crate::source::Span;
use crate::syntax::NodeKind;
use crate::transforms::hoist_maps::blocks::Statement;

/// A jump from the statements to behind them.
pub(super) fn jump_out(cx: &Context<'_>, inside: &[Statement]) -> Option<Span> {
    let tree = cx.tree;
    let nodes = inside.iter().flat_map(|statement| tree.descendants(statement.node).map(|node| (statement.node, node)));
    nodes.into_iter().find_map(|(root, node)| {
        let kind = tree.kind(node);
        let caught = |kinds: &[NodeKind]| {
            let inner = tree.ancestors(node).take_while(|above| *above != root).chain(std::iter::once(root));
            node != root && inner.into_iter().any(|above| kinds.contains(&tree.kind(above)))
        };
        use NodeKind as K;
        let leaves = match kind {
            K::ReturnStatement | K::GotoStatement | K::LabeledStatement | K::ThrowStatement | K::CoReturnStatement => {
                true
            }
            K::BreakStatement => {
                !caught(&[K::ForStatement, K::WhileStatement, K::DoStatement, K::SwitchStatement, K::ForRangeLoop])
            }
            K::ContinueStatement => !caught(&[K::ForStatement, K::WhileStatement, K::DoStatement, K::ForRangeLoop]),
            _ => false,
        };
        let is_in_kernel = || {
            cx.constructs.ids().any(|id| {
                cx.constructs.is_target(id) && cx.constructs.construct(id).body_span.contains(tree.span(node))
            })
        };
        (leaves && !is_in_kernel()).then(|| tree.span(node))
    })
}
