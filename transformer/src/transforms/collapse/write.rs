//! The edits: the clause, and the heads of loops that are exchanged.

use crate::analysis::independence::Candidate;
use crate::edit::{Edit, directive_writer};
use crate::semantics::Program;
use crate::source::Span;
use crate::syntax::{NodeId, NodeKind};
use crate::transforms::collapse::declarations;
use crate::transforms::collapse::gain::Choice;

/// The edits for a choice.
pub(super) fn edits(candidate: &Candidate<'_, '_>, choice: Choice) -> Vec<Edit> {
    let mut edits = declarations::edits(candidate, choice.depth);
    if choice.depth > candidate.promised() {
        let directive = candidate.cx.constructs.directive(candidate.id);
        edits.push(directive_writer::collapse(candidate.cx.file, directive, choice.depth));
    }
    let loops = &candidate.nest.loops.loops;
    if let (true, Some(one), Some(other)) = (choice.exchanges(), loops.get(choice.fastest), loops.get(choice.depth - 1))
    {
        edits.extend(exchange(candidate.cx, one.node, other.node));
    }
    edits
}

/// Exchanges the text between the parentheses of two loops.
fn exchange(cx: &Program<'_>, one: NodeId, other: NodeId) -> Vec<Edit> {
    let [Some((one, first)), Some((other, second))] = [one, other].map(|node| head(cx, node)) else {
        return Vec::new();
    };
    vec![Edit { span: one, text: second.to_owned() }, Edit { span: other, text: first.to_owned() }]
}

/// The text between the parentheses of a loop. `None` if it is no valid text.
fn head<'a>(cx: &Program<'a>, node: NodeId) -> Option<(Span, &'a str)> {
    let place =
        |kind| cx.tree.children(node).find(|child| cx.tree.kind(*child) == kind).map(|child| cx.tree.span(child));
    let span = Span::new(place(NodeKind::OpenParenthesis)?.end, place(NodeKind::CloseParenthesis)?.start);
    Some((span, std::str::from_utf8(cx.file.bytes(span)).ok()?))
}

/// May any two of the first `depth` loops be exchanged? Their iterations are known to be independent, so it remains to
/// check that each head means the same at another place.
pub(super) fn can_exchange(candidate: &Candidate<'_, '_>, depth: usize) -> bool {
    let (cx, loops) = (candidate.cx, candidate.nest.loops.loops.iter().take(depth));
    let is_perfect = candidate.nest.between.iter().all(|(level, _)| level + 1 >= depth);
    is_perfect
        && loops.clone().all(|read| {
            let names_another = |head: Span| {
                cx.tree.descendants(read.node).any(|node| {
                    let span = cx.tree.span(node);
                    head.contains(span)
                        && loops
                            .clone()
                            .any(|other| other.node != read.node && cx.file.show(span) == other.variable.as_str())
                })
            };
            read.names_outer_variable.is_none() && head(cx, read.node).is_some_and(|(span, _)| !names_another(span))
        })
}
