//! Random programs whose iterations `coarsen` groups: the output must give the bits of its original, whether the compiler contracts the operations
//! of a statement or not, and mutants of it must not. `OMPSPLIT_PROGRAMS=40 OMPSPLIT_SEED=7 cargo test --test coarsened` tries more
//! files, and other ones.

mod support;

use std::path::Path;
use std::sync::Arc;

use ompsplit::engine::{self, EngineError, Options, Outcome};
use ompsplit::plan::instructions::{Group, Instruction, Instructions};
use ompsplit::plan::{Decision, Pass};
use ompsplit::source::SourceFile;
use support::bits::{DEEP_PROGRAMS, Trials, compared, fixture, seeds};
use support::coarsened::{FAMILIES, Family, program};
use support::parallel;
use support::program::Builder;
use support::verified::{List, Verified};

const TRIALS: Trials<Family> = Trials {
    pass: Pass::Coarsen,
    assumed_iterations: 1 << 30,
    list: List { name: "coarsened", test: "coarsened", decides: &[] },
    mutant_list: List { name: "coarsened_mutants", test: "coarsened", decides: &[] },
    families: &FAMILIES,
    program,
    mutants: &MUTANTS,
    mutant,
};

/// What was found right before of groups that are told.
const TOLD_LIST: List = List { name: "coarsened_as_told", ..TRIALS.list };

/// What is done wrong in every function of an output. `#` stands for the iterations of a group, or for the length of a block, and `##` for
/// one less.
const MUTANTS: [(&str, &str, &str); 22] = [
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
    ("windows seem to lie behind the first row", "(first >= # ", "(first >= ## "),
    ("windows seem to end before the last row", "- first >= # && ", "- first >= ## && "),
    ("windows seem to lie behind the first column", "&& j >= # ", "&& j >= ## "),
    ("windows seem to end before the last column", "- j >= #)", "- j >= ##)"),
    ("all elements of a group get one value", "= new_c[offset];", "= new_c[0];"),
    ("a value is no part of the old one", "new_c[offset] = c[i * m + j];", "new_c[offset] = 0;"),
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

#[test]
fn groups_give_the_bits_of_their_originals() {
    TRIALS.give_the_same_bits().unwrap_or_else(|error| panic!("{error}"));
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
    let tried: Vec<(u64, Group)> =
        seeds(sample).into_iter().flat_map(|seed| groups.iter().map(move |group| (seed, *group))).collect();
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

#[test]
fn most_iterations_that_share_loads_are_grouped() {
    println!("{}", TRIALS.are_mostly_changed().unwrap_or_else(|error| panic!("{error}")));
}

#[test]
fn mutants_of_groups_are_found() {
    println!("{}", TRIALS.have_mutants_that_are_found().unwrap_or_else(|error| panic!("{error}")));
}
