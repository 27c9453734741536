//! `tune`: builds and runs what is legal, and writes what is fastest.

mod arguments;
mod bridge;
mod entries;
mod lanes;
mod places;
mod table;
mod winner;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub(super) use self::arguments::TuneCommand;

use self::arguments::Check;
use self::lanes::Several;
use self::winner::Winner;
use crate::cli::headers::{self, Loaded};
use crate::cli::process;
use crate::cli::progress::Progress;
use crate::cli::rewrite::STACK_BYTES;
use crate::cli::settings::{Resolver, Settings};
use crate::cli::{Status, Streams, complain, device};
use crate::engine::Options;
use crate::plan::Pass;
use crate::plan::instructions::Instructions;
use crate::source::SourceFile;
use crate::tune::build::Recipe;
use crate::tune::decision::{Outcome, Stage, decide};
use crate::tune::prepare::{Places, Prepared, Wanted, Workshop, prepare};
use crate::tune::space::{Source, Space};
use crate::tune::store::{self, Manifest, Measurement};
use crate::tune::task::{ClockKind, Task};
use crate::validate::interrupt;

/// The part of the candidates that is built unless another one is asked for.
const QUARTER: f64 = 0.25;

/// Tunes one file, or does a half of it.
pub(super) fn run(command: &TuneCommand, streams: &mut Streams<'_>) -> io::Result<Status> {
    let progress = Progress::new(command.quiet);
    // Trees are walked here and by the workers, as deep as elsewhere. Where another pool is there already, it stays.
    let _other = rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES).build_global();
    let done = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        let worker = thread.spawn_scoped(scope, || done(command, &progress))?;
        worker.join().map_err(|_| io::Error::other("this tool failed, and nothing is written"))
    });
    drop(progress);
    match done {
        Ok(Ok(done)) => done.tell(command, streams),
        Ok(Err(message)) => complain(streams, &message),
        Err(error) => complain(streams, &error.to_string()),
    }
}

fn done(command: &TuneCommand, progress: &Progress) -> Result<Done, String> {
    let watch = |step: &str| progress.step(step.to_owned());
    match (&command.measure, &command.finish) {
        (Some(folder), _) => measured(folder, command, &watch).map(|found| Done::Measured(Box::new(found))),
        (_, Some(folder)) => finished(folder, command).map(|winner| Done::Won(Box::new(winner))),
        _ => tuned(command, &watch),
    }
}

/// What a run came to.
enum Done {
    /// The spaces were written down.
    Emitted(PathBuf),
    /// Everything is prepared in a folder: how many builds there are.
    Prepared(PathBuf, usize),
    /// What was prepared was measured.
    Measured(Box<Measurement>),
    /// There is a text to be written.
    Won(Box<Winner>),
}

impl Done {
    fn tell(self, command: &TuneCommand, streams: &mut Streams<'_>) -> io::Result<Status> {
        match self {
            Self::Emitted(path) => {
                writeln!(streams.stderr, "{} holds the spaces", path.display())?;
                Ok(Status::Clean)
            }
            Self::Prepared(folder, builds) => {
                let shown = folder.display();
                writeln!(
                    streams.stderr,
                    "{builds} builds are in {shown}; `ompsplit tune --measure {shown}` runs them, also on another machine"
                )?;
                Ok(Status::Clean)
            }
            Self::Measured(measurement) => {
                table::tell(&measurement, command, None, streams)?;
                Ok(if measurement.outcome.faults.is_empty() { Status::Clean } else { Status::Failure })
            }
            Self::Won(winner) => winner.finish(command, streams),
        }
    }
}

/// A file with all that the engine needs for it.
struct Read {
    file: SourceFile,
    loaded: Loaded,
    options: Options,
    settings: Settings,
    config: Option<PathBuf>,
    ignores_config: bool,
}

