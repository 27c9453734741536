//! Random programs whose teams combine results by atomic updates, as `combine` writes them: the output must give what its original gives, and mutants of it must not.
//! `OMPSPLIT_PROGRAMS=40 OMPSPLIT_SEED=7 cargo test --test combined` tries more files, and other ones.

mod support;

use ompsplit::plan::Pass;
use support::bits::Trials;
use support::combined::{FAMILIES, Family, program};
use support::verified::List;

const TRIALS: Trials<Family> = Trials {
    pass: Pass::Combine,
    assumed_iterations: 1 << 30,
    list: List { name: "combined", test: "combined", decides: &[] },
    mutant_list: List { name: "combined_mutants", test: "combined", decides: &[] },
    families: &FAMILIES,
    program,
    mutants: &MUTANTS,
    mutant: |part, old, new| part.replace(old, new),
};

/// What is done wrong in every function of an output.
const MUTANTS: [(&str, &str, &str); 10] = [
    ("a team's part of a sum begins with another number", "_of_team = 0;", "_of_team = 5;"),
    ("common bits begin without the lowest", "_of_team = -1;", "_of_team = -2;"),
    ("common bits begin without the lowest, unsigned", "_of_team = ~0u", "_of_team = ~1u"),
    ("a part is taken from the whole", "all += all_of_team", "all -= all_of_team"),
    ("the other bits are changed", "all ^= all_of_team", "all ^= ~all_of_team"),
    ("the largest is the least", "if (all < all_of_team)", "if (all > all_of_team)"),
    ("the least is the largest", "if (all > all_of_team)", "if (all < all_of_team)"),
    ("what threads found is lost", "reduction(+: all_of_team)", "firstprivate(all_of_team)"),
    ("the whole is not mapped", "map(tofrom: all)", "map(to: all)"),
    ("a second result goes into the first", "other += other_of_team", "all += other_of_team"),
];

#[test]
fn results_are_those_of_the_originals() {
    TRIALS.give_the_same_bits().unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn most_results_are_combined() {
    println!("{}", TRIALS.are_mostly_changed().unwrap_or_else(|error| panic!("{error}")));
}

#[test]
fn mutants_of_combinations_are_found() {
    println!("{}", TRIALS.have_mutants_that_are_found().unwrap_or_else(|error| panic!("{error}")));
}
