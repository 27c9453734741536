//! Let each team add what its threads found to the whole, by one atomic update.
//!
//! ## Input
//!
//! ```c
//! double product(int n, const double *a, const double *b) {
//!   double sum = 0;
//!   #pragma omp target teams distribute parallel for map(to: a[0:n], b[0:n]) map(tofrom: sum) reduction(+: sum)
//!   for (int i = 0; i < n; i++)
//!     sum += a[i] * b[i];
//!   return sum;
//! }
//! ```
//!
//! ## Output
//!
//! ```c
//! double product(int n, const double *a, const double *b) {
//!   double sum = 0;
//!   #pragma omp target teams map(to: a[0:n], b[0:n]) map(tofrom: sum) \
//!       num_teams(n < 2000000000 ? 2112 : 1) thread_limit(128) /* h200 */
//!   {
//!     double sum_of_team = 0;
//!     #pragma omp distribute parallel for reduction(+: sum_of_team) \
//!         dist_schedule(static, n < 2000000000 ? 512 : n) /* h200 */
//!     for (int i = 0; i < n; i++)
//!       sum_of_team += a[i] * b[i];
//!     #pragma omp atomic
//!     sum += sum_of_team;
//!   }
//!   return sum;
//! }
//! ```
//!
//! LLVM's runtime combines the results of teams through a buffer in memory, which the host makes for each launch, and in which the last team that comes to its end
//! combines all of them. One atomic update a team takes the place of both. Measured on an H200 (`bench/results/combine`).
//!
//! Teams take turns at the iterations, so that they read from one part of memory at a time; rows with loops of their own stay in one part for each team. One loop that counts in
//! 32 bits needs room for that behind its last iteration, so that the host asks for it, and else starts one team. Where nothing
//! says how many teams there are, the output does: of `target teams` LLVM's runtime knows no iterations.
//!
//! ## Applies when
//!
//! - the kernel is one `target teams distribute parallel for` directive with `reduction` clauses whose operators are `+`, `&`, `|`, `^`, `min` or `max`, and whose
//!   variables are integers of four or eight bytes, `double`, or `float` for `min` and `max`;
//! - what the loop does is followed, so that the compiler can start all threads of a team at once;
//! - `--device` names a device, and the output is for clang.
//!
//! ## Refuses when
//!
//! OMPS101 to OMPS104, OMPS125, OMPS105: the text cannot be read for certain, or the program promises that directives are absent. OMPS868: a clause has no place beside
//! results of teams, a variable is no such number, or something else may name it; the loop does what is not followed, names a result in its head, or may have two thousand million
//! iterations of which the host cannot ask. OMPS869: no device is named, flags forbid extensions of OpenMP, or a loop of the file
//! has so many results that the compiler would keep them in memory.
//!
//! ## Safety
//!
//! A reduction combines the values of all threads, and the one that stood there before, in any order and grouping (OpenMP 5.2, section 5.5.5): so also those of each team
//! first, as `parallel` does at its end, and then those of all teams. Each team combines at least its neutral value, as the original's threads do. The atomic updates are
//! the only accesses of the variable in the region, so that none is lost (section 15.8.4). Each team begins with the neutral value, as each thread does. The loop names its team's part where it named its thread's: both are variables of `parallel`'s reduction.
//!
//! Clauses go where their meaning is: maps, the device and the size of the league to `target teams`, what is about iterations to the loop. A variable that
//! the directive did not map is mapped as `reduction` did (section 5.8.1). Data that are copied to each thread (`firstprivate`) are copied to the team first. The number
//! of teams and which of them makes which iterations is as open as before.
//!
//! An atomic addition of `float` takes subnormal numbers for zero on GPUs (PTX ISA, `atom`), which no grouping explains; and as a loop that compares and exchanges it
//! took up to 25 times as long as the runtime's reduction, as products would. So neither is combined. With `schedule(static, 1)` and more teams than the device
//! can start, libomp leaves iterations out (LLVM 19), so that a loop with that clause stays as it is.
//!
//! ## References
//!
//! OpenMP 5.2, sections 5.4, 5.5.5, 5.8.1, 10.2, 11.6 and 15.8.4.

mod listed;

use crate::context::Context;
use crate::device::DeviceProfile;
use crate::plan::{Change, Pass, Plan, Reason, ReasonCode, Verdict};
use crate::region::target::{TargetRegion, target_regions};
use crate::source::Span;
use crate::syntax::{ClauseName, Directive};
use crate::transforms::team_results::{self, Kernel};
use crate::transforms::{Waiting, checks};

/// Decides for every kernel that combines what its iterations give.
pub(super) fn combine_teams(cx: &Context<'_>) -> Vec<Plan> {
    let regions = target_regions(cx.tree, cx.constructs);
    regions.iter().filter(|it| it.is_league_loop()).filter_map(|region| plan_region(cx, region)).collect()
}

/// All other passes know loops better with their results in clauses.
pub(super) fn waits_for(_: Waiting) -> &'static [Pass] {
    Pass::Combine.before()
}

fn plan_region(cx: &Context<'_>, region: &TargetRegion) -> Option<Plan> {
    let directive = cx.constructs.directive(region.chain.innermost());
    directive.clauses_of(ClauseName::Reduction).next()?;
    let verdict = match checks::text_reasons(cx, region) {
        doubts if doubts.is_empty() => decide(cx, region, directive),
        doubts => Verdict::Refuse(doubts),
    };
    Some(verdict.into_plan(Pass::Combine, directive.span, region.extent))
}

fn decide(cx: &Context<'_>, region: &TargetRegion, directive: &Directive) -> Verdict {
    let device = match team_results::device(cx) {
        Ok(device) => device,
        Err((message, other)) => {
            let reason = Reason::new(ReasonCode::CombiningDoesNotPay, directive.span, message);
            return Verdict::DoesNotPay(vec![match other {
                Some(other) => reason.with_label(other, "the loop"),
                None => reason,
            }]);
        }
    };
    match change(cx, region, directive, device) {
        Ok(change) => Verdict::Change(change),
        Err(reason) => Verdict::Refuse(vec![reason]),
    }
}

fn change(
    cx: &Context<'_>,
    region: &TargetRegion,
    directive: &Directive,
    device: &DeviceProfile,
) -> Result<Change, Reason> {
    if let Some(reason) = checks::excludes_directives(cx, region) {
        return Err(reason);
    }
    let refused = |(span, message): team_results::Problem| refusal(span, message);
    if region.chain.constructs.len() != 1 {
        return Err(refusal(directive.span, "the directives are several"));
    }
    let kernel = Kernel::read(cx, region, &|_, _| false).map_err(refused)?;
    let combined = listed::combined(cx, directive, kernel.statement)?;
    let edit = kernel.edit(device, &combined, Vec::new()).map_err(refused)?;
    let names: Vec<String> = combined.iter().map(|one| format!("`{}`", one.whole)).collect();
    let updates = if names.len() == 1 { "an atomic update" } else { "atomic updates" };
    let summary = format!("each team combines its part of {} with the whole by {updates}", names.join(", "));
    Ok(Change { edits: vec![edit], summary, ..Change::default() })
}

fn refusal(span: Span, message: impl Into<String>) -> Reason {
    Reason::new(ReasonCode::TeamsNotCombined, span, message)
}
