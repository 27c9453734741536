//! Many grids in one run: the clock's library launches a kernel in each of them, on the memory as it was (`device_replay.c`).
//!
//! A run of a program costs about a second to start, whatever its size, and a launch a few milliseconds. So a form of a kernel is built once,
//! with a grid that is chosen at its launch, and one run of that build tells the times of all its grids. They are those of a kernel that was
//! compiled for no grid in particular: the best few are built and run by themselves before one of them is written.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::choices::{Choice, Form, Plan};
use super::clock::{Replay, Times};
use super::search::{AS_GOOD, FINALISTS};
use super::statistics::median;
use super::task::{Build, TunedLoop};
use crate::device::launch::MOST_BLOCKS;
use crate::plan::instructions::{Grid, Teams};

/// The best grid of a form is built if it takes at most so many times as long as the best of all: of eight forms of a product on an H100 one that
/// was 1.13 times as long within a run was the fastest in its own build, by 8 % (bench/tune).
const WORTH_A_BUILD: f64 = 1.5;
/// How much longer another grid of the leading form takes that is built as well.
const NEARLY_AS_GOOD: f64 = 1.06;

/// What replays told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Replayed {
    /// The runs that they took.
    pub runs: usize,
    /// The microseconds of the choices of each kernel, by their numbers; empty where none was replayed.
    pub times: Vec<BTreeMap<usize, f64>>,
    /// Why the grids of a kernel were not tried so, by its line.
    pub refused: BTreeMap<usize, String>,
}

/// The plans of builds whose grids are chosen at their launches: one for each form of a kernel, of several kernels at once.
#[must_use]
pub fn plans(loops: &[TunedLoop]) -> Vec<Plan> {
    let most = loops.iter().map(|one| one.open.len()).max().unwrap_or(0);
    let open = |form: &Form| Choice::Told { form: *form, grid: Some(Grid::OPEN) };
    let choice = |one: &TunedLoop, at: usize| one.open.get(at).map(open).unwrap_or_default();
    (0..most).map(|at| Plan::Chosen(loops.iter().map(|one| choice(one, at)).collect())).collect()
}

/// The form whose grids a build leaves open for a kernel.
#[must_use]
pub fn open_form(build: &Build, kernel: usize) -> Option<Form> {
    match build.plan.choice(kernel)? {
        Choice::Told { form, grid: Some(Grid::OPEN) } => Some(form),
        _ => None,
    }
}

/// The choices of a kernel in a form that have a grid, by their numbers: the threads of a team, and the most teams.
fn grids(one: &TunedLoop, form: Form) -> impl Iterator<Item = (usize, (u32, u64))> {
    one.choices.iter().enumerate().filter_map(move |(arm, choice)| match choice {
        Choice::Told { form: own, grid: Some(grid) } if *own == form => {
            let most = match grid.teams {
                Teams::Runtime => MOST_BLOCKS,
                Teams::AtMost(most) => most,
                Teams::Open => return None,
            };
            Some((arm, (grid.threads, most)))
        }
        _ => None,
    })
}

/// What the clock's library is told: the grids of each kernel of a build, and how long it may take for one of them.
#[must_use]
pub fn orders(loops: &[TunedLoop], build: &Build, budget: Duration) -> String {
    let mut text = format!("budget {:.3}\n", budget.as_secs_f64());
    for (kernel, one) in loops.iter().enumerate() {
        let Some(form) = open_form(build, kernel) else { continue };
        for line in build.tuned.get(kernel).into_iter().flatten() {
            let _infallible = writeln!(text, "kernel {line} {}", build.id.prefix());
            for (_, (threads, most)) in grids(one, form) {
                let _infallible = writeln!(text, "grid {threads} {most}");
            }
        }
    }
    text
}

impl Replayed {
    /// Nothing yet, of so many kernels.
    #[must_use]
    pub fn none(kernels: usize) -> Self {
        Self { times: vec![BTreeMap::new(); kernels], ..Self::default() }
    }

    /// Is this kernel known?
    #[must_use]
    pub fn has(&self, kernel: usize) -> bool {
        self.times.get(kernel).is_some_and(|times| !times.is_empty())
    }

