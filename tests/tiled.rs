//! Random programs whose collapsed loops `tile` puts into tiles: the output must give the bits of its original, whether the compiler contracts the
//! operations of a statement or not, and mutants of it must not. `OMPSPLIT_PROGRAMS=40 OMPSPLIT_SEED=7 cargo test --test tiled` tries more
//! files, and other ones.

mod support;

use ompsplit::plan::Pass;
use support::bits::Trials;
use support::tiled::{FAMILIES, Family, program};
use support::verified::List;

const TRIALS: Trials<Family> = Trials {
    pass: Pass::Tile,
    assumed_iterations: 1 << 30,
    list: List { name: "tiled", test: "tiled", decides: &[] },
    mutant_list: List { name: "tiled_mutants", test: "tiled", decides: &[] },
    families: &FAMILIES,
    program,
    mutants: &MUTANTS,
    mutant,
};

/// What is done wrong in every function of an output.
const MUTANTS: [(&str, &str, &str); 3] = [
    ("a loop over the rows of a tile is collapsed as well", "collapse(2)", "collapse(3)"),
    ("a loop over the terms of a tile is collapsed as well", "for map(", "for collapse(2) map("),
    ("a loop over the planes of a tile is collapsed as well", "collapse(3)", "collapse(4)"),
];

/// A function with a mistake, if it has tiles.
fn mutant(part: &str, old: &str, new: &str) -> String {
    if part.contains("omp tile") { part.replace(old, new) } else { part.to_owned() }
}

#[test]
fn tiles_give_the_bits_of_their_originals() {
    TRIALS.give_the_same_bits().unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn most_nests_are_tiled() {
    println!("{}", TRIALS.are_mostly_changed().unwrap_or_else(|error| panic!("{error}")));
}

#[test]
fn mutants_of_tiles_are_found() {
    println!("{}", TRIALS.have_mutants_that_are_found().unwrap_or_else(|error| panic!("{error}")));
}
