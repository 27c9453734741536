//! The search: interleaved rounds, successive halving, and what is better than what is there.
//!
//! It knows nothing of programs. A [`Bench`] runs builds by their numbers; in tests it is a simulation.
//!
//! In each rung all builds that are left run a few times, one after the other in rotated order, so that a machine that changes its speed
//! changes it for all. Then each kernel keeps the better third of its candidates (Jamieson and Talwalkar, "Non-stochastic Best Arm
//! Identification and Hyperparameter Optimization", 2016, keep a half; with a third fewer runs are spent on what is far off). The last few are
//! measured once more, in more rounds, beside the present form, which runs twice a round: what lies between these two is noise.
//!
//! Where several runs are made at a time, on several devices, the present form runs on each of them in each round, and the times of a
//! device count in terms of what it took there: devices of one kind differ by a few percent, as much as candidates do. The noise is that of
//! the device on which the two present forms lie farthest apart.

use std::collections::{BTreeMap, BTreeSet};

use super::statistics::{is_far_larger, is_larger, median, noise};

/// Candidates of a kernel that reach the last rounds.
pub const FINALISTS: usize = 3;
/// The most that do, where more are as good as the best one: the last rounds may be run at another size, where they differ.
const MOST_FINALISTS: usize = 8;
/// How many times as long as the best one a candidate takes that is as good. Of two runs on an H100 whose best candidates for saturating sizes
/// were 3 % apart, others were 8 % faster at the size that was tuned for (bench/tune).
pub const AS_GOOD: f64 = 1.03;
/// One of so many candidates is kept in each rung.
const KEPT: usize = 3;
/// The last rounds: six runs against twelve of the present form tell a difference that some of the pairs contradict.
pub const FINAL_ROUNDS: usize = 6;
/// The most of the last rounds where all candidates were measured within one run before, so that few are left and their order is known: four
/// runs against eight still tell a difference that two of the 32 pairs contradict.
pub const CONFIRMING_ROUNDS: usize = 4;

/// What one run of a build took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Microseconds of each kernel that is tuned; `None` where only the whole is known.
    pub kernels: Option<Vec<f64>>,
    /// Microseconds of all kernels of the file, or of the whole program where no device has a clock.
    pub all_kernels: f64,
    /// Microseconds of the kernels and copies, or of the whole program.
    pub whole: f64,
    /// The device that it ran on.
    pub device: usize,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Ran {
    /// Its times.
    Done(Sample),
    /// It failed, hung or gave another result; the text says which. The build is not run again.
    Failed(String),
}

/// A run that is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// The build.
    pub build: usize,
    /// The lane in which it runs; `None` where each will do.
    pub lane: Option<usize>,
}

/// What runs builds.
pub trait Bench {
    /// How many runs can be made at a time.
    fn lanes(&self) -> usize {
        1
    }

    /// Makes runs, in each lane one after the other, until the time is used up: gives what came of those that were made, in their order.
    ///
    /// # Errors
    /// When nothing can be run any more, whatever the build.
    fn run(&mut self, jobs: &[Job]) -> Result<Vec<(usize, Ran)>, String>;

    /// Is the time used up?
    fn is_over(&self) -> bool;
}

/// The candidates of kernels that a build holds, by their numbers; `None` where a run of it tells nothing of a kernel.
pub type Arms = Vec<Option<usize>>;

/// What is known of the builds.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The samples of each build.
    pub samples: BTreeMap<usize, Vec<Sample>>,
    /// Builds that failed, each with the reason.
    pub failed: BTreeMap<usize, String>,
    /// How many runs there were.
    pub runs: usize,
    /// Was the time used up before the end?
    pub is_cut: bool,
    /// The present form, in terms of which the times of several devices count. Without it one device runs all.
    pub present: Option<Present>,
}

impl Measured {
    /// Nothing yet, of what is held against a present form.
    #[must_use]
    pub fn beside(present: Present) -> Self {
        Self { present: Some(present), ..Self::default() }
    }

    /// One figure of all runs of a build, in terms of the first device.
    pub fn values(&self, build: usize, figure: impl Fn(&Sample) -> f64) -> Vec<f64> {
        let figure = |sample: &Sample| Some(figure(sample));
        let samples = self.samples.get(&build).into_iter().flatten();
        samples.filter_map(|sample| self.told(sample, &figure)).collect()
    }

    /// How often a build was run: the present form on each device.
    #[must_use]
    pub fn rounds_of(&self, build: usize) -> usize {
        let own = self.samples.get(&build).map(Vec::as_slice).unwrap_or_default();
        if !self.present.is_some_and(|present| present.is_one(build)) {
            return own.len();
        }
        let devices: BTreeSet<usize> = self.samples.values().flatten().map(|sample| sample.device).collect();
        let on = |device: &usize| own.iter().filter(|sample| sample.device == *device).count();
        devices.iter().map(on).min().unwrap_or(0)
    }

