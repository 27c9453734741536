//! Measures what was prepared, and decides.

mod building;
mod judge;
mod replaying;

use std::collections::BTreeSet;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use self::judge::Judge;
use self::replaying::Replayer;
use super::choices::{Choice, Plan};
use super::lane::Lane;
use super::replay::Replayed;
use super::runner::Runner;
use super::search::{Arms, CONFIRMING_ROUNDS, FINAL_ROUNDS, Measured, Present, halve, rounds};
use super::size::{Saturation, saturation};
use super::statistics::median;
use super::task::{Build, ClockKind, Task, TunedLoop, apart, plans};
use super::{Watch, clock::Clock};

/// Runs of the original at each size of a range.
const SIZE_RUNS: usize = 2;
/// Rounds of an exhaustive search.
const EXHAUSTIVE_ROUNDS: usize = 5;

/// Builds a plan that nobody built before.
pub type Compose<'a> = dyn Fn(&Plan) -> Result<Build, String> + 'a;

/// What is measured.
pub struct Stage<'a> {
    /// How it is run.
    pub task: &'a Task,
    /// Where it is run.
    pub lanes: &'a [Lane<'a>],
    /// The kernels and their choices.
    pub loops: &'a [TunedLoop],
    /// The builds; the first is the original.
    pub builds: Vec<Build>,
    /// Builds whose grids are chosen at their launches.
    pub replays: Vec<Build>,
    /// The device's clock, if there is one.
    pub clock: Option<&'a Clock>,
    /// Does the original tell of its own kernels?
    pub is_plain: bool,
    /// Builds what was not built before; `None` where nothing can be built.
    pub compose: Option<&'a Compose<'a>>,
    /// What is told of each step.
    pub watch: &'a Watch<'a>,
}

/// One candidate of a kernel as it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// What was chosen.
    pub choice: Choice,
    /// The same in words.
    pub words: String,
    /// Predicted microseconds, if there is a prediction.
    pub predicted_us: Option<f64>,
    /// The median of its times at the size that is tuned for, in microseconds.
    pub median_us: Option<f64>,
    /// The same at the size that was searched at.
    pub searched_us: Option<f64>,
}

/// What was found for a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The line of its directive in the text that the passes make.
    pub line: usize,
    /// How many candidates are legal and differ.
    pub candidates: usize,
    /// The present form, in microseconds.
    pub present_us: Option<f64>,
    /// What the passes choose, in microseconds.
    pub passes_us: Option<f64>,
    /// The best candidate that is significantly faster than the present form; `None` where there is none.
    pub best: Option<Timed>,
    /// All that were measured.
    pub measured: Vec<Timed>,
}

/// What came of it all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The plan that is fastest, or the original.
    pub plan: Plan,
    /// How many times as fast the source's kernels are, or the whole program by its wall clock.
    pub ratio: f64,
    /// How far two measurements of the present form lie apart, as a part of it.
    pub noise: f64,
    /// Which clock counted.
    pub clock: ClockKind,
    /// Was the whole text that was chosen run, with all its choices together?
    pub is_confirmed: bool,
    /// The kernels.
    pub rows: Vec<Row>,
    /// Where the device is saturated, if sizes were tried.
    pub saturation: Option<Saturation>,
    /// The runs, those at the sizes not counted.
    pub runs: usize,
    /// What launches in many grids told within one run each; `None` where there were none.
    #[serde(default)]
    pub replayed: Option<Replayed>,
    /// How long measuring took, in seconds.
    pub seconds: f64,
    /// Was the time used up before the end?
    pub is_cut: bool,
    /// Plans that were dropped, each with the reason.
    pub dropped: Vec<(Plan, String)>,
    /// Plans whose results differ although they promise not to: faults of this tool.
    pub faults: Vec<(Plan, String)>,
}

