//! The main job: rewrite files, or say what would change.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use std::time::Instant;

use clap::CommandFactory;
use rayon::prelude::*;

use crate::cli::arguments::{Arguments, FormatName, Rewrite, StatsFormat};
use crate::cli::inputs::{self, Inputs};
use crate::cli::process::{self, Engine, Processed};
use crate::cli::progress::Progress;
use crate::cli::settings::{Resolver, Settings};
use crate::cli::suggest;
use crate::cli::uncommitted;
use crate::cli::verify;
use crate::cli::{Status, Streams, colour, complain};
use crate::output;
use crate::report::summary::{self, Telling};
use crate::report::{self, FileReport, Format, Severity, Stats, Told};
use crate::source::SourceFile;

/// The stack of each worker: the tools below walk trees whose depth is bounded, but not small.
pub(super) const STACK_BYTES: usize = 16 << 20;

/// The most files of which missing headers are named without being asked.
const MOST_MISSING: usize = 3;

/// More workers than this wait for each other, and take memory.
const JOBS_PER_PROCESSOR: usize = 4;

/// Where the new text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// To standard output.
    Text,
    /// Into the file.
    InPlace,
    /// Nowhere; the exit status tells.
    Check,
    /// Standard output shows the difference.
    Diff,
}

/// Rewrites what the arguments name.
pub(super) fn run(arguments: &Rewrite, streams: &mut Streams<'_>, engine: Engine) -> io::Result<Status> {
    let started = Instant::now();
    let mode = mode(arguments);
    let is_stdin = arguments.paths.iter().any(|path| path == Path::new("-"));
    let mut input = Vec::new();
    if is_stdin && let Err(error) = streams.stdin.read_to_end(&mut input) {
        return complain(streams, &format!("standard input cannot be read: {error}"));
    }
    let outcome = check_usage(arguments, mode, is_stdin).and_then(|()| {
        let resolver = resolver(arguments);
        if arguments.context.dump_config {
            return resolver.dump(&first_path(arguments)).map(Done::Dump);
        }
        let mut notes = notes(arguments, &resolver);
        let mut all = if is_stdin {
            vec![pool(1)?.install(|| process_stdin(arguments, &resolver, &input, engine))]
        } else {
            process_files(arguments, mode, false, &resolver, engine, &mut notes)?
        };
        let jobs = wanted_jobs(arguments).min(most_jobs());
        pool(jobs)?.install(|| verify::verify(&mut all, arguments.report.quiet));
        Ok(Done::Files(all, notes))
    });
    match outcome {
        Ok(Done::Files(all, notes)) => Job { arguments, mode, is_stdin, started }.finish(all, notes, streams),
        Ok(Done::Dump(text)) => write!(streams.stdout, "{text}").map(|()| Status::Clean),
        Err(message) => {
            if is_stdin && mode == Mode::Text {
                streams.stdout.write_all(&input)?;
            }
            complain(streams, &message)
        }
    }
}

/// What a run came to before anything is written.
enum Done {
    /// The files and the notes about the run.
    Files(Vec<Processed>, BTreeSet<String>),
    /// The configuration in effect.
    Dump(String),
}

fn mode(arguments: &Rewrite) -> Mode {
    let output = &arguments.output;
    match (output.in_place, output.diff, output.check) {
        (true, _, _) => Mode::InPlace,
        (_, true, _) => Mode::Diff,
        (_, _, true) => Mode::Check,
        _ => Mode::Text,
    }
}

fn resolver(arguments: &Rewrite) -> Resolver<'_> {
    Resolver::new(&arguments.context, &arguments.passes, &arguments.output, &arguments.host)
}

/// The path whose configuration is printed.
fn first_path(arguments: &Rewrite) -> PathBuf {
    match arguments.paths.first() {
        Some(path) if path == Path::new("-") => stdin_name(arguments),
        Some(path) if path.is_dir() => path.join("file.c"),
        Some(path) => path.clone(),
        None => PathBuf::from("file.c"),
    }
}

