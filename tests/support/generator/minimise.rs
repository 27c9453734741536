//! Makes a failing program smaller while it still fails.

use super::node::{Node, smaller};
use super::program::Case;

/// The smallest program found by taking one thing away at a time, with at most so many trials. `fails` says whether a
/// program still fails in the way that is looked for; it must say no where the program is no longer valid.
pub fn minimise(case: &Case, trials: usize, fails: impl Fn(&Case) -> bool) -> Case {
    let mut best = case.clone();
    let mut left = trials;
    loop {
        let Some(next) = step(&best, &mut left, &fails) else { return best };
        best = next;
    }
}

fn step(case: &Case, left: &mut usize, fails: &impl Fn(&Case) -> bool) -> Option<Case> {
    let candidates: Vec<Vec<Node>> = smaller(&case.nodes);
    for nodes in candidates {
        *left = left.checked_sub(1)?;
        let candidate = Case { nodes, ..case.clone() };
        if fails(&candidate) {
            return Some(candidate);
        }
    }
    None
}
