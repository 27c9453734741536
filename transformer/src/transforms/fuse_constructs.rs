//! Make one kernel of neighbouring constructs whose loops run over the same range, and of all passes of a loop of the host around one.
//!
//! ## Input
//!
//! ```c
//! double flux[4096], density[4096], energy[4096];
//!
//! void step(int n) {
//!   #pragma omp target teams distribute parallel for map(to: flux) map(tofrom: density)
//!   for (int i = 1; i < n - 1; i++) {
//!     density[i] += 0.5 * (flux[i + 1] - flux[i]);
//!   }
//!   #pragma omp target teams distribute parallel for map(to: density) map(tofrom: energy)
//!   for (int i = 1; i < n - 1; i++) {
//!     energy[i] = energy[i] / density[i];
//!   }
//! }
//! ```
//!
//! ## Output
//!
//! ```c
//! double flux[4096], density[4096], energy[4096];
//!
//! void step(int n) {
//!   #pragma omp target teams distribute parallel for map(to: flux) map(tofrom: density) \
//!       map(tofrom: energy) thread_limit(128)
//!   for (int i = 1; i < n - 1; i++) {
//!     density[i] += 0.5 * (flux[i + 1] - flux[i]);
//!     energy[i] = energy[i] / density[i];
//!   }
//! }
//! ```
//!
//! Each launch takes about 30 microseconds, which is more than the loop itself takes where an array has fewer than some million elements.
//! So a loop of the host that repeats one construct alone goes inside, where no iteration meets another one in any pass:
//!
//! ```text
//! for (int t = 0; t < steps; t++) {                                if (0 < steps) {
//!   #pragma omp target teams distribute parallel for ..              #pragma omp target teams distribute parallel for ..
//!   for (int i = 0; i < n; i++) {                                    for (int i = 0; i < n; i++) {
//!     x[i] += dt * v[i];                                   ->          for (int t = 0; t < steps; t++) {
//!   }                                                                    x[i] += dt * v[i];
//! }                                                                    }
//!                                                                    }
//!                                                                  }
//! ```
//!
//! Where a loop of the host computes an array from another one and copies it back, both take turns (`taking_turns`): every step reads what the
//! step before has left, and only the last one's result is copied, behind the loop. So do they where it copies an array and computes it anew from the copy: only the
//! first step copies, and behind the loop elements change places where the last one's result stands in the copy's array.
//!
//! ## Applies when
//!
//! - two or more combined constructs for a `distribute parallel for` loop of a league follow each other in one block, with nothing but
//!   blanks and comments between them; some may stand under an `if` of the host of their own, without `else`, whose condition compares integers,
//!   or members of structures;
//! - their loops have the same number of dimensions, and in each the same bounds, step and type, whose variables the host does not
//!   change in between; loop variables may have different names if each loop declares its own;
//! - what an iteration of one writes, no other iteration of another one accesses: a subscript shifted by one is too much;
//! - what both name is mapped with the same section by both, or has the same data-sharing attribute in both;
//! - all clauses but those with lists are the same in both;
//! - the constructs are predicted to be 1.05 times as fast as one kernel. A loop of unknown length counts as
//!   `--assumed-iterations`.
//!
//! Or side by side, with iterations of their own (`side_by_side`):
//!
//! - constructs of one loop each, that counts up by one from a small number in a variable of its own, up to at most two different bounds, which are
//!   sums of numbers and variables of that type; nothing that one of them writes another one accesses;
//! - no clause says something of the loop or combines values, and all of them together are short, so that registers do not decide;
//! - a serial loop in which neighbouring threads load elements far apart has the length of all other loops, or each of two constructs' serial loops that of the other one's own loop: otherwise it needs a grid
//!   of its own;
//! - `reduce` gives none of them to whole teams.
//!
//! Or over the range of all (`one_range`): nests of several loops that count up by one in variables of equal names, from numbers up to bounds that differ by
//! numbers; in all else as over the same range.
//!
//! Or two constructs follow each other in the body of a loop of the host (`for`, `while`, `do`): the first assigns one element of an array in each
//! iteration, under no condition, from elements of another array at most two iterations apart, and may read it again and reduce values; the second assigns these elements
//! to those of the same numbers in that array; a `target data` construct around the loop lists both. All else in the loop leaves both arrays alone, and leaves the loop by
//! `break` and `continue` alone.
//!
//! Where only pointers may lead to the same storage, or memory may be missing, and the constructs are predicted to be twice as fast as one, the host
//! asks by addresses, and they stand in two forms.
//!
//! Or
//!
//! - a counted loop of the host, whose integer variable its head declares, holds one such construct and nothing else, and stands in a block;
//!   directives before it are `target data` alone, and no other pragma stands there;
//! - its variable is read in the body of the kernel alone, and its bounds are arithmetic with integers of which every kernel gets a copy: no
//!   clause lists them, no `declare target` names them, the kernel does not change them on the host;
//! - what an iteration writes in any pass, no other iteration accesses in any pass; a pass reads an element that it writes later, so that it
//!   goes on from what the pass before made;
//! - nothing is written that is mapped with `to` alone, or of which each launch or thread has a copy;
//! - one launch is predicted to be 1.05 times as fast as all. A loop of unknown length counts as 64 passes.
//!
//! ## Refuses when
//!
//! OMPS101 to OMPS104, OMPS111, OMPS125: the text cannot be read for certain, or runs on the device. Nothing is to be done, OMPS190: the constructs differ in what one
//! construct can only have once, or a clause or statement has no rule here: `nowait`, `depend`, `continue`, a label, another
//! directive. OMPS191: an iteration may access what another iteration of the neighbour writes, or it is not followed what it does.
//! OMPS192: a loop of the host stays around its construct, by any of the conditions above, or a clause `default`, `reduction`, `private`,
//! `nowait` or `depend`, or `simd`.
//! OMPS290: the kernels take too long for a launch to matter, or one kernel could run slower than two. OMPS304, OMPS340, OMPS342, OMPS863: only an
//! assumption says that a template's parameter is arithmetic, that pointers lead to different elements, that there is memory for all data, or that
//! numbers may be rounded otherwise.
//!
//! ## Safety
//!
//! An iteration of the new loop executes what the same iteration of each construct did, in their order. All that an iteration reads was
//! written before both constructs, by the same iteration, or by the same construct as before; so every read sees the same store. Between the
//! constructs the host executed nothing, and the values that it hands to the second one (bounds, clauses, pointers, scalars that no
//! clause maps) are no storage that the first one may change.
//!
//! Of constructs under different conditions, each condition is asked where the first one was, into a constant of which the kernel gets a copy. No
//! construct before changes what it names (as for bounds). What would not have been mapped must be held by a `target data` construct around, by the
//! same list item, so that mapping it does nothing; scalars and pointers must have a value. What an idle construct lists is no
//! evidence that storage is apart, what that `target data` lists is.
//!
//! Side by side each iteration executes what one iteration of one construct did. All that any of them reads is written by none of the others, so that
//! their order is as free as that of the iterations of one construct; that is read off a loop over the constructs, each with its own loop inside.
//!
//! Over the range of all an iteration executes what the same iteration of each construct did, of those that have it. The conditions are part of the text in
//! which the analysis finds that no iteration accesses what another one of a neighbour writes.
//!
//! In turns a step reads an element of the array that was computed where the step before has computed it, and otherwise from the array that it was copied to, of
//! which no construct changes that element. Whether it has is asked by the number of the iteration that computes it. That tells it only if no element that an iteration beside
//! the range would compute is one of those that are: so the subscripts must be shown to differ in the range with as many iterations more as elements lie apart.
//! The range and the subscripts hang on nothing that the loop changes. A step that takes its turn reads one array where it does not write the other, so that its iterations
//! are as independent as they were. A variable of the host tells which array the last step has computed, from which the other one is copied behind the loop; before the
//! first step it is neither. Between two steps nothing accesses an element that the copy would have changed, nor changes a pointer, a bound or a section. What a step reads again
//! it reads behind the statement that computes it. Both arrays must be apart from each other, from what is reduced, and from all else that the steps access. Where it is not certain that the
//! `target data` construct holds them (it has an `if`, or by then a pointer or a length has another value), each construct must hand on by itself what it computes, and
//! so does the step that takes its turn, with `tofrom` for both.
//!
//! Where the copy comes first, it has each element that the step reads or computes: ranges differ by numbers, in which the farthest element lies. So behind the first copy both arrays are alike
//! in all that is read and not computed, for good, and a step reads of the newest array what it would have read of its copy. What the other array then has is what the last copy
//! would have had: where the newest one is the copy's, exchanging all elements of the copy's range leaves both arrays as they were left. Both must certainly be held by the
//! environment, or each construct must map both of them both ways.
//!
//! Data that both map are transferred once. An item is copied to the device if the first that maps it copies it, or if a later one does
//! and none before copies it back; it is copied back if any one does. Where a copy to the device in between would have undone what was written,
//! or none at the end would have dropped it, the constructs stay. What only one maps must be apart from what only another one maps, since
//! list items of one construct that certainly maps them must not share storage (OpenMP 5.2, section 5.8.3): `restrict` says nothing of elements that no loop accesses.
//!
//! One kernel holds the data of all at once, for which the device may have too little memory: nothing is assumed only where a `target data`
//! construct around them holds the data, one of them maps all of it, or all sizes are known and within the limit (OMPS342).
//!
//! What pointers lead to is asked before the first construct, or before a loop of the host whose whole body the constructs are: no construct may
//! change a pointer or a length that is compared, so that each maps the sections that were compared, which have storage of their own on the device
//! where they have it on the host. Where the loop may make no pass, its own test is asked first, since pointers and lengths need no value then. Only
//! sections from the first element on are compared, whose pointers and lengths each construct evaluates anyway, and which hold all that is accessed: by a
//! section of no elements a construct finds data that somebody else mapped.
//!
//! With the loop of the host inside, an iteration of the kernel executes what it did in all passes, in their order, by one thread. The host
//! did nothing between the passes but to copy data back and in again, so that the next pass found what the one before had left:
//! of `tofrom` the same values; of `to` those of the host, which nothing changes, since nothing is written that only travels there; of `from` and `alloc`
//! indeterminate ones, for which those of the pass before are as good; of what is present all along, or lives on the device, what is there. In any
//! case an element that an iteration accesses in a pass is written by no other iteration in any pass. For that the kernel is read
//! with the loop in its body (`host_loop/inside`), and its iterations must be proved to be independent without what the original promises:
//! each of two iterations may be in a pass of its own there, since the loop's variable has any value of its range in either. So `a[t * n + i]` keeps apart
//! where `i` is less than `n`, and `a[(i + t) % n]` does not.
//!
//! Clauses, bounds and sections are evaluated once. They do not name the loop's variable, they have no effects, and the values in them
//! are no storage that the kernel may change, which holds for a later pass as for a later construct. So do those of the loop's own head, which the
//! kernel evaluates from copies: a scalar that no clause lists is firstprivate, whatever a `target data` construct around maps. Where the text does not tell that
//! the loop runs at all, an `if` asks its own test with the first value in the place of the variable, if both are compared with the bound in a
//! type that holds them: without any pass nothing is mapped, and no pointer or length needs to be one. A `continue` of the kernel's loop
//! goes on with the next pass of the same iteration, as it did.
//!
//! The statements keep their text and their order, so that a compiler contracts what it contracted, unless it contracts across statements
//! (`-ffp-contract=fast`, `-ffast-math`): a value that is stored and loaded again may then take part in a fused multiply-add. Where the flags say
//! so, that is an assumption (OMPS863).
//!
//! ## References
//!
//! OpenMP 5.2, sections 1.4.1, 4.4.1, 5.4 and 5.8.3. Kennedy and McKinley, "Maximizing Loop Parallelism and Improving Data Locality via Loop
//! Fusion and Distribution" (1993).

