//! Write down how many threads a team has, where the compiler's own choice leaves teams without work.
//!
//! ## Input
//!
//! ```c
//! void scale(int n, double f, const double *u, double *v) {
//!   #pragma omp target teams distribute parallel for map(to: u[0:n]) map(from: v[0:n])
//!   for (int i = 0; i < n; i++)
//!     v[i] = f * u[i];
//! }
//! ```
//!
//! ## Output
//!
//! ```c
//! void scale(int n, double f, const double *u, double *v) {
//!   #pragma omp target teams distribute parallel for map(to: u[0:n]) map(from: v[0:n]) \
//!       thread_limit(128)
//!   for (int i = 0; i < n; i++)
//!     v[i] = f * u[i];
//! }
//! ```
//!
//! Without the clause clang 19 compiles chunks of 128 iterations into the kernel, whatever `num_teams` says, and its
//! runtime then starts 32 or 64 threads a team for loops below 409,600 iterations: a half or three quarters of the teams
//! get no work, and the threads of the others do four or two iterations one after the other. Measured on an H200 with
//! the same grid, such loops are two to four times faster with the clause; longer loops have 128 threads a team anyway.
//!
//! ## For a device
//!
//! With `--device` the number of teams is chosen too, from what the accesses of one iteration are and what the device holds
//! at once; a comment behind the clauses names the device. Without a known trip count the number of teams is an expression
//! of the loops' bounds, at least 1 for each of their values: of variables and numbers, their products, steps, and the difference of
//! two variables of the type that counts the iterations. The kernel of a tile that `pipeline` writes gets the grid for the tile's own
//! iterations so, in the round behind. Where a single loop has no such bound, the runtime chooses the number of teams; where several have none, both clauses stay as on
//! every device. Streams over several loops keep `thread_limit(128)`, and so do loops whose accesses hang on data. Of
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
//! A rule's grid is written where it is predicted (`device/time`) to make the loop at least 1.05 times as fast as `thread_limit(128)`
//! alone, a launch of 30 microseconds included; for an unknown length where it does so for one from 256 to 67,108,864 iterations and is
//! as good for all. `thread_limit(128)` is written by the same measure; where it gains nothing either, the loop is left as it is (OMPS251). A loop
//! whose directives have `reduction` or `schedule`, or whose body is not followed, keeps `thread_limit(128)`. The limit is always a
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
//! Where clauses of the user say another grid, it stays; one that is predicted to take more than twice as long is
//! reported (OMPS450).
//!
//! ## Applies when
//!
//! - a target construct leads to one `distribute parallel for` loop (or with `simd`), combined or stacked, and no clause
//!   of it says how many threads a team has. A combined one may be one of several directives of which the preprocessor chooses one
//!   (`#ifdef .. #else .. #endif` right before the loop): clauses of one change nothing of the others.
//!
//! ## Refuses when
//!
//! - OMPS101 to OMPS104: the text cannot be read for certain;
//! - OMPS109: the loop, or an operator of a class that it uses, asks for its team or its threads;
//! - OMPS117: a `parallel` region stands in the loop: LLVM's device runtime may run out of memory in another grid;
//! - OMPS125: the directive is spelled `_Pragma` or as an attribute.
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
mod grid;

use crate::context::Context;
use crate::edit::directive_writer::append_clauses;
use crate::plan::{Certainty, Change, Decision, Pass, Plan, Reason, ReasonCode, Verdict};
use crate::region::construct::{ConstructId, ConstructTree};
use crate::region::target::{TargetRegion, target_regions};
use crate::semantics::Program;
use crate::semantics::calls::Calls;
use crate::semantics::is_standard_constant;
use crate::semantics::symbols::{DeclaredType, NameKind, Place, Symbols};
use crate::semantics::uses::{Role, Use, uses_below};
use crate::source::{Language, Span, words};
use crate::syntax::spec_table::Leaf;
use crate::syntax::{ClauseName, Directive, HostTree, NodeKind, TypeName};
use crate::transforms::checks::type_parameters;
use crate::transforms::choose_geometry::grid::Chosen;
use crate::transforms::{TEAM_THREADS, Waiting, checks};

/// The threads that a GPU runs in lockstep.
const WARP: u32 = 32;

/// The routines that set the sizes of teams and leagues.
const SETTERS: &[&str] = &["omp_set_num_teams", "omp_set_teams_thread_limit", "omp_set_num_threads"];

/// Decides for every loop that is a kernel of its own.
pub(super) fn choose_geometry(cx: &Context<'_>) -> Vec<Plan> {
    let regions = target_regions(cx.tree, cx.constructs);
    regions.iter().filter(|region| region.is_league_loop()).map(|region| plan_loop(cx, region)).collect()
}

