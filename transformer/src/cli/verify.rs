//! Asks clang about a result before it is written, and runs the program it belongs to.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::arguments::{HostArguments, VerifyLevel};
use crate::cli::config::HostConfig;
use crate::cli::settings::Settings;
use crate::source::{Language, SourceFile};
use crate::validate::clang::{self, Level};
use crate::validate::host::{self, Comparison, Invocation, Program, Source};

/// Compares the new text of a file with the original; gives what was found, for people.
///
/// # Errors
/// When the compiler of the level is missing, or the new text is found worse; the result is then not written.
pub(super) fn verify(settings: &Settings, file: &SourceFile, after: &[u8]) -> Result<String, String> {
    let level = match settings.verify {
        VerifyLevel::None => return Ok(String::new()),
        VerifyLevel::Syntax => Level::Syntax,
        VerifyLevel::Device | VerifyLevel::Host => Level::Device,
    };
    let report = clang::verify(level, &file.path, &file.text, after, &settings.compiler.flags);
    // A header need not be compiled with these flags where the program that includes it is run.
    let report = if settings.verify == VerifyLevel::Host { report } else { report.and_then(clang::Report::insist) };
    let mut text = report.map_err(|error| error.to_string())?.to_string();
    if settings.verify == VerifyLevel::Host {
        let report = host::verify(&file.path, &file.text, after, &settings.host).map_err(|error| error.to_string())?;
        text.push_str(&format!("\n{report}"));
    }
    Ok(text)
}

/// The program that a file belongs to: the flags of the run win over the configuration, lists of both are joined.
/// `flags_of` gives the compiler flags of a source.
pub(super) fn program(
    flags: Vec<String>,
    config: HostConfig,
    arguments: &HostArguments,
    flags_of: impl Fn(&Path) -> Result<Vec<String>, String>,
) -> Result<Program, String> {
    let with_flags = |path: PathBuf| {
        let mut flags = flags_of(&path)?;
        // Flags that stand for all files may name the standard of one language.
        if let Some(cpp) = is_cpp(&path) {
            flags.retain(|flag| flag.strip_prefix("-std=").is_none_or(|standard| standard.contains("++") == cpp));
        }
        Ok(Source { path, flags })
    };
    let sources = joined(config.sources, &arguments.sources).into_iter().map(with_flags);
    let mut environment = config.env;
    environment.extend(arguments.env.iter().cloned());
    let timeout = arguments.timeout.or(config.timeout).map_or(Ok(Invocation::default().timeout), |seconds| {
        Duration::try_from_secs_f64(seconds).map_err(|error| format!("timeout = {seconds} in [verify]: {error}"))
    })?;
    Ok(Program {
        flags,
        sources: sources.collect::<Result<_, String>>()?,
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
            expected: arguments.expected.clone().or(config.expected),
        },
        races: !arguments.no_races && config.races.unwrap_or(true),
    })
}

/// Is a file C++? None where its name does not tell.
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
