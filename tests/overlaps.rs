//! Random programs whose copies `overlap` moves beside kernels: the output must give the results of its original, copy no more, and find all
//! data on the device, whichever of copies and kernels are late. `OMPSPLIT_PROGRAMS=40 OMPSPLIT_SEED=7 cargo test --test overlaps` tries
//! more files, and other ones.

mod support;

use std::path::Path;

use support::fixtures::Fixture;
use support::mutants::overlaps::{Late, delayed, rewritten};
use support::oracle::{self, Finding};
use support::overlaps::{FAMILIES, program};
use support::program::{Builder, How};
use support::shares::Shares;
use support::verified::{List, Verified};
use support::{number, parallel};

/// What was found right before.
const LIST: List = List {
    name: "overlaps",
    test: "overlaps",
    decides: &[include_str!("overlaps.rs"), include_str!("support/mutants/overlaps.rs")],
};

/// The files of the sample, and of the deep one.
const PROGRAMS: u64 = 2;
const DEEP_PROGRAMS: u64 = 20;

/// How many files are rewritten where that is all, and what must be changed of a family that is meant to be, in percent.
const REWRITTEN: u64 = 20;
const LEAST_CHANGED: usize = 60;

#[test]
fn overlapped_copies_give_the_results_of_their_originals() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let sample = if support::deep() { DEEP_PROGRAMS } else { PROGRAMS };
    let first = number("OMPSPLIT_SEED", 1) * 10_000;
    let seeds: Vec<u64> = (first..first + number("OMPSPLIT_PROGRAMS", sample)).collect();
    let verified = Verified::read(LIST);
    let mut failures = parallel::failures(&seeds, |seed| checked(&builder, &verified, *seed));
    failures.extend(verified.finish().err());
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

fn checked(builder: &Builder, verified: &Verified, seed: u64) -> Result<(), String> {
    let name = format!("overlaps/{seed}.c");
    let program = program(seed);
    let Some(output) = rewritten(&name, &program.text)?.text else { return Err(format!("{name}: nothing is changed")) };
    let mut fixture = Fixture::new(&name, Path::new(&name).to_owned(), program.text.into_bytes())?;
    // Nothing here is slow but the compiler.
    fixture.flags.push("-O0".to_owned());
    verified.or_check(builder, &fixture, &output, || compared(builder, &fixture, &output))
}

fn compared(builder: &Builder, fixture: &Fixture, output: &[u8]) -> Result<(), String> {
    let mut said: Vec<String> = oracle::compare(builder, fixture, output)?.iter().map(Finding::to_string).collect();
    let before = builder.build(fixture, "before", &fixture.text, &[])?.run_parts(&[], How::Grid(oracle::LOGGED))?;
    for late in [Late::Copies, Late::Kernels] {
        let text = delayed(&String::from_utf8_lossy(output), late);
        let run = builder.build(fixture, &format!("{late:?}"), text.as_bytes(), &[])?;
        let run = run.run_parts(&[], How::Grid(oracle::LOGGED))?;
        if (&run.stdout, &run.end) != (&before.stdout, &before.end) {
            let changes = support::diff("original", &before.stdout, "output", &run.stdout);
            said.push(format!("where {late:?} are late, {}: {changes}", run.end));
        }
    }
    if said.is_empty() { Ok(()) } else { Err(format!("{}:\n{}", fixture.name, said.join("\n"))) }
}

/// Rewriting alone is quick, so that more programs are seen here.
#[test]
fn most_copies_that_could_move_do() {
    let shares = Shares::new();
    let first = number("OMPSPLIT_SEED", 1) * 10_000;
    let seeds: Vec<u64> = (first..first + REWRITTEN).collect();
    let failures = parallel::failures(&seeds, |seed| {
        let program = program(*seed);
        shares.note(&program.functions, &rewritten("overlaps.c", &program.text)?.plans)
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    println!("{}", shares.table());
    shares.hold(FAMILIES.into_iter().filter(|family| family.is_meant()), LEAST_CHANGED);
}
