//! Random programs whose loads `stage` puts into tiles: the output must give the bits of its original, whether the compiler contracts the operations
//! of a statement or not, and mutants of it must not. `OMPSPLIT_PROGRAMS=40 OMPSPLIT_SEED=7 cargo test --test staged` tries more
//! files, and other ones.

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use ompsplit::device::DeviceProfile;
use ompsplit::engine::{self, Options, Outcome};
use ompsplit::plan::Pass;
use ompsplit::source::SourceFile;
use support::fixtures::Fixture;
use support::oracle::{self, Finding};
use support::program::{Builder, How};
use support::shares::Shares;
use support::staged::{FAMILIES, program};
use support::verified::{List, Verified};
use support::{number, parallel};

/// What was found right before.
const LIST: List = List { name: "staged", test: "staged", decides: &[] };

/// The files of the sample, and of the deep one.
const PROGRAMS: u64 = 2;
const DEEP_PROGRAMS: u64 = 20;

/// How many files are rewritten where that is all, and what must be changed of each family, in percent.
const REWRITTEN: u64 = 20;
const LEAST_CHANGED: usize = 60;

/// What of the mutants must be found, in percent.
const LEAST_FOUND: usize = 95;

/// What is done wrong in every function of an output.
const MUTANTS: [(&str, &str, &str); 10] = [
    ("every row of a tile is the first", "= first_i + offset_i;", "= first_i;"),
    ("every column of a tile is the first", "= first_j + offset_j;", "= first_j;"),
    ("the last row of a tile is lost", "; offset_i++)", " - 1; offset_i++)"),
    ("the last column of a tile is lost", "; offset_j++)", " - 1; offset_j++)"),
    ("rows between tiles are lost", "first_i += 32", "first_i += 33"),
    ("columns between tiles are lost", "first_j += 32", "first_j += 33"),
    ("rows are not asked for", "(offset_i < ", "(offset_i - 1 < "),
    ("columns are not asked for", "&& offset_j < ", "&& offset_j - 1 < "),
    ("a tile is filled in the other order", "[offset_i][offset_j] = ", "[offset_j][offset_i] = "),
    ("all elements of a row are one", "[offset_i][offset_j]", "[offset_i][0]"),
];

/// A function with a mistake.
fn mutant(part: &str, old: &str, new: &str) -> String {
    part.replace(old, new)
}

fn seeds(count: u64) -> Vec<u64> {
    let first = number("OMPSPLIT_SEED", 1) * 10_000;
    (first..first + count).collect()
}

fn rewritten(name: &str, text: &str) -> Result<Outcome, String> {
    let file = SourceFile::new(Path::new(name), text.as_bytes().to_vec());
    let device = DeviceProfile::named("h200");
    let options = Options { passes: vec![Pass::Stage].into(), device, assumed_iterations: 1 << 30, ..Options::default() };
    engine::run(&file, &[], &options).map_err(|error| format!("{name}: {error}"))
}

fn fixture(name: &str, text: &str, contract: &str) -> Result<Fixture, String> {
    let mut fixture = Fixture::new(name, Path::new(name).to_owned(), text.as_bytes().to_vec())?;
    let flags = ["-O1", "-mfma", contract];
    fixture.flags.extend(flags.iter().map(|flag| (*flag).to_owned()));
    Ok(fixture)
}

#[test]
fn tiles_give_the_bits_of_their_originals() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let sample = if support::deep() { DEEP_PROGRAMS } else { PROGRAMS };
    let verified = Verified::read(LIST);
    let mut failures = parallel::failures(&seeds(number("OMPSPLIT_PROGRAMS", sample)), |seed| {
        let name = format!("staged/{seed}.c");
        let program = program(*seed);
        let Some(output) = rewritten(&name, &program.text)?.text else {
            return Err(format!("{name}: nothing is changed"));
        };
        for contract in ["-ffp-contract=on", "-ffp-contract=off"] {
            let mut fixture = fixture(&name, &program.text, contract)?;
            fixture.name += contract;
            verified.or_check(&builder, &fixture, &output, || compared(&builder, &fixture, &output))?;
        }
        Ok(())
    });
    failures.extend(verified.finish().err());
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

fn compared(builder: &Builder, fixture: &Fixture, output: &[u8]) -> Result<(), String> {
    let said: Vec<String> = oracle::compare(builder, fixture, output)?.iter().map(Finding::to_string).collect();
    if said.is_empty() {
        return Ok(());
    }
    let changes = support::diff("original", &fixture.text, "output", output);
    Err(format!("{} {:?}:\n{}\n{changes}", fixture.name, fixture.flags, said.join("\n")))
}

/// Rewriting alone is quick, so that more programs are seen here.
#[test]
fn most_loads_that_lie_far_apart_are_staged() {
    let shares = Shares::new();
    let failures = parallel::failures(&seeds(REWRITTEN), |seed| {
        let program = program(*seed);
        let outcome = rewritten("staged.c", &program.text)?;
        shares.note(&program.functions, &outcome.plans)?;
        let text = outcome.text.unwrap_or_else(|| program.text.into_bytes());
        match rewritten("staged.c", &String::from_utf8_lossy(&text))?.text {
            Some(again) => Err(format!("a second run goes on:\n{}", support::diff("first", &text, "second", &again))),
            None => Ok(()),
        }
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    println!("{}", shares.table());
    shares.hold(FAMILIES, LEAST_CHANGED);
}

/// Each function prints a line of its own, so that one file shows a mutant of each.
#[test]
fn mutants_of_tiles_are_found() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let counts: Mutex<BTreeMap<&str, [usize; 2]>> = Mutex::new(BTreeMap::new());
    let sample = if support::deep() { DEEP_PROGRAMS } else { PROGRAMS };
    let failures = parallel::failures(&seeds(number("OMPSPLIT_PROGRAMS", sample)), |seed| {
        let name = format!("staged/{seed}.c");
        let program = program(*seed);
        let output = rewritten(&name, &program.text)?.text.unwrap_or_default();
        let output = String::from_utf8_lossy(&output).into_owned();
        let fixture = fixture(&name, &program.text, "-ffp-contract=on")?;
        let run = |variant: &str, text: &str| {
            let program = builder.build(&fixture, variant, text.as_bytes(), &[])?;
            let printed = program.run_parts(&[], How::Grid(oracle::LOGGED))?.stdout;
            Ok::<_, String>(String::from_utf8_lossy(&printed).into_owned())
        };
        let sound = run("sound", &output)?;
        for (what, old, new) in MUTANTS {
            let (head, rest) = output.split_once("static void part").unwrap_or_default();
            let mutants =
                rest.split("static void part").map(|part| format!("static void part{}", mutant(part, old, new)));
            let printed = run("mutant", &format!("{head}{}", mutants.collect::<String>()))?;
            let mut counts = counts.lock().map_err(|error| error.to_string())?;
            for (index, (line, part)) in sound.lines().zip(parts(&output)).enumerate() {
                let [planted, found] = counts.entry(what).or_default();
                if mutant(part, old, new) != part {
                    *planted += 1;
                    *found += usize::from(printed.lines().nth(index) != Some(line));
                }
            }
        }
        Ok(())
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let counts = counts.into_inner().unwrap_or_default();
    println!("{counts:?}");
    let all = counts.values().fold([0, 0], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
    assert!(all[0] > 0 && all[1] * 100 >= all[0] * LEAST_FOUND, "{counts:?}");
}

/// The functions of an output, in order.
fn parts(output: &str) -> Vec<&str> {
    output.split("static void part").skip(1).collect()
}
