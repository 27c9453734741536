//! Write down how many threads a team has, where the compiler's own choice leaves teams without work.
//!
//! ## Input
//!
//! ```c
//! void evaluate(int n, int m, const double *c, const double *u, double *v) {
//!   #pragma omp target teams distribute parallel for map(to: c[0:m], u[0:n]) map(from: v[0:n])
//!   for (int i = 0; i < n; i++) {
//!     double sum = 0;
//!     for (int k = 0; k < m; k++)
//!       sum = sum * u[i] + c[k];
//!     v[i] = sum;
//!   }
//! }
//! ```
//!
//! ## Output
//!
//! ```c
//! void evaluate(int n, int m, const double *c, const double *u, double *v) {
//!   #pragma omp target teams distribute parallel for map(to: c[0:m], u[0:n]) map(from: v[0:n]) \
//!       thread_limit(128)
//!   for (int i = 0; i < n; i++) {
//!     double sum = 0;
//!     for (int k = 0; k < m; k++)
//!       sum = sum * u[i] + c[k];
//!     v[i] = sum;
//!   }
//! }
//! ```
//!
//! Without the clause clang 19 compiles chunks of 128 iterations into the kernel, whatever `num_teams` says, and its
//! runtime then starts 32 or 64 threads a team for loops below 409,600 iterations: a half or three quarters of the teams
//! get no work, and the threads of the others do four or two iterations one after the other. Measured on an H200 with
//! the same grid, such loops are two to four times faster with the clause; longer loops have 128 threads a team anyway, and so have those
//! whose number of teams is written.
//!
//! ## Whether it pays
//!
//! A clause is written where the whole construct is predicted to be at least 1.05 times as fast as without it, a launch of 30 microseconds included, for the
//! number of iterations that the text gives, or in the geometric mean of `--assumed-iterations`, 16 and 256 times as many; otherwise the message gives both times (OMPS251). Most loops that do a few
//! accesses each are left as they are so: beside a launch they do not feel the grid. The times are those of `device/time`; where the accesses
//! are not followed (calls, reductions, members), operators, subscripts, calls and loops are counted, and of two arms of an `if` the shorter one. Without
//! `--device` they are predicted for an H200.
//!
//! What another pass changes or makes in the same run, or encloses in a data environment, gets a grid all the same: there the whole
//! edit is what gains. Text that was left without one stays so in the next run.
//!
//! ## For a device
//!
//! With `--device` the number of teams is chosen too, from what the accesses of one iteration are and what the device holds
//! at once; a comment behind the clauses names the device. Without a known trip count the number of teams is an expression
//! of the loops' bounds, at least 1 for each of their values: of variables and numbers, their products, steps, and the difference of
//! two variables of the type that counts the iterations. The kernel of a tile that `pipeline` writes gets the grid for the tile's own
//! iterations so, in the round behind. Where a single loop has no such bound, the runtime chooses the number of teams; where several have none, both clauses stay as on
//! every device. Streams over several loops keep `thread_limit(128)`, and so do loops whose accesses hang on data, but for rows that data tell: where each
//! thread walks along one (a sparse matrix) without storing, a team is a warp, and each thread makes one iteration. Of
//! `c ? i - 1 : i` either arm tells as much as the other.
//!
//! | the loop | threads | teams |
//! |---|---|---|
//! | uncoalesced accesses in a serial loop, known and few iterations | 1 to 16, so that there are at most 16 blocks on an SM; 8 or 16 where that loop stores to neighbouring elements | one iteration a thread |
//! | the same with more iterations, or of unknown number | a warp; on an H200 16 where one loop runs in parallel and does nothing else | with k such accesses as many as keep (k + 1) x 128 bytes a thread in the first-level cache; where that is more than are resident, one iteration a thread |
//! | coalesced accesses in a serial loop | the device's preferred number, a warp on an H200 | one iteration a thread, at most as many as are resident below 256 accesses in an iteration; 16 on an SM of an H200 where each element is read once |
//! | the same, but stores in the serial loop, or several loops whose threads all read the same elements | 128: small blocks gain nothing there, and lost up to a quarter | one iteration a thread of several loops, where the runtime's 3,200 teams took up to 14 % longer; of one loop the runtime's choice |
//! | one or two loops and none inside, at most 8 operations for each access, at least twice as many iterations as the device has threads | 128 | as many as are resident |
//! | anything else | 128 | the runtime's choice |
//!
//! A limit that would take registers from the threads of a block is halved. Registers are estimated, or with `--resources clang`
//! counted by clang and NVIDIA's `ptxas`, those that it spills among them.
//!
//! A rule's grid is chosen where it is predicted (`device/time`) to make the loop at least 1.05 times as fast as `thread_limit(128)`
//! alone, a launch of 30 microseconds included; for an unknown length where it does so for one from 256 to 67,108,864 iterations and is
//! as good for all. Otherwise, and for a loop whose directives have `reduction` or `schedule`, or whose body is not followed, it is
//! `thread_limit(128)`. The limit is always a
//! number: clang compiles it in, and the kernel of column sums took 35 us with 32, 105 with 64 or more, 165 with a variable.
//! It also bounds the registers of a thread, never below 64 for these numbers. On a host fallback one thread in a team makes the
//! loop serial.
//!
//! So that rows of unknown number get the grid of few rows with that same number, `dist_schedule` says how many of them a team
//! takes at once: with few rows less than it has threads, and all SMs get some. On an H200 256 rows of 16,384 elements take
//! 0.23 ms so, 0.36 in whole teams of 16; a block of 16 threads of which one works is as fast as a block of one. Not so where the
//! serial loop stores to neighbouring elements, such as sums in memory: blocks of less than a sector of 32 bytes store to the same
//! ones again and again, and took up to 12 times as long.
//!
//! Where clauses of the user say another grid, it stays; one that is predicted to take more than twice as long, for each length of a
//! loop of unknown length, and 1.05 times with the launch, is reported (OMPS450), and so is one with no more threads in all than a warp for a long
//! loop of which nothing is predicted, if its operations take that much longer so. With `--retune` such a grid goes, and this pass's own one takes its place, if all numbers in it are constants.
//!
//! `ompsplit tune` asks for other grids, to measure them: what it asks for is written where `--retune` could write, whatever is predicted.
//!
//! ## One team
//!
//! A region without teams that `split` leaves has a team of 128 threads by itself. With `--device`, where it holds no other constructs than
//! `parallel` loops and none of these is known to be short, it gets 1,024, which are all that a team can have; 512 where the text of a loop has
//! more than 60 operations, which may need more than 64 registers. Together with `collapse` an LU decomposition of 256 rows takes 2.0 ms so on
//! an H200, 12.0 before, and one of 64 rows 0.09 instead of 0.31. `thread_limit` is a clause of `target` since OpenMP 5.1.
//!
//! ## Two levels
//!
//! Where the teams share a `distribute` loop, and the threads of each team the `parallel` loops inside, a team has 128 threads by itself.
//! With `--device` and 32,768 outer iterations or more, `thread_limit(32)` is written if no inner loop can use more: each has at most 64
//! iterations, or asks for a warp with `num_threads`. On an H100 65,536 rows of 16 to 64 elements take 0.6 to 0.9 of their time so, launch
//! included, and longer ones whose loops ask for a warp 0.5 to 0.7; without such a request rows of more than 128 take up to 1.5 times as long. A written `thread_limit` that leaves three quarters of a warp idle, and a
//! `num_teams` of less than a quarter of the multiprocessors, are far off: reported, or replaced with `--retune`.
//!
//! A `parallel` loop in a `distribute parallel for` loop runs in one thread alone (as long as `max-active-levels-var` is 1), while it
//! slows down all kernels of the program: LLVM's runtime keeps a state for each such region. So the outer loop becomes `distribute`, and the
//! team shares the inner one. On an H100 65,536 sums of 1,024 elements take 0.27 ms so, 56 ms before; sums of 16 elements 0.09 and 29 ms.
//! It holds on every device.
//!
//! ```c
//! #pragma omp target teams distribute
//! for (int i = 0; i < n; i++) {
//!   float sum = 0;
//!   #pragma omp parallel for reduction(+: sum)
//!   for (int j = 0; j < m; j++)
//!     sum += a[i * m + j];
//!   s[i] = sum;
//! }
//! ```
//!
//! ## Applies when
//!
//! - a target construct leads to one `distribute parallel for` loop (or with `simd`), combined or stacked, and no clause
//!   of it says how many threads a team has. A combined one may be one of several directives of which the preprocessor chooses one
//!   (`#ifdef .. #else .. #endif` right before the loop): clauses of one change nothing of the others;
//! - or it leads to a `distribute` loop that holds `parallel` loops and no other constructs, with `--device`;
//! - or it is `target` alone and holds such loops, with `--device`.
//!
//! ## Refuses when
//!
//! - OMPS101 to OMPS104: the text cannot be read for certain;
//! - OMPS109: the loop, or an operator of a class that it uses, asks for its team or its threads;
//! - OMPS117: a `parallel` region stands in the loop, and it is not proved that the threads of a team may share it: its iterations may depend
//!   on each other, a clause may group the outer iterations (`schedule`, `num_threads`) or hand a value on (`reduction`, `lastprivate`), or the
//!   threads would have to share an array or an object that an outer iteration declares. Another grid is not written either, since LLVM's
//!   device runtime may run out of memory in it;
//! - OMPS125: the directive is spelled `_Pragma` or as an attribute;
//! - with `--retune`: OMPS110, if one thread makes certain iterations in order (a team of one thread, `schedule`, `if` on `parallel`) and they are
//!   not proved independent; OMPS165, if the order of a floating-point reduction or of what `atomic` does hangs on the grid, or a clause
//!   may mean something else in another one; OMPS122, if nothing else uses a variable.
//!
//! ## Safety
//!
//! How many threads a team has where no clause says so is up to the implementation (OpenMP 5.2, sections 10.1.1 and
//! 10.2), so that a conforming program gives results with 128 that it may give without the clause. Queries in sight keep the loop from
//! being changed all the same. Likewise which team takes which iterations (section 11.6).
//!
//! Where `num_teams` is the user's, a routine in sight sets sizes (`omp_set_num_teams` and the like), or fewer threads than a warp are
//! chosen, the edit is assumed to be right if a function is called whose body is not in sight, or objects are used of a class whose
//! functions are not: they may ask for their team (OMPS303). Likewise in a template whose parameter may be such a class (OMPS304).
//! Safe otherwise.
//!
//! An inner `parallel` region may have several threads in the original too, where the outer one has a single thread and so is inactive. But
//! as a rule it runs alone, so its iterations are proved to be independent all the same. The threads of the outer loop shared its iterations in
//! any way; one team takes each now, in order. What an outer iteration declares belongs to the team's initial thread, and is shared by the
//! inner region before and after. The specification fixes no order for the terms of a reduction.
//!
//! What `--retune` replaces was no choice of the implementation: `num_teams(4) thread_limit(8)` promises four teams of at most eight
//! threads. So nothing may depend on their numbers: no query, not in a callee either (OMPS303 if it is not in sight), no order of
//! iterations that clauses give, no order in which results are combined. What threads make which iterations without a `schedule` clause
//! is up to the implementation, so that a program without races may not rely on it.
//!
//! The bounds in `num_teams` are numbers and integer variables that are neither volatile nor listed in a clause of the
//! construct but `firstprivate`. They are compared before they are subtracted, multiplied or divided, so nothing overflows, and the
//! original evaluates them at the same place for its iterations. (A difference of signed variables is formed where it is not below zero:
//! it is what the iterations are counted by, OpenMP 5.2, section 4.4.2.) A bound that is too small or too large costs time alone: each team goes on until no
//! iterations are left.
//!
//! ## References
//!
//! OpenMP 5.2, sections 4.4.2, 10.1.1, 10.2 and 13.3. Lloyd, Chikin, Kedia, Jain and Amaral, "Automated GPU Grid Geometry
//! Selection for OpenMP Kernels" (2018), sections II and IV. Chikin, Gobran and Amaral, "OpenMP Code Offloading" (2018), section 6.

