//! Keep arrays on the device between the constructs of a block or of a host loop, in one `target data` around them.
//!
//! ## Input
//!
//! ```c
//! void steps(int n, int count, double *u, double *v) {
//!   for (int t = 0; t < count; t++) {
//!     #pragma omp target teams distribute parallel for map(to: u[0:n]) map(tofrom: v[0:n]) \
//!         thread_limit(128)
//!     for (int i = 1; i < n; i++)
//!       v[i] += u[i] - u[i - 1];
//!     #pragma omp target teams distribute parallel for map(to: v[0:n]) map(tofrom: u[0:n]) \
//!         thread_limit(128)
//!     for (int i = 0; i < n; i++)
//!       u[i] += 0.5 * v[i];
//!   }
//! }
//! ```
//!
//! ## Output
//!
//! ```c
//! void steps(int n, int count, double *u, double *v) {
//!   #pragma omp target data map(tofrom: u[0:n], v[0:n]) if(count > 0)
//!   for (int t = 0; t < count; t++) {
//!     #pragma omp target teams distribute parallel for map(to: u[0:n]) map(tofrom: v[0:n]) \
//!         thread_limit(128)
//!     for (int i = 1; i < n; i++)
//!       v[i] += u[i] - u[i - 1];
//!     #pragma omp target teams distribute parallel for map(to: v[0:n]) map(tofrom: u[0:n]) \
//!         thread_limit(128)
//!     for (int i = 0; i < n; i++)
//!       u[i] += 0.5 * v[i];
//!   }
//! }
//! ```
//!
//! ## Applies when
//!
//! - constructs that map the same section of an array stand in one block, or in a loop of the host; `target data` counts as such a construct;
//! - the host needs the data nowhere in between, or only reads what no kernel writes, or `target update` can bring what it needs;
//! - a call of a function of the file or of its project's headers counts as its constructs do, with the arguments in place of its
//!   parameters: arrays of numbers or of plain structures by their names, from the first element or from a later one on (`&a[k]`, `a + k`),
//!   and what it finds in objects that it is handed by their address. So do the constructs of functions that it calls in turn. A `target data`
//!   of the called function counts as one construct with all in it, where that maps nothing else and the host writes no memory there. The call may
//!   stand inside of another one, or in the test of an `if` or `while`, where it is made in any case;
//! - what a member of a structure or class leads to is mapped by a pointer of the function's own that is declared before the environment,
//!   `double *g_u = g->u;`, where the member keeps its value as long as that is open;
//! - the host can compare, where pointers may lead to the same storage; they may change places (`double *t = a; a = b; b = t;`, a ring of
//!   more, `std::swap(a, b)`) where all lead to memory of the function's own, else at the end of each pass of a counted loop: data are
//!   mapped by address.
//!
//! Where jumps leave the statements, or what they declare is used behind them, the environment is a `target enter data` with a `target exit
//! data` on each way out. A branch that ends with such a jump has it at its beginning: what the host does there, it does behind the environment.
//!
//! A function whose calls (of those that a loop repeats, if some are) find its data present gets no environment: each takes microseconds.
//!
//! The environment is as large as the block allows; variables that the host needs in between otherwise stay out of it. The constructs keep
//! their own maps: what is present costs nothing, and where the condition is false they copy as before. What a construct only reads, or
//! assigns as a whole, it maps `to` or `from` instead of `tofrom`. Memory of the function's own that has no values yet is not brought, and
//! what nobody reads any more does not come back; where both is so, it is only allocated.
//!
//! ## Refuses when
//!
//! OMPS160 the host needs the data in between, or may; OMPS161 the maps cannot be united; OMPS162 storage may overlap in part; OMPS163 it is
//! not certain that a construct runs; OMPS164 there is no place for the environment. OMPS465: host and device share their memory.
//!
//! ## Safety
//!
//! Where a variable is present when the environment opens, by a caller's, neither the original nor the output copies anything. Where it is
//! absent, its copy must be what each construct of the original would have been given. It is, if all that change it copy it back in the
//! original, where the next gets it from again, and if the host does not write it in between, and reads it only where no kernel writes it.
//! So a construct that changes what it maps `to` or `alloc` is refused, unless all constructs map it `alloc`: then each finds no values in the
//! original, for which those that another one left may be taken, and nothing is ever copied. What `from` leaves unwritten has no value in
//! the original.
//!
//! What the host needs in between comes by `target update`: `from` before a statement that reads, `to` behind one that writes; the whole
//! section, or the single elements or the row that are certainly accessed. Where the variable had been present, the update would copy what
//! the original does not. So memory that this function made is updated, which nobody can have mapped yet; of other data the program asks
//! whether they are absent, and the environment opens only then (`hoist_maps/absence`). Elements and rows that are updated lie in the section
//! then, as the host asks: beyond it others may have data on the device. Data come back only where the environment copies them back as well:
//! else they may be constant. What macros do is told by the expression that they stand for, where that computes with numbers and elements of
//! arrays of numbers; which elements these are, is not. Each pass of a loop must save at least as many copies as its updates make; of a section of 512 KiB or more,
//! as the text tells or the condition asks, one copy pays for those of four single elements. A loop that may end in its first pass by what the host reads there copies up to
//! four single elements more then. What the environment copies itself is saved by a
//! pass that certainly runs, or by up to eight, which the condition asks for (`count > 2`).
//!
//! The environment evaluates sections earlier than the constructs do. Their variables must be the same in all of it, and a construct that
//! maps the section must certainly run: where a loop may have no iterations, `if` asks for one, and for what else its test asks at first
//! (`i < n && e > 1e-6`), in the same order, and that a test at its head does not leave it (`!(e < 1e-6)`). What the host accesses in between is told
//! by name, through pointers, and by the functions that it calls; of pointers that change places, each stands for the array that it leads to
//! where it is named. Arrays that are `static` in the file are absent where `main` begins, which nobody calls. Memory that this function allocated and handed to nobody out of sight is
//! reached by nothing else. What a construct that certainly runs lists beside an array shares no storage with it, so that the host may
//! access that as far as it is listed. A section may be computed from members of a structure that is data alone and that nobody changes.
//! A variable that is declared as a number is no element of another type (C17, section 6.5, paragraph 7); what is allocated may become one. A
//! called function's parameter names what the argument does only where the function never changes it, the section is computed from integers
//! that keep their values, and both see elements of one type. A variable that the function declares with a value and never changes stands for
//! that value. What its `target data` holds comes and goes with that alone: maps with modifiers inside, a clause `if`, and host code that writes
//! memory, which the end of the `target data` would overwrite, stand against it. A member that it finds by a parameter is the caller's, if nothing in the environment changes that. A pointer that others than its name reach is held only where the host copies
//! no bytes and writes no characters through other pointers in between: these may be the pointer's own. List items of one construct share no storage, as long as their names lead to the same; of other pairs the sections are
//! compared when the program runs, since present data that overlap a section in part are an error. What only a construct in a branch copies
//! back is not copied back by the environment either, since the original may never write that memory. Pointers that change places are
//! mapped for what any of them is, where as many passes certainly run as there are pointers, so that each has been in each place. Memory
//! that the function made itself may be written in any case: what was brought there comes back as it was.
//! References to objects, and the object of a member function, are followed as pointers to them, where the function that is called is
//! certain: not virtual, no template, one of its name.
//! No part of a structure is mapped by an environment: constructs map the members as before, and find what these lead to by its address.
//! A member is read where the environment opens only under the condition on which that opens. Nothing there may change it: not by its name
//! in any object, not by a pointer to such objects, not in a function that is called or in a kernel; and no construct may list the object
//! itself. Elements that are numbers are no pointers (C17, section 6.5).
//! Where an environment holds more than any construct, its bytes must not exceed half of the device's memory, 2 GiB where the device is not
//! known, or what the user says.
//! Each way out of the statements ends the environment, in the same state as the end of a block would: what comes back there is copied back
//! by a construct that certainly ran before. Labels among them, exceptions, and names that mean something else at a jump are refused. Where a
//! function has a `setjmp`, a call out of sight may lead back to it, so that even memory which nobody else knows is not held across one.
//! Of constructs that run at the same time the last to end copies back what all of them have written. Where the file defers some, or runs
//! some on threads of the host, data that others may know keep their maps.
//!
//! ## References
//!
//! OpenMP 5.2, sections 5.8.1, 5.8.3, 5.8.6, 13.5. Chikin, Gobran and Amaral, "OpenMP Code Offloading: Splitting GPU Kernels, Pipelining
//! Communication and Computation, and Selecting Better Grid Geometries" (2018), section 4, whose kernels share one environment from the start.

