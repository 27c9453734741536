//! What the tool reads of names is what clang reads, or is not known.

#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test without its input or its compiler has failed"
)]

use std::path::{Path, PathBuf};

use rayon::prelude::*;

#[path = "support/declarations.rs"]
mod declarations;
#[path = "support/model.rs"]
mod model;

use model::{Report, compare};

fn holds(report: &Report) {
    println!("same, unknown, different: {:?}; {} rejected", report.counts, report.rejected.len());
    assert!(report.different.is_empty(), "{}", report.different.join("\n"));
    assert!(report.counts.get("type").is_some_and(|counts| counts[0] > 50), "hardly a type was compared");
}

#[test]
fn names_of_generated_declarations_are_read_as_clang_reads_them() {
    let one = |seed: usize| {
        let (name, text) = declarations::file(seed);
        compare(Path::new(&name), text.into_bytes(), &[])
    };
    let report = (0..12).into_par_iter().map(one).reduce(Report::default, Report::with);
    holds(&report);
    assert!(report.rejected.is_empty(), "{}", report.rejected.join("\n"));
}

/// Of every eighth fixture; `OMPSPLIT_MODEL=1 cargo test --test model` takes all.
#[test]
fn names_of_fixtures_are_read_as_clang_reads_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let walk = ignore::WalkBuilder::new(root).build().flatten().map(ignore::DirEntry::into_path);
    let is_source = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "c" || ending == "cpp");
    let mut files: Vec<PathBuf> = walk.filter(is_source).collect();
    files.sort();
    let every = std::env::var("OMPSPLIT_MODEL").ok().and_then(|number| number.parse().ok()).unwrap_or(8);
    let files: Vec<PathBuf> = files.into_iter().step_by(every).collect();
    let one = |path: &PathBuf| compare(path, std::fs::read(path).expect("a fixture"), &[]);
    holds(&files.par_iter().map(one).reduce(Report::default, Report::with));
}
