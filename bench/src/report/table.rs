//! The Markdown report of one run.

use std::fmt::Write;

use comfy_table::{Table, presets::ASCII_MARKDOWN};

use super::exact::exact;
use super::figures::{Clock, Summary, is_wrong, limit, speed_up, summarise, threshold, typical_noise};
use super::losses::losses;
use super::steps::steps;
use crate::results::{CaseResult, Results, VariantResult};

/// The whole document; `chart` is the name of the picture beside it.
pub fn document(results: &Results, chart: &str) -> String {
    let output = format!("naive+{}", results.passes);
    let sections = [
        head(results, chart),
        summary(results, &output),
        steps(results),
        losses(results),
        furthest(results, &output),
        times(results, &output, Clock::Total),
        times(results, &output, Clock::Kernels),
        exact(results, &output),
        teams(results),
        decisions(results),
        launches(results),
    ];
    let mut text = sections.concat();
    text.truncate(text.trim_end().len());
    text + "\n"
}

fn head(results: &Results, chart: &str) -> String {
    let limits = &results.limits;
    let device = &results.device;
    let driver = if device.driver.is_empty() { String::new() } else { format!(", driver {}", device.driver) };
    format!(
        "# Benchmark results\n\n\
         Made by `ompsplit-bench report` from the result file beside it; `bench/README.md` says how to repeat it.\n\n\
         | | |\n|---|---|\n\
         | device | {}{driver}, {} host threads |\n\
         | date | {} |\n\
         | commit | {} |\n\
         | compiler | {} |\n\
         | command | `{}`, {:.0} s |\n\
         | passes | {} |\n\
         | bus, page-locked | {:.1} GB/s to the device, {:.1} from it, {:.1} both ways |\n\
         | bus, pageable | {:.1} GB/s to the device, {:.1} from it |\n\
         | device memory | {:.0} GB/s |\n\
         | arithmetic | {:.1} TFLOP/s single precision |\n\
         | empty launch | {:.1} us |\n\
         | noise (A/A) | nine of ten cases within {} of total time, {} of kernel time |\n\n\
         ![Speed-up over the naive program, total and kernels alone]({chart})\n\n",
        device.name,
        device.host_threads,
        results.date,
        results.commit,
        results.compiler,
        results.command,
        results.seconds,
        results.passes,
        limits.to_device_gb_s,
        limits.from_device_gb_s,
        limits.both_ways_gb_s,
        limits.pageable_to_device_gb_s,
        limits.pageable_from_device_gb_s,
        limits.device_memory_gb_s,
        limits.float_tflop_s,
        limits.launch_us,
        percent(typical_noise(results, Clock::Total)),
        percent(typical_noise(results, Clock::Kernels)),
    )
}

fn summary(results: &Results, output: &str) -> String {
    let mut table = markdown(&["speed-up", "clock", "programs", "geometric mean", "worst case", "best case"]);
    let teams_output = format!("teams+{}", results.passes);
    let rows = [
        ("output over naive", "naive", output),
        ("pragmas over naive", "naive", "pragmas"),
        ("ceiling over naive", "naive", "ceiling"),
        ("output over pragmas", "pragmas", output),
        ("output over ceiling", "ceiling", output),
        ("output over `teams`", "teams", &teams_output),
    ];
    for (title, base, variant) in rows {
        for (clock, clock_name) in [(Clock::Total, "total"), (Clock::Kernels, "kernels")] {
            let Some(found) = summarise(results, |case| speed_up(case, base, variant, clock)) else { continue };
            let Summary { mean, programs, worst, best } = found;
            table.add_row([
                title.to_owned(),
                clock_name.to_owned(),
                programs.to_string(),
                ratio(mean),
                format!("{} {}", ratio(worst.0), worst.1),
                format!("{} {}", ratio(best.0), best.1),
            ]);
        }
    }
    format!(
        "## Summary\n\nA program with several sizes counts once in a geometric mean. 1.0 is as quick; less is a loss.\n\n{table}\n\n"
    )
}

