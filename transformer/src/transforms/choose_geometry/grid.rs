//! A loop's grid on the device that is given.

mod bounds;

use std::fmt::Write as _;

use self::bounds::{Expressions, LARGEST_PRODUCT};
use crate::analysis::accesses::{Accesses, accesses};
use crate::analysis::associated_loops::associated_loops;
use crate::analysis::kernel_shape::{is_followed, kernel_shape, walks_along_rows_of_data};
use crate::analysis::transactions::{Transactions, transactions};
use crate::context::Context;
use crate::device::choice::{LENGTHS as DECADES, plain_launch};
use crate::device::launch::{Launch, WrittenGrid, llvm_launch};
use crate::device::time::{GAIN, LAUNCH, gains, predict};
use crate::device::{Choice, CountedKernel, DeviceProfile, GridClass, KernelResources, KernelShape, choose, reduction};
use crate::plan::figures::{self, time};
use crate::plan::instructions::{Grid, Teams};
use crate::region::construct::ConstructId;
use crate::region::target::TargetRegion;
use crate::semantics::Program;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Clause, ClauseName};
use crate::transforms::TEAM_THREADS;

/// Assumed resources of a kernel. The kernels of `bench/geometry` have 19 to 32 registers (`h200-ncu.csv`); with up to
/// 64 an SM holds 32 blocks of a warp, so the assumption matters little. With `--resources clang` they are counted
/// instead.
const ESTIMATE: KernelResources = KernelResources { registers: 32, shared_memory: 0 };
/// The facts about a loop that is a kernel of its own.
#[derive(Clone, Debug)]
pub(super) struct GeometryFigures {
    /// The device.
    pub device: DeviceProfile,
    /// What an iteration does.
    pub shape: KernelShape,
    /// The sectors that a warp loads and stores in one iteration.
    pub transactions: Transactions,
    /// The iterations.
    pub iterations: u64,
    /// Does their number follow from the text?
    pub is_known: bool,
    /// The iterations of each associated loop.
    trips: Vec<Option<u64>>,
    /// Does it combine values of all iterations?
    reduces: bool,
    /// What a compiler counted. `None` if it was not asked.
    pub counted: Option<CountedKernel>,
    /// The chosen grid, if there is one.
    pub choice: Option<Choice>,
}

impl GeometryFigures {
    /// The launches without clauses, with `thread_limit(128)`, and with the chosen grid, each with its name.
    pub(super) fn launches(&self) -> Vec<(&'static str, Launch)> {
        let mut launches = vec![
            ("without clauses", llvm_launch(self.iterations, WrittenGrid::default())),
            ("with thread_limit(128) alone", plain_launch(self.iterations)),
        ];
        launches.extend(self.choice.map(|choice| ("chosen", choice.launch(self.iterations))));
        launches
    }

    /// The same loop with this many iterations.
    pub(super) fn with_iterations(&self, iterations: u64) -> Self {
        Self { iterations, ..self.clone() }
    }

    /// The resources of the kernel: counted, or assumed.
    pub(super) fn resources(&self) -> KernelResources {
        self.counted.map_or(ESTIMATE, CountedKernel::wanted)
    }

    /// Predicted microseconds of a launch.
    pub(super) fn time(&self, launch: Launch) -> f64 {
        let time = if self.reduces { reduction::predict } else { predict };
        time(&self.device, self.resources(), &self.shape, self.iterations, launch)
    }

    /// The length for which one launch gains the most over another, with the times of both.
    fn greatest_gain(&self, launches: impl Fn(&Self) -> [Launch; 2]) -> (u64, [f64; 2]) {
        let lengths: &[u64] = if self.is_known { &[self.iterations] } else { &DECADES };
        let times = lengths.iter().map(|iterations| {
            let figures = self.with_iterations(*iterations);
            (*iterations, launches(&figures).map(|launch| figures.time(launch)))
        });
        let gain = |[before, after]: [f64; 2]| (LAUNCH + before) / (LAUNCH + after);
        let greatest = times.max_by(|(_, one), (_, other)| gain(*one).total_cmp(&gain(*other)));
        greatest.unwrap_or((self.iterations, [0.0; 2]))
    }