mod absence;
mod blocks;
mod bodies;
mod by_pointer;
mod calls;
mod constructs;
mod decided;
mod details;
mod directions;
mod environments;
mod exchanges;
mod first_run;
mod items;
mod jumps;
mod members;
mod overwritten;
mod pairs;
mod payment;
mod present;
mod reach;
mod refusals;
mod runs;
mod settled;
mod storage;
mod templates;
mod updates;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use crate::context::Context;
use crate::plan::{Change, Pass, Plan, Reason, ReasonCode, Verdict};
use crate::semantics::symbols::VariableId;
use crate::source::Span;
use crate::syntax::{Field, NodeId, NodeKind};
use crate::transforms::Waiting;
use crate::transforms::checks;
use blocks::Statement;
use calls::Called;
use constructs::Mapping;
use decided::{Decided, Opened, Planned};
use environments::{Block, Environment};
use members::text::Changed;
use refusals::{Found, refusal};
use runs::{Run, beside, gains, is_needed, is_served, narrower, runs};

/// It decides on what the passes that make or change constructs have left.
pub(super) fn waits_for(_: Waiting) -> &'static [Pass] {
    &[
        Pass::Split,
        Pass::Collapse,
        Pass::Scalarize,
        Pass::Fuse,
        Pass::Reduce,
        Pass::Coarsen,
        Pass::Stage,
        Pass::Geometry,
        Pass::Pipeline,
    ]
}