impl Read {
    /// Reads the file that the command names, with its settings.
    fn of(command: &TuneCommand) -> Result<Self, String> {
        let Some(path) = &command.path else { return Err("no file is given".to_owned()) };
        let output = crate::cli::arguments::OutputArguments::default();
        let resolver = Resolver::new(&command.context, &command.passes, &output, &command.host);
        let settings = resolver.settings(path)?;
        let config = resolver.config_path(path)?;
        let text = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let file = SourceFile::new(path, text);
        let loaded = headers::load(&file, &settings.include_dirs, &settings.sources);
        if !command.passes.lines.is_empty() {
            return Err("--lines is for rewriting; all kernels of a file are tuned".to_owned());
        }
        // What was tuned before is open again.
        let mut options = Options { instructions: Arc::new(Instructions::default()), ..process::options(&settings) };
        // Copies beside kernels need a header that the project may not have yet; they change no kernel that is timed.
        options.passes = options.passes.without(&[Pass::Pipeline, Pass::Overlap]);
        Ok(Self { file, loaded, options, settings, config, ignores_config: command.context.no_config })
    }

    fn source(&self) -> Source<'_> {
        Source { file: &self.file, headers: &self.loaded.files, options: &self.options }
    }
}

/// All of it, or up to the builds, or the bridge to another tuner.
fn tuned(command: &TuneCommand, watch: &dyn Fn(&str)) -> Result<Done, String> {
    let read = Read::of(command)?;
    if let Some(path) = &command.read_kernel_tuner {
        return bridge::read(path, &read).map(|winner| Done::Won(Box::new(winner)));
    }
    let (Some(build), Some(run)) = (&command.build, &command.run) else {
        let Some(path) = &command.emit_kernel_tuner else {
            return Err("--build and --run say how the program is built and run".to_owned());
        };
        bridge::emit(path, &read, None)?;
        return Ok(Done::Emitted(path.clone()));
    };
    let project = command.project.clone().unwrap_or_else(|| PathBuf::from("."));
    let project = project.canonicalize().map_err(|error| format!("{}: {error}", project.display()))?;
    let file = inside(&read.file.path, &project)?;
    let task = task(command, &read.settings, file.clone(), run)?;
    let recipe = Recipe { command: build.clone(), limit: seconds(command.build_timeout), file };
    let part = if command.exhaustive { 1.0 } else { command.part.unwrap_or(QUARTER) };
    let stored = command.prepare.as_deref().map(places::empty).transpose()?;
    let wanted = Wanted {
        recipe,
        without: stored.iter().cloned().collect(),
        part,
        most: command.candidates,
        // Where a machine is only prepared for, nothing here tells which clock it has.
        clock: command.clock.or_else(|| stored.as_ref().map(|_| ClockKind::Device)),
        builds_later: stored.is_none(),
        project: project.clone(),
    };
    let own = places::work_folder(&project)?;
    let work = own.path().join("work");
    let places = match &stored {
        Some(folder) => store::places(folder, work),
        None => Places { work, base: own.path().join("base"), clock: own.path().join("clock") },
    };
    let (prepared, workshop) = prepare(read.source(), &wanted, &task, &places, watch)?;
    if let Some(folder) = stored {
        store::write(&folder, &prepared, &task)?;
        return Ok(Done::Prepared(folder, prepared.builds.len()));
    }
    let device = name_of_device(prepared.kind, &read.settings, command);
    let several = Several::copy(command, &task, &prepared.project, own.path())?;
    let outcome = outcome(&task, prepared, &workshop, &several, watch)?;
    if let Some(path) = &command.emit_kernel_tuner {
        bridge::emit(path, &read, Some(&outcome))?;
    }
    let measurement = Measurement { outcome, device, date: places::today() };
    Winner::of(&read, workshop.space(), measurement).map(|winner| Done::Won(Box::new(winner)))
}

fn outcome(
    task: &Task,
    prepared: Prepared,
    workshop: &Workshop<'_>,
    several: &Several,
    watch: &dyn Fn(&str),
) -> Result<Outcome, String> {
    let Prepared { project, loops, builds, replays, dropped, clock, is_plain, .. } = prepared;
    let compose = |plan: &_| workshop.build(&project, plan);
    let stage = Stage {
        task,
        lanes: &several.lanes(&project),
        loops: &loops,
        builds,
        replays,
        clock: clock.as_ref().ok(),
        is_plain,
        compose: Some(&compose),
        watch,
    };
    let mut outcome = decide(stage)?;
    outcome.dropped.splice(0..0, dropped);
    Ok(outcome)
}

