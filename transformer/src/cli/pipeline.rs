//! The flags of the pass `pipeline`, and what a configuration says in their place.

use std::num::NonZeroU32;

use clap::{Args, ValueEnum};

use crate::cli::config::Config;
use crate::cli::settings::value_named;
use crate::context::{OutputCompiler, PinnedMemory, PipelineOptions};

/// A window has a thread for each of its tiles; two of them are slower with buffers (`bench/results/pipeline`).
const LEAST_STAGED_WINDOW: u32 = 4;

/// More than anybody needs, and few enough for sums of the output.
const MOST_TILES: u32 = 1 << 16;

/// How `pipeline` writes its stages.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct PipelineArguments {
    /// pipeline, overlap: how host memory is page-locked, without which copies and kernels do not overlap [default: stage, register in a window of less than 4 tiles]
    #[arg(long, value_enum, value_name = "HOW")]
    pub pin: Option<Pin>,
    /// pipeline: keep only K tiles on the device at a time, so that arrays larger than its memory fit
    #[arg(long, value_name = "K")]
    pub pipeline_window: Option<NonZeroU32>,
    /// pipeline: cut loops into N tiles [default: what suits the device, 16 without one, at least 4 for each in a window]
    #[arg(long, value_name = "N")]
    pub pipeline_tiles: Option<NonZeroU32>,
    /// pipeline, overlap: change what copies at least this many bytes of an array [default: where it is predicted to pay, 32 MiB without a device]
    #[arg(long, value_name = "BYTES")]
    pub pipeline_from: Option<u64>,
    /// pipeline, overlap: the compiler that the result is written for [default: llvm]
    #[arg(long = "for", value_enum, value_name = "COMPILER")]
    pub compiler: Option<Compiler>,
}

/// `--pin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pin {
    /// Through a page-locked buffer of each thread that copies, by the functions that `ompsplit header` prints
    Stage,
    /// Memory as it is, registered with the driver for the time of the loop
    Register,
    /// From its allocation until it is freed, where both and all between are in sight; by the loop elsewhere
    Alloc,
    /// Not at all, for memory that is page-locked already
    None,
}

/// `--for`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Compiler {
    /// clang and what is built on it
    Llvm,
    /// GCC, whose runtime overlaps nothing: no tiles, unless `--pipeline-from` says so
    Gcc,
    /// NVIDIA's HPC compilers, with which tiles were never tried: with `--assume` only
    Nvhpc,
}

impl PipelineArguments {
    /// What holds where a configuration has these keys: the flags, then the configuration, then the defaults.
    ///
    /// # Errors
    /// When a name in the configuration is none of the known ones.
    pub(super) fn options(self, config: &Config) -> Result<PipelineOptions, String> {
        let pin = config.pin.as_deref().map(|name| value_named(name, "way to pin memory")).transpose()?;
        let compiler = config.compiler.as_deref().map(|name| value_named(name, "compiler")).transpose()?;
        let defaults = PipelineOptions::default();
        let window = self.pipeline_window.or(config.pipeline_window);
        let tiles = self.pipeline_tiles.or(config.pipeline_tiles);
        if [window, tiles].into_iter().flatten().any(|number| number.get() > MOST_TILES) {
            return Err(format!("a pipeline has at most {MOST_TILES} tiles"));
        }
        // Few threads copy through buffers more slowly than it takes to page-lock the memory.
        let has_few_threads = window.is_some_and(|window| window.get() < LEAST_STAGED_WINDOW);
        let suited = if has_few_threads { PinnedMemory::Register } else { defaults.pin };
        Ok(PipelineOptions {
            pin: self.pin.or(pin).map_or(suited, Pin::meant),
            window,
            tiles,
            least_bytes: self.pipeline_from.or(config.pipeline_from),
            compiler: self.compiler.or(compiler).map_or(defaults.compiler, Compiler::meant),
            ..defaults
        })
    }
}

/// The configuration's keys for what holds.
pub(super) fn dump(options: PipelineOptions, config: &mut Config) {
    let name = |known: Option<clap::builder::PossibleValue>| known.map(|value| value.get_name().to_owned());
    let named = |pin: &&Pin| pin.meant() == options.pin;
    config.pin = Pin::value_variants().iter().find(named).and_then(|pin| name(pin.to_possible_value()));
    let named = |compiler: &&Compiler| compiler.meant() == options.compiler;
    config.compiler = Compiler::value_variants().iter().find(named).and_then(|it| name(it.to_possible_value()));
    config.pipeline_window = options.window;
    config.pipeline_tiles = options.tiles;
    config.pipeline_from = options.least_bytes;
}

impl Pin {
    fn meant(self) -> PinnedMemory {
        match self {
            Self::Stage => PinnedMemory::Stage,
            Self::Register => PinnedMemory::Register,
            Self::Alloc => PinnedMemory::Allocate,
            Self::None => PinnedMemory::None,
        }
    }
}

impl Compiler {
    fn meant(self) -> OutputCompiler {
        match self {
            Self::Llvm => OutputCompiler::Llvm,
            Self::Gcc => OutputCompiler::Gcc,
            Self::Nvhpc => OutputCompiler::Nvhpc,
        }
    }
}
