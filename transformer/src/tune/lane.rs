//! Where runs are made: one after the other in one copy of the project, or several at a time, each in a copy of its own.
//!
//! A lane runs one program at a time. With `--gpus` a lane is a device, which its programs alone see; with `--jobs` it is one of so many calls
//! of the launcher, which says by `{job}` where each is run.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::clock::{self, Clock, Times};
use super::command::Shell;
use super::project::{self, Project};
use super::search::Job;
use super::task::{Build, Task};
use crate::validate::host::{Run, remove_images};
use crate::validate::interrupt::{self, Removal};

/// The variables by which CUDA's and ROCm's runtimes are shown some devices alone.
pub const VISIBLE: [&str; 2] = ["CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"];
/// What stands in a launcher for the number of a lane.
pub const JOB: &str = "{job}";

/// Where one program runs at a time.
#[derive(Clone, Copy, Debug)]
pub struct Lane<'a> {
    /// The copy of the project in which it runs.
    pub project: &'a Project,
    /// The device that it sees; all devices where none is named.
    pub gpu: Option<&'a str>,
    /// The number that the launcher is told.
    pub number: usize,
    /// Which device its times are of. Lanes of which nobody knows where they run have the same one.
    pub device: usize,
}

impl<'a> Lane<'a> {
    /// The one lane of runs that are made one after the other.
    #[must_use]
    pub fn only(project: &'a Project) -> Self {
        Self { project, gpu: None, number: 0, device: 0 }
    }

    fn environment(&self) -> impl Iterator<Item = (OsString, OsString)> {
        self.gpu.into_iter().flat_map(|gpu| VISIBLE.map(|name| (name.into(), gpu.into())))
    }
}

/// What a run gave: what it printed, how long it took, and what the device's clock told.
pub type Ended = (Run, Duration, Option<Times>);

/// Runs builds in lanes.
#[derive(Clone, Copy, Debug)]
pub struct Executor<'a> {
    /// How the program is run.
    pub task: &'a Task,
    /// The device's clock, if there is one.
    pub clock: Option<&'a Clock>,
    /// The size of the problem.
    pub size: Option<u64>,
}

impl Executor<'_> {
    /// Runs a build once. `replay` says which kernels are launched in which other grids.
    ///
    /// # Errors
    /// When nothing can be run.
    pub fn execute(
        &self,
        lane: &Lane<'_>,
        build: &Build,
        limit: Duration,
        replay: Option<&str>,
    ) -> Result<Ended, String> {
        let folder = lane.project.folder();
        lane.project.place(&build.product).map_err(|error| format!("{}: {error}", folder.display()))?;
        let files = self.task.comparison.as_ref().map(|comparison| comparison.files.as_slice()).unwrap_or_default();
        for file in files {
            // What an earlier run wrote is no result of this one.
            let _gone = fs::remove_file(folder.join(file));
        }
        let scratch = interrupt::folder().map_err(|error| error.to_string())?;
        let (times, orders) = (scratch.path().join("times"), scratch.path().join("orders"));
        let written = fs::create_dir(&times).and_then(|()| replay.map_or(Ok(()), |text| fs::write(&orders, text)));
        written.map_err(|error| format!("{}: {error}", scratch.path().display()))?;
        let mut environment = self.environment(&times, replay.map(|_| orders.as_path()));
        environment.extend(lane.environment());
        let line = self.task.command(self.size, lane.number);
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

    /// Runs builds in all lanes at once, each lane one after the other in the order of the jobs, until the time is over. Gives which lane ran
    /// each job and what came of it; `None` for what was not run any more.
    #[must_use]
    pub fn together(
        &self,
        lanes: &[Lane<'_>],
        builds: &[Build],
        jobs: &[Job],
        limit: Duration,
        deadline: Instant,
    ) -> Vec<Option<(usize, Result<Ended, String>)>> {
        let waiting: Mutex<Vec<bool>> = Mutex::new(vec![true; jobs.len()]);
        let next = |lane: usize| {
            let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let is_mine = |at: &usize| {
                let job = jobs.get(*at);
                waiting.get(*at) == Some(&true) && job.is_some_and(|job| job.lane.is_none_or(|own| own == lane))
            };
            let at = (0..jobs.len()).find(is_mine)?;
            waiting.iter_mut().skip(at).take(1).for_each(|one| *one = false);
            Some(at)
        };
        let work = |number: usize, lane: &Lane<'_>| {
            let mut ended = Vec::new();
            while Instant::now() < deadline
                && let Some(at) = next(number)
                && let Some(build) = jobs.get(at).and_then(|job| builds.get(job.build))
            {
                ended.push((at, number, self.execute(lane, build, limit, None)));
            }
            ended
        };
        let mut all: Vec<Option<(usize, Result<Ended, String>)>> = jobs.iter().map(|_| None).collect();
        std::thread::scope(|scope| {
            let work = &work;
            let started = lanes.iter().enumerate().map(|(number, lane)| scope.spawn(move || work(number, lane)));
            let started: Vec<_> = started.collect();
            for (at, number, ended) in started.into_iter().flat_map(|thread| thread.join().unwrap_or_default()) {
                if let Some(place) = all.get_mut(at) {
                    *place = Some((number, ended));
                }
            }
        });
        all
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