mod by_addresses;
mod gain;
mod guards;
mod heads;
mod host_loop;
mod lists;
mod members;
mod memory;
mod one_loop;
mod one_range;
mod side_by_side;
mod steady;
mod taking_turns;
mod texts;
mod together;
mod write;

use std::collections::BTreeMap;

use self::members::{Member, runs};
use self::one_loop::{Arrangement, One};
use self::one_range::OneRange;
use self::side_by_side::{Beside, Bounds};
use self::texts::Texts;
use crate::context::Context;
use crate::device::time::GAIN;
use crate::plan::{Applicability, Change, Decision, Pass, Plan, Reason, ReasonCode, RuleKind, Verdict};
use crate::source::{Span, with_words};
use crate::transforms::Waiting;
use crate::transforms::checks::addresses;

/// The most constructs that are taken together at once.
const MOST_TOGETHER: usize = 16;

/// Decides for every construct that has a neighbour, or is all that a loop of the host repeats.
pub(super) fn fuse_constructs(cx: &Context<'_>) -> Vec<Plan> {
    let (mut plans, mut open) = (Vec::new(), Vec::new());
    for run in runs(cx) {
        open.extend(without_doubts(cx, run, &mut plans));
    }
    let mut names = Names::default();
    texts::until_all_are_read(cx, |texts| {
        open.retain(|part| {
            let found = match part.as_slice() {
                [alone] => host_loop::plan(cx, texts, alone).into_iter().collect(),
                run => of_run((cx, texts), run, &mut names),
            };
            let waits = texts.waits();
            if !waits {
                plans.extend(found);
            }
            texts.forget();
            waits
        });
    });
    let guards = guards::names(cx, names.guards.into_values());
    for edit in plans.iter_mut().flat_map(|plan| &mut plan.edits).filter(|_| !guards.is_empty()) {
        edit.text = with_words(&edit.text, &|word| guards.get(word).cloned());
    }
    plans
}

