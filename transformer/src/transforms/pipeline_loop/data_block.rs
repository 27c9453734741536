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
use crate::semantics::Kind;
use crate::semantics::calls::{RuntimeCall, is_pure, runtime_call};
use crate::semantics::symbols::{DeclaredType, VariableId};
use crate::semantics::uses::{Role, Use, uses_below};
use crate::source::{Span, words};
use crate::syntax::{Assignment, Call, ClauseName, NodeId, NodeKind, Update};
use crate::transforms::pipeline_loop::clauses;
use crate::transforms::pipeline_loop::host_values::HostValues;
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
    let nodes = nodes(cx, block);
    for node in &nodes {
        reasons.extend(host_obstacle(names, block, inside, *node));
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
        let named = |item: &&Mapped| names_item(names, extent, item);
        Statement { extent, items: items.iter().filter(named).map(|item| item.key).collect() }
    };
    Ok(nodes.into_iter().map(statement).collect())
}

fn nodes(cx: &Context<'_>, block: &TargetRegion) -> Vec<NodeId> {
    let body = block.chain.constructs.first().and_then(|first| cx.constructs.construct(*first).body);
    let Some(body) = body else { return Vec::new() };
    let starts = |id: ConstructId| cx.constructs.construct(id).body == Some(body);
    let is_one_construct = cx.constructs.ids().filter(|id| starts(*id)).count() > 1;
    if is_one_construct || cx.tree.kind(body) != NodeKind::CompoundStatement {
        return vec![body];
    }
    cx.tree.named_children(body).filter(|node| cx.tree.kind(*node) != NodeKind::Comment).collect()
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
        if !is_plain || !clauses::goes_with_tiles(clause) {
            let message = format!("`{}` does not go with tiles", cx.file.show(clause.name_span));
            return Some(Reason::new(ReasonCode::TileClause, clause.span, message));
        }
    }
    let body = region.chain.constructs.first().and_then(|first| cx.constructs.construct(*first).body)?;
    let uses = uses_below(cx.file, cx.tree, body);
    let used = uses.iter().find(|used| !is_listed(names, (block.extent, region.extent), items, used))?;
    let message = format!("the construct whose block it stands in does not map what `{}` may lead to", used.name);
    Some(Reason::new(ReasonCode::TileReach, used.span, message))
}

fn is_listed(names: &Context<'_>, extents: (Span, Span), items: &[Mapped], used: &Use) -> bool {
    let at = used.span.start;
    let is_known = |name: &str| is_known(names, extents, items, name, at);
    match (names.expansion(&used.name, at), used.role) {
        (Some(inner), _) => inner.is_some_and(|inner| inner.iter().all(|name| is_known(name))),
        (None, Role::Callee) => is_pure(&used.name),
        (None, Role::MethodCall) => false,
        (None, _) => is_known(&used.name),
    }
}

/// Is it a number, a variable of the kernel, an array of the block, or a variable that the data construct maps?
fn is_known(names: &Context<'_>, (block, kernel): (Span, Span), items: &[Mapped], name: &str, at: usize) -> bool {
    let kind = names.kind(name, at);
    let Some(variable) = names.symbols().lookup(name, at) else { return kind == Kind::Constant };
    // A reference stands for another variable, or for an element of an array.
    let is_value = !matches!(variable.ty, DeclaredType::Reference { .. });
    let is_in = |span: Span| variable.id().is_within(span);
    let is_number = matches!(kind, Kind::Scalar { builtin: true, .. } | Kind::Constant);
    let is_own = is_in(kernel) || is_number || (is_in(block) && matches!(variable.ty, DeclaredType::Array { .. }));
    (is_value && is_own) || items.iter().any(|item| item.key == variable.id())
}

/// Does the text of a statement, including its directives, name the item's variable?
fn names_item(names: &Context<'_>, extent: Span, item: &Mapped) -> bool {
    let text = names.file.show(extent);
    let is_named = |text: &str| words(text).any(|word| word == item.name);
    is_named(&text) || names.uses_macro_with(extent, &is_named)
}

/// Host code that may reach memory through anything but variables of its own.
fn host_obstacle(
    names: &Context<'_>,
    block: &TargetRegion,
    inside: &[&TargetRegion],
    statement: NodeId,
) -> Option<Reason> {
    let tree = names.tree;
    let on_host = |node: &NodeId| !inside.iter().any(|region| region.extent.contains(tree.span(*node)));
    let mut nodes = tree.descendants(statement).filter(on_host);
    let node = nodes.find(|node| tree.is_named(*node) && !is_harmless(names, block, *node))?;
    let message = "the host may need the arrays of the block before or behind their tiles";
    Some(Reason::new(ReasonCode::TileReach, tree.span(node), message))
}