mod details;
mod gain;
mod grid;
mod levels;
mod one_team;
mod predictions;
mod queries;
mod retune;
mod team_size;
mod told;

pub use self::predictions::predicted_time;

use crate::analysis::associated_loops::known_iterations;
use crate::context::Context;
use crate::edit::directive_writer::append_clauses;
use crate::plan::{Certainty, Change, Decision, Detail, Pass, Plan, Reason, ReasonCode, Times, Verdict};
use crate::region::construct::{ConstructId, ConstructTree};
use crate::region::target::{TargetRegion, target_regions};
use crate::semantics::Program;
use crate::source::Span;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{ClauseName, Directive, HostTree};
use crate::transforms::checks::type_parameters;
use crate::transforms::choose_geometry::gain::{Predicted, over_the_runtimes};
use crate::transforms::choose_geometry::grid::Chosen;
use crate::transforms::{TEAM_THREADS, Waiting, checks};

/// The threads that a GPU runs in lockstep.
const WARP: u32 = 32;

/// The routines that set the sizes of teams and leagues.
const SETTERS: &[&str] = &["omp_set_num_teams", "omp_set_teams_thread_limit", "omp_set_num_threads"];

/// Decides for every loop that is a kernel of its own, and for loops of teams with loops of their threads inside.
pub(super) fn choose_geometry(cx: &Context<'_>) -> Vec<Plan> {
    let regions = target_regions(cx.tree, cx.constructs);
    let plan = |region: &TargetRegion| match region.is_league_loop() {
        true => Some(plan_loop(cx, region)),
        false => team_size::plan(cx, region).or_else(|| one_team::plan(cx, region)),
    };
    regions.iter().filter_map(plan).collect()
}

