//! Members that calls hand to functions with constructs: `step(g->u, g->v, g->n)`.

use std::collections::BTreeSet;

use crate::context::Context;
use crate::source::Span;
use crate::syntax::{Call, NodeId, NodeKind};

/// The calls of functions that run constructs, themselves or by functions that they call.
pub(super) fn calls(cx: &Context<'_>, with_constructs: &BTreeSet<NodeId>) -> Vec<NodeId> {
    let mut running = with_constructs.clone();
    let all: Vec<NodeId> = cx.tree.all_of(&[NodeKind::CallExpression]).collect();
    let mut found: BTreeSet<NodeId> = BTreeSet::new();
    loop {
        let known = found.len();
        for call in &all {
            let Some(name) = cx.called_name(*call).map(|name| cx.file.show(cx.tree.span(name))) else { continue };
            let definitions = cx.symbols().function_definitions(&name);
            if definitions.iter().any(|(header, function)| header.is_none() && running.contains(function)) {
                found.insert(*call);
                running.extend(cx.function_of(cx.tree.span(*call)));
            }
        }
        if found.len() == known {
            return found.into_iter().collect();
        }
    }
}

/// What such calls in a body are handed.
pub(super) fn arguments(cx: &Context<'_>, body: NodeId, calls: &[NodeId]) -> Vec<Span> {
    let extent = cx.tree.span(body);
    let own = calls.iter().filter(|call| extent.contains(cx.tree.span(**call)));
    let arguments = own.filter_map(|call| Call::of(cx.tree, *call)).flat_map(Call::arguments);
    arguments.map(|argument| cx.tree.span(argument)).collect()
}
