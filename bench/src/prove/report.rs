//! `prove report`: the table of a proof.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use comfy_table::{Table, presets::ASCII_MARKDOWN};

use super::manifest::Set;
use super::results::{Original, Outcome, Proof, Verdict};

/// Of the programs that change, so many percent must have run.
const LEAST_RAN: usize = 95;

/// Why exceptions are there, by the names of the programs.
type Causes = BTreeMap<String, String>;

/// Writes the table beside the result file, or checks that it is there as it would be written. `false` if not, if too few
/// programs ran, or if nobody has said why an exception is there.
pub fn report(path: &Path, check: bool) -> Result<bool> {
    let proof = Proof::read(path)?;
    let causes = causes(&path.with_file_name("causes.toml"))?;
    let (table, text) = (path.with_extension("md"), document(&proof, &causes));
    let mut complaints = complaints(&proof, &causes);
    if !check {
        std::fs::write(&table, text).with_context(|| format!("cannot write {}", table.display()))?;
        println!("wrote {}", table.display());
    } else if std::fs::read_to_string(&table).unwrap_or_default() != text {
        complaints.push(format!("{} is not what `prove report` writes", table.display()));
    }
    for complaint in &complaints {
        println!("{complaint}");
    }
    Ok(complaints.is_empty())
}

fn causes(path: &Path) -> Result<Causes> {
    if !path.exists() {
        return Ok(Causes::new());
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("{} gives no causes", path.display()))
}

fn complaints(proof: &Proof, causes: &Causes) -> Vec<String> {
    let mut complaints = Vec::new();
    for program in proof.programs.iter().filter(|program| is_exception(program) && cause(program, causes).is_none()) {
        complaints.push(format!("causes.toml does not say why {} is an exception", program.name));
    }
    let fixtures = Counts::of(proof.programs.iter().filter(|program| !is_generated(program)));
    if fixtures.ran * 100 < fixtures.changed * LEAST_RAN {
        complaints.push(format!("only {} of {} changed fixtures ran", fixtures.ran, fixtures.changed));
    }
    complaints
}

fn is_generated(program: &Outcome) -> bool {
    program.name.starts_with("generated/")
}

fn is_exception(program: &Outcome) -> bool {
    program.original.exception().is_some() || program.outputs.iter().any(|verdict| verdict.exception().is_some())
}

fn cause<'a>(program: &Outcome, causes: &'a Causes) -> Option<&'a str> {
    causes.get(&program.name).map(String::as_str)
}

fn document(proof: &Proof, causes: &Causes) -> String {
    let text = [head(proof), counts(proof), exceptions(proof, causes)].concat();
    format!("{}\n", text.trim_end())
}

fn head(proof: &Proof) -> String {
    let head = &proof.head;
    let device = &head.device;
    let driver = if device.driver.is_empty() { String::new() } else { format!(", driver {}", device.driver) };
    let set = |set: &Set| format!("| set `{}` | `{}` |", set.name, format!("ompsplit {}", set.options).trim_end());
    let sets: Vec<String> = head.sets.iter().map(set).collect();
    format!(
        "# Every fixture, run on the device\n\n\
         Made by `ompsplit-bench prove report` from the result file beside it; `bench/README.md` says how to repeat it.\n\n\
         | | |\n|---|---|\n\
         | device | {}{driver}, {} host threads |\n\
         | date | {} |\n\
         | commit | {} |\n\
         | compiler | {} |\n\
         | command | `{}`: {} processes in {:.0} s |\n\
         | generated | {} programs from seed {} |\n\
         {}\n\n",
        device.name,
        device.host_threads,
        head.date,
        head.commit,
        head.compiler,
        head.command,
        head.processes,
        head.seconds,
        head.generated,
        head.seed,
        sets.join("\n"),
    )
}

/// How many programs there are of each sort.
#[derive(Default)]
struct Counts {
    all: usize,
    not_runnable: usize,
    changed: usize,
    ran: usize,
}

impl Counts {
    fn of<'a>(programs: impl Iterator<Item = &'a Outcome>) -> Self {
        let mut counts = Self::default();
        for program in programs {
            counts.all += 1;
            counts.not_runnable += usize::from(program.original == Original::NotRunnable);
            counts.changed += usize::from(program.original.is_wanted());
            counts.ran += usize::from(program.original.is_reference());
        }
        counts
    }
}

fn counts(proof: &Proof) -> String {
    let mut programs = markdown(&["", "programs", "parts of programs", "not changed", "changed", "of these ran"]);
    let mut outputs =
        markdown(&["", "set", "changed and run", "same", "as the host", "differ", "vary", "tool or compiler fails"]);
    for (kind, generated) in [("fixtures", false), ("generated", true)] {
        let of_kind = || proof.programs.iter().filter(move |program| is_generated(program) == generated);
        let Counts { all, not_runnable, changed, ran } = Counts::of(of_kind());
        if all == 0 {
            continue;
        }
        let percent = 100.0 * ran as f64 / changed.max(1) as f64;
        programs.add_row([
            kind.to_owned(),
            all.to_string(),
            not_runnable.to_string(),
            (all - not_runnable - changed).to_string(),
            changed.to_string(),
            format!("{ran} ({percent:.1} %)"),
        ]);
        for (number, set) in proof.head.sets.iter().enumerate() {
            let verdicts = || of_kind().filter_map(move |program| program.outputs.get(number));
            let count = |is: fn(&Verdict) -> bool| verdicts().filter(|verdict| is(verdict)).count().to_string();
            outputs.add_row([
                kind.to_owned(),
                set.name.clone(),
                count(Verdict::is_compared),
                count(|verdict| *verdict == Verdict::Same),
                count(|verdict| *verdict == Verdict::AsHost),
                count(|verdict| matches!(verdict, Verdict::Differs(_))),
                count(|verdict| matches!(verdict, Verdict::Varies(_))),
                count(|verdict| matches!(verdict, Verdict::DoesNotBuild(_) | Verdict::ToolFails(_))),
            ]);
        }
    }
    format!(
        "## Counts\n\nWhat no set of options changes is not run. The same means the same standard output and exit status.\n\
         Where an original fails, varies or is wrong by itself, its output may still do what the original does on the host.\n\n\
         {programs}\n\n{outputs}\n\n"
    )
}

fn exceptions(proof: &Proof, causes: &Causes) -> String {
    let mut table = markdown(&["program", "text", "what happens", "cause"]);
    for program in proof.programs.iter().filter(|program| is_exception(program)) {
        let cause = cause(program, causes).unwrap_or("not known yet");
        let mut rows: Vec<(String, Vec<&str>)> = Vec::new();
        let outputs = program.outputs.iter().enumerate();
        let outputs = outputs.filter_map(|(set, verdict)| Some((proof.set_name(set), verdict.exception()?)));
        for (text, what) in program.original.exception().map(|what| ("original", what)).into_iter().chain(outputs) {
            match rows.iter_mut().find(|(known, _)| *known == what) {
                Some((_, texts)) => texts.push(text),
                None => rows.push((what, vec![text])),
            }
        }
        for (what, texts) in rows {
            table.add_row([program.name.clone(), texts.join(", "), cell(&what), cause.to_owned()]);
        }
    }
    if table.is_empty() {
        return "## Exceptions\n\nNone.\n".to_owned();
    }
    format!("## Exceptions\n\n{table}\n")
}

fn markdown(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(ASCII_MARKDOWN).set_header(header.iter().copied());
    table
}

/// A text as a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
