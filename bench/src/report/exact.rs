//! The output against the best by hand that leaves every sum as it is.

use super::figures::{Clock, speed_up, threshold};
use super::table::{case_name, markdown, marked, time_of};
use crate::results::Results;

/// The section; nothing where no program has such a variant.
pub fn exact(results: &Results, output: &str) -> String {
    let mut table = markdown(&[
        "case",
        "output ms",
        "exact ms",
        "of exact",
        "output kernels",
        "pragmas kernels",
        "exact kernels",
        "of pragmas",
        "of exact",
    ]);
    for case in &results.cases {
        let (Some(written), Some(result)) = (case.measured("exact"), case.measured(output)) else { continue };
        let of = |base: &str, clock: Clock| {
            marked(speed_up(case, base, output, clock), threshold(results, case, clock), case.is_unchanged(output))
        };
        let pragmas = case.measured("pragmas").map_or_else(String::new, |found| time_of(found, Clock::Kernels));
        table.add_row([
            case_name(case),
            time_of(result, Clock::Total),
            time_of(written, Clock::Total),
            of("exact", Clock::Total),
            time_of(result, Clock::Kernels),
            pragmas,
            time_of(written, Clock::Kernels),
            of("pragmas", Clock::Kernels),
            of("exact", Clock::Kernels),
        ]);
    }
    if table.is_empty() {
        return String::new();
    }
    format!(
        "## The same bits\n\nOf the programs that have one: the best by hand in which each element is computed by one thread in the order of \
         `naive`, so that no bit of the results changes, as the tool must leave them. Total time, then the kernels alone; 1.0 is as \
         quick.\n\n{table}\n\n"
    )
}
