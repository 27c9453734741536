//! `--gpus` and `--jobs`: the copies in which several runs are made at a time.

use std::collections::BTreeSet;
use std::path::Path;

use super::arguments::TuneCommand;
use crate::cli::device;
use crate::tune::lane::{JOB, Lane, VISIBLE};
use crate::tune::project::Project;
use crate::tune::task::Task;

/// More copies than the first one, and what each is for.
pub(super) struct Several {
    more: Vec<Project>,
    gpus: Vec<String>,
    /// Does the launcher say where the runs of a lane are made?
    is_pinned: bool,
}

impl Several {
    /// One copy is there already.
    fn one() -> Self {
        Self { more: Vec::new(), gpus: Vec::new(), is_pinned: false }
    }

    /// Makes the copies that the command asks for, in a folder.
    pub fn copy(command: &TuneCommand, task: &Task, first: &Project, folder: &Path) -> Result<Self, String> {
        let count = command.jobs.map_or(command.gpus.len(), usize::from);
        let is_pinned = task.launcher.as_ref().is_some_and(|launcher| launcher.contains(JOB));
        let mut all = Self { gpus: command.gpus.clone(), is_pinned, ..Self::one() };
        if count > 1
            && let Some(name) = first.bound_to_its_place()
        {
            return Err(format!(
                "{} leads to the folder in which it was built, so that copies of it would run each other's files: link without an rpath to that \
                 folder, or leave {} out",
                name.display(),
                if command.jobs.is_some() { "--jobs" } else { "--gpus" }
            ));
        }
        for number in 1..count {
            let place = folder.join(format!("work-{number}"));
            all.more.push(first.another(&place).map_err(|error| format!("{}: {error}", place.display()))?);
        }
        Ok(all)
    }

    /// The lanes.
    pub fn lanes<'a>(&'a self, first: &'a Project) -> Vec<Lane<'a>> {
        let lane = |(number, project)| {
            let gpu = self.gpus.get(number).map(String::as_str);
            let device = if gpu.is_some() || self.is_pinned { number } else { 0 };
            Lane { project, gpu, number, device }
        };
        std::iter::once(first).chain(&self.more).enumerate().map(lane).collect()
    }
}

/// Is what is asked for something that can be measured? Gives the variables that all runs have.
pub(super) fn check(command: &TuneCommand, launcher: Option<&str>) -> Result<Vec<(String, String)>, String> {
    if command.jobs.is_some_and(|jobs| jobs.get() > 1) && launcher.is_none() {
        return Err("--jobs needs a --launcher that runs each job on a node of its own: two runs on one device would disturb each other".to_owned());
    }
    let different: BTreeSet<&String> = command.gpus.iter().collect();
    if different.len() < command.gpus.len() {
        return Err("--gpus names a device twice: two runs on one device would disturb each other".to_owned());
    }
    if command.gpus.iter().any(|gpu| gpu.trim().is_empty()) {
        return Err("--gpus names the devices by their numbers, as `0,1`, or as `GPU-..`".to_owned());
    }
    let kinds: BTreeSet<String> = command.gpus.iter().filter_map(|gpu| device::name(Some(gpu))).collect();
    if kinds.len() > 1 {
        let kinds: Vec<String> = kinds.into_iter().collect();
        return Err(format!(
            "--gpus names devices of several kinds, for which other grids are best: {}",
            kinds.join(", ")
        ));
    }
    // What runs alone runs on the first of them too.
    let first = command.gpus.first().into_iter();
    Ok(first.flat_map(|gpu| VISIBLE.map(|name| (name.to_owned(), gpu.clone()))).collect())
}