/// The parts of a run that lie between constructs of which nothing is certain.
fn without_doubts(cx: &Context<'_>, run: Vec<Member>, plans: &mut Vec<Plan>) -> Vec<Vec<Member>> {
    if run.len() == 1 {
        return vec![run];
    }
    let (mut parts, mut part) = (Vec::new(), Vec::new());
    for member in run {
        let doubts = members::doubts(cx, &member);
        if doubts.is_empty() {
            part.push(member);
            continue;
        }
        plans.push(plan(&[&member], left_alone(doubts)));
        parts.push(std::mem::take(&mut part));
    }
    parts.push(part);
    parts
}

/// The names that constructs got.
#[derive(Default)]
struct Names {
    /// Of constants that say which constructs run, by where these stand: names for reading, until all that get one are known.
    guards: BTreeMap<usize, String>,
    bounds: Bounds,
}

/// Takes the constructs of a run together. Only where none go together for certain, they stand side by side, or the host may be asked whether
/// data lie apart.
fn of_run((cx, texts): (&Context<'_>, &Texts<'_, '_>), run: &[Member], names: &mut Names) -> Vec<Plan> {
    let plans = grouped(run, |members| merged((cx, texts), members, &mut names.guards));
    let is_change = |plan: &Plan| plan.decision == Decision::Apply(Applicability::Safe);
    if texts.waits() || plans.iter().any(|plan| plan.decision.is_written(cx.assumes)) {
        return plans;
    }
    let beside = grouped(run, |members| beside((cx, texts), members, &mut names.bounds));
    if texts.waits() || beside.iter().any(is_change) {
        return beside;
    }
    let over_all = grouped(run, |members| over_all((cx, texts), members));
    if texts.waits() || over_all.iter().any(is_change) {
        return over_all;
    }
    if cx.assumes {
        return plans;
    }
    let asked = grouped(run, |members| by_addresses::decide((cx, texts), run, members));
    if texts.waits() || asked.iter().any(is_change) {
        return asked;
    }
    in_turns(cx, run).unwrap_or(plans)
}

/// Two constructs of a run as steps in which two arrays take turns.
fn in_turns(cx: &Context<'_>, run: &[Member]) -> Option<Vec<Plan>> {
    run.windows(2).find_map(|pair| {
        let [sweep, copy] = pair else { return None };
        let verdict = match taking_turns::decide(cx, [sweep, copy])? {
            Ok(change) => Verdict::Change(change),
            Err(reason) => left_alone(vec![reason]),
        };
        Some(vec![plan(&[sweep, copy], verdict)])
    })
}

/// What becomes one loop is decided when other passes have made their kernels and chosen which loops are collapsed.
pub(super) fn waits_for(_: Waiting) -> &'static [Pass] {
    &[Pass::Split, Pass::Collapse, Pass::Scalarize, Pass::Pipeline]
}

