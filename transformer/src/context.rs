//! What the passes are given: the program, and what is asked of them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::ops::Deref;

use crate::device::{CountedKernel, DeviceProfile};
use crate::plan::{Detail, Pass};
use crate::semantics::Program;
use crate::source::Span;

/// A program and what is asked of the passes. It stands for the program wherever one is wanted.
pub struct Context<'a> {
    /// The program, as this round reads it.
    pub program: Program<'a>,
    /// How many iterations a loop is assumed to have where the text does not tell.
    pub assumed_iterations: u32,
    /// How many bytes of the device's memory data may take that stay on it, where no construct needs all of them at once.
    pub device_memory: u64,
    /// Are both forms written, under a host `if`, where it hangs on lengths known at run time whether one pays?
    pub versioned: bool,
    /// How pipelines are written.
    pub pipeline: PipelineOptions,
    /// The device that grids are chosen for, or `None` if none is asked for, or no grid is to be chosen.
    pub device: Option<&'a DeviceProfile>,
    /// The device that was asked for, whichever passes run.
    pub profile: Option<&'a DeviceProfile>,
    /// What a compiler counted of the kernels, by the line of the directive; empty where it is not asked.
    pub counted: &'a BTreeMap<usize, CountedKernel>,
    /// What decisions are made by, where that is asked for.
    pub explanations: Option<Explanations>,
}

/// What passes say of how they decide, by pass and the extent of the construct.
#[derive(Debug, Default)]
pub struct Explanations(RefCell<BTreeMap<(Pass, Span), Vec<Detail>>>);

impl Explanations {
    /// What was said of a construct, which is taken out.
    pub fn take(&self, pass: Pass, extent: Span) -> Vec<Detail> {
        self.0.borrow_mut().remove(&(pass, extent)).unwrap_or_default()
    }
}

impl Context<'_> {
    /// Keeps what a decision is made by, where that is asked for.
    pub fn explain(&self, pass: Pass, extent: Span, details: impl FnOnce() -> Vec<Detail>) {
        if let Some(explanations) = &self.explanations {
            explanations.0.borrow_mut().insert((pass, extent), details());
        }
    }
}

impl<'a> Deref for Context<'a> {
    type Target = Program<'a>;

    fn deref(&self) -> &Program<'a> {
        &self.program
    }
}

/// How pipelines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipelineOptions {
    /// How copies come from page-locked memory.
    pub pin: PinnedMemory,
    /// How many tiles are on the device at a time; whole arrays where there is none.
    pub window: Option<NonZeroU32>,
    /// How many tiles there are; as many as suit the device where there is none.
    pub tiles: Option<NonZeroU32>,
    /// From how many bytes of the largest array on there are tiles; where they are estimated to pay where there is none.
    pub least_bytes: Option<u64>,
    /// The compiler whose faults and speeds count.
    pub compiler: OutputCompiler,
}

/// How copies come from page-locked host memory. Those between other memory and the device overlap with nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PinnedMemory {
    /// Each thread that copies has a page-locked buffer, through which the program's own memory passes.
    #[default]
    Stage,
    /// What is there is registered with the driver, by the header that `ompsplit header` prints.
    Register,
    /// Page-locked from its allocation until it is freed, where both are in sight; otherwise as above.
    Allocate,
    /// Not at all: it is page-locked already.
    None,
}

impl PinnedMemory {
    /// Is memory of the program page-locked for a pipeline, which takes time each time?
    #[must_use]
    pub fn locks(self) -> bool {
        matches!(self, Self::Register | Self::Allocate)
    }
}

/// The compiler that a result is written for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputCompiler {
    /// clang, and what is built on it.
    #[default]
    Llvm,
    /// GCC.
    Gcc,
    /// NVIDIA's HPC compilers.
    Nvhpc,
}

/// [`Context::device_memory`] where neither the user nor a profile says otherwise.
pub const DEVICE_MEMORY: u64 = 2 << 30;

/// [`Context::assumed_iterations`] where nobody says otherwise.
pub const ASSUMED_ITERATIONS: u32 = 65_536;
