//! What a declarator names.

use crate::syntax::{HostTree, NodeId};

/// The name in a declarator, and whether what is named is a function: `f` in `*f(int)`, not `p` in `(*p)(int)`.
pub(super) fn innermost(tree: &HostTree, declarator: NodeId) -> (NodeId, bool) {
    let mut at = declarator;
    let mut is_function = false;
    loop {
        let kind = tree.kind(at);
        match kind {
            "parenthesized_declarator" | "attributed_declarator" => {}
            _ if kind.ends_with("_declarator") && kind != "structured_binding_declarator" => {
                is_function = kind == "function_declarator";
            }
            _ => return (at, is_function),
        }
        let inner = inner_declarator(tree, at);
        match inner {
            Some(inner) => at = inner,
            None => return (at, is_function),
        }
    }
}

/// The declarator that a declarator wraps.
pub(super) fn inner_declarator(tree: &HostTree, declarator: NodeId) -> Option<NodeId> {
    tree.child(declarator, "declarator").or_else(|| {
        let is_name =
            |kind: &str| kind.ends_with("identifier") || kind.ends_with("declarator") || kind == "operator_name";
        tree.named_children(declarator).find(|child| is_name(tree.kind(*child)))
    })
}
