//! Environments that would bring nothing, because each call of their function that is in sight is made where the data are present.
//!
//! Such an environment would be right, but each one that opens takes the runtime several microseconds.

use std::collections::BTreeSet;

use crate::context::Context;
use crate::plan::{Pass, Reason, ReasonCode, Verdict};
use crate::source::Span;
use crate::syntax::{Field, NodeId};
use crate::transforms::hoist_maps::constructs::Mapping;
use crate::transforms::hoist_maps::decided::{Opened, Planned};
use crate::transforms::hoist_maps::is_repeated;

/// What is told instead of such environments. An environment that is planned around the calls counts as one that is there.
pub(super) fn told_instead(
    cx: &Context<'_>,
    all: &[Mapping],
    unnamed: &[(NodeId, Reason)],
    mut environments: Vec<Planned>,
) -> Vec<Planned> {
    let not_named: BTreeSet<NodeId> = unnamed.iter().flat_map(|(call, _)| definitions(cx, *call)).collect();
    // Callers mostly stand behind what they call.
    for index in (0..environments.len()).rev() {
        let extent = environments[index].plan.extent;
        let Some(function) = cx.function_of(extent).filter(|function| !not_named.contains(function)) else { continue };
        let Some(opened) = environments[index].opened.as_ref().filter(|it| !holds_own(cx, it, function)) else {
            continue;
        };
        let is_run = |it: &&Mapping| it.path.contains(&function);
        let mut calls: Vec<&Mapping> = all.iter().filter(is_run).collect();
        // A call in a function that others call stands for nothing but the calls of that.
        let within = |call: &Mapping| cx.function_of(call.extent);
        let is_inner = |call: &&Mapping| {
            all.iter().any(|it| it.id == call.id && within(call).is_some_and(|around| it.path.contains(&around)))
        };
        let outer: Vec<&Mapping> = calls.iter().filter(|call| !is_inner(call)).copied().collect();
        if !outer.is_empty() {
            calls = outer;
        }
        // What a loop repeats outweighs what runs once.
        if calls.iter().any(|call| is_repeated(cx, call.body)) {
            calls.retain(|call| is_repeated(cx, call.body));
        }
        if calls.is_empty() || !calls.iter().all(|call| is_present(all, &environments, call)) {
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

/// Does it hold a variable that its function declares, so that no caller can hold it?
fn holds_own(cx: &Context<'_>, opened: &Opened, function: NodeId) -> bool {
    let body = cx.tree.child(function, Field::Body).map_or(Span::default(), |body| cx.tree.span(body));
    opened.variables.iter().any(|id| id.is_within(body))
}

/// Is all that a called construct maps held around the call?
fn is_present(all: &[Mapping], environments: &[Planned], call: &Mapping) -> bool {
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
