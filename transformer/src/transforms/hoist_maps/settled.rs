//! Functions in which no data are left to hold: their constructs stand in one `target data` construct that lists all that they map, and
//! that no loop repeats.
//!
//! This pass leaves such functions behind, and people write them. They are told by names alone, because looking up what every name
//! means is what takes time. One that is taken for such a function wrongly keeps its maps as they are.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::context::Context;
use crate::region::construct::ConstructId;
use crate::semantics::uses::{Role, uses_below};
use crate::source::Span;
use crate::syntax::{ClauseName, Field, ListItem, NodeId, NodeKind};
use crate::transforms::hoist_maps::is_repeated;

/// Those of these functions that are settled. What another function of the file calls, or what calls one, is not: there the data of one
/// may be held by the other.
pub(super) fn settled(cx: &Context<'_>, functions: &[NodeId]) -> BTreeSet<NodeId> {
    let defined = cx.tree.all_of(&[NodeKind::FunctionDefinition]);
    let names: BTreeSet<Cow<'_, str>> = defined.filter_map(|function| name_of(cx, function)).collect();
    let calls = cx.tree.all_of(&[NodeKind::CallExpression]).filter_map(|call| cx.called_name(call));
    let calls: Vec<NodeId> = calls.filter(|name| names.contains(&simple(cx, *name))).collect();
    let called: BTreeSet<Cow<'_, str>> = calls.iter().map(|name| simple(cx, *name)).collect();
    let is_called = |function: NodeId| name_of(cx, function).is_none_or(|name| called.contains(&name));
    let is_settled = |function: &&NodeId| {
        let span = cx.tree.span(**function);
        let calls_one = calls.iter().any(|name| span.contains(cx.tree.span(*name)));
        !calls_one && !is_called(**function) && is_settled(cx, span)
    };
    functions.iter().filter(is_settled).copied().collect()
}

fn is_settled(cx: &Context<'_>, function: Span) -> bool {
    let mut around: Vec<ConstructId> = Vec::new();
    let mut outermost = 0;
    for id in cx.constructs.ids_within(function) {
        let directive = cx.constructs.directive(id);
        around.retain(|outer| cx.constructs.construct(*outer).body_span.contains(directive.span));
        if directive.is("target data") {
            outermost += usize::from(around.is_empty());
            let is_once = cx.constructs.construct(id).body.is_none_or(|body| !is_repeated(cx, body));
            if outermost > 1 || around.is_empty() && !is_once {
                return false;
            }
            let is_open = directive.clauses_of(ClauseName::If).next().is_none();
            around.extend(is_open.then_some(id));
        } else if cx.constructs.is_target(id) && !lists_all(cx, &around, id) {
            return false;
        }
    }
    true
}

/// Do these constructs list all arrays that a kernel in them maps, by its clauses or by rule?
fn lists_all(cx: &Context<'_>, around: &[ConstructId], kernel: ConstructId) -> bool {
    let maps =
        |id: ConstructId| cx.constructs.directive(id).clauses_of(ClauseName::Map).flat_map(|clause| clause.items());
    let listed: BTreeSet<&str> =
        around.iter().flat_map(|id| maps(*id)).filter_map(|item| item.base.as_deref()).collect();
    let is_listed =
        |item: &ListItem| !item.has_member && item.base.as_deref().is_some_and(|base| listed.contains(base));
    if around.is_empty() || !maps(kernel).all(is_listed) {
        return false;
    }
    let Some(body) = cx.constructs.construct(kernel).body else { return true };
    let uses = uses_below(cx.file, cx.tree, body);
    let own = uses.iter().filter(|used| used.role == Role::Declaration).map(|used| used.name.as_str());
    let own: BTreeSet<&str> = own.collect();
    uses.iter().all(|used| {
        let name = used.name.as_str();
        listed.contains(name) || own.contains(name) || used.role == Role::Callee || !may_be_array(cx, used.node)
    })
}

/// May an array stand here? Operands of arithmetic are numbers; where one is not, as in `*(table + i)`, its array keeps its maps.
fn may_be_array(cx: &Context<'_>, name: NodeId) -> bool {
    let tree = cx.tree;
    let Some(parent) = tree.parent(name) else { return true };
    match tree.kind(parent) {
        NodeKind::BinaryExpression | NodeKind::UpdateExpression | NodeKind::ParenthesizedExpression => false,
        NodeKind::SubscriptExpression => tree.field(name) == Some(Field::Argument),
        NodeKind::AssignmentExpression => tree.field(name) == Some(Field::Right),
        _ => true,
    }
}

/// The name of a function that is defined.
fn name_of<'c>(cx: &'c Context<'_>, function: NodeId) -> Option<Cow<'c, str>> {
    let declarator = cx.tree.child(function, Field::Declarator)?;
    Some(simple(cx, cx.tree.innermost_declarator(declarator)))
}

/// A name without its qualifiers and template arguments.
fn simple<'c>(cx: &'c Context<'_>, name: NodeId) -> Cow<'c, str> {
    match cx.tree.kind(name) {
        NodeKind::QualifiedIdentifier | NodeKind::TemplateFunction => {
            let named = cx.tree.child(name, Field::Name).map(|inner| simple(cx, inner));
            named.unwrap_or_else(|| cx.file.show(cx.tree.span(name)))
        }
        _ => cx.file.show(cx.tree.span(name)),
    }
}
