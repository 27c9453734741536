//! What would be found if the tool were wrong: outputs with one thing done wrong on purpose, by the operators of
//! `tests/support/mutants/operators.toml`, must be found wrong by what compares outputs with originals.
//!
//! The aim is that at least 95 % are found of all mutants that `equivalent.toml` does not prove to mean the same. Of the
//! sample 67 % are; the others, which the test lists, wait for a proof or for a sharper check. Without more, a sample is
//! tried; `OMPSPLIT_MUTANTS=2000` makes it larger, `OMPSPLIT_MUTANTS=all` takes all of 300 programs and of every fixture.

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use support::batch::{self, Job, Settings};
use support::fixtures::{self, Fixture};
use support::generator::families::Expected;
use support::generator::rng::Rng;
use support::generator::{Case, LONG_SIZES, case};
use support::mutants::{Mutant, Operator, equivalence, mutants, operators, widen};
use support::oracle::{self, Finding, Kind};
use support::program::Builder;
use support::{faults, parallel, rewrite};

/// Percent of the mutants that must be found: what holds now, so that it can only become more. The aim is 95.
const LEAST_FOUND: usize = 62;
/// Mutants in one file.
const BATCH: usize = 16;
/// The programs that mutants are made of.
const PROGRAMS: usize = 300;
/// The sample: mutants of generated programs, and of fixtures.
const SAMPLE: (usize, usize) = (96, 6);

/// One mutant and what it was made of.
struct Trial {
    mutant: Mutant,
    original: String,
    source: Source,
    equivalent: Option<String>,
}

enum Source {
    Program { index: usize, cpp: bool },
    Fixture(Box<Fixture>),
}

#[test]
fn mutants_of_outputs_are_found() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let trials = chosen(all_trials().unwrap_or_else(|error| panic!("{error}")));
    let verdicts = verdicts(&builder, &trials).unwrap_or_else(|error| panic!("{error}"));
    let (table, found, counted) = report(&trials, &verdicts);
    println!("{table}");
    assert!(found * 100 >= counted * LEAST_FOUND, "only {found} of {counted} mutants are found\n{table}");
}

/// Faults planted by hand, each found for the reason that it was planted for.
#[test]
fn every_planted_fault_is_found() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let faults = faults::all();
    let failures = parallel::failures(&faults, |fault| {
        let name = format!("faults/{}", fault.name.replace(' ', "-"));
        let fixture = Fixture::new(&name, PathBuf::from("fault.c"), fault.original.clone().into_bytes())?;
        if fault.expected.is_some() && fault.original == fault.output {
            return Err(format!("{name}: nothing was planted"));
        }
        let findings = oracle::compare(&builder, &fixture, fault.output.as_bytes())?;
        let found = match fault.expected {
            None => findings.is_empty(),
            Some(kind) => findings.iter().any(|finding| finding.kind == kind),
        };
        let shown: Vec<String> = findings.iter().map(Finding::to_string).collect();
        if found { Ok(()) } else { Err(format!("{name}: expected {:?}, found\n{}", fault.expected, shown.join("\n"))) }
    });
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Every mutant there is, of generated programs and of fixtures.
fn all_trials() -> Result<Vec<Trial>, String> {
    let operators = operators()?;
    let rules = equivalence::rules()?;
    let mut trials = Vec::new();
    for index in 0..PROGRAMS {
        trials.extend(of_program(&operators, &case(1, index))?);
    }
    for fixture in fixtures::all()?.into_iter().filter(|fixture| fixture.runnable && !fixture.racy_original) {
        let output = rewrite::fixture(&fixture)?;
        let texts = [&fixture.text, &output].map(|text| String::from_utf8_lossy(text).into_owned());
        let made = mutants(&operators, &texts[0], &texts[1]);
        trials.extend(made.into_iter().map(|mutant| Trial {
            mutant,
            original: texts[0].clone(),
            source: Source::Fixture(Box::new(fixture.clone())),
            equivalent: None,
        }));
    }
    for trial in &mut trials {
        trial.equivalent = equivalence::equivalent(&rules, &trial.original, &trial.mutant);
    }
    Ok(trials)
}

fn of_program(operators: &[Operator], case: &Case) -> Result<Vec<Trial>, String> {
    let text = case.text();
    let output = rewrite::rewrite(Path::new(case.file_name()), text.as_bytes(), false)?;
    let output = String::from_utf8_lossy(&output).into_owned();
    let (original, output) = (Case::part(&text).to_owned(), Case::part(&output).to_owned());
    let mut made = mutants(operators, &original, &output);
    if matches!(case.family.expected, Expected::Refused(_)) {
        made.extend(widen::widened(operators, &original));
    }
    let source = || Source::Program { index: case.index, cpp: case.cpp };
    Ok(made
        .into_iter()
        .map(|mutant| Trial { mutant, original: original.clone(), source: source(), equivalent: None })
        .collect())
}

