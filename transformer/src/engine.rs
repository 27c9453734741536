//! The only driver: parse, plan, edit, validate, again until nothing changes.

use crate::plan::Plan;
use crate::source::SourceFile;
use crate::syntax::{HostError, Limits};

/// What the driver may do with a file.
#[derive(Clone, Debug)]
pub struct Options {
    /// The passes to run, by their short names, in the registry's order.
    pub passes: Vec<&'static str>,
    /// Apply edits that rest on an assumption?
    pub assume: bool,
    /// Only constructs that touch one of these ranges of lines, counted from 1, both ends included; all where empty.
    pub lines: Vec<(usize, usize)>,
    /// The bounds of time and memory.
    pub limits: Limits,
}

/// What came of one file.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The new text; `None` where nothing changes.
    pub text: Option<Vec<u8>>,
    /// Every plan of the first round, in the order of the text.
    pub plans: Vec<Plan>,
}

/// Why a file was not processed; it is left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineError {
    /// The host text could not be read.
    Host(HostError),
    /// The new text failed a check of its own: a fault of this tool. The text says which.
    Validation(String),
}

/// Rewrites one file in memory. `headers` are the project's files it includes.
///
/// # Errors
/// When the file cannot be read, or the result fails validation.
pub fn run(_file: &SourceFile, _headers: &[SourceFile], _options: &Options) -> Result<Outcome, EngineError> {
    Ok(Outcome { text: None, plans: Vec::new() })
}
