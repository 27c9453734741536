//! The clauses of the constructs around the kernels: `target data`, and a task if the region may be deferred or depends
//! on other tasks.

use crate::syntax::ClauseName;
use crate::transforms::split_target::facts::Facts;
use crate::transforms::split_target::kernels::NewClause;
use crate::transforms::split_target::shape::clauses::RegionClauses;
use crate::transforms::split_target::shape::{Form, Shape};

/// Maps all of `*this`.
pub(super) const THIS: &str = "map(tofrom: this[:1])";

/// The clauses of `target data`. Empty if it would map nothing, or for a single loop.
pub(super) fn data_clauses<'a>(shape: &Shape, facts: &'a Facts) -> Vec<NewClause<'a>> {
    if shape.form == Form::OneLoop {
        return Vec::new();
    }
    let data = &facts.data;
    // The whole object stands before its members; otherwise a compiler takes them for separate objects.
    let this = data.maps_this().then(|| NewClause::Fixed(THIS.to_owned()));
    let mut clauses: Vec<NewClause<'a>> = this.into_iter().collect();
    let maps = facts.clauses.maps.iter();
    clauses.extend(maps.map(|clause| NewClause::Map {
        clause,
        items: clause.items().iter().collect(),
        restated: false,
    }));
    let heads = [("to", "map(to: "), ("from", "map(from: "), ("alloc", "map(alloc: "), ("tofrom", "map(tofrom: ")];
    for (map_type, head) in heads {
        let implicit = data.implicit.iter().filter(|(name, kind)| *kind == map_type && name != "this");
        let implicit = implicit.map(|(name, _)| name.as_str());
        let reduced = data.mapped_reductions.iter().map(String::as_str).filter(|_| map_type == "tofrom");
        clauses.extend(NewClause::names(head, implicit.chain(reduced)));
    }
    if !clauses.is_empty() {
        clauses.extend(where_it_runs(facts, "if("));
    }
    clauses
}

/// The region's `if` and `device` clauses; `head` is the text before the expression of the `if`.
pub(super) fn where_it_runs(facts: &Facts, head: &'static str) -> Vec<NewClause<'static>> {
    let RegionClauses { condition, device, .. } = &facts.clauses;
    let clauses = condition.iter().map(|clause| (head, clause)).chain(device.iter().map(|clause| ("device(", clause)));
    clauses.filter_map(|(head, clause)| Some(NewClause::Expression(head, clause.expression()?))).collect()
}

/// The clauses of the task. Empty if there is no task.
pub(super) fn task_clauses(facts: &Facts) -> Vec<NewClause<'_>> {
    let of_region = &facts.clauses.task;
    if of_region.is_empty() {
        return Vec::new();
    }
    let mut clauses = Vec::new();
    // Without `nowait` the region is finished when the program continues.
    if !of_region.iter().any(|clause| clause.name == ClauseName::Nowait) {
        clauses.push(NewClause::Fixed("if(0)".to_owned()));
    }
    let lists = &facts.data.task;
    for (head, names) in [("firstprivate(", &lists.firstprivate), ("shared(", &lists.shared)] {
        clauses.extend(NewClause::names(head, names.iter().map(String::as_str)));
    }
    clauses.extend(of_region.iter().filter(|clause| clause.name == ClauseName::Depend).map(NewClause::Whole));
    clauses
}
