//! The chart: a group of bars for each case, on a logarithmic scale; bars to the left of 1 are losses.

use anyhow::{Result, anyhow};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use super::figures::{Clock, speed_up};
use crate::results::Results;

const GROUP: u32 = 34; // pixels for the bars of one case
const WIDTH: u32 = 1500;
const NAMES: u32 = 210; // pixels for the names of the cases
const OUTPUT: RGBColor = RGBColor(31, 119, 180);
const PRAGMAS: RGBColor = RGBColor(176, 176, 176);
const CEILING: RGBColor = RGBColor(222, 222, 222);
const LOSS: RGBColor = RGBColor(214, 39, 40);

type Panel<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<LogCoord<f64>, RangedCoordf64>>;

/// One case in one panel: its name and the speed-ups over the naive program.
struct Group {
    name: String,
    output: Option<f64>,
    pragmas: Option<f64>,
    ceiling: Option<f64>,
}

/// Draws both panels and gives the SVG text.
pub fn draw(results: &Results) -> Result<String> {
    let mut text = String::new();
    let with_naive = |clock| groups(results, clock);
    let panels = [("total time", with_naive(Clock::Total)), ("kernels alone", with_naive(Clock::Kernels))];
    let rows = panels.iter().map(|(_, groups)| groups.len()).max().unwrap_or(0) as u32;
    {
        let root = SVGBackend::with_string(&mut text, (WIDTH, rows * GROUP + 130)).into_drawing_area();
        root.fill(&WHITE).map_err(|error| anyhow!("{error}"))?;
        let title = format!(
            "Speed-up over the naive program: ompsplit --passes {} (blue, losses red), by hand with pragmas alone (grey) and with other loops (light). {}",
            results.passes, results.device.name
        );
        let root = root.titled(&title, ("sans-serif", 20)).map_err(|error| anyhow!("{error}"))?;
        let areas = root.split_evenly((1, panels.len()));
        for (area, (title, groups)) in areas.iter().zip(&panels) {
            if !groups.is_empty() {
                draw_panel(area, title, groups).map_err(|error| anyhow!("{error}"))?;
            }
        }
        root.present().map_err(|error| anyhow!("{error}"))?;
    }
    Ok(text + "\n")
}

fn groups(results: &Results, clock: Clock) -> Vec<Group> {
    let output = format!("naive+{}", results.passes);
    results
        .cases
        .iter()
        .map(|case| Group {
            name: format!("{} {}", case.program, case.case),
            output: speed_up(case, "naive", &output, clock),
            pragmas: speed_up(case, "naive", "pragmas", clock),
            ceiling: speed_up(case, "naive", "ceiling", clock),
        })
        .filter(|group| group.output.is_some() || group.ceiling.is_some())
        .collect()
}

fn draw_panel(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    title: &str,
    groups: &[Group],
) -> Result<(), Box<dyn std::error::Error>> {
    let values = || groups.iter().flat_map(|group| [group.output, group.pragmas, group.ceiling]).flatten();
    let least = values().fold(0.8, f64::min) * 0.9;
    let most = values().fold(2.0, f64::max) * 12.0;
    let mut chart: Panel = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 18))
        .margin(8)
        .x_label_area_size(28)
        .y_label_area_size(NAMES)
        .build_cartesian_2d((least..most).log_scale(), groups.len() as f64..0.0)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .y_labels(0)
        .x_labels(8)
        .x_label_formatter(&|value| format!("{value} x"))
        .light_line_style(RGBColor(240, 240, 240))
        .draw()?;
    for (index, group) in groups.iter().enumerate() {
        let top = index as f64;
        draw_bar(&mut chart, group.ceiling, top + 0.08, top + 0.92, CEILING)?;
        draw_bar(&mut chart, group.pragmas, top + 0.2, top + 0.8, PRAGMAS)?;
        let colour = if group.output.is_some_and(|value| value < 0.97) { LOSS } else { OUTPUT };
        draw_bar(&mut chart, group.output, top + 0.32, top + 0.68, colour)?;
    }
    let height = groups.len() as u32;
    chart.draw_series([PathElement::new([(1.0, 0.0), (1.0, f64::from(height))], BLACK.stroke_width(1))])?;
    draw_names(area, &chart, groups)
}

fn draw_bar(
    chart: &mut Panel<'_>,
    value: Option<f64>,
    top: f64,
    bottom: f64,
    colour: RGBColor,
) -> Result<(), Box<dyn std::error::Error>> {
    if let Some(value) = value {
        chart.draw_series([Rectangle::new([(1.0, top), (value, bottom)], colour.filled())])?;
    }
    Ok(())
}

/// The name of each case at the left and its figures at the right of the bars.
fn draw_names(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    chart: &Panel<'_>,
    groups: &[Group],
) -> Result<(), Box<dyn std::error::Error>> {
    use plotters::style::text_anchor::{HPos, Pos, VPos};
    let style = TextStyle::from(("sans-serif", 13)).color(&BLACK);
    let right = style.pos(Pos::new(HPos::Right, VPos::Center));
    let left = style.pos(Pos::new(HPos::Left, VPos::Center));
    let (origin_x, origin_y) = area.get_base_pixel();
    for (index, group) in groups.iter().enumerate() {
        let longest = [group.output, group.pragmas, group.ceiling].into_iter().flatten().fold(1.0, f64::max);
        let (x, y) = chart.backend_coord(&(longest, index as f64 + 0.5));
        let y = y - origin_y;
        area.draw_text(&group.name, &right, (NAMES as i32, y))?;
        let figure = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), short);
        let text = format!("{} / {} / {}", figure(group.output), figure(group.pragmas), figure(group.ceiling));
        area.draw_text(&text, &left, (x - origin_x + 4, y))?;
    }
    Ok(())
}

fn short(value: f64) -> String {
    if value >= 10.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}
