//! Runs builds, holds their results against the original's and reads the clock.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::Watch;
use super::clock::{Clock, Times};
use super::lane::{Ended, Executor, Lane};
use super::search::{Bench, Job, Ran, Sample};
use super::task::{Build, ClockKind, Task};
use crate::validate::host::{Run, last_words};

/// A candidate that takes so many times as long as the original is not waited for.
const PATIENCE: u32 = 10;
/// But so long it is.
const LEAST_LIMIT: Duration = Duration::from_secs(2);

const NO_REFERENCE: &str = "the original was not run at this size";
const NO_TIMES: &str = "the device's clock told nothing";

/// What the original printed, how long it took, which clock saw its kernels, and what that told.
type Reference = (Run, Duration, ClockKind, Option<Times>);

/// Runs the builds of one source.
pub struct Runner<'a> {
    /// How it is run.
    pub task: &'a Task,
    /// Where it is run; what is not run together with others runs in the first one.
    pub lanes: &'a [Lane<'a>],
    /// All builds; the first is the original.
    pub builds: Vec<Build>,
    /// The device's clock, if there is one.
    pub clock: Option<&'a Clock>,
    /// Which clock counts.
    pub kind: ClockKind,
    /// The size of the problem.
    pub size: Option<u64>,
    /// When the time is over.
    pub deadline: Instant,
    /// What is told of each step.
    pub watch: &'a Watch<'a>,
    /// Builds whose results differ from the original's.
    pub differing: BTreeMap<usize, String>,
    /// What the original printed at each size, how long it took, which clock saw its kernels, and their times.
    references: BTreeMap<Option<u64>, Reference>,
}

