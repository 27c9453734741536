//! `prove`: every fixture and a sample of generated programs on a GPU, as they are and as the tool writes them, which must
//! give the same results. The x86_64 offload device, on which the tests run them, has neither warps nor the GPU's runtime.

mod build;
mod judge;
mod manifest;
mod programs;
mod report;
mod results;
mod run;

use std::path::PathBuf;

use anyhow::Result;

// What the tests of the tool know of fixtures, and how they make programs up.
#[path = "../../tests/support/fixtures.rs"]
#[allow(dead_code, reason = "the tests of the tool use more of it")]
mod fixtures;
#[path = "../../tests/support/generator/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the tests of the tool use more of it")]
mod generator;

/// The steps of a proof.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Rewrites and compiles the programs, and packs them for a machine with a GPU
    Build(build::Options),
    /// Runs what was built, compares, and writes a result file (on the machine with the GPU)
    Run(run::Options),
    /// Writes the table (.md) of a result file, beside it
    Report {
        /// The result file that `prove run` wrote; `causes.toml` beside it says why exceptions are there
        results: PathBuf,
        /// Fail unless the file beside it is what would be written
        #[arg(long)]
        check: bool,
    },
}

/// Does one step. `false` means that an output differs from its original, or that a table is not what it should be.
pub fn prove(command: &Command) -> Result<bool> {
    match command {
        Command::Build(options) => build::build(options).map(|()| true),
        Command::Run(options) => run::run(options),
        Command::Report { results, check } => report::report(results, *check),
    }
}