/// All of them, or a sample in which every operator has its part.
fn chosen(trials: Vec<Trial>) -> Vec<Trial> {
    let wanted = std::env::var("OMPSPLIT_MUTANTS").unwrap_or_default();
    if wanted == "all" {
        return trials;
    }
    let (programs, fixtures) = wanted.parse().map_or(SAMPLE, |count: usize| (count, count / 10));
    let mut rng = Rng::new(11);
    let mut groups: BTreeMap<(bool, String), Vec<Trial>> = BTreeMap::new();
    for trial in trials.into_iter().filter(|trial| trial.equivalent.is_none()) {
        let is_fixture = matches!(trial.source, Source::Fixture(_));
        groups.entry((is_fixture, trial.mutant.operator.name.clone())).or_default().push(trial);
    }
    let mut sample = Vec::new();
    let mut left = [programs, fixtures];
    while groups.iter().any(|((is_fixture, _), group)| !group.is_empty() && left[usize::from(*is_fixture)] > 0) {
        for ((is_fixture, _), group) in &mut groups {
            let left = &mut left[usize::from(*is_fixture)];
            // Few fixtures are tried: not each operator comes first among them.
            if *left > 0 && !group.is_empty() && (!*is_fixture || rng.chance(20)) {
                sample.push(group.swap_remove(rng.below(group.len())));
                *left -= 1;
            }
        }
    }
    sample
}

/// What was found of each; nothing for those that are equivalent, which are not run.
fn verdicts(builder: &Builder, trials: &[Trial]) -> Result<Vec<Option<Vec<Finding>>>, String> {
    let mut batches: BTreeMap<(bool, bool), Vec<(usize, Job)>> = BTreeMap::new();
    let mut alone = Vec::new();
    for (place, trial) in trials.iter().enumerate().filter(|(_, trial)| trial.equivalent.is_none()) {
        match &trial.source {
            Source::Program { index, cpp } => {
                let deferred = trial.mutant.text.contains("nowait");
                batches.entry((*cpp, deferred)).or_default().push((place, job(*index, place, trial)));
            }
            Source::Fixture(fixture) => alone.push((place, fixture, &trial.mutant)),
        }
    }
    let chunks: Vec<(bool, Vec<(usize, Job)>)> = batches
        .into_iter()
        .flat_map(|((cpp, _), jobs)| jobs.chunks(BATCH).map(|chunk| (cpp, chunk.to_vec())).collect::<Vec<_>>())
        .collect();
    let found: Mutex<Vec<Option<Vec<Finding>>>> = Mutex::new(vec![None; trials.len()]);
    let keep = |place: usize, findings: Vec<Finding>| {
        found.lock().map_err(|error| error.to_string())?[place] = Some(findings);
        Ok::<(), String>(())
    };
    let mut errors = parallel::failures(&chunks, |(cpp, chunk)| {
        let (places, jobs): (Vec<usize>, Vec<Job>) = chunk.iter().cloned().unzip();
        let name = format!("mutants/{}", places.first().unwrap_or(&0));
        let settings = Settings { name: &name, cpp: *cpp, sizes: LONG_SIZES, first_only: true };
        let findings = batch::compare(builder, settings, &jobs)?;
        places.into_iter().zip(findings).try_for_each(|(place, findings)| keep(place, findings))
    });
    errors.extend(parallel::failures(&alone, |(place, fixture, mutant)| {
        let fixture = Fixture { name: format!("mutants/{}/{place}", fixture.name), ..(***fixture).clone() };
        keep(*place, oracle::compare(builder, &fixture, mutant.text.as_bytes())?)
    }));
    if errors.is_empty() { found.into_inner().map_err(|error| error.to_string()) } else { Err(errors.join("\n")) }
}

/// The mutant under names of its own.
fn job(index: usize, place: usize, trial: &Trial) -> Job {
    let tag = format!("_c{index}");
    let id = format!("{index}m{place}");
    let rename = |text: &str| {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(&tag) {
            let (front, back) = rest.split_at(at + tag.len());
            out.push_str(front);
            if !back.starts_with(|c: char| c.is_ascii_digit()) {
                out.push_str(&format!("m{place}"));
            }
            rest = back;
        }
        out + rest
    };
    // What is printed must not tell the names apart.
    let output = rename(&trial.mutant.text)
        .replace(&format!("_c{id}\", "), &format!("{tag}\", "))
        .replace(&format!("_c{id} %"), &format!("{tag} %"));
    Job { id, origin: index.to_string(), original: trial.original.clone(), output }
}

/// The table, how many were found, and how many count.
fn report(trials: &[Trial], verdicts: &[Option<Vec<Finding>>]) -> (String, usize, usize) {
    let mut rows: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    let mut survivors = String::new();
    for (trial, verdict) in trials.iter().zip(verdicts) {
        let row = rows.entry(&trial.mutant.operator.name).or_default();
        row[0] += 1;
        match verdict {
            None => row[1] += 1,
            Some(findings) if findings.iter().any(|finding| finding.kind == Kind::Original) => row[1] += 1,
            Some(findings) if !findings.is_empty() => row[2] += 1,
            Some(_) => {
                row[3] += 1;
                let source = match &trial.source {
                    Source::Program { index, .. } => format!("program {index} of seed 1"),
                    Source::Fixture(fixture) => fixture.name.clone(),
                };
                let _ =
                    writeln!(survivors, "not found: {}: {} ({source})", trial.mutant.operator.name, trial.mutant.what);
            }
        }
    }
    let mut table = format!("{:64} {:>6} {:>10} {:>6} {:>9}\n", "operator", "made", "equivalent", "found", "not found");
    let mut total = [0; 4];
    for (name, row) in &rows {
        let _ = writeln!(table, "{name:64} {:6} {:10} {:6} {:9}", row[0], row[1], row[2], row[3]);
        total.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
    }
    let _ = writeln!(table, "{:64} {:6} {:10} {:6} {:9}", "all", total[0], total[1], total[2], total[3]);
    (table + &survivors, total[2], total[2] + total[3])
}
