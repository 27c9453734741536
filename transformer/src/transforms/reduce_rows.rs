//! Give each row to a whole team, whose threads share its sums; let a team collect what its iterations would update atomically.
//!
//! ## Input
//!
//! ```c
//! void row_sums(int n, int m, const float *a, float *s) {
//!   #pragma omp target teams distribute parallel for map(to: a[0:n*m]) map(from: s[0:n])
//!   for (int i = 0; i < n; i++) {
//!     float sum = 0;
//!     for (int k = 0; k < m; k++)
//!       sum += a[i * m + k];
//!     s[i] = sum;
//!   }
//! }
//! ```
//!
//! ## Output
//!
//! ```c
//! void row_sums(int n, int m, const float *a, float *s) {
//!   #pragma omp target teams distribute map(to: a[0:n*m]) map(from: s[0:n]) \
//!       thread_limit(128)
//!   for (int i = 0; i < n; i++) {
//!     float sum = 0;
//!     #pragma omp parallel for reduction(+: sum)
//!     for (int k = 0; k < m; k++)
//!       sum += a[i * m + k];
//!     s[i] = sum;
//!   }
//! }
//! ```
//!
//! Neighbouring threads then load neighbouring elements, where each thread walked through a row of its own. By hand, 4,096 rows of 16,384
//! elements took 0.18 ms instead of 4.4 on an H200, the softmax of 100,000 rows of 784 a third of its time, an attention kernel a tenth.
//! It stays one kernel.
//!
//! ## Rows in parts
//!
//! With `--device`, and for clang, a thread walks through a part of the row, so that it loads several elements at once:
//!
//! ```c
//! #pragma omp parallel for reduction(+: sum)
//! for (int part = 0; part < 128; part++)
//!   #pragma omp unroll partial(8) /* h200 */
//!   for (int k = part; k < m; k += 128)
//!     sum += a[i * m + k];
//! ```
//!
//! By hand, 4,096 rows of 16,384 products then take 0.12 ms in place of 0.17 on an H200, 6,144 of 8,192 0.08 in place of 0.15 (`bench/results/reduce`).
//!
//! ## Columns
//!
//! Neighbouring threads that add up neighbouring columns load side by side already. But where there are a few thousand of them, most threads of the device have nothing to do. So
//! the threads of a team take 16 columns, and of each a 64th part of its rows:
//!
//! ```c
//! #pragma omp target teams distribute map(to: a[0:n*m]) map(from: s[0:m]) thread_limit(1024)
//! for (int first = 0; first < m; first += 16) {
//!   float sum_of_part[64][16];
//!   #pragma omp parallel for collapse(2)
//!   for (int part = 0; part < 64; part++)
//!     for (int offset = 0; offset < 16; offset++)
//!       if (offset < m - first) {
//!         const int j = first + offset;
//!         float sum = 0;
//!         #pragma omp unroll partial(4) /* h200 */
//!         for (int i = part; i < n; i += 64)
//!           sum += a[i * m + j];
//!         sum_of_part[part][offset] = sum;
//!       }
//!   #pragma omp parallel for
//!   for (int offset = 0; offset < 16; offset++)
//!     if (offset < m - first) {
//!       const int j = first + offset;
//!       float sum = 0;
//!       for (int part = 0; part < 64; part++)
//!         sum += sum_of_part[part][offset];
//!       s[j] = sum;
//!     }
//! }
//! ```
//!
//! The array of parts lies in the team's memory, as the tiles of `stage` do, and no atomic update is needed. Sums over bodies or weights that all threads load are
//! shared in the same way.
//!
//! ## Serial loops
//!
//! Two serial loops of one sum change places where the terms lie side by side then:
//!
//! ```c
//! for (int q = 0; q < m; q++)
//!   for (int layer = 0; layer < layers; layer++)
//!     sum += a[(layer * n + i) * m + q];
//! ```
//!
//! becomes
//!
//! ```c
//! for (int layer = 0; layer < layers; layer++)
//!   for (int q = 0; q < m; q++)
//!     sum += a[(layer * n + i) * m + q];
//! ```
//!
//! ## Atomic updates
//!
//! An element that every iteration updates is shared in the same way. All threads of the device wait for each other at
//!
//! ```c
//! #pragma omp target teams distribute parallel for map(to: a[0:n]) map(tofrom: count)
//! for (int i = 0; i < n; i++)
//!   if (a[i] > 0) {
//!     #pragma omp atomic
//!     count++;
//!   }
//! ```
//!
//! where those of a team can find their part of it first:
//!
//! ```c
//! #pragma omp target teams map(to: a[0:n]) map(tofrom: count) \
//!     num_teams(n < 2000000000 ? 2112 : 1) thread_limit(128) /* h200 */
//! {
//!   unsigned count_of_team = 0;
//!   #pragma omp distribute parallel for reduction(+: count_of_team) \
//!       dist_schedule(static, n < 2000000000 ? 512 : n) /* h200 */
//!   for (int i = 0; i < n; i++)
//!     if (a[i] > 0) {
//!       count_of_team++;
//!     }
//!   if (count_of_team != 0) {
//!     #pragma omp atomic
//!     count += count_of_team;
//!   }
//! }
//! ```
//!
//! That is the form of `combine`, and asks for the same: a device, and extensions of OpenMP.
//!
//! ## Applies when
//!
//! - the kernel is one `distribute parallel for` loop of a league, and all loops in its body but those of at most eight iterations can be
//!   shared by a team: they stand in the body or in branches of it, are in canonical form (otherwise OMPS295: one thread would walk
//!   through them), declare their variable, and have bounds without calls and loads;
//! - the iterations of each are proved to be independent, but for variables of the row that they combine: `s += x`, `s -= x`, `s++`,
//!   `s = s + x`, likewise with `*`, `&`, `|`, `^`; `if (x > s) s = x;`, `s = x > s ? x : s`, `s = fmax(s, x)`, and so with `<` and `fmin`.
//!   Nothing else in the loop uses the variable;
//! - no clause gives a team less than a warp of threads, or several rows at once (`dist_schedule`): OMPS407;
//! - where `--device` names a device for which `unroll` makes loads of plain rows wide (nothing but sums of one or two elements at a time), there are less than 12,288 rows, or less than 65,536 of
//!   1,024 elements or more that go in parts: of one loop the host asks, and the kernel stands in two forms;
//! - it pays: at least one loop has 128 iterations or an unknown number, the warps touch at most half as many sectors where the thread
//!   index drives the inner loop, and the kernel is predicted to take at most 0.8 of its time, launch included. `thread_limit` is chosen
//!   from the longest known loop: 32 threads up to 256 iterations, 64 up to 1,024, 256 from 16,384 on, otherwise 128;
//! - in parts go loops without others inside that only load and combine, and count by one from a number below 65,536 to a bound below two thousand million. Where the text
//!   does not tell the latter, the host asks, of loops without branches and calls;
//! - or, with `--device` and for clang, the body declares sums, forms them in one loop that only loads, and does anything behind it; neighbouring threads load side by side, or the same; there are
//!   less than 65,536 columns (32,768 where all load the same) of 512 rows or more, and less than two thousand million, so that a part has room behind its last row: what of this the text does not tell the
//!   host asks, and the kernel stands in two forms; no clause says how many teams or threads there are;
//! - or `atomic` constructs in the loop update a variable that the directive maps, or an element whose place no iteration changes, by `+=`, `-=`, `++`, `--`, `&=`, `|=` or `^=`;
//!   what they add are integers of the element's size, or the element is a `float` or `double`; nothing else in the loop reaches it. With fewer
//!   than 10,000 iterations it does not pay;
//! - or two serial loops, one directly in the other, do nothing but combine one variable in one statement whose terms call nothing; numbers and variables alone tell how often they run, and none of
//!   the one's is the other's; loads far apart in the inner one are side by side in the outer one, which has more than eight iterations, and neighbouring threads do not load side by side already.
//!
//! ## Refuses when
//!
//! - OMPS101 to OMPS104, OMPS125, OMPS105: the text cannot be read for certain, or the program promises that directives are absent;
//! - OMPS195: an inner loop cannot be shared, or what one thread of the original did by itself would not mean the same for a team: a clause
//!   groups rows or hands a value on, an array or an object is declared in the row, something is called that is not followed;
//! - OMPS295, OMPS869: it does not pay;
//! - OMPS868: a clause or directive has no place beside results of teams, or the loop reaches what it updates atomically in another way, too;
//! - OMPS340, without `--assume`: the loops of a row are independent only if pointers lead to different elements;
//! - OMPS341, without `--assume=reassociation`: a sum, product, minimum or maximum of floating-point numbers.
//!
//! ## Safety
//!
//! The rows are independent, since threads shared them; a team takes each in order. What a row declares belongs to the team's initial thread;
//! the inner regions share it and only read it, or combine it (OpenMP 5.2, section 5.5.8). The inner iterations are proved to be independent in all else,
//! and each region ends with a barrier, so that statements and loops of a row follow each other as before.
//!
//! Bits combine in any order to the same ones, and so do minima and maxima of integers. Sums and products of unsigned integers are taken modulo
//! a power of two, those of signed ones are formed so too: where the original's did not overflow, the result has the same value. Its
//! terms have no more bits than the sum, so that no addition is made in a wider type; an unsigned number narrower than `int` may only be
//! counted (`++`, `--`), which is modulo a power of two as well. With `-ftrapv` or a sanitizer, signed sums are
//! left alone. Floating-point sums, products, minima (NaN, signed zeros, and rows of infinite numbers alone, of which a compiler may make the
//! largest finite number) need the user's consent: `--assume=reassociation`, or flags that give it, `-ffast-math`, for sums and products
//! `-fassociative-math` too. Terms of floating-point sums are of the sum's type: a wider one would be rounded, or not fit, where it stands alone in a part. A sum of zeros may have the
//! other sign, as compilers begin with a positive zero.
//!
//! The sum of a signed integer is formed in an unsigned variable, so that no partial sum overflows:
//!
//! ```c
//! unsigned sum = count;
//! #pragma omp parallel for reduction(+: sum)
//! for (int k = 0; k < m; k++)
//!   sum += a[i * m + k];
//! count = sum;
//! ```
//!
//! What stands in front of a column's loop declares numbers and pointers, whose values call nothing and change nothing, so that both loops of the team may declare them. Between the two is a
//! barrier. A column that is not there is left out by the distance to the bound, which does not overflow. One thread does what follows the sums.
//!
//! Atomic updates by one operator come in any order, also grouped by teams. Each team makes the original's update, once, unless its part is the neutral value: where no iteration
//! made one, nothing is stored. The element is named by what is the same in front of the loop. An atomic addition of `float` takes subnormal numbers for zero on
//! GPUs; here the original makes it as well.
//!
//! The bounds of an inner loop are evaluated once, in place of before each iteration: the loop changes nothing in them. A thread's part of a row, or of a column, begins with one of the first iterations
//! and goes on by the number of parts: each iteration is in one of them, whatever the number of threads is.
//!
//! Serial loops that change places make the same iterations, and nothing between them: a bound is a number or a variable that neither loop changes, so that evaluating it more or less often, or
//! where the other loop does not run, does nothing.
//!
//! It is no default pass, since without `--device` short rows of unknown length lose by it (`bench/results/reduce`); `--assume=reassociation` adds it
//! to the default ones.
//!
//! ## References
//!
//! OpenMP 5.2, sections 4.4.1, 5.5.5, 5.5.8, 10.2 and 15.8.4; C17, sections 6.3.1.3 and 6.5.

