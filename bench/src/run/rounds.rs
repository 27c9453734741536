//! The measurements of one program.

use std::path::Path;

use anyhow::{Result, bail};

use super::process::{Process, numbers};
use super::{Options, launch_log};
use crate::parallel;
use crate::results::{CaseResult, VariantResult, Work};
use crate::suite::{BuiltVariant, Case, Manifest, Program};

/// What all programs have in common.
pub struct Context<'a> {
    /// The built suite.
    pub tree: &'a Path,
    /// Its manifest.
    pub manifest: &'a Manifest,
    /// The pass set that is judged.
    pub passes: &'a str,
    /// How to run.
    pub options: &'a Options,
    /// The seed of the first inputs.
    pub seed: u64,
}

/// One process and what is known of it. After a failure it is left alone.
struct Runner {
    process: Option<Process>,
    result: VariantResult,
    racy: bool,
    /// Whether it stands for `exact`, whose bits must be those of `naive`.
    is_exact: bool,
    /// What the first run left in each array.
    bits: Vec<String>,
}

/// Runs all variants of a program at each of the sizes.
pub fn measure(context: &Context, program: &Program, cases: &[Case]) -> Result<Vec<CaseResult>> {
    cases.iter().map(|case| measure_case(context, program, case)).collect()
}

fn measure_case(context: &Context, program: &Program, case: &Case) -> Result<CaseResult> {
    let wanted = |variant: &&BuiltVariant| case.only.is_empty() || case.only.contains(&variant.variant);
    let variants: Vec<_> = context.manifest.of_program(&program.name).filter(wanted).collect();
    let binaries: Vec<_> = variants.iter().copied().filter(|variant| same_as(&variants, variant).is_none()).collect();
    let judged = judged_binary(context, &variants);
    let threads = (parallel::cores() / (binaries.len() + 1)).max(1);

    let mut runners: Vec<_> = binaries
        .iter()
        .copied()
        .chain(judged)
        .map(|variant| Runner::start(context.tree, variant, program, threads))
        .collect();
    let exact = variants.iter().find(|variant| variant.variant == "exact" && !program.open_order);
    for (runner, variant) in runners.iter_mut().zip(&binaries) {
        runner.is_exact = exact.is_some_and(|exact| exact.binary == variant.binary);
    }
    let work = setup(&mut runners, case);
    run_rounds(context, &mut runners);

    let mut results: Vec<_> = runners.into_iter().map(|runner| runner.result).collect();
    let again = judged.and_then(|_| results.pop());
    let variants = in_order(&variants, results);
    print_line(program, case, &variants);
    Ok(CaseResult { program: program.name.clone(), case: case.clone(), work, variants, again })
}

/// The binary that is run twice: the tool's output of the naive program, or what takes its place.
fn judged_binary<'a>(context: &Context, variants: &[&'a BuiltVariant]) -> Option<&'a BuiltVariant> {
    let output = format!("naive+{}", context.passes);
    let find = |name: &str| variants.iter().copied().find(|variant| variant.variant == name);
    match find(&output) {
        Some(variant) => same_as(variants, variant).or(Some(variant)),
        None => variants.last().copied(),
    }
}

/// The other variant that stands for this one: the first of those that are wanted with the same text, and so the same binary.
fn same_as<'a>(variants: &[&'a BuiltVariant], variant: &BuiltVariant) -> Option<&'a BuiltVariant> {
    let first = variants.iter().copied().find(|other| other.binary == variant.binary)?;
    (first.variant != variant.variant).then_some(first)
}

/// Puts the measured binaries and the variants with the same text into the manifest's order.
fn in_order(variants: &[&BuiltVariant], measured: Vec<VariantResult>) -> Vec<VariantResult> {
    let mut measured = measured.into_iter();
    variants
        .iter()
        .map(|variant| {
            let mut result = match same_as(variants, variant) {
                Some(other) => VariantResult { same_as: Some(other.variant.clone()), ..VariantResult::default() },
                None => measured.next().unwrap_or_default(),
            };
            result.variant.clone_from(&variant.variant);
            result.decisions.clone_from(&variant.decisions);
            result
        })
        .collect()
}

fn setup(runners: &mut [Runner], case: &Case) -> Work {
    let pinned = if case.pinned { "pinned " } else { "" };
    let mut work = Work::default();
    for runner in runners {
        runner.attempt(|process, _| {
            let answer = numbers(&process.ask(&format!("setup {pinned}{}", case.sizes), "ready")?)?;
            if let [bytes_in, bytes_out, device_bytes, operations] = answer[..] {
                work = Work { bytes_in, bytes_out, device_bytes, operations };
            }
            for tunable in &case.tune {
                process.ask(&format!("set {tunable}"), "ready")?;
            }
            Ok(())
        });
    }
    work
}