/// A grid for a device is chosen after other passes have changed the loop. A tile has fewer iterations than its loop. A
/// grid in the program's clauses is kept for the tiles, and is judged before.
pub(super) fn waits_for(plan: Waiting) -> &'static [Pass] {
    match (plan.for_device, plan.is_written) {
        (true, true) => &[
            Pass::Split,
            Pass::Collapse,
            Pass::Scalarize,
            Pass::Fuse,
            Pass::Reduce,
            Pass::Coarsen,
            Pass::Stage,
            Pass::Pipeline,
        ],
        (true, false) => {
            &[Pass::Split, Pass::Collapse, Pass::Scalarize, Pass::Fuse, Pass::Reduce, Pass::Coarsen, Pass::Stage]
        }
        (false, _) => &[Pass::Reduce, Pass::Coarsen, Pass::Stage],
    }
}

/// Is there a loop whose grid may be chosen?
#[must_use]
pub fn chooses_grids(tree: &HostTree, constructs: &ConstructTree) -> bool {
    target_regions(tree, constructs).iter().any(TargetRegion::is_league_loop)
}

fn plan_loop(cx: &Context<'_>, region: &TargetRegion) -> Plan {
    let first = region.chain.constructs.first().copied().unwrap_or(ConstructId(0));
    let span = cx.constructs.directive(first).span;
    let is_nested = levels::nested_parallel(cx, region).is_some();
    let is_judged = !is_nested && checks::clause_reasons(cx, region).is_empty();
    let told = cx.told(region).grid;
    let far_off = if is_judged && told.is_none() { retune::far_off(cx, region) } else { None };
    let verdict = match (&far_off, told) {
        _ if is_nested => levels::two_levels(cx, region),
        (_, Some(told)) => told::write(cx, region, told),
        (Some(far_off), _) if cx.retune => retune::retune(cx, region, far_off),
        _ => decide(cx, region, span),
    };
    let mut plan = verdict.into_plan(Pass::Geometry, span, region.extent);
    let is_kept = !cx.retune && plan.decision != Decision::Refuse;
    plan.reasons.extend(far_off.filter(|_| is_kept).map(|far_off| far_off.reason));
    cx.explain(plan.pass, plan.extent, || explained(cx, region));
    plan
}

