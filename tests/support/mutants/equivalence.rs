//! Which mutants mean the same as the output they were made of: the checks of `equivalent.toml`.

mod kernels;
mod loops;
mod maps;
mod texts;

use serde::Deserialize;

use super::Mutant;
use kernels::{
    barrier_follows, dead_variable, host_kernel, idempotent, independent, loop_variable, true_condition, writes_nothing,
};
use loops::{assigned_before_read, not_reached, overwritten, own_element};
use maps::{
    alloc_always, by_rule, constant_scalar, host_only, never_written, present_before, reduction_item, restated,
    through_host, unused, used_once,
};

/// A row of `equivalent.toml`.
#[derive(Clone, Debug, Deserialize)]
pub struct Rule {
    pub check: String,
    pub reason: String,
}

#[derive(Deserialize)]
struct Rules {
    rule: Vec<Rule>,
}

/// The rules; each must have a check here, and a reason.
pub fn rules() -> Result<Vec<Rule>, String> {
    let rules: Rules = toml::from_str(include_str!("equivalent.toml")).map_err(|error| error.to_string())?;
    match rules.rule.iter().find(|rule| rule.reason.is_empty() || check(&rule.check).is_none()) {
        Some(rule) => Err(format!("`{}` has no check or no reason", rule.check)),
        None => Ok(rules.rule),
    }
}

/// The first rule by which a mutant of `original`'s output means the same as the output.
pub fn equivalent(rules: &[Rule], original: &str, mutant: &Mutant) -> Option<String> {
    let holds = |rule: &&Rule| check(&rule.check).is_some_and(|check| check(original, mutant));
    rules.iter().find(holds).map(|rule| rule.check.clone())
}

type Check = fn(&str, &Mutant) -> bool;

fn check(name: &str) -> Option<Check> {
    Some(match name {
        "restated" => restated,
        "present-before" => present_before,
        "unused" => unused,
        "never-written" => never_written,
        "independent" => independent,
        "true-condition" => true_condition,
        "host-only" => host_only,
        "host-kernel" => host_kernel,
        "dead-variable" => dead_variable,
        "used-once" => used_once,
        "reduction-item" => reduction_item,
        "idempotent" => idempotent,
        "constant-scalar" => constant_scalar,
        "alloc-always" => alloc_always,
        "writes-nothing" => writes_nothing,
        "overwritten" => overwritten,
        "own-element" => own_element,
        "assigned-before-read" => assigned_before_read,
        "not-reached" => not_reached,
        "by-rule" => by_rule,
        "through-host" => through_host,
        "loop-variable" => loop_variable,
        "barrier-follows" => barrier_follows,
        _ => return None,
    })
}
