//! Split a target region at its parallel loops, so that each is a kernel of its own on the full grid.
//!
//! ## Input
//!
//! ```c
//! void step(int n, const double *u, double *v, double *w) {
//!   #pragma omp target map(to: u[0:n]) map(tofrom: v[0:n], w[0:n])
//!   {
//!     #pragma omp parallel for
//!     for (int i = 1; i < n; i++)
//!       v[i] += u[i] - u[i - 1];
//!     #pragma omp parallel for
//!     for (int i = 0; i < n; i++)
//!       w[i] += 0.5 * v[i];
//!   }
//! }
//! ```
//!
//! ## Output
//!
//! ```c
//! void step(int n, const double *u, double *v, double *w) {
//!   #pragma omp target data map(to: u[0:n]) map(tofrom: v[0:n], w[0:n])
//!   {
//!     #pragma omp target teams distribute parallel for map(to: u[0:n]) map(tofrom: v[0:n]) \
//!         thread_limit(128)
//!     for (int i = 1; i < n; i++)
//!       v[i] += u[i] - u[i - 1];
//!     #pragma omp target teams distribute parallel for map(tofrom: v[0:n], w[0:n]) thread_limit(128)
//!     for (int i = 0; i < n; i++)
//!       w[i] += 0.5 * v[i];
//!   }
//! }
//! ```
//!
//! ## Applies when
//!
//! - the region is `target teams { distribute parallel for .. }` (or `loop`, or with `simd`) with several loops and
//!   nothing else;
//! - the region is `target { parallel for .. }` with one or more loops and nothing else, and nothing serialises or
//!   groups the iterations of a loop, or they are proved independent: one team becomes the whole grid;
//! - the region is a `target teams distribute` loop, without `parallel`: the teams get more than their one thread, where
//!   nothing groups the iterations (`num_teams`, a chunk) or they are proved independent;
//! - the same with a `parallel` region that holds several worksharing loops and barriers, where no thread keeps a value of its
//!   own from one loop to the next: variables that each iteration assigns before it reads them become private to the
//!   kernels, and reductions of the region are combined by each kernel;
//! - around and between the loops stand `for`, `while`, `do`, `if` and blocks, declarations and assignments of numbers, and
//!   the host can execute them to the same effect: they stay where they are, and so move to the host;
//! - other serial statements stand between the loops of one team: consecutive ones become a kernel of one thread;
//! - `parallel sections` without clauses stand between the loops of one team: they stay a kernel of one team;
//! - the region is a `target teams distribute` loop with several parallel loops inside, and it pays to let the host run that
//!   loop in order, as one team would;
//! - a condition hangs on what only the device knows: a kernel of one thread evaluates it, and the host does what it says.
//!
//! Each kernel is a launch of 30 microseconds. Where the estimate says that the one kernel is as fast, for lengths that the text tells or for those
//! that are assumed, the region stays (OMPS201). A variable that gives the lengths of a loop and of one inside it is taken for 2,048, or for
//! 256 where control flow around the kernels repeats the launches: nothing tells that a matrix is larger.
//!
//! Directives may be combined, stacked or nested. `nowait` and `depend` of one team with several loops go to a task around the
//! kernels.
//!
//! ## Refuses when
//!
//! Each rule has a page: `ompsplit rule`. OMPS101 to OMPS104 the text is not certain; OMPS105, OMPS120 to OMPS122 a clause
//! has no safe place; OMPS106, OMPS127, OMPS129 a variable would be a copy per kernel or per thread; OMPS107, OMPS108,
//! OMPS124, OMPS128 something may be hidden; OMPS109, OMPS110, OMPS115 to OMPS117, OMPS130 the region depends on its
//! team; OMPS111 to OMPS113, OMPS123, OMPS126 something stands in it that neither the host nor a kernel of its own can do;
//! OMPS114, OMPS119 a loop's bounds;
//! OMPS118 it runs on the device already; OMPS125 its spelling; OMPS131 compilers do not take it there;
//! OMPS132 the text and clang disagree, where it is asked; OMPS133 to OMPS135 the text may mean something else than it says: cut words,
//! standard types with another meaning, attributes.
//!
//! ## Safety
//!
//! The data construct maps once what the original mapped once, so the kernels find everything present and copy nothing.
//! The explicit items are restated on each kernel, with the same sections, because a section's base is translated only
//! where a map names it. Scalars that no clause maps are firstprivate in the original and in each kernel; they are never
//! written, so every copy has the one value. The kernels run in the order of the loops, each when the one before has
//! ended, which is the order of one team and one that the loops of a league may have.
//!
//! A `target` construct is a task, so an explicit task around the kernels may be deferred and is ordered as it was. It keeps
//! the values of scalars and pointers and shares what is mapped. Outside of a parallel region of the host it is not deferred,
//! which is permitted, but what the program does beside it then waits.
//!
//! The loops of one `parallel` region run in the order of the text, which is one that `nowait` permits too. What the threads
//! execute around them moves to the host only if every thread would do the same on variables of its own.
//!
//! A scalar that no clause maps and that the region writes is one object for the whole region, with the value that the
//! program's variable has at its start. The output declares it in the region's block, by the same name.
//!
//! What moves to the host reads only variables that the region declares and scalars that no clause maps, whose copies on
//! the device have the host's value. It writes the former alone. Integers are computed alike on both sides, and copies and
//! comparisons of other numbers are exact; floating-point arithmetic is not moved. A variable of the region that a loop
//! writes is mapped by that loop's kernel, so that host and device see its values in the order of the text.
//!
//! A scalar that the threads of a loop share and each iteration assigns before it reads it is private to the kernel, if
//! nothing else in the region reads it. Where one thread runs the loop, each iteration sees its own value either way; where
//! several do, the original races, and OMPS401 says so.
//!
//! Serial statements run on the initial thread of the one team; the one thread of `target { .. }` does the same, on the same
//! device. What they declare for themselves stays in their block. A number that others use is declared before it, without
//! its initialiser: `float q; target map(from: q) { q = s / n; }`. A variable from before the region that they write is a copy
//! in the original too; it may be a copy of each kernel where each assigns it before it reads it, and nothing else reads it.
//!
//! An array of the region is declared on the host and mapped for the rest of its block: `map(alloc:)`, or `map(to:)` with
//! constant values. At most 16 KiB of the host's stack may serve so.
//!
//! A sequential loop that counts with a variable from before the region gets one of its own, `for (int t = 0; ..)`, where
//! nothing reads the count behind the loop.
//!
//! Kernels get `thread_limit(128)` where the original chooses no grid; nothing that asks for the number of threads is split.
//!
//! With `--versioned` a region whose loops pay only from some length on stands twice, under a host `if` that compares integers
//! which no clause maps with constants. Both branches give the original's results; OMPS405 says where that is not possible.
//!
//! One team becomes many only where the iterations are independent: a worksharing loop with a default, `dynamic` or
//! `guided` schedule may give each iteration to a thread of its own, so a race-free loop has no dependences between them.
//! The same holds for a `distribute` loop and the one thread of each team. With `num_threads`, `if`, a chunk, `thread_limit`,
//! or `num_teams` for a `distribute` loop, nothing promises that. Each pair of accesses is then compared as
//! `collapse` does it, each scalar must be assigned before it is read or be a sum, and what is not understood is dependent. Such
//! clauses fall away, but for `thread_limit`, and an `if` that also says where the region runs.
//!
//! ## References
//!
//! OpenMP 5.2, sections 4.4.1, 5.4, 5.8, 10.2, 11.5, 11.6, 13.5, 13.8, 17.2. Chikin, Gobran and Amaral, "OpenMP Code
//! Offloading: Splitting GPU Kernels, Pipelining Communication and Computation, and Selecting Better Grid Geometries"
//! (2018), section 3, Figures 1 and 2. Unlike Figure 2, the kernels restate their map clauses.

