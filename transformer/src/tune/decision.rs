//! Measures what was prepared, and decides.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::choices::{Choice, Form, Plan};
use super::project::Project;
use super::runner::Runner;
use super::search::{Arms, FINAL_ROUNDS, Measured, Present, best_arm, halve, is_better, rounds};
use super::size::{Saturation, saturation};
use super::statistics::median;
use super::task::{Build, ClockKind, Task, TunedLoop, apart, arms};
use super::{Watch, clock::Clock};

/// Runs of the original at each size of a range.
const SIZE_RUNS: usize = 3;
/// Rounds of an exhaustive search.
const EXHAUSTIVE_ROUNDS: usize = 5;

/// What is measured.
pub struct Stage<'a> {
    /// How it is run.
    pub task: &'a Task,
    /// The copy in which it is run.
    pub project: &'a Project,
    /// The kernels and their choices.
    pub loops: &'a [TunedLoop],
    /// The builds; the first is the original.
    pub builds: Vec<Build>,
    /// The device's clock, if there is one.
    pub clock: Option<&'a Clock>,
    /// Does the original tell of its own kernels?
    pub is_plain: bool,
    /// Builds what was not built before; `None` where nothing can be built.
    pub compose: Option<&'a dyn Fn(&Plan) -> Result<Build, String>>,
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
    let started = std::time::Instant::now();
    let Stage { task, project, loops, mut builds, clock, is_plain, compose, watch } = stage;
    let twin = builds.len();
    builds.extend(builds.first().cloned());
    let mut runner = Runner::new(task, project, builds, clock, watch);
    let saturation = saturated(&mut runner)?;
    let target = task.size.as_ref().map(|range| range.high);
    let searched = saturation.as_ref().map(|found| found.size).filter(|_| !task.is_exhaustive).or(target);
    runner.kind = runner.begin(searched)?;
    let kind = runner.kind;
    let mut search = Measured::default();
    if let Some(compose) = compose {
        set_apart(&mut runner, compose, &mut search)?;
    }
    let of_build = |build: &Build| arms(loops, &build.plan, kind, is_plain);
    let all_arms: Vec<Arms> = runner.builds.iter().map(of_build).collect();
    let present = Present { build: 0, twin };
    let passes = runner.builds.iter().position(|build| build.plan == Plan::passes(loops.len()));
    let protected: Vec<usize> = [Some(0), Some(twin), passes].into_iter().flatten().collect();

    // Where builds choose for several kernels and nothing tells of single ones, wholes are compared.
    let is_blind = kind == ClockKind::Wall && runner.builds.iter().any(|build| !apart(&build.plan).is_empty());
    let wholes: Vec<Arms> = (0..runner.builds.len()).map(|build| vec![Some(build)]).collect();
    let mut last = match task.is_exhaustive {
        true => {
            let all: Vec<usize> = (0..runner.builds.len()).collect();
            rounds(&mut runner, &all, task.rounds.unwrap_or(EXHAUSTIVE_ROUNDS), &mut search)?;
            all
        }
        false if is_blind => halve(&mut runner, &wholes, twin, &mut search)?,
        false => halve(&mut runner, &all_arms, twin, &mut search)?,
    };
    last.retain(|build| !protected.contains(build));
    last.splice(0..0, protected.iter().copied());
    let final_rounds = task.rounds.unwrap_or(FINAL_ROUNDS);
    let mut end = Measured { failed: search.failed.clone(), ..Measured::default() };
    if task.is_exhaustive {
        end = search.clone();
    } else {
        if target != searched {
            runner.kind = runner.begin(target)?;
        }
        rounds(&mut runner, &last, final_rounds, &mut end)?;
    }

    let mut judge = Judge { loops, arms: all_arms, present, is_plain, kind, is_blind };
    let wanted = judge.composed(&end);
    let mut chosen = runner.builds.iter().position(|build| build.plan == wanted);
    let mut is_confirmed = true;
    if chosen.is_none()
        && let Some(compose) = compose
    {
        watch("building the kernels' best forms together");
        match compose(&wanted) {
            Ok(build) => {
                chosen = Some(judge.add(&mut runner, build));
                let again: Vec<usize> = protected.iter().copied().chain(chosen).collect();
                rounds(&mut runner, &again, final_rounds, &mut end)?;
            }
            Err(why) => {
                end.failed.insert(usize::MAX, why);
            }
        }
    } else if chosen.is_none() {
        is_confirmed = false;
    }
    let best = judge.best(&end, passes, chosen, &last);
    let (plan, ratio) = match runner.builds.get(best) {
        _ if !is_confirmed && best == 0 => (wanted, judge.expected_ratio(&end)),
        Some(build) => (build.plan.clone(), judge.ratio(&end, best)),
        None => (Plan::Original, 1.0),
    };
    let is_confirmed = is_confirmed || best != 0;
    let rows = judge.rows(&search, &end);
    let plan_of = |build: usize| runner.builds.get(build).map(|build| build.plan.clone());
    let told_alone = |build: usize| {
        let alone = plan_of(build).map(|plan| apart(&plan)).unwrap_or_default();
        end.failed.keys().any(|other| plan_of(*other).is_some_and(|plan| alone.contains(&plan)))
    };
    let failed = end.failed.iter().filter(|(build, _)| !told_alone(**build));
    let (faults, dropped): (Vec<_>, Vec<_>) = failed.partition(|(build, _)| {
        let is_safe = runner.builds.get(**build).is_some_and(|build| !build.is_assumed);
        is_safe && runner.differing.contains_key(*build)
    });
    let told = |all: Vec<(&usize, &String)>| -> Vec<(Plan, String)> {
        all.into_iter().filter_map(|(build, why)| Some((plan_of(*build)?, why.clone()))).collect()
    };
    Ok(Outcome {
        plan,
        ratio,
        noise: judge.noise(&end),
        clock: kind,
        is_confirmed,
        rows,
        saturation,
        runs: search.runs + end.runs * usize::from(!task.is_exhaustive),
        seconds: started.elapsed().as_secs_f64(),
        is_cut: search.is_cut || end.is_cut,
        dropped: told(dropped),
        faults: told(faults),
    })
}