/// Decides for every block of a file.
pub(super) fn hoist_maps(cx: &Context<'_>) -> Vec<Plan> {
    let decided = by_pointer::with_objects(cx, &|cx| members::with_members(cx, decide_file(cx, None)));
    let Decided { environments, narrowed, unnamed, data } = decided;
    let mut plans: Vec<Plan> = environments.into_iter().map(|planned| planned.plan).collect();
    let is_change = |plan: &&Plan| !plan.edits.is_empty();
    let held: Vec<Span> = plans.iter().filter(is_change).map(|plan| plan.extent).collect();
    let is_free = |plan: &Plan| !held.iter().any(|extent| extent.contains(plan.extent));
    plans.extend(narrowed.into_iter().filter(is_free));
    plans.extend(refusals::not_named(cx, &unnamed, &held, &data));
    plans
}

/// Decides on a file, or on a text made of it in which variables stand for members.
fn decide_file(cx: &Context<'_>, made: Option<&Changed>) -> Decided {
    let targets =
        cx.constructs.ids().filter(|id| cx.constructs.is_target(*id) && cx.constructs.construct(*id).body.is_some());
    let bodies: Vec<NodeId> = targets.filter_map(|id| cx.constructs.construct(id).body).collect();
    let mut inside: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    for body in bodies {
        if let Some(function) = cx.function_of(cx.tree.span(body)) {
            inside.entry(function).or_default().push(body);
        }
    }
    if inside.is_empty() {
        return Decided::default();
    }
    if let Some(span) = shares_memory(cx) {
        let message = "host and device share their memory, so that nothing travels: the gain would be zero";
        let reason = Reason::new(ReasonCode::NothingToHoist, span, message);
        let plan = Verdict::Nothing(reason).into_plan(Pass::Hoist, span, span);
        return Decided { environments: vec![Planned { plan, opened: None }], ..Decided::default() };
    }
    let functions: BTreeSet<NodeId> = inside.keys().copied().chain(pairs::with_environments(cx)).collect();
    let mut functions: Vec<NodeId> = functions.into_iter().collect();
    let settled = settled::settled(cx, &functions);
    inside.retain(|function, _| !settled.contains(function));
    functions.retain(|function| !settled.contains(function));
    if inside.is_empty() {
        return Decided::default();
    }
    let functions: Vec<Span> = functions.into_iter().map(|function| cx.tree.span(function)).collect();
    let own = constructs::read(cx, &functions);
    let Called { mappings: called, unnamed } = calls::called(cx, &own, made);
    for mapping in &called {
        if let Some(function) = cx.function_of(mapping.extent) {
            inside.entry(function).or_default().push(mapping.body);
        }
    }
    // One construct that no loop repeats has nothing to share.
    let may_share = |bodies: &[NodeId]| bodies.len() > 1 || bodies.iter().any(|body| is_repeated(cx, *body));
    inside.retain(|function, bodies| may_share(bodies) && (cx.is_wanted)(cx.tree.span(*function)));
    let narrowed = directions::decide(cx, &own);
    let mut all: Vec<Mapping> = own.into_iter().chain(called).collect();
    all.sort_by_key(|mapping| mapping.extent.start);
    let of_function = |function: NodeId| {
        let span = cx.tree.span(function);
        let first = all.partition_point(|mapping| mapping.extent.start < span.start);
        let rest = all.get(first..).unwrap_or_default();
        rest.split_at(rest.partition_point(|mapping| mapping.extent.start < span.end)).0
    };
    let environments = inside.into_keys().flat_map(|function| plan_function(cx, of_function(function), function));
    let environments = present::told_instead(cx, &all, &unnamed, made, environments.collect());
    let data = all.iter().filter(|mapping| mapping.is_data).map(|mapping| mapping.extent).collect();
    Decided { environments, narrowed, unnamed, data }
}

