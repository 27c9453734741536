//! What a grid gains for the whole construct, its launch included.

use super::grid::{Chosen, GeometryFigures, clauses, figures_on};
use super::retune::number;
use crate::analysis::associated_loops::{known_iterations, loops_of};
use crate::analysis::body_work::body_work;
use crate::analysis::cost::launched;
use crate::context::Context;
use crate::device::DeviceProfile;
use crate::device::launch::{Launch, MOST_BLOCKS, WrittenGrid, llvm_launch};
use crate::device::time::{EMPTY_KERNEL, GAIN, LAUNCH, gains};
use crate::plan::figures::{self, time};
use crate::region::target::TargetRegion;
use crate::syntax::ClauseName;

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

/// The predicted times of a kernel, in microseconds without its launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gain {
    before: f64,
    after: f64,
}

impl Gain {
    /// Is the construct predicted to be 1.05 times as fast?
    pub(super) fn pays(self) -> bool {
        gains(self.before, self.after)
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
        let iterations = (known.unwrap_or(u64::from(cx.assumed_iterations)), known.is_some());
        Some(Self { device, figures: figures_on(cx, region, device), operations, iterations })
    }

    /// Microseconds of a launch. Where calls and idle loops may take the time, what the text shows of them counts as well.
    fn time(&self, launch: impl Fn(u64) -> Launch) -> f64 {
        let (iterations, _) = self.iterations;
        let shown = EMPTY_KERNEL + launched(self.operations, iterations, launch(iterations));
        match &self.figures {
            None => shown,
            Some(figures) => {
                let figures = figures.with_iterations(iterations);
                let time = figures.time(launch(iterations));
                if figures.shape.heavy { time.max(shown) } else { time }
            }
        }
    }

    /// What another grid gains over a written one.
    pub(super) fn gain(&self, written: WrittenGrid, offered: impl Fn(u64) -> Launch) -> Gain {
        Gain { before: self.time(|iterations| llvm_launch(iterations, written)), after: self.time(offered) }
    }

    /// The times of the construct before and after, and for which number of iterations they are predicted.
    pub(super) fn words(&self, gain: Gain) -> String {
        let (iterations, is_known) = self.iterations;
        let iterations = figures::grouped(&iterations.to_string());
        let lengths = if is_known {
            format!(", for {iterations} iterations")
        } else {
            format!(" (assumes {iterations} iterations)")
        };
        format!("{} instead of {} with the launch{lengths}", time(LAUNCH + gain.after), time(LAUNCH + gain.before))
    }

    /// Why no grid is written if it gains this much.
    pub(super) fn too_little(&self, gain: Gain, threads: u32) -> String {
        let plural = if threads == 1 { "thread" } else { "threads" };
        format!(
            "no grid is predicted to be {GAIN} times as fast by the model of {}: with {threads} {plural} in each team {}",
            self.device.name,
            self.words(gain)
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
