//! Counts over a whole run.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

use crate::plan::{Consent, Copies, Decision, Plan};
use crate::report::FileReport;
use crate::report::constructs::{Fate, constructs, fate};

/// What `--stats` prints.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stats {
    /// The files that were looked at.
    pub files: usize,
    /// The files that change.
    pub files_changed: usize,
    /// The files that could not be processed.
    pub files_failed: usize,
    /// The constructs of the original that at least one pass decided about.
    pub regions: usize,
    /// The constructs that are changed.
    pub regions_changed: usize,
    /// The constructs that could be changed with `--assume`.
    pub regions_assumable: usize,
    /// The constructs for which no change pays.
    pub regions_not_paying: usize,
    /// The constructs for which nothing is to be done.
    pub regions_nothing_to_do: usize,
    /// The constructs that a pass refused and that no pass changes.
    pub regions_refused: usize,
    /// How often each rule made a pass refuse.
    pub refused_by_rule: BTreeMap<&'static str, usize>,
    /// The kernels that these constructs launch in the original.
    pub kernels_before: usize,
    /// The kernels that they launch in the output.
    pub kernels_after: usize,
    /// How often the constructs that are changed so copy data in the original, where a loop repeats them in one pass of it.
    pub copies_before: usize,
    /// How often they do so in the output, in all passes of such a loop.
    pub copies_after: usize,
    /// The bytes of those of these changes whose sizes the text tells, before and after.
    pub bytes_before: u64,
    /// See `bytes_before`.
    pub bytes_after: u64,
    /// The changes of copies whose sizes the text does not tell.
    pub copies_of_unknown_size: usize,
    /// The time of the run.
    pub milliseconds: u128,
}

impl Stats {
    /// Counts over all files.
    #[must_use]
    pub fn new(reports: &[&FileReport], time: Duration) -> Self {
        let mut stats = Self { files: reports.len(), milliseconds: time.as_millis(), ..Self::default() };
        for report in reports {
            stats.files_changed += usize::from(report.changed);
            stats.files_failed += usize::from(report.diagnostics.iter().any(|d| d.span.is_none()));
            stats.count_plans(&report.plans, report.consent);
        }
        stats
    }

    /// Counts the plans of one file.
    fn count_plans(&mut self, plans: &[Plan], consent: Consent) {
        for plan in plans.iter().filter(|plan| !plan.follows && plan.decision == Decision::Refuse) {
            let ids: BTreeSet<_> = plan.reasons.iter().map(|reason| reason.code.id()).collect();
            ids.into_iter().for_each(|id| *self.refused_by_rule.entry(id).or_default() += 1);
        }
        for plans in constructs(plans).values() {
            self.count_region(plans, consent);
        }
        let written = plans.iter().filter(|plan| plan.decision.is_written(consent));
        written.filter_map(|plan| plan.copies).for_each(|copies| self.count_copies(copies));
    }

    fn count_copies(&mut self, copies: Copies) {
        self.copies_before += copies.before;
        self.copies_after += copies.after;
        match copies.bytes {
            Some((before, after)) => {
                self.bytes_before += before;
                self.bytes_after += after;
            }
            None => self.copies_of_unknown_size += 1,
        }
    }

    /// Counts one construct by the strongest decision about it.
    fn count_region(&mut self, plans: &[&Plan], consent: Consent) {
        let written = |plan: &&&Plan| plan.decision.is_written(consent);
        let before = plans.iter().map(|plan| plan.kernels.0).max().unwrap_or(0);
        let after = plans.iter().filter(written).map(|plan| plan.kernels.1).max().unwrap_or(before);
        self.regions += 1;
        self.kernels_before += before;
        self.kernels_after += after;
        let count = match fate(plans, consent) {
            Fate::Changed => &mut self.regions_changed,
            Fate::Assumable => &mut self.regions_assumable,
            Fate::Refused(_) => &mut self.regions_refused,
            Fate::NotPaying(_) => &mut self.regions_not_paying,
            Fate::Nothing => &mut self.regions_nothing_to_do,
        };
        *count += 1;
    }

    /// Writes the counts for people.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "files: {} ({} changed, {} failed), {} ms",
            self.files, self.files_changed, self.files_failed, self.milliseconds
        )?;
        writeln!(
            out,
            "regions: {} ({} changed, {} only with --assume, {} not paying, {} refused, {} with nothing to do)",
            self.regions,
            self.regions_changed,
            self.regions_assumable,
            self.regions_not_paying,
            self.regions_refused,
            self.regions_nothing_to_do
        )?;
        writeln!(out, "kernels: {} before, {} after", self.kernels_before, self.kernels_after)?;
        if self.copies_before > 0 {
            let unknown = match self.copies_of_unknown_size {
                0 => String::new(),
                count => format!("; changes of unknown size: {count}"),
            };
            writeln!(
                out,
                "copies: {} before, {} after ({} bytes before, {} after{unknown})",
                self.copies_before, self.copies_after, self.bytes_before, self.bytes_after
            )?;
        }
        self.refused_by_rule.iter().try_for_each(|(id, count)| writeln!(out, "refused by {id}: {count}"))
    }

    /// Writes the counts as one JSON object on one line.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        writeln!(out)
    }
}