    /// A figure of a run, in terms of the first device.
    fn told(&self, sample: &Sample, figure: &impl Fn(&Sample) -> Option<f64>) -> Option<f64> {
        let value = figure(sample)?;
        if sample.device == 0 {
            return Some(value);
        }
        let there = |device: usize| {
            let present = self.present.into_iter().flat_map(|present| [present.build, present.twin]);
            let samples = present.filter_map(|build| self.samples.get(&build)).flatten();
            let values: Vec<f64> = samples.filter(|one| one.device == device).filter_map(figure).collect();
            median(&values).filter(|time| *time > 0.0)
        };
        Some(there(0).zip(there(sample.device)).map_or(value, |(first, own)| value * first / own))
    }

    /// The times of a kernel's candidate, over all builds that hold it.
    #[must_use]
    pub fn of_arm(&self, arms: &[Arms], kernel: usize, arm: usize) -> Vec<f64> {
        let has = |build: usize| arms.get(build).and_then(|arms| arms.get(kernel)) == Some(&Some(arm));
        let held = self.samples.iter().filter(|(build, _)| has(**build) && !self.failed.contains_key(build));
        let time = |sample: &Sample| time_of(sample, kernel);
        held.flat_map(|(_, samples)| samples).filter_map(|sample| self.told(sample, &time)).collect()
    }

    fn add(&mut self, build: usize, ran: Ran) {
        match ran {
            Ran::Done(sample) if self.is_alive(build) => self.samples.entry(build).or_default().push(sample),
            Ran::Done(_) => {}
            Ran::Failed(why) => {
                self.samples.remove(&build);
                self.failed.insert(build, why);
            }
        }
    }

    fn is_alive(&self, build: usize) -> bool {
        !self.failed.contains_key(&build)
    }
}

/// The time of a kernel in a run, or that of the whole where no more is known.
fn time_of(sample: &Sample, kernel: usize) -> Option<f64> {
    match &sample.kernels {
        Some(kernels) => kernels.get(kernel).copied(),
        None => Some(sample.whole),
    }
}