/// Measures, and decides.
///
/// # Errors
/// When the original does not run as it should.
pub fn decide(stage: Stage<'_>) -> Result<Outcome, String> {
    let started = Instant::now();
    let Stage { task, lanes, loops, mut builds, replays, clock, is_plain, compose, watch } = stage;
    let twin = builds.len();
    builds.extend(builds.first().cloned());
    let mut runner = Runner::new(task, lanes, builds, clock, watch);
    let target = task.size.as_ref().map(|range| range.high);
    let replayer = Replayer { loops, builds: &replays };
    let mut replayed = Replayed::none(loops.len());
    if task.replays && !task.is_exhaustive && !replays.is_empty() {
        runner.kind = runner.begin(target)?;
        replayer.run(&mut runner, &mut replayed)?;
    } else if task.replays && !task.is_exhaustive {
        replayed.refuse_closed(loops);
    }
    let mut saturation = None;
    if !replayed.is_whole() {
        saturation = saturated(&mut runner)?;
        let found = saturation.as_ref().map(|found: &Saturation| found.size);
        let searched = found.filter(|_| !task.is_exhaustive).or(target);
        runner.kind = runner.begin(searched)?;
        if searched != target {
            replayer.run(&mut runner, &mut replayed)?;
        }
    }
    let present = Present { build: 0, twin };
    let judge = Judge::new(loops, &runner, present, is_plain);
    let (search, end, dropped) = (Measured::beside(present), Measured::beside(present), Told::new());
    let mut decision = Decision { runner, judge, compose, end, search, replayed, dropped };
    let last = decision.search(target)?;
    let (wanted, chosen) = decision.composed()?;
    let best = decision.judge.best(&decision.end, chosen, &last);
    // What could not be built is not run either, and stands by what its parts gain.
    let is_confirmed = chosen.is_some() || compose.is_some();
    let (plan, ratio) = match decision.runner.builds.get(best) {
        Some(build) if is_confirmed => (build.plan.clone(), decision.judge.ratio(&decision.end, best)),
        _ => (wanted, decision.judge.expected_ratio(&decision.end)),
    };
    let (dropped, faults) = decision.failures();
    let Decision { runner, judge, search, end, replayed, .. } = decision;
    // By the clock of the whole program there is nothing to be said of launches.
    let is_told = !replays.is_empty() || (runner.kind == ClockKind::Device && !replayed.refused.is_empty());
    Ok(Outcome {
        plan,
        ratio,
        noise: judge.noise(&end),
        clock: runner.kind,
        is_confirmed,
        rows: judge.rows(&search, &end, &replayed),
        saturation,
        runs: replayed.runs + search.runs + if task.is_exhaustive { 0 } else { end.runs },
        replayed: (is_told && !task.is_exhaustive).then_some(replayed),
        seconds: started.elapsed().as_secs_f64(),
        is_cut: search.is_cut || end.is_cut,
        dropped,
        faults,
    })
}

/// Where the device is saturated, by the original at each size.
fn saturated(runner: &mut Runner<'_>) -> Result<Option<Saturation>, String> {
    let Some(range) = runner.task.size.clone().filter(|_| !runner.task.is_exhaustive) else { return Ok(None) };
    let mut times = Vec::new();
    for size in range.sizes() {
        (runner.watch)(&format!("running the program at {} = {size}", range.name));
        runner.kind = runner.begin(Some(size))?;
        let mut measured = Measured::default();
        rounds(runner, &[0], SIZE_RUNS, &mut measured)?;
        let own = measured.values(0, |sample| sample.all_kernels);
        times.extend(median(&own).map(|time| (size, time)));
    }
    Ok(saturation(&times, range.exponent))
}

/// A search that is under way.
struct Decision<'a> {
    runner: Runner<'a>,
    judge: Judge<'a>,
    compose: Option<&'a Compose<'a>>,
    /// What was measured to find the last candidates.
    search: Measured,
    /// What was measured of those.
    end: Measured,
    /// What was measured of grids within one run.
    replayed: Replayed,
    /// Plans that could not be built.
    dropped: Told,
}

