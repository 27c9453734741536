//! Runs every fixture and what `ompsplit` makes of it on clang's x86_64 offload device and compares them.
//!
//! `OMPSPLIT_FIXTURE=<part of a name> cargo test --test offload` runs some of them.

mod support;

use support::oracle::{Finding, compare};
use support::program::Builder;
use support::{parallel, rewrite};

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

fn shown(findings: &[Finding]) -> String {
    findings.iter().map(Finding::to_string).collect::<Vec<_>>().join("\n")
}