/// Takes the constructs of a run together, as many as possible from the first on, and so on with the rest.
fn grouped(run: &[Member], mut decide: impl FnMut(&[&Member]) -> Result<Change, Stopped>) -> Vec<Plan> {
    let mut plans = Vec::new();
    let farthest = |first: usize| run.len().min(first + MOST_TOGETHER);
    let (mut first, mut end) = (0, farthest(0));
    while first + 1 < run.len() {
        let members: Vec<&Member> = run.get(first..end).unwrap_or_default().iter().collect();
        if members.len() < 2 {
            first = end.max(first + 1);
            end = farthest(first);
            continue;
        }
        match decide(&members) {
            Ok(change) => {
                // The second of two that need memory for both may join the third without.
                let is_assumed = change.reasons.iter().any(|reason| reason.code == ReasonCode::MemoryForAll);
                plans.push(plan(&members, Verdict::Change(change)));
                first = if is_assumed { first + 1 } else { end };
                end = farthest(first);
            }
            Err(stopped) => {
                end = first + stopped.at.max(1);
                if stopped.at <= 1 {
                    plans.push(plan(members.get(..2).unwrap_or(&members), left_alone(vec![stopped.reason])));
                }
            }
        }
    }
    plans
}

fn plan(members: &[&Member], verdict: Verdict) -> Plan {
    let spans = |member: &&Member| (member.directive, member.whole());
    let (first, start) = members.first().map(spans).unwrap_or_default();
    let (last, end) = members.last().map(spans).unwrap_or_default();
    let is_change = matches!(verdict, Verdict::Change(_));
    verdict.into_plan(Pass::Fuse, if is_change { first } else { last }, Span::new(start.start, end.end))
}