/// Runs builds in interleaved rounds, until the time is used up.
///
/// # Errors
/// When nothing can be run.
pub fn rounds(bench: &mut dyn Bench, builds: &[usize], rounds: usize, into: &mut Measured) -> Result<(), String> {
    for round in 0..rounds {
        let rotated = (0..builds.len()).filter_map(|at| builds.get((at + round) % builds.len()).copied());
        let jobs: Vec<Job> =
            rotated.filter(|build| into.is_alive(*build)).flat_map(|build| jobs(bench, build, into)).collect();
        // In one lane each run is asked for by itself, so that the time is looked at before.
        let is_alone = bench.lanes() == 1 || into.present.is_none();
        for together in jobs.chunks(if is_alone { 1 } else { jobs.len().max(1) }) {
            if bench.is_over() {
                into.is_cut = true;
                return Ok(());
            }
            let ended = bench.run(together)?;
            into.runs += ended.len();
            into.is_cut |= ended.len() < together.len();
            ended.into_iter().for_each(|(build, ran)| into.add(build, ran));
            if into.is_cut {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The runs of a build in one round.
fn jobs(bench: &dyn Bench, build: usize, into: &Measured) -> Vec<Job> {
    match into.present {
        None => vec![Job { build, lane: Some(0) }],
        Some(present) if present.is_one(build) => {
            (0..bench.lanes()).map(|lane| Job { build, lane: Some(lane) }).collect()
        }
        Some(_) => vec![Job { build, lane: None }],
    }
}

/// The numbers of the builds that reach the end, of those that are `left`: they hold one of the last candidates of a kernel.
///
/// # Errors
/// When nothing can be run.
pub fn halve(
    bench: &mut dyn Bench,
    arms: &[Arms],
    mut left: BTreeSet<usize>,
    into: &mut Measured,
) -> Result<Vec<usize>, String> {
    let kernels = arms.iter().map(Vec::len).max().unwrap_or(0);
    for rung in 1.. {
        let builds: Vec<usize> = left.iter().copied().collect();
        rounds(bench, &builds, rung, into)?;
        left.retain(|build| into.is_alive(*build));
        let parts = (0..kernels).map(|kernel| better_part(into, arms, &left, kernel));
        let (kept, are_last): (Vec<BTreeSet<usize>>, Vec<bool>) = parts.unzip();
        let next = covering(arms, &left, &kept);
        let is_last = into.is_cut || are_last.into_iter().all(|is_last| is_last) || next == left;
        left = next;
        if is_last {
            break;
        }
    }
    Ok(left.into_iter().collect())
}

/// The better third of a kernel's candidates, but not fewer than the last rounds take, and whether these are they. What was not measured is
/// not better.
fn better_part(measured: &Measured, arms: &[Arms], left: &BTreeSet<usize>, kernel: usize) -> (BTreeSet<usize>, bool) {
    let found: BTreeSet<usize> =
        left.iter().filter_map(|build| arms.get(*build)?.get(kernel).copied().flatten()).collect();
    let timed = found.iter().filter_map(|arm| Some((median(&measured.of_arm(arms, kernel, *arm))?, *arm)));
    let mut timed: Vec<(f64, usize)> = timed.collect();
    timed.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let count = found.len().div_ceil(KEPT).max(FINALISTS);
    let best = timed.first().map_or(0.0, |(time, _)| *time);
    let as_good = timed.iter().take(MOST_FINALISTS).filter(|(time, _)| *time <= best * AS_GOOD).count();
    timed.truncate(count.max(as_good));
    (timed.into_iter().map(|(_, arm)| arm).collect(), count <= FINALISTS)
}

/// Few builds that together hold all candidates that are kept.
fn covering(arms: &[Arms], left: &BTreeSet<usize>, kept: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let mut chosen = BTreeSet::new();
    let held = |build: usize| -> BTreeSet<(usize, usize)> {
        let of_build = arms.get(build).into_iter().flatten().enumerate();
        let arms = of_build.filter_map(|(kernel, arm)| Some((kernel, (*arm)?)));
        arms.filter(|(kernel, arm)| kept.get(*kernel).is_some_and(|kept| kept.contains(arm))).collect()
    };
    let mut missing: BTreeSet<(usize, usize)> = left.iter().flat_map(|build| held(*build)).collect();
    while !missing.is_empty() {
        let gain = |build: &usize| held(*build).intersection(&missing).count();
        // Of builds that hold as much, the first: the candidate that was predicted to be faster.
        let Some(best) = left.iter().copied().rev().max_by_key(gain) else { break };
        let own = held(best);
        missing.retain(|one| !own.contains(one));
        chosen.insert(best);
    }
    chosen
}

/// Two measurements of the present form, and how far they lie apart.
#[derive(Clone, Copy, Debug)]
pub struct Present {
    /// The build of the present form.
    pub build: usize,
    /// The same, measured as if it were another one.
    pub twin: usize,
}

impl Present {
    /// Is a build the present form?
    #[must_use]
    pub fn is_one(self, build: usize) -> bool {
        build == self.build || build == self.twin
    }

    /// The noise of a figure, as a part of it: that of the device that has most.
    pub fn noise(self, measured: &Measured, figure: impl Fn(&Sample) -> f64 + Copy) -> f64 {
        let samples = |build: usize| measured.samples.get(&build).into_iter().flatten();
        let devices: BTreeSet<usize> = samples(self.build).map(|sample| sample.device).collect();
        let on = |build: usize, device: usize| -> Vec<f64> {
            samples(build).filter(|sample| sample.device == device).map(figure).collect()
        };
        devices.into_iter().map(|device| noise(&on(self.build, device), &on(self.twin, device))).fold(0.0, f64::max)
    }
}

/// Is `new` faster than `old` by more than chance, and by more than the noise?
#[must_use]
pub fn is_faster(old: &[f64], new: &[f64], noise: f64) -> bool {
    match (median(old), median(new)) {
        (Some(before), Some(after)) => {
            after > 0.0 && before / after > 1.0 + noise && (is_larger(new, old) || is_far_larger(new, old))
        }
        _ => false,
    }
}

/// The candidate of a kernel that is significantly faster than `present`, the fastest of those; `None` where the present one stays.
#[must_use]
pub fn best_arm(measured: &Measured, arms: &[Arms], kernel: usize, present: usize, noise: f64) -> Option<usize> {
    let old = measured.of_arm(arms, kernel, present);
    let others = timed_arms(measured, arms, kernel).into_iter().filter(|(_, arm)| *arm != present);
    others.map(|(_, arm)| arm).find(|arm| is_faster(&old, &measured.of_arm(arms, kernel, *arm), noise))
}

/// The candidates of a kernel that were measured, with the medians of their times, the fastest first.
#[must_use]
pub fn timed_arms(measured: &Measured, arms: &[Arms], kernel: usize) -> Vec<(f64, usize)> {
    let all: BTreeSet<usize> = arms.iter().filter_map(|arms| arms.get(kernel).copied().flatten()).collect();
    let timed = all.into_iter().filter_map(|arm| Some((median(&measured.of_arm(arms, kernel, arm))?, arm)));
    let mut timed: Vec<(f64, usize)> = timed.collect();
    timed.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    timed
}

/// Is a build better than another one as a whole? Its kernels must be faster, or all of it; and neither slower.
#[must_use]
pub fn is_better(measured: &Measured, present: Present, old: usize, new: usize) -> bool {
    let kernels = |sample: &Sample| sample.all_kernels;
    let whole = |sample: &Sample| sample.whole;
    let judged = |figure: fn(&Sample) -> f64| {
        let noise = present.noise(measured, figure);
        let (mut old_values, new) = (measured.values(old, figure), measured.values(new, figure));
        if old == present.build {
            old_values.extend(measured.values(present.twin, figure));
        }
        let old = old_values;
        (is_faster(&old, &new, noise), is_faster(&new, &old, noise))
    };
    let (faster_kernels, slower_kernels) = judged(kernels);
    let (faster, slower) = judged(whole);
    (faster || (faster_kernels && !slower_kernels)) && !slower
}

#[cfg(test)]
mod tests;
