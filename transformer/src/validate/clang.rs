//! What clang says of a text before and after: diagnostics, kernels, execution modes, registers.
//!
//! The texts are compiled from a temporary folder that is removed again, each behind a `#line` directive that names the
//! original file, with the original's folder first on the search path of `#include ".."`: messages, kernel names and
//! included files are those of a compilation in place, and nothing is ever written beside the original.

mod compile;
mod coverage;
mod facts;
mod kernels;
mod messages;
mod report;
mod resources;
mod toolchain;

pub use compile::{Compilation, Compiled, Output};
pub use coverage::{Unchecked, Why};
pub use facts::facts;
pub use kernels::{ExecutionMode, Kernel, kernels, place};
pub use messages::{Message, Severity, messages, new_messages};
pub use report::{Report, region_pairs};
pub use resources::{MISSING_PTXAS, Ptxas, Resources, kernel_resources};
pub use toolchain::{Clang, MISSING_CLANG};

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::Path;

use super::cache::Key;
use super::changes::{changed_directives, changed_kernels, line_of};

/// How much is asked of clang.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// `-fsyntax-only` for host and device: no error or warning that the original does not have.
    Syntax,
    /// Also compiled for nvptx64: kernels with their execution modes, and with `ptxas` their registers and spills.
    Device,
}

/// Why a text could not be verified.
#[derive(Debug)]
pub enum VerifyError {
    /// There is no clang; the text says what to install.
    MissingCompiler(String),
    /// A compiler could not be run, or a temporary file not be written.
    Run(String),
    /// The original has errors with these flags, so nothing can be compared. The first error.
    Original(Message),
    /// The new text has errors or warnings that the original does not have.
    NewMessages(Vec<Message>),
    /// The text has errors with these flags, so clang knows nothing about its names. The first error.
    Facts(String),
    /// The original compiles for the device, the new text does not; what clang says.
    DeviceCompilation(String),
    /// None of the changed directives was compiled with these flags.
    NothingChecked(Vec<Unchecked>),
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingCompiler(text) | Self::Run(text) => f.write_str(text),
            Self::Original(message) => {
                write!(f, "the original does not compile, so nothing can be compared (flags go after `--`): {message}")
            }
            Self::Facts(message) => {
                write!(
                    f,
                    "clang does not compile the file, so its types are not known (flags go after `--`): {message}"
                )
            }
            Self::NewMessages(messages) => {
                f.write_str("clang reports of the new text what it does not report of the original:")?;
                messages.iter().try_for_each(|message| write!(f, "\n  {message}"))
            }
            Self::DeviceCompilation(text) => {
                write!(f, "the original compiles for the device, the new text does not:\n{text}")
            }
            Self::NothingChecked(unchecked) => {
                f.write_str("nothing that changed was compiled, so nothing was checked:")?;
                coverage::write_unchecked(f, unchecked)
            }
        }
    }
}

impl std::error::Error for VerifyError {}

/// Compares the new text of `path` with the original at the given level; `flags` are the user's compiler flags. The report
/// says which changed directives clang did not see; [`Report::insist`] asks that it saw any.
///
/// # Errors
/// When clang is missing or cannot be run, when the original does not compile, or when the new text is found worse.
pub fn verify(level: Level, path: &Path, before: &[u8], after: &[u8], flags: &[String]) -> Result<Report, VerifyError> {
    let clang = Clang::find()?;
    let compilation = Compilation::new(&clang, path, flags);
    let key = key(level, &compilation, before, after);
    if let Some(report) = key.as_ref().and_then(Key::find) {
        return Ok(report);
    }
    let report = compare(level, path, &compilation, before, after)?;
    key.iter().for_each(|key| key.keep(&report));
    Ok(report)
}

/// What the comparison depends on.
fn key(level: Level, compilation: &Compilation<'_>, before: &[u8], after: &[u8]) -> Option<Key> {
    let mut key = Key::new(match level {
        Level::Syntax => "syntax",
        Level::Device => "device",
    })?;
    compilation.add_to(&mut key, before, &[], &[]).ok()?;
    compilation.add_to(&mut key, after, &[], &[]).ok()?;
    if let Some(ptxas) = Ptxas::find().filter(|_| level == Level::Device) {
        ptxas.add_to(&mut key);
    }
    Some(key)
}