    /// Are all of these kernels known?
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !self.times.is_empty() && (0..self.times.len()).all(|kernel| self.has(kernel))
    }

    /// Takes in what a run of a build told.
    pub fn add(&mut self, loops: &[TunedLoop], build: &Build, times: &Times) {
        for (kernel, one) in loops.iter().enumerate() {
            let Some(form) = open_form(build, kernel) else { continue };
            let lines = build.tuned.get(kernel).map(Vec::as_slice).unwrap_or_default();
            let found = times_of(&times.replays, lines, grids(one, form));
            if found.is_empty() {
                let own = lines.iter().find_map(|line| times.refused.get(line));
                self.refuse(one.line, own.map_or("the run does not launch it", String::as_str));
            }
            if let Some(known) = self.times.get_mut(kernel) {
                known.extend(found);
            }
        }
    }

    /// Notes of which kernels no grid can be chosen at a launch, and why.
    pub fn refuse_closed(&mut self, loops: &[TunedLoop]) {
        for one in loops {
            if let Some(why) = &one.closed {
                self.refuse(one.line, why);
            }
        }
    }

    /// Notes why something of a kernel could not be replayed; the first reason stays.
    pub fn refuse(&mut self, line: usize, why: &str) {
        self.refused.entry(line).or_insert_with(|| why.to_owned());
    }

    /// The choices of a kernel that are worth a build: the best ones, as long as they are nearly as good as the first, and the best one of
    /// each other form, which may take another time where it is compiled for its grid.
    #[must_use]
    pub fn best(&self, kernel: usize, one: &TunedLoop) -> Vec<usize> {
        let sorted = self.sorted(kernel, one);
        let best = sorted.first().map_or(0.0, |(time, _)| *time);
        let as_good = sorted.iter().take_while(|(time, _)| *time <= best * AS_GOOD);
        let mut found: Vec<usize> = as_good.take(FINALISTS).map(|(_, arm)| *arm).collect();
        for (_, arm) in sorted.iter().take_while(|(time, _)| *time <= best * WORTH_A_BUILD) {
            if !found.iter().any(|known| form(one, *known) == form(one, *arm)) {
                found.push(*arm);
            }
        }
        found
    }

    /// The choices of a kernel that are nearly as good as one of the same form, where another form was the best: of these no other grid was
    /// built.
    #[must_use]
    pub fn beside(&self, kernel: usize, one: &TunedLoop, leading: usize) -> Vec<usize> {
        let mut sorted = self.sorted(kernel, one);
        let is_other = sorted.first().is_some_and(|(_, best)| form(one, *best) != form(one, leading));
        sorted.retain(|(_, arm)| is_other && form(one, *arm) == form(one, leading));
        let best = sorted.first().map_or(0.0, |(time, _)| *time);
        let as_good = sorted.into_iter().take_while(|(time, _)| *time <= best * NEARLY_AS_GOOD);
        as_good.map(|(_, arm)| arm).filter(|arm| *arm != leading).take(FINALISTS).collect()
    }

    /// The choices that were launched, the fastest first. Grids that come to the same teams and threads were launched once, and have one time.
    fn sorted(&self, kernel: usize, one: &TunedLoop) -> Vec<(f64, usize)> {
        let times = self.times.get(kernel).into_iter().flatten();
        let mut sorted: Vec<(f64, usize)> = times.map(|(arm, time)| (*time, *arm)).collect();
        let of_form = |arm: usize| form(one, arm);
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(of_form(a.1).cmp(&of_form(b.1))).then(a.1.cmp(&b.1)));
        sorted.dedup_by(|a, b| a.0.total_cmp(&b.0).is_eq() && of_form(a.1) == of_form(b.1));
        sorted
    }
}

/// The form of a choice.
fn form(one: &TunedLoop, arm: usize) -> Option<Form> {
    match one.choices.get(arm) {
        Some(Choice::Told { form, .. }) => Some(*form),
        _ => None,
    }
}