fn stdin_name(arguments: &Rewrite) -> PathBuf {
    arguments.output.stdin_filename.clone().unwrap_or_else(|| PathBuf::from("<stdin>"))
}

/// What clap cannot tell of the arguments.
fn check_usage(arguments: &Rewrite, mode: Mode, is_stdin: bool) -> Result<(), String> {
    if arguments.paths.is_empty() && !arguments.context.dump_config {
        return Err("no file is given; `-` reads standard input, `--help` shows examples".to_owned());
    }
    if let Some(message) = arguments.paths.first().and_then(|path| mistyped_command(path)) {
        return Err(message);
    }
    if is_stdin && arguments.paths.len() > 1 {
        return Err("`-` cannot be mixed with other paths".to_owned());
    }
    if is_stdin && mode == Mode::InPlace {
        return Err("standard input cannot be rewritten in place".to_owned());
    }
    if arguments.output.stdin_filename.is_some() && !is_stdin {
        return Err("--stdin-filename needs `-` as the path".to_owned());
    }
    if arguments.output.write_header.is_some() && mode != Mode::InPlace {
        return Err("--write-header needs --in-place".to_owned());
    }
    Ok(())
}

/// What is wrong with a first path that nobody has and that is almost a command: `reveiw`.
fn mistyped_command(path: &Path) -> Option<String> {
    let name = path.to_str().filter(|_| !path.exists())?;
    let commands = Arguments::command();
    let known = suggest::nearest(name, commands.get_subcommands().map(clap::Command::get_name))?;
    Some(format!("there is no file and no command `{name}`; did you mean `{known}`?"))
}

/// What the user should know about flags that do nothing yet.
fn notes(arguments: &Rewrite, resolver: &Resolver<'_>) -> BTreeSet<String> {
    let mut notes = BTreeSet::new();
    if let Ok(settings) = resolver.settings(&first_path(arguments)) {
        let unbuilt = settings.passes.unbuilt.iter();
        notes.extend(unbuilt.map(|pass| format!("the pass `{pass}` is planned but not built; it does nothing")));
    }
    notes
}

/// Processes the bytes of standard input.
fn process_stdin(arguments: &Rewrite, resolver: &Resolver<'_>, input: &[u8], engine: Engine) -> Processed {
    let file = SourceFile::new(stdin_name(arguments), input.to_vec());
    let named = arguments.output.stdin_filename.as_deref();
    match named.and_then(inputs::not_a_source).map_or_else(|| resolver.settings(&file.path), Err) {
        Ok(settings) => process::file(file, &settings, engine),
        Err(message) => Processed::failure(file, None, message),
    }
}

/// Processes all files, with explanations where these are wanted, and writes none of them.
pub(super) fn processed(
    arguments: &Rewrite,
    explain: bool,
    engine: Engine,
) -> Result<(Vec<Processed>, BTreeSet<String>), String> {
    let resolver = resolver(arguments);
    let mut notes = notes(arguments, &resolver);
    let all = process_files(arguments, Mode::Check, explain, &resolver, engine, &mut notes)?;
    Ok((all, notes))
}

/// Processes all files; nothing is written before the last is done, since one may include another.
fn process_files(
    arguments: &Rewrite,
    mode: Mode,
    explain: bool,
    resolver: &Resolver<'_>,
    engine: Engine,
    notes: &mut BTreeSet<String>,
) -> Result<Vec<Processed>, String> {
    let inputs = Inputs::find(&arguments.paths);
    notes.extend(inputs.empty.iter().map(|folder| format!("{} holds no C or C++ file", folder.display())));
    notes.extend(match inputs.fortran {
        0 => None,
        1 => Some("1 Fortran file is skipped: Fortran is not supported".to_owned()),
        count => Some(format!("{count} Fortran files are skipped: Fortran is not supported")),
    });
    if mode == Mode::Text && (arguments.paths.len() > 1 || inputs.has_folder) {
        return Err("several files need --in-place, --check or --diff".to_owned());
    }
    if !arguments.passes.lines.is_empty() && (inputs.files.len() > 1 || inputs.has_folder) {
        return Err("--lines needs a single file".to_owned());
    }
    let progress = Progress::new(arguments.report.quiet);
    let process = |(path, found): &(PathBuf, Result<(), String>)| {
        let processed = match found.clone().and_then(|()| resolver.settings(path)) {
            Ok(settings) => process::path(path, &Settings { explain, ..settings }, engine),
            Err(message) => Processed::failure(SourceFile::new(path.clone(), Vec::new()), None, message),
        };
        progress.file_done(inputs.files.len());
        processed
    };
    if let Some(first) = inputs.leading_out.first() {
        let count = inputs.leading_out.len();
        let path = first.display();
        notes.insert(format!("symbolic links are not followed out of a folder: {count} were found, first {path}"));
    }
    let wanted = wanted_jobs(arguments).min(inputs.files.len());
    let jobs = wanted.min(most_jobs()).max(1);
    if jobs < wanted {
        notes.insert(format!("only {jobs} files are processed at a time, {JOBS_PER_PROCESSOR} for each processor"));
    }
    Ok(pool(jobs)?.install(|| inputs.files.par_iter().map(process).collect()))
}