/// A grid for a device is chosen after other passes have changed the loop. A tile has fewer iterations than its loop. A
/// grid in the program's clauses is kept for the tiles, and is judged before.
pub(super) fn waits_for(plan: Waiting) -> &'static [Pass] {
    match (plan.for_device, plan.is_written) {
        (true, true) => &[Pass::Collapse, Pass::Scalarize, Pass::Pipeline],
        (true, false) => &[Pass::Collapse, Pass::Scalarize],
        (false, _) => &[],
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
    let mut plan = decide(cx, region, span).into_plan(Pass::Geometry, span, region.extent);
    let is_clear = || checks::clause_reasons(cx, region).is_empty();
    if plan.decision != Decision::Refuse && cx.device.is_some() && is_clear() {
        plan.reasons.extend(grid::far_off(cx, region));
    }
    cx.explain(plan.pass, plan.extent, || grid::figures(cx, region).as_ref().map(details::details).unwrap_or_default());
    plan
}

fn decide(cx: &Context<'_>, region: &TargetRegion, span: Span) -> Verdict {
    let mut reasons = checks::clause_reasons(cx, region);
    let Some(teams) = directive_of_teams(cx, region).filter(|_| !has_own_threads(cx, region)) else {
        let message = "the number of threads in a team is written down";
        return Verdict::Nothing(Reason::new(ReasonCode::GridWritten, span, message));
    };
    if reasons.is_empty() {
        reasons.extend(nested_parallel(cx, region));
        reasons.extend(team_queries(cx, region));
        let body = cx.constructs.construct(region.chain.innermost()).body;
        reasons.extend(body.and_then(|body| type_parameters::assumption(cx, body)));
    }
    if reasons.iter().any(|reason| reason.certainty == Certainty::Proved) {
        return Verdict::Refuse(reasons);
    }
    match chosen(cx, region, teams) {
        Ok(Chosen { clauses, summary, threads }) => {
            if !reasons.is_empty() && is_a_choice_of_the_original(cx, region, threads) {
                reasons.clear();
            }
            let edits = vec![append_clauses(cx.file, teams, &clauses)];
            Verdict::Change(Change { edits, summary, reasons, ..Change::default() })
        }
        Err(message) => Verdict::DoesNotPay(vec![Reason::new(ReasonCode::GridDoesNotPay, span, message)]),
    }
}