impl Decision<'_> {
    /// Measures until a few candidates are left, and these in more rounds at the size that is tuned for; gives their builds.
    fn search(&mut self, target: Option<u64>) -> Result<Vec<usize>, String> {
        let wanted = self.runner.task.rounds;
        if self.runner.task.is_exhaustive {
            let all: Vec<usize> = (0..self.runner.builds.len()).collect();
            self.set_apart(&all)?;
            let all: Vec<usize> = (0..self.runner.builds.len()).collect();
            let Self { runner, search, end, .. } = self;
            rounds(runner, &all, wanted.unwrap_or(EXHAUSTIVE_ROUNDS), search)?;
            end.clone_from(search);
            return Ok(all);
        }
        let mut last = self.judge.protected();
        let is_replayed = self.replayed.is_whole();
        let found = if is_replayed { Vec::new() } else { self.halve()? };
        let mut others = self.finalists();
        others.extend(self.set_apart(&others)?);
        for build in found.into_iter().chain(others) {
            if !last.contains(&build) {
                last.push(build);
            }
        }
        self.runner.kind = self.runner.begin(target)?;
        self.end.failed.clone_from(&self.search.failed);
        match wanted {
            None if is_replayed => self.confirm(&last)?,
            wanted => rounds(&mut self.runner, &last, wanted.unwrap_or(FINAL_ROUNDS), &mut self.end)?,
        }
        Ok(last)
    }

    /// Runs candidates that were measured within a run: all of them once, and those that are fastest then beside the present form and that of
    /// the passes until it is clear whether they are faster.
    fn confirm(&mut self, last: &[usize]) -> Result<(), String> {
        let Present { build, twin } = self.judge.present;
        self.end.samples.entry(build).or_default().extend(self.runner.first_sample());
        let once: Vec<usize> = last.iter().copied().filter(|other| *other != build).collect();
        rounds(&mut self.runner, &once, 1, &mut self.end)?;
        let mut others = self.other_grids();
        others.retain(|other| !self.end.samples.contains_key(other));
        rounds(&mut self.runner, &others, 1, &mut self.end)?;
        let Self { runner, judge, end, .. } = self;
        let mut again: Vec<usize> = [Some(build), Some(twin), judge.passes].into_iter().flatten().collect();
        again.extend(judge.leading(end).into_iter().filter(|other| !again.contains(other)).collect::<BTreeSet<_>>());
        for round in 2..=CONFIRMING_ROUNDS {
            let due = |build: &&usize| end.samples.contains_key(build) && end.rounds_of(**build) < round;
            let due: Vec<usize> = again.iter().filter(due).copied().collect();
            rounds(runner, &due, 1, end)?;
            if judge.is_decided(end) {
                break;
            }
        }
        Ok(())
    }

    /// Runs the builds of candidates that are likely to be fast, of kernels that were not replayed; gives those that are best.
    fn halve(&mut self) -> Result<Vec<usize>, String> {
        let mut left = BTreeSet::from([self.judge.present.build]);
        left.extend(self.judge.passes);
        match self.compose {
            Some(_) => {
                let loops = self.judge.likely(&self.replayed);
                for plan in plans(&loops, self.runner.kind) {
                    left.extend(self.with_plan(&plan));
                }
            }
            None => left.extend((0..self.runner.builds.len()).filter(|build| self.is_likely(*build))),
        }
        left.remove(&self.judge.present.twin);
        left.extend(self.set_apart(&left.iter().copied().collect::<Vec<_>>())?);
        let Self { runner, judge, search, .. } = self;
        let wholes: Vec<Arms> = (0..runner.builds.len()).map(|build| vec![Some(build)]).collect();
        let arms = if judge.is_blind() { &wholes } else { &judge.arms };
        halve(runner, arms, left, search)
    }

    /// Does a build tell of a candidate that is likely to be fast, of a kernel that was not replayed?
    fn is_likely(&self, build: usize) -> bool {
        let arms = self.judge.arms.get(build).into_iter().flatten().enumerate();
        let is_likely = |(kernel, arm): (usize, &Option<usize>)| {
            let likely = self.judge.loops.get(kernel).map_or(0, |one| one.likely);
            !self.replayed.has(kernel) && arm.is_none_or(|arm| arm > 0 && arm < likely)
        };
        arms.into_iter().any(is_likely)
    }

    /// The plan of the best choices of all kernels, and its build, if there is one or one can be made; that is measured beside the original.
    fn composed(&mut self) -> Result<(Plan, Option<usize>), String> {
        let plan = self.judge.composed(&self.end);
        if let Some(build) = self.runner.builds.iter().position(|build| build.plan == plan) {
            return Ok((plan, Some(build)));
        }
        let Some(compose) = self.compose else { return Ok((plan, None)) };
        (self.runner.watch)("building the kernels' best forms together");
        let Ok(build) = compose(&plan) else { return Ok((plan, None)) };
        self.judge.arms.push(self.judge.arms_of(&build));
        self.runner.builds.push(build);
        let build = self.runner.builds.len() - 1;
        let mut again = self.judge.protected();
        again.push(build);
        let wanted = self.runner.task.rounds.unwrap_or(FINAL_ROUNDS);
        rounds(&mut self.runner, &again, wanted, &mut self.end)?;
        Ok((plan, Some(build)))
    }

    /// Plans that were dropped, and those that are faults of this tool. What fails together with others is told alone, if it fails alone.
    fn failures(&self) -> (Told, Told) {
        let plan = |build: usize| self.runner.builds.get(build).map(|build| build.plan.clone());
        let failed = &self.end.failed;
        let is_told_alone = |build: usize| {
            let alone = plan(build).map(|plan| apart(&plan)).unwrap_or_default();
            failed.keys().any(|other| plan(*other).is_some_and(|plan| alone.contains(&plan)))
        };
        let is_fault = |build: usize| {
            let is_safe = self.runner.builds.get(build).is_some_and(|build| !build.is_assumed);
            is_safe && self.runner.differing.contains_key(&build)
        };
        let (mut dropped, mut faults) = (self.dropped.clone(), Told::new());
        for (build, why) in failed.iter().filter(|(build, _)| !is_told_alone(**build)) {
            let told = if is_fault(*build) { &mut faults } else { &mut dropped };
            told.extend(plan(*build).map(|plan| (plan, why.clone())));
        }
        (dropped, faults)
    }
}

/// Plans, each with what is told of it.
type Told = Vec<(Plan, String)>;