/// Does a loop of the host repeat it?
fn is_repeated(cx: &Context<'_>, node: NodeId) -> bool {
    cx.tree.ancestors(node).any(|above| {
        matches!(
            cx.tree.kind(above),
            NodeKind::ForStatement | NodeKind::WhileStatement | NodeKind::DoStatement | NodeKind::ForRangeLoop
        )
    })
}

/// Do host and device share their memory, as the program says or the device's profile? Then nothing travels.
fn shares_memory(cx: &Context<'_>) -> Option<Span> {
    let has_shared = || cx.profile.is_some_and(|device| device.shares_host_memory);
    let first_target = || {
        let targets = cx.constructs.ids().find(|id| cx.constructs.is_target(*id));
        targets.map(|id| cx.constructs.directive(id).span)
    };
    checks::unified_memory(cx).or_else(|| first_target().filter(|_| has_shared()))
}

fn plan_function(cx: &Context<'_>, all: &[Mapping], function: NodeId) -> Vec<Planned> {
    let Some(body) = cx.tree.child(function, Field::Body) else { return Vec::new() };
    let mut found = Found::default();
    visit(cx, all, body, &mut found);
    found.explain_limits(cx);
    found.into_plans()
}

/// Decides for the statements of a block and for the blocks inside it.
fn visit(cx: &Context<'_>, all: &[Mapping], block: NodeId, found: &mut Found) {
    let nodes: Vec<NodeId> = match cx.tree.kind(block) {
        NodeKind::CompoundStatement => cx.tree.named_children(block).collect(),
        _ => vec![block],
    };
    let span = cx.tree.span(block);
    if !all.iter().any(|mapping| span.contains(cx.tree.span(mapping.body))) {
        return;
    }
    let around: Vec<&Mapping> = all.iter().filter(|mapping| mapping.is_data && mapping.extent.contains(span)).collect();
    let taken = if may_gain(cx, all, &around, &nodes) {
        let statements = blocks::statements(cx, all, &nodes);
        decide(&Block::new(cx, all, &statements), &around, found)
    } else {
        Vec::new()
    };
    for (index, node) in nodes.iter().enumerate() {
        let is_kernel = all.iter().any(|mapping| mapping.body == *node && !mapping.is_data);
        if is_kernel || taken.iter().any(|(first, last)| (*first..=*last).contains(&index)) {
            continue;
        }
        for inner in inner_blocks(cx, *node) {
            visit(cx, all, inner, found);
        }
    }
}

