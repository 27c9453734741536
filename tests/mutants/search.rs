//! What is found of mutants, and what is told of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::support::batch::{self, Job, Settings};
use crate::support::fixtures::Fixture;
use crate::support::mutants::judged::{self, Rows};
use crate::support::oracle::{self, Finding, Kind};
use crate::support::program::Builder;
use crate::support::verified::{List, Verified};
use crate::support::{self, parallel};
use crate::trials::{SIZES, Source, Trial};

/// Mutants in one file.
const BATCH: usize = 16;
/// What the programs of one file have in common: C++, deferred tasks, and the sizes.
type Kinds = (bool, bool, &'static [(usize, usize)]);

/// What a list says of what was found.
fn shown(findings: &[Finding]) -> String {
    let kind = |finding: &Finding| if is_of_original(finding) { Kind::Original } else { finding.kind };
    findings.first().map(|finding| format!("{:?}", kind(finding))).unwrap_or_default()
}

/// The same, read.
fn read(found: &str) -> Result<Vec<Finding>, String> {
    let finding = |kind| Finding { kind, text: "found before".to_owned() };
    let found = (!found.is_empty()).then(|| {
        let kind = Kind::ALL.into_iter().find(|kind| format!("{kind:?}") == found);
        kind.map(finding).ok_or_else(|| format!("`{found}` is no kind of finding"))
    });
    found.into_iter().collect()
}

/// What was found of each, in this run where it is not known.
pub fn verdicts(builder: &Builder, list: List, trials: &[Trial]) -> Result<Vec<Vec<Finding>>, String> {
    let verified = Verified::read(list);
    let mut found = Vec::new();
    let mut unknown = Vec::new();
    for (place, trial) in trials.iter().enumerate() {
        let (name, number) = trial.line(&verified, builder)?;
        let known = verified.known(&name, &number);
        if known.is_none() {
            unknown.push((place, trial, name, number));
        }
        found.push(read(&known.unwrap_or_default())?);
    }
    let tried: Vec<(usize, &Trial)> = unknown.iter().map(|(place, trial, ..)| (*place, *trial)).collect();
    for (place, findings) in searched(builder, &tried)? {
        found[place] = findings;
    }
    for (place, _, name, number) in unknown {
        verified.note(&name, &number, &shown(&found[place]));
    }
    verified.finish()?;
    Ok(found)
}

/// What is found of each.
fn searched(builder: &Builder, trials: &[(usize, &Trial)]) -> Result<Vec<(usize, Vec<Finding>)>, String> {
    let mut batches: BTreeMap<Kinds, Vec<(usize, Job)>> = BTreeMap::new();
    let mut alone = Vec::new();
    for (place, trial) in trials {
        match &trial.source {
            Source::Program { index, cpp, sizes } => {
                let deferred = trial.mutant.text.contains("nowait");
                batches.entry((*cpp, deferred, sizes)).or_default().push((*place, job(*index, *place, trial)));
            }
            Source::Fixture(fixture) => alone.push((*place, fixture, &trial.mutant, &trial.output)),
        }
    }
    let chunks: Vec<_> = batches
        .into_iter()
        .flat_map(|((cpp, _, sizes), jobs)| {
            jobs.chunks(BATCH).map(|chunk| (cpp, sizes, chunk.to_vec())).collect::<Vec<_>>()
        })
        .collect();
    let mut found = parallel::collected(&chunks, |(cpp, sizes, chunk)| {
        let (places, jobs): (Vec<usize>, Vec<Job>) = chunk.iter().cloned().unzip();
        let folder = if *sizes == SIZES { "mutants" } else { "mutants/tiles" };
        let name = format!("{folder}/{}", places.first().unwrap_or(&0));
        let settings = Settings { name: &name, cpp: *cpp, sizes, first_only: true };
        let findings = batch::compare(builder, settings, &jobs)?;
        Ok(places.into_iter().zip(findings).collect())
    })?;
    found.extend(parallel::collected(&alone, |(place, fixture, mutant, sound)| {
        let fixture = Fixture { name: format!("mutants/{}/{place}", fixture.name), ..(***fixture).clone() };
        let findings = oracle::compare_mutant(builder, &fixture, sound.as_bytes(), mutant.text.as_bytes())?;
        Ok(vec![(*place, findings)])
    })?);
    Ok(found)
}

/// The mutant under names of its own.
fn job(index: usize, place: usize, trial: &Trial) -> Job {
    let tag = format!("_c{index}");
    let id = format!("{index}m{place}");
    let renamed = |text: &str| {
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
    let rename = |text: &str| {
        let text = renamed(text).replace(&format!("_c{id}\", "), &format!("{tag}\", "));
        text.replace(&format!("_c{id} %"), &format!("{tag} %"))
    };
    let (output, sound) = (rename(&trial.mutant.text), Some(rename(&trial.output)));
    Job { id, origin: index.to_string(), original: trial.original.clone(), output, sound }
}

/// Is something wrong with the original, and not with the mutant?
fn is_of_original(finding: &Finding) -> bool {
    finding.kind == Kind::Original || (finding.kind == Kind::Build && finding.text.starts_with("before"))
}

/// Where a mutant that was not found can be read.
fn kept(place: usize, trial: &Trial) -> String {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("survivors").join(format!("{place}.diff"));
    let [output, mutant] = [&trial.output, &trial.mutant.text].map(|text| text.as_bytes());
    let text = format!("{}\n{}", support::diff("output", output, "mutant", mutant), trial.output);
    let written = std::fs::create_dir_all(file.parent().unwrap_or(&file)).and_then(|()| std::fs::write(&file, text));
    written.map_or_else(|error| error.to_string(), |()| file.display().to_string())
}

/// The table, with the mutants that were not found, and its rows.
pub fn report<'a>(tried: &[(&'a Trial, &Vec<Finding>)]) -> (String, Rows<'a>) {
    let mut rows = Rows::new();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut survivors = String::new();
    for (place, (trial, findings)) in tried.iter().enumerate() {
        let operator = &trial.mutant.operator;
        // Where the original is no reference, nothing is found of the mutant.
        let finding = findings.first().filter(|finding| !is_of_original(finding));
        judged::note(&mut rows, operator, finding.is_some());
        if let Some(finding) = finding {
            *kinds.entry(format!("{:?}", finding.kind)).or_default() += 1;
        } else {
            let _ = writeln!(survivors, "not found: {}; {}", trial.name(), kept(place, trial));
        }
    }
    (format!("{}found by: {kinds:?}\n{survivors}", judged::table(&rows)), rows)
}