fn is_harmless(names: &Context<'_>, block: &TargetRegion, node: NodeId) -> bool {
    let tree = names.tree;
    match tree.kind(node) {
        NodeKind::Identifier => is_own_value(names, block, node) || is_harmless_function(names, node),
        NodeKind::AssignmentExpression => {
            is_own_variable(names, block, Assignment::of(tree, node).and_then(Assignment::target))
        }
        NodeKind::UpdateExpression => is_own_variable(names, block, Update::of(tree, node).and_then(Update::operand)),
        NodeKind::Declaration
        | NodeKind::InitDeclarator
        | NodeKind::ArrayDeclarator
        | NodeKind::PrimitiveType
        | NodeKind::SizedTypeSpecifier
        | NodeKind::TypeQualifier
        | NodeKind::NumberLiteral
        | NodeKind::CharLiteral
        | NodeKind::Character
        | NodeKind::True
        | NodeKind::False
        | NodeKind::BinaryExpression
        | NodeKind::UnaryExpression
        | NodeKind::ParenthesizedExpression
        | NodeKind::ConditionalExpression
        | NodeKind::CastExpression
        | NodeKind::CommaExpression
        | NodeKind::TypeDescriptor
        | NodeKind::ExpressionStatement
        | NodeKind::CompoundStatement
        | NodeKind::ForStatement
        | NodeKind::WhileStatement
        | NodeKind::DoStatement
        | NodeKind::IfStatement
        | NodeKind::ElseClause
        | NodeKind::ConditionClause
        | NodeKind::BreakStatement
        | NodeKind::ContinueStatement
        | NodeKind::Comment
        | NodeKind::CallExpression
        | NodeKind::ArgumentList
        | NodeKind::StringLiteral
        | NodeKind::StringContent
        | NodeKind::EscapeSequence => true,
        NodeKind::TypeIdentifier => {
            names.symbols().is_standard_number(&names.file.show(tree.span(node)), tree.span(node).start)
        }
        _ => false,
    }
}

/// Is it the name of a number or of a variable that is declared here?
fn is_own_value(names: &Context<'_>, block: &TargetRegion, node: NodeId) -> bool {
    let span = names.tree.span(node);
    let name = names.file.show(span);
    let is_number =
        |name: &str| matches!(names.kind(name, span.start), Kind::Scalar { builtin: true, .. } | Kind::Constant);
    match names.expansion(&name, span.start) {
        Some(inner) => inner.is_some_and(|inner| inner.iter().all(|name| is_number(name))),
        None => is_number(&name) || is_declared_here(names, block, &name, span.start),
    }
}

/// Is it the name of a called function that uses only the values of its arguments, and perhaps writes to a stream?
pub(super) fn is_harmless_function(names: &Context<'_>, node: NodeId) -> bool {
    let tree = names.tree;
    let name = names.file.show(tree.span(node));
    let is_known = is_pure(&name) || name == "printf" || runtime_call(&name) == Some(RuntimeCall::Harmless);
    Call::naming(tree, node).is_some()
        && is_known
        && names.symbols().function_definitions(&name).is_empty()
        && names.symbols().macro_definition(&name, tree.span(node).start).is_none()
}

/// Is it a number that is only reachable by its name?
fn is_own_variable(names: &Context<'_>, block: &TargetRegion, node: Option<NodeId>) -> bool {
    let Some(node) = node.filter(|node| names.tree.kind(*node) == NodeKind::Identifier) else { return false };
    let span = names.tree.span(node);
    let name = names.file.show(span);
    let is_number = matches!(names.kind(&name, span.start), Kind::Scalar { builtin: true, .. });
    is_number && names.cannot_be_aliased(&name, span.start) || is_declared_here(names, block, &name, span.start)
}

fn is_declared_here(names: &Context<'_>, block: &TargetRegion, name: &str, at: usize) -> bool {
    let variable = names.symbols().lookup(name, at);
    variable.is_some_and(|variable| {
        variable.header.is_none()
            && block.extent.contains(variable.declared_at)
            && !matches!(variable.ty, DeclaredType::Reference { .. })
    })
}