/// Measures what was prepared in a folder.
fn measured(folder: &Path, command: &TuneCommand, watch: &dyn Fn(&str)) -> Result<Measurement, String> {
    // Commands run elsewhere, and find its parts by these paths.
    let folder = &folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
    let manifest = Manifest::read(folder)?;
    let mut task = manifest.task.clone();
    if let Some(launcher) = &command.launcher {
        task.launcher = Some(launcher.clone());
    }
    task.rounds = command.rounds.map(usize::from).or(task.rounds);
    task.is_exhaustive |= command.exhaustive;
    task.replays &= !command.no_replay;
    if let Some(budget) = command.budget {
        task.budget = seconds(budget);
    }
    watch("copying the project");
    let own = interrupt::folder().map_err(|error| error.to_string())?;
    task.environment.extend(lanes::check(command, task.launcher.as_deref())?);
    let project = manifest.project(folder, &own.path().join("work"))?;
    let several = Several::copy(command, &task, &project, own.path())?;
    let clock = Manifest::clock(folder).filter(|_| command.clock != Some(ClockKind::Wall));
    let stage = Stage {
        task: &task,
        lanes: &several.lanes(&project),
        loops: &manifest.loops,
        builds: manifest.builds(folder)?,
        replays: manifest.replays(folder)?,
        clock: clock.as_ref(),
        is_plain: manifest.is_plain,
        compose: None,
        watch,
    };
    let mut outcome = decide(stage)?;
    outcome.dropped.splice(0..0, manifest.dropped);
    let device = device::name(command.gpus.first().map(String::as_str)).filter(|_| outcome.clock == ClockKind::Device);
    let device = device.unwrap_or_else(|| WALL.to_owned());
    let measurement = Measurement { outcome, device, date: places::today() };
    measurement.write(folder)?;
    Ok(measurement)
}

/// Takes what was measured elsewhere for the file that it was prepared from.
fn finished(folder: &Path, command: &TuneCommand) -> Result<Winner, String> {
    let read = Read::of(command)?;
    let manifest = Manifest::read(folder)?;
    let builds = manifest.builds(folder)?;
    if builds.first().is_none_or(|original| original.text != read.file.text) {
        return Err(format!("{} was changed since {} was prepared", read.file.path.display(), folder.display()));
    }
    let space = Space::read(read.source()).map_err(|error| error.to_string())?;
    Winner::of(&read, &space, Measurement::read(folder)?)
}

/// What stands for a device where the whole program was timed.
const WALL: &str = "this machine";

fn name_of_device(kind: ClockKind, settings: &Settings, command: &TuneCommand) -> String {
    match kind {
        ClockKind::Wall => WALL.to_owned(),
        ClockKind::Device => device::name(command.gpus.first().map(String::as_str))
            .or_else(|| settings.device.as_ref().map(|device| device.title.clone()))
            .unwrap_or_else(|| WALL.to_owned()),
    }
}

/// The path of a file below the project's folder.
fn inside(file: &Path, project: &Path) -> Result<PathBuf, String> {
    let path = file.canonicalize().map_err(|error| format!("{}: {error}", file.display()))?;
    path.strip_prefix(project).map(Path::to_owned).map_err(|_| {
        format!(
            "{} is not below {}, which is copied and built: name another folder by --project",
            path.display(),
            project.display()
        )
    })
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

fn task(command: &TuneCommand, settings: &Settings, file: PathBuf, run: &str) -> Result<Task, String> {
    let invocation = &settings.host.invocation;
    let comparison = &settings.host.comparison;
    if let Some(range) = &command.size
        && !range.is_named_in(run)
    {
        return Err(format!("--run does not name the size: write {{{}}} where it stands", range.name));
    }
    let stdin = invocation.stdin.as_ref().map(|path| path.canonicalize());
    let stdin = stdin.transpose().map_err(|error| format!("standard input of the program: {error}"))?;
    let mut environment = invocation.environment.clone();
    environment.extend(lanes::check(command, command.launcher.as_deref())?);
    Ok(Task {
        file,
        run: run.to_owned(),
        launcher: command.launcher.clone(),
        environment,
        stdin,
        timeout: invocation.timeout,
        comparison: (command.check == Check::Outputs).then(|| comparison.clone()),
        exit: comparison.exit,
        size: command.size.clone(),
        budget: command.budget.map_or(Duration::from_secs(3600), seconds),
        rounds: command.rounds.map(usize::from),
        is_exhaustive: command.exhaustive,
        replays: !command.exhaustive && !command.no_replay,
    })
}
