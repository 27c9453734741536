//! Random programs whose loops of the host `fuse` puts inside of their kernels: the output must give the bits of its original, whether the
//! compiler contracts the operations of a statement or not, and mutants of it must not. `OMPSPLIT_PROGRAMS=40 OMPSPLIT_SEED=7 cargo test --test
//! time_loops` tries more files, and other ones.

mod support;

use ompsplit::plan::Pass;
use support::bits::Trials;
use support::time_loops::{FAMILIES, Family, program};
use support::verified::List;

const TRIALS: Trials<Family> = Trials {
    pass: Pass::Fuse,
    // A launch matters beside short kernels alone.
    assumed_iterations: 1024,
    list: List { name: "time_loops", test: "time_loops", decides: &[] },
    mutant_list: List { name: "time_loops_mutants", test: "time_loops", decides: &[] },
    families: &FAMILIES,
    program,
    mutants: &MUTANTS,
    mutant,
};

/// What is done wrong in every function of an output: in the loop inside, whose head begins a line of its own, or in the `if` around the kernel.
const MUTANTS: [(&str, &str, &str); 31] = [
    ("the last pass is lost", "t < steps;", "t + 1 < steps;"),
    ("the last pass is lost, with the bound", "t <= steps;", "t < steps;"),
    ("the last pass of a known number is lost", "t < 4;", "t < 3;"),
    ("the last pass down is lost", "t > 0;", "t > 1;"),
    ("there is one pass more", "t < steps;", "t < steps + 1;"),
    ("the first pass is lost", "int t = 0;", "int t = 1;"),
    ("steps are one", "t += 2)", "t += 1)"),
    ("it is not asked whether there is a pass", IF, "1"),
    ("it is asked the other way", IF, "!(#)"),
    (
        "it is not asked whether an array begins behind another one",
        "<= (__UINTPTR_TYPE__)b",
        ">= 0 || (__UINTPTR_TYPE__)b",
    ),
    (
        "it is not asked whether an array ends before another one",
        "<= (__UINTPTR_TYPE__)a",
        ">= 0 || (__UINTPTR_TYPE__)a",
    ),
    ("the second of two side by side is lost", "part < 2;", "part < 1;"),
    ("the third side by side is lost", "part < 3;", "part < 2;"),
    ("the range of all is that of the shortest", "n > (n - 2) ?", "n < (n - 2) ?"),
    ("one side by side has the range of another one", " < n - 2) {", " < n) {"),
    ("the last element of all is lost", " < most;", " < most - 1;"),
    ("a range begins a row earlier", "if (i >= ", "if (1 + i >= "),
    ("a range begins a column earlier", "j >= 1", "j >= 0"),
    ("a range ends a row later", "i < n - 1 ", "i < n "),
    ("a range ends a column later", "j < COLUMNS - 1)", "j < COLUMNS)"),
    ("the first step reads what no step has computed", "newest != 1", "newest == 1"),
    ("no step takes its turn", "newest = 1;", "newest = 3;"),
    ("a step that takes its turn is forgotten", "newest = 2;", "newest = 3;"),
    ("the last step is not copied back", "(newest == 1)", "(newest == 3)"),
    ("the last step is not copied on", "(newest == 2)", "(newest == 3)"),
    ("the first step finds no copy", "newest == 0", "newest == 3"),
    ("each step is copied", "newest == 0", "newest != 3"),
    ("what lies before the range is taken for computed", "(i > 1 ?", "(i > 0 ?"),
    ("what lies behind the range is taken for computed", " + 1 < n - 1 ?", " + 1 < n ?"),
    ("the last column is taken for computed", " + 1 < COLUMNS - 1 ?", " + 1 < COLUMNS ?"),
    ("arrays seem shorter by an element", " + n) <=", " + n - 1) <="),
];

/// The condition of the `if` in the place of a loop.
const IF: &str = "if";

/// A function with a mistake.
fn mutant(part: &str, old: &str, new: &str) -> String {
    if old != IF {
        return part.replace(old, new);
    }
    let Some((before, rest)) = part.split_once("\n    if (") else { return part.to_owned() };
    let Some((asked, behind)) = rest.split_once('\n') else { return part.to_owned() };
    // A condition of several lines is more than this question.
    let whole = asked.rsplit_once(')').filter(|(_, end)| matches!(end.trim(), "" | "{"));
    let Some((asked, end)) = whole else { return part.to_owned() };
    format!("{before}\n    if ({}){end}\n{behind}", new.replace('#', asked))
}

#[test]
fn loops_inside_give_the_bits_of_their_originals() {
    TRIALS.give_the_same_bits().unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn most_loops_around_kernels_go_inside() {
    println!("{}", TRIALS.are_mostly_changed().unwrap_or_else(|error| panic!("{error}")));
}

#[test]
fn mutants_of_loops_inside_are_found() {
    println!("{}", TRIALS.have_mutants_that_are_found().unwrap_or_else(|error| panic!("{error}")));
}