    /// The reason if `thread_limit(128)` is predicted to gain nothing for any length. There is no prediction for calls
    /// and serial loops without accesses.
    pub(super) fn limit_gains_nothing(&self) -> Option<String> {
        let limited = |figures: &Self| {
            [llvm_launch(figures.iterations, WrittenGrid::default()), plain_launch(figures.iterations)]
        };
        let (iterations, [before, after]) = self.greatest_gain(limited);
        let at_most = if self.is_known { "" } else { " at the most" };
        (!self.shape.heavy && !gains(before, after)).then(|| {
            format!(
                "no grid is predicted to be {GAIN} times as fast by the model of {}: with 128 threads in each team {} instead of {}{at_most} with \
                 the launch, for {} iterations",
                self.device.name,
                time(LAUNCH + after),
                time(LAUNCH + before),
                figures::grouped(&iterations.to_string()),
            )
        })
    }
}

/// A grid to be written.
pub(super) struct Chosen {
    /// The clauses. A clause for a device has a comment behind it.
    pub clauses: Vec<String>,
    /// How many threads a team gets at most.
    pub threads: u32,
    /// One line about it.
    pub summary: String,
    /// The number of teams, if it is chosen too.
    choice: Option<Choice>,
}

impl Chosen {
    /// The grid for every device.
    pub(super) fn for_every_device() -> Self {
        Self {
            clauses: vec![format!("thread_limit({TEAM_THREADS})")],
            threads: TEAM_THREADS,
            summary: format!("{TEAM_THREADS} threads in each team, so that every team gets work"),
            choice: None,
        }
    }

    /// Teams of one warp, for a number of iterations that fills no larger ones on all multiprocessors of a device.
    pub(super) fn for_few(device: &DeviceProfile, iterations: u64) -> Self {
        let DeviceProfile { name, warp_size: threads, sm_count, .. } = device;
        let teams = iterations.div_ceil(u64::from(*threads));
        let whole = iterations.div_ceil(u64::from(TEAM_THREADS));
        Self {
            clauses: vec![format!("thread_limit({threads}) /* {name} */")],
            threads: *threads,
            summary: format!(
                "{threads} threads in each team for {name}: {teams} teams for its {sm_count} multiprocessors instead of {whole}"
            ),
            choice: None,
        }
    }

    /// The launch for this many iterations.
    pub(super) fn launch(&self, iterations: u64) -> Launch {
        self.launch_with(None, iterations)
    }

    /// The launch for this many iterations, where a clause of the user says how many teams there are.
    pub(super) fn launch_with(&self, num_teams: Option<u64>, iterations: u64) -> Launch {
        let written = WrittenGrid { num_teams, thread_limit: Some(self.threads) };
        self.choice.map_or_else(|| llvm_launch(iterations, written), |choice| choice.launch(iterations))
    }
}

/// The facts about a loop. `None` if no device is given, or if the loop is not understood.
pub(super) fn figures(cx: &Context<'_>, region: &TargetRegion) -> Option<GeometryFigures> {
    figures_on(cx, region, cx.device?)
}

/// The facts about a loop on a device. `None` if the loop is not understood.
pub(super) fn figures_on(cx: &Context<'_>, region: &TargetRegion, device: &DeviceProfile) -> Option<GeometryFigures> {
    let symbols = cx.symbols();
    let (loops, promised) = associated_loops(cx, region)?;
    if clauses(cx, region).any(|clause| clause.name == ClauseName::Schedule) {
        return None;
    }
    let reduces = clauses(cx, region).any(|clause| clause.name == ClauseName::Reduction);
    let found = accesses(cx.file, cx.tree, symbols, &loops, promised, &[]);
    let shape = kernel_shape(cx.tree, loops.last()?.body, &found, promised)?;
    let trips = trips(&found, promised);
    let known = product(&trips);
    let iterations = known.unwrap_or(u64::from(cx.assumed_iterations));
    let transactions = transactions(&found, promised);
    let line = cx.file.lines.line_column(region.extent.start).line;
    let counted = cx.counted.get(&line).copied();
    let choose = if reduces { reduction::choose } else { choose };
    let mut choice = choose(device, counted.map_or(ESTIMATE, CountedKernel::wanted), &shape, known);
    // A `teams` directive of its own has no place for clauses of `distribute`.
    let has = |id: &ConstructId, leaf: Leaf| cx.constructs.construct(*id).leaves.contains(&leaf);
    if !region.chain.constructs.iter().any(|id| has(id, Leaf::Teams) && has(id, Leaf::Distribute)) {
        choice = choice.map(|choice| Choice { sharing_blocks: None, ..choice });
    }
    Some(GeometryFigures {
        device: device.clone(),
        shape,
        transactions,
        iterations,
        is_known: known.is_some(),
        reduces,
        trips,
        counted,
        choice,
    })
}

