//! What the user's own program gives before and after: both are built for clang's x86_64 offload device, whose data
//! environment is its own, and run in several grids of teams and threads.
//!
//! 1. **Same results.** Exit status, standard output and the files asked for must be the same in every grid; an original
//!    that itself gives several results is no reference.
//! 2. **Nothing forgotten.** [`harden()`] makes a copy of the output in which a missing map aborts, and the runtime's log
//!    names pointers without a mapping; no more bytes may be moved than before.
//! 3. **No new race.** [`races`] runs a copy of the output under `ThreadSanitizer` in which what kept iterations apart is
//!    dropped.
//!
//! All files are made in temporary folders, which are removed again. The device rounds as the host does and runs on its
//! memory: a GPU's fused multiply-add is not seen.

mod build;
mod compare;
pub mod directives;
mod harden;
pub mod map_clause;
pub mod races;
mod run;
mod traffic;

pub use compare::Comparison;
pub use harden::harden;
pub use run::{Geometry, Invocation};
pub use traffic::{LOG, Traffic, UNNAMED};

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use build::{Builder, RaceTools, Target};
use run::{Executable, Run};

use super::clang::VerifyError;

/// A further source of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Where it is.
    pub path: PathBuf,
    /// How it is compiled.
    pub flags: Vec<String>,
}

/// The program that a file belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The flags that the file is compiled with.
    pub flags: Vec<String>,
    /// The other sources.
    pub sources: Vec<Source>,
    /// Flags of the linker, libraries among them.
    pub link_flags: Vec<String>,
    /// How it is called.
    pub invocation: Invocation,
    /// What counts as the same.
    pub comparison: Comparison,
    /// Are races looked for?
    pub races: bool,
}

impl Default for Program {
    /// A program of one file that is called without arguments; every byte counts.
    fn default() -> Self {
        let (flags, sources, link_flags, invocation, comparison) = Default::default();
        Self { flags, sources, link_flags, invocation, comparison, races: true }
    }
}

/// What sort of thing was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Something is missing: a compiler, a source, an input.
    Setup,
    /// One of the programs cannot be built.
    Build,
    /// The original has no single result, or not the expected one, so that it is no reference.
    Original,
    /// The run reaches no kernel that was changed.
    NotReached,
    /// The output gives something else.
    Results,
    /// The output aborts where every item must be present: a map is missing.
    MissingMap,
    /// A kernel uses a pointer without a mapping that no kernel of the original does.
    UnmappedPointer,
    /// The output moves more bytes than the original.
    Transfers,
    /// The output has a race that the original has not.
    Race,
}

/// Why an output is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError {
    /// What sort of thing.
    pub kind: Kind,
    /// What was found, or what is missing and how to give it.
    pub text: String,
}

impl HostError {
    fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    fn io(error: std::io::Error) -> Self {
        Self::new(Kind::Setup, format!("the program could not be built or run: {error}"))
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for HostError {}

impl From<VerifyError> for HostError {
    fn from(error: VerifyError) -> Self {
        Self::new(Kind::Setup, error.to_string())
    }
}

/// What was checked; nothing was found wrong, or there would be no report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The file.
    pub path: PathBuf,
    /// How often the output was run and gave what the original gave.
    pub runs: usize,
    /// How both end.
    pub end: String,
    /// What the original launched and moved.
    pub before: Traffic,
    /// What the output launched and moved.
    pub after: Traffic,
    /// How many kernels demanded that their items are present.
    pub hardened: usize,
    /// The lines of the new text whose kernels were not launched, so that nothing is known of them.
    pub not_reached: Vec<usize>,
    /// How many loops were looked at for races; none where that was not asked for.
    pub widened: Option<usize>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        write!(f, "{path}: {} runs on the x86_64 device give what the original gives ({})", self.runs, self.end)?;
        write!(f, "\n  before {}\n  after  {}", self.before, self.after)?;
        if self.hardened > 0 {
            write!(f, "\n  {} kernels find all their items present", self.hardened)?;
        }
        match self.widened {
            Some(0) => f.write_str("\n  no loop runs on more threads than before")?,
            Some(loops) => write!(f, "\n  {loops} widened loops show no new race")?,
            None => f.write_str("\n  races were not looked for")?,
        }
        if !self.not_reached.is_empty() {
            let lines: Vec<String> = self.not_reached.iter().map(usize::to_string).collect();
            write!(f, "\n  not reached by this run: the kernels at line {} of the new text", lines.join(", "))?;
        }
        Ok(())
    }
}

