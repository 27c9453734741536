//! `[tuned]` in `.ompsplit.toml`: kernels that `ompsplit tune` measured, by the hash of their loops.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::Kernel;
use crate::plan::instructions::{Instructions, LoopHash};

/// What was found for one kernel. It tells where the form comes from in which the kernel stands; that form itself is in the source.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TunedKernel {
    /// The source that holds it, relative to the folder of the configuration.
    pub file: PathBuf,
    /// What it was measured on.
    pub device: String,
    /// When, as `2026-11-26`.
    pub date: String,
    /// The form that was chosen, in words.
    pub form: String,
    /// How many times as fast it is as the form before, by its median times. `None` where this tool did not measure it.
    pub ratio: Option<f64>,
    /// The clock: `device`, or `wall` for the time of the whole program; or the tool that measured it.
    pub clock: String,
}

/// What the entries of a configuration tell the engine.
pub(super) fn instructions(entries: &BTreeMap<String, TunedKernel>) -> Instructions {
    let words = |entry: &TunedKernel| format!("tuned on {} on {}: {}", entry.device, entry.date, entry.form);
    let kept = entries.iter().map(|(hash, entry)| (LoopHash::written(hash), words(entry))).collect();
    Instructions { kept, ..Instructions::default() }
}

/// A note about each entry for this file whose loop it no longer holds, before or after a run.
pub(super) fn stale(entries: &BTreeMap<String, TunedKernel>, file: &Path, kernels: &[Kernel]) -> Vec<String> {
    let is_here = |path: &Path| match (std::path::absolute(path), std::path::absolute(file)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    };
    let is_held = |hash: &str| kernels.iter().any(|kernel| kernel.hash == LoopHash::written(hash));
    let stale = entries.iter().filter(|(hash, entry)| is_here(&entry.file) && !is_held(hash));
    let note = |(hash, entry): (&String, &TunedKernel)| {
        format!(
            "{}: [tuned.{hash}] is about a loop that is no longer there (tuned on {} on {}), and does nothing",
            file.display(),
            entry.device,
            entry.date
        )
    };
    stale.map(note).collect()
}