/// The sectors that a warp loads and stores in one iteration of a loop of which no more is known, since addresses hang on data: each of these
/// counts as if all threads went to sectors of their own. `None` without a device, or if accesses are not in sight.
pub(super) fn sectors_at_most(cx: &Context<'_>, region: &TargetRegion) -> Option<(DeviceProfile, Transactions)> {
    let (loops, promised) = associated_loops(cx, region)?;
    if clauses(cx, region).any(|clause| clause.name == ClauseName::Schedule) {
        return None;
    }
    let found = accesses(cx.file, cx.tree, cx.symbols(), &loops, promised, &[]);
    let moves = is_followed(cx.tree, loops.last()?.body, &found) && !found.accesses.is_empty();
    moves.then_some((cx.device?.clone(), transactions(&found, promised)))
}

/// With fewer iterations small teams gain nothing where threads walk along rows that data tell.
const MANY_ROWS: u64 = 400_000;
/// More teams than these gain nothing.
const MOST_TEAMS: u64 = 1 << 16;

/// The grid of a loop whose threads walk along rows that data tell, if it has many iterations, or nobody knows how many: teams of one warp, since each thread keeps a line
/// of the cache for its row, and one row for each thread, since rows may differ much in length (`bench/results/rows_of_data`). `None` where that was not measured.
pub(super) fn for_rows_of_data(cx: &Context<'_>, region: &TargetRegion) -> Option<Chosen> {
    let device = cx.device.filter(|device| device.uncoalesced_threads_per_block.is_some())?;
    let (loops, promised) = associated_loops(cx, region)?;
    let decides =
        |clause: &Clause| matches!(clause.name, ClauseName::Reduction | ClauseName::Schedule | ClauseName::NumTeams);
    if promised != 1 || clauses(cx, region).any(decides) {
        return None;
    }
    let found = accesses(cx.file, cx.tree, cx.symbols(), &loops, promised, &[]);
    if !walks_along_rows_of_data(cx.tree, loops.last()?.body, &found, promised) {
        return None;
    }
    let DeviceProfile { name, warp_size: threads, .. } = device;
    let choice = Choice::of(GridClass::RowsOfData, *threads, MOST_TEAMS);
    let trips = trips(&found, promised);
    let teams = match product(&trips) {
        Some(known) if known < MANY_ROWS => return None,
        Some(known) => choice.grid(known).num_teams.to_string(),
        None => bounds::expressions(cx, region, &trips, choice)?.teams,
    };
    Some(Chosen {
        clauses: vec![format!("num_teams({teams}) thread_limit({threads}) /* {name} */")],
        threads: *threads,
        summary: format!("{threads} threads in each team for {name}: {}", choice.class.words()),
        choice: Some(choice),
    })
}

/// The iterations of the first loops.
fn trips(found: &Accesses, promised: usize) -> Vec<Option<u64>> {
    found.loops.iter().take(promised).map(|l| l.trips.and_then(|trips| u64::try_from(trips).ok())).collect()
}

fn product(trips: &[Option<u64>]) -> Option<u64> {
    trips.iter().try_fold(1, |product: u64, trips| product.checked_mul((*trips)?))
}

/// The clauses of a loop's constructs.
pub(super) fn clauses<'a>(cx: &'a Program<'_>, region: &'a TargetRegion) -> impl Iterator<Item = &'a Clause> {
    region.chain.constructs.iter().flat_map(|id| &cx.constructs.directive(*id).clauses)
}