/// Compares the texts by what clang says of them now.
fn compare(
    level: Level,
    path: &Path,
    compilation: &Compilation<'_>,
    before: &[u8],
    after: &[u8],
) -> Result<Report, VerifyError> {
    compare_messages(compilation, before, after)?;
    let preprocessed = compilation.preprocessed(after)?;
    if !preprocessed.success {
        return Err(VerifyError::Run(preprocessed.stderr));
    }
    let left = coverage::lines_left(&preprocessed.output, &compilation.shown_name());
    let mut report = Report::new(path, compilation.compiler());
    let mut changed = changed_directives(before, after);
    if level == Level::Device {
        let kernels = changed_kernels(before, after);
        device(compilation, before, after, &kernels, &left, &mut report)?;
        changed.retain(|directive| !kernels.contains(directive));
        report.is_checked = kernels.len() > report.unchecked.len() || kernels.is_empty();
    }
    let others = coverage::left_out(after, &starts(&changed), &left);
    if level == Level::Syntax {
        report.is_checked = changed.len() > others.len() || changed.is_empty();
    }
    report.unchecked.extend(others);
    report.unchecked.sort_by_key(|directive| directive.line);
    Ok(report)
}

fn starts(directives: &[Range<usize>]) -> Vec<usize> {
    directives.iter().map(|directive| directive.start).collect()
}

/// Fails on an error or warning of the new text that the original does not have.
fn compare_messages(compilation: &Compilation<'_>, before: &[u8], after: &[u8]) -> Result<(), VerifyError> {
    let old = messages(&compilation.run(before, Output::Syntax)?.stderr);
    if let Some(error) = old.iter().find(|message| message.severity == Severity::Error) {
        return Err(VerifyError::Original(error.clone()));
    }
    let run = compilation.run(after, Output::Syntax)?;
    let new = new_messages(&old, &messages(&run.stderr));
    if !new.is_empty() {
        return Err(VerifyError::NewMessages(new));
    }
    if run.success { Ok(()) } else { Err(VerifyError::Run(run.stderr)) }
}

/// Reads the kernels of both texts, and their resources if `ptxas` is found. Notes the changed directives that became
/// no kernel.
fn device(
    compilation: &Compilation<'_>,
    before: &[u8],
    after: &[u8],
    changed: &[Range<usize>],
    left: &BTreeSet<usize>,
    report: &mut Report,
) -> Result<(), VerifyError> {
    let old = compilation.run(before, Output::DeviceIr)?;
    if !old.success {
        return Err(VerifyError::Run(format!("the original does not compile for nvptx64:\n{}", old.stderr)));
    }
    let new = compilation.run(after, Output::DeviceIr)?;
    if !new.success {
        return Err(VerifyError::DeviceCompilation(new.stderr));
    }
    report.before = kernels(&old.output);
    report.after = kernels(&new.output);
    report.unchecked = coverage::left_out(after, &starts(changed), left);
    let seen: Vec<usize> =
        starts(changed).iter().map(|at| line_of(after, *at)).filter(|line| left.contains(line)).collect();
    let has = |found: &[Kernel], line: usize| found.iter().any(|kernel| kernel.line == line);
    if seen.iter().any(|line| !has(&report.after, *line)) {
        // Functions that nothing calls are compiled on demand. If a function of a foreign header cannot be compiled for
        // a device, clang's first result stands.
        let (old, new) =
            (compilation.run(before, Output::WholeDeviceIr)?, compilation.run(after, Output::WholeDeviceIr)?);
        if old.success && !new.success {
            return Err(VerifyError::DeviceCompilation(new.stderr));
        }
        if old.success {
            report.before = kernels(&old.output);
            report.after = kernels(&new.output);
        }
    }
    let missing = seen.into_iter().filter(|line| !has(&report.after, *line));
    report.unchecked.extend(missing.map(|line| Unchecked { line, why: Why::NoKernel }).collect::<Vec<_>>());
    report.regions = region_pairs(before, after, &report.before, &report.after);
    let Some(ptxas) = Ptxas::find() else {
        report.note = Some("registers and spills are not shown: no ptxas on PATH or in OMPSPLIT_PTXAS".to_owned());
        return Ok(());
    };
    for (text, list) in [(before, &mut report.before), (after, &mut report.after)] {
        let assembly = compilation.run(text, Output::Ptx)?;
        if !assembly.success {
            return Err(VerifyError::Run(assembly.stderr));
        }
        ptxas.measure(&assembly.output, list)?;
    }
    Ok(())
}
