//! What a grid gains for the whole construct, its launch included.

use super::grid::{Chosen, GeometryFigures, clauses, figures_on};
use super::retune::number;
use crate::analysis::associated_loops::{known_iterations, loops_of};
use crate::analysis::body_work::body_work;
use crate::analysis::cost::launched;
use crate::context::Context;
use crate::device::DeviceProfile;
use crate::device::launch::{Launch, MOST_BLOCKS, WrittenGrid, llvm_launch};
use crate::device::time::{EMPTY_KERNEL, GAIN, LAUNCH, number as number_of};
use crate::plan;
use crate::plan::figures::{self, time};
use crate::region::target::TargetRegion;
use crate::syntax::ClauseName;

/// A grid that gains for one length may be predicted to be so fast for another.
const NO_SLOWER: f64 = 0.98;
/// A loop of unknown length may well have this many times the assumed length, or that many times more. LLVM's runtime starts teams of one warp for
/// the assumed length, and in longer loops as many teams as we would: what gains little at the assumed length alone is not worth an edit,
/// since programs for GPUs whose iterations do a few accesses each run millions of them.
const LONGER: u64 = 16;

/// A loop whose times in several grids are predicted.
pub(super) struct Predicted<'a> {
    device: &'a DeviceProfile,
    /// What is known of its accesses, if they are followed.
    figures: Option<GeometryFigures>,
    /// The operations of an iteration, as the text shows them.
    operations: f64,
    /// Its iterations, and whether they follow from the text.
    iterations: (u64, bool),
}

/// The predicted times of a kernel with a number of iterations, in microseconds without its launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    iterations: u64,
    before: f64,
    after: f64,
}

impl Times {
    /// How many times as fast the construct becomes, its launch included.
    fn factor(self) -> f64 {
        (LAUNCH + self.before) / (LAUNCH + self.after)
    }

    fn words(self) -> String {
        let Self { before, after, .. } = self;
        format!("{} instead of {}, launch included", time(LAUNCH + after), time(LAUNCH + before))
    }
}

/// What a grid gains over another one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Gain {
    /// In a loop whose length is known.
    Known(Times),
    /// In loops of several lengths, each [`LONGER`] times the one before; the first has the assumed one.
    Assumed([Times; 3]),
}

impl Gain {
    /// Is the construct predicted to be 1.05 times as fast, in the geometric mean of the lengths that are asked about, and no slower for any?
    pub(super) fn pays(&self) -> bool {
        let slowest = self.all().iter().map(|times| times.factor()).fold(f64::INFINITY, f64::min);
        self.mean() >= GAIN && slowest >= NO_SLOWER
    }

    /// How many times as fast the construct becomes, in the geometric mean of the lengths.
    fn mean(&self) -> f64 {
        let all = self.all();
        let logarithms = all.iter().map(|times| times.factor().ln());
        (logarithms.sum::<f64>() / number_of(all.len() as u64)).exp()
    }

    fn all(&self) -> &[Times] {
        match self {
            Self::Known(times) => std::slice::from_ref(times),
            Self::Assumed(all) => all,
        }
    }

    /// The times for the length that is known or assumed.
    fn times(&self) -> Times {
        match self {
            Self::Known(times) => *times,
            Self::Assumed([assumed, ..]) => *assumed,
        }
    }

    /// The times of the construct before and after.
    pub(super) fn of_construct(&self) -> plan::Times {
        let Times { before, after, .. } = self.times();
        plan::Times::rounded(LAUNCH + before, LAUNCH + after)
    }

    /// The times of the construct before and after in words, and for which number of iterations they are predicted.
    pub(super) fn words(&self) -> String {
        let times = self.times();
        let iterations = grouped(times.iterations);
        let lengths = match self {
            Self::Known(_) => format!(", for {iterations} iterations"),
            Self::Assumed([_, longer, longest]) => {
                let [usual, more] = [longer, longest].map(|times| faster(times.factor()));
                let (gain, times) = match longest.factor() > longer.factor() && usual != more {
                    true => (more, LONGER * LONGER),
                    false => (usual, LONGER),
                };
                format!(" (assumes {iterations} iterations; {gain} with {times} times as many)")
            }
        };
        format!("{}{lengths}", times.words())
    }

