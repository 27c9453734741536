//! The kernels of a file before and after, region by region.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::coverage::write_unchecked;
use super::{Kernel, Resources, Unchecked, VerifyError};

/// What verification found. It found no fault, otherwise there would be no report.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Report {
    /// The file.
    pub path: PathBuf,
    /// The first line of `clang --version`.
    pub compiler: String,
    /// The kernels of the original; empty below the level `device`.
    pub before: Vec<Kernel>,
    /// The kernels of the new text.
    pub after: Vec<Kernel>,
    /// Which kernels correspond to each other: indices into `before` and `after`. One side may be empty.
    pub regions: Vec<(Vec<usize>, Vec<usize>)>,
    /// The changed directives that were not checked.
    pub unchecked: Vec<Unchecked>,
    /// Was any changed directive checked, or was there none to check?
    pub is_checked: bool,
    /// What could not be determined.
    pub note: Option<String>,
}

impl Report {
    /// A report without kernels.
    #[must_use]
    pub fn new(path: &Path, compiler: &str) -> Self {
        Self {
            path: path.to_path_buf(),
            compiler: compiler.to_owned(),
            before: Vec::new(),
            after: Vec::new(),
            regions: Vec::new(),
            unchecked: Vec::new(),
            is_checked: true,
            note: None,
        }
    }

    /// The report, if at least one change was checked.
    ///
    /// # Errors
    /// When no change was checked: then it means nothing that no fault was found.
    pub fn insist(self) -> Result<Self, VerifyError> {
        if self.is_checked { Ok(self) } else { Err(VerifyError::NothingChecked(self.unchecked)) }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: no new error or warning ({})", self.path.display(), self.compiler)?;
        for (before, after) in &self.regions {
            row(f, "before", before.iter().filter_map(|index| self.before.get(*index)))?;
            row(f, "after", after.iter().filter_map(|index| self.after.get(*index)))?;
        }
        write_unchecked(f, &self.unchecked)?;
        self.note.as_ref().map_or(Ok(()), |note| write!(f, "\n  {note}"))
    }
}

/// One line for each kernel of one side of a region.
fn row<'a>(f: &mut fmt::Formatter<'_>, side: &str, kernels: impl Iterator<Item = &'a Kernel>) -> fmt::Result {
    for kernel in kernels {
        let place = format!("{}:{}", kernel.function, kernel.line);
        let (threads, teams) = (bounds(kernel.threads), bounds(kernel.teams));
        let mut line = format!("{side:<6} {place:<28} {:<12} teams {teams:<9} threads {threads:<9}", kernel.mode);
        if let Some(Resources { registers, spill_stores, spill_loads, .. }) = kernel.resources {
            line.push_str(&format!(" registers {registers:<4} spilled {spill_stores}/{spill_loads} bytes"));
        }
        write!(f, "\n  {}", line.trim_end())?;
    }
    Ok(())
}

/// `1..128`, with `?` for a bound that the compiler leaves open.
fn bounds((least, most): (Option<i64>, Option<i64>)) -> String {
    let show = |bound: Option<i64>| bound.map_or_else(|| "?".to_owned(), |number| number.to_string());
    if least.is_none() && most.is_none() { "any".to_owned() } else { format!("{}..{}", show(least), show(most)) }
}

/// Which kernels of the new text come from which of the original. The line of each is traced back to the original by a
/// line diff; it belongs to the last kernel of its function at or before that line.
#[must_use]
pub fn region_pairs(before: &[u8], after: &[u8], old: &[Kernel], new: &[Kernel]) -> Vec<(Vec<usize>, Vec<usize>)> {
    let original_line = line_map(before, after);
    let mut pairs: Vec<(Vec<usize>, Vec<usize>)> = (0..old.len()).map(|index| (vec![index], Vec::new())).collect();
    let mut unmatched = Vec::new();
    for (index, kernel) in new.iter().enumerate() {
        let line = original_line(kernel.line);
        let candidates = || old.iter().enumerate().filter(|(_, candidate)| candidate.function == kernel.function);
        let origin = candidates().take_while(|(_, candidate)| candidate.line <= line).last();
        match origin.or_else(|| candidates().next()).and_then(|(index, _)| pairs.get_mut(index)) {
            Some(pair) => pair.1.push(index),
            None => unmatched.push((Vec::new(), vec![index])),
        }
    }
    pairs.extend(unmatched);
    pairs
}

/// Maps a line of the new text to its line in the original, or to the line where it was inserted. Both are counted from
/// 1.
fn line_map(before: &[u8], after: &[u8]) -> impl Fn(usize) -> usize {
    let split = |text: &[u8]| text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let ops = capture_diff_slices(Algorithm::Myers, &split(before), &split(after));
    move |line| {
        let line = line.saturating_sub(1);
        let holds = |op: &&DiffOp| op.new_range().contains(&line);
        ops.iter().find(holds).map_or(line, |op| {
            let old = op.old_range();
            let offset = line - op.new_range().start;
            match op {
                DiffOp::Equal { .. } => old.start + offset,
                _ => (old.start + offset).min(old.end.max(old.start)),
            }
        }) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::clang::ExecutionMode;

    fn kernel(function: &str, line: usize) -> Kernel {
        Kernel {
            symbol: format!("__omp_offloading_1_2_{function}_l{line}"),
            function: function.to_owned(),
            line,
            mode: ExecutionMode::Spmd,
            state_machine: false,
            threads: (Some(1), Some(128)),
            teams: (None, None),
            resources: None,
        }
    }

    #[test]
    fn split_kernels_go_to_their_region() {
        let before = b"f() {\n#pragma target\n{\n#pragma for\nL1\n#pragma for\nL2\n}\n#pragma tdpf\nL3\n}\n";
        let after = b"f() {\n#pragma data\n{\n#pragma tdpf\nL1\n#pragma tdpf\nL2\n}\n#pragma tdpf\nL3\n}\n";
        let old = [kernel("f", 2), kernel("f", 9)];
        let new = [kernel("f", 4), kernel("f", 6), kernel("f", 9)];
        assert_eq!(region_pairs(before, after, &old, &new), [(vec![0], vec![0, 1]), (vec![1], vec![2])]);
    }

    #[test]
    fn the_table_names_mode_and_bounds() {
        let mut report = Report::new(Path::new("f.c"), "clang version 19");
        report.before = vec![kernel("f", 2)];
        report.regions = vec![(vec![0], Vec::new())];
        let shown = report.to_string();
        assert!(shown.contains("before f:2"), "{shown}");
        assert!(shown.contains("SPMD         teams any       threads 1..128"), "{shown}");
    }
}