/// The grids that results are compared in, and how often: several repetitions of the one in which races show.
const GRIDS: &[(Geometry, usize)] = &[
    (Geometry { teams: 4, threads: 4 }, 2),
    (Geometry { teams: 1, threads: 1 }, 1),
    (Geometry { teams: 3, threads: 8 }, 1),
    (Geometry { teams: 7, threads: 2 }, 1),
];

/// The grids of the hardened copy; whether an item is present does not depend on them.
const HARDENED_GRIDS: &[(Geometry, usize)] = &[(Geometry { teams: 2, threads: 3 }, 1)];

/// The grid in which the runtime's log is read.
const LOGGED: Geometry = Geometry { teams: 1, threads: 1 };

/// What a kernel may move beyond the original: the scalars that its combined construct maps on its own.
const BYTES_PER_KERNEL: u64 = 64;

/// Compares the new text of `path` with the original by running the program that it belongs to.
///
/// # Errors
/// When something that is needed is missing, when the original is no reference, or when the new text is found worse.
pub fn verify(path: &Path, before: &[u8], after: &[u8], program: &Program) -> Result<Report, HostError> {
    let builder = Builder::new(path, program)?;
    let tools = if program.races { Some(builder.race_tools()?) } else { None };
    let scratch = tempfile::tempdir().map_err(HostError::io)?;
    let check = Check { builder, program, path, before, after, scratch: scratch.path() };

    let original = check.build(before, Target::Device, "before")?;
    let reference = check.reference(&original)?;
    let output = check.build(after, Target::Device, "after").map_err(|error| {
        HostError::new(error.kind, format!("the original can be built, the new text not: {}", error.text))
    })?;
    let what = "the new text gives something else than the original";
    let mut runs = check.same(&output, &reference, GRIDS, Kind::Results, what)?;
    let (text, hardened) = harden(before, after);
    if hardened > 0 {
        let present = check.build(&text, Target::DevicePresent, "present")?;
        let what = "a map is missing: where every item must be present the new text gives something else";
        runs += check.same(&present, &reference, HARDENED_GRIDS, Kind::MissingMap, what)?;
    }
    let (traffic_before, traffic_after) = check.transfers(&original, &output)?;
    let not_reached = check.not_reached(&traffic_after)?;
    let widened = tools.map(|tools| check.races(&tools)).transpose()?;
    let path = path.to_path_buf();
    let (before, after) = (traffic_before, traffic_after);
    Ok(Report { path, runs, end: reference.end, before, after, hardened, not_reached, widened })
}

/// The comparison of two texts.
struct Check<'a> {
    builder: Builder<'a>,
    program: &'a Program,
    path: &'a Path,
    before: &'a [u8],
    after: &'a [u8],
    scratch: &'a Path,
}

