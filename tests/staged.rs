//! Random programs whose loads `stage` puts into tiles: the output must give the bits of its original, whether the compiler contracts the operations
//! of a statement or not, and mutants of it must not. `OMPSPLIT_PROGRAMS=40 OMPSPLIT_SEED=7 cargo test --test staged` tries more
//! files, and other ones.

mod support;

use ompsplit::plan::Pass;
use support::bits::Trials;
use support::staged::{FAMILIES, Family, program};
use support::verified::List;

const TRIALS: Trials<Family> = Trials {
    pass: Pass::Stage,
    assumed_iterations: 1 << 30,
    list: List { name: "staged", test: "staged", decides: &[] },
    mutant_list: List { name: "staged_mutants", test: "staged", decides: &[] },
    families: &FAMILIES,
    program,
    mutants: &MUTANTS,
    mutant,
};

/// What is done wrong in every function of an output.
const MUTANTS: [(&str, &str, &str); 18] = [
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
    ("wide columns between tiles are lost", "first_j += 64", "first_j += 65"),
    ("elements between parts are lost", "first_k += ", "first_k += 1 + "),
    ("the last element of a part is lost", "end_k = ", "end_k = -1 + "),
    ("all elements of a part are the first", "[k - first_k]", "[0]"),
    ("elements of a part are loaded from the first one", "= first_k + offset_k;", "= first_k;"),
    ("the last group of a tile is lost", "group < 32", "group < 30"),
    ("all rows of a group are the first", "= group + row;", "= group;"),
    ("columns of a lane lie elsewhere", "+ column * 32", "+ column * 31"),
];

/// A function with a mistake.
fn mutant(part: &str, old: &str, new: &str) -> String {
    part.replace(old, new)
}

#[test]
fn tiles_give_the_bits_of_their_originals() {
    TRIALS.give_the_same_bits().unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn most_loads_that_lie_far_apart_are_staged() {
    println!("{}", TRIALS.are_mostly_changed().unwrap_or_else(|error| panic!("{error}")));
}

#[test]
fn mutants_of_tiles_are_found() {
    println!("{}", TRIALS.have_mutants_that_are_found().unwrap_or_else(|error| panic!("{error}")));
}
