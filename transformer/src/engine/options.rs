//! What the driver may do with a file.

use std::sync::Arc;

use super::earlier::Changed;
use super::passes::Passes;
use crate::context::{ASSUMED_ITERATIONS, Arithmetic, PipelineOptions};
use crate::device::DeviceProfile;
use crate::plan::Consent;
use crate::plan::instructions::Instructions;
use crate::semantics::symbols::FlagDefinition;
use crate::syntax::Limits;

/// What the driver may do with a file.
#[derive(Clone, Debug)]
pub struct Options {
    /// The passes to run.
    pub passes: Passes,
    /// Apply edits that rest on an assumption?
    pub assume: bool,
    /// Apply edits that form floating-point sums, minima and maxima in another order?
    pub reassociate: bool,
    /// How many iterations a loop of unknown length is assumed to have. It decides whether a change pays.
    pub assumed_iterations: u32,
    /// How many bytes data may take that stay on the device although no construct needs all of them at once. By default
    /// half of the device's memory, or [`DEVICE_MEMORY`](crate::context::DEVICE_MEMORY).
    pub device_memory: Option<u64>,
    /// If the lengths of the loops decide which form of a construct is faster, are both written under a host `if`?
    pub versioned: bool,
    /// Are grids that clauses of the program say, and that are far off on the device, replaced?
    pub retune: bool,
    /// How pipelines are written.
    pub pipeline: PipelineOptions,
    /// The device that grids are chosen for. Without one, only what holds on every device is written.
    pub device: Option<DeviceProfile>,
    /// Only constructs that touch one of these ranges of lines, counted from 1, both ends included. Empty for all.
    pub lines: Vec<(usize, usize)>,
    /// Are the facts behind each decision wanted ([`Plan::details`](crate::plan::Plan::details))?
    pub explain: bool,
    /// The bounds of time and memory.
    pub limits: Limits,
    /// The compiler flags with which clang is asked about the names in each round's text. `None` if clang is not asked.
    pub facts: Option<Arc<[String]>>,
    /// The macros that the compiler's flags define or undefine.
    pub definitions: Arc<[FlagDefinition]>,
    /// May the compiler assume that objects of different types do not share storage? Not with `-fno-strict-aliasing`.
    pub strict_aliasing: bool,
    /// Do signed integers wrap around, as with `-fwrapv`?
    pub signed_wraps: bool,
    /// What the compiler's flags say of arithmetic.
    pub arithmetic: Arithmetic,
    /// The compiler flags with which clang counts the resources of kernels. `None` if clang is not asked.
    pub resources: Option<Arc<[String]>>,
    /// What is told of kernels in the place of what passes choose.
    pub instructions: Arc<Instructions>,
    /// What was changed before in the same review, of which this is the text.
    pub earlier: Vec<Changed>,
}

impl Options {
    /// What the user consents to beside what is safe.
    #[must_use]
    pub fn consent(&self) -> Consent {
        Consent { assumptions: self.assume, reassociation: self.reassociate }
    }
}

impl Default for Options {
    /// The default passes, Safe edits alone, the whole file.
    fn default() -> Self {
        let assumed_iterations = ASSUMED_ITERATIONS;
        let limits = Limits::default();
        Self {
            passes: Passes::default(),
            assume: false,
            reassociate: false,
            assumed_iterations,
            device_memory: None,
            versioned: false,
            retune: false,
            pipeline: PipelineOptions::default(),
            device: None,
            lines: Vec::new(),
            explain: false,
            limits,
            facts: None,
            definitions: Arc::new([]),
            strict_aliasing: true,
            signed_wraps: false,
            arithmetic: Arithmetic::default(),
            resources: None,
            instructions: Arc::default(),
            earlier: Vec::new(),
        }
    }
}
