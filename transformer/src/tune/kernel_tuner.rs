//! The bridge to Kernel Tuner (<https://github.com/KernelTuner/kernel_tuner>): the space of each kernel for its strategies, and what they found.
//!
//! A space is a JSON file: for each kernel `tune_params` as `tune_kernel` takes them, and `configurations`, the legal ones with a time in
//! milliseconds, measured or else predicted. Back comes a results file in Kernel Tuner's T4 form, as `store_output_file` writes it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::choices::{Choice, Form};
use super::space::{Space, TunableKernel};
use crate::plan::instructions::{Group, LoopHash, Teams};

/// The spaces of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spaces {
    /// The version of this form.
    pub schema: u32,
    /// The source.
    pub file: String,
    /// One space for each kernel that can be tuned.
    pub kernels: Vec<KernelSpace>,
}

/// The space of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelSpace {
    /// The hash of its loop, which is a parameter of one value as well, so that results tell whose they are.
    pub kernel: String,
    /// The line of its directive.
    pub line: usize,
    /// The parameters and their values.
    pub tune_params: TuneParameters,
    /// The legal combinations.
    pub configurations: Vec<Configuration>,
}

/// The parameters of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TuneParameters {
    kernel: Vec<String>,
    form: Vec<String>,
    threads: Vec<u32>,
    teams: Vec<String>,
}

/// One combination of values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// The kernel.
    pub kernel: String,
    /// `plain`, `unrolled`, or `groups of 4 in loop 1`.
    pub form: String,
    /// `thread_limit`; 0 for none.
    pub threads: u32,
    /// `runtime`, or the most teams.
    pub teams: String,
    /// Milliseconds, where they are known.
    #[serde(default)]
    pub time: Option<f64>,
}

/// Writes a form as a value of a parameter.
fn form_name(form: Form) -> String {
    match form {
        Form::Plain => "plain".to_owned(),
        Form::Unrolled => "unrolled".to_owned(),
        Form::Groups(group) => Group { loop_index: group.loop_index.or(Some(0)), ..group }.to_string(),
    }
}

fn configuration(kernel: &TunableKernel, choice: Choice, time: Option<f64>) -> Option<Configuration> {
    let Choice::Told { form, grid } = choice else { return None };
    let teams = match grid.map(|grid| grid.teams) {
        Some(Teams::AtMost(most)) => most.to_string(),
        Some(Teams::Runtime | Teams::Open) | None => "runtime".to_owned(),
    };
    let threads = grid.map_or(0, |grid| grid.threads);
    Some(Configuration { kernel: kernel.hash.to_string(), form: form_name(form), threads, teams, time })
}

/// The spaces of all kernels. `measured` gives the milliseconds of candidates that were run.
#[must_use]
pub fn spaces(file: &str, space: &Space, measured: impl Fn(usize, Choice) -> Option<f64>) -> Spaces {
    let of_kernel = |(index, kernel): (usize, &TunableKernel)| {
        let each = kernel.candidates.iter().filter_map(|candidate| {
            let predicted = candidate.predicted.map(|microseconds| microseconds / 1e3);
            configuration(kernel, candidate.choice, measured(index, candidate.choice).or(predicted))
        });
        let configurations: Vec<Configuration> = each.collect();
        let hash = kernel.hash.to_string();
        let mut tune_params = TuneParameters { kernel: vec![hash.clone()], ..TuneParameters::default() };
        for one in &configurations {
            add(&mut tune_params.form, one.form.clone());
            add(&mut tune_params.threads, one.threads);
            add(&mut tune_params.teams, one.teams.clone());
        }
        KernelSpace { kernel: hash, line: kernel.line, tune_params, configurations }
    };
    let kernels = space.kernels.iter().enumerate().map(of_kernel).collect();
    Spaces { schema: 1, file: file.to_owned(), kernels }
}

fn add<T: Ord>(all: &mut Vec<T>, one: T) {
    if let Err(at) = all.binary_search(&one) {
        all.insert(at, one);
    }
}

/// A results file in the T4 form; what else it holds is of no use here.
#[derive(Deserialize)]
struct Results {
    results: Vec<ResultEntry>,
}

