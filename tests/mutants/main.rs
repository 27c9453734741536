//! What would be found if the tool were wrong: outputs with one thing done wrong on purpose, by the operators of
//! `tests/support/mutants/operators.toml`, must be found wrong by what compares outputs with originals.
//!
//! At least 95 % must be found of the mutants of operators that change the meaning wherever they are applied. Others have a floor of
//! their own there, which was measured, and a reason. Each operator is held to its floor, and so are all together, and those with 95 %.
//! Where nothing is done wrong, nothing may be found. Without more, a sample is tried; `OMPSPLIT_MUTANTS=500` makes it larger,
//! `OMPSPLIT_SEED=3` takes another one, `OMPSPLIT_MUTANTS=all` takes all of 300 programs and of every fixture, which takes days.

mod by_hand;
mod search;
#[path = "../support/mod.rs"]
mod support;
mod trials;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use search::{report, verdicts};
use support::environments;
use support::mutants::judged::{self, Rows};
use support::mutants::of_environments::{self, Verdict};
use support::mutants::watched::Effect;
use support::mutants::{operators, overlaps};
use support::oracle::Finding;
use support::program::Builder;
use support::verified::{List, Verified};
use trials::{NOTHING, Trial, all_trials, chosen, seed, tiled_trials};

/// What became of mutants before.
const LIST: List = List { name: "mutants", test: "mutants", decides: &[include_str!("../support/batch.rs")] };
const TILED_LIST: List = List { name: "mutants_of_pipelines", ..LIST };
const ENVIRONMENT_LIST: List = List {
    name: "mutants_of_environments",
    decides: &[
        include_str!("../support/mutants/of_environments.rs"),
        include_str!("../support/mutants/watched.rs"),
        include_str!("../support/environments/copies.rs"),
    ],
    ..LIST
};
const OVERLAP_LIST: List =
    List { name: "mutants_of_overlaps", decides: &[include_str!("../support/mutants/overlaps.rs")], ..LIST };

/// The sample: mutants of generated programs, and of fixtures.
const SAMPLE: (usize, usize) = (96, 6);
/// The same of loops in tiles.
const TILED_SAMPLE: (usize, usize) = (64, 6);
/// The programs whose environments mutants are made of, and the files for each.
const ENVIRONMENTS: usize = 3;
const ENVIRONMENT_FILES: usize = 2;
/// The programs whose overlapped copies mutants are made of, and the files for each.
const OVERLAPS: usize = 2;
const OVERLAP_FILES: usize = 2;
/// Of a hundred mutants of environments that count, how many must be found, of all operators together.
const ENVIRONMENTS_FOUND: usize = 95;
/// Of a hundred mutants of environments, how many may do nothing that anybody could see.
const NOT_COUNTED: usize = 25;
/// How much larger deep samples are.
const DEEP: usize = 3;

#[test]
fn mutants_of_outputs_are_found() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    println!("{}", tried(&builder, LIST, all_trials(), SAMPLE).unwrap_or_else(|error| panic!("{error}")));
}

/// The same of loops that `pipeline` cuts into tiles.
#[test]
fn mutants_of_pipelines_are_found() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    println!("{}", tried(&builder, TILED_LIST, tiled_trials(), TILED_SAMPLE).unwrap_or_else(|error| panic!("{error}")));
}

