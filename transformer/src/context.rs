//! The input of the passes: the program and the options.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::ops::Deref;

use crate::device::{CountedKernel, DeviceProfile};
use crate::plan::instructions::{Instruction, Instructions, LoopHash};
use crate::plan::{Detail, Pass};
use crate::region::target::TargetRegion;
use crate::semantics::Program;
use crate::source::Span;

/// A program and the options. It dereferences to the program.
pub struct Context<'a> {
    /// The program, as this round reads it.
    pub program: Program<'a>,
    /// How many iterations a loop of unknown length is assumed to have.
    pub assumed_iterations: u32,
    /// How many bytes data may take that stay on the device although no construct needs all of them at once.
    pub device_memory: u64,
    /// Is what rests on a stated assumption written?
    pub assumes: bool,
    /// If it depends on lengths known at run time whether one form is faster, are both written under a host `if`?
    pub versioned: bool,
    /// Are grids that clauses of the program say, and that are far off, replaced?
    pub retune: bool,
    /// The passes that change only what is sure to gain much, and say nothing of the rest.
    pub confined: &'a [Pass],
    /// Does `collapse` follow, which spreads loops inside of those that become kernels?
    pub collapses: bool,
    /// How pipelines are written.
    pub pipeline: PipelineOptions,
    /// What the compiler's flags say of arithmetic.
    pub arithmetic: Arithmetic,
    /// The device that grids are chosen for. `None` if none is given, or if no grid is to be chosen.
    pub device: Option<&'a DeviceProfile>,
    /// The device that was given, for all passes.
    pub profile: Option<&'a DeviceProfile>,
    /// The resources of the kernels, by the line of the directive. Empty if no compiler was asked.
    pub counted: &'a BTreeMap<usize, CountedKernel>,
    /// What is told of kernels in the place of what passes choose.
    pub instructions: &'a Instructions,
    /// The facts behind decisions, if they are wanted.
    pub explanations: Option<Explanations>,
    /// Is a decision on a part of the text wanted? What is said of the rest is left out.
    pub is_wanted: &'a dyn Fn(Span) -> bool,
    /// Did another pass than `geometry` change or make a part of the text in an earlier round? Then a grid is a part of what it gains.
    pub is_changed: &'a dyn Fn(Span) -> bool,
}

/// The facts behind decisions, by pass and extent of the construct.
#[derive(Debug, Default)]
pub struct Explanations(RefCell<BTreeMap<(Pass, Span), Vec<Detail>>>);

impl Explanations {
    /// Takes out the facts about a construct.
    pub fn take(&self, pass: Pass, extent: Span) -> Vec<Detail> {
        self.0.borrow_mut().remove(&(pass, extent)).unwrap_or_default()
    }
}

impl<'a> Context<'a> {
    /// What was asked for, of another text; nothing is explained of it.
    pub fn of_other<'b>(&self, program: Program<'b>) -> Context<'b>
    where
        'a: 'b,
    {
        Context {
            program,
            assumed_iterations: self.assumed_iterations,
            device_memory: self.device_memory,
            assumes: self.assumes,
            versioned: self.versioned,
            retune: self.retune,
            confined: self.confined,
            collapses: self.collapses,
            pipeline: self.pipeline,
            arithmetic: self.arithmetic,
            device: self.device,
            profile: self.profile,
            counted: self.counted,
            instructions: self.instructions,
            explanations: None,
            is_wanted: &|_| true,
            is_changed: &|_| false,
        }
    }

    /// What tells the loop of a region, or the block of one that is no loop.
    #[must_use]
    pub fn loop_hash(&self, region: &TargetRegion) -> LoopHash {
        LoopHash::of(self.file.bytes(self.constructs.construct(region.chain.innermost()).body_span))
    }

    /// What is told of a region.
    #[must_use]
    pub fn told(&self, region: &TargetRegion) -> Instruction {
        match self.instructions.told.is_empty() {
            true => Instruction::default(),
            false => self.instructions.told.get(&self.loop_hash(region)).copied().unwrap_or_default(),
        }
    }

    /// Does a pass change a region only where that is sure to gain much, and say nothing otherwise?
    #[must_use]
    pub fn is_confined(&self, pass: Pass, region: &TargetRegion) -> bool {
        self.confined.contains(&pass) && self.told(region) == Instruction::default()
    }

    /// Keeps the facts behind a decision, if they are wanted.
    pub fn explain(&self, pass: Pass, extent: Span, details: impl FnOnce() -> Vec<Detail>) {
        if let Some(explanations) = &self.explanations {
            explanations.0.borrow_mut().insert((pass, extent), details());
        }
    }

    /// Keeps more facts behind a decision that was explained.
    pub fn explain_more(&self, pass: Pass, extent: Span, details: impl IntoIterator<Item = Detail>) {
        if let Some(explanations) = &self.explanations {
            explanations.0.borrow_mut().entry((pass, extent)).or_default().extend(details);
        }
    }
}