/// Where the output is furthest from the ceiling, by kernel time where it is known.
fn furthest(results: &Results, output: &str) -> String {
    let clock = if results.cases.iter().any(|case| speed_up(case, "ceiling", output, Clock::Kernels).is_some()) {
        Clock::Kernels
    } else {
        Clock::Total
    };
    let mut far: Vec<_> =
        results.cases.iter().filter_map(|case| Some((speed_up(case, output, "ceiling", clock)?, case))).collect();
    far.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut table = markdown(&["case", "the ceiling is quicker by", "pragmas alone by", "output"]);
    for (factor, case) in far.iter().take(10) {
        let state = if case.is_unchanged(output) { "left unchanged" } else { "rewritten" };
        let pragmas = speed_up(case, output, "pragmas", clock).map_or_else(String::new, ratio);
        table.add_row([case_name(case), ratio(*factor), pragmas, state.to_owned()]);
    }
    let of = if clock == Clock::Kernels { "kernel time" } else { "total time" };
    format!("## Furthest from the ceiling\n\nThe ten cases with the largest distance, by {of}.\n\n{table}\n\n")
}

fn times(results: &Results, output: &str, clock: Clock) -> String {
    if !results.cases.iter().any(|case| case.variants.iter().any(|variant| clock.of(variant).is_some())) {
        return String::new();
    }
    let mut table = markdown(&[
        "case",
        "naive ms",
        "output ms",
        "pragmas ms",
        "ceiling ms",
        "limit ms",
        "output / naive",
        "pragmas / naive",
        "ceiling / naive",
        "of the ceiling",
    ]);
    for case in &results.cases {
        let time = |variant: &str| case.measured(variant).map_or_else(String::new, |found| cell(found, clock));
        let unchanged = if case.is_unchanged(output) { " =" } else { "" };
        let noisy = threshold(results, case, clock);
        table.add_row([
            case_name(case),
            time("naive"),
            time(output) + unchanged,
            time("pragmas"),
            time("ceiling"),
            limit(case, &results.limits, clock).map_or_else(String::new, milliseconds),
            marked(speed_up(case, "naive", output, clock), noisy, case.is_unchanged(output)),
            marked(speed_up(case, "naive", "pragmas", clock), noisy, false),
            marked(speed_up(case, "naive", "ceiling", clock), noisy, false),
            speed_up(case, "ceiling", output, clock).map_or_else(String::new, percent),
        ]);
    }
    let (title, text) = match clock {
        Clock::Total => ("Total time", "From host memory to host memory: copies, launches and kernels."),
        Clock::Kernels => ("Kernel time", "The kernels alone, by the device's clock."),
    };
    format!(
        "## {title}\n\n{text} Medians. `=`: the tool changed nothing, the naive program's times stand for it. `~`: within the \
         noise. The limit is what the bus, the memory or the arithmetic allows at best.\n\n{table}\n\n"
    )
}

fn teams(results: &Results) -> String {
    let output = format!("teams+{}", results.passes);
    let mut table = markdown(&[
        "case",
        "teams ms",
        "output ms",
        "teams kernels",
        "output kernels",
        "output / teams",
        "wrong results of `teams`",
    ]);
    for case in &results.cases {
        let Some(input) = case.measured("teams") else { continue };
        let Some(result) = case.measured(&output) else { continue };
        let unchanged = if case.is_unchanged(&output) { " =" } else { "" };
        let speed = Clock::Total.of(input).zip(Clock::Total.of(result)).map(|(one, other)| one / other);
        table.add_row([
            case_name(case),
            time_of(input, Clock::Total),
            time_of(result, Clock::Total) + unchanged,
            time_of(input, Clock::Kernels),
            time_of(result, Clock::Kernels),
            marked(speed, threshold(results, case, Clock::Total), case.is_unchanged(&output)),
            if input.wrong > 0 { format!("{} of {}", input.wrong, input.checked) } else { String::new() },
        ]);
    }
    if table.is_empty() {
        return String::new();
    }
    format!(
        "## The papers' shape\n\n`target teams` around several `distribute` loops. Where a loop reads what another team wrote, the input has a \
         race; its wrong results are counted, and its speed is no reference.\n\n{table}\n\n"
    )
}

