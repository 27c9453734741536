//! Random programs whose iterations `coarsen` groups: the output must give the bits of its original, whether the compiler contracts the operations
//! of a statement or not, and mutants of it must not. `OMPSPLIT_PROGRAMS=40 OMPSPLIT_SEED=7 cargo test --test coarsened` tries more
//! files, and other ones.

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use ompsplit::device::DeviceProfile;
use ompsplit::engine::{self, EngineError, Options, Outcome};
use ompsplit::plan::instructions::{Group, Instruction, Instructions};
use ompsplit::plan::{Decision, Pass};
use ompsplit::source::SourceFile;
use support::coarsened::{FAMILIES, program};
use support::fixtures::Fixture;
use support::oracle::{self, Finding};
use support::program::{Builder, How};
use support::shares::Shares;
use support::verified::{List, Verified};
use support::{number, parallel};

/// What was found right before.
const LIST: List = List { name: "coarsened", test: "coarsened", decides: &[] };
const TOLD_LIST: List = List { name: "coarsened_as_told", ..LIST };

/// The files of the sample, and of the deep one.
const PROGRAMS: u64 = 2;
const DEEP_PROGRAMS: u64 = 20;

/// How many files are rewritten where that is all, and what must be changed of each family, in percent.
const REWRITTEN: u64 = 20;
const LEAST_CHANGED: usize = 60;

/// What of the mutants must be found, in percent.
const LEAST_FOUND: usize = 95;

/// What is done wrong in every function of an output. `#` stands for the iterations of a group, or for the length of a block, and `##` for
/// one less.
const MUTANTS: [(&str, &str, &str); 16] = [
    ("every iteration of a group is the first", "= first + offset;", "= first;"),
    ("the last iteration of a group is lost", "; offset++)", " - 1; offset++)"),
    ("a group begins where it is too long", "- first >= #)", "- first >= ##)"),
    ("what is left over begins one later", " = first; i", " = first + 1; i"),
    ("groups overlap", "first += #)", "first += ##)"),
    ("all sums of a group are one", "[offset] ", "[0] "),
    ("every row of a tile is the first", "= first_i + offset_i;", "= first_i;"),
    ("the last row of a tile is lost", "; offset_i++)", " - 1; offset_i++)"),
    ("a tile begins where it is too high", "- first_i >= # ", "- first_i >= ## "),
    ("a block begins where it is too long", "- block >= #)", "- block >= ##)"),
    ("blocks overlap", "block += #)", "block += ##)"),
    ("columns of a tile lie beside each other", " + 32 * offset", " + offset"),
    ("all threads of a warp are the first", "block + lane + ", "block + "),
    ("a thread of a warp is lost", "lane < 32;", "lane < 31;"),
    ("what is left over has no rows", "(offset_i < ", "(offset_i + 1 < "),
    ("all sums of a row are one", "[offset_j] ", "[0] "),
];

/// A function with a mistake, in groups and blocks of any length that is written.
fn mutant(part: &str, old: &str, new: &str) -> String {
    let numbers =
        ["512", "511", "256", "255", "128", "127", "64", "63", "32", "31", "16", "15", "8", "7", "4", "3", "2", "1"];
    let all = numbers.iter().fold(part.to_owned(), |text, number| {
        let less = number.parse().map_or(0, |number: u32| number - 1).to_string();
        // Each is exchanged once: what was exchanged does not end the expression.
        let less = new.replace("##", &format!("{less} + 0"));
        text.replace(&old.replace('#', number), &less)
    });
    if old.contains('#') { all } else { part.replace(old, new) }
}

fn seeds(count: u64) -> Vec<u64> {
    let first = number("OMPSPLIT_SEED", 1) * 10_000;
    (first..first + count).collect()
}

fn rewritten(name: &str, text: &str) -> Result<Outcome, String> {
    let file = SourceFile::new(Path::new(name), text.as_bytes().to_vec());
    let device = DeviceProfile::named("h200");
    let options =
        Options { passes: vec![Pass::Coarsen].into(), device, assumed_iterations: 1 << 30, ..Options::default() };
    engine::run(&file, &[], &options).map_err(|error| format!("{name}: {error}"))
}

