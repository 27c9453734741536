//! The GPU benchmark suite of `ompsplit`: builds every variant of its programs, runs and checks them, and reports.

mod build;
mod merge;
mod parallel;
mod prove;
mod report;
mod results;
mod run;
mod statistics;
mod suite;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "The GPU benchmark suite of ompsplit", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Builds all variants of all programs, and packs them for a machine with a GPU
    Build(build::Options),
    /// Runs a built suite and writes a result file (on the machine with the GPU)
    Run(run::Options),
    /// Joins the result files of all parts of a run, made with `run --part`
    Merge {
        /// The result file of the whole run
        out: PathBuf,
        /// Those of the parts
        #[arg(required = true)]
        parts: Vec<PathBuf>,
    },
    /// Times one hand-tuned variant over a grid of its tunables (on the machine with the GPU)
    Sweep(run::sweep::Options),
    /// Writes the tables (.md) and the chart (.svg) of a result file, beside it
    Report {
        /// The result file that `run` wrote
        results: PathBuf,
        /// Fail unless the files beside it are what would be written
        #[arg(long)]
        check: bool,
    },
    /// Draws the table of a sweep of grids, as `tests/geometry.rs` keeps it, as a chart (.svg)
    Grids {
        /// The table: a snapshot
        table: PathBuf,
        /// The chart
        chart: PathBuf,
        /// Fail unless the chart is what would be drawn
        #[arg(long)]
        check: bool,
    },
    /// Draws the table of threads in a block, as `tests/geometry.rs` keeps it, as a chart (.svg)
    Threads {
        /// The table: a snapshot
        table: PathBuf,
        /// The chart
        chart: PathBuf,
        /// Fail unless the chart is what would be drawn
        #[arg(long)]
        check: bool,
    },
    /// Draws what the table of measured copies beside kernels says as a chart (`speed-up.svg`), and as `table.md`
    Overlaps {
        /// The folder with `h200.csv`
        folder: PathBuf,
        /// Fail unless they are what would be written
        #[arg(long)]
        check: bool,
    },
    /// Draws what the tables of measured pipelines say as a chart (`speed-up.svg`)
    Pipelines {
        /// The folder with `h200.csv`, `loops-whole.csv` and `loops-tiles.csv`
        folder: PathBuf,
        /// Fail unless the chart is what would be drawn
        #[arg(long)]
        check: bool,
    },
    /// Runs every fixture and generated programs on a GPU, before and after, and compares what they print
    #[command(subcommand)]
    Prove(prove::Command),
    /// Sets two result files side by side; fails if a program got slower by more than 3 % and beyond the noise
    Compare {
        /// The earlier result file
        before: PathBuf,
        /// The later result file
        after: PathBuf,
    },
}

fn main() -> ExitCode {
    match dispatch(Arguments::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Runs one command. `false` means that it did its work and found something wrong.
fn dispatch(command: Command) -> anyhow::Result<bool> {
    match command {
        Command::Build(options) => build::build(&options).map(|()| true),
        Command::Run(options) => run::run(&options),
        Command::Merge { out, parts } => merge::merge(&out, &parts).map(|()| true),
        Command::Sweep(options) => run::sweep::sweep(&options),
        Command::Report { results, check } => report::report(&results, check),
        Command::Grids { table, chart, check } => report::grids(&table, &chart, check),
        Command::Threads { table, chart, check } => report::threads(&table, &chart, check),
        Command::Overlaps { folder, check } => report::overlaps(&folder, check),
        Command::Pipelines { folder, check } => report::pipelines(&folder, check),
        Command::Prove(command) => prove::prove(&command),
        Command::Compare { before, after } => report::compare::compare(&before, &after),
    }
}