fn processors() -> usize {
    available_parallelism().map_or(1, NonZeroUsize::get)
}

/// The most files that are processed at a time.
fn wanted_jobs(arguments: &Rewrite) -> usize {
    arguments.output.jobs.map_or_else(processors, NonZeroUsize::get)
}

fn most_jobs() -> usize {
    processors().saturating_mul(JOBS_PER_PROCESSOR)
}

/// The workers that process files.
fn pool(jobs: usize) -> Result<rayon::ThreadPool, String> {
    let builder = rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES).num_threads(jobs);
    builder.build().map_err(|error| error.to_string())
}

/// A run whose files are processed.
struct Job<'a> {
    arguments: &'a Rewrite,
    mode: Mode,
    is_stdin: bool,
    started: Instant,
}

impl Job<'_> {
    /// Writes the results and reports.
    fn finish(
        &self,
        mut all: Vec<Processed>,
        mut notes: BTreeSet<String>,
        streams: &mut Streams<'_>,
    ) -> io::Result<Status> {
        let mut status = Status::Clean;
        if self.mode == Mode::InPlace {
            notes.extend(keep_uncommitted(&mut all));
        }
        for processed in &mut all {
            status = status.max(self.write(processed, &mut notes, streams)?);
        }
        self.report(&all, &notes, streams)?;
        Ok(status)
    }

    /// Writes the result of one file; a failed write becomes its diagnostic.
    fn write(
        &self,
        processed: &mut Processed,
        notes: &mut BTreeSet<String>,
        streams: &mut Streams<'_>,
    ) -> io::Result<Status> {
        notes.extend(processed.notes.drain(..));
        let file = &processed.report.file;
        if matches!(self.mode, Mode::Text | Mode::Diff) {
            notes.extend(processed.header.note(file));
        }
        match (self.mode, &processed.text) {
            (Mode::Text, Some(text)) => streams.stdout.write_all(text)?,
            (Mode::Text, None) if self.is_stdin || !processed.failed => streams.stdout.write_all(&file.text)?,
            (Mode::Diff, Some(text)) => {
                let colour = colour(self.arguments.report.color, streams.stdout_colour);
                streams.stdout.write_all(&output::unified(&file.path, &file.text, text, colour))?;
            }
            (Mode::InPlace, _) => match replace(processed) {
                Ok(written) => notes.extend(written),
                Err(message) => *processed = Processed::failure(file.clone(), None, message),
            },
            _ => {}
        }
        let would_change = processed.text.is_some() && matches!(self.mode, Mode::Check | Mode::Diff);
        let refused = processed.error_on_refusal && processed.report.has_refusal();
        Ok(match processed.failed {
            true => Status::Failure,
            false if would_change || refused => Status::Findings,
            false => Status::Clean,
        })
    }

    /// Writes diagnostics, notes about the run and counts.
    fn report(&self, all: &[Processed], notes: &BTreeSet<String>, streams: &mut Streams<'_>) -> io::Result<()> {
        let arguments = &self.arguments.report;
        let by_itself = if arguments.verbose { Format::Full } else { Format::Brief };
        let format = arguments.output_format.map_or(by_itself, FormatName::into);
        let told = if arguments.verbose { Told::All } else { Told::Changes };
        let quiet: Vec<FileReport>;
        let reports: Vec<&FileReport> = if arguments.quiet {
            quiet = all.iter().map(|processed| errors_only(&processed.report)).collect();
            quiet.iter().collect()
        } else {
            all.iter().map(|processed| &processed.report).collect()
        };
        let stdout_is_free = matches!(self.mode, Mode::InPlace | Mode::Check);
        let (out, by_itself): (&mut dyn Write, bool) = if !format.is_for_people() && stdout_is_free {
            (&mut *streams.stdout, streams.stdout_colour)
        } else {
            (&mut *streams.stderr, streams.stderr_colour)
        };
        report::write(out, format, &reports, told, colour(arguments.color, by_itself))?;
        if !arguments.quiet {
            self.write_notes(all, notes, format, streams.stderr)?;
        }
        let all: Vec<&FileReport> = all.iter().map(|processed| &processed.report).collect();
        match arguments.stats {
            Some(StatsFormat::Text) => Stats::new(&all, self.started.elapsed()).write_text(streams.stderr),
            Some(StatsFormat::Json) => Stats::new(&all, self.started.elapsed()).write_json(streams.stderr),
            None => Ok(()),
        }
    }

    /// Writes what is not about a place in a file.
    fn write_notes(
        &self,
        all: &[Processed],
        notes: &BTreeSet<String>,
        format: Format,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        for processed in all.iter().filter(|processed| !processed.verified.is_empty()) {
            writeln!(out, "{}", processed.verified.trim_end())?;
        }
        notes.iter().try_for_each(|note| writeln!(out, "ompsplit: note: {note}"))?;
        let missing: Vec<&String> = all.iter().filter_map(|processed| processed.missing.as_ref()).collect();
        let shown = if self.arguments.report.verbose { missing.len() } else { MOST_MISSING };
        missing.iter().take(shown).try_for_each(|note| writeln!(out, "ompsplit: note: {note}"))?;
        if missing.len() > shown {
            let others = missing.len() - shown;
            writeln!(out, "ompsplit: note: headers of {others} more files were not found; `-v` names them")?;
        }
        let reports: Vec<&FileReport> = all.iter().map(|processed| &processed.report).collect();
        let is_written = matches!(self.mode, Mode::Text | Mode::InPlace);
        let telling = Telling { is_written, is_listed: self.arguments.report.verbose };
        match summary::line(&reports, telling).filter(|_| format.is_for_people()) {
            Some(line) => writeln!(out, "{line}"),
            None => Ok(()),
        }
    }
}

