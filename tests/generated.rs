//! Random valid programs: what `ompsplit` makes of each is run against the original on clang's x86_64 offload device.
//!
//! Refusing is no way to pass: of each family in `tests/support/generator/families.rs` that the tool claims to handle at
//! least 60 % must be changed. A program that fails is made smaller as long as it fails, and printed.
//!
//! `OMPSPLIT_PROGRAMS=5000 OMPSPLIT_SEED=7 cargo test --test generated -- --nocapture` tries more, and other ones;
//! `OMPSPLIT_PROGRAM=17` tries one of them and prints it.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;

use ompsplit::plan::Decision;
use support::batch::{self, Job, Settings};
use support::generator::families::{Expected, FAMILIES};
use support::generator::minimise::minimise;
use support::generator::{Case, SIZES, case};
use support::oracle::{Finding, Kind};
use support::program::Builder;
use support::{diff, parallel, rewrite};

/// Programs in one file: more save little time, and one that hangs takes the others along.
const BATCH: usize = 16;

/// Percent of a family's programs that must be changed.
const LEAST_CHANGED: usize = 60;

/// How many failures are made smaller, each with so many trials.
const MINIMISED: usize = 3;
const TRIALS: usize = 400;

/// What the tool made of a program.
struct Made {
    case: Case,
    original: String,
    /// Nothing where it is left alone.
    output: Option<String>,
    /// The rules of what was refused.
    refused: BTreeSet<&'static str>,
    does_not_pay: bool,
}

#[test]
fn every_output_of_a_generated_program_gives_its_results() {
    let seed = number("OMPSPLIT_SEED").unwrap_or(1);
    let cases: Vec<Case> = match number("OMPSPLIT_PROGRAM") {
        Some(one) => vec![case(seed, usize::try_from(one).unwrap_or(0))],
        None => {
            let programs = usize::try_from(number("OMPSPLIT_PROGRAMS").unwrap_or(200)).unwrap_or(200);
            (0..programs).map(|index| case(seed, index)).collect()
        }
    };
    let made = made(&cases).unwrap_or_else(|error| panic!("{error}"));
    if let [one] = &made[..] {
        println!(
            "{}\n{}\n{:?}",
            one.case.shape,
            diff(
                "original",
                one.original.as_bytes(),
                "output",
                one.output.as_deref().unwrap_or(&one.original).as_bytes()
            ),
            one.refused
        );
        println!("{}", one.original);
    }
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let failures = compared(&builder, &made);
    let (table, mut complaints) = census(&made);
    println!("seed {seed}, {} programs of {} shapes\n{table}", made.len(), shapes(&made));
    if made.len() < FAMILIES.len() {
        complaints.clear();
    }
    let shown: Vec<String> = failures
        .iter()
        .enumerate()
        .map(|(n, (index, findings))| shown(&builder, &made[*index], findings, n < MINIMISED, seed))
        .collect();
    assert!(shown.is_empty(), "{} of {} programs fail\n\n{}", failures.len(), made.len(), shown.join("\n\n"));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn make(case: &Case) -> Result<Made, String> {
    let original = case.text();
    let outcome = rewrite::outcome(Path::new(case.file_name()), original.as_bytes(), false)?;
    let output = outcome.text.map(|text| String::from_utf8_lossy(&text).into_owned());
    let refused = outcome.plans.iter().filter(|plan| plan.decision == Decision::Refuse);
    let assumed = outcome.plans.iter().filter(|plan| matches!(plan.decision, Decision::Apply(_)) && output.is_none());
    let refused = refused.chain(assumed).flat_map(|plan| &plan.reasons).map(|reason| reason.code.id()).collect();
    let does_not_pay = outcome.plans.iter().any(|plan| plan.decision == Decision::DoesNotPay);
    Ok(Made { case: case.clone(), original, output, refused, does_not_pay })
}

fn made(cases: &[Case]) -> Result<Vec<Made>, String> {
    let found = Mutex::new(BTreeMap::new());
    let errors = parallel::failures(cases, |case| {
        let made = make(case)?;
        found.lock().map_err(|error| error.to_string())?.insert(case.index, made);
        Ok(())
    });
    if !errors.is_empty() {
        return Err(errors.join("\n"));
    }
    Ok(found.into_inner().map_err(|error| error.to_string())?.into_values().collect())
}

fn job(made: &Made) -> Option<Job> {
    let output = made.output.as_deref()?;
    Some(Job {
        id: made.case.index.to_string(),
        origin: made.case.index.to_string(),
        original: Case::part(&made.original).to_owned(),
        output: Case::part(output).to_owned(),
        sound: None,
    })
}

fn settings(name: &str, cpp: bool) -> Settings<'_> {
    Settings { name, cpp, sizes: SIZES, first_only: false }
}

