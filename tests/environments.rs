//! Random programs whose host code and constructs share arrays: `hoist` keeps some on the device, and the output must give the results of
//! its original and copy no more often. `OMPSPLIT_PROGRAMS=100 OMPSPLIT_SEED=7 cargo test --test environments` tries more files, and
//! other ones.

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;

use ompsplit::engine::{self, Options};
use ompsplit::plan::{Decision, Pass, Plan};
use ompsplit::source::SourceFile;
use support::environments::{self, PROGRAMS, Program, copies};
use support::fixtures::Fixture;
use support::oracle::{self, Finding};
use support::program::Builder;
use support::verified::{List, Verified};
use support::{number, parallel};

/// What was found before: the functions that copy more.
const LIST: List = List {
    name: "environments",
    test: "environments",
    decides: &[include_str!("environments.rs"), include_str!("support/environments/copies.rs")],
};

/// From how many functions on a family is held to what must be changed of it; of fewer, it may be less by chance.
const JUDGED: usize = 20;

/// What must be changed of all functions together that `hoist` is meant to change, in percent.
const ALL: usize = 60;

/// In how many of a hundred functions a call may copy more than in the original. Two causes are known: an update in a
/// loop that makes one pass, where the constructs would copy once each way, and pointers that change places, whose updates are not counted.
const GROWN: usize = 3;

/// What stands between calls where they are listed.
const BETWEEN_CALLS: &str = "; ";

/// Of each family: how many functions were tried, how many were changed.
type Shares = BTreeMap<&'static str, [usize; 2]>;

/// The calls that copy more, by their functions.
type Grown = BTreeMap<String, Vec<String>>;

#[test]
fn environments_give_the_results_of_their_originals() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let first = number("OMPSPLIT_SEED", 1) * 10_000;
    let seeds: Vec<u64> = (first..first + number("OMPSPLIT_PROGRAMS", PROGRAMS)).collect();
    let shares = Mutex::new(Shares::new());
    let grown = Mutex::new(BTreeMap::new());
    let verified = Verified::read(LIST);
    let mut failures = parallel::failures(&seeds, |seed| checked(&builder, &verified, *seed, &shares, &grown));
    failures.extend(verified.finish().err());
    let shares = shares.into_inner().unwrap_or_default();
    failures.extend(too_few(&shares));
    println!("{}", table(&shares));
    let grown = grown.into_inner().unwrap_or_default();
    let tried: usize = shares.values().map(|[tried, _]| tried).sum();
    println!("{} of {tried} functions copy more: {grown:#?}", grown.len());
    // Of the smallest sample one more, which may be there by chance.
    if grown.len() > tried * GROWN / 100 + 1 {
        failures.push(format!("{} of {tried} functions copy more: {grown:#?}", grown.len()));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

fn checked(
    builder: &Builder,
    verified: &Verified,
    seed: u64,
    shares: &Mutex<Shares>,
    grown: &Mutex<Grown>,
) -> Result<(), String> {
    let program = environments::program(seed);
    let name = format!("environments/{}", program.file_name(seed));
    let file = SourceFile::new(Path::new(&name), program.text.clone().into_bytes());
    let options = Options { passes: vec![Pass::Hoist].into(), ..Options::default() };
    let outcome = engine::run(&file, &[], &options).map_err(|error| format!("{name}: {error}"))?;
    let opens = |plan: &&Plan| plan.summary.starts_with("keep ");
    let changes = outcome.plans.iter().filter(|plan| matches!(plan.decision, Decision::Apply(_))).filter(opens);
    count(&program, &changes.map(|plan| plan.span.start).collect::<Vec<_>>(), shares)?;
    let output = outcome.text.unwrap_or_else(|| program.text.clone().into_bytes());
    let number = verified.number(builder, &[name.as_bytes(), program.text.as_bytes(), &output]);
    let mut fixture = Fixture::new(&name, Path::new(&name).to_owned(), program.text.into_bytes())?;
    // Nothing here is slow but the compiler.
    fixture.flags.push("-O0".to_owned());
    let found = verified.or_found(&seed.to_string(), &number, || compared(builder, &fixture, &output))?;
    let mut grown = grown.lock().map_err(|error| error.to_string())?;
    for call in found.split(BETWEEN_CALLS).filter(|call| !call.is_empty()) {
        let function = call.split([' ', ':']).nth(2).unwrap_or_default();
        grown.entry(format!("{name}, {function}")).or_default().push(call.to_owned());
    }
    Ok(())
}

/// The calls that copy more, where nothing else is wrong.
fn compared(builder: &Builder, fixture: &Fixture, output: &[u8]) -> Result<String, String> {
    let found = oracle::compare(builder, fixture, output)?;
    let mut said: Vec<String> = found.iter().map(Finding::to_string).collect();
    let mut more = Vec::new();
    if said.is_empty() {
        let further = further_copies(builder, fixture, output)?;
        let is_left = |it: &String| it.contains(copies::LEFT);
        (said, more) = further.into_iter().partition(is_left);
    }
    if said.is_empty() { Ok(more.join(BETWEEN_CALLS)) } else { Err(format!("{}:\n{}", fixture.name, said.join("\n"))) }
}

/// Notes in which functions environments are opened.
fn count(program: &Program, changes: &[usize], shares: &Mutex<Shares>) -> Result<(), String> {
    let mut shares = shares.lock().map_err(|error| error.to_string())?;
    for (family, place) in &program.functions {
        let [tried, changed] = shares.entry(family.name).or_default();
        *tried += 1;
        *changed += usize::from(changes.iter().any(|change| place.contains(change)));
    }
    Ok(())
}

/// The calls of functions that copy more often or more than those of the original, or leave memory on the device.
fn further_copies(builder: &Builder, fixture: &Fixture, output: &[u8]) -> Result<Vec<String>, String> {
    let log = |variant: &str, text: &[u8]| {
        let program = builder.build(fixture, variant, text, &[])?;
        Ok::<_, String>(program.run(oracle::LOGGED, true)?.stderr)
    };
    Ok(copies::further(&log("before", &fixture.text)?, &log("after", output)?, u64::MAX))
}

/// What is wrong with what was changed.
fn too_few(shares: &Shares) -> Vec<String> {
    let mut all = [0; 2];
    let mut said = Vec::new();
    for family in environments::families::FAMILIES {
        let (Ok(least), Some([tried, changed])) = (family.changed, shares.get(family.name)) else { continue };
        all = [all[0] + tried, all[1] + changed];
        if *tried >= JUDGED && changed * 100 < tried * least {
            said.push(format!("{}: only {changed} of {tried} functions are changed", family.name));
        }
    }
    if all[1] * 100 < all[0] * ALL {
        said.push(format!("only {} of {} functions are changed", all[1], all[0]));
    }
    said
}

fn table(shares: &Shares) -> String {
    let mut out = format!("{:40} {:>6} {:>8}\n", "family", "tried", "changed");
    for (name, [tried, changed]) in shares {
        let _ = writeln!(out, "{name:40} {tried:6} {changed:8}");
    }
    out
}
