//! The transformations, one file each, and the one registry of them.

mod choose_geometry;
mod collapse;
mod independence;
mod pipeline_loop;
mod split_target;
mod two_forms;
mod unroll_loop;

pub use self::choose_geometry::{GeometryFigures, chooses_grids, geometry_figures};
pub use self::pipeline_loop::{PipelineFigures, pipeline_figures};
pub use self::split_target::{Figures, LoopFigures, figures};

use std::num::NonZeroU32;

use crate::plan::Plan;

/// A transformation as the registry knows it.
pub struct Transform {
    /// The short name that `--passes` takes.
    pub pass: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// Is it among the passes that run when none are named?
    pub default: bool,
    /// Looks at a file and decides for every construct it concerns; `None` for a pass that is planned but not built.
    pub plan: Option<fn(&Context<'_>) -> Vec<Plan>>,
}

/// What a transformation may look at.
pub struct Context<'a> {
    /// The file.
    pub file: &'a crate::source::SourceFile,
    /// What the byte scan found.
    pub scan: &'a crate::source::Scan,
    /// The host program.
    pub tree: &'a crate::syntax::HostTree,
    /// The constructs.
    pub constructs: &'a crate::region::construct::ConstructTree,
    /// Files of the project that the file includes with `#include ".."`, found by the engine: path and text.
    pub headers: &'a [crate::source::SourceFile],
    /// The macros that the compiler's flags define or take back.
    pub definitions: &'a [crate::analysis::symbols::FlagDefinition],
    /// What a compiler knows of the file's names; none where it is not asked.
    pub facts: Option<&'a crate::analysis::facts::Facts>,
    /// May the compiler take it that objects of different types do not share storage (C17, section 6.5)?
    pub strict_aliasing: bool,
    /// Do signed integers wrap around, as with `-fwrapv`?
    pub signed_wraps: bool,
    /// How many iterations a loop is assumed to have where the text does not tell.
    pub assumed_iterations: u32,
    /// Are both forms written, under a host `if`, where it hangs on lengths known at run time whether one pays?
    pub versioned: bool,
    /// How pipelines are written.
    pub pipeline: PipelineOptions,
    /// The device that grids are chosen for; none where none is asked for, or no grid is to be chosen.
    pub device: Option<&'a crate::device::DeviceProfile>,
    /// The device that was asked for, whichever passes run.
    pub profile: Option<&'a crate::device::DeviceProfile>,
    /// What a compiler counted of the kernels, by the line of the directive; empty where it is not asked.
    pub counted: &'a std::collections::BTreeMap<usize, crate::device::CountedKernel>,
}

impl<'a> Context<'a> {
    /// The names of the file, with what flags and compilers say of them.
    #[must_use]
    pub fn symbols(&self) -> crate::analysis::symbols::Symbols<'a> {
        let symbols = crate::analysis::symbols::Symbols::new(self.file, self.tree, self.headers);
        symbols.with_facts(self.facts).with_definitions(self.definitions).with_wrapping(self.signed_wraps)
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
    /// The same from its allocation until it is freed, where both are in sight; otherwise as above.
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

/// [`Context::assumed_iterations`] where nobody says otherwise.
pub const ASSUMED_ITERATIONS: u32 = 65_536;

/// Threads of a team, where no clause says how many. Without a clause clang 19 compiles chunks of 128 iterations into a
/// kernel that its runtime then starts with 32 or 64 threads a team for loops below 409,600 iterations, so that a half or
/// three quarters of the teams get no work. With it there are 128, which is what longer loops get anyway.
const TEAM_THREADS: u32 = crate::device::launch::DEFAULT_THREADS;

/// Every transformation, in the order they run.
pub const TRANSFORMS: &[Transform] = &[
    Transform {
        pass: "split",
        summary: "Split target regions into one kernel per loop",
        default: true,
        plan: Some(split_target::split_target),
    },
    Transform {
        pass: "hoist",
        summary: "Unite the data environments of adjacent target constructs",
        default: true,
        plan: None,
    },
    Transform {
        pass: "collapse",
        summary: "Collapse loop nests that give more parallelism",
        default: true,
        plan: Some(collapse::collapse),
    },
    Transform {
        pass: "geometry",
        summary: "Choose num_teams and thread_limit",
        default: true,
        plan: Some(choose_geometry::choose_geometry),
    },
    Transform { pass: "overlap", summary: "Overlap transfers with kernels", default: false, plan: None },
    Transform {
        pass: "pipeline",
        summary: "Tile loops into transfer and compute stages",
        default: false,
        plan: Some(pipeline_loop::pipeline_loop),
    },
    Transform {
        pass: "unroll",
        summary: "Unroll serial loops whose loads wait for each other",
        default: false,
        plan: Some(unroll_loop::unroll_loop),
    },
];
