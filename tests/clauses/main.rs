//! Where each clause goes when `split` makes combined constructs of a region's directives: a case for each row of the
//! table in `transformer/src/transforms/split_target/shape/clause_rules.rs`, on the region's directives and on a loop's.
//!
//! A case gives directives, and the directives that come of them or the rule that refuses. Three directives are a region
//! with two loops, two are stacked on one loop, one is combined. The loops use pointers that need no map, so that only
//! the clause in question is seen.

#![allow(clippy::panic, clippy::unwrap_used)]

mod case;
mod data;
mod execution;
mod iterations;
mod sharing;

use std::collections::BTreeSet;

use ompsplit::engine::{self, Options};
use ompsplit::plan::Decision;
use ompsplit::plan::Pass;
use ompsplit::source::SourceFile;

use self::case::{Becomes::Refused, Becomes::Text, Case, Place, Place::Loop, Place::Region};

/// Every clause that meets a target region: each has a case.
const CLAUSES: &[&str] = &[
    "map",
    "private",
    "firstprivate",
    "shared",
    "default",
    "defaultmap",
    "reduction",
    "in_reduction",
    "lastprivate",
    "linear",
    "collapse",
    "schedule",
    "dist_schedule",
    "order",
    "bind",
    "safelen",
    "simdlen",
    "aligned",
    "nontemporal",
    "num_threads",
    "num_teams",
    "thread_limit",
    "device",
    "if",
    "is_device_ptr",
    "has_device_addr",
    "use_device_ptr",
    "allocate",
    "uses_allocators",
    "nowait",
    "depend",
    "proc_bind",
];

fn cases() -> impl Iterator<Item = &'static Case> {
    [data::CASES, sharing::CASES, iterations::CASES, execution::CASES].into_iter().flatten()
}

/// The program of a case.
fn program(case: &Case) -> String {
    let mut text = String::from("int pick(void);\n");
    text.push_str("void f(int n, int k, double s, double *a, double *b, double (*c)[64]) {\n  int m = 0, j = 0;\n");
    let (outer, rest, second) = match case.given {
        // `parallel` with `for` on its own below it is one loop as well.
        [outer, first, second] if !second.starts_with("for") => (outer, vec![*first], Some(second)),
        [outer, rest @ ..] => (outer, rest.to_vec(), None),
        [] => panic!("a case without directives"),
    };
    text.push_str(&format!("  #pragma omp {outer}\n"));
    if second.is_some() {
        text.push_str("  {\n");
    }
    for directive in rest {
        text.push_str(&format!("  #pragma omp {directive}\n"));
    }
    text.push_str(&format!("  {}\n", case.body));
    if let Some(second) = second {
        text.push_str(&format!("  #pragma omp {second}\n  for (int i = 0; i < n; i++) a[i] += 1.0;\n  }}\n"));
    }
    text.push_str("}\n");
    text
}

/// The directives of a text without `#pragma omp`, and the constants before them, each on one line.
fn directives(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let taken = lines.filter_map(|line| match line.strip_prefix("#pragma omp ") {
        Some(directive) => Some(directive.to_owned()),
        None => line.starts_with("const ").then_some(line),
    });
    taken.collect()
}

/// A directive without the `thread_limit` that a kernel gets where the original chooses no grid; none if it lacks it there,
/// or has it elsewhere.
fn without_default_grid(case: &Case, line: &str) -> Option<String> {
    let chooses = |directive: &&str| directive.contains("num_teams") || directive.contains("thread_limit");
    let wanted = line.starts_with("target teams") && !case.given.iter().any(chooses);
    let parts: Vec<&str> = line.split(" thread_limit(128)").collect();
    (parts.len() == 1 + usize::from(wanted)).then(|| parts.concat())
}

