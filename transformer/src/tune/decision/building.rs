//! The builds that a search asks for, where they can be made, or else those that are there.

use super::Decision;
use crate::tune::choices::Plan;
use crate::tune::search::{Arms, rounds};
use crate::tune::task::{Build, TunedLoop, apart};

impl Decision<'_> {
    /// Builds of the best grids of the kernels that were replayed: each of one of every kernel, if they can be built, or else what there is.
    pub(super) fn finalists(&mut self) -> Vec<usize> {
        let loops = self.judge.loops.iter().enumerate();
        let best = loops.map(|(kernel, one)| self.replayed.best(kernel, one)).collect();
        self.builds_of(best)
    }

    /// Builds of other grids of the forms that lead, of the kernels that were replayed, where other forms did within the run.
    pub(super) fn other_grids(&mut self) -> Vec<usize> {
        let loops = self.judge.loops.iter().enumerate();
        let beside = |(kernel, one): (usize, &TunedLoop)| {
            let leading = self.judge.fastest(&self.end, kernel);
            leading.map_or_else(Vec::new, |leading| self.replayed.beside(kernel, one, leading))
        };
        let wanted = loops.map(beside).collect();
        self.builds_of(wanted)
    }

    /// Builds that hold these choices of each kernel.
    fn builds_of(&mut self, best: Vec<Vec<usize>>) -> Vec<usize> {
        let mut found = Vec::new();
        if self.compose.is_some() {
            for at in 0..best.iter().map(Vec::len).max().unwrap_or(0) {
                let choice = |(one, best): (&TunedLoop, &Vec<usize>)| {
                    best.get(at).and_then(|arm| one.choices.get(*arm)).copied().unwrap_or_default()
                };
                let plan = Plan::Chosen(self.judge.loops.iter().zip(&best).map(choice).collect());
                found.extend(self.with_plan(&plan));
            }
            return found;
        }
        for (kernel, arm) in
            best.iter().enumerate().flat_map(|(kernel, arms)| arms.iter().map(move |arm| (kernel, *arm)))
        {
            let holds = |arms: &Arms| arms.get(kernel) == Some(&Some(arm));
            found.extend(self.judge.arms.iter().position(holds));
        }
        found
    }

    /// The build of a plan, which is made if there is none of its text; several where it cannot be built together, none where it cannot be
    /// built at all.
    pub(super) fn with_plan(&mut self, plan: &Plan) -> Vec<usize> {
        if let Some(build) = self.runner.builds.iter().position(|build| build.plan == *plan) {
            return vec![build];
        }
        let Some(compose) = self.compose else { return Vec::new() };
        (self.runner.watch)(&format!("building candidate {}", self.runner.builds.len()));
        match compose(plan) {
            Ok(build) => vec![self.with_build(build)],
            Err(why) => {
                let alone = apart(plan);
                if alone.is_empty() {
                    self.dropped.push((plan.clone(), why));
                }
                alone.iter().flat_map(|plan| self.with_plan(plan)).collect()
            }
        }
    }

    /// The number of a build, which is an earlier one if that has the same text.
    fn with_build(&mut self, build: Build) -> usize {
        if let Some(same) = self.runner.builds.iter().position(|other| other.text == build.text) {
            return same;
        }
        self.judge.arms.push(self.judge.arms_of(&build));
        self.runner.builds.push(build);
        self.runner.builds.len() - 1
    }

    /// Runs those builds once that have choices for several kernels, and where one fails builds its choices apart, so that the one that is not
    /// at fault stays: gives the builds of these.
    pub(super) fn set_apart(&mut self, builds: &[usize]) -> Result<Vec<usize>, String> {
        if self.compose.is_none() {
            return Ok(Vec::new());
        }
        let alone = |build: usize| self.runner.builds.get(build).map(|it| apart(&it.plan)).unwrap_or_default();
        let is_new =
            |build: &usize| !self.search.samples.contains_key(build) && !self.search.failed.contains_key(build);
        let several = builds.iter().copied().map(|build| (build, alone(build)));
        let several: Vec<(usize, Vec<Plan>)> =
            several.filter(|(build, plans)| !plans.is_empty() && is_new(build)).collect();
        let numbers: Vec<usize> = several.iter().map(|(build, _)| *build).collect();
        rounds(&mut self.runner, &numbers, 1, &mut self.search)?;
        let mut found = Vec::new();
        for (build, plans) in several {
            if self.search.failed.contains_key(&build) {
                // What cannot be built alone is no loss: it is at fault.
                found.extend(plans.iter().flat_map(|plan| self.with_plan(plan)).collect::<Vec<_>>());
            }
        }
        Ok(found)
    }
}
