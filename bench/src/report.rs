//! `report` and `compare`: from result files to tables and a chart.

mod chart;
pub mod compare;
mod exact;
mod figures;
mod grids;
mod losses;
mod overlaps;
mod pipelines;
mod steps;
mod table;
mod threads;

use std::path::Path;

use anyhow::{Context, Result};

use crate::results::Results;

pub use grids::grids;
pub use overlaps::overlaps;
pub use pipelines::pipelines;
pub use threads::threads;

/// Writes the tables and the chart beside the result file, or checks that they are there as they would be written.
pub fn report(path: &Path, check: bool) -> Result<bool> {
    let results = Results::read(path)?;
    let chart_path = path.with_extension("svg");
    let chart_name = chart_path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let written =
        [(path.with_extension("md"), table::document(&results, &chart_name)), (chart_path, chart::draw(&results)?)];
    let mut same = true;
    for (path, text) in written {
        if !check {
            std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
            println!("wrote {}", path.display());
        } else if std::fs::read_to_string(&path).unwrap_or_default() != text {
            println!("{} is not what `report` writes", path.display());
            same = false;
        }
    }
    Ok(same)
}