/// Runs every build once that has choices for several kernels, and where one fails builds its choices apart, so that the one that is not at
/// fault stays.
fn set_apart(
    runner: &mut Runner<'_>,
    compose: &dyn Fn(&Plan) -> Result<Build, String>,
    into: &mut Measured,
) -> Result<(), String> {
    let several: Vec<usize> =
        (0..runner.builds.len()).filter(|at| runner.builds.get(*at).is_some_and(|it| !apart(&it.plan).is_empty())).collect();
    rounds(runner, &several, 1, into)?;
    for build in several {
        if !into.failed.contains_key(&build) {
            continue;
        }
        let alone = runner.builds.get(build).map(|it| apart(&it.plan)).unwrap_or_default();
        for plan in alone {
            // What cannot be built alone is no loss: it is at fault.
            if !runner.builds.iter().any(|other| other.plan == plan)
                && let Ok(one) = compose(&plan)
            {
                runner.builds.push(one);
            }
        }
    }
    Ok(())
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

/// Reads measurements.
struct Judge<'a> {
    loops: &'a [TunedLoop],
    arms: Vec<Arms>,
    present: Present,
    is_plain: bool,
    kind: ClockKind,
    is_blind: bool,
}

impl Judge<'_> {
    /// Adds a build that was made later.
    fn add(&mut self, runner: &mut Runner<'_>, build: Build) -> usize {
        self.arms.push(arms(self.loops, &build.plan, self.kind, self.is_plain));
        runner.builds.push(build);
        runner.builds.len() - 1
    }

    /// The number of the choice that the present form of a kernel is: nothing chosen, or what the passes choose.
    fn present_arm(&self, kernel: usize) -> usize {
        let plain = Choice::Told { form: Form::Plain, grid: None };
        let of_loop = self.loops.get(kernel).filter(|_| self.is_plain);
        of_loop.and_then(|one| one.choices.iter().position(|choice| *choice == plain)).unwrap_or(0)
    }

    fn noise(&self, end: &Measured) -> f64 {
        self.present.noise(end, |sample| sample.all_kernels)
    }

    /// The best choice of each kernel that is significantly faster than the present one.
    fn best_choices(&self, end: &Measured) -> Vec<Option<usize>> {
        let noise = self.noise(end);
        let best = |kernel: usize| best_arm(end, &self.arms, kernel, self.present_arm(kernel), noise);
        (0..self.loops.len()).map(best).collect()
    }

    /// The plan of all best choices; the original where none is faster.
    fn composed(&self, end: &Measured) -> Plan {
        let best = self.best_choices(end);
        if best.iter().all(Option::is_none) {
            return Plan::Original;
        }
        let choice = |(kernel, arm): (usize, &Option<usize>)| {
            let arm = arm.unwrap_or_else(|| self.present_arm(kernel));
            self.loops.get(kernel).and_then(|one| one.choices.get(arm)).copied().unwrap_or_default()
        };
        Plan::Chosen(best.iter().enumerate().map(choice).collect())
    }

    /// The build that is best as a whole: the original, unless another one is better.
    fn best(&self, end: &Measured, passes: Option<usize>, chosen: Option<usize>, last: &[usize]) -> usize {
        let mut best = 0;
        let others = last.iter().copied().filter(|build| self.is_blind && *build != self.present.twin);
        let all: BTreeSet<usize> = others.collect();
        for build in passes.into_iter().chain(chosen).chain(all) {
            if build != 0 && !end.failed.contains_key(&build) && is_better(end, self.present, best, build) {
                best = build;
            }
        }
        best
    }

    fn ratio(&self, end: &Measured, build: usize) -> f64 {
        let time = |build: usize| median(&end.values(build, |sample| sample.all_kernels));
        match (time(0), time(build)) {
            (Some(before), Some(after)) if after > 0.0 => before / after,
            _ => 1.0,
        }
    }

    /// How many times as fast the kernels that are tuned are expected to be together.
    fn expected_ratio(&self, end: &Measured) -> f64 {
        let mut sums = (0.0, 0.0);
        for (kernel, best) in self.best_choices(end).into_iter().enumerate() {
            let present = self.present_arm(kernel);
            let time = |arm: usize| median(&end.of_arm(&self.arms, kernel, arm)).unwrap_or(0.0);
            sums = (sums.0 + time(present), sums.1 + time(best.unwrap_or(present)));
        }
        if sums.1 > 0.0 { sums.0 / sums.1 } else { 1.0 }
    }

    fn rows(&self, search: &Measured, end: &Measured) -> Vec<Row> {
        let best = self.best_choices(end);
        let row = |(kernel, one): (usize, &TunedLoop)| {
            let time = |arm: usize| median(&end.of_arm(&self.arms, kernel, arm));
            let timed = |arm: usize| {
                let choice = one.choices.get(arm).copied()?;
                Some(Timed {
                    choice,
                    words: choice.to_string(),
                    predicted_us: one.predicted.get(arm).copied().flatten(),
                    median_us: time(arm),
                    searched_us: median(&search.of_arm(&self.arms, kernel, arm)),
                })
            };
            Row {
                line: one.line,
                candidates: one.candidates,
                present_us: time(self.present_arm(kernel)),
                passes_us: time(0),
                best: best.get(kernel).copied().flatten().and_then(timed),
                measured: (0..one.choices.len()).filter_map(timed).filter(|it| it.searched_us.is_some()).collect(),
            }
        };
        self.loops.iter().enumerate().map(row).collect()
    }
}
