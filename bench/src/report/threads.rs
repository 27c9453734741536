//! The chart of threads in a block: for each program how many times the time of its best grid it takes, over the threads.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use plotters::prelude::*;

use super::grids::write_or_check;

/// A program, and for each number of threads its times of the best.
type Line = (String, Vec<(f64, f64)>);

/// Draws the table in one file into another, or checks that it was drawn so.
pub fn threads(table: &Path, chart: &Path, check: bool) -> Result<bool> {
    let text = std::fs::read_to_string(table).with_context(|| format!("cannot read {}", table.display()))?;
    let drawn = draw(&read(&text)?).map_err(|error| anyhow!("{error}"))?;
    write_or_check(chart, &drawn, check, "threads")
}

/// The rows of the table, and last the geometric mean of all.
fn read(text: &str) -> Result<Vec<Line>> {
    let mut rows = text.lines().filter(|line| line.starts_with("| ")).map(|line| line.split('|').map(str::trim));
    let head: Vec<&str> = rows.next().context("the table has no head")?.collect();
    let number = |cell: &str| cell.parse::<f64>().with_context(|| format!("no number: {cell}"));
    let columns = 2..head.len().saturating_sub(2);
    let mut lines: Vec<Line> = Vec::new();
    for cells in rows.map(Iterator::collect::<Vec<_>>) {
        let point = |column: usize| Ok((number(head[column])?, number(cells.get(column).context("a row is short")?)?));
        let name = (*cells.get(1).unwrap_or(&"")).to_owned();
        lines.push((name, columns.clone().map(point).collect::<Result<_>>()?));
    }
    anyhow::ensure!(!lines.is_empty(), "the table has no rows");
    let mean = |index: usize| {
        let logarithms = lines.iter().filter_map(|(_, points)| Some(points.get(index)?.1.ln()));
        (logarithms.sum::<f64>() / lines.len() as f64).exp()
    };
    let means = lines[0].1.iter().enumerate().map(|(index, (threads, _))| (*threads, mean(index))).collect();
    lines.push(("all".to_owned(), means));
    Ok(lines)
}

fn draw(lines: &[Line]) -> Result<String, Box<dyn std::error::Error>> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (900, 520)).into_drawing_area();
        root.fill(&WHITE)?;
        let most = lines.iter().flat_map(|(_, points)| points).fold(1.0_f64, |most, (_, time)| most.max(*time));
        let mut chart = ChartBuilder::on(&root)
            .caption("How many times as long as the best grid, over the threads of a block", ("sans-serif", 20))
            .margin(8)
            .x_label_area_size(32)
            .y_label_area_size(60)
            .build_cartesian_2d((6.0..900.0).log_scale(), (0.95..most * 1.1).log_scale())?;
        chart.configure_mesh().x_label_formatter(&|value| format!("{value}")).light_line_style(WHITE).draw()?;
        for (index, (name, points)) in lines.iter().enumerate() {
            let is_mean = index + 1 == lines.len();
            let colour = if is_mean { BLACK.to_rgba() } else { Palette99::pick(index).to_rgba() };
            let style = colour.stroke_width(if is_mean { 4 } else { 2 });
            chart
                .draw_series([PathElement::new(points.clone(), style)])?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
        }
        chart.configure_series_labels().position(SeriesLabelPosition::MiddleRight).draw()?;
        root.present()?;
    }
    Ok(text + "\n")
}