/// Leaves files alone that have uncommitted changes where the configuration says so; what is said about the others.
fn keep_uncommitted(all: &mut [Processed]) -> Option<String> {
    let written = all.iter().filter(|processed| processed.text.is_some());
    let mut found = uncommitted::uncommitted(written.map(|processed| processed.report.file.path.as_path()));
    for processed in all.iter_mut().filter(|processed| processed.require_clean) {
        if found.remove(&processed.report.file.path) {
            *processed = Processed::failure(processed.report.file.clone(), None, uncommitted::REFUSED.to_owned());
        }
    }
    uncommitted::note(&found)
}

/// Writes a file in its place, and before it the header that its text includes; what the user should know of that.
fn replace(processed: &Processed) -> Result<Vec<String>, String> {
    let file = &processed.report.file;
    let mut notes: Vec<String> = processed.header.write(file)?.into_iter().collect();
    if let Some(text) = &processed.text {
        let changed = output::replace(&file.path, &file.text, text).map_err(|error| error.to_string())?;
        notes.extend(changed.into_iter().map(|what| format!("{}: {what}", file.path.display())));
    }
    Ok(notes)
}

/// A report without what `--quiet` leaves out.
fn errors_only(report: &FileReport) -> FileReport {
    let mut report = report.clone();
    report.diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
    report
}
