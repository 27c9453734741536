//! Runs builds: places what each made in the copy of the project, runs the command, holds the results against the original's and reads the
//! clock.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::Watch;
use super::clock::{self, Clock, Times};
use super::command::Shell;
use super::project::{self, Project};
use super::search::{Bench, Ran, Sample};
use super::task::{Build, ClockKind, Task};
use crate::validate::host::{Run, last_words, remove_images};
use crate::validate::interrupt::{self, Removal};

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
    /// The copy in which it is run.
    pub project: &'a Project,
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
        project: &'a Project,
        builds: Vec<Build>,
        clock: Option<&'a Clock>,
        watch: &'a Watch<'a>,
    ) -> Self {
        let (differing, references) = Default::default();
        let deadline = Instant::now().checked_add(task.budget).unwrap_or_else(Instant::now);
        let kind = ClockKind::Wall;
        Self { task, project, builds, clock, kind, size: None, deadline, watch, differing, references }
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
        let command = self.task.command(size);
        let Some(original) = self.builds.first() else { return Err("there is no build".to_owned()) };
        let (first, mut took, mut times) = self.execute(original, self.task.timeout, None)?;
        let expected = format!("exit {}", self.task.exit);
        if first.end != expected {
            return Err(format!("`{command}` ends with {} instead of {expected}{}", first.end, last_words(&first)));
        }
        if self.references.is_empty() {
            let (again, took_again, times_again) = self.execute(original, self.task.timeout, None)?;
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
        self.sample(self.builds.first()?, *took, times.as_ref())
    }

    /// Runs a build once, in which kernels are launched in other grids too, as `orders` say; `extra` is the time for that. Gives what the clock
    /// told, or why the run counts for nothing.
    ///
    /// # Errors
    /// When nothing can be run.
    pub fn replay(&self, build: &Build, orders: &str, extra: Duration) -> Result<Result<Times, String>, String> {
        let Some((reference, usual, ..)) = self.references.get(&self.size) else { return Err(NO_REFERENCE.to_owned()) };
        let limit = self.task.timeout.min((*usual * PATIENCE).max(LEAST_LIMIT) + extra);
        let (run, _, times) = self.execute(build, limit, Some(orders))?;
        if let Some(difference) = self.difference(reference, &run) {
            return Ok(Err(difference));
        }
        Ok(times.ok_or_else(|| NO_TIMES.to_owned()))
    }

    /// Runs a build once. `replay` says which kernels are launched in which other grids.
    fn execute(
        &self,
        own: &Build,
        limit: Duration,
        replay: Option<&str>,
    ) -> Result<(Run, Duration, Option<Times>), String> {
        let folder = self.project.folder();
        self.project.place(&own.product).map_err(|error| format!("{}: {error}", folder.display()))?;
        let files = self.task.comparison.as_ref().map(|comparison| comparison.files.as_slice()).unwrap_or_default();
        for file in files {
            // What an earlier run wrote is no result of this one.
            let _gone = fs::remove_file(folder.join(file));
        }
        let scratch = interrupt::folder().map_err(|error| error.to_string())?;
        let (times, orders) = (scratch.path().join("times"), scratch.path().join("orders"));
        let written = fs::create_dir(&times).and_then(|()| replay.map_or(Ok(()), |text| fs::write(&orders, text)));
        written.map_err(|error| format!("{}: {error}", scratch.path().display()))?;
        let environment = self.environment(&times, replay.map(|_| orders.as_path()));
        let line = self.task.command(self.size);
        let shell = Shell { line: &line, folder, environment: &environment, stdin: self.task.stdin.as_deref(), limit };
        let _images = Images::of(folder);
        let (mut run, took) = shell.run().map_err(|error| error.to_string())?;
        run.files = files.iter().map(|file| fs::read(folder.join(file)).ok()).collect();
        let times = self.clock.and_then(|_| clock::read(&times));
        Ok((run, took, times))
    }

    fn environment(&self, times: &Path, replay: Option<&Path>) -> Vec<(OsString, OsString)> {
        let own = &self.task.environment;
        let mut all: Vec<(OsString, OsString)> = own.iter().map(|(name, value)| (name.into(), value.into())).collect();
        if std::env::var_os("OMP_TARGET_OFFLOAD").is_none() && !own.contains_key("OMP_TARGET_OFFLOAD") {
            // What falls back to the host would be measured there.
            all.push(("OMP_TARGET_OFFLOAD".into(), "MANDATORY".into()));
        }
        if let Some(clock) = self.clock {
            let inherited = own.get("LD_LIBRARY_PATH").map(OsString::from);
            let inherited = inherited.or_else(|| std::env::var_os("LD_LIBRARY_PATH"));
            all.extend(clock.environment(times, inherited.as_deref(), replay));
        }
        all
    }

    fn difference(&self, expected: &Run, got: &Run) -> Option<String> {
        match &self.task.comparison {
            Some(comparison) => comparison.difference(expected, got),
            None if expected.end != got.end => Some(format!("it ends with {}{}", got.end, last_words(got))),
            None => None,
        }
    }

    fn sample(&self, build: &Build, took: Duration, times: Option<&Times>) -> Option<Sample> {
        if self.kind == ClockKind::Wall {
            let wall = took.as_secs_f64() * 1e6;
            return Some(Sample { kernels: None, all_kernels: wall, whole: wall });
        }
        let times = times?;
        let sum = |lines: &[usize]| times.at(build.id, lines).into_iter().flatten().sum::<f64>();
        let kernels = build.tuned.iter().map(|lines| sum(lines)).collect();
        let mut lines = build.lines.clone();
        lines.dedup();
        let all_kernels = sum(&lines);
        Some(Sample { kernels: Some(kernels), all_kernels, whole: all_kernels + times.copies })
    }
}