/// What fails: places among the programs, and findings.
fn compared(builder: &Builder, made: &[Made]) -> Vec<(usize, Vec<Finding>)> {
    let mut batches: Vec<(bool, Vec<(usize, Job)>)> = Vec::new();
    // A deferred region leaves libomp 19 in a state in which later leagues of one thread fail an assertion of its own.
    for (cpp, deferred) in [(false, false), (true, false), (false, true)] {
        let belongs = |made: &Made| made.case.cpp == cpp && made.original.contains("nowait") == deferred;
        let jobs = made.iter().enumerate().filter(|(_, made)| belongs(made));
        let jobs: Vec<(usize, Job)> = jobs.filter_map(|(place, made)| Some((place, job(made)?))).collect();
        batches.extend(jobs.chunks(BATCH).map(|chunk| (cpp, chunk.to_vec())));
    }
    let found = Mutex::new(Vec::new());
    let errors = parallel::failures(&batches, |(cpp, chunk)| {
        let (places, jobs): (Vec<usize>, Vec<Job>) = chunk.iter().cloned().unzip();
        let first = jobs.first().map_or("", |job| &job.id);
        let name = format!("generated/{}-{first}", if *cpp { "cpp" } else { "c" });
        let findings = batch::compare(builder, settings(&name, *cpp), &jobs)?;
        let failed = places.into_iter().zip(findings).filter(|(_, findings)| !findings.is_empty());
        found.lock().map_err(|error| error.to_string())?.extend(failed);
        Ok(())
    });
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    let mut found = found.into_inner().unwrap_or_default();
    found.sort_by_key(|(place, _)| *place);
    found
}

fn shapes(made: &[Made]) -> usize {
    made.iter().map(|made| &made.case.shape).collect::<BTreeSet<_>>().len()
}

/// The table of the families, and what is wrong with it.
fn census(made: &[Made]) -> (String, Vec<String>) {
    let mut table = format!("{:24} {:>8} {:>8} {:>8}  refused by\n", "family", "programs", "changed", "no gain");
    let mut complaints = Vec::new();
    let mut total = (0, 0);
    for family in FAMILIES {
        let own: Vec<&Made> = made.iter().filter(|made| made.case.family.name == family.name).collect();
        let changed = own.iter().filter(|made| made.output.is_some()).count();
        let no_gain = own.iter().filter(|made| made.output.is_none() && made.does_not_pay).count();
        let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
        for id in own.iter().filter(|made| made.output.is_none()).flat_map(|made| &made.refused) {
            *ids.entry(id).or_default() += 1;
        }
        let list: Vec<String> = ids.iter().map(|(id, count)| format!("{id} x {count}")).collect();
        let _ = writeln!(table, "{:24} {:8} {changed:8} {no_gain:8}  {}", family.name, own.len(), list.join(", "));
        total = (total.0 + own.len(), total.1 + changed);
        complaints.extend(complaint(family.name, family.expected, &own, changed));
    }
    let _ = writeln!(table, "{:24} {:8} {:8}", "all", total.0, total.1);
    (table, complaints)
}

fn complaint(name: &str, expected: Expected, own: &[&Made], changed: usize) -> Option<String> {
    let percent = changed * 100 / own.len().max(1);
    let unexpected = |ids: &[&str]| {
        let odd = own.iter().find(|made| made.output.is_none() && made.refused.iter().all(|id| !ids.contains(id)));
        odd.map(|made| format!("`{name}`: program {} is left alone for {:?}", made.case.index, made.refused))
    };
    match expected {
        Expected::Changed if percent < LEAST_CHANGED => {
            Some(format!("`{name}`: only {changed} of {} programs are changed", own.len()))
        }
        Expected::Changed => None,
        Expected::Planned(_) if percent >= LEAST_CHANGED => {
            Some(format!("`{name}` is handled now: {changed} of {} are changed; enter it as `Changed`", own.len()))
        }
        Expected::Planned(ids) => unexpected(ids),
        Expected::Refused(_) if changed > 0 => {
            Some(format!("`{name}`: {changed} programs are changed, and none may be"))
        }
        Expected::Refused(ids) => unexpected(ids),
    }
}

/// A failing program, as small as it gets.
fn shown(builder: &Builder, made: &Made, findings: &[Finding], small: bool, seed: u64) -> String {
    let kinds: BTreeSet<String> = findings.iter().map(|finding| format!("{:?}", finding.kind)).collect();
    let fails = |case: &Case| {
        let Ok(made) = make(case) else { return false };
        let Some(job) = job(&made) else { return false };
        let name = format!("generated/smaller-{}", case.index);
        let found = batch::compare(builder, settings(&name, case.cpp), &[job]).unwrap_or_default().concat();
        let valid = !found.iter().any(|finding| finding.kind == Kind::Original || before_does_not_build(finding));
        valid && found.iter().any(|finding| kinds.contains(&format!("{:?}", finding.kind)))
    };
    let original = findings.iter().any(|finding| finding.kind == Kind::Original || before_does_not_build(finding));
    let case = if small && !original { minimise(&made.case, TRIALS, fails) } else { made.case.clone() };
    let text = case.text();
    let output = make(&case).ok().and_then(|made| made.output).unwrap_or_default();
    let findings: Vec<String> = findings.iter().map(Finding::to_string).collect();
    format!(
        "== program {} of seed {seed} ({})\n{}\n{}\n{}\nonly this one: OMPSPLIT_SEED={seed} OMPSPLIT_PROGRAM={} cargo test --test generated",
        made.case.index,
        made.case.shape,
        findings.join("\n"),
        text,
        diff("original", text.as_bytes(), "output", output.as_bytes()),
        made.case.index,
    )
}

fn before_does_not_build(finding: &Finding) -> bool {
    finding.kind == Kind::Build && finding.text.starts_with("before")
}
