//! Runs every fixture and what `ompsplit` makes of it on clang's x86_64 offload device and compares them.
//!
//! `OMPSPLIT_FIXTURE=<part of a name> cargo test --test offload` runs some of them.

mod support;

use std::path::PathBuf;

use support::fixtures::{self, Fixture};
use support::oracle::{Finding, compare};
use support::program::Builder;
use support::{faults, parallel, rewrite};

#[test]
fn every_output_gives_the_results_of_its_original() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let fixtures = fixtures::all().unwrap_or_else(|error| panic!("{error}"));
    let runnable: Vec<_> = fixtures.into_iter().filter(|fixture| fixture.runnable).collect();
    let failures = parallel::failures(&runnable, |fixture| {
        let output = rewrite::fixture(fixture)?;
        let findings = compare(&builder, fixture, &output)?;
        if findings.is_empty() { Ok(()) } else { Err(report(fixture, &findings)) }
    });
    assert!(failures.is_empty(), "{} of {} fail\n\n{}", failures.len(), runnable.len(), failures.join("\n\n"));
}

/// A check that finds nothing wrong with a wrong output would prove nothing.
#[test]
fn every_planted_fault_is_found() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let faults = faults::all();
    let failures = parallel::failures(&faults, |fault| {
        let name = format!("faults/{}", fault.name.replace(' ', "-"));
        let fixture = Fixture::new(&name, PathBuf::from("fault.c"), fault.original.clone().into_bytes())?;
        if fault.expected.is_some() && fault.original == fault.output {
            return Err(format!("{name}: nothing was planted"));
        }
        let findings = compare(&builder, &fixture, fault.output.as_bytes())?;
        let found = match fault.expected {
            None => findings.is_empty(),
            Some(kind) => findings.iter().any(|finding| finding.kind == kind),
        };
        if found { Ok(()) } else { Err(format!("expected {:?}\n{}", fault.expected, report(&fixture, &findings))) }
    });
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

fn report(fixture: &Fixture, findings: &[Finding]) -> String {
    let lines: Vec<_> = findings.iter().map(Finding::to_string).collect();
    format!(
        "== {}\n{}\nonly this one: OMPSPLIT_FIXTURE={} cargo test --test offload",
        fixture.name,
        lines.join("\n"),
        fixture.name
    )
}
