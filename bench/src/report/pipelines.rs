//! The chart of pipelines: speed-ups over loops that copy whole arrays from pageable memory, by hand as in Figure 14 of Chikin,
//! Gobran and Amaral (2018), and as the tool writes them.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

use super::grids::write_or_check;

const WIDTH: u32 = 1500;
const HEIGHT: u32 = 520;
/// The programs of the paper's figure.
const FIGURE_14: [&str; 3] = ["atax", "gesummv", "gemm"];
/// How many tiles it has.
const TILES: &str = "4";

/// A line of a panel: its name, and the speed-up at each size.
pub(super) type Line = (String, Vec<(f64, f64)>);

/// One coordinate system of a chart.
pub(super) struct Panel {
    /// What stands above it.
    pub title: String,
    /// What its sizes are.
    pub sizes: &'static str,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// Draws what the tables in a folder say into `speed-up.svg` there, or checks that it was drawn so.
pub fn pipelines(folder: &Path, check: bool) -> Result<bool> {
    let panels = [by_hand(&Table::read(&folder.join("h200.csv"))?)?, by_the_tool(folder)?];
    let title = "Speed-up of pipelines over whole arrays in pageable memory";
    let drawn = draw(title, &panels).map_err(|error| anyhow!("{error}"))?;
    write_or_check(&folder.join("speed-up.svg"), &drawn, check, "pipelines")
}

/// Rows of values by the names of their columns.
pub(super) struct Table(pub Vec<BTreeMap<String, String>>);

impl Table {
    /// Reads lines of values that commas separate, the first of them names.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut lines = text.lines();
        let names: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
        let row = |line: &str| -> BTreeMap<String, String> {
            names.iter().map(|name| (*name).to_owned()).zip(line.split(',').map(str::to_owned)).collect()
        };
        Ok(Self(lines.map(row).collect()))
    }

    /// The medians of the rows with these values, by a column of sizes.
    pub(super) fn medians(&self, wanted: &[(&str, &str)], size: &str) -> Result<Vec<(f64, f64)>> {
        let has = |row: &&BTreeMap<String, String>| {
            wanted.iter().all(|(name, value)| row.get(*name).is_some_and(|it| it == value))
        };
        let number = |row: &BTreeMap<String, String>, name: &str| {
            let text = row.get(name).with_context(|| format!("no column {name}"))?;
            text.parse::<f64>().with_context(|| format!("no number in {name}: {text}"))
        };
        self.0.iter().filter(has).map(|row| Ok((number(row, size)?, number(row, "median_ms")?))).collect()
    }
}

/// How much quicker `after` is than `before` at each size that both have.
pub(super) fn speed_ups(before: &[(f64, f64)], after: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let same = |size: f64| before.iter().find(|(other, _)| (other - size).abs() < 0.5);
    after.iter().filter_map(|(size, time)| Some((*size, same(*size)?.1 / time))).collect()
}

fn by_hand(table: &Table) -> Result<Panel> {
    let mut lines = Vec::new();
    for program in FIGURE_14 {
        let whole = [("program", program), ("memory", "pageable"), ("form", "naive")];
        let tiles = [("program", program), ("memory", "registered"), ("form", "threads"), ("tiles", TILES)];
        lines.push((program.to_uppercase(), speed_ups(&table.medians(&whole, "n")?, &table.medians(&tiles, "n")?)));
    }
    let title = format!("by hand as in Figure 14: {TILES} tiles, page-locking included");
    Ok(Panel { title, sizes: "iterations of the outer loop", lines })
}

fn by_the_tool(folder: &Path) -> Result<Panel> {
    let whole = Table::read(&folder.join("loops-whole.csv"))?;
    let tiles = Table::read(&folder.join("loops-tiles.csv"))?;
    let mut names: Vec<String> = Vec::new();
    for name in tiles.0.iter().filter_map(|row| row.get("loop")) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let mut lines = Vec::new();
    for name in names {
        let wanted = [("loop", name.as_str())];
        lines.push((name.clone(), speed_ups(&whole.medians(&wanted, "mib")?, &tiles.medians(&wanted, "mib")?)));
    }
    Ok(Panel { title: "as `pipeline` writes them, page-locking included".to_owned(), sizes: "MiB an array", lines })
}

/// A chart with panels side by side.
pub(super) fn draw(title: &str, panels: &[Panel]) -> Result<String, Box<dyn std::error::Error>> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (WIDTH, HEIGHT)).into_drawing_area();
        root.fill(&WHITE)?;
        let root = root.titled(title, ("sans-serif", 20))?;
        for (area, panel) in root.split_evenly((1, panels.len())).iter().zip(panels) {
            draw_panel(area, panel)?;
        }
        root.present()?;
    }
    Ok(text + "\n")
}

fn draw_panel(area: &DrawingArea<SVGBackend<'_>, Shift>, panel: &Panel) -> Result<(), Box<dyn std::error::Error>> {
    let points = || panel.lines.iter().flat_map(|(_, points)| points.iter().copied());
    let from = points().map(|(size, _)| size).fold(f64::INFINITY, f64::min);
    let to = points().map(|(size, _)| size).fold(0.0, f64::max);
    let most = points().map(|(_, speed_up)| speed_up).fold(1.0, f64::max);
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 18))
        .margin(8)
        .x_label_area_size(44)
        .y_label_area_size(50)
        .build_cartesian_2d((from * 0.8..to * 4.0).log_scale(), 0.0..most * 1.1)?;
    chart
        .configure_mesh()
        .x_desc(panel.sizes)
        .x_labels(6)
        .y_labels(8)
        .light_line_style(RGBColor(245, 245, 245))
        .draw()?;
    chart.draw_series([PathElement::new([(from, 1.0), (to, 1.0)], BLACK.mix(0.5))])?;
    for (index, (name, points)) in panel.lines.iter().enumerate() {
        let colour = Palette99::pick(index).to_rgba();
        chart
            .draw_series([PathElement::new(points.clone(), colour.stroke_width(2))])?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
        chart.draw_series(points.iter().map(|point| Circle::new(*point, 3, colour.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .draw()?;
    Ok(())
}
