//! Jumps out of a statement: a structured block has one entry and one exit (OpenMP 5.2, section 1.2.2).

use std::collections::BTreeSet;

use super::Problem;
use crate::source::{SourceFile, Span};
use crate::syntax::{Goto, HostTree, Labelled, NodeId, NodeKind};

/// The first jump that leaves the body of a loop other than by `continue`.
pub(super) fn leaving(file: &SourceFile, tree: &HostTree, body: NodeId) -> Option<(Problem, Span)> {
    let labels = labels_in(file, tree, body);
    tree.descendants(body).find_map(|node| {
        let problem = match tree.kind(node) {
            NodeKind::BreakStatement => Problem::Break,
            NodeKind::ReturnStatement | NodeKind::CoReturnStatement => Problem::Return,
            NodeKind::GotoStatement => Problem::Goto,
            NodeKind::ThrowStatement => Problem::Throw,
            _ => return None,
        };
        let stays = match problem {
            Problem::Break => is_caught(tree, node, body, &BREAKABLE),
            Problem::Goto => {
                let label = Goto::of(tree, node).and_then(Goto::label);
                label.is_some_and(|label| labels.contains(file.bytes(tree.span(label))))
            }
            _ => is_caught(tree, node, body, &[NodeKind::LambdaExpression]),
        };
        (!stays).then(|| (problem, tree.span(node)))
    })
}

/// What `break` leaves.
const BREAKABLE: [NodeKind; 6] = [
    NodeKind::ForStatement,
    NodeKind::ForRangeLoop,
    NodeKind::WhileStatement,
    NodeKind::DoStatement,
    NodeKind::SwitchStatement,
    NodeKind::LambdaExpression,
];

/// Is there an ancestor of one of these kinds within the body?
fn is_caught(tree: &HostTree, node: NodeId, body: NodeId, kinds: &[NodeKind]) -> bool {
    if node == body {
        return false;
    }
    let inside = tree.ancestors(node).take_while(|ancestor| *ancestor != body);
    inside.chain(std::iter::once(body)).any(|ancestor| kinds.contains(&tree.kind(ancestor)))
}

fn labels_in<'a>(file: &'a SourceFile, tree: &HostTree, body: NodeId) -> BTreeSet<&'a [u8]> {
    tree.descendants(body)
        .filter_map(|node| Labelled::of(tree, node)?.label())
        .map(|label| file.bytes(tree.span(label)))
        .collect()
}
