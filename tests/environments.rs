//! Random programs whose host code and constructs share arrays: `hoist` keeps some on the device, and the output must give the results of
//! its original and copy no more often. `OMPSPLIT_PROGRAMS=100 OMPSPLIT_SEED=7 cargo test --test environments` tries more files of 20
//! functions, and other ones.

mod support;

use std::path::Path;

use ompsplit::engine::{self, Options};
use ompsplit::plan::{Decision, Pass};
use ompsplit::source::SourceFile;
use support::fixtures::Fixture;
use support::oracle::{Finding, compare};
use support::program::Builder;
use support::{environments, parallel};

/// Functions in one file.
const FUNCTIONS: usize = 20;

/// Environments that such a file must get at least, so that refusing is no way to pass.
const LEAST: usize = 5;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn environments_give_the_results_of_their_originals() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let first = number("OMPSPLIT_SEED", 1) * 10_000;
    let seeds: Vec<u64> = (first..first + number("OMPSPLIT_PROGRAMS", 2)).collect();
    let failures = parallel::failures(&seeds, |seed| checked(&builder, *seed));
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

fn checked(builder: &Builder, seed: u64) -> Result<(), String> {
    let name = format!("environments/{seed}.c");
    let text = environments::program(seed, FUNCTIONS);
    let file = SourceFile::new(Path::new(&name), text.clone().into_bytes());
    let options = Options { passes: vec![Pass::Hoist], ..Options::default() };
    let outcome = engine::run(&file, &[], &options).map_err(|error| format!("{name}: {error}"))?;
    let made = outcome.plans.iter().filter(|plan| matches!(plan.decision, Decision::Apply(_))).count();
    if made < LEAST {
        return Err(format!("{name}: only {made} environments"));
    }
    let output = outcome.text.unwrap_or_default();
    let mut fixture = Fixture::new(&name, Path::new(&name).to_owned(), text.into_bytes())?;
    // Nothing here is slow but the compiler.
    fixture.flags.push("-O0".to_owned());
    let found = compare(builder, &fixture, &output)?;
    let said: Vec<String> = found.iter().map(Finding::to_string).collect();
    if said.is_empty() { Ok(()) } else { Err(format!("{name}:\n{}", said.join("\n"))) }
}
