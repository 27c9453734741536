//! Arguments, configuration and exit codes.

mod advise;
mod arguments;
mod commands;
mod compiler_flags;
mod config;
mod device;
mod explain;
mod generate;
mod headers;
mod help;
mod inputs;
mod missing_headers;
mod passes;
mod pin_header;
mod pipeline;
mod process;
mod progress;
mod project_report;
mod review;
mod rewrite;
mod server;
mod settings;
mod snapshot;
mod suggest;
mod tune;
mod tuned;
mod uncommitted;
mod verify;

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

pub use arguments::VerifyLevel;
use arguments::{Arguments, ColorWhen, Command};
pub use compiler_flags::CompilerFlags;
pub use process::Engine;

use crate::validate::{cache, interrupt};

/// The exit status of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Nothing to do, or written.
    #[default]
    Clean,
    /// `--check` or `--diff` would change something, or a refusal counts as an error.
    Findings,
    /// Wrong usage, unreadable files, failed validation.
    Failure,
}

impl Status {
    /// The number that the process ends with.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Findings => 1,
            Self::Failure => 2,
        }
    }
}

/// Where a run reads and writes.
pub struct Streams<'a> {
    /// Standard input.
    pub stdin: &'a mut dyn Read,
    /// Standard output.
    pub stdout: &'a mut dyn Write,
    /// Standard error.
    pub stderr: &'a mut dyn Write,
    /// May standard output be coloured without being asked?
    pub stdout_colour: bool,
    /// May standard error?
    pub stderr_colour: bool,
}

/// Runs the program with the process's arguments and streams.
#[must_use]
pub fn main() -> ExitCode {
    interrupt::catch_signals();
    if let Some(folder) = cache_folder() {
        cache::keep_in(folder);
    }
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let mut streams = Streams {
        stdin: &mut io::stdin(),
        stdout: &mut io::BufWriter::new(io::stdout()),
        stderr: &mut io::BufWriter::new(io::stderr()),
        stdout_colour: !plain && io::stdout().is_terminal(),
        stderr_colour: !plain && io::stderr().is_terminal(),
    };
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let status = run(&arguments, &mut streams, crate::engine::run);
    cache::tidy();
    ExitCode::from(status.code())
}

/// Where what compilers say is kept: the folder that `OMPSPLIT_CACHE` names, or one in the user's cache. `off` keeps nothing.
fn cache_folder() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    match named("OMPSPLIT_CACHE") {
        Some(folder) if folder == Path::new("off") => None,
        Some(folder) => Some(folder),
        None => {
            let caches = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
            Some(caches.filter(|folder| folder.is_absolute())?.join("ompsplit"))
        }
    }
}

/// Runs the program. The first argument is its own name.
pub fn run(arguments: &[OsString], streams: &mut Streams<'_>, engine: Engine) -> Status {
    let arguments = arguments::with_joined_values(arguments);
    let status = match Arguments::try_parse_from(&arguments) {
        Ok(parsed) => dispatch(&parsed, streams, engine),
        Err(error) => usage(&arguments, &error, streams),
    };
    // A reader that went away (`| head`) is no reason to complain, but what it missed was not delivered.
    let flushed = streams.stdout.flush().and(streams.stderr.flush());
    match (status, flushed) {
        (Ok(status), Ok(())) => status,
        (Err(error), _) | (Ok(_), Err(error)) => {
            if error.kind() != io::ErrorKind::BrokenPipe {
                let _lost = writeln!(streams.stderr, "ompsplit: {error}").and(streams.stderr.flush());
            }
            Status::Failure
        }
    }
}

/// Runs the command, or rewrites.
fn dispatch(arguments: &Arguments, streams: &mut Streams<'_>, engine: Engine) -> io::Result<Status> {
    match &arguments.command {
        Some(Command::Rule { id }) => commands::rule(id.as_deref(), streams),
        Some(Command::Explain {
            place,
            context,
            assume,
            passes,
            assumed_iterations,
            device_memory,
            versioned,
            retune,
            device,
            facts,
            resources,
            pipeline,
        }) => {
            let passes = arguments::PassArguments {
                passes: passes.clone(),
                assume: assume.clone(),
                assumed_iterations: *assumed_iterations,
                device_memory: *device_memory,
                versioned: *versioned,
                retune: *retune,
                device: device.clone(),
                facts: *facts,
                resources: *resources,
                pipeline: *pipeline,
                ..Default::default()
            };
            explain::explain(place, context, passes, streams, engine)
        }
        Some(Command::Devices) => commands::devices(streams),
        Some(Command::Generate { what }) => generate::run(*what, streams),
        Some(Command::Report(command)) => project_report::run(command, streams, engine),
        Some(Command::Review(command)) => review::run(command, streams, engine),
        Some(Command::Snapshot(command)) => snapshot::run(command, streams, engine),
        Some(Command::Advise(command)) => advise::run(command, streams),
        Some(Command::Tune(command)) => tune::run(command, streams),
        Some(Command::Server) => server::run(engine),
        Some(Command::Header) => commands::header(streams),
        None => rewrite::run(&arguments.rewrite, streams, engine),
    }
}

/// Prints help and version where they were asked for, else what is wrong with the arguments.
fn usage(arguments: &[OsString], error: &clap::Error, streams: &mut Streams<'_>) -> io::Result<Status> {
    if !error.use_stderr() {
        let text = error.render();
        if streams.stdout_colour {
            write!(streams.stdout, "{}", text.ansi())?
        } else {
            write!(streams.stdout, "{text}")?
        }
        return Ok(Status::Clean);
    }
    pass_input_on(arguments, streams)?;
    let text = error.render();
    if streams.stderr_colour {
        write!(streams.stderr, "{}", text.ansi())?
    } else {
        write!(streams.stderr, "{text}")?
    }
    Ok(Status::Failure)
}

/// Copies standard input to standard output where the arguments, wrong as they are, ask for it to be rewritten: an
/// editor replaces its buffer with whatever comes.
fn pass_input_on(arguments: &[OsString], streams: &mut Streams<'_>) -> io::Result<()> {
    let ours = || arguments.iter().skip(1).map(OsString::as_os_str).take_while(|word| *word != "--");
    let given = |name: &str| ours().any(|word| word == OsStr::new(name));
    if given("-") && !given("--check") && !given("--diff") {
        io::copy(streams.stdin, streams.stdout)?;
    }
    Ok(())
}

/// Is a stream coloured?
fn colour(when: ColorWhen, by_itself: bool) -> bool {
    match when {
        ColorWhen::Auto => by_itself,
        ColorWhen::Always => true,
        ColorWhen::Never => false,
    }
}

/// Prints a message about the run itself.
fn complain(streams: &mut Streams<'_>, message: &str) -> io::Result<Status> {
    writeln!(streams.stderr, "ompsplit: error: {message}")?;
    Ok(Status::Failure)
}