mod atomic_updates;
mod columns;
mod gain;
mod parts;
mod rows;
mod serial_order;
mod updates;
mod write;

use self::rows::{Inner, Row};
use crate::analysis::associated_loops::associated_loops;
use crate::context::Context;
use crate::edit::Edit;
use crate::plan::{Certainty, Change, Pass, Plan, Reason, ReasonCode, Verdict};
use crate::region::construct::ConstructId;
use crate::region::loop_nest::CanonicalLoopNest;
use crate::region::target::{TargetRegion, target_regions};
use crate::source::Span;
use crate::syntax::NodeKind;
use crate::transforms::checks::questions::{condition, strictest};
use crate::transforms::two_forms;
use crate::transforms::{Waiting, checks};

/// Decides for every kernel that is one loop with loops or atomic updates inside.
pub(super) fn reduce_rows(cx: &Context<'_>) -> Vec<Plan> {
    let regions = target_regions(cx.tree, cx.constructs);
    regions.iter().filter(|it| it.is_league_loop()).filter_map(|region| plan_region(cx, region)).collect()
}

/// A row is first what other passes make of it.
pub(super) fn waits_for(_: Waiting) -> &'static [Pass] {
    &[Pass::Split, Pass::Collapse, Pass::Scalarize, Pass::Fuse, Pass::Pipeline]
}