/// The grid that suits the device. `None` if nothing is known of the loop, no rule fits or no clause can say it.
pub(super) fn chosen(cx: &Program<'_>, region: &TargetRegion, figures: Option<&GeometryFigures>) -> Option<Chosen> {
    let figures = figures?;
    let choice = figures.choice?;
    let Choice { threads, class, .. } = choice;
    let name = &figures.device.name;
    let expressions = expressions(cx, region, figures, choice);
    let has_teams = expressions.is_some();
    let mut clauses = match expressions {
        Some(Expressions { teams, chunk }) => {
            let mut clauses = vec![format!("num_teams({teams}) thread_limit({threads})")];
            clauses.extend(chunk.map(|chunk| format!("dist_schedule(static, {chunk})")));
            clauses
        }
        // A number of teams that suits long loops is expensive for short ones, since the host takes longer to launch
        // thousands of blocks. The runtime's own number is good enough if it is at most the chosen number.
        None if is_runtimes_choice_near(figures, choice) => vec![format!("thread_limit({threads})")],
        None => return None,
    };
    if let Some(last) = clauses.last_mut() {
        let _infallible = write!(last, " /* {name} */");
    }
    let plural = if threads == 1 { "thread" } else { "threads" };
    let summary = format!("{threads} {plural} in each team for {name}: {}", class.words());
    Some(Chosen { clauses, threads, summary, choice: has_teams.then_some(choice) })
}

/// The clauses of a grid that is told. A number of teams that hangs on the iterations is an expression of the loops' bounds, or where
/// these are no simple expressions the greatest number itself: teams without work only cost time. `None` if the grid is open, and nothing
/// tells how many iterations there are.
pub(super) fn told(cx: &Context<'_>, region: &TargetRegion, told: Grid) -> Option<Vec<String>> {
    let Grid { threads, teams } = told;
    match teams {
        Teams::Runtime => Some(vec![format!("thread_limit({threads})")]),
        Teams::AtMost(most) => {
            let teams = told_teams(cx, region, threads, most).unwrap_or_else(|| most.max(1).to_string());
            Some(vec![format!("num_teams({teams})"), format!("thread_limit({threads})")])
        }
        Teams::Open => {
            let teams = told_teams(cx, region, 1, LARGEST_PRODUCT)?;
            // A constant would be compiled into the kernel as the iterations that a team takes at once, and as the most threads.
            let limit = format!("thread_limit(__builtin_frame_address(0) ? {threads} : 1)");
            Some(vec![format!("num_teams({teams})"), limit])
        }
    }
}

/// As many teams of so many threads as there are iterations for, as an expression; `None` if the bounds are no simple ones.
fn told_teams(cx: &Context<'_>, region: &TargetRegion, threads: u32, most: u64) -> Option<String> {
    let figures = match cx.device {
        Some(device) => figures_on(cx, region, device),
        None => DeviceProfile::stand_in().and_then(|device| figures_on(cx, region, device)),
    };
    let choice = Choice::of(GridClass::Serial, threads.max(1), most.max(1));
    Some(expressions(cx, region, &figures?, choice)?.teams)
}

/// Expressions for the number of teams and the iterations that each takes. `None` if the bounds are no simple
/// expressions.
fn expressions(
    cx: &Program<'_>,
    region: &TargetRegion,
    figures: &GeometryFigures,
    choice: Choice,
) -> Option<Expressions> {
    match figures.is_known {
        true => Some(Expressions { teams: choice.grid(figures.iterations).num_teams.to_string(), chunk: None }),
        false => bounds::expressions(cx, region, &figures.trips, choice),
    }
}

/// Does the runtime choose nearly as many teams without a clause? It starts one for each chunk of iterations, 3,200 at
/// most.
fn is_runtimes_choice_near(figures: &GeometryFigures, choice: Choice) -> bool {
    let is_row_loop = matches!(choice.class, GridClass::Serial | GridClass::Saturated) && figures.shape.loops == 1;
    let own = llvm_launch(1 << 26, WrittenGrid { num_teams: None, thread_limit: Some(choice.threads) });
    is_row_loop && choice.most_blocks >= own.grid.num_teams
}
