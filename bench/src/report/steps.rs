//! What each further pass adds.

use super::figures::{Clock, is_slower, speed_up, summarise};
use super::table::{case_name, markdown, ratio};
use crate::results::Results;

/// A table with a row for each pass set that was run, against the naive program and against the pass set before it, or the same
/// passes without flags; nothing where only one was run.
pub fn steps(results: &Results) -> String {
    let mut sets: Vec<&str> = Vec::new();
    for variant in results.cases.iter().flat_map(|case| &case.variants) {
        if let Some(passes) = variant.variant.strip_prefix("naive+").filter(|passes| !sets.contains(passes)) {
            sets.push(passes);
        }
    }
    if sets.len() < 2 {
        return String::new();
    }
    let mut table = markdown(&[
        "passes",
        "clock",
        "over naive",
        "of the ceiling",
        "over the row before",
        "worst against it",
        "slower than it",
    ]);
    let mut before = "naive".to_owned();
    for passes in sets {
        let output = format!("naive+{passes}");
        // One with further flags stands against the same passes without.
        if let Some((plain, _)) = passes.split_once(' ') {
            before = format!("naive+{plain}");
        }
        for (clock, clock_name) in [(Clock::Total, "total"), (Clock::Kernels, "kernels")] {
            let against = |base: &str| summarise(results, |case| speed_up(case, base, &output, clock));
            let (Some(naive), Some(ceiling), Some(step)) = (against("naive"), against("ceiling"), against(&before))
            else {
                continue;
            };
            let slower: Vec<String> = results
                .cases
                .iter()
                .filter(|case| is_slower(results, case, &before, &output, clock))
                .map(case_name)
                .collect();
            table.add_row([
                passes.to_owned(),
                clock_name.to_owned(),
                ratio(naive.mean),
                ratio(ceiling.mean),
                ratio(step.mean),
                format!("{} {}", ratio(step.worst.0), step.worst.1),
                if slower.is_empty() { "none".to_owned() } else { slower.join(", ") },
            ]);
        }
        before = output;
    }
    format!(
        "## Step by step\n\nGeometric means over the programs. A case counts as slower than the row before where it takes over 2 % \
         more, more than the noise, and more than chance explains of its runs (a rank-sum test at 5 %).\n\n{table}\n\n"
    )
}
