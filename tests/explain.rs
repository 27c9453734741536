//! What `ompsplit explain` says of some fixtures, held against snapshots: a region that is split, one that does not pay, one
//! that is refused, one under an assumption.
//!
//! `INSTA_UPDATE=always cargo test --test explain` accepts what it says now; read the diff before you commit it.

use std::path::Path;
use std::process::Command;

const FIXTURES: &[&str] = &[
    "first_example.c",
    "host_time_loop_small_region.c",
    "teams_three_loops_stacked.c",
    "trap04_critical_in_loop.c",
    "cpp_template_kernels.cpp",
    "versioned_lu_decomposition.c",
    "versioned_short_length.c",
    "versioned_already.c",
];

#[test]
fn explanations() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path(root.join("snapshots/explain"));
    for name in FIXTURES {
        let text = std::fs::read_to_string(root.join("fixtures/split_target").join(name)).expect("a fixture");
        let is_target = |line: &str| {
            let words = line.trim_start().strip_prefix("#pragma omp target");
            words.is_some_and(|rest| !rest.trim_start().starts_with("data"))
        };
        let line = text.lines().position(is_target).expect("a target construct") + 1;
        let run = Command::new(env!("CARGO_BIN_EXE_ompsplit"))
            .args(["explain", &format!("{name}:{line}"), "--no-config"])
            .current_dir(root.join("fixtures/split_target"))
            .output()
            .expect("the tool runs");
        let said = String::from_utf8_lossy(&run.stdout);
        // The diff stands in the fixture's own snapshot.
        let said = said.split("--- a/").next().unwrap_or_default();
        settings.bind(|| insta::assert_snapshot!(*name, said));
    }
}