fn plan_region(cx: &Context<'_>, region: &TargetRegion) -> Option<Plan> {
    if let Some(plan) = atomic_updates::plan(cx, region) {
        return Some(plan);
    }
    let (loops, _) = associated_loops(cx, region)?;
    let body = loops.last()?.body;
    cx.tree.descendants(body).find(|node| cx.tree.kind(*node) == NodeKind::ForStatement)?;
    // What stands in the row is what somebody chose for it.
    if checks::directive_in(cx, cx.tree.span(body)).is_some() {
        return None;
    }
    let first = region.chain.constructs.first().copied().unwrap_or(ConstructId(0));
    let span = cx.constructs.directive(first).span;
    let row = Row::read(cx, region, CanonicalLoopNest { loops, body });
    Some(decide(&row).into_plan(Pass::Reduce, span, region.extent))
}

fn decide(row: &Row<'_, '_>) -> Verdict {
    let (cx, region) = (row.cx, row.region);
    let doubts = checks::text_reasons(cx, region);
    if !doubts.is_empty() {
        return Verdict::Refuse(doubts);
    }
    if let Some(span) = row.own_grid() {
        let message = "the grid that is written down gives rows to single threads";
        return Verdict::Nothing(Reason::new(ReasonCode::GridWritten, span, message));
    }
    let nodes = match row.loops() {
        Ok(nodes) => nodes,
        Err(reason) => return Verdict::DoesNotPay(vec![reason]),
    };
    let gain = match gain::gain(row, &nodes) {
        Ok(gain) => gain,
        Err(reason) => {
            let other = columns::decide(row, &nodes).or_else(|| serial_order::decide(row));
            return other.unwrap_or(Verdict::DoesNotPay(vec![reason]));
        }
    };
    let inner = match row.checked(&nodes) {
        Ok(inner) => inner,
        Err(reason) => return Verdict::Refuse(vec![reason]),
    };
    let Some(mut edits) = write::edits(row, &inner, gain.threads, gain.parts.as_ref()) else {
        let span = cx.constructs.directive(region.chain.innermost()).name_span;
        let message = "the directive has other words than `distribute parallel for`, or something between them";
        return Verdict::Refuse(vec![Reason::new(ReasonCode::RowNotShared, span, message)]);
    };
    let mut summary = format!("whole teams for rows, whose threads share {}: {}", loops_shared(&inner), gain.summary);
    let comment = match gain.asked.is_empty() {
        false => "Other rows are faster with threads of their own (estimate for an NVIDIA H200).",
        true => "Threads go through a row in steps, for which longer ones have no room.",
    };
    let questions = strictest(gain.asked.into_iter().chain(gain.parts.into_iter().flat_map(|parts| parts.questions)));
    if !questions.is_empty() {
        let condition = condition(&questions);
        match in_two_forms(row, &edits, &condition, comment) {
            Ok(both) => edits = vec![both],
            Err(reason) => return Verdict::Refuse(vec![reason]),
        }
        summary = format!("where {condition} {summary}");
    }
    Verdict::Change(Change { edits, summary, reasons: conditions(cx, &inner), ..Change::default() })
}

