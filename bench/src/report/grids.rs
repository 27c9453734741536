//! The chart of a sweep of grids: for each program the times over the number of iterations, of the runtime's own grid, of
//! `thread_limit(128)`, of what is chosen and of the best that was measured.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

const WIDTH: u32 = 1500;
const HEIGHT: u32 = 480;
/// The columns that are drawn, with their names and colours.
const LINES: [(usize, &str, RGBColor); 4] = [
    (5, "no clause", RGBColor(176, 176, 176)),
    (6, "thread_limit(128)", RGBColor(255, 127, 14)),
    (8, "best measured", RGBColor(44, 160, 44)),
    (7, "chosen", RGBColor(31, 119, 180)),
];

/// A program, and for each number of iterations the milliseconds of each line.
struct Panel {
    program: String,
    points: Vec<(f64, [f64; LINES.len()])>,
}

/// Draws the table in one file into another, or checks that it was drawn so.
pub fn grids(table: &Path, chart: &Path, check: bool) -> Result<bool> {
    let text = std::fs::read_to_string(table).with_context(|| format!("cannot read {}", table.display()))?;
    let drawn = draw(&read(&text)?).map_err(|error| anyhow!("{error}"))?;
    write_or_check(chart, &drawn, check, "grids")
}

/// Writes a chart, or says whether it stands in the file already.
pub(super) fn write_or_check(chart: &Path, drawn: &str, check: bool, command: &str) -> Result<bool> {
    if check {
        let same = std::fs::read_to_string(chart).unwrap_or_default() == drawn;
        if !same {
            println!("{} is not what `{command}` draws", chart.display());
        }
        return Ok(same);
    }
    std::fs::write(chart, drawn).with_context(|| format!("cannot write {}", chart.display()))?;
    println!("wrote {}", chart.display());
    Ok(true)
}

/// The rows of the table, a panel for each program.
fn read(text: &str) -> Result<Vec<Panel>> {
    let mut panels: Vec<Panel> = Vec::new();
    for line in text.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let cell = |index: usize| cells.get(index).copied().unwrap_or_default();
        let number =
            |index: usize| cell(index).parse::<f64>().with_context(|| format!("no number in column {index}: {line}"));
        let mut times = [0.0; LINES.len()];
        for (time, (column, _, _)) in times.iter_mut().zip(LINES) {
            *time = number(column)?;
        }
        let point = (number(2)?, times);
        match panels.iter_mut().find(|panel| panel.program == cell(1)) {
            Some(panel) => panel.points.push(point),
            None => panels.push(Panel { program: cell(1).to_owned(), points: vec![point] }),
        }
    }
    anyhow::ensure!(!panels.is_empty(), "the table has no rows");
    Ok(panels)
}

fn draw(panels: &[Panel]) -> Result<String, Box<dyn std::error::Error>> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (WIDTH, HEIGHT)).into_drawing_area();
        root.fill(&WHITE)?;
        let root = root.titled("Milliseconds of a kernel over its iterations, in the grids", ("sans-serif", 20))?;
        for (area, panel) in root.split_evenly((1, panels.len())).iter().zip(panels) {
            draw_panel(area, panel)?;
        }
        root.present()?;
    }
    Ok(text + "\n")
}

fn draw_panel(area: &DrawingArea<SVGBackend<'_>, Shift>, panel: &Panel) -> Result<(), Box<dyn std::error::Error>> {
    let times = || panel.points.iter().flat_map(|(_, times)| *times);
    let lengths = || panel.points.iter().map(|(iterations, _)| *iterations);
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)))
    };
    let ((from, to), (least, most)) = (ends(&mut lengths()), ends(&mut times()));
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.program, ("sans-serif", 18))
        .margin(8)
        .x_label_area_size(32)
        .y_label_area_size(60)
        .build_cartesian_2d((from * 0.8..to * 1.25).log_scale(), (least * 0.8..most * 3.0).log_scale())?;
    chart
        .configure_mesh()
        .x_labels(6)
        .y_labels(6)
        .x_label_formatter(&|value| format!("{value}"))
        .y_label_formatter(&|value| format!("{value}"))
        .light_line_style(RGBColor(245, 245, 245))
        .draw()?;
    for (index, (_, name, colour)) in LINES.iter().enumerate() {
        let points = || panel.points.iter().filter_map(|(x, times)| Some((*x, *times.get(index)?)));
        chart
            .draw_series([PathElement::new(points().collect::<Vec<_>>(), colour.stroke_width(2))])?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
        chart.draw_series(points().map(|point| Circle::new(point, 3, colour.filled())))?;
    }
    chart.configure_series_labels().position(SeriesLabelPosition::UpperLeft).background_style(WHITE.mix(0.8)).draw()?;
    Ok(())
}