mod clause_rules;
mod clauses;
mod data;
mod figures;
mod grouped;
mod kernels;
mod local_arrays;
mod mappers;
pub(super) mod serial;
mod shape;
mod versions;
mod work;
mod write;

use crate::context::Context;
use crate::edit::{Edit, EditSet};
use crate::plan::{Change, Decision, Pass, Plan, Reason, ReasonCode, RuleKind, Verdict};
use crate::region::construct::ConstructId;
use crate::region::target::{TargetRegion, target_regions};
use crate::source::Span;

use self::data::DataEnvironment;
use self::kernels::Kernel;
use self::shape::Shape;
use self::shape::distribute::in_order;
use self::write::Split;
use crate::semantics::Program;
use crate::transforms::checks::{excludes_directives, text_reasons};

/// Decides for every target region of a file.
pub(super) fn split_target(cx: &Context<'_>) -> Vec<Plan> {
    let plan = |region: &TargetRegion| {
        let in_order = in_order(cx, region).map(|region| plan_region(cx, &region));
        // Where the teams cannot be done without, the region is what it is.
        in_order.filter(|plan| plan.decision != Decision::Refuse).unwrap_or_else(|| plan_region(cx, region))
    };
    target_regions(cx.tree, cx.constructs).iter().map(plan).collect()
}