impl<'a> Runner<'a> {
    /// A runner of builds.
    #[must_use]
    pub fn new(
        task: &'a Task,
        lanes: &'a [Lane<'a>],
        builds: Vec<Build>,
        clock: Option<&'a Clock>,
        watch: &'a Watch<'a>,
    ) -> Self {
        let (differing, references) = Default::default();
        let deadline = Instant::now().checked_add(task.budget).unwrap_or_else(Instant::now);
        let kind = ClockKind::Wall;
        Self { task, lanes, builds, clock, kind, size: None, deadline, watch, differing, references }
    }

    /// Runs the original at a size, unless that was done before, so that it is known what it prints and how long it takes; says whether the
    /// device's clock saw its kernels. The first time it runs twice.
    ///
    /// # Errors
    /// When it does not run as expected, or gives other results each time.
    pub fn begin(&mut self, size: Option<u64>) -> Result<ClockKind, String> {
        self.size = size;
        if let Some((_, _, kind, _)) = self.references.get(&size) {
            return Ok(*kind);
        }
        let command = self.task.command(size, 0);
        let Some(original) = self.builds.first() else { return Err("there is no build".to_owned()) };
        let (first, mut took, mut times) = self.first(original, self.task.timeout, None)?;
        let expected = format!("exit {}", self.task.exit);
        if first.end != expected {
            return Err(format!("`{command}` ends with {} instead of {expected}{}", first.end, last_words(&first)));
        }
        if self.references.is_empty() {
            let (again, took_again, times_again) = self.first(original, self.task.timeout, None)?;
            if let Some(difference) = self.difference(&first, &again) {
                return Err(format!(
                    "the program as it stands gives other results when it runs again: {difference}; name what may differ in [verify] \
                     (ignore, tolerance)"
                ));
            }
            // What only the first run does, such as waking the device, is no part of the usual.
            (took, times) = (took.min(took_again), times_again);
        }
        let is_seen = |times: &Times| times.at(original.id, &original.lines).iter().any(Option::is_some);
        let kind = if times.as_ref().is_some_and(is_seen) { ClockKind::Device } else { ClockKind::Wall };
        self.references.insert(size, (first, took, kind, times));
        Ok(kind)
    }

    /// How long the original takes at this size.
    #[must_use]
    pub fn usual(&self) -> Duration {
        self.references.get(&self.size).map(|(_, took, ..)| *took).unwrap_or_default()
    }

    /// What the original took in the run that began this size.
    #[must_use]
    pub fn first_sample(&self) -> Option<Sample> {
        let (_, took, _, times) = self.references.get(&self.size)?;
        self.sample(self.builds.first()?, 0, *took, times.as_ref())
    }

    /// Runs a build once, in which kernels are launched in other grids too, as `orders` say; `extra` is the time for that. Gives what the clock
    /// told, or why the run counts for nothing.
    ///
    /// # Errors
    /// When nothing can be run.
    pub fn replay(&self, build: &Build, orders: &str, extra: Duration) -> Result<Result<Times, String>, String> {
        let Some((reference, usual, ..)) = self.references.get(&self.size) else { return Err(NO_REFERENCE.to_owned()) };
        let limit = self.task.timeout.min((*usual * PATIENCE).max(LEAST_LIMIT) + extra);
        let (run, _, times) = self.first(build, limit, Some(orders))?;
        if let Some(difference) = self.difference(reference, &run) {
            return Ok(Err(difference));
        }
        Ok(times.ok_or_else(|| NO_TIMES.to_owned()))
    }

    fn executor(&self) -> Executor<'a> {
        Executor { task: self.task, clock: self.clock, size: self.size }
    }

    /// Runs a build once, in the first lane.
    fn first(&self, build: &Build, limit: Duration, replay: Option<&str>) -> Result<Ended, String> {
        let Some(lane) = self.lanes.first() else { return Err("there is no place to run in".to_owned()) };
        self.executor().execute(lane, build, limit, replay)
    }

    fn difference(&self, expected: &Run, got: &Run) -> Option<String> {
        match &self.task.comparison {
            Some(comparison) => comparison.difference(expected, got),
            None if expected.end != got.end => Some(format!("it ends with {}{}", got.end, last_words(got))),
            None => None,
        }
    }

    /// What came of a run.
    fn judged(&mut self, build: usize, lane: usize, (run, took, times): Ended, reference: &Run) -> Ran {
        if run.end != reference.end && !run.end.starts_with("exit") {
            return Ran::Failed(format!("{}{}", run.end, last_words(&run)));
        }
        if let Some(difference) = self.difference(reference, &run) {
            self.differing.insert(build, difference.clone());
            return Ran::Failed(difference);
        }
        let sample = self.builds.get(build).and_then(|own| self.sample(own, lane, took, times.as_ref()));
        sample.map_or_else(|| Ran::Failed(NO_TIMES.to_owned()), Ran::Done)
    }

    fn sample(&self, build: &Build, lane: usize, took: Duration, times: Option<&Times>) -> Option<Sample> {
        let device = self.lanes.get(lane)?.device;
        if self.kind == ClockKind::Wall {
            let wall = took.as_secs_f64() * 1e6;
            return Some(Sample { kernels: None, all_kernels: wall, whole: wall, device });
        }
        let times = times?;
        let sum = |lines: &[usize]| times.at(build.id, lines).into_iter().flatten().sum::<f64>();
        let kernels = build.tuned.iter().map(|lines| sum(lines)).collect();
        let mut lines = build.lines.clone();
        lines.dedup();
        let all_kernels = sum(&lines);
        Some(Sample { kernels: Some(kernels), all_kernels, whole: all_kernels + times.copies, device })
    }
}

impl Bench for Runner<'_> {
    fn lanes(&self) -> usize {
        self.lanes.len()
    }

    fn run(&mut self, jobs: &[Job]) -> Result<Vec<(usize, Ran)>, String> {
        match jobs {
            [job] => (self.watch)(&format!("measuring: run {} of {} builds", job.build + 1, self.builds.len())),
            _ => (self.watch)(&format!("measuring: {} runs, {} at a time", jobs.len(), self.lanes.len())),
        }
        let Some((reference, usual, ..)) = self.references.get(&self.size).cloned() else {
            return Err(NO_REFERENCE.to_owned());
        };
        let limit = self.task.timeout.min((usual * PATIENCE).max(LEAST_LIMIT));
        let executor = self.executor();
        let ended = match jobs {
            [job] => {
                let number = job.lane.unwrap_or(0);
                let (Some(lane), Some(build)) = (self.lanes.get(number), self.builds.get(job.build)) else {
                    return Err("there is no such build".to_owned());
                };
                vec![Some((number, executor.execute(lane, build, limit, None)))]
            }
            _ => executor.together(self.lanes, &self.builds, jobs, limit, self.deadline),
        };
        let mut all = Vec::new();
        for (job, ended) in jobs.iter().zip(ended) {
            let Some((lane, ended)) = ended else { continue };
            let ran = self.judged(job.build, lane, ended?, &reference);
            all.push((job.build, ran));
        }
        Ok(all)
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }
}
