//! Asks clang about results before they are written, and runs the programs they belong to.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rayon::prelude::*;

use crate::cli::arguments::{HostArguments, VerifyLevel};
use crate::cli::config::HostConfig;
use crate::cli::process::Processed;
use crate::cli::progress::Progress;
use crate::cli::settings::Settings;
use crate::plan::ReasonCode;
use crate::source::Language;
use crate::validate::clang::{self, Level};
use crate::validate::host::{self, Comparison, DatabaseSource, File, Invocation, Outcome, Program, Source, Sources};

/// What is checked of a file.
#[derive(Clone, Debug)]
pub(super) struct Check {
    level: VerifyLevel,
    flags: Vec<String>,
    program: Program,
}

impl Check {
    /// What the settings of a file ask for.
    pub(super) fn of(settings: &Settings) -> Option<Box<Self>> {
        let (level, flags) = (settings.verify, settings.compiler.flags.clone());
        (level != VerifyLevel::None).then(|| Box::new(Self { level, flags, program: settings.host.clone() }))
    }
}

/// Compares the new texts with the originals. What is found goes into `verified`; a text that is found worse, or that cannot be
/// checked, becomes a failure.
pub(super) fn verify(all: &mut [Processed], quiet: bool) {
    let progress = Progress::new(quiet);
    all.par_iter_mut().for_each(|processed| ask_clang(processed, &progress));
    let mut programs: Vec<(Program, Vec<usize>)> = Vec::new();
    for (index, processed) in all.iter().enumerate() {
        let Some(check) = processed.check.as_ref().filter(|check| check.level == VerifyLevel::Host) else { continue };
        match programs.iter_mut().find(|(program, _)| *program == check.program) {
            Some((_, files)) => files.push(index),
            None => programs.push((check.program.clone(), vec![index])),
        }
    }
    for (program, indices) in programs {
        run(all, &program, &indices, &progress);
    }
}

/// Compares what clang says of one file's texts.
fn ask_clang(processed: &mut Processed, progress: &Progress) {
    let (Some(check), Some(after)) = (&processed.check, &processed.text) else { return };
    let level = if check.level == VerifyLevel::Syntax { Level::Syntax } else { Level::Device };
    let file = &processed.report.file;
    progress.step(format!("asking clang about {}", file.path.display()));
    let report = clang::verify(level, &file.path, &file.text, after, &check.flags);
    // What becomes of a header in the program that includes it, running that tells.
    let is_shown_later = check.level == VerifyLevel::Host && Language::is_header(&file.path);
    let report = if is_shown_later { report } else { report.and_then(clang::Report::insist) };
    match report {
        Ok(report) => processed.verified = report.to_string(),
        Err(error) => reject(processed, &error.to_string()),
    }
}

/// Runs the program that files belong to, before and after.
fn run(all: &mut [Processed], program: &Program, indices: &[usize], progress: &Progress) {
    let file = |index: &usize| {
        let processed = all.get(*index)?;
        let (file, flags) = (&processed.report.file, processed.check.as_ref()?.flags.clone());
        let source = Source { path: file.path.clone(), flags };
        Some(File { source, before: file.text.clone(), after: processed.text.clone() })
    };
    let files: Vec<File> = indices.iter().filter_map(file).collect();
    if files.iter().all(|file| file.after.is_none()) {
        return;
    }
    let outcome = host::verify(&files, program, &|step| progress.step(step.to_owned()));
    let outcome = outcome.unwrap_or_else(|error| {
        let changed = files.iter().enumerate().filter(|(_, file)| file.after.is_some());
        Outcome { reports: Vec::new(), failures: changed.map(|(index, _)| (index, error.clone())).collect() }
    });
    for (index, error) in outcome.failures {
        if let Some(processed) = indices.get(index).and_then(|index| all.get_mut(*index)) {
            reject(processed, &error.to_string());
        }
    }
    for report in outcome.reports {
        let last = report.paths.last();
        let of = |processed: &&mut Processed| Some(&processed.report.file.path) == last;
        if let Some(processed) = all.iter_mut().find(of) {
            processed.verified.push_str(&format!("\n{report}"));
        }
    }
}

/// Keeps a file as it is.
fn reject(processed: &mut Processed, error: &str) {
    let message = format!("not verified, so not written: {error}");
    *processed = Processed::failure(processed.report.file.clone(), Some(ReasonCode::ValidationFailed), message);
}

/// The program that a file belongs to: the flags of the run win over the configuration, lists of both are joined.
/// `flags_of` gives the compiler flags of a source, `database` the sources of the compile database.
pub(super) fn program(
    database: Option<Vec<DatabaseSource>>,
    config: HostConfig,
    arguments: &HostArguments,
    flags_of: impl Fn(&Path) -> Result<Vec<String>, String>,
) -> Result<Program, String> {
    // Flags that stand for all files may name the standard of one language.
    let suited = |path: &Path, flags: &mut Vec<String>| {
        if let Some(cpp) = is_cpp(path) {
            flags.retain(|flag| flag.strip_prefix("-std=").is_none_or(|standard| standard.contains("++") == cpp));
        }
    };
    let named = joined(config.sources, &arguments.sources);
    let sources = match database {
        _ if !named.is_empty() => {
            let source = |path: PathBuf| {
                let mut flags = flags_of(&path)?;
                suited(&path, &mut flags);
                Ok(Source { path, flags })
            };
            Sources::Named(named.into_iter().map(source).collect::<Result<_, String>>()?)
        }
        Some(mut list) => {
            list.iter_mut().for_each(|entry| suited(&entry.source.path, &mut entry.source.flags));
            Sources::Database(Arc::new(list))
        }
        None => Sources::Given,
    };
    let mut environment = config.env;
    environment.extend(arguments.env.iter().cloned());
    let timeout = arguments.timeout.or(config.timeout).map_or(Ok(Invocation::default().timeout), |seconds| {
        Duration::try_from_secs_f64(seconds).map_err(|error| format!("timeout = {seconds} in [verify]: {error}"))
    })?;
    Ok(Program {
        sources,
        link_flags: joined(config.link_flags, &arguments.link_flags),
        invocation: Invocation {
            arguments: if arguments.args.is_empty() { config.args } else { arguments.args.clone() },
            stdin: arguments.stdin.clone().or(config.stdin),
            environment,
            folder: arguments.cwd.clone().or(config.cwd),
            timeout,
        },
        comparison: Comparison {
            tolerance: arguments.tolerance.or(config.tolerance),
            ignore: joined(config.ignore, &arguments.ignore),
            stderr: arguments.stderr || config.stderr,
            files: joined(config.outputs, &arguments.outputs),
            exit: arguments.exit.or(config.exit).unwrap_or(0),
            expected: arguments.expected.clone().or(config.expected),
        },
        races: !arguments.no_races && config.races.unwrap_or(true),
    })
}

/// Is a file C++? `None` if its name does not tell.
fn is_cpp(path: &Path) -> Option<bool> {
    match Language::of_path(path) {
        Language::C => Some(false),
        Language::Cpp => Some(true),
        Language::Either => None,
    }
}

fn joined<T: Clone>(mut first: Vec<T>, second: &[T]) -> Vec<T> {
    first.extend_from_slice(second);
    first
}
