//! The bridge to Kernel Tuner on the command line.

use std::fs;
use std::path::Path;

use super::winner::Winner;
use super::{Read, places};
use crate::tune::choices::{Choice, Plan};
use crate::tune::decision::{Outcome, Row, Timed};
use crate::tune::kernel_tuner;
use crate::tune::space::Space;
use crate::tune::store::Measurement;
use crate::tune::task::ClockKind;

/// Writes the spaces of a file, with measured times where there are some.
pub(super) fn emit(path: &Path, read: &Read, outcome: Option<&Outcome>) -> Result<(), String> {
    let space = Space::read(read.source()).map_err(|error| error.to_string())?;
    let measured = |kernel: usize, choice: Choice| {
        let row = outcome?.rows.get(kernel)?;
        let timed = row.measured.iter().find(|timed| timed.choice == choice)?;
        timed.median_us.or(timed.searched_us).map(|microseconds| microseconds / 1e3)
    };
    let spaces = kernel_tuner::spaces(&read.file.path.display().to_string(), &space, measured);
    let text = serde_json::to_string_pretty(&spaces).map_err(|error| error.to_string())?;
    fs::write(path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))
}

/// Takes what Kernel Tuner found for a file.
pub(super) fn read(path: &Path, read: &Read) -> Result<Winner, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = fs::read(path).map_err(|error| failed(&error))?;
    let space = Space::read(read.source()).map_err(|error| error.to_string())?;
    let spaces = kernel_tuner::spaces(&read.file.path.display().to_string(), &space, |_, _| None);
    let best = kernel_tuner::best(&text, &spaces).map_err(|error| failed(&error))?;
    if best.is_empty() {
        return Err(failed(&"it holds no correct configuration with a time"));
    }
    let mut rows = Vec::new();
    let mut choices = Vec::new();
    for kernel in &space.kernels {
        let found = best.get(&kernel.hash).and_then(|wanted| Some((wanted, kernel_tuner::choice(kernel, wanted)?)));
        let timed = found.map(|(wanted, choice)| Timed {
            choice,
            words: choice.to_string(),
            predicted_us: None,
            median_us: wanted.time.map(|milliseconds| milliseconds * 1e3),
            searched_us: None,
        });
        choices.push(timed.as_ref().map(|timed| timed.choice).unwrap_or_default());
        rows.push(Row {
            line: kernel.line,
            candidates: kernel.candidates.len(),
            present_us: None,
            passes_us: None,
            best: timed,
            measured: Vec::new(),
        });
    }
    let outcome = Outcome {
        plan: Plan::Chosen(choices),
        ratio: 1.0,
        noise: 0.0,
        clock: ClockKind::Device,
        is_confirmed: false,
        rows,
        saturation: None,
        runs: 0,
        replayed: None,
        seconds: 0.0,
        is_cut: false,
        dropped: Vec::new(),
        faults: Vec::new(),
    };
    let device =
        read.settings.device.as_ref().map_or_else(|| "Kernel Tuner's device".to_owned(), |it| it.title.clone());
    Winner::of(read, &space, Measurement { outcome, device, date: places::today() })
}