#[derive(Deserialize)]
struct ResultEntry {
    configuration: Configuration,
    #[serde(default)]
    invalidity: Option<String>,
    #[serde(default)]
    measurements: Vec<Measurement>,
}

#[derive(Deserialize)]
struct Measurement {
    name: String,
    value: serde_json::Value,
}

/// The best choice of each kernel by results files, by the hashes of their loops.
///
/// # Errors
/// When a file is none, or holds a configuration that no space has.
pub fn best(text: &[u8], spaces: &Spaces) -> Result<BTreeMap<LoopHash, Configuration>, String> {
    let results: Results = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let mut best: BTreeMap<LoopHash, (f64, Configuration)> = BTreeMap::new();
    for entry in results.results {
        if entry.invalidity.is_some_and(|word| word != "correct") {
            continue;
        }
        let time = entry.measurements.iter().find(|one| one.name == "time").and_then(|one| one.value.as_f64());
        let Some(time) = time.filter(|time| time.is_finite()) else { continue };
        let one = entry.configuration;
        let is_it = |other: &&Configuration| {
            (&other.kernel, &other.form, other.threads, &other.teams)
                == (&one.kernel, &one.form, one.threads, &one.teams)
        };
        let known = spaces.kernels.iter().flat_map(|kernel| &kernel.configurations).find(is_it);
        let Some(known) = known else {
            return Err(format!(
                "`{}`, {} threads, teams {} of kernel {} is in no space of this file: it was changed since",
                one.form, one.threads, one.teams, one.kernel
            ));
        };
        let hash = LoopHash::written(&one.kernel);
        if best.get(&hash).is_none_or(|(least, _)| time < *least) {
            best.insert(hash, (time, Configuration { time: Some(time), ..known.clone() }));
        }
    }
    Ok(best.into_iter().map(|(hash, (_, configuration))| (hash, configuration)).collect())
}

/// The choice that a configuration stands for.
#[must_use]
pub fn choice(kernel: &TunableKernel, wanted: &Configuration) -> Option<Choice> {
    let choices = kernel.candidates.iter().map(|candidate| candidate.choice);
    let is_it = |choice: &Choice| configuration(kernel, *choice, wanted.time).is_some_and(|other| other == *wanted);
    choices.into_iter().find(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> Spaces {
        let one = |form: &str, threads: u32| Configuration {
            kernel: "0123".to_owned(),
            form: form.to_owned(),
            threads,
            teams: "runtime".to_owned(),
            time: Some(1.0),
        };
        let configurations = vec![one("plain", 0), one("plain", 32), one("groups of 4 in loop 1", 32)];
        let tune_params = TuneParameters::default();
        let kernels = vec![KernelSpace { kernel: "0123".to_owned(), line: 3, tune_params, configurations }];
        Spaces { schema: 1, file: "a.c".to_owned(), kernels }
    }

    fn result(form: &str, threads: u32, time: &str, invalidity: &str) -> String {
        format!(
            r#"{{"configuration": {{"kernel": "0123", "form": "{form}", "threads": {threads}, "teams": "runtime"}},
                "invalidity": "{invalidity}", "measurements": [{{"name": "time", "value": {time}, "unit": "ms"}}]}}"#
        )
    }

    #[test]
    fn the_fastest_correct_configuration_is_taken() {
        let all = [
            result("plain", 0, "2.0", "correct"),
            result("groups of 4 in loop 1", 32, "0.5", "correct"),
            result("plain", 32, "0.1", "runtime"),
        ];
        let text = format!(r#"{{"schema_version": "1.0.0", "results": [{}]}}"#, all.join(","));
        let best = best(text.as_bytes(), &space()).unwrap();
        let found = best.get(&LoopHash::written("0123")).unwrap();
        assert_eq!((found.form.as_str(), found.threads), ("groups of 4 in loop 1", 32));
    }

    #[test]
    fn what_no_space_has_is_refused() {
        let text = format!(r#"{{"results": [{}]}}"#, result("plain", 77, "1.0", "correct"));
        assert!(best(text.as_bytes(), &space()).unwrap_err().contains("changed since"));
        assert!(best(b"[]", &space()).is_err());
    }
}