/// Why a construct does not join those before it in a list.
struct Stopped {
    /// Its place in the list, counted from 0.
    at: usize,
    reason: Reason,
}

/// What is said of a construct that stays. That it does not go together with its neighbours is nothing to be told of.
fn left_alone(reasons: Vec<Reason>) -> Verdict {
    let told = reasons.iter().find(|reason| reason.code.kind() != RuleKind::Note);
    match (told.map(|reason| reason.code.kind()), reasons.first()) {
        (None, Some(first)) => Verdict::Nothing(first.clone()),
        (Some(RuleKind::DoesNotPay), _) => Verdict::DoesNotPay(reasons),
        _ => Verdict::Refuse(reasons),
    }
}

/// Checks that all of some constructs can be one whose iterations execute those of all. `guards` are the names of constants in what is written.
fn merged(
    (cx, texts): (&Context<'_>, &Texts<'_, '_>),
    members: &[&Member],
    guards: &mut BTreeMap<usize, String>,
) -> Result<Change, Stopped> {
    let arrangement = Arrangement::merged(guards::names_to_read(cx, members));
    let change = certainly((cx, texts), members, &arrangement)?;
    let named = members.iter().zip(arrangement.names);
    guards.extend(named.filter_map(|(member, name)| Some((member.directive.start, name?))));
    Ok(change)
}

/// Checks that all of some constructs can be one that has the iterations of each beside those of the others.
fn beside(
    (cx, texts): (&Context<'_>, &Texts<'_, '_>),
    members: &[&Member],
    taken: &mut Bounds,
) -> Result<Change, Stopped> {
    let beside = Some(Beside::of(cx, members, taken)?);
    let arrangement = Arrangement { names: vec![None; members.len()], beside, range: None };
    // Where teams share the sums of one of them, each is better off in a kernel of its own.
    let change = Change { yields_to: Some(Pass::Reduce), ..certainly((cx, texts), members, &arrangement)? };
    arrangement.beside.into_iter().for_each(|beside| beside.take_name(taken));
    Ok(change)
}

/// Checks that all of some constructs can be one over the range of all, in which each asks which iterations are its own.
fn over_all((cx, texts): (&Context<'_>, &Texts<'_, '_>), members: &[&Member]) -> Result<Change, Stopped> {
    let range = Some(OneRange::of(cx, members)?);
    let arrangement = Arrangement { names: vec![None; members.len()], beside: None, range };
    certainly((cx, texts), members, &arrangement)
}

/// Some constructs as one in the place of all, and what must be assumed.
fn certainly(
    (cx, texts): (&Context<'_>, &Texts<'_, '_>),
    members: &[&Member],
    arrangement: &Arrangement,
) -> Result<Change, Stopped> {
    let one = One::of((cx, texts), members, arrangement, GAIN)?;
    let is_assumed = one.memory.is_some() || !one.may_meet.is_empty();
    if let Some(last) = members.last().filter(|last| is_assumed && addresses::were_compared(cx, last.directive.start)) {
        return Err(Stopped { at: members.len() - 1, reason: by_addresses::other_form(last) });
    }
    // Two constructs may need the assumption; more are not taken together where it would be needed.
    if let Some(reason) = one.memory.clone().filter(|_| members.len() > 2) {
        return Err(Stopped { at: members.len() - 1, reason });
    }
    let mut reasons: Vec<Reason> = one.may_meet.into_iter().map(|pair| pair.assumption).collect();
    reasons.extend(one.memory);
    reasons.extend(one.assumed);
    let kernels = Some((members.len(), 1));
    Ok(Change { edits: one.edits, summary: one.summary, reasons, kernels, ..Change::default() })
}

/// A reason not to take constructs together.
fn apart(span: Span, message: impl Into<String>) -> Reason {
    Reason::new(ReasonCode::NotOneLoop, span, message)
}
