//! Random valid programs: what `ompsplit` makes of each is run against the original on clang's x86_64 offload device.
//!
//! Refusing is no way to pass: of each family in `tests/support/generator/families.rs` that the tool claims to handle at
//! least 60 % must be changed. A program that fails is made smaller as long as it fails, and printed.
//!
//! `OMPSPLIT_PROGRAMS=5000 OMPSPLIT_SEED=7 cargo test --test generated -- --nocapture` tries more, and other ones (and a quarter as
//! many whose loops are cut into tiles); `OMPSPLIT_PROGRAM=17` tries one of them and prints it, `OMPSPLIT_PIPELINE=17` one of those. `OMPSPLIT_MINIMISED=0` leaves failing programs as they are, since making
//! one smaller takes a hundred compiler runs.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;

use ompsplit::plan::Decision;
use support::batch::{self, Job, Settings};
use support::generator::families::{BASIC, Expected, FAMILIES, Family, PIPELINES};
use support::generator::minimise::minimise;
use support::generator::{Case, HEAD, batch_main, drawn, piped};
use support::oracle::{Finding, Kind};
use support::program::Builder;
use support::verified::{List, Verified};
use support::{diff, parallel, rewrite};

/// What was found right before.
const LIST: List = List { name: "generated", test: "generated", decides: &[include_str!("support/batch.rs")] };
const PIPED_LIST: List = List { name: "pipelines", ..LIST };

/// Programs in one file of the sample, and of long runs: a compiler run takes about as long as ten programs in it.
const BATCH: usize = 16;
const LONG_BATCH: usize = 64;

/// Programs of the sample, and of the deep one.
const SAMPLE: usize = 96;
const DEEP_SAMPLE: usize = 400;

/// Programs of the sample whose loops are cut into tiles.
const TILED: u64 = 42;

/// Percent of a family's programs that must be changed.
const LEAST_CHANGED: usize = 60;

/// From how many programs on a combination is judged by itself, and each choice: fewer say little.
const JUDGED: usize = 10;

/// How many programs of each family are rewritten where that is all.
const REWRITTEN: usize = 3;

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
        Some(one) => vec![drawn(seed, usize::try_from(one).unwrap_or(0))],
        None => {
            let sample = if support::deep() { DEEP_SAMPLE } else { SAMPLE };
            let programs = number("OMPSPLIT_PROGRAMS").and_then(|wanted| usize::try_from(wanted).ok());
            (0..programs.unwrap_or(sample)).map(|index| drawn(seed, index)).collect()
        }
    };
    println!("{}", judged(seed, &cases, LIST, &FAMILIES, BASIC.len()).unwrap_or_else(|error| panic!("{error}")));
}

/// The same of loops that `pipeline` cuts into tiles.
#[test]
fn every_pipeline_of_a_generated_program_gives_its_results() {
    let seed = number("OMPSPLIT_SEED").unwrap_or(1);
    let cases: Vec<Case> = match number("OMPSPLIT_PIPELINE") {
        Some(one) => vec![piped(seed, usize::try_from(one).unwrap_or(0))],
        None => {
            let programs = number("OMPSPLIT_PROGRAMS").map_or(TILED, |programs| programs / 4);
            (0..usize::try_from(programs).unwrap_or(0)).map(|index| piped(seed, index)).collect()
        }
    };
    let judged = judged(seed, &cases, PIPED_LIST, &PIPELINES, JUDGED * PIPELINES.len());
    println!("{}", judged.unwrap_or_else(|error| panic!("{error}")));
}

/// Compares each program with its output, and counts what is changed; families are judged from so many programs on. What is to be
/// shown, or what fails.
fn judged(seed: u64, cases: &[Case], list: List, families: &[Family], least: usize) -> Result<String, String> {
    let made = made(cases)?;
    let mut said = String::new();
    if let [one] = &made[..] {
        let output = one.output.as_deref().unwrap_or(&one.original);
        let changes = diff("original", one.original.as_bytes(), "output", output.as_bytes());
        let _ = writeln!(said, "{}\n{changes}\n{:?}\n{}", one.case.shape, one.refused, one.original);
    }
    let builder = Builder::new()?;
    let failures = compared(&builder, list, &made)?;
    let (table, mut complaints) = census(&made, families);
    let _ = writeln!(said, "seed {seed}, {} programs of {} shapes\n{table}", made.len(), shapes(&made));
    if made.len() < least {
        complaints.clear();
    }
    let smaller = number("OMPSPLIT_MINIMISED").map_or(MINIMISED, |count| usize::try_from(count).unwrap_or(MINIMISED));
    let shown: Vec<String> = failures
        .iter()
        .enumerate()
        .map(|(n, (index, findings))| shown(&builder, &made[*index], findings, n < smaller, seed))
        .collect();
    if !shown.is_empty() {
        return Err(format!("{said}\n{} of {} programs fail\n\n{}", failures.len(), made.len(), shown.join("\n\n")));
    }
    if complaints.is_empty() { Ok(said) } else { Err(format!("{said}\n{}", complaints.join("\n"))) }
}

