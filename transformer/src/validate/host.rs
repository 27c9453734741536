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
mod check;
mod compare;
pub mod directives;
mod harden;
pub mod map_clause;
mod overlay;
mod parts;
mod program;
pub mod races;
mod run;
mod texts;
mod together;
mod traffic;

pub use check::NotReached;
pub use compare::{Comparison, last_words};
pub use harden::harden;
pub use program::{DatabaseSource, File, Program, Source, Sources};
pub use run::{Geometry, Invocation, Run, describe, remove_images};
pub use together::{Outcome, verify};
pub use traffic::{LOG, Traffic, UNNAMED};

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use super::clang::VerifyError;

/// Called with a line about each step.
pub type Watch<'a> = dyn Fn(&str) + Sync + 'a;

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Something is missing: a compiler, a source, an input.
    Setup,
    /// One of the programs cannot be built.
    Build,
    /// The original has no single result, or not the expected one, so that it cannot serve as a reference.
    Original,
    /// The run reaches no kernel that was changed.
    NotReached,
    /// The results of the output differ.
    Results,
    /// The output aborts where every item must be present: a map is missing.
    MissingMap,
    /// A kernel uses a pointer without a mapping, and no kernel of the original does.
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
    /// What was found, or what is missing and how to provide it.
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

/// What was checked of one program. No fault was found, otherwise there would be no report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The files whose new texts were in it together.
    pub paths: Vec<PathBuf>,
    /// How often the output was run with the results of the original.
    pub runs: usize,
    /// How both programs end.
    pub end: String,
    /// What the original launched and moved.
    pub before: Traffic,
    /// What the output launched and moved.
    pub after: Traffic,
    /// How many kernels required that their list items are present.
    pub hardened: usize,
    /// The changed kernels that were not launched, so that nothing is known of them.
    pub not_reached: BTreeMap<PathBuf, NotReached>,
    /// How many loops were checked for races. `None` if that was not asked for.
    pub widened: Option<usize>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.paths.iter().map(|path| path.display().to_string()).collect();
        let together = if names.len() > 1 { " together" } else { "" };
        write!(f, "{}{together}: {} runs on the x86_64 device", names.join(", "), self.runs)?;
        write!(f, " give what the original gives ({})", self.end)?;
        write!(f, "\n  before {}\n  after  {}", self.before, self.after)?;
        if self.hardened > 0 {
            write!(f, "\n  {} kernels find all their items present", self.hardened)?;
        }
        match self.widened {
            Some(0) => f.write_str("\n  no loop runs on more threads than before")?,
            Some(loops) => write!(f, "\n  {loops} widened loops show no new race")?,
            None => f.write_str("\n  races were not looked for")?,
        }
        for (path, missed) in &self.not_reached {
            let lines: Vec<String> = missed.lines.iter().map(usize::to_string).collect();
            let file = if names.len() > 1 { format!(" of {}", path.display()) } else { String::new() };
            write!(f, "\n  not reached by this run: the kernels at line {} of the new text{file}", lines.join(", "))?;
        }
        Ok(())
    }
}