/// The times of grids that were launched wherever one was: of each launch the median, and their sum.
fn times_of(
    replays: &[Replay],
    lines: &[usize],
    grids: impl Iterator<Item = (usize, (u32, u64))>,
) -> BTreeMap<usize, f64> {
    let mut launches: BTreeMap<_, BTreeMap<(u32, u64), Vec<f64>>> = BTreeMap::new();
    for one in replays.iter().filter(|one| lines.contains(&one.line)) {
        launches.entry((one.line, one.launch)).or_default().entry(one.grid).or_default().push(one.time);
    }
    let sum = |grid: (u32, u64)| {
        let of_launches = launches.values().map(|launch| median(launch.get(&grid).map_or(&[], Vec::as_slice)));
        of_launches.sum::<Option<f64>>().filter(|time| *time > 0.0)
    };
    grids.filter_map(|(arm, grid)| Some((arm, sum(grid)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::clock::FileId;
    use crate::tune::project::Product;

    fn told(threads: u32, teams: Teams) -> Choice {
        Choice::Told { form: Form::Plain, grid: Some(Grid { threads, teams }) }
    }

    fn one_loop() -> TunedLoop {
        let choices = vec![
            Choice::Passes,
            told(32, Teams::Runtime),
            told(64, Teams::AtMost(528)),
            Choice::Told { form: Form::Unrolled, grid: Some(Grid { threads: 64, teams: Teams::Runtime }) },
            told(128, Teams::AtMost(528)),
            told(64, Teams::AtMost(65_536)),
        ];
        let open = vec![Form::Plain, Form::Unrolled];
        TunedLoop { line: 7, candidates: 5, likely: 3, predicted: Vec::new(), open, closed: None, choices }
    }

    fn build(plan: Plan, lines: Vec<usize>) -> Build {
        let id = FileId { device: 0xfd00, inode: 7 };
        let (product, tuned) = (Product(Vec::new()), vec![lines]);
        let (text, arms) = Default::default();
        Build { plan, text, lines: Vec::new(), tuned, id, is_assumed: false, arms, product }
    }

    fn replay(line: usize, launch: u64, grid: (u32, u64), time: f64) -> Replay {
        Replay { line, launch: (0, launch), grid, time }
    }

    #[test]
    fn each_form_has_one_build_and_its_own_grids() {
        let loops = [one_loop()];
        let plans = plans(&loops);
        assert_eq!(plans.len(), 2);
        let text = orders(&loops, &build(plans[0].clone(), vec![9, 20]), Duration::from_millis(1500));
        let grids = "grid 32 3200\ngrid 64 528\ngrid 128 528\ngrid 64 65536\n";
        let prefix = "__omp_offloading_fd00_7_";
        assert_eq!(text, format!("budget 1.500\nkernel 9 {prefix}\n{grids}kernel 20 {prefix}\n{grids}"));
        let text = orders(&loops, &build(plans[1].clone(), vec![9]), Duration::from_secs(1));
        assert_eq!(text, format!("budget 1.000\nkernel 9 {prefix}\ngrid 64 3200\n"));
    }

    #[test]
    fn the_best_few_are_built() {
        let loops = [one_loop()];
        let mut replayed = Replayed::none(1);
        let mut times = Times::default();
        for (launch, work) in [(1, 1.0), (2, 2.0)] {
            let all = [((32, 3200), 30.0), ((64, 528), 10.0), ((128, 528), 10.25), ((64, 65_536), 10.0)];
            times.replays.extend(all.map(|(grid, time)| replay(9, launch, grid, time * work)));
            times.replays.push(replay(9, launch, (64, 528), 10.0 * work));
        }
        replayed.add(&loops, &build(plans(&loops)[0].clone(), vec![9]), &times);
        assert!(replayed.is_whole() && replayed.refused.is_empty());
        assert_eq!(replayed.times[0], BTreeMap::from([(1, 90.0), (2, 30.0), (4, 30.75), (5, 30.0)]));
        assert_eq!(replayed.best(0, &loops[0]), [2, 4], "two that come to the same grid are one");
    }

    #[test]
    fn other_forms_are_built_too_and_grids_of_the_one_that_leads() {
        let one = one_loop();
        let times = BTreeMap::from([(1, 14.0), (2, 10.0), (3, 14.0), (4, 10.5), (5, 10.4)]);
        let replayed = Replayed { times: vec![times], ..Replayed::none(1) };
        assert_eq!(replayed.best(0, &one), [2, 3]);
        assert_eq!(replayed.beside(0, &one, 2), [0; 0], "the best form's grids were built");
        let times = BTreeMap::from([(1, 14.0), (2, 10.5), (3, 10.0), (4, 10.9), (5, 11.0)]);
        let replayed = Replayed { times: vec![times], ..Replayed::none(1) };
        assert_eq!(replayed.best(0, &one), [3, 2]);
        assert_eq!(replayed.beside(0, &one, 2), [4, 5]);
        let times = BTreeMap::from([(2, 16.0), (3, 10.0)]);
        assert_eq!(Replayed { times: vec![times], ..Replayed::none(1) }.best(0, &one), [3], "too far off");
    }

    #[test]
    fn a_grid_that_was_not_launched_each_time_has_no_time() {
        let loops = [one_loop()];
        let plan = &plans(&loops)[0];
        let mut times = Times::default();
        times.replays.extend([
            replay(9, 1, (64, 528), 10.0),
            replay(9, 2, (64, 528), 10.0),
            replay(9, 2, (128, 528), 1.0),
        ]);
        let mut replayed = Replayed::none(1);
        replayed.add(&loops, &build(plan.clone(), vec![9]), &times);
        assert_eq!(replayed.times[0], BTreeMap::from([(2, 20.0)]));
        let mut refused = Replayed::none(1);
        times = Times { refused: [(9, "it is slow".to_owned())].into(), ..Times::default() };
        refused.add(&loops, &build(plan.clone(), vec![9]), &times);
        assert!(!refused.has(0));
        assert_eq!(refused.refused, BTreeMap::from([(7, "it is slow".to_owned())]));
    }
}
