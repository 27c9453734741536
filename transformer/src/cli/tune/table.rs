//! What is told at the end: a table for people, or all of it as JSON.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::arguments::{TableFormat, TuneCommand};
use crate::cli::Streams;
use crate::tune::choices::{Choice, Form, Plan};
use crate::tune::decision::{Outcome, Row};
use crate::tune::store::Measurement;
use crate::tune::task::ClockKind;

/// The JSON object.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a Path>,
    /// Is the text of the file another one now, or with `--diff` would it be?
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<bool>,
    device: &'a str,
    date: &'a str,
    #[serde(flatten)]
    outcome: &'a Outcome,
}

/// Tells what was measured; of a file, and whether its text changes, where there is one.
pub(super) fn tell(
    measurement: &Measurement,
    command: &TuneCommand,
    file: Option<(&Path, bool)>,
    streams: &mut Streams<'_>,
) -> io::Result<()> {
    let Measurement { outcome, device, date } = measurement;
    match command.output_format {
        TableFormat::Table => table(outcome, device, file, streams.stderr),
        TableFormat::Json => {
            let told =
                Told { file: file.map(|(path, _)| path), changed: file.map(|(_, is)| is), device, date, outcome };
            let out: &mut dyn Write = if command.diff { &mut *streams.stderr } else { &mut *streams.stdout };
            serde_json::to_writer_pretty(&mut *out, &told)?;
            writeln!(out)
        }
    }
}

fn table(outcome: &Outcome, device: &str, file: Option<(&Path, bool)>, out: &mut dyn Write) -> io::Result<()> {
    if let Some(found) = &outcome.saturation {
        let curve: Vec<String> =
            found.curve.iter().map(|(size, _, part)| format!("{size}: {:.0} %", 100.0 * part)).collect();
        writeln!(
            out,
            "throughput by size, work as its power of {}: {}; searched at {}",
            found.exponent,
            curve.join(", "),
            found.size
        )?;
    }
    let clock = match outcome.clock {
        ClockKind::Device => format!("the clock of {device}"),
        ClockKind::Wall => "the time of the whole program, as no device's clock was read".to_owned(),
    };
    if outcome.runs > 0 {
        let cut = if outcome.is_cut { "; stopped as the time was used up" } else { "" };
        let noise = 100.0 * outcome.noise;
        writeln!(out, "{} runs in {:.1} s, by {clock}; noise {noise:.1} %{cut}", outcome.runs, outcome.seconds)?;
    }
    if let Some(replayed) = &outcome.replayed {
        if replayed.times.iter().any(|times| !times.is_empty()) {
            writeln!(out, "kernels were launched in all grids within {} of these runs", replayed.runs)?;
        }
        for (line, why) in &replayed.refused {
            writeln!(out, "line {line}: its grids are tried in runs of their own: {why}")?;
        }
    }
    if !outcome.rows.is_empty() {
        writeln!(
            out,
            "{:>6} {:>10} {:>10} {:>10} {:>6} {:>9}  form",
            "line", "present", "passes", "best", "times", "tried"
        )?;
    }
    for (index, row) in outcome.rows.iter().enumerate() {
        writeln!(out, "{}", line(row, outcome.plan.choice(index)))?;
    }
    for (plan, why) in &outcome.dropped {
        writeln!(out, "dropped: {}: {why}", words(plan))?;
    }
    for (plan, why) in &outcome.faults {
        writeln!(out, "fault of this tool: {} gives another result: {why}", words(plan))?;
    }
    let whole = match (&outcome.plan, outcome.is_confirmed) {
        (Plan::Original, _) => "it stays as it is: nothing was significantly faster".to_owned(),
        (_, _) if outcome.runs == 0 => "as Kernel Tuner found it; nothing was run here".to_owned(),
        (_, true) => format!("{:.2} times as fast", outcome.ratio),
        (_, false) => format!("{:.2} times as fast by its kernels, whose forms were not run together", outcome.ratio),
    };
    match file {
        Some((path, _)) => writeln!(out, "{}: {whole}", path.display()),
        None => writeln!(out, "{whole}"),
    }
}

fn line(row: &Row, chosen: Option<Choice>) -> String {
    let best = row.best.as_ref().and_then(|best| best.median_us);
    let gain =
        row.present_us.zip(best).map_or_else(|| "-".to_owned(), |(present, best)| format!("{:.2}", present / best));
    let form = match chosen {
        _ if row.present_us.is_none() && row.best.is_none() => "the run does not reach it".to_owned(),
        None => "as it stands".to_owned(),
        Some(Choice::Told { form: Form::Plain, grid: None }) => "without a grid of this tool".to_owned(),
        Some(choice) => choice.to_string(),
    };
    let [present, passes, best] = [row.present_us, row.passes_us, best].map(time);
    let tried = format!("{}/{}", row.measured.len(), row.candidates);
    format!("{:>6} {present:>10} {passes:>10} {best:>10} {gain:>6} {tried:>9}  {form}", row.line)
}

fn time(microseconds: Option<f64>) -> String {
    match microseconds {
        None => "-".to_owned(),
        Some(time) if time < 1e3 => format!("{time:.1} us"),
        Some(time) if time < 1e6 => format!("{:.2} ms", time / 1e3),
        Some(time) => format!("{:.2} s", time / 1e6),
    }
}

fn words(plan: &Plan) -> String {
    match plan {
        Plan::Original => "as it stands".to_owned(),
        Plan::Chosen(choices) if choices.iter().all(|choice| *choice == Choice::Passes) => Choice::Passes.to_string(),
        Plan::Chosen(choices) => choices
            .iter()
            .filter(|choice| **choice != Choice::Passes)
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" / "),
    }
}
