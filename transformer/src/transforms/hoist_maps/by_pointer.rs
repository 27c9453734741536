//! C++ functions that get objects by reference, or as `this`: what is decided of them and of their callers is decided on another text, in
//! which they get pointers to the objects, as functions in C do: `step(Grid *grid)` for `step(Grid &grid)`, and a static member function
//! `Solver::step(Solver *own)`, called as `Solver::step(&solver)`, for `solver.step()`. Both texts mean the same.
//!
//! A function is left as it is where it may be called otherwise than in sight, or where what is called hangs on more than the name:
//! overloads, templates, virtual functions, classes with bases.

mod functions;
mod told;
mod uses;

use crate::context::Context;
use crate::plan::{Decision, Plan};
use crate::region::other_text::OtherText;
use crate::semantics::Program;
use crate::source::{Language, Span};
use crate::transforms::hoist_maps::decided::{Decided, Planned};
use crate::transforms::hoist_maps::members::text::Changed;
use crate::transforms::hoist_maps::refusals::OWN_NAMES;
use functions::{Function, functions};

/// What is decided of a file, and beside it what the other text shows to hold there.
pub(super) fn with_objects(cx: &Context<'_>, decide: &dyn Fn(&Context<'_>) -> Decided) -> Decided {
    let mut known = decide(cx);
    // What a compiler told is about the text as it is.
    if cx.tree.language() != Language::Cpp || cx.compilation.facts.is_some() {
        return known;
    }
    let mut functions = functions(cx);
    let edits = loop {
        match uses::edits(cx, &functions) {
            Ok(edits) => break edits,
            Err(index) => drop(functions.swap_remove(index)),
        }
    };
    if edits.is_empty() {
        return known;
    }
    let Some(changed) = Changed::new(&cx.file.text, edits) else { return known };
    let Some(other) = OtherText::read(changed.text.clone(), cx.file, cx.tree) else { return known };
    let OtherText { file, scan, tree, constructs } = &other;
    let program = Program::new(file, scan, tree, constructs, cx.compilation);
    let found = decide(&cx.of_other(program));
    let plans = found.environments.iter().map(|planned| &planned.plan).filter(|plan| !plan.edits.is_empty());
    for plan in plans.filter_map(|plan| told::plan(cx, &functions, &changed, plan)) {
        take(cx, &mut known, plan);
    }
    // What the tool made itself keeps its data where it wants them.
    let is_own_output = cx.file.text.windows(OWN_NAMES.len()).any(|word| word == OWN_NAMES);
    let refused = found.environments.iter().map(|planned| &planned.plan);
    let refused = refused.filter(|plan| plan.decision == Decision::Refuse && !is_own_output);
    for plan in refused.filter_map(|plan| told::plan(cx, &functions, &changed, plan)) {
        tell(cx, &mut known, plan);
    }
    known
}

/// Tells why the other text gave no environment, where nothing is said of that place yet.
fn tell(cx: &Context<'_>, known: &mut Decided, plan: Plan) {
    let is_said = known.environments.iter().any(|one| one.plan.extent.overlaps(plan.extent))
        || known.unnamed.iter().any(|(call, _)| plan.extent.contains(cx.tree.span(*call)));
    let is_wanted = cx.function_of(plan.extent).is_none_or(|function| (cx.is_wanted)(cx.tree.span(function)));
    if !is_said && is_wanted {
        known.environments.push(Planned { plan, opened: None });
    }
}

/// Takes a plan that the other text gave, where the text as it is gave none that says more.
fn take(cx: &Context<'_>, known: &mut Decided, plan: Plan) {
    let is_change = |one: &&Planned| !one.plan.edits.is_empty();
    let meets = |one: &&Planned| one.plan.extent.overlaps(plan.extent);
    let covers = |one: &Planned| plan.extent.contains(one.plan.extent) && plan.extent != one.plan.extent;
    let is_new = known.environments.iter().filter(is_change).filter(meets).all(covers);
    let is_wanted = cx.function_of(plan.extent).is_none_or(|function| (cx.is_wanted)(cx.tree.span(function)));
    if is_new && is_wanted {
        known.environments.retain(|one| !plan.extent.contains(one.plan.extent));
        known.unnamed.retain(|(call, _)| !plan.extent.contains(cx.tree.span(*call)));
        known.environments.push(Planned { plan, opened: None });
    }
}

/// The function in whose body a place is.
fn around(functions: &[Function], at: Span) -> Option<&Function> {
    functions.iter().find(|function| function.body.contains(at))
}
