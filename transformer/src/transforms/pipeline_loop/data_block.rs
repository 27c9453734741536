//! The block of a `target data` construct: its statements, and which arrays each of them names.
//!
//! An array is streamed to the device by the first statement that names it and back by the last one, so nothing else
//! may touch it before or after: neither the host, nor a kernel by another name. The items of one construct share no
//! storage (OpenMP 5.2, section 5.8.3), so if kernels reach nothing else and host code reaches no memory, every use of
//! an array names it.

use std::collections::BTreeSet;

use crate::context::Context;
use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::region::target::{Chain, TargetRegion};
use crate::semantics::symbols::VariableId;
use crate::source::Span;
use crate::syntax::{ClauseName, NodeId};
use crate::transforms::host_copies::host_code;
use crate::transforms::host_copies::host_values::HostValues;
use crate::transforms::pipeline_loop::maps::{self, Mapped};

/// A statement of the block.
pub(super) struct Statement {
    /// Its bytes, including the directives before it.
    pub extent: Span,
    /// The variables of the data construct that it names.
    pub items: BTreeSet<VariableId>,
}

/// Every `target data` construct, as a region without segments.
pub(super) fn blocks(cx: &Context<'_>) -> Vec<TargetRegion> {
    let region = |id: ConstructId| {
        let extent = Span::new(cx.constructs.directive(id).span.start, cx.constructs.construct(id).body_span.end);
        let chain = Chain { constructs: vec![id], leaves: cx.constructs.construct(id).leaves.clone() };
        TargetRegion { chain, segments: Vec::new(), extent }
    };
    cx.constructs.ids().filter(|id| is_data(cx, *id)).map(region).collect()
}

fn is_data(cx: &Context<'_>, id: ConstructId) -> bool {
    cx.constructs.directive(id).name == "target data" && cx.constructs.construct(id).body.is_some()
}

/// The items that data constructs around a region map, if they are understood. They are on the device, so that a
/// construct inside does not copy them.
pub(super) fn mapped_around(values: &HostValues<'_, '_>) -> Vec<Mapped> {
    let cx = values.cx();
    let first = values.region.chain.constructs.first().copied();
    let around = std::iter::successors(first, |id| cx.constructs.enclosing(*id)).skip(1);
    let constructs: Vec<ConstructId> = around.filter(|id| is_data(cx, *id)).collect();
    let mut items = maps::read(values, &constructs).unwrap_or_default();
    for item in &mut items {
        "alloc".clone_into(&mut item.map_type);
    }
    items
}

/// The statements, in the order of the text. `inside` are the target regions in the block; all accesses of those in
/// `known` have been read.
///
/// # Errors
/// Statements that may use arrays without naming them.
pub(super) fn statements(
    names: &Context<'_>,
    block: &TargetRegion,
    items: &[Mapped],
    inside: &[&TargetRegion],
    known: impl Fn(&TargetRegion) -> bool,
) -> Result<Vec<Statement>, Vec<Reason>> {
    let cx = names;
    let mut reasons = Vec::new();
    reasons.extend(host_construct(cx, block, inside));
    for region in inside.iter().filter(|region| !known(region)) {
        reasons.extend(unlisted(names, block, items, region));
    }
    let nodes = host_code::statements(cx, block);
    for node in &nodes {
        if let Some(span) = host_code::obstacle(names, block.extent, inside, *node) {
            let message = "the host may need the arrays of the block before or behind their tiles";
            reasons.push(Reason::new(ReasonCode::TileReach, span, message));
        }
    }
    if !reasons.is_empty() {
        return Err(reasons);
    }
    let statement = |node: NodeId| {
        let body_of = |region: &&&TargetRegion| {
            let first = region.chain.constructs.first();
            first.is_some_and(|first| cx.constructs.construct(*first).body == Some(node))
        };
        let extent = inside.iter().find(body_of).map_or(cx.tree.span(node), |region| region.extent);
        let named = |item: &&Mapped| host_code::names_variable(names, extent, &item.name);
        Statement { extent, items: items.iter().filter(named).map(|item| item.key).collect() }
    };
    Ok(nodes.into_iter().map(statement).collect())
}

/// The reason against a construct that is no kernel.
fn host_construct(cx: &Context<'_>, block: &TargetRegion, inside: &[&TargetRegion]) -> Option<Reason> {
    let others = cx.constructs.within(block.extent).skip(1);
    let mut others =
        others.filter(|(_, directive)| !inside.iter().any(|region| region.extent.contains(directive.span)));
    let (_, directive) = others.next()?;
    let message = "this construct may need the arrays of the block before or behind their tiles";
    Some(Reason::new(ReasonCode::TileReach, directive.span, message))
}

/// Memory that a kernel reaches although the data construct does not map it, and clauses that give the kernel a further
/// meaning.
fn unlisted(names: &Context<'_>, block: &TargetRegion, items: &[Mapped], region: &TargetRegion) -> Option<Reason> {
    let cx = names;
    let directives = region.chain.constructs.iter().map(|id| cx.constructs.directive(*id));
    for clause in directives.flat_map(|directive| &directive.clauses) {
        let is_plain = clause.name != ClauseName::Map
            || clause.modifiers.iter().all(|it| matches!(it.name.as_str(), "to" | "from" | "tofrom" | "alloc"));
        if !is_plain || !host_code::is_plain(clause) {
            let message = format!("`{}` does not go with tiles", cx.file.show(clause.name_span));
            return Some(Reason::new(ReasonCode::TileClause, clause.span, message));
        }
    }
    let is_mapped = |key: VariableId| items.iter().any(|item| item.key == key);
    let used = host_code::unlisted(names, (block.extent, region), &is_mapped)?;
    let message = format!("the construct whose block it stands in does not map what `{}` may lead to", used.name);
    Some(Reason::new(ReasonCode::TileReach, used.span, message))
}
