//! A window of tiles runs where whole arrays do not fit into the device's memory.

mod support;

use support::fixtures::Fixture;
use support::program::{Builder, GEOMETRIES, How, Run};
use support::{fixtures, rewrite};

/// The arrays of the fixture take 192 MiB together, a window of two tiles 24.
const LIMIT: &str = "100";

#[test]
fn arrays_larger_than_the_memory_of_the_device_run_in_a_window() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let all = fixtures::all().unwrap_or_else(|error| panic!("{error}"));
    let fixture = all.into_iter().find(|it| it.name == "pipeline_loop/window_limit.c").expect("the fixture");
    let output = rewrite::fixture(&fixture).expect("an output");
    let whole = run(&builder, &fixture, "before", &fixture.text).expect("a run");
    assert_ne!(whole.end, "exit 0", "whole arrays fit: the limit is too high");
    assert!(whole.stderr.contains("Failure to allocate device memory"), "{}", whole.stderr);
    let window = run(&builder, &fixture, "after", &output).expect("a run");
    assert_eq!(window.end, "exit 0", "{}", window.stderr);
    assert_eq!(String::from_utf8_lossy(&window.stdout).trim(), expected().to_string());
}

fn run(builder: &Builder, fixture: &Fixture, variant: &str, text: &[u8]) -> Result<Run, String> {
    let (first, _) = GEOMETRIES.first().ok_or("no grid")?;
    builder.build(fixture, variant, text, &[])?.run_parts(&[LIMIT.to_owned()], How::Grid(*first))
}

/// What the program computes.
fn expected() -> i64 {
    (0..24_i64 << 20).map(|i| 3 * (i % 1009) * (i % 7 + 1)).sum()
}