    /// The gain in the mean of the lengths in words, where there are several.
    fn mean_in_words(&self) -> String {
        match self {
            Self::Known(_) => String::new(),
            Self::Assumed([first, .., last]) => format!(
                ", {} in the mean of {} to {} iterations",
                faster(self.mean()),
                grouped(first.iterations),
                grouped(last.iterations)
            ),
        }
    }
}

fn grouped(count: u64) -> String {
    figures::grouped(&count.to_string())
}

/// How many times as fast something is, in words.
fn faster(factor: f64) -> String {
    match format!("{factor:.2}").as_str() {
        "1.00" => "no faster".to_owned(),
        factor => format!("{factor} times as fast"),
    }
}

impl<'a> Predicted<'a> {
    /// The prediction for the device that is given, or else for one that stands for all. `None` if there is none.
    pub(super) fn of(cx: &'a Context<'_>, region: &TargetRegion) -> Option<Self> {
        let device = match cx.device {
            Some(device) => device,
            None => DeviceProfile::stand_in()?,
        };
        let id = region.chain.innermost();
        let body = loops_of(cx, id).map(|nest| nest.body).or(cx.constructs.construct(id).body)?;
        let known = known_iterations(cx, id);
        let (operations, _) = body_work(cx, body);
        let figures = figures_on(cx, region, device);
        let assumed = figures.as_ref().map_or(u64::from(cx.assumed_iterations), |figures| figures.iterations);
        Some(Self { device, figures, operations, iterations: (known.unwrap_or(assumed), known.is_some()) })
    }

    /// The iterations that the text gives, or that are assumed.
    pub(super) fn iterations(&self) -> u64 {
        self.iterations.0
    }

    /// Microseconds of a launch. Where calls and idle loops may take the time, what the text shows of them counts as well.
    pub(super) fn time(&self, iterations: u64, launch: Launch) -> f64 {
        let shown = EMPTY_KERNEL + launched(self.operations, iterations, launch);
        match &self.figures {
            None => shown,
            Some(figures) => {
                let figures = figures.with_iterations(iterations);
                let time = figures.time(launch);
                if figures.shape.heavy { time.max(shown) } else { time }
            }
        }
    }

    /// What another grid gains over a written one.
    pub(super) fn gain(&self, written: WrittenGrid, offered: impl Fn(u64) -> Launch) -> Gain {
        let times = |iterations| Times {
            iterations,
            before: self.time(iterations, llvm_launch(iterations, written)),
            after: self.time(iterations, offered(iterations)),
        };
        match self.iterations {
            (iterations, true) => Gain::Known(times(iterations)),
            (assumed, false) => {
                let lengths = [assumed, assumed.saturating_mul(LONGER), assumed.saturating_mul(LONGER * LONGER)];
                Gain::Assumed(lengths.map(times))
            }
        }
    }

    /// Why no grid is written if it gains this much.
    pub(super) fn too_little(&self, gain: &Gain, threads: u32) -> String {
        let plural = if threads == 1 { "thread" } else { "threads" };
        format!(
            "no grid is predicted to be {GAIN} times as fast by the model of {}: with {threads} {plural} in each team {}{}",
            self.device.name,
            gain.words(),
            gain.mean_in_words()
        )
    }
}

/// The gain of a grid over the one that the compiler and its runtime choose.
pub(super) fn over_the_runtimes(
    cx: &Context<'_>,
    region: &TargetRegion,
    predicted: &Predicted<'_>,
    offered: &Chosen,
) -> Gain {
    let teams = clauses(cx, region).find(|clause| clause.name == ClauseName::NumTeams);
    // A number that is not known may be that which the runtime itself starts at most.
    let num_teams = teams.map(|clause| number(cx, clause).unwrap_or(MOST_BLOCKS));
    let written = WrittenGrid { num_teams, thread_limit: None };
    predicted.gain(written, |iterations| offered.launch_with(num_teams, iterations))
}
