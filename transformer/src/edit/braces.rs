//! How a file writes the braces of its branches and loops.

use super::directive_writer::starts_line;
use crate::source::SourceFile;
use crate::syntax::{HostTree, NodeId, NodeKind};

/// What opens the braces of a branch or loop whose line is indented by `outer`, in the style of a function: by the first that has braces there.
#[must_use]
pub fn opening(file: &SourceFile, tree: &HostTree, function: Option<NodeId>, newline: &str, outer: &str) -> String {
    if function.is_some_and(|function| stand_on_own_lines(file, tree, function)) {
        format!("{newline}{outer}{{")
    } else {
        " {".to_owned()
    }
}

fn stand_on_own_lines(file: &SourceFile, tree: &HostTree, function: NodeId) -> bool {
    let is_of_statement = |block: &NodeId| {
        tree.kind(*block) == NodeKind::CompoundStatement
            && tree.parent(*block).is_some_and(|above| {
                let kind = tree.kind(above);
                matches!(kind, NodeKind::IfStatement | NodeKind::ForStatement | NodeKind::WhileStatement)
            })
    };
    tree.descendants(function).find(is_of_statement).is_some_and(|block| starts_line(file, tree.span(block).start))
}