/// The grid that suits the device, unless a clause gives the number of teams; otherwise the grid for every device.
///
/// # Errors
/// The prediction for the latter, if it is no gain.
fn chosen(cx: &Context<'_>, region: &TargetRegion, teams: &Directive) -> Result<Chosen, String> {
    let are_open = cx.device.is_some() && teams.clauses_of(ClauseName::NumTeams).next().is_none();
    let figures = are_open.then(|| grid::figures(cx, region)).flatten();
    if let Some(chosen) = figures.as_ref().and_then(|figures| grid::write(cx, region, figures)) {
        return Ok(chosen);
    }
    match figures.and_then(|figures| figures.limit_gains_nothing()) {
        Some(message) => Err(message),
        None => Ok(Chosen {
            clauses: vec![format!("thread_limit({TEAM_THREADS})")],
            threads: TEAM_THREADS,
            summary: format!("{TEAM_THREADS} threads in each team, so that every team gets work"),
        }),
    }
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

/// A `parallel` region in the loop, which the one thread of an iteration runs alone. LLVM 19's device runtime takes 80 bytes of the device's
/// heap for each, gives none back, and does not notice when its 8 MiB are full: on an H200 100,000 iterations pass in its own grid of 32
/// threads and abort in every other grid, 200,000 abort in both. With a larger heap (`LIBOMPTARGET_HEAP_SIZE`) all pass.
fn nested_parallel(cx: &Program<'_>, region: &TargetRegion) -> Option<Reason> {
    let body = cx.constructs.construct(region.chain.innermost()).body_span;
    let mut inside = cx.constructs.within(body);
    let (_, directive) = inside.find(|(construct, _)| construct.leaves.contains(&Leaf::Parallel))?;
    let message = "one thread runs this region alone; where the outer loop is `teams distribute`, without `parallel for`, its team shares it";
    Some(Reason::new(ReasonCode::NestedParallel, directive.span, message))
}

/// The calls in the loop whose results may depend on the team: queries, or if there are none, the first function that
/// may have some.
fn team_queries(cx: &Program<'_>, region: &TargetRegion) -> Option<Reason> {
    let body = cx.constructs.construct(region.chain.innermost()).body?;
    let uses = uses_below(cx.file, cx.tree, body);
    let is_cpp = cx.tree.language() == Language::Cpp;
    let reasons = uses.iter().filter_map(|used| {
        let (symbols, calls) = (cx.symbols(), cx.calls());
        let is_macro = || symbols.macro_definition(&used.name, used.span.start).is_some();
        if may_call(cx, used) && (used.role == Role::Callee || is_macro()) {
            return team_query(symbols, calls, used);
        }
        let is_known = |used: &Use| {
            used.name == "this"
                || symbols.lookup(&used.name, used.span.start).is_some()
                || is_standard_constant(&used.name)
        };
        match is_known(used) {
            true if is_cpp => class_query(symbols, calls, used),
            true => None,
            false => Some(assumed(used.span, format!("`{}`, which is declared nowhere in sight,", used.name))),
        }
    });
    let types = cx.tree.descendants(body).filter(|_| is_cpp).filter_map(|node| {
        let (symbols, calls) = (cx.symbols(), cx.calls());
        let ty = TypeName::of(cx.tree, node)?.ty()?;
        let is_own = matches!(cx.tree.kind(ty), NodeKind::PrimitiveType | NodeKind::SizedTypeSpecifier);
        let span = cx.tree.span(ty);
        let name = cx.file.show(span).split_whitespace().collect::<String>();
        let found = if is_own { DeclaredType::Void } else { symbols.type_named(&name, span.start) };
        class_reason(symbols, calls, &found, &name, span)
    });
    reasons.chain(types).min_by_key(|reason| reason.certainty)
}

/// Is it called, or may it be a macro that calls something?
fn may_call(cx: &Program<'_>, used: &Use) -> bool {
    let is_defined = || cx.scan.definitions.iter().any(|definition| *cx.file.show(definition.name) == *used.name);
    used.role == Role::Callee || !cx.compilation.headers.is_empty() || cx.compilation.facts.is_some() || is_defined()
}

/// In C++: a query that the operators and functions of a variable's class may make.
fn class_query(symbols: &Symbols<'_>, calls: &Calls<'_>, used: &Use) -> Option<Reason> {
    let found = symbols.lookup(&used.name, used.span.start);
    if used.name == "this" || found.is_none() {
        let message = || assumed(used.span, "a function of the object".to_owned());
        return (used.role == Role::MethodCall).then(message);
    }
    let found = found.filter(|found| found.kind == NameKind::Variable && found.ty != DeclaredType::Auto)?;
    class_reason(symbols, calls, &found.ty, &used.name, used.span)
}

/// A query that the functions of a class may make, for a name's type.
fn class_reason(symbols: &Symbols<'_>, calls: &Calls<'_>, ty: &DeclaredType, name: &str, span: Span) -> Option<Reason> {
    if !ty.is_known() {
        return Some(assumed(span, format!("a function of the class of `{name}`")));
    }
    let class = ty.class().filter(|class| !is_standard_class(symbols, class, span))?;
    let effects = calls.class_effects(symbols, class, Place { header: None, span });
    if effects.openmp.is_some() {
        let message = format!("a function of the class of `{name}` reaches an OpenMP construct or query");
        return Some(Reason::new(ReasonCode::TeamDependent, span, message));
    }
    (!effects.known).then(|| assumed(span, format!("a function of the class of `{name}`")))
}

/// A class of the standard library, of numbers if it is a template: it makes no query.
fn is_standard_class(symbols: &Symbols<'_>, class: &DeclaredType, span: Span) -> bool {
    let DeclaredType::Record { name, .. } = class else { return false };
    let Some(rest) = name.strip_prefix("std::") else { return false };
    let is_number = |word: &str| symbols.type_written(None, word, span.start).number().is_some();
    let arguments = rest.split_once('<').map_or("", |(_, arguments)| arguments);
    let mut named = words(arguments);
    named.all(|word| {
        matches!(word, "const" | "std") || is_number(word) || word.starts_with(|c: char| c.is_ascii_digit())
    })
}

fn team_query(symbols: &Symbols<'_>, calls: &Calls<'_>, used: &Use) -> Option<Reason> {
    // A conversion to a template parameter calls functions of that parameter's class.
    if symbols.lookup(&used.name, used.span.start).is_some_and(|found| found.kind == NameKind::TemplateParameter) {
        return None;
    }
    let effects = calls.effects(symbols, &used.name, used.span.start);
    if effects.openmp.is_some() {
        let message = format!("`{}` reaches an OpenMP construct or query", used.name);
        return Some(Reason::new(ReasonCode::TeamDependent, used.span, message));
    }
    let (name, _) = effects.unknown_callee?;
    Some(assumed(used.span, format!("`{name}`")))
}

/// The assumption that something does not depend on the team.
fn assumed(span: Span, what: String) -> Reason {
    let mut reason = Reason::new(ReasonCode::NoTeamQuery, span, format!("{what} does not ask for its team"));
    reason.certainty = Certainty::Assumed;
    reason
}
