//! `run`: times every variant of every program of a built suite, checks all results and writes the result file.
//!
//! All variants of a program run as processes of their own at the same time, each waiting for commands. In every round
//! they get the same fresh inputs and are timed one after the other, so that a machine that changes its speed changes
//! it for all of them.

mod launch_log;
pub mod machine;
pub mod part;
pub mod process;
mod rounds;
pub mod sweep;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};

use crate::results::{Results, SCHEMA};
use crate::suite::{Case, Manifest, Program};
use part::Part;

/// What `run` is asked for.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// The built suite: the folder with `manifest.json`
    #[arg(long, default_value = "target/bench/tree")]
    pub tree: PathBuf,
    /// The result file
    #[arg(long, default_value = "results.json")]
    pub out: PathBuf,
    /// Only the quick set
    #[arg(long)]
    pub quick: bool,
    /// Only the sizes of the smoke test
    #[arg(long, conflicts_with = "quick")]
    pub tiny: bool,
    /// Only these programs
    #[arg(long, value_delimiter = ',')]
    pub programs: Vec<String>,
    /// Only this part of the programs, as 2/3; `merge` joins the result files
    #[arg(long)]
    pub part: Option<Part>,
    /// How often each variant is timed
    #[arg(long, default_value_t = 5)]
    pub rounds: u32,
    /// The seed of the first round's inputs; by default the clock
    #[arg(long)]
    pub seed: Option<u64>,
}

/// Runs the suite. `false` means that a result was wrong or a variant could not run.
pub fn run(options: &Options) -> Result<bool> {
    let start = Instant::now();
    let date = jiff::Timestamp::now();
    let manifest = Manifest::read(&options.tree)?;
    let seed = options.seed.unwrap_or_else(|| date.as_millisecond().unsigned_abs());
    let passes = manifest.suite.judged.clone();
    println!("seed {seed}, judging the passes {passes}");

    let device = machine::device(&manifest.architecture)?;
    let limits = machine::limits(&options.tree, if options.tiny { 0.001 } else { 1.0 })?;
    let mut cases = Vec::new();
    for (program, selected) in selected(options, &manifest.suite.programs) {
        let context = rounds::Context { tree: &options.tree, manifest: &manifest, passes: &passes, options, seed };
        cases.extend(rounds::measure(&context, program, &selected)?);
    }
    let results = Results {
        schema: SCHEMA,
        date: format!("{date:.0}"),
        command: command(options),
        commit: manifest.commit,
        compiler: manifest.compiler,
        device,
        limits,
        seconds: start.elapsed().as_secs_f64(),
        passes,
        cases,
    };
    write(&results, &options.out)?;
    let failures = results.failures();
    for failure in &failures {
        eprintln!("FAILED {failure}");
    }
    println!("{} cases, {} failures, {:.0} s", results.cases.len(), failures.len(), results.seconds);
    Ok(failures.is_empty())
}

/// The programs that are run, each with its cases.
fn selected<'a>(options: &Options, programs: &'a [Program]) -> Vec<(&'a Program, Vec<Case>)> {
    let wanted = |program: &&Program| options.programs.is_empty() || options.programs.contains(&program.name);
    let with_cases = programs.iter().filter(wanted).map(|program| (program, select_cases(options, program)));
    let selected: Vec<_> = with_cases.filter(|(_, cases)| !cases.is_empty()).collect();
    match options.part {
        Some(part) => part.take(selected, |(_, cases)| cases.len()),
        None => selected,
    }
}

fn select_cases(options: &Options, program: &Program) -> Vec<Case> {
    if options.tiny {
        let tiny = Case { sizes: program.tiny.clone(), ..Case::default() };
        return std::iter::once(tiny).chain(program.tiny_too.iter().cloned()).collect();
    }
    program.cases.iter().filter(|case| case.quick || !options.quick).cloned().collect()
}

/// The command that repeats the run, without the paths of this machine.
fn command(options: &Options) -> String {
    let mut command = "run".to_owned();
    for (flag, set) in [("--quick", options.quick), ("--tiny", options.tiny)] {
        if set {
            command = format!("{command} {flag}");
        }
    }
    if !options.programs.is_empty() {
        command = format!("{command} --programs {}", options.programs.join(","));
    }
    if options.rounds != 5 {
        command = format!("{command} --rounds {}", options.rounds);
    }
    if let Some(part) = options.part {
        command = format!("{command} --part {part}");
    }
    command
}

/// Writes a result file.
pub fn write(results: &Results, path: &Path) -> Result<()> {
    let text = serde_json::to_string_pretty(results)?;
    std::fs::write(path, text + "\n").with_context(|| format!("cannot write {}", path.display()))
}