/// Is there a variable that no environment around holds, and that constructs in two of the statements map, or those in a loop?
fn may_gain(cx: &Context<'_>, all: &[Mapping], around: &[&Mapping], nodes: &[NodeId]) -> bool {
    let mut seen: BTreeSet<VariableId> = BTreeSet::new();
    nodes.iter().any(|node| {
        let span = cx.tree.span(*node);
        let is_loop =
            matches!(cx.tree.kind(*node), NodeKind::ForStatement | NodeKind::WhileStatement | NodeKind::DoStatement);
        let is_kernel = all.iter().any(|mapping| mapping.body == *node && !mapping.is_data);
        let inside = all.iter().filter(|mapping| mapping.body == *node || span.contains(mapping.extent));
        let items = inside.flat_map(|mapping| &mapping.items).map(|item| item.named.id);
        let own: BTreeSet<VariableId> =
            items.filter(|id| !around.iter().any(|outer| outer.item(*id).is_some())).collect();
        let again = own.iter().any(|id| seen.contains(id)) || is_loop && !is_kernel && !own.is_empty();
        seen.extend(own);
        again
    })
}

/// The blocks directly inside a statement: bodies and branches.
fn inner_blocks(cx: &Context<'_>, statement: NodeId) -> Vec<NodeId> {
    let tree = cx.tree;
    match tree.kind(statement) {
        NodeKind::CompoundStatement => vec![statement],
        NodeKind::ForStatement | NodeKind::WhileStatement | NodeKind::DoStatement | NodeKind::ForRangeLoop => {
            tree.child(statement, Field::Body).into_iter().collect()
        }
        // Nothing may stand around a label that `switch` jumps to, but each statement behind one is a block of its own.
        NodeKind::SwitchStatement => {
            let cases = tree.child(statement, Field::Body).into_iter().flat_map(|body| tree.named_children(body));
            let cases = cases.filter(|case| tree.kind(*case) == NodeKind::CaseStatement);
            cases.flat_map(|case| tree.named_children(case)).collect()
        }
        NodeKind::IfStatement => {
            let branches = [Field::Consequence, Field::Alternative].into_iter();
            branches.filter_map(|field| tree.child(statement, field)).collect()
        }
        NodeKind::ElseClause => tree.named_children(statement).collect(),
        _ => Vec::new(),
    }
}

/// The environments of one block; the statements that they are around.
fn decide(block: &Block<'_, '_>, around: &[&Mapping], found: &mut Found) -> Vec<(usize, usize)> {
    let mut runs = runs(block, around, found);
    // The one around most statements first.
    runs.sort_by_key(|run| (std::cmp::Reverse(run.last - run.first), run.first));
    let mut taken: Vec<(usize, usize)> = Vec::new();
    let mut tried: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut at = 0;
    while let Some(Run { first, last, .. }) = runs.get(at) {
        let place = (*first, *last);
        at += 1;
        let overlaps = taken.iter().any(|(start, end)| *start <= place.1 && place.0 <= *end);
        if overlaps || !tried.insert(place) {
            continue;
        }
        let touches = |run: &&Run| place.0 <= run.last && run.first <= place.1;
        let around = |run: &Run| run.first <= place.0 && place.1 <= run.last;
        let fits = |run: &&Run| gains(block, place, run.id) && (around(run) || !is_needed(block, place, run.id));
        let wanted: BTreeSet<VariableId> = runs.iter().filter(touches).filter(fits).map(|run| run.id).collect();
        let wanted: Vec<VariableId> = in_order(block, place, &wanted);
        let (environment, refused) = block.environment(place, &wanted);
        let inside = block.statements.get(place.0..=place.1).unwrap_or_default();
        // Why the host needs a variable has been said where updates do not serve.
        let is_new = |(id, _): &(VariableId, Reason)| !is_served(block, place, *id);
        runs.extend(refused.iter().flat_map(|(id, reason)| narrower(block, place, *id, trouble(reason))));
        let refused = refused.into_iter().filter(is_new);
        found.refused.extend(refused.filter_map(|(id, reason)| refusal(block, inside, id, reason)));
        let Some(mut environment) = environment else { continue };
        let needed = block.needed_place(&environment);
        if needed != place && !tried.contains(&needed) {
            let held = environment.held.iter().map(|held| held.item.named.id);
            runs.extend(held.map(|id| Run { id, first: needed.0, last: needed.1 }));
            continue;
        }
        match plan(block, &mut environment, inside, &mut found.given) {
            Ok(plan) => {
                found.held.extend(environment.held.iter().map(|held| (held.item.named.id, plan.extent)));
                let held = environment.held.iter().map(|held| held.item.named.name.clone()).collect();
                let variables = environment.held.iter().map(|held| held.item.named.id).collect();
                let opened = Some(Opened { held, variables, conditions: environment.conditions.clone() });
                found.plans.push(Planned { plan, opened });
                taken.push(place);
            }
            Err(reason) => {
                for held in &environment.held {
                    found.refused.extend(refusal(block, inside, held.item.named.id, reason.clone()));
                    runs.extend(beside(block, place, held.item.named.id, reason.span));
                }
            }
        }
    }
    taken
}

