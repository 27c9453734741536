//! The legal space of one file: every candidate is a text that the engine itself writes, so that illegal ones never exist.
//!
//! The passes that make and change kernels run first, as the user asked for them. What remains open for each kernel that is one loop are its
//! form (plain, groups of iterations, unrolled) and its grid: both are told to the pass that writes them, which refuses what it finds illegal.

mod candidates;
mod writing;

use crate::device::DeviceProfile;
use crate::engine::{self, EngineError, Options};
use crate::plan::Pass;
use crate::plan::instructions::LoopHash;
use crate::source::SourceFile;
use crate::tune::choices::{Choice, Form, Plan};

pub use writing::Written;

/// The passes whose choices are open; the others make the kernels.
const OPEN: [Pass; 3] = [Pass::Coarsen, Pass::Geometry, Pass::Unroll];

/// What a file is tuned with.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The file as it stands.
    pub file: &'a SourceFile,
    /// The project's headers that it includes.
    pub headers: &'a [SourceFile],
    /// What the engine may do with it.
    pub options: &'a Options,
}

/// Something that can be chosen for a kernel, with the prediction of its time in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The choice.
    pub choice: Choice,
    /// The predicted time; `None` where nothing is predicted.
    pub predicted: Option<f64>,
}

/// Kernels with the same loop, for which something can be chosen.
#[derive(Clone, Debug)]
pub struct TunableKernel {
    /// What tells the loop before anything is chosen.
    pub hash: LoopHash,
    /// Why the grid cannot be chosen at a launch, if there are grids and it cannot.
    pub closed: Option<&'static str>,
    /// Which kernels of the text after the passes these are, counted from 0.
    pub members: Vec<usize>,
    /// The line of the first one's directive in that text.
    pub line: usize,
    /// All legal candidates that differ, those that are predicted to be fastest first.
    pub candidates: Vec<Candidate>,
    /// The forms of all candidates, if in each of them the grid can be chosen at a launch; otherwise none.
    pub open: Vec<Form>,
}

/// What can be chosen for a file.
#[derive(Clone, Debug)]
pub struct Space {
    /// The text after the passes that make kernels.
    base: SourceFile,
    /// The kernels for which something can be chosen.
    pub kernels: Vec<TunableKernel>,
}

impl Space {
    /// Finds all candidates, by asking the engine for each of them.
    ///
    /// # Errors
    /// When the file cannot be processed.
    pub fn read(source: Source<'_>) -> Result<Self, EngineError> {
        let options = Options { passes: source.options.passes.clone().without(&OPEN), ..source.options.clone() };
        let outcome = engine::run(source.file, source.headers, &options)?;
        let text = outcome.text.unwrap_or_else(|| source.file.text.clone());
        let base = SourceFile::new(source.file.path.clone(), text);
        let kernels = candidates::find(source, &base)?;
        Ok(Self { base, kernels })
    }

    /// The text of a plan.
    ///
    /// # Errors
    /// When the engine fails on it.
    pub fn text(&self, source: Source<'_>, plan: &Plan) -> Result<Written, EngineError> {
        match plan {
            Plan::Original => writing::original(source),
            Plan::Chosen(choices) if choices.iter().all(|choice| *choice == Choice::Passes) => writing::passes(source),
            Plan::Chosen(choices) => {
                let hashes: Vec<&LoopHash> = self.kernels.iter().map(|kernel| &kernel.hash).collect();
                writing::chosen(source, &self.base, &hashes, choices)
            }
        }
    }

    /// Is this the text in which nothing is chosen yet?
    #[must_use]
    pub fn is_base(&self, text: &[u8]) -> bool {
        self.base.text == text
    }

    /// How many candidates all kernels have together.
    #[must_use]
    pub fn size(&self) -> usize {
        self.kernels.iter().map(|kernel| kernel.candidates.len()).sum()
    }

    /// Puts those candidates of each kernel first that are likely to be fast, and gives their number: the first part of them, at least `least`,
    /// the first one of each form, and the kernel in the text before anything is chosen, however it is predicted. There are at most `most`.
    pub fn sort(&mut self, part: f64, least: usize, most: Option<usize>) -> Vec<usize> {
        self.kernels.iter_mut().map(|kernel| candidates::sort(&mut kernel.candidates, part, least, most)).collect()
    }
}

/// The device that is tuned for: its profile says which grids are worth a thought, and predicts.
#[must_use]
pub fn device(options: &Options) -> Option<&DeviceProfile> {
    options.device.as_ref().or_else(|| DeviceProfile::stand_in())
}