/// Rewriting alone is quick, so that every family is seen here.
#[test]
fn of_every_family_most_programs_are_changed() {
    let seed = number("OMPSPLIT_SEED").unwrap_or(1);
    let cases: Vec<Case> = (0..REWRITTEN * FAMILIES.len()).map(|index| drawn(seed, index)).collect();
    let made = made(&cases).unwrap_or_else(|error| panic!("{error}"));
    let (table, complaints) = census(&made, &FAMILIES);
    println!("seed {seed}, {} programs of {} families\n{table}", made.len(), FAMILIES.len());
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// The same of loops in tiles.
#[test]
fn of_every_family_of_pipelines_most_programs_are_changed() {
    let seed = number("OMPSPLIT_SEED").unwrap_or(1);
    let cases: Vec<Case> = (0..JUDGED * PIPELINES.len()).map(|index| piped(seed, index)).collect();
    let made = made(&cases).unwrap_or_else(|error| panic!("{error}"));
    let (table, complaints) = census(&made, &PIPELINES);
    println!("seed {seed}, {} programs of {} families\n{table}", made.len(), PIPELINES.len());
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

fn settings<'a>(name: &'a str, case: &Case) -> Settings<'a> {
    Settings { name, cpp: case.cpp, sizes: case.sizes(), first_only: false }
}

/// What the programs of one file have in common: C++, deferred regions, and the sizes.
type Kinds = (bool, bool, &'static [(usize, usize)]);

/// A number of all that what is found of a program depends on.
fn number_of(verified: &Verified, builder: &Builder, made: &Made, job: &Job) -> String {
    let main = batch_main(&["0".to_owned()], made.case.sizes());
    let how = format!("{} {HEAD}{main}", made.case.file_name());
    verified.number(builder, &[how.as_bytes(), job.original.as_bytes(), job.output.as_bytes()])
}

/// What fails of what is not known: places among the programs, and findings.
fn compared(builder: &Builder, list: List, made: &[Made]) -> Result<Vec<(usize, Vec<Finding>)>, String> {
    let verified = Verified::read(list);
    let name = |place: usize| made[place].case.index.to_string();
    let mut numbers = BTreeMap::new();
    let mut kinds: BTreeMap<Kinds, Vec<(usize, Job)>> = BTreeMap::new();
    for (place, made) in made.iter().enumerate() {
        // A deferred region leaves libomp 19 in a state in which later leagues of one thread fail an assertion of its own.
        let deferred = made.original.contains("nowait");
        let kind = (made.case.cpp, deferred, made.case.sizes());
        let Some(job) = job(made) else { continue };
        let number = number_of(&verified, builder, made, &job);
        if verified.known(&name(place), &number).is_none() {
            numbers.insert(place, number);
            kinds.entry(kind).or_default().push((place, job));
        }
    }
    let size = if made.len() > 500 { LONG_BATCH } else { BATCH };
    let batches: Vec<&[(usize, Job)]> = kinds.values().flat_map(|jobs| jobs.chunks(size)).collect();
    let found = Mutex::new(Vec::new());
    let errors = parallel::failures(&batches, |chunk| {
        let (places, jobs): (Vec<usize>, Vec<Job>) = chunk.iter().cloned().unzip();
        let Some(first) = places.first().map(|place| &made[*place].case) else { return Ok(()) };
        let folder = if first.is_piped() { "generated/tiles" } else { "generated" };
        let name = format!("{folder}/{}-{}", if first.cpp { "cpp" } else { "c" }, first.index);
        let findings = batch::compare(builder, settings(&name, first), &jobs)?;
        let failed = places.into_iter().zip(findings).filter(|(_, findings)| !findings.is_empty());
        found.lock().map_err(|error| error.to_string())?.extend(failed);
        Ok(())
    });
    if !errors.is_empty() {
        return Err(errors.join("\n"));
    }
    let mut found = found.into_inner().map_err(|error| error.to_string())?;
    found.sort_by_key(|(place, _)| *place);
    for (place, number) in numbers.iter().filter(|(place, _)| found.iter().all(|(failed, _)| failed != *place)) {
        verified.note(&name(*place), number, "");
    }
    verified.finish()?;
    Ok(found)
}

fn shapes(made: &[Made]) -> usize {
    made.iter().map(|made| &made.case.shape).collect::<BTreeSet<_>>().len()
}

/// The table of the families, and what is wrong with it. Of the combinations it shows what their choices are; each is
/// judged by itself where there are enough programs of it.
fn census(made: &[Made], families: &[Family]) -> (String, Vec<String>) {
    let mut table = format!("{:24} {:>8} {:>8} {:>8}  refused by\n", "family", "programs", "changed", "no gain");
    let mut complaints = Vec::new();
    let mut traits: BTreeMap<&str, Vec<&Made>> = BTreeMap::new();
    for family in families {
        let own: Vec<&Made> = made.iter().filter(|made| made.case.family.name == family.name).collect();
        if family.traits.is_empty() {
            line(&mut table, &family.name, &own);
        }
        if family.expected == Expected::Changed {
            family.traits.iter().for_each(|name| traits.entry(name).or_default().extend(&own));
        }
        let found = complaint(&family.name, family.expected, &own);
        let enough = if family.traits.is_empty() { REWRITTEN } else { JUDGED };
        if own.len() >= enough || matches!(family.expected, Expected::Refused(_)) {
            if found.is_some() && !family.traits.is_empty() {
                line(&mut table, &family.name, &own);
            }
            complaints.extend(found);
        }
    }
    for (name, own) in traits {
        line(&mut table, &format!(".. + {name}"), &own);
        complaints.extend((own.len() >= JUDGED).then(|| complaint(name, Expected::Changed, &own)).flatten());
    }
    line(&mut table, "all", &made.iter().collect::<Vec<_>>());
    (table, complaints)
}

fn line(table: &mut String, name: &str, own: &[&Made]) {
    let no_gain = own.iter().filter(|made| made.output.is_none() && made.does_not_pay).count();
    let mut ids: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for made in own.iter().filter(|made| made.output.is_none()) {
        made.refused.iter().for_each(|id| ids.entry(id).or_default().push(made.case.index));
    }
    let list: Vec<String> = ids.iter().map(|(id, at)| format!("{id} x {} (as {})", at.len(), at[0])).collect();
    let _ = writeln!(table, "{name:24} {:8} {:8} {no_gain:8}  {}", own.len(), changed(own), list.join(", "));
}

fn changed(own: &[&Made]) -> usize {
    own.iter().filter(|made| made.output.is_some()).count()
}

fn complaint(name: &str, expected: Expected, own: &[&Made]) -> Option<String> {
    if own.is_empty() {
        return None;
    }
    let changed = changed(own);
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
        // Its maps may be narrowed all the same.
        Expected::Refused(ids) => {
            let odd = own.iter().find(|made| made.refused.iter().all(|id| !ids.contains(id)));
            odd.map(|made| {
                format!("`{name}`: program {} is not refused for {ids:?}: {:?}", made.case.index, made.refused)
            })
        }
    }
}

