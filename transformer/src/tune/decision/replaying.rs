//! Has the grids of kernels tried within one run each.

use std::time::Duration;

use crate::tune::replay::{Replayed, open_form, orders};
use crate::tune::runner::Runner;
use crate::tune::search::Bench as _;
use crate::tune::task::{Build, ClockKind, TunedLoop};

/// All launches of a kernel in all grids may take so long, or twice as long as the program if that is more.
const REPLAY_TIME: Duration = Duration::from_secs(5);

/// Runs builds whose grids are chosen at their launches.
pub(super) struct Replayer<'a> {
    /// The kernels.
    pub loops: &'a [TunedLoop],
    /// These builds.
    pub builds: &'a [Build],
}

impl Replayer<'_> {
    /// Runs those that hold kernels of which nothing is known yet, once each.
    pub fn run(&self, runner: &mut Runner<'_>, into: &mut Replayed) -> Result<(), String> {
        if runner.kind == ClockKind::Wall {
            into.refused.extend(self.loops.iter().map(|one| (one.line, "no kernel was seen".to_owned())));
            return Ok(());
        }
        let missing: Vec<bool> = (0..self.loops.len()).map(|kernel| !into.has(kernel)).collect();
        let budget = REPLAY_TIME.max(runner.usual() * 2);
        into.refused.clear();
        into.refuse_closed(self.loops);
        for (at, build) in self.builds.iter().enumerate() {
            let is_wanted = |kernel: usize| missing.get(kernel) == Some(&true) && open_form(build, kernel).is_some();
            let kernels: Vec<usize> = (0..self.loops.len()).filter(|kernel| is_wanted(*kernel)).collect();
            if kernels.is_empty() || runner.is_over() {
                continue;
            }
            (runner.watch)(&format!("trying all grids in one run, of form {} of {}", at + 1, self.builds.len()));
            into.runs += 1;
            let launches = u32::try_from(build.tuned.iter().map(Vec::len).sum::<usize>()).unwrap_or(u32::MAX);
            let orders = orders(self.loops, build, budget);
            match runner.replay(build, &orders, budget.saturating_mul(launches))? {
                Ok(times) => into.add(self.loops, build, &times),
                Err(why) => {
                    let lines = kernels.iter().filter_map(|kernel| self.loops.get(*kernel)).map(|one| one.line);
                    lines.for_each(|line| into.refuse(line, &why));
                }
            }
        }
        Ok(())
    }
}
