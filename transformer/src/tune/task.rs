//! What is tuned and how it is run: all that a machine must know that measures what another one built.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::choices::{Choice, Form, Plan};
use super::clock::FileId;
use super::lane::JOB;
use super::project::Product;
use super::search::Arms;
use super::size::SizeRange;
use super::space::{Space, Written};
use crate::validate::host::Comparison;

/// Which clock counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockKind {
    /// The device's own.
    #[default]
    Device,
    /// The time of the whole program.
    Wall,
}

/// How the program is run, and how its results are judged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// The source, relative to the project's folder.
    pub file: PathBuf,
    /// The command that runs the program.
    pub run: String,
    /// What stands before it: `srun -n 1`.
    pub launcher: Option<String>,
    /// Variables added to its environment.
    pub environment: BTreeMap<String, String>,
    /// The file that is its standard input.
    pub stdin: Option<PathBuf>,
    /// The longest that one run may take.
    pub timeout: Duration,
    /// How results are compared; `None` where the exit status alone counts.
    pub comparison: Option<Comparison>,
    /// The exit status that it ends with.
    pub exit: i32,
    /// The sizes of problems to search at.
    pub size: Option<SizeRange>,
    /// How long all measurements may take.
    pub budget: Duration,
    /// The last rounds, and those of an exhaustive search, where another number than usual is asked for.
    pub rounds: Option<usize>,
    /// Is every candidate measured in all rounds, at the largest size?
    pub is_exhaustive: bool,
    /// May grids be tried by launching a kernel many times within one run?
    pub replays: bool,
}

impl Task {
    /// The command for a size, as it is called in a lane.
    #[must_use]
    pub fn command(&self, size: Option<u64>, lane: usize) -> String {
        let run = match (&self.size, size) {
            (Some(range), Some(size)) => range.substituted(&self.run, size),
            _ => self.run.clone(),
        };
        let launcher = self.launcher.as_ref().map(|launcher| launcher.replace(JOB, &lane.to_string()));
        launcher.map_or_else(|| run.clone(), |launcher| format!("{launcher} {run}"))
    }
}

/// One build.
#[derive(Clone, Debug)]
pub struct Build {
    /// What was chosen in it.
    pub plan: Plan,
    /// The text of the source.
    pub text: Vec<u8>,
    /// The lines of all kernels of the source.
    pub lines: Vec<usize>,
    /// The lines of each group of kernels that is tuned.
    pub tuned: Vec<Vec<usize>>,
    /// How its kernels are named.
    pub id: FileId,
    /// Does it rest on assumptions?
    pub is_assumed: bool,
    /// What it tells of which choices.
    pub arms: Arms,
    /// The files it made.
    pub product: Product,
}

/// A kernel that is tuned, for people and for the search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TunedLoop {
    /// The line of its directive in the text that the passes make.
    pub line: usize,
    /// How many candidates there were before most were left out by their predictions.
    pub candidates: usize,
    /// The choices that may be built, by the numbers that [`Arms`] give: the first is what the passes choose.
    pub choices: Vec<Choice>,
    /// How many of them, from the first one, are likely to be fast: the others are tried only where that costs little.
    pub likely: usize,
    /// The forms in which the grid can be chosen at a launch.
    pub open: Vec<Form>,
    /// Why it cannot, if there are grids and it cannot.
    #[serde(default)]
    pub closed: Option<String>,
    /// The predicted microseconds of each.
    pub predicted: Vec<Option<f64>>,
}

impl TunedLoop {
    /// Leaves out what is not likely to be fast.
    pub fn keep_likely(&mut self) {
        self.choices.truncate(self.likely);
        self.predicted.truncate(self.likely);
        self.open.clear();
    }
}

/// The loops of a space; the choices of each are numbered. `totals` says how many there were, and `likely` how many are likely to be fast.
#[must_use]
pub fn loops(space: &Space, totals: &[usize], likely: &[usize]) -> Vec<TunedLoop> {
    let of_kernel = |((kernel, total), likely): ((&super::space::TunableKernel, &usize), &usize)| {
        let own = kernel.candidates.iter().map(|candidate| (candidate.choice, candidate.predicted));
        let (choices, predicted) = std::iter::once((Choice::Passes, None)).chain(own).unzip();
        let open = kernel.open.clone();
        let closed = kernel.closed.map(str::to_owned);
        let mut one =
            TunedLoop { line: kernel.line, candidates: *total, choices, likely: likely + 1, open, closed, predicted };
        if one.open.is_empty() {
            one.keep_likely();
        }
        one
    };
    space.kernels.iter().zip(totals).zip(likely).map(of_kernel).collect()
}

/// The plans to be built, beside the original and what the passes make: with the device's clock each build tries something of every kernel at
/// once, otherwise of one alone.
#[must_use]
pub fn plans(loops: &[TunedLoop], clock: ClockKind) -> Vec<Plan> {
    match clock {
        ClockKind::Device => {
            let most = loops.iter().map(|one| one.choices.len()).max().unwrap_or(1);
            let choice = |one: &TunedLoop, at: usize| one.choices.get(at).copied().unwrap_or_default();
            (1..most).map(|at| Plan::Chosen(loops.iter().map(|one| choice(one, at)).collect())).collect()
        }
        ClockKind::Wall => {
            let alone = |(index, one): (usize, &TunedLoop)| {
                let plan = move |choice: &Choice| {
                    let mut choices = vec![Choice::Passes; loops.len()];
                    if let Some(own) = choices.get_mut(index) {
                        *own = *choice;
                    }
                    Plan::Chosen(choices)
                };
                one.choices.iter().skip(1).map(plan).collect::<Vec<_>>()
            };
            loops.iter().enumerate().flat_map(alone).collect()
        }
    }
}

