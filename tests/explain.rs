//! What `ompsplit explain` says of some fixtures, held against snapshots: a region that is split, one that does not pay, one
//! that is refused, one under an assumption, data that stay.
//!
//! `INSTA_UPDATE=always cargo test --test explain` accepts what it says now; read the diff before you commit it.

use std::path::Path;
use std::process::Command;

const FIXTURES: &[&str] = &[
    "split_target/first_example.c",
    "split_target/host_time_loop_small_region.c",
    "split_target/teams_three_loops_stacked.c",
    "split_target/trap04_critical_in_loop.c",
    "split_target/cpp_template_kernels.cpp",
    "split_target/versioned_lu_decomposition.c",
    "split_target/versioned_short_length.c",
    "split_target/versioned_already.c",
    "hoist_maps/only_where_mapped.c",
    "hoist_maps/rows.c",
    "hoist_maps/temporaries.c",
];

#[test]
fn explanations() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path(root.join("snapshots/explain"));
    for (folder, name) in FIXTURES.iter().filter_map(|path| path.split_once('/')) {
        let folder = root.join("fixtures").join(folder);
        let text = std::fs::read_to_string(folder.join(name)).expect("a fixture");
        let is_target = |line: &str| {
            let words = line.trim_start().strip_prefix("#pragma omp target");
            words.is_some_and(|rest| !rest.trim_start().starts_with("data"))
        };
        let line = text.lines().position(is_target).expect("a target construct") + 1;
        let run = Command::new(env!("CARGO_BIN_EXE_ompsplit"))
            .args(["explain", &format!("{name}:{line}"), "--no-config"])
            .current_dir(folder)
            .output()
            .expect("the tool runs");
        let said = String::from_utf8_lossy(&run.stdout);
        // The diff stands in the fixture's own snapshot.
        let said = said.split("--- a/").next().unwrap_or_default();
        settings.bind(|| insta::assert_snapshot!(name, said));
    }
}
