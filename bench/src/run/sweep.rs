//! `sweep`: one hand-tuned variant over a grid of its tunables, to find the best values.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::process::Process;
use crate::parallel;
use crate::statistics::median;

/// What `sweep` is asked for.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// The built suite: the folder with `manifest.json`
    #[arg(long, default_value = "target/bench/tree")]
    pub tree: PathBuf,
    /// A binary of the suite, such as `gemm-ceiling`
    pub binary: String,
    /// Its sizes, as one argument; `pinned` may stand before them
    pub sizes: String,
    /// Values of one tunable, as `threads=64,128,256`; all combinations are tried
    pub tunables: Vec<String>,
    /// How often each combination is timed, after one run to warm up
    #[arg(long, default_value_t = 3)]
    pub rounds: u32,
}

/// One combination: tunables with their values.
type Setting = Vec<(String, String)>;

/// Times every combination and prints one line for each, the quickest kernels last.
pub fn sweep(options: &Options) -> Result<bool> {
    let settings = combinations(&options.tunables)?;
    let mut process = Process::start(&options.tree, &options.binary, parallel::cores())?;
    process.ask(&format!("setup {}", options.sizes), "ready")?;
    let mut timed = Vec::new();
    for setting in settings {
        for (name, value) in &setting {
            process.ask(&format!("set {name} {value}"), "ready")?;
        }
        let (kernels, total) = time_setting(&mut process, options.rounds)?;
        timed.push((kernels, total, setting));
    }
    timed.sort_by(|one, other| other.0.total_cmp(&one.0));
    for (kernels, total, setting) in &timed {
        let words: Vec<_> = setting.iter().map(|(name, value)| format!("{name}={value}")).collect();
        println!(
            "{} {}: kernels {kernels:.4} ms, total {total:.3} ms, {}",
            options.binary,
            options.sizes,
            words.join(" ")
        );
    }
    Ok(true)
}

/// The medians of the kernels' and the whole time, after one checked run to warm up.
fn time_setting(process: &mut Process, rounds: u32) -> Result<(f64, f64)> {
    process.ask("prepare 0", "ready")?;
    process.time()?;
    process.ask("check", "pass")?;
    let (mut kernels, mut totals) = (Vec::new(), Vec::new());
    for round in 1..=rounds {
        process.ask(&format!("prepare {round}"), "ready")?;
        let trace = process.trace()?.context("no device clock: a sweep needs an NVIDIA GPU")?;
        totals.push(trace.total_ms);
        kernels.push(trace.kernel_ms);
    }
    let middle = |values: &[f64]| median(values).context("no rounds");
    Ok((middle(&kernels)?, middle(&totals)?))
}

fn combinations(tunables: &[String]) -> Result<Vec<Setting>> {
    let mut settings = vec![Setting::new()];
    for tunable in tunables {
        let (name, values) = tunable.split_once('=').with_context(|| format!("no values in {tunable}"))?;
        settings = settings
            .into_iter()
            .flat_map(|setting| {
                values.split(',').map(move |value| {
                    let mut longer = setting.clone();
                    longer.push((name.to_owned(), value.to_owned()));
                    longer
                })
            })
            .collect();
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_combinations() -> Result<()> {
        let found = combinations(&["a=1,2".to_owned(), "b=3,4,5".to_owned()])?;
        assert_eq!(found.len(), 6);
        assert_eq!(found[4], [("a".to_owned(), "2".to_owned()), ("b".to_owned(), "4".to_owned())]);
        assert!(combinations(&["a".to_owned()]).is_err());
        Ok(())
    }
}