impl<'a> Deref for Context<'a> {
    type Target = Program<'a>;

    fn deref(&self) -> &Program<'a> {
        &self.program
    }
}

/// What the compiler's flags say of arithmetic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arithmetic {
    /// May floating-point sums and products be formed in any order (`-fassociative-math`)?
    pub reassociates: bool,
    /// May numbers that are not finite, and the signs of zeros, be ignored as well, so that minima and maxima have no order
    /// (`-ffast-math`)?
    pub ignores_special: bool,
    /// Is the program stopped where a signed integer overflows (`-ftrapv`, sanitizers)?
    pub traps: bool,
    /// May the compiler contract operations of several statements (`-ffp-contract=fast`)?
    pub contracts_statements: bool,
}

/// How pipelines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipelineOptions {
    /// How host memory becomes page-locked.
    pub pin: PinnedMemory,
    /// How many tiles are on the device at a time. `None` for whole arrays.
    pub window: Option<NonZeroU32>,
    /// How many tiles there are. `None` for as many as suit the device.
    pub tiles: Option<NonZeroU32>,
    /// The largest array must have at least this many bytes. `None` if the number is to be estimated.
    pub least_bytes: Option<u64>,
    /// The compiler that the output is written for.
    pub compiler: OutputCompiler,
    /// Do flags choose a version of OpenMP before 5.1, which has no directives that transform loops?
    pub before_51: bool,
    /// Do flags forbid what LLVM's compilers take beyond OpenMP (`-fno-openmp-extensions`)?
    pub without_extensions: bool,
    /// Do flags promise that the iterations of collapsed loops can be counted in 32 bits (`-fopenmp-optimistic-collapse`)?
    pub counts_nests_in_32_bits: bool,
}

impl PipelineOptions {
    /// May the output hold directives that transform loops, `unroll` and `tile`, as they were measured?
    #[must_use]
    pub fn transforms_loops(&self) -> bool {
        self.compiler == OutputCompiler::Llvm && !self.before_51
    }
}

/// The version of OpenMP that a compiler's flags choose: 51 for 5.1. `None` if they leave it to the compiler.
#[must_use]
pub fn openmp_version(flags: &[String]) -> Option<u32> {
    flags.iter().rev().find_map(|flag| flag.strip_prefix("-fopenmp-version="))?.parse().ok()
}

/// How host memory becomes page-locked. Copies of other memory do not overlap with anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PinnedMemory {
    /// Each thread that copies has a page-locked buffer, through which the program's own memory passes.
    #[default]
    Stage,
    /// The program's memory is registered with the driver, by the header that `ompsplit header` prints.
    Register,
    /// Memory is registered from its allocation until it is freed, if both are found; otherwise as with `Register`.
    Allocate,
    /// Not at all, because it is page-locked already.
    None,
}

impl PinnedMemory {
    /// Is memory of the program page-locked for each run of a pipeline, which takes time?
    #[must_use]
    pub fn locks(self) -> bool {
        matches!(self, Self::Register | Self::Allocate)
    }
}

/// The compiler that the output is written for.
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

/// The default of [`Context::device_memory`].
pub const DEVICE_MEMORY: u64 = 2 << 30;

/// The default of [`Context::assumed_iterations`].
pub const ASSUMED_ITERATIONS: u32 = 65_536;