/// A failing program, as small as it gets.
fn shown(builder: &Builder, made: &Made, findings: &[Finding], small: bool, seed: u64) -> String {
    let kinds: BTreeSet<String> = findings.iter().map(|finding| format!("{:?}", finding.kind)).collect();
    let fails = |case: &Case| {
        let Ok(made) = make(case) else { return false };
        let Some(job) = job(&made) else { return false };
        let name = format!("generated/smaller-{}", case.index);
        let found = batch::compare(builder, settings(&name, case), &[job]).unwrap_or_default().concat();
        let valid = !found.iter().any(|finding| finding.kind == Kind::Original || before_does_not_build(finding));
        valid && found.iter().any(|finding| kinds.contains(&format!("{:?}", finding.kind)))
    };
    let original = findings.iter().any(|finding| finding.kind == Kind::Original || before_does_not_build(finding));
    let case = if small && !original { minimise(&made.case, TRIALS, fails) } else { made.case.clone() };
    let text = case.text();
    let output = make(&case).ok().and_then(|made| made.output).unwrap_or_default();
    let findings: Vec<String> = findings.iter().map(Finding::to_string).collect();
    format!(
        "== program {} of seed {seed} ({})\n{}\n{}\n{}\nonly this one: OMPSPLIT_SEED={seed} OMPSPLIT_{}={} cargo test --test generated",
        made.case.index,
        made.case.shape,
        findings.join("\n"),
        text,
        diff("original", text.as_bytes(), "output", output.as_bytes()),
        if made.case.is_piped() { "PIPELINE" } else { "PROGRAM" },
        made.case.index,
    )
}

fn before_does_not_build(finding: &Finding) -> bool {
    finding.kind == Kind::Build && finding.text.starts_with("before")
}
