//! What the tests share: the runner of the suite, and the tool of this repository.
#![allow(dead_code, reason = "each test program uses a part of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Four teams of four threads, so that a wrong widening is seen on a device that has few threads by default.
const GRID: [(&str, &str); 8] = [
    ("OMP_NUM_THREADS", "4"),
    ("KMP_TEAMS_THREAD_LIMIT", "64"),
    ("KMP_DEVICE_THREAD_LIMIT", "64"),
    ("OMP_THREAD_LIMIT", "64"),
    ("OMP_NUM_TEAMS", "4"),
    ("OMP_TEAMS_THREAD_LIMIT", "4"),
    ("OMP_WAIT_POLICY", "passive"),
    ("LIBOMP_NUM_HIDDEN_HELPER_THREADS", "2"),
];

/// The folder of the suite.
pub fn bench() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Runs the runner.
pub fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ompsplit-bench")).args(arguments).envs(GRID).output().expect("the runner starts")
}

/// Runs it, and gives what it prints.
pub fn succeed(arguments: &[&str]) -> String {
    let output = run(arguments);
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{arguments:?}: {}\n{text}", output.status);
    text
}

/// The tool of this repository, built as the tests build it.
pub fn tool() -> PathBuf {
    let repository = bench().join("..");
    let mut command = Command::new("cargo");
    command.args(["build", "--locked", "--quiet", "--bin", "ompsplit"]).current_dir(&repository);
    let status = command.env_remove("CARGO_TARGET_DIR").status().expect("cargo starts");
    assert!(status.success(), "ompsplit does not build");
    repository.join("target/debug/ompsplit")
}

/// A result file.
pub fn json(path: &Path) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(path).expect("a result file")).expect("JSON")
}