impl Check<'_> {
    fn build(&self, text: &[u8], target: Target, name: &str) -> Result<Executable<'_>, HostError> {
        // File systems count time more coarsely than clocks do.
        let since = SystemTime::now() - Duration::from_secs(2);
        let program = self.builder.build(text, target, &self.scratch.join(name))?;
        let (invocation, files) = (&self.program.invocation, self.program.comparison.files.as_slice());
        Ok(Executable { program, runtime: &self.builder.runtime, invocation, files, since })
    }

    /// What the original gives in every grid, which must be one thing.
    fn reference(&self, original: &Executable<'_>) -> Result<Run, HostError> {
        let wrong = |text: String| HostError::new(Kind::Original, format!("the original is no reference: {text}"));
        let first = original.run(&LOGGED.environment(), 1).map_err(HostError::io)?;
        if !first.exited() {
            return Err(wrong(format!("it ends with {}{}", first.end, compare::last_words(&first.stderr))));
        }
        if let Some(path) = &self.program.comparison.expected {
            let expected = std::fs::read(path)
                .map_err(|error| HostError::new(Kind::Setup, format!("{}: {error}", path.display())))?;
            if let Some(text) = self.program.comparison.texts("standard output", &expected, &first.stdout) {
                return Err(wrong(format!("it does not print what {} holds: {text}", path.display())));
            }
        }
        let what = "the original is no reference, for its runs differ: by a time that it prints (`ignore` in [verify], or \
                    --verify-ignore), the order of a floating-point reduction (`tolerance`, --verify-tolerance), or a \
                    race";
        self.same(original, &first, GRIDS, Kind::Original, what)?;
        Ok(first)
    }

    /// Runs a program in every grid; how many runs there were. Fails on the first that differs.
    fn same(
        &self,
        program: &Executable<'_>,
        expected: &Run,
        grids: &[(Geometry, usize)],
        kind: Kind,
        what: &str,
    ) -> Result<usize, HostError> {
        let mut runs = 0;
        for (grid, repetitions) in grids {
            for _ in 0..*repetitions {
                let run = program.run(&grid.environment(), 1).map_err(HostError::io)?;
                runs += 1;
                if let Some(text) = self.program.comparison.difference(expected, &run) {
                    let Geometry { teams, threads } = grid;
                    let text = format!("{what}; with {teams} teams of {threads} threads {text}");
                    return Err(HostError::new(kind, text));
                }
            }
        }
        Ok(runs)
    }

    /// Compares what both move, and which pointers their kernels use unmapped.
    fn transfers(&self, before: &Executable<'_>, after: &Executable<'_>) -> Result<(Traffic, Traffic), HostError> {
        let logged = |program: &Executable<'_>| {
            let (run, traffic) = program.run_logged(LOGGED).map_err(HostError::io)?;
            let text = format!("with the runtime's log the program ends with {} (`timeout` in [verify])", run.end);
            if run.exited() { Ok(traffic) } else { Err(HostError::new(Kind::Setup, text)) }
        };
        let (before, after) = (logged(before)?, logged(after)?);
        let both = format!("\n  before {before}\n  after  {after}");
        let unmapped: Vec<String> = after
            .unmapped
            .iter()
            .filter(|(name, _)| !before.unmapped.contains_key(*name))
            .map(|(name, place)| {
                let line = place.rsplit(':').nth(1).unwrap_or_default();
                format!("`{name}` at line {line} of the new text")
            })
            .collect();
        if !unmapped.is_empty() {
            let text = format!("kernels use pointers that are not mapped: {}{both}", unmapped.join(", "));
            return Err(HostError::new(Kind::UnmappedPointer, text));
        }
        let slack = BYTES_PER_KERNEL * after.kernels as u64;
        if after.bytes_to > before.bytes_to + slack || after.bytes_from > before.bytes_from + slack {
            return Err(HostError::new(Kind::Transfers, format!("the new text moves more bytes{both}")));
        }
        Ok((before, after))
    }

    /// The lines of the new kernels that were not launched. That none was is an error, for nothing was compared then.
    fn not_reached(&self, traffic: &Traffic) -> Result<Vec<usize>, HostError> {
        let added = directives::added(self.before, self.after);
        let mut lines = Vec::new();
        for range in directives::directives(self.after) {
            let words = directives::words(self.after, &range);
            if added.contains(&words) && directives::is_kernel(&words) {
                lines.push(1 + self.after.iter().take(range.start).filter(|byte| **byte == b'\n').count());
            }
        }
        let all = lines.len();
        lines.retain(|line| !traffic.entered.iter().any(|(file, at)| at == line && self.is_named(file)));
        if all > 0 && lines.len() == all {
            let text = "the run launches none of the changed kernels, so nothing was compared: give arguments with which \
                        it does (`args` in [verify], or --verify-arg)";
            return Err(HostError::new(Kind::NotReached, text));
        }
        Ok(lines)
    }

    /// Does the runtime's log mean the file by this name? It leaves out the folder; a text without a file goes by the name
    /// that [`Compilation::object`](super::clang::Compilation::object) gives it.
    fn is_named(&self, file: &str) -> bool {
        let name = if self.path.is_file() { self.path.file_name() } else { Some("source".as_ref()) };
        Path::new(file).file_name() == name
    }

    /// Looks for races that the original has not; how many loops were widened.
    fn races(&self, tools: &RaceTools) -> Result<usize, HostError> {
        let (text, widened) = races::host_copy(self.before, self.after);
        if widened == 0 {
            return Ok(0);
        }
        let copy = self.build(&text, Target::Threads, "widened")?;
        let mut found = races::races(&copy, tools, self.path, &text)?;
        if found.is_empty() {
            return Ok(widened);
        }
        let original = self.build(self.before, Target::Threads, "threads")?;
        for race in races::races(&original, tools, self.path, self.before)?.keys() {
            found.remove(race);
        }
        match found.into_values().next() {
            None => Ok(widened),
            Some(text) => Err(HostError::new(
                Kind::Race,
                format!("the iterations of a loop depend on each other once all of them may run at a time: {text}"),
            )),
        }
    }
}
