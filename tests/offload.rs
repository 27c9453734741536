//! Runs every fixture and what `ompsplit` makes of it on clang's x86_64 offload device and compares them.
//!
//! `OMPSPLIT_FIXTURE=<part of a name> cargo test --test offload` runs some of them.

mod support;

use std::path::PathBuf;

use support::fixtures::Fixture;
use support::oracle::{Finding, compare};
use support::program::Builder;
use support::{faults, parallel, rewrite};

#[test]
fn every_output_gives_the_results_of_its_original() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let report = parallel::report("offload", |fixture| {
        if !fixture.runnable {
            return Ok(());
        }
        let output = rewrite::fixture(fixture)?;
        let findings = compare(&builder, fixture, &output)?;
        if findings.is_empty() { Ok(()) } else { Err(shown(&findings)) }
    });
    assert!(report.is_empty(), "{report}");
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
        if found { Ok(()) } else { Err(format!("{name}: expected {:?}, found\n{}", fault.expected, shown(&findings))) }
    });
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

fn shown(findings: &[Finding]) -> String {
    findings.iter().map(Finding::to_string).collect::<Vec<_>>().join("\n")
}