/// The file with groups of so many iterations of one of the loops of each kernel, whatever is predicted of them.
fn told(name: &str, text: &str, group: Group) -> Result<Outcome, String> {
    let file = SourceFile::new(Path::new(name), text.as_bytes().to_vec());
    let failed = |error: EngineError| format!("{name}: {error}");
    let kernels = engine::kernels(&file, &[], &Options::default(), &[]).map_err(failed)?;
    let instruction = Instruction { group: Some(group), ..Instruction::default() };
    let told = kernels.into_iter().map(|kernel| (kernel.hash, instruction)).collect();
    let instructions = Arc::new(Instructions { told, ..Instructions::default() });
    let options = Options { passes: vec![Pass::Coarsen].into(), instructions, ..Options::default() };
    engine::run(&file, &[], &options).map_err(failed)
}

fn fixture(name: &str, text: &str, contract: &str) -> Result<Fixture, String> {
    let mut fixture = Fixture::new(name, Path::new(name).to_owned(), text.as_bytes().to_vec())?;
    let flags = ["-O1", "-mfma", contract];
    fixture.flags.extend(flags.iter().map(|flag| (*flag).to_owned()));
    Ok(fixture)
}

#[test]
fn groups_give_the_bits_of_their_originals() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let sample = if support::deep() { DEEP_PROGRAMS } else { PROGRAMS };
    let verified = Verified::read(LIST);
    let mut failures = parallel::failures(&seeds(number("OMPSPLIT_PROGRAMS", sample)), |seed| {
        let name = format!("coarsened/{seed}.c");
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

/// Also those that nobody would choose by the model: of any loop, and too long for its iterations.
#[test]
fn groups_that_are_told_give_the_bits_of_their_originals() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let sample = if support::deep() { DEEP_PROGRAMS } else { 1 };
    let of_one = [(0, 8), (1, 2), (1, 32)].map(|(index, factor)| Group::of(Some(index), factor));
    let apart = [(0, 2), (1, 4)].map(|(index, factor)| Group { apart: 32, ..Group::of(Some(index), factor) });
    let tiles = [(4, 2, 1), (2, 4, 32), (8, 8, 32)].map(|(factor, columns, apart)| Group {
        columns,
        apart,
        ..Group::of(Some(0), factor)
    });
    let groups = of_one.into_iter().chain(apart).chain(tiles).collect::<Vec<_>>();
    let tried: Vec<(u64, Group)> = seeds(number("OMPSPLIT_PROGRAMS", sample))
        .into_iter()
        .flat_map(|seed| groups.iter().map(move |group| (seed, *group)))
        .collect();
    let verified = Verified::read(TOLD_LIST);
    let mut failures = parallel::failures(&tried, |(seed, group)| {
        // A name of its own, as the programs of a name are built in one place.
        let Group { loop_index, factor, columns, apart } = *group;
        let name = format!("coarsened/{seed}-{}-{factor}x{columns}-{apart}.c", loop_index.unwrap_or(0));
        let program = program(*seed);
        let outcome = told(&name, &program.text, *group)?;
        let changed = outcome.plans.iter().filter(|plan| matches!(plan.decision, Decision::Apply(_))).count();
        let Some(output) = outcome.text.filter(|_| changed >= 3) else {
            return Err(format!("{name} {group:?}: only {changed} are changed"));
        };
        let fixture = fixture(&name, &program.text, "-ffp-contract=on")?;
        verified.or_check(&builder, &fixture, &output, || compared(&builder, &fixture, &output))
    });
    failures.extend(verified.finish().err());
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Rewriting alone is quick, so that more programs are seen here.
#[test]
fn most_iterations_that_share_loads_are_grouped() {
    let shares = Shares::new();
    let failures = parallel::failures(&seeds(REWRITTEN), |seed| {
        let program = program(*seed);
        let outcome = rewritten("coarsened.c", &program.text)?;
        shares.note(&program.functions, &outcome.plans)?;
        let text = outcome.text.unwrap_or_else(|| program.text.into_bytes());
        match rewritten("coarsened.c", &String::from_utf8_lossy(&text))?.text {
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
fn mutants_of_groups_are_found() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let counts: Mutex<BTreeMap<&str, [usize; 2]>> = Mutex::new(BTreeMap::new());
    let sample = if support::deep() { DEEP_PROGRAMS } else { PROGRAMS };
    let failures = parallel::failures(&seeds(number("OMPSPLIT_PROGRAMS", sample)), |seed| {
        let name = format!("coarsened/{seed}.c");
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