fn plan_region(cx: &Context<'_>, region: &TargetRegion) -> Plan {
    let first = region.chain.constructs.first().copied().unwrap_or(ConstructId(0));
    let span = cx.constructs.directive(first).span;
    let nothing = |message: &str| Verdict::Nothing(Reason::new(ReasonCode::NothingToSplit, span, message));
    let mut parts = None;
    let verdict = if versions::is_versioned(cx, region) {
        nothing("the other branch of this `if` holds the same statements as kernels of their own")
    } else {
        match checked(cx, region) {
            Ok(Checked::Nothing) => {
                nothing("this region has no parallel loop to split off, or is one kernel on the full grid already")
            }
            Ok(Checked::Split(found)) => judged(&parts.insert(found).split(cx, region)),
            Err(reasons) if reasons.iter().all(|reason| reason.code.kind() == RuleKind::DoesNotPay) => {
                Verdict::DoesNotPay(reasons)
            }
            Err(reasons) => Verdict::Refuse(reasons),
        }
    };
    let mut plan = verdict.into_plan(Pass::Split, span, region.extent);
    if let Some(parts) = parts {
        // What does not pay says how many kernels there would be.
        if plan.decision != Decision::Refuse {
            plan.kernels = (1, parts.kernels.len());
        }
        cx.explain(plan.pass, plan.extent, || figures::details(cx, &parts.split(cx, region), &plan));
    }
    plan
}

/// What the checks say of a region that is not refused.
enum Checked {
    Nothing,
    Split(Box<Parts>),
}

struct Parts {
    shape: Shape,
    clauses: clauses::RegionClauses,
    kernels: Vec<Kernel>,
    data: DataEnvironment,
}

impl Parts {
    fn split<'s, 'p>(&'s self, cx: &'s Context<'p>, region: &'s TargetRegion) -> Split<'s, 'p> {
        let Self { shape, clauses, kernels, data } = self;
        Split { cx, region, shape, clauses, kernels, data }
    }
}

/// All preconditions; the reasons are those for which the region is refused.
fn checked(cx: &Program<'_>, region: &TargetRegion) -> Result<Checked, Vec<Reason>> {
    let names = cx;
    let text = text_reasons(cx, region);
    let Some(shape) = shape::shape_of(cx, region).map_err(|reasons| [text.clone(), reasons].concat())? else {
        // What a macro or an unknown directive in a block stands for may be a loop.
        let hidden = !region.chain.is_loop() && !text.is_empty();
        return if hidden { Err(text) } else { Ok(Checked::Nothing) };
    };
    if !text.is_empty() {
        return Err(text);
    }
    if let Some(reason) = names
        .device_code(region)
        .or_else(|| excludes_directives(cx, region))
        .or_else(|| mappers::forbids_nested_maps(cx, names, region))
    {
        return Err(vec![reason]);
    }
    let mut shape = shape;
    let (clauses, loop_clauses, mut reasons) = clauses::read(cx, &shape);
    reasons.extend(names.named_in_two_ways(region));
    reasons.extend(names.macro_lvalues(region));
    let mut kernels = Vec::new();
    for (chain, mut clauses) in shape.loops.iter().zip(loop_clauses) {
        grouped::keep_last_uses(names, chain, &mut clauses);
        match kernels::read(names, chain, clauses) {
            Ok(kernel) => kernels.push(kernel),
            Err(more) => reasons.extend(more),
        }
    }
    for run in shape.teams.clone() {
        match kernels::read_serial(names, run) {
            Ok(kernel) => kernels.push(kernel),
            Err(more) => reasons.extend(more),
        }
    }
    let on_device = data::not_on_host(names, &shape, &clauses, &kernels);
    for run in serial::runs(names, region, &mut shape, &on_device).map_err(|more| [reasons.clone(), more].concat())? {
        match kernels::read_serial(names, run) {
            Ok(kernel) => kernels.push(kernel),
            Err(more) => reasons.extend(more),
        }
    }
    kernels.sort_by_key(|kernel| kernel.extent.start);
    let data = data::build(names, &shape, &clauses, &kernels);
    match data {
        Ok(data) => {
            reasons.extend(grouped::reasons(names, region, &clauses, &kernels, &data));
            let parts = Parts { shape, clauses, kernels, data };
            if reasons.is_empty() { Ok(Checked::Split(Box::new(parts))) } else { Err(reasons) }
        }
        Err(more) => Err([reasons, more].concat()),
    }
}