fn decisions(results: &Results) -> String {
    let mut text = String::from("## Decisions\n\nWhat the tool said of each input.\n\n");
    let mut seen = Vec::new();
    for case in &results.cases {
        for variant in &case.variants {
            let key = (&case.program, &variant.variant);
            let Some((input, passes)) = variant.variant.split_once('+') else { continue };
            if passes != results.passes || seen.contains(&key) {
                continue;
            }
            seen.push(key);
            let said = if variant.decisions.is_empty() { "nothing".to_owned() } else { variant.decisions.join("; ") };
            let _ = writeln!(text, "- {}, {input}: {said}", case.program);
        }
    }
    text + "\n"
}

fn launches(results: &Results) -> String {
    let mut table =
        markdown(&["case", "variant", "kernel", "mode", "launches", "blocks", "threads", "copies in", "out"]);
    for case in &results.cases {
        for variant in case.variants.iter().filter(|variant| variant.same_as.is_none()) {
            for (index, launch) in variant.launches.iter().enumerate() {
                let [fewest, most] = launch.blocks;
                let blocks = if fewest == most { most.to_string() } else { format!("{fewest} .. {most}") };
                let copies = variant.copies;
                let first = |text: String| if index == 0 { text } else { String::new() };
                table.add_row([
                    first(case_name(case)),
                    first(variant.variant.clone()),
                    launch.kernel.clone(),
                    launch.mode.clone(),
                    launch.count.to_string(),
                    blocks,
                    launch.threads.to_string(),
                    first(format!("{} ({})", copies.to_device, bytes(copies.to_device_bytes))),
                    first(format!("{} ({})", copies.from_device, bytes(copies.from_device_bytes))),
                ]);
            }
        }
    }
    let mut text = String::from("## Launches and copies\n\nOf one run, as libomptarget logs them.\n\n");
    let _ = write!(text, "<details><summary>{} kernels</summary>\n\n{table}\n\n</details>\n", table.row_count());
    text
}

/// An empty table.
pub fn markdown(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(ASCII_MARKDOWN).set_header(header);
    table
}

/// The program and its sizes.
pub fn case_name(case: &CaseResult) -> String {
    format!("{} {}", case.program, case.case)
}

/// The time of a variant, or why it has none.
fn cell(variant: &VariantResult, clock: Clock) -> String {
    if is_wrong(variant) { "**wrong**".to_owned() } else { time_of(variant, clock) }
}

pub fn time_of(variant: &VariantResult, clock: Clock) -> String {
    clock.of(variant).map_or_else(String::new, milliseconds)
}

/// A ratio, with `~` where it is no more than noise, and nothing where both are the same binary.
pub fn marked(value: Option<f64>, noise: f64, same: bool) -> String {
    let Some(value) = value else { return String::new() };
    if same {
        return "1".to_owned();
    }
    let within = value.max(1.0 / value) - 1.0 <= noise;
    format!("{}{}", if within { "~" } else { "" }, ratio(value))
}

/// A speed-up for people.
pub fn ratio(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0} x") } else { format!("{value:.2} x") }
}

pub fn percent(value: f64) -> String {
    format!("{:.1} %", value * 100.0)
}

fn milliseconds(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v => format!("{v:.4}"),
    }
}

fn bytes(count: u64) -> String {
    match count as f64 {
        b if b >= 1e6 => format!("{:.1} MB", b / 1e6),
        b if b >= 1e3 => format!("{:.1} kB", b / 1e3),
        b => format!("{b} B"),
    }
}
