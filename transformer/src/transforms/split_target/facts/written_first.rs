//! Which variables statements assign before they use them.

use std::collections::{BTreeMap, BTreeSet};

use crate::semantics::Program;
use crate::semantics::uses::{Role, Use, uses_below};
use crate::syntax::{Assignment, For, NodeId, NodeKind};

/// The names that the statements assign before each use: by `name = value;` earlier in an enclosing block, or in the
/// head of an enclosing `for`.
pub(super) fn written_first(cx: &Program<'_>, nodes: &[NodeId]) -> BTreeSet<String> {
    let uses: Vec<Use> = nodes.iter().flat_map(|node| uses_below(cx.file, cx.tree, *node)).collect();
    let mut found: BTreeMap<String, bool> = BTreeMap::new();
    for used in uses {
        for hidden in cx.expansion(&used.name, used.span.start).flatten().unwrap_or_default() {
            found.insert(hidden, false);
        }
        let first = is_assigned_before(cx, nodes, &used);
        *found.entry(used.name).or_insert(true) &= first;
    }
    found.into_iter().filter_map(|(name, first)| first.then_some(name)).collect()
}

/// Does an assignment that is always executed before a use stand before it, or is the use its target?
fn is_assigned_before(names: &Program<'_>, nodes: &[NodeId], used: &Use) -> bool {
    let tree = names.tree;
    if used.role == Role::Address {
        return false;
    }
    let mut at = used.node;
    loop {
        if assignment_of(names, at, &used.name).is_some_and(|it| it.target() == Some(used.node)) {
            return true;
        }
        let earlier = |other: &NodeId| tree.span(*other).end <= tree.span(at).start;
        if nodes.contains(&at) {
            return nodes.iter().filter(|node| earlier(node)).any(|node| defines(names, *node, &used.name));
        }
        let Some(parent) = tree.parent(at) else { return false };
        let defined = match tree.kind(parent) {
            NodeKind::CompoundStatement
                if tree.parent(parent).is_none_or(|above| tree.kind(above) != NodeKind::SwitchStatement) =>
            {
                tree.named_children(parent).filter(earlier).any(|node| defines(names, node, &used.name))
            }
            NodeKind::ForStatement => {
                For::of(tree, parent).and_then(For::initializer) != Some(at) && defines(names, parent, &used.name)
            }
            _ => false,
        };
        if defined {
            return true;
        }
        at = parent;
    }
}

/// Does a statement certainly assign the variable: `name = value;`, or a `for` that begins so?
fn defines(names: &Program<'_>, node: NodeId, name: &str) -> bool {
    let tree = names.tree;
    match tree.kind(node) {
        NodeKind::ExpressionStatement => {
            tree.named_children(node).next().is_some_and(|inner| assignment_of(names, inner, name).is_some())
        }
        _ => {
            let first = For::of(tree, node).and_then(For::initializer);
            first.is_some_and(|inner| assignment_of(names, inner, name).is_some())
        }
    }
}

/// Returns the assignment if an expression is `name = value` and the value does not read the variable.
fn assignment_of<'a>(names: &Program<'a>, node: NodeId, name: &str) -> Option<Assignment<'a>> {
    let (tree, file) = (names.tree, names.file);
    let assignment = Assignment::of(tree, node).filter(|it| it.is_plain())?;
    let target = assignment.target().filter(|target| tree.kind(*target) == NodeKind::Identifier)?;
    let reads = |value| {
        let uses = uses_below(file, tree, value);
        uses.iter().any(|used| used.name == name || names.expands_to(&used.name, used.span.start, name))
    };
    (file.show(tree.span(target)) == name && !reads(assignment.value()?)).then_some(assignment)
}