/// The edits where a condition of the host holds, and the kernel as it is where not.
fn in_two_forms(row: &Row<'_, '_>, edits: &[Edit], condition: &str, comment: &str) -> Result<Edit, Reason> {
    let both = two_forms::of_region(row.cx, row.region, edits, condition, comment);
    both.map_err(|(span, message)| Reason::new(ReasonCode::RowNotShared, span, message))
}

fn loops_shared(inner: &[Inner]) -> String {
    if inner.len() == 1 { "the inner loop".to_owned() } else { format!("{} inner loops", inner.len()) }
}

/// What must be assumed, each once, and the combinations whose order the user must leave open.
fn conditions(cx: &Context<'_>, inner: &[Inner]) -> Vec<Reason> {
    let combined = inner.iter().flat_map(|one| &one.combined);
    let open = combined.filter(|one| one.needs_consent(cx.arithmetic));
    let reason = |name: &str, span: Span, what: &str| {
        let message = format!("the {what} in `{name}` may be formed in another order");
        Reason { certainty: Certainty::Assumed, ..Reason::new(ReasonCode::OtherOrder, span, message) }
    };
    let mut all: Vec<Reason> = open.map(|one| reason(&one.name, one.first, one.operator.word())).collect();
    for assumption in inner.iter().flat_map(|one| &one.assumptions) {
        if !all.iter().any(|known| known.message == assumption.message) {
            all.push(assumption.clone());
        }
    }
    all
}
