//! What the tool made slower than it was given.

use super::figures::{Clock, is_slower, speed_up};
use super::table::{case_name, markdown, ratio};
use crate::results::Results;

/// A table of the outputs that are slower than their own input; a sentence where there is none.
pub fn losses(results: &Results) -> String {
    let mut table = markdown(&["case", "output", "clock", "output / input"]);
    for case in &results.cases {
        for variant in case.variants.iter().filter(|variant| variant.same_as.is_none()) {
            let Some((input, _)) = variant.variant.split_once('+') else { continue };
            for (clock, clock_name) in [(Clock::Total, "total"), (Clock::Kernels, "kernels")] {
                if is_slower(results, case, input, &variant.variant, clock) {
                    let speed = speed_up(case, input, &variant.variant, clock).map_or_else(String::new, ratio);
                    table.add_row([case_name(case), variant.variant.clone(), clock_name.to_owned(), speed]);
                }
            }
        }
    }
    let text = if table.is_empty() { "No output is.".to_owned() } else { table.to_string() };
    format!(
        "## Slower than the original\n\nOutputs that take over 2 % more than what they were made of, more than the noise, and more than \
         chance explains of their runs.\n\n{text}\n\n"
    )
}
