//! `compare`: two result files side by side.

use std::path::Path;

use anyhow::Result;
use comfy_table::{Table, presets::ASCII_MARKDOWN};

use super::figures::{Clock, nine_of_ten, threshold};
use crate::results::{CaseResult, Results};
use crate::statistics::deviation;

/// From which part on a slower program is named.
const SLOWER: f64 = 0.03;

/// One variant of one case in both files.
struct Change {
    name: String,
    /// Is it the tool's output, and not a program written by hand?
    is_output: bool,
    clock: &'static str,
    before: f64,
    after: f64,
    noise: f64,
}

impl Change {
    /// How many times as long it takes now.
    fn factor(&self) -> f64 {
        self.after / self.before
    }

    fn is_slower(&self) -> bool {
        self.factor() > 1.0 + SLOWER
    }

    fn is_noise(&self) -> bool {
        self.factor().max(1.0 / self.factor()) - 1.0 <= self.noise
    }
}

/// Prints both files side by side and names what got slower. `false` if something did, beyond the noise.
pub fn compare(before: &Path, after: &Path) -> Result<bool> {
    let (before, after) = (Results::read(before)?, Results::read(after)?);
    if before.device.name != after.device.name {
        println!("different devices: {} and {}\n", before.device.name, after.device.name);
    }
    let changes = changes(&before, &after);
    let mut table = Table::new();
    table.load_preset(ASCII_MARKDOWN).set_header(["case", "variant's", "before ms", "after ms", "after / before", ""]);
    for change in &changes {
        let verdict = match change {
            one if one.is_noise() => "noise",
            one if one.is_slower() => "SLOWER",
            one if one.factor() < 1.0 - SLOWER => "quicker",
            _ => "",
        };
        table.add_row([
            change.name.clone(),
            change.clock.to_owned(),
            format!("{:.4}", change.before),
            format!("{:.4}", change.after),
            format!("{:.3}", change.factor()),
            verdict.to_owned(),
        ]);
    }
    println!("{table}\n");
    let slower: Vec<_> = changes.iter().filter(|change| change.is_slower()).collect();
    for change in &slower {
        let doubt = if change.is_noise() { ", within the noise" } else { "" };
        let part = (change.factor() - 1.0) * 100.0;
        println!("slower by {part:.1} %: {} ({} time{doubt})", change.name, change.clock);
    }
    if slower.is_empty() {
        println!("nothing got slower by more than {:.0} %", SLOWER * 100.0);
    }
    Ok(slower.iter().all(|change| change.is_noise()))
}

/// Every variant that both files have times of.
fn changes(before: &Results, after: &Results) -> Vec<Change> {
    let mut changes = Vec::new();
    for case in &after.cases {
        let same = |other: &&CaseResult| {
            other.program == case.program
                && other.case.sizes == case.case.sizes
                && other.case.pinned == case.case.pinned
        };
        let Some(earlier) = before.cases.iter().find(same) else { continue };
        for variant in &case.variants {
            for (clock, word) in [(Clock::Total, "total"), (Clock::Kernels, "kernel")] {
                let time = |case: &CaseResult| clock.of(case.measured(&variant.variant)?);
                let (Some(old), Some(new)) = (time(earlier), time(case)) else { continue };
                changes.push(Change {
                    is_output: variant.variant.contains('+'),
                    name: format!("{} {} {}", case.program, case.case, variant.variant),
                    clock: word,
                    before: old,
                    after: new,
                    noise: threshold(before, earlier, clock).max(threshold(after, case, clock)),
                });
            }
        }
    }
    raise_noise(&mut changes);
    changes
}

/// Two runs differ more than two processes of one run: the machines may be others. What the programs written by hand differ by,
/// nine of ten of them, is noise for all.
fn raise_noise(changes: &mut [Change]) {
    for clock in ["total", "kernel"] {
        let by_hand = changes.iter().filter(|change| change.clock == clock && !change.is_output);
        let floor = nine_of_ten(by_hand.map(|change| deviation(change.before, change.after)).collect());
        for change in changes.iter_mut().filter(|change| change.clock == clock) {
            change.noise = change.noise.max(floor);
        }
    }
}