fn explained(cx: &Context<'_>, region: &TargetRegion) -> Vec<Detail> {
    if let Some(figures) = grid::figures(cx, region) {
        return details::details(&figures);
    }
    let moved = grid::sectors_at_most(cx, region);
    moved.map(|(device, transactions)| details::without_grid(&device, transactions)).unwrap_or_default()
}

fn decide(cx: &Context<'_>, region: &TargetRegion, span: Span) -> Verdict {
    let mut reasons = checks::clause_reasons(cx, region);
    let Some(teams) = directive_of_teams(cx, region).filter(|_| !has_own_threads(cx, region)) else {
        let message = "the number of threads in a team is written down";
        return Verdict::Nothing(Reason::new(ReasonCode::GridWritten, span, message));
    };
    if reasons.is_empty() {
        reasons.extend(team_reasons(cx, region));
    }
    if reasons.iter().any(|reason| reason.certainty == Certainty::Proved) {
        return Verdict::Refuse(reasons);
    }
    let (Chosen { clauses, summary, threads, .. }, times) = match worth_writing(cx, region, teams) {
        Ok(found) => found,
        Err(message) => return Verdict::DoesNotPay(vec![Reason::new(ReasonCode::GridDoesNotPay, span, message)]),
    };
    if !reasons.is_empty() && is_a_choice_of_the_original(cx, region, threads) {
        reasons.clear();
    }
    let edits = vec![append_clauses(cx.file, teams, &clauses)];
    Verdict::Change(Change { edits, summary, reasons, times, ..Change::default() })
}

