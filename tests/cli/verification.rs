//! Verification.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::project::{Project, Ran, SPLITS, assert_contains, assert_split};

#[test]
fn a_missing_compiler_is_an_error_and_nothing_is_written() {
    let project = Project::new(&[("a.c", SPLITS)]);
    for level in ["syntax", "device", "host"] {
        let ran = project.command(&["-i", "--verify", level, "a.c"]).env("PATH", "").output().unwrap();
        let ran = Ran::new(&ran);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert_contains(&ran.stderr, "install");
        assert_eq!(project.read("a.c"), SPLITS.as_bytes());
    }
}

/// Hostile input ends in a message, in time, and never in a panic.
#[test]
fn hostile_files_are_refused_or_fail() {
    let deep = format!("void f(){{\n#pragma omp target\n{}1{};}}\n", "(".repeat(100_000), ")".repeat(100_000));
    let braces = format!("#pragma omp target\n{}", "{".repeat(100_000));
    let texts: [(&str, &[u8]); 5] = [
        ("deep.c", deep.as_bytes()),
        ("braces.c", braces.as_bytes()),
        ("half.c", &SPLITS.as_bytes()[..SPLITS.len() / 2]),
        ("comment.c", b"#pragma omp target\n/* never closed"),
        ("bytes.c", b"\xff\xfe#pragma omp target\xff{\xc3\x28\n}"),
    ];
    let project = Project::new(&[]);
    for (name, text) in texts {
        project.write(name, text);
        let ran = project.run(&[name]);
        assert!(ran.code == 0 && ran.stdout == text || ran.code == 2, "{name}: {} {}", ran.code, ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{name}: {}", ran.stderr);
        assert_eq!(fs::read(Path::new(&project.path(name))).unwrap(), text);
    }
}

/// A fault of the tool itself costs an editor nothing either.
#[test]
fn stdin_comes_back_when_the_tool_itself_fails() {
    let arguments: Vec<std::ffi::OsString> = ["ompsplit", "-", "--no-config"].map(Into::into).into();
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let status = ompsplit::cli::run(
        &arguments,
        &mut ompsplit::cli::Streams {
            stdin: &mut SPLITS.as_bytes(),
            stdout: &mut stdout,
            stderr: &mut stderr,
            stdout_colour: false,
            stderr_colour: false,
        },
        |_, _, _| panic!("a fault"),
    );
    assert_eq!((status.code(), stdout.as_slice()), (2, SPLITS.as_bytes()));
    assert_contains(&String::from_utf8(stderr).unwrap(), "error[OMPS902]");
}

#[test]
fn verified_results_are_written() {
    // `tests/clang.rs` insists on the compiler; here it is enough that the level is wired.
    if Command::new("clang-19").arg("--version").output().is_err() {
        return;
    }
    let project = Project::new(&[("a.c", SPLITS)]);
    let ran = project.expect(0, &["--verify", "device", "a.c"]);
    assert_split(&ran.stdout);
    for part in ["no new error or warning", "before", "after"] {
        assert_contains(&ran.stderr, part);
    }
    project.expect(0, &["-i", "--verify", "syntax", "a.c"]);
    assert_split(&project.read("a.c"));
}
