//! Reads what was measured.

use std::collections::BTreeSet;

use super::{Row, Timed};
use crate::tune::choices::{Choice, Form, Plan};
use crate::tune::replay::Replayed;
use crate::tune::runner::Runner;
use crate::tune::search::{Arms, Measured, Present, Sample, best_arm, is_better, is_faster, timed_arms};
use crate::tune::statistics::median;
use crate::tune::task::{Build, ClockKind, TunedLoop, apart, arms};

/// Reads measurements.
pub(super) struct Judge<'a> {
    pub loops: &'a [TunedLoop],
    /// What each build tells of which choices.
    pub arms: Vec<Arms>,
    /// The original, and its twin.
    pub present: Present,
    /// The build of what the passes make, if that is another text.
    pub passes: Option<usize>,
    is_plain: bool,
    kind: ClockKind,
    /// Do builds choose for several kernels, of which nothing tells one by one? Then wholes are compared.
    is_blind: bool,
}

impl<'a> Judge<'a> {
    /// A judge of the builds of a runner, whose clock is known.
    pub fn new(loops: &'a [TunedLoop], runner: &Runner<'_>, present: Present, is_plain: bool) -> Self {
        let kind = runner.kind;
        let passes = runner.builds.iter().position(|build| build.plan == Plan::passes(loops.len()));
        let is_blind = kind == ClockKind::Wall && runner.builds.iter().any(|build| !apart(&build.plan).is_empty());
        let mut judge = Self { loops, arms: Vec::new(), present, passes, is_plain, kind, is_blind };
        judge.arms = runner.builds.iter().map(|build| judge.arms_of(build)).collect();
        judge
    }

    pub fn is_blind(&self) -> bool {
        self.is_blind
    }

    /// The loops with what is likely to be fast, and nothing of those that are known.
    pub fn likely(&self, replayed: &Replayed) -> Vec<TunedLoop> {
        let likely = |(kernel, one): (usize, &TunedLoop)| {
            let likely = if replayed.has(kernel) { 1 } else { one.likely };
            let mut one = TunedLoop { likely, ..one.clone() };
            one.keep_likely();
            one
        };
        self.loops.iter().enumerate().map(likely).collect()
    }

    /// What a build tells of which choices.
    pub fn arms_of(&self, build: &Build) -> Arms {
        arms(self.loops, &build.plan, self.kind, self.is_plain)
    }

    /// The builds that reach the end in any case.
    pub fn protected(&self) -> Vec<usize> {
        [Some(self.present.build), Some(self.present.twin), self.passes].into_iter().flatten().collect()
    }

    /// The number of the choice that the present form of a kernel is: nothing chosen, or what the passes choose.
    fn present_arm(&self, kernel: usize) -> usize {
        let plain = Choice::Told { form: Form::Plain, grid: None };
        let of_loop = self.loops.get(kernel).filter(|_| self.is_plain);
        of_loop.and_then(|one| one.choices.iter().position(|choice| *choice == plain)).unwrap_or(0)
    }

    pub fn noise(&self, end: &Measured) -> f64 {
        self.present.noise(end, |sample| sample.all_kernels)
    }

    /// The noise of one kernel, where the original tells of it, or else of all.
    fn noise_of(&self, end: &Measured, kernel: usize) -> f64 {
        let tells = self.is_plain && self.kind == ClockKind::Device;
        let time =
            |sample: &Sample| sample.kernels.as_ref().and_then(|kernels| kernels.get(kernel)).copied().unwrap_or(0.0);
        if tells { self.present.noise(end, time) } else { self.noise(end) }
    }

    /// The best choice of each kernel that is significantly faster than the present one.
    fn best_choices(&self, end: &Measured) -> Vec<Option<usize>> {
        let best =
            |kernel: usize| best_arm(end, &self.arms, kernel, self.present_arm(kernel), self.noise_of(end, kernel));
        (0..self.loops.len()).map(best).collect()
    }

    /// The choice of a kernel that was fastest.
    pub fn fastest(&self, end: &Measured, kernel: usize) -> Option<usize> {
        timed_arms(end, &self.arms, kernel).first().map(|(_, arm)| *arm)
    }

