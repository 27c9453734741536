//! Jumps out of a statement: a structured block has one entry and one exit (OpenMP 5.2, section 1.2.2).

use std::collections::BTreeSet;

use super::Problem;
use crate::source::{SourceFile, Span};
use crate::syntax::{HostTree, NodeId};

/// The first jump that leaves the body of a loop other than by `continue`.
pub(super) fn leaving(file: &SourceFile, tree: &HostTree, body: NodeId) -> Option<(Problem, Span)> {
    let labels = labels_in(file, tree, body);
    tree.descendants(body).find_map(|node| {
        let problem = match tree.kind(node) {
            "break_statement" => Problem::Break,
            "return_statement" | "co_return_statement" => Problem::Return,
            "goto_statement" => Problem::Goto,
            "throw_statement" => Problem::Throw,
            _ => return None,
        };
        let stays = match problem {
            Problem::Break => is_caught(tree, node, body, &BREAKABLE),
            Problem::Goto => {
                tree.child(node, "label").is_some_and(|label| labels.contains(file.bytes(tree.span(label))))
            }
            _ => is_caught(tree, node, body, &["lambda_expression"]),
        };
        (!stays).then(|| (problem, tree.span(node)))
    })
}

/// What `break` leaves.
const BREAKABLE: [&str; 6] =
    ["for_statement", "for_range_loop", "while_statement", "do_statement", "switch_statement", "lambda_expression"];

/// Is there an ancestor of one of these kinds within the body?
fn is_caught(tree: &HostTree, node: NodeId, body: NodeId, kinds: &[&str]) -> bool {
    if node == body {
        return false;
    }
    let inside = tree.ancestors(node).take_while(|ancestor| *ancestor != body);
    inside.chain(std::iter::once(body)).any(|ancestor| kinds.contains(&tree.kind(ancestor)))
}

fn labels_in<'a>(file: &'a SourceFile, tree: &HostTree, body: NodeId) -> BTreeSet<&'a [u8]> {
    tree.descendants(body)
        .filter(|node| tree.kind(*node) == "labeled_statement")
        .filter_map(|node| tree.child(node, "label"))
        .map(|label| file.bytes(tree.span(label)))
        .collect()
}
