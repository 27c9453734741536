//! Random programs whose teams combine results by atomic updates, as `combine` writes them in the place of reductions, and `reduce` in the place of updates in each
//! iteration: the output must give what its original gives, and mutants of it must not.
//! `OMPSPLIT_PROGRAMS=40 OMPSPLIT_SEED=7 cargo test --test combined` tries more files, and other ones.

mod support;

use ompsplit::plan::Pass;
use support::bits::Trials;
use support::combined::{FAMILIES, Family, SHARED, program, program_of_shared};
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

/// The same where each iteration makes an atomic update, or forms the sum of a row or a column.
const SHARED_BY_TEAMS: Trials<Family> = Trials {
    pass: Pass::Reduce,
    list: List { name: "shared", ..TRIALS.list },
    mutant_list: List { name: "shared_mutants", ..TRIALS.mutant_list },
    families: &SHARED,
    program: program_of_shared,
    mutants: &MUTANTS_SHARED_BY_TEAMS,
    ..TRIALS
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

const MUTANTS_SHARED_BY_TEAMS: [(&str, &str, &str); 21] = [
    ("a team's part of a sum begins with another number", "_of_team = 0;", "_of_team = 5;"),
    ("common bits begin without the lowest", "_of_team = -1;", "_of_team = -2;"),
    ("the part of a variable is taken away", "all += all_of_team", "all -= all_of_team"),
    ("the part of an element is taken away", "] += all_of_team", "] -= all_of_team"),
    ("another element is updated", "all[1] += all_of_team", "all[0] += all_of_team"),
    ("the other bits are changed", "^= all_of_team", "^= ~all_of_team"),
    ("what threads found is lost", "reduction(+: all_of_team", "firstprivate(all_of_team"),
    ("a part is left out where there is one", "_of_team != 0)", "_of_team == 0)"),
    ("common bits are left out", "_of_team != -1)", "_of_team == -1)"),
    ("a second result is taken away", "other += other_of_team", "other -= other_of_team"),
    ("columns are left out", "first += 16", "first += 17"),
    ("a part leaves out iterations", "j += 64", "j += 65"),
    ("a part is left out", "int part = 0; part < 64", "int part = 1; part < 64"),
    ("a part is that of the next column", "= first + offset", "= first + offset / 2 * 2"),
    ("parts are not added", "sum += sum_of_part[part][offset]", "sum = sum_of_part[part][offset]"),
    ("a part of a row leaves out iterations", "j += 128", "j += 129"),
    ("a part of a row is left out", "int part = 0; part < 128", "int part = 1; part < 128"),
    ("all parts of a row begin with its first element", "int j = part;", "int j = 0;"),
    ("the first serial loop is shorter", "; q++)", " - 1; q++)"),
    ("the other serial loop is shorter", "; t++)", " - 1; t++)"),
    ("a part is taken away", "ends += ends_of_part[part][offset]", "ends -= ends_of_part[part][offset]"),
];

#[test]
fn results_are_those_of_the_originals() {
    for trials in [TRIALS, SHARED_BY_TEAMS] {
        trials.give_the_same_bits().unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn most_results_are_combined() {
    for trials in [TRIALS, SHARED_BY_TEAMS] {
        println!("{}", trials.are_mostly_changed().unwrap_or_else(|error| panic!("{error}")));
    }
}

#[test]
fn mutants_of_combinations_are_found() {
    for trials in [TRIALS, SHARED_BY_TEAMS] {
        println!("{}", trials.have_mutants_that_are_found().unwrap_or_else(|error| panic!("{error}")));
    }
}