/// One round to warm up, whose launches and copies are logged; then each round a timed and a traced run.
fn run_rounds(context: &Context, runners: &mut [Runner]) {
    prepare(runners, context.seed);
    for runner in runners.iter_mut() {
        let mut bits = Vec::new();
        runner.attempt(|process, result| {
            let log;
            (log, bits) = process.inspect()?;
            (result.launches, result.copies) = launch_log::read(&log);
            Ok(())
        });
        runner.bits = bits;
    }
    check(runners);
    compare_bits(context, runners);
    for round in 1..=u64::from(context.options.rounds) {
        let seed = context.seed.wrapping_add(round);
        prepare(runners, seed);
        for runner in rotated(runners, round) {
            runner.attempt(|process, result| {
                result.total_ms.push(process.time()?);
                Ok(())
            });
        }
        check(runners);
        prepare(runners, seed);
        for runner in rotated(runners, round) {
            runner.attempt(|process, result| {
                if let Some(trace) = process.trace()? {
                    result.kernel_ms.push(trace.kernel_ms);
                    result.copy_ms.push(trace.copy_ms);
                }
                Ok(())
            });
        }
    }
}

/// Compares what the first run left in the arrays with what `naive` did, or the judged output where that does not run.
fn compare_bits(context: &Context, runners: &mut [Runner]) {
    let output = format!("naive+{}", context.passes);
    let of = |name: &str| runners.iter().find(|runner| runner.result.variant == name && !runner.bits.is_empty());
    let Some(expected) = of("naive").or_else(|| of(&output)).map(|runner| runner.bits.clone()) else { return };
    for runner in runners.iter_mut().filter(|runner| runner.bits.len() == expected.len()) {
        // What only one of them brings back is scratch.
        let other = runner.bits.iter().zip(&expected).position(|(a, b)| a != b && a != "-" && b != "-");
        runner.result.same_bits = Some(other.is_none());
        if let Some(array) = other.filter(|_| runner.is_exact) {
            runner.attempt(|_, _| bail!("array {array} has other bits than with naive, which exact must keep"));
        }
    }
}

/// The runners with another one first in each round, so that no variant always follows the same other.
fn rotated(runners: &mut [Runner], round: u64) -> impl Iterator<Item = &mut Runner> {
    let first = round as usize % runners.len().max(1);
    let (early, late) = runners.split_at_mut(first);
    late.iter_mut().chain(early)
}

/// Gives all the same fresh inputs, at the same time.
fn prepare(runners: &mut [Runner], seed: u64) {
    all_at_once(runners, &format!("prepare {seed}"), |process, _, _| process.receive("ready").map(drop));
}

/// Compares every variant's outputs with the host's.
fn check(runners: &mut [Runner]) {
    all_at_once(runners, "check", |process, result, racy| {
        result.checked += 1;
        let verdict = process.receive("pass");
        match verdict {
            Ok(error) => result.largest_error = result.largest_error.max(error.parse().unwrap_or(f64::NAN)),
            Err(wrong) => {
                result.wrong += 1;
                anyhow::ensure!(racy, "{wrong:#}");
            }
        }
        Ok(())
    });
}

fn all_at_once(
    runners: &mut [Runner],
    command: &str,
    receive: impl Fn(&mut Process, &mut VariantResult, bool) -> Result<()>,
) {
    for runner in runners.iter_mut() {
        runner.attempt(|process, _| process.send(command));
    }
    for runner in runners {
        let racy = runner.racy;
        runner.attempt(|process, result| receive(process, result, racy));
    }
}

fn print_line(program: &Program, case: &Case, variants: &[VariantResult]) {
    let mut line = format!("{:<28}", format!("{} {case}", program.name));
    for result in variants.iter().filter(|result| result.same_as.is_none()) {
        let time = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
        line += &format!(" {} {}/{}", result.variant, time(result.total()), time(result.kernels()));
        if result.wrong > 0 {
            line += &format!(" WRONG {}/{}", result.wrong, result.checked);
        }
    }
    println!("{line}");
}

impl Runner {
    fn start(tree: &Path, variant: &BuiltVariant, program: &Program, host_threads: usize) -> Self {
        let mut result = VariantResult { variant: variant.variant.clone(), ..VariantResult::default() };
        let process = match Process::start(tree, &variant.binary, host_threads) {
            Ok(process) => Some(process),
            Err(error) => {
                result.failure = Some(format!("{error:#}"));
                None
            }
        };
        let racy = program.is_racy(&variant.variant);
        Self { process, result, racy, is_exact: false, bits: Vec::new() }
    }

    /// Does something with a process that has not failed; an error ends it.
    fn attempt(&mut self, action: impl FnOnce(&mut Process, &mut VariantResult) -> Result<()>) {
        let Some(process) = &mut self.process else { return };
        if let Err(error) = action(process, &mut self.result) {
            self.result.failure = Some(format!("{error:#}"));
            self.process = None;
        }
    }
}