/// The plans that have one choice each of a plan with several: where that fails, they tell which choice is at fault. Empty where there is one.
#[must_use]
pub fn apart(plan: &Plan) -> Vec<Plan> {
    let Plan::Chosen(choices) = plan else { return Vec::new() };
    let alone = |(index, choice): (usize, &Choice)| {
        let mut all = vec![Choice::Passes; choices.len()];
        if let Some(own) = all.get_mut(index) {
            *own = *choice;
        }
        (*choice != Choice::Passes).then_some(Plan::Chosen(all))
    };
    let all: Vec<Plan> = choices.iter().enumerate().filter_map(alone).collect();
    if all.len() > 1 { all } else { Vec::new() }
}

/// What a build of a plan tells of which choices. `is_plain`: is the original the text in which nothing is chosen yet, so that it tells of that?
#[must_use]
pub fn arms(loops: &[TunedLoop], plan: &Plan, clock: ClockKind, is_plain: bool) -> Arms {
    let plain = Choice::Told { form: Form::Plain, grid: None };
    let chosen: Vec<Option<Choice>> = match plan {
        Plan::Original => loops.iter().map(|_| is_plain.then_some(plain)).collect(),
        Plan::Chosen(choices) => choices.iter().copied().map(Some).collect(),
    };
    let others = chosen.iter().flatten().filter(|choice| **choice != Choice::Passes).count();
    let arm = |(one, choice): (&TunedLoop, &Option<Choice>)| {
        let choice = (*choice)?;
        // The time of a whole program tells of what alone is different in it.
        let is_told = clock == ClockKind::Device || others <= 1 && (others == 0 || choice != Choice::Passes);
        let is_whole = *plan == Plan::Original && loops.len() > 1 && clock == ClockKind::Wall;
        one.choices.iter().position(|other| *other == choice).filter(|_| is_told && !is_whole)
    };
    loops.iter().zip(&chosen).map(arm).collect()
}

/// The lines of the groups of kernels in a text.
#[must_use]
pub fn tuned_lines(space: &Space, written: &Written, is_like_base: bool) -> Vec<Vec<usize>> {
    let line = |member: &usize| written.kernels.get(*member).map(|(line, _)| *line);
    let lines = |kernel: &super::space::TunableKernel| kernel.members.iter().filter_map(line).collect();
    space.kernels.iter().map(|kernel| if is_like_base { lines(kernel) } else { Vec::new() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::instructions::{Grid, Teams};

    fn told(threads: u32) -> Choice {
        Choice::Told { form: Form::Plain, grid: Some(Grid { threads, teams: Teams::Runtime }) }
    }

    fn two_loops() -> Vec<TunedLoop> {
        let plain = Choice::Told { form: Form::Plain, grid: None };
        let one = |choices: Vec<Choice>| TunedLoop {
            line: 1,
            candidates: 9,
            predicted: Vec::new(),
            likely: choices.len(),
            open: Vec::new(),
            closed: None,
            choices,
        };
        vec![one(vec![Choice::Passes, plain, told(32)]), one(vec![Choice::Passes, told(64)])]
    }

    #[test]
    fn a_build_tries_something_of_each_kernel() {
        let loops = two_loops();
        let plans = plans(&loops, ClockKind::Device);
        assert_eq!(plans.len(), 2);
        let all: Vec<Arms> = plans.iter().map(|plan| arms(&loops, plan, ClockKind::Device, true)).collect();
        assert_eq!(all, [vec![Some(1), Some(1)], vec![Some(2), Some(0)]]);
        assert_eq!(arms(&loops, &Plan::Original, ClockKind::Device, true), [Some(1), None]);
        assert_eq!(arms(&loops, &Plan::Original, ClockKind::Device, false), [None, None]);
    }

    #[test]
    fn what_fails_together_is_tried_apart() {
        let both = Plan::Chosen(vec![told(32), told(64), Choice::Passes]);
        let alone = [vec![told(32), Choice::Passes, Choice::Passes], vec![Choice::Passes, told(64), Choice::Passes]];
        assert_eq!(apart(&both), alone.map(Plan::Chosen));
        assert!(apart(&Plan::Chosen(vec![Choice::Passes, told(64)])).is_empty() && apart(&Plan::Original).is_empty());
    }

    #[test]
    fn a_whole_program_tells_of_one_kernel() {
        let loops = two_loops();
        let plans = plans(&loops, ClockKind::Wall);
        assert_eq!(plans.len(), 3);
        let told = |plan: &Plan| arms(&loops, plan, ClockKind::Wall, true);
        assert_eq!(told(&plans[1]), [Some(2), None]);
        assert_eq!(told(&plans[2]), [None, Some(1)]);
        assert_eq!(told(&Plan::passes(2)), [Some(0), Some(0)]);
        assert_eq!(told(&Plan::Original), [None, None]);
    }
}
