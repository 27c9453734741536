//! The table and the chart of copies beside kernels: Figure 6 of Chikin, Gobran and Amaral (2018).

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, anyhow};

use super::grids::write_or_check;
use super::pipelines::{Panel, Table, draw, speed_ups};

/// What all others are compared with.
const BASE: &str = "unpinned";
/// The forms as the table names them, and what they are.
const FORMS: [(&str, &str); 6] = [
    ("pinned", "pinned, synchronous"),
    ("to", "pinned, to the device by a task"),
    ("from", "pinned, back by a task"),
    ("both", "pinned, both by tasks"),
    ("tool", "as `overlap` writes it"),
    ("tool_register", "as `overlap --pin register`"),
];

/// Writes `speed-up.svg` and `table.md` of the `measured.csv` in a folder, or checks that they are so. A sum that differs between forms is an
/// error.
pub fn overlaps(folder: &Path, check: bool) -> Result<bool> {
    let table = Table::read(&folder.join("measured.csv"))?;
    same_sums(&table)?;
    let base = table.medians(&[("form", BASE)], "mib")?;
    let mut lines = Vec::new();
    for (form, what) in FORMS {
        lines.push((what.to_owned(), speed_ups(&base, &table.medians(&[("form", form)], "mib")?)));
    }
    let text = written(&base, &lines);
    let panel = Panel { title: String::new(), sizes: "MiB of the array that the second kernel changes", lines };
    let title = "Speed-up over synchronous copies of pageable memory, allocation and page-locking included";
    let drawn = draw(title, &[panel]).map_err(|error| anyhow!("{error}"))?;
    let chart = write_or_check(&folder.join("speed-up.svg"), &drawn, check, "overlaps")?;
    Ok(write_or_check(&folder.join("table.md"), &text, check, "overlaps")? && chart)
}

/// All forms must compute the same.
fn same_sums(table: &Table) -> Result<()> {
    for row in &table.0 {
        let of = |name: &str| row.get(name).with_context(|| format!("no column {name}"));
        let (size, sum) = (of("mib")?, of("sum")?);
        let other = table.0.iter().find(|other| other.get("mib") == Some(size) && other.get("sum") != Some(sum));
        if let Some(other) = other {
            return Err(anyhow!("{:?} and {:?} differ in their sums", of("form")?, other.get("form")));
        }
    }
    Ok(())
}

/// The table in Markdown: milliseconds of the base, and by how much the others are quicker.
fn written(base: &[(f64, f64)], lines: &[(String, Vec<(f64, f64)>)]) -> String {
    let names: Vec<&str> = lines.iter().map(|(name, _)| name.as_str()).collect();
    let mut text = format!("| MiB | pageable, synchronous | {} |\n", names.join(" | "));
    text.push_str(&format!("|{}\n", "---|".repeat(names.len() + 2)));
    for (size, time) in base {
        let _ = write!(text, "| {size:.0} | {time:.1} ms |");
        for (_, points) in lines {
            let at = points.iter().find(|(other, _)| (other - size).abs() < 0.5);
            let _ = write!(text, " {} |", at.map_or("-".to_owned(), |(_, speed_up)| format!("{speed_up:.2} x")));
        }
        text.push('\n');
    }
    text
}
