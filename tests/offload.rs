//! Runs every fixture and what `ompsplit` makes of it on clang's x86_64 offload device and compares them.
//!
//! Outputs that `tests/verified/offload.txt` knows are not run again: `OMPSPLIT_DEEP=1` runs all, `OMPSPLIT_RECORD=1` writes the list anew,
//! `OMPSPLIT_FIXTURE=<part of a name>` runs some.

mod support;

use support::oracle::{Finding, compare};
use support::program::Builder;
use support::questions::both_ways;
use support::verified::{List, Verified};
use support::{parallel, rewrite};

const LIST: List = List { name: "offload", test: "offload", decides: &[] };

#[test]
fn every_output_gives_the_results_of_its_original() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let verified = Verified::read(LIST);
    let report = parallel::report("offload", |fixture| {
        if !fixture.runnable {
            return Ok(());
        }
        let output = rewrite::fixture(fixture)?;
        verified.or_check(&builder, fixture, &output, || {
            for asked in both_ways(&output) {
                let findings = compare(&builder, fixture, &asked)?;
                if !findings.is_empty() {
                    return Err(shown(&findings));
                }
            }
            Ok(())
        })
    });
    assert!(report.is_empty(), "{report}");
    verified.finish().unwrap_or_else(|error| panic!("{error}"));
}

fn shown(findings: &[Finding]) -> String {
    findings.iter().map(Finding::to_string).collect::<Vec<_>>().join("\n")
}