/// The grid that is written, with what it gains, also in its summary: one that makes the construct faster by itself, or the one that belongs to what
/// another pass changed.
///
/// # Errors
/// Why none is.
fn worth_writing(
    cx: &Context<'_>,
    region: &TargetRegion,
    teams: &Directive,
) -> Result<(Chosen, Option<Times>), String> {
    let are_open = teams.clauses_of(ClauseName::NumTeams).next().is_none();
    let figures = if are_open { grid::figures(cx, region) } else { None };
    let by_rule = grid::chosen(cx, region, figures.as_ref());
    let has_rule = by_rule.is_some();
    let few = || few_iterations(cx, region, figures.is_some());
    let of_data = || grid::for_rows_of_data(cx, region);
    let mut chosen = by_rule.or_else(of_data).or_else(few).unwrap_or_else(Chosen::for_every_device);
    if let Some(predicted) = Predicted::of(cx, region) {
        let gain = over_the_runtimes(cx, region, &predicted, &chosen);
        if gain.pays() {
            chosen.summary = format!("{}: predicted {}", chosen.summary, gain.words());
            return Ok((chosen, Some(gain.of_construct())));
        }
        if !(cx.is_changed)(region.extent) {
            return Err(predicted.too_little(&gain, chosen.threads));
        }
    }
    let gains_nothing = figures.as_ref().filter(|_| !has_rule).and_then(grid::GeometryFigures::limit_gains_nothing);
    gains_nothing.map_or(Ok((chosen, None)), Err)
}

/// The grid of a loop that is not followed, whose few iterations would leave multiprocessors without a team of 128 threads: teams of a
/// warp, so that as many as possible get one.
fn few_iterations(cx: &Context<'_>, region: &TargetRegion, is_followed: bool) -> Option<Chosen> {
    let device = cx.device.filter(|_| !is_followed)?;
    if grid::clauses(cx, region)
        .any(|clause| matches!(clause.name, ClauseName::Reduction | ClauseName::Schedule | ClauseName::NumTeams))
    {
        return None;
    }
    let iterations = known_iterations(cx, region.chain.innermost())?;
    let is_few = iterations > u64::from(WARP) && iterations < u64::from(device.sm_count) * u64::from(TEAM_THREADS);
    is_few.then(|| Chosen::for_few(device, iterations))
}

/// What in the loop may depend on its team: queries, operators of classes.
fn team_reasons(cx: &Context<'_>, region: &TargetRegion) -> Vec<Reason> {
    let body = cx.constructs.construct(region.chain.innermost()).body;
    let parameter = body.and_then(|body| type_parameters::assumption(cx, body));
    let reasons = [queries::team_queries(cx, region), parameter];
    reasons.into_iter().flatten().collect()
}

/// Could the implementation have run the original in teams of this many threads? That is so if nothing sets the numbers
/// of teams and threads, and if whole warps start as they do by default. Then queries in any function can only have
/// answers that were possible before.
fn is_a_choice_of_the_original(cx: &Program<'_>, region: &TargetRegion, threads: u32) -> bool {
    let mut clauses = region.chain.constructs.iter().flat_map(|id| &cx.constructs.directive(*id).clauses);
    let says_teams = clauses.any(|clause| clause.name == ClauseName::NumTeams);
    let sets = |text: &str| SETTERS.iter().any(|setter| text.contains(setter));
    threads.is_multiple_of(WARP) && !says_teams && !cx.texts().any(|text| sets(&text))
}

/// The directive that holds the leaf `teams`, which takes the clause.
fn directive_of_teams<'a>(cx: &'a Program<'_>, region: &TargetRegion) -> Option<&'a Directive> {
    let mut ids = region.chain.constructs.iter();
    let id = ids.find(|id| cx.constructs.construct(**id).leaves.contains(&Leaf::Teams))?;
    Some(cx.constructs.directive(*id))
}

/// Does a clause set the number of threads in a team, or give teams chunks of iterations that suit such a number?
fn has_own_threads(cx: &Program<'_>, region: &TargetRegion) -> bool {
    let clauses = region.chain.constructs.iter().flat_map(|id| &cx.constructs.directive(*id).clauses);
    let names = [ClauseName::ThreadLimit, ClauseName::NumThreads, ClauseName::DistSchedule];
    clauses.into_iter().any(|clause| names.contains(&clause.name))
}