    /// The builds of the fastest choice of each kernel, and of what stands for its present form.
    pub fn leading(&self, end: &Measured) -> Vec<usize> {
        let build = |kernel: usize, arm: usize| {
            let holds = |build: &usize| self.arms.get(*build).and_then(|arms| arms.get(kernel)) == Some(&Some(arm));
            end.samples.keys().copied().find(holds)
        };
        let of_kernel = |kernel: usize| {
            [self.fastest(end, kernel), Some(self.present_arm(kernel))]
                .into_iter()
                .flatten()
                .filter_map(move |arm| build(kernel, arm))
        };
        (0..self.loops.len()).flat_map(of_kernel).collect()
    }

    /// Is it clear of each kernel that its fastest choice is faster than the present one, or that it is not, and than what the passes choose?
    pub fn is_decided(&self, end: &Measured) -> bool {
        (0..self.loops.len()).all(|kernel| {
            let Some(fastest) = self.fastest(end, kernel) else { return true };
            let of_arm = |arm: usize| end.of_arm(&self.arms, kernel, arm);
            let noise = self.noise_of(end, kernel);
            let passes = self.passes.map(|_| 0).filter(|passes| !of_arm(*passes).is_empty());
            let mut others = [Some(self.present_arm(kernel)), passes].into_iter().flatten();
            others.all(|other| fastest == other || is_faster(&of_arm(other), &of_arm(fastest), noise))
        })
    }

    /// The plan of all best choices; the original where none is faster.
    pub fn composed(&self, end: &Measured) -> Plan {
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
    pub fn best(&self, end: &Measured, chosen: Option<usize>, last: &[usize]) -> usize {
        let mut best = 0;
        let others = last.iter().copied().filter(|build| self.is_blind && *build != self.present.twin);
        let all: BTreeSet<usize> = others.collect();
        for build in self.passes.into_iter().chain(chosen).chain(all) {
            if build != 0 && !end.failed.contains_key(&build) && is_better(end, self.present, best, build) {
                best = build;
            }
        }
        best
    }

    pub fn ratio(&self, end: &Measured, build: usize) -> f64 {
        let time = |build: usize| median(&end.values(build, |sample| sample.all_kernels));
        match (time(0), time(build)) {
            (Some(before), Some(after)) if after > 0.0 => before / after,
            _ => 1.0,
        }
    }

    /// How many times as fast the kernels that are tuned are expected to be together.
    pub fn expected_ratio(&self, end: &Measured) -> f64 {
        let mut sums = (0.0, 0.0);
        for (kernel, best) in self.best_choices(end).into_iter().enumerate() {
            let present = self.present_arm(kernel);
            let time = |arm: usize| median(&end.of_arm(&self.arms, kernel, arm)).unwrap_or(0.0);
            sums = (sums.0 + time(present), sums.1 + time(best.unwrap_or(present)));
        }
        if sums.1 > 0.0 { sums.0 / sums.1 } else { 1.0 }
    }

    pub fn rows(&self, search: &Measured, end: &Measured, replayed: &Replayed) -> Vec<Row> {
        let best = self.best_choices(end);
        let row = |(kernel, one): (usize, &TunedLoop)| {
            // A kernel that the run does not reach takes no time.
            let time = |arm: usize| median(&end.of_arm(&self.arms, kernel, arm)).filter(|time| *time > 0.0);
            let timed = |arm: usize| {
                let choice = one.choices.get(arm).copied()?;
                let searched = replayed.times.get(kernel).and_then(|times| times.get(&arm)).copied();
                Some(Timed {
                    choice,
                    words: choice.to_string(),
                    predicted_us: one.predicted.get(arm).copied().flatten(),
                    median_us: time(arm),
                    searched_us: searched.or_else(|| median(&search.of_arm(&self.arms, kernel, arm))),
                })
            };
            Row {
                line: one.line,
                candidates: one.candidates,
                present_us: time(self.present_arm(kernel)),
                passes_us: time(0),
                best: best.get(kernel).copied().flatten().and_then(timed),
                measured: (0..one.choices.len())
                    .filter_map(timed)
                    .filter(|it| it.searched_us.or(it.median_us).is_some())
                    .collect(),
            }
        };
        self.loops.iter().enumerate().map(row).collect()
    }
}
