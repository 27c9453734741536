//! The arguments of `tune`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::ValueEnum;

use crate::cli::arguments::{ContextArguments, HostArguments, PassArguments};
use crate::tune::size::SizeRange;
use crate::tune::task::ClockKind;

/// What `tune` is given.
#[derive(Clone, Debug, clap::Args)]
pub struct TuneCommand {
    /// The source whose kernels are tuned
    #[arg(value_name = "FILE", required_unless_present = "measure")]
    pub path: Option<PathBuf>,
    /// The command that builds the program, run in a copy of the project
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<String>,
    /// The command that runs it, in the same copy
    #[arg(long, value_name = "COMMAND")]
    pub run: Option<String>,
    /// What must be the same as before: what the program prints and the files of [verify], or its exit status alone
    #[arg(long, value_enum, value_name = "WHAT", default_value = "outputs")]
    pub check: Check,
    /// The folder that is copied, built and run in [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// What stands before the command that runs the program, as `srun -n 1`; {job} in it is the number of the job, from 0 on
    #[arg(long, value_name = "PREFIX")]
    pub launcher: Option<String>,
    /// Run on these GPUs of one kind at the same time, each run on one of them, which it alone sees: numbers, as `0,1`, or `GPU-..`
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with_all = ["jobs", "prepare", "finish"])]
    pub gpus: Vec<String>,
    /// Call the launcher so many times at once, for a run each; it must give each a node, or a device, of its own
    #[arg(long, value_name = "N", conflicts_with_all = ["prepare", "finish"])]
    pub jobs: Option<NonZeroUsize>,
    /// Sizes of the problem, as `N in 256..8192`, for {N} in --run: the search is made at the smallest that the device is saturated by,
    /// and what it finds is confirmed at the largest; `, work N^3` behind it tells how the work grows
    #[arg(long, value_name = "RANGE", value_parser = SizeRange::parse)]
    pub size: Option<SizeRange>,
    /// The part of the candidates that is built, those that are predicted to be fastest [default: 0.25]
    #[arg(long, value_name = "PART", value_parser = part)]
    pub part: Option<f64>,
    /// The most candidates of a kernel
    #[arg(long, value_name = "N")]
    pub candidates: Option<usize>,
    /// How long all measurements may take, in seconds [default: 3600]
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub budget: Option<f64>,
    /// How long one build may take, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = positive, default_value = "600")]
    pub build_timeout: f64,
    /// Which clock counts: the device's own, or that of the whole program [default: the device's, if it can be read]
    #[arg(long, value_enum, value_name = "CLOCK")]
    pub clock: Option<ClockKind>,
    /// Build and measure every candidate at the largest size, without predictions and without leaving any out
    #[arg(long)]
    pub exhaustive: bool,
    /// Measure each grid in runs of its own, instead of launching kernels in all grids within one run
    #[arg(long)]
    pub no_replay: bool,
    /// How often the last candidates run, beside the present form [default: 6; 4 where all grids were launched in one run; 5 with
    /// --exhaustive]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(4..))]
    pub rounds: Option<u16>,
    /// Write nothing; print how the source would change
    #[arg(long)]
    pub diff: bool,
    /// Only build: put all that is needed to measure into this folder, which must be empty or missing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["measure", "finish"])]
    pub prepare: Option<PathBuf>,
    /// Measure what was prepared in this folder, and put the result there
    #[arg(long, value_name = "DIR", conflicts_with_all = ["finish", "path", "build", "run"])]
    pub measure: Option<PathBuf>,
    /// Write what was measured in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["build", "run"])]
    pub finish: Option<PathBuf>,
    /// Write the space of each kernel for Kernel Tuner, with times that were measured, or else predicted
    #[arg(long, value_name = "FILE")]
    pub emit_kernel_tuner: Option<PathBuf>,
    /// Write what Kernel Tuner found: its results file, in the T4 form
    #[arg(long, value_name = "FILE", conflicts_with_all = ["build", "run", "prepare", "measure", "finish"])]
    pub read_kernel_tuner: Option<PathBuf>,
    /// How the result is told
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub output_format: TableFormat,
    /// Show no progress
    #[arg(short, long)]
    pub quiet: bool,
    /// How runs are compared.
    #[command(flatten)]
    pub host: HostArguments,
    /// What the passes do.
    #[command(flatten)]
    pub passes: PassArguments,
    /// What the decisions may rest on.
    #[command(flatten)]
    pub context: ContextArguments,
}

/// `--check`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Check {
    /// What the program prints, its exit status and the files that [verify] names
    #[default]
    Outputs,
    /// Its exit status alone
    Exit,
}

/// `--output-format`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// A table for people
    #[default]
    Table,
    /// One JSON object
    Json,
}

impl ValueEnum for ClockKind {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Device, Self::Wall]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let (name, help) = match self {
            Self::Device => ("device", "That of the device, by events around each kernel"),
            Self::Wall => ("wall", "The time of the whole program"),
        };
        Some(clap::builder::PossibleValue::new(name).help(help))
    }
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("`{text}` is no number above zero"))
}

fn part(text: &str) -> Result<f64, String> {
    positive(text).ok().filter(|part| *part <= 1.0).ok_or_else(|| format!("`{text}` is no part of a whole"))
}