/// The same of what `hoist` makes of functions that share arrays with the host. `OMPSPLIT_MUTANTS=100` takes so many programs.
#[test]
fn mutants_of_environments_are_found() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let operators = operators().unwrap_or_else(|error| panic!("{error}"));
    let wanted = std::env::var("OMPSPLIT_MUTANTS").ok().and_then(|wanted| wanted.parse().ok());
    let times = if support::deep() { DEEP } else { 1 };
    let first = 10_000 * seed();
    // Every fourth program is one of deferred constructs, of which few are changed.
    let seeds: Vec<u64> = (first..)
        .filter(|seed| seed % environments::PROGRAMS != 2)
        .take(wanted.unwrap_or(ENVIRONMENTS * times))
        .collect();
    let verified = Verified::read(ENVIRONMENT_LIST);
    let verdicts = of_environments::verdicts(&builder, &verified, &operators, &seeds, ENVIRONMENT_FILES);
    let verdicts = verdicts.unwrap_or_else(|error| panic!("{error}"));
    verified.finish().unwrap_or_else(|error| panic!("{error}"));
    let mut rows = Rows::new();
    let mut survivors = String::new();
    let mut without = BTreeMap::<(&str, Effect), usize>::new();
    for Verdict { planted, seed, found, effect, shown } in &verdicts {
        let name = planted.operator.name.as_str();
        if *found || *effect == Effect::Read {
            judged::note(&mut rows, &planted.operator, *found);
        } else {
            *without.entry((name, *effect)).or_default() += 1;
        }
        if !found {
            let _ =
                writeln!(survivors, "not found, {effect:?}: {name}: {} (f{} of {seed})", planted.what, planted.part);
            let _ = writeln!(survivors, "{shown}");
        }
    }
    let mut told = judged::table(&rows);
    for ((name, effect), count) in &without {
        let _ = writeln!(told, "not counted, {effect:?}: {name} {count}");
    }
    let not_counted: usize = without.values().sum();
    let _ = writeln!(told, "{survivors}{not_counted} of {} are not counted", verdicts.len());
    println!("{}", judged::judged(&rows, &told).unwrap_or_else(|error| panic!("{error}")));
    let [tried, found] = rows.values().fold([0, 0], |[tried, found], row| [tried + row.tried, found + row.found]);
    assert!(found * 100 >= tried * ENVIRONMENTS_FOUND, "only {found} of {tried} mutants are found");
    assert!(not_counted * 100 <= verdicts.len() * NOT_COUNTED, "too many mutants do nothing: {not_counted}");
}

/// The same of what `overlap` makes of blocks with several kernels. `OMPSPLIT_MUTANTS=100` takes so many programs.
#[test]
fn mutants_of_overlaps_are_found() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let operators = operators().unwrap_or_else(|error| panic!("{error}"));
    let wanted = std::env::var("OMPSPLIT_MUTANTS").ok().and_then(|wanted| wanted.parse().ok());
    let times = if support::deep() { DEEP } else { 1 };
    let first = 10_000 * seed();
    let seeds: Vec<u64> = (first..).take(wanted.unwrap_or(OVERLAPS * times)).collect();
    let verified = Verified::read(OVERLAP_LIST);
    let verdicts = overlaps::verdicts(&builder, &verified, &operators, &seeds, OVERLAP_FILES);
    let verdicts = verdicts.unwrap_or_else(|error| panic!("{error}"));
    verified.finish().unwrap_or_else(|error| panic!("{error}"));
    let mut rows = Rows::new();
    let mut survivors = String::new();
    for Verdict { planted, seed, found, shown, .. } in &verdicts {
        judged::note(&mut rows, &planted.operator, *found);
        if !found {
            let (name, what, part) = (&planted.operator.name, &planted.what, planted.part);
            let _ = writeln!(survivors, "not found: {name}: {what} (f{part} of {seed})\n{shown}");
        }
    }
    let told = format!("{}{survivors}", judged::table(&rows));
    println!("{}", judged::judged(&rows, &told).unwrap_or_else(|error| panic!("{error}")));
}

/// Are enough of them found? The table, or what is wrong with it.
fn tried(
    builder: &Builder,
    list: List,
    trials: Result<Vec<Trial>, String>,
    sample: (usize, usize),
) -> Result<String, String> {
    let trials = chosen(trials?, sample);
    let verdicts = verdicts(builder, list, &trials)?;
    let is_sound = |trial: &Trial| trial.mutant.operator.name == NOTHING;
    let (sound, wrong): (Vec<_>, Vec<_>) = trials.iter().zip(&verdicts).partition(|(trial, _)| is_sound(trial));
    let found: Vec<&Finding> = sound.into_iter().flat_map(|(_, findings)| findings).collect();
    if !found.is_empty() {
        return Err(format!("where nothing is done wrong something is found: {found:?}"));
    }
    let (table, rows) = report(&wrong);
    judged::judged(&rows, &table)
}