/// At which statement an environment cannot be: where two names may lead to the same, the other one's.
fn trouble(reason: &Reason) -> Span {
    let other = reason.labels.first().filter(|_| reason.code == ReasonCode::StorageOverlap);
    other.map_or(reason.span, |(span, _)| *span)
}

/// The variables in the order in which the constructs list them.
fn in_order(block: &Block<'_, '_>, place: (usize, usize), wanted: &BTreeSet<VariableId>) -> Vec<VariableId> {
    let mut ordered: Vec<VariableId> = Vec::new();
    for item in block.mappings_of(place).into_iter().flat_map(|mapping| &mapping.items) {
        if wanted.contains(&item.named.id) && !ordered.contains(&item.named.id) {
            ordered.push(item.named.id);
        }
    }
    ordered
}

fn plan(
    block: &Block<'_, '_>,
    environment: &mut Environment,
    inside: &[Statement],
    given: &mut Vec<String>,
) -> Result<Plan, Reason> {
    let cx = block.cx;
    let place = environment.statements;
    let Some(first) = block
        .mappings_of(place)
        .into_iter()
        .find(|it| environment.held.iter().any(|held| it.item(held.item.named.id).is_some()))
    else {
        return Err(Reason::new(ReasonCode::EnvironmentPlace, Span::default(), "nothing is mapped"));
    };
    let edits = write::edits(cx, environment, inside, first.id, given)?;
    let names: Vec<String> = environment.held.iter().map(|held| format!("`{}`", held.item.named.name)).collect();
    let before: usize = environment.held.iter().map(|held| held.copies).sum();
    let after: usize = environment.held.iter().map(|held| usize::from(held.to) + usize::from(held.from)).sum();
    let what = if inside.len() == 1 { "this loop" } else { "these constructs" };
    let updates = if environment.held.iter().any(|held| !held.updates.is_empty()) {
        ", and what the host needs in between"
    } else {
        ""
    };
    let names = names.join(", ");
    let copies = match after {
        0 => "no copies".to_owned(),
        1 => "1 copy".to_owned(),
        _ => format!("{after} copies"),
    };
    let repeated = block.copies_in_loops(environment);
    let instead = match (repeated, before - repeated) {
        (0, once) => format!("{copies} instead of {once}"),
        (repeated, 0) => format!("{copies} in all instead of {repeated} in each pass"),
        (repeated, once) => format!("{copies} in all instead of {repeated} in each pass and {once} beside"),
    };
    let summary = match before {
        0 => format!("keep {names} on the device around {what}: the memory is allocated once"),
        _ => format!("keep {names} on the device around {what}: {instead}{updates}"),
    };
    let extent = Span::new(inside.first().map_or(0, |it| it.extent.start), inside.last().map_or(0, |it| it.extent.end));
    let span = first.place(cx);
    cx.explain(Pass::Hoist, extent, || details::details(block, environment));
    let copies = Some(storage::copies(block, environment, before, after));
    Ok(Verdict::Change(Change { edits, summary, copies, ..Change::default() }).into_plan(Pass::Hoist, span, extent))
}