/// What becomes of a region that can be split.
fn judged(split: &Split<'_, '_>) -> Verdict {
    let Split { cx, region, shape, kernels, data, .. } = *split;
    let edits = split.edits();
    if let Err(conflict) = EditSet::new(edits.clone()) {
        let message = "the statements stand too close together for the directives between them";
        return Verdict::Refuse(vec![Reason::new(ReasonCode::SerialStatement, conflict.first, message)]);
    }
    let condition = if cx.versioned { versions::condition(cx, split) } else { Ok(None) };
    let verdict = work::weigh(cx, region.extent, shape, kernels);
    let (both, against) = match condition {
        Ok(Some(condition)) => (both_forms(split, &edits, &condition), None),
        Ok(None) => (None, None),
        Err(reason) => (None, Some(reason)),
    };
    let mut change = match (both, verdict.does_not_pay(cx, region)) {
        (Some(change), _) => change,
        (None, Some(mut reason)) => {
            if let (false, Ok(Some(condition))) = (cx.versioned, versions::condition(cx, split)) {
                let hint = "; --versioned writes both forms, and the host asks for";
                reason.message = format!("{}{hint} {}", reason.message, condition.text);
            }
            return Verdict::DoesNotPay(std::iter::once(reason).chain(against).collect());
        }
        (None, None) => {
            let reasons = against.into_iter().collect();
            Change { edits, summary: summary(split, &verdict), reasons, ..Change::default() }
        }
    };
    change.reasons.extend(data.remarks.iter().cloned());
    change.reasons.extend(kernels.iter().find_map(|kernel| kernel.assumed.first().cloned()));
    change.reasons.extend(racing_loops(cx, shape, kernels));
    change.parts = executed_by(cx, shape, kernels);
    Verdict::Change(change)
}

/// Both forms, if the edits allow it.
fn both_forms(split: &Split<'_, '_>, edits: &[Edit], condition: &versions::Condition) -> Option<Change> {
    let edit = versions::write(split, edits, condition)?;
    let summary = format!("{} where {}, as it was otherwise", what(split), condition.text);
    Some(Change { edits: vec![edit], summary, ..Change::default() })
}

fn summary(split: &Split<'_, '_>, verdict: &work::Verdict) -> String {
    let what = what(split);
    verdict.pays_from().map_or(what.clone(), |from| format!("{what}; pays from {from}"))
}

/// What the split form is.
fn what(split: &Split<'_, '_>) -> String {
    let number = split.kernels.len();
    let place = if split.has_data_construct() { " inside one target data" } else { "" };
    let of_one_thread = |kernel: &&Kernel| kernel.serial.as_ref().is_some_and(|run| run.team.is_none());
    let threads = match split.kernels.iter().filter(of_one_thread).count() {
        0 => String::new(),
        serial if place.is_empty() => format!(", {serial} of one thread"),
        serial => format!(", {serial} of one thread,"),
    };
    match number {
        1 if split.shape.has_teams_of_one() => "each team gets as many threads as it may have".to_owned(),
        1 if split.shape.host.is_empty() => "one team becomes the full grid".to_owned(),
        1 => format!("the loop becomes a kernel{place}"),
        _ => format!("split into {number} kernels{threads}{place}"),
    }
}

/// What stands between the loops, and who executes it in the output.
fn executed_by(cx: &Program<'_>, shape: &Shape, kernels: &[Kernel]) -> Vec<(Span, String)> {
    let serial = kernels.iter().filter_map(|kernel| kernel.serial.as_ref()).map(|run| match run.steering {
        None if run.team.is_some() => (run.span, "sections: a kernel of one team"),
        Some(_) => (run.span, "condition on the device: a kernel of one thread"),
        None => (run.span, "serial on the device: a kernel of one thread"),
    });
    let host = shape.host.iter().map(|part| (cx.tree.span(part.node()), "on the host"));
    let arrays = shape.arrays.iter().map(|array| (cx.tree.span(array.node), "on the device for the rest of its block"));
    let mut all: Vec<(Span, String)> =
        serial.chain(host).chain(arrays).map(|(span, words)| (span, words.to_owned())).collect();
    all.sort();
    all
}

/// Loops of a league that write what another reads or writes: nothing orders them in the original.
fn racing_loops(cx: &Program<'_>, shape: &Shape, kernels: &[Kernel]) -> Option<Reason> {
    if shape.form.widens() {
        return None;
    }
    for (index, first) in kernels.iter().enumerate() {
        for second in &kernels[index + 1..] {
            for (name, one) in &first.variables {
                let Some(other) = second.variables.get(name) else { continue };
                if one.elements_written.is_some() || other.elements_written.is_some() {
                    let directive = cx.constructs.directive(shape.outer.first().copied()?);
                    let message = format!(
                        "`teams` has no barrier between these loops, and both use `{name}`, which one of them writes: \
                         the original may race; the split orders them"
                    );
                    let reason = Reason::new(ReasonCode::OriginalRaces, directive.span, message);
                    return Some(reason.with_label(one.first, "first loop").with_label(other.first, "second loop"));
                }
            }
        }
    }
    None
}