/// What the tool makes of a case, if it is not what the case says.
fn difference(case: &Case) -> Option<String> {
    let text = program(case);
    let file = SourceFile::new("case.c", text.clone().into_bytes());
    let options = Options { passes: vec![Pass::Split].into(), assumed_iterations: 1 << 30, ..Options::default() };
    let outcome = engine::run(&file, &[], &options).unwrap();
    let reasons = outcome.plans.iter().flat_map(|plan| &plan.reasons);
    let ids: BTreeSet<&str> = reasons.map(|reason| reason.code.id()).collect();
    let refused = outcome.plans.iter().any(|plan| plan.decision == Decision::Refuse);
    let got = outcome.text.map(|text| directives(&String::from_utf8(text).unwrap()));
    let right = match (&got, case.becomes) {
        (Some(got), Text(expected)) => {
            got.iter().map(|line| without_default_grid(case, line)).collect::<Option<Vec<_>>>().as_deref()
                == Some(&expected.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>())
        }
        (None, Refused(id)) => refused && ids.contains(id),
        _ => false,
    };
    (!right).then(|| format!("{} on {:?}: {:?}\n  got {got:#?} {ids:?}", case.clause, case.place, case.given))
}

#[test]
fn every_clause_goes_where_its_case_says() {
    let wrong: Vec<String> = cases().filter_map(difference).collect();
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), cases().count(), wrong.join("\n"));
}

#[test]
fn every_case_holds_its_clause() {
    for case in cases() {
        let holds = |directive: &&str| directive.split([' ', '(']).any(|word| word == case.clause);
        assert!(case.given.iter().any(holds), "{} is not in {:?}", case.clause, case.given);
    }
}

#[test]
fn every_clause_has_a_case() {
    let covered: BTreeSet<&str> = cases().map(|case| case.clause).collect();
    let missing: Vec<_> = CLAUSES.iter().filter(|clause| !covered.contains(**clause)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// `IsDevicePtr` as `is_device_ptr`.
fn spelling(variant: &str) -> String {
    let mut text = String::new();
    for c in variant.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

/// The rows of the table: clause, rule on the region's directives, rule on a loop's.
fn rows() -> Vec<(String, [(Place, String); 2])> {
    let source = include_str!("../../transformer/src/transforms/split_target/shape/clause_rules.rs");
    let rows = source.lines().filter_map(|line| line.trim().strip_prefix("row(ClauseName::")?.strip_suffix("),"));
    let rows = rows.map(|row| {
        let parts: Vec<&str> = row.split(", ").map(|part| part.trim_start_matches("Rule::")).collect();
        let [clause, region, own] = parts[..] else { panic!("{row}") };
        (spelling(clause), [(Region, region.to_owned()), (Loop, own.to_owned())])
    });
    rows.collect()
}

#[test]
fn every_row_of_the_table_has_cases_that_show_its_rules() {
    let rows = rows();
    assert!(rows.len() > 25, "only {} rows were found", rows.len());
    let mut missing = Vec::new();
    for (clause, rules) in &rows {
        for (place, rule) in rules {
            let mut own = cases().filter(|case| case.clause == *clause && case.place == *place);
            let shown = own.any(|case| match case.becomes {
                Refused(_) => rule == "Refused",
                Text(_) => rule != "Refused",
            });
            if !shown {
                missing.push(format!("{clause} on {place:?}: {rule}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// A clause that depends on the form must be shown in more than one.
#[test]
fn rules_with_exceptions_show_them() {
    for (clause, rules) in rows() {
        for (place, rule) in rules.iter().filter(|(_, rule)| rule == "Groups" || rule == "OnTask") {
            let own: Vec<&Case> = cases().filter(|case| case.clause == clause && case.place == *place).collect();
            let refuses = own.iter().any(|case| matches!(case.becomes, Refused(_)));
            let writes = own.iter().any(|case| matches!(case.becomes, Text(_)));
            assert!(refuses && writes, "{clause} on {place:?}: {rule}");
        }
    }
}
