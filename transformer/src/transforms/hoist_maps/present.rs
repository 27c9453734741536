//! Environments that would bring nothing, because each call of their function that is in sight is made where the data are present.
//!
//! Such an environment would be right, but each one that opens takes the runtime several microseconds.

use std::collections::BTreeSet;

use crate::context::Context;
use crate::plan::{Pass, Reason, ReasonCode, Verdict};
use crate::semantics::symbols::VariableId;
use crate::source::Span;
use crate::syntax::{Field, NodeId};
use crate::transforms::hoist_maps::constructs::Mapping;
use crate::transforms::hoist_maps::decided::{Opened, Planned};
use crate::transforms::hoist_maps::is_repeated;
use crate::transforms::hoist_maps::members::text::Changed;

/// What is told instead of such environments. An environment that is planned around the calls counts as one that is there.
pub(super) fn told_instead(
    cx: &Context<'_>,
    all: &[Mapping],
    unnamed: &[(NodeId, Reason)],
    made: Option<&Changed>,
    mut environments: Vec<Planned>,
) -> Vec<Planned> {
    let not_named: BTreeSet<NodeId> = unnamed.iter().flat_map(|(call, _)| definitions(cx, *call)).collect();
    // Callers mostly stand behind what they call.
    for index in (0..environments.len()).rev() {
        let extent = environments[index].plan.extent;
        let Some(function) = cx.function_of(extent).filter(|function| !not_named.contains(function)) else { continue };
        let Some(opened) = environments[index].opened.as_ref().filter(|it| !holds_own(cx, it, function, made)) else {
            continue;
        };
        let mut calls = calls_of(all, function);
        // What a loop repeats outweighs what runs once.
        if calls.iter().any(|call| is_repeated(cx, call.body)) {
            calls.retain(|call| is_repeated(cx, call.body));
        }
        if calls.is_empty() || !calls.iter().all(|call| is_present(cx, all, &environments, call)) {
            continue;
        }
        let names = opened.held.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let message = format!("{names}: on the device already where calls in sight run this");
        let span = environments[index].plan.span;
        let plan = Verdict::Nothing(Reason::new(ReasonCode::NothingToHoist, span, message));
        environments[index] = Planned { plan: plan.into_plan(Pass::Hoist, span, extent), opened: None };
    }
    environments
}

/// The functions that a call may be one of.
fn definitions(cx: &Context<'_>, call: NodeId) -> Vec<NodeId> {
    let name = cx.called_name(call).map(|name| cx.file.show(cx.tree.span(name)));
    let found = name.map(|name| cx.symbols().function_definitions(&name)).unwrap_or_default();
    found.into_iter().filter(|(header, _)| header.is_none()).map(|(_, function)| function).collect()
}

/// Does it hold a variable that its function declares, so that no caller can hold it? Those that stand for members are no such ones.
fn holds_own(cx: &Context<'_>, opened: &Opened, function: NodeId, made: Option<&Changed>) -> bool {
    let body = cx.tree.child(function, Field::Body).map_or(Span::default(), |body| cx.tree.span(body));
    let is_made = |id: &VariableId| made.is_some_and(|made| !made.is_kept(id.declared_at.start));
    opened.variables.iter().any(|id| id.is_within(body) && !is_made(id))
}

/// What calls of a function run, each construct for itself.
fn calls_of(all: &[Mapping], function: NodeId) -> Vec<&Mapping> {
    all.iter().filter(|it| it.path.first() == Some(&function)).collect()
}

/// Is all that a called construct maps held around the call, or around each call of the function in which the call stands?
fn is_present(cx: &Context<'_>, all: &[Mapping], environments: &[Planned], call: &Mapping) -> bool {
    if is_held(all, environments, call) {
        return true;
    }
    // Each level of calls has a path that is longer by one.
    let around = cx.function_of(call.extent).map(|function| calls_of(all, function)).unwrap_or_default();
    let mut outer = around.into_iter().filter(|it| it.id == call.id && it.path.get(1..) == Some(&call.path)).peekable();
    call.trouble.is_none() && outer.peek().is_some() && outer.all(|it| is_present(cx, all, environments, it))
}

/// Is all that a called construct maps held around the call?
fn is_held(all: &[Mapping], environments: &[Planned], call: &Mapping) -> bool {
    // Where the condition of one is false there may be more copies than there could be.
    let data = all.iter().filter(|it| it.is_data && it.extent.contains(call.extent));
    let data: Vec<&Mapping> = data.collect();
    let planned = environments.iter().filter(|it| it.plan.extent.contains(call.extent));
    let planned: Vec<&Opened> = planned.filter_map(|it| it.opened.as_ref()).collect();
    call.trouble.is_none()
        && call.items.iter().all(|item| {
            let id = item.named.id;
            data.iter().any(|it| it.item(id).is_some()) || planned.iter().any(|it| it.variables.contains(&id))
        })
}