/// clang 19's x86_64 device leaves a file with each image that it loads. Those of the programs in a folder are removed.
struct Images {
    folder: PathBuf,
    since: SystemTime,
    /// A signal removes them too.
    _removal: Removal,
}

impl Images {
    fn of(folder: &Path) -> Self {
        let (folder, since) = (folder.to_owned(), SystemTime::now());
        let on_signal = folder.clone();
        let _removal = interrupt::on_signal(move || remove_images_of(&on_signal, since));
        Self { folder, since, _removal }
    }
}

impl Drop for Images {
    fn drop(&mut self) {
        remove_images_of(&self.folder, self.since);
    }
}

fn remove_images_of(folder: &Path, since: SystemTime) {
    let left = fs::read_dir(Path::new("/").join("tmp")).into_iter().flatten().flatten();
    let mut left = left.filter(|entry| entry.file_name().to_string_lossy().starts_with("tmpfile_"));
    if left.any(|entry| entry.metadata().and_then(|data| data.modified()).is_ok_and(|time| time >= since)) {
        project::programs(folder).iter().for_each(|program| remove_images(program, since));
    }
}

impl Bench for Runner<'_> {
    fn run(&mut self, build: usize) -> Result<Ran, String> {
        (self.watch)(&format!("measuring: run {} of {} builds", build + 1, self.builds.len()));
        let Some((reference, usual, ..)) = self.references.get(&self.size).cloned() else {
            return Err(NO_REFERENCE.to_owned());
        };
        let limit = self.task.timeout.min((usual * PATIENCE).max(LEAST_LIMIT));
        let Some(own) = self.builds.get(build) else { return Err("there is no such build".to_owned()) };
        let (run, took, times) = self.execute(own, limit, None)?;
        if run.end != reference.end && !run.end.starts_with("exit") {
            return Ok(Ran::Failed(format!("{}{}", run.end, last_words(&run))));
        }
        if let Some(difference) = self.difference(&reference, &run) {
            self.differing.insert(build, difference.clone());
            return Ok(Ran::Failed(difference));
        }
        let Some(own) = self.builds.get(build) else { return Err("there is no such build".to_owned()) };
        Ok(match self.sample(own, took, times.as_ref()) {
            Some(sample) => Ran::Done(sample),
            None => Ran::Failed(NO_TIMES.to_owned()),
        })
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }
}
