//! Output and exit codes.

use std::process::Command;

use crate::project::{PLAIN, Project, REFUSED, SPLITS, assert_contains, assert_split};

#[test]
fn one_path_goes_to_stdout_and_diagnostics_to_stderr() {
    let project = Project::new(&[("a.c", SPLITS)]);
    let ran = project.expect(0, &["a.c"]);
    assert_split(&ran.stdout);
    assert_contains(&ran.stderr, "a.c:2:1: split into 2 kernels");
    assert_contains(&ran.stderr, "\n1 of 1 file changed\n");
    assert_contains(&project.expect(0, &["-v", "a.c"]).stderr, "help: split into 2 kernels");
    assert_eq!(project.read("a.c"), SPLITS.as_bytes());
}

#[test]
fn an_unchanged_file_is_printed_as_it_is() {
    let project = Project::new(&[]);
    let text = b"\xef\xbb\xbfint g; /* \xe9 */\r\nint h;";
    project.write("a.c", text);
    let ran = project.expect(0, &["a.c"]);
    assert_eq!((ran.stdout.as_slice(), ran.stderr.as_str()), (text.as_slice(), ""));
}

#[test]
fn several_paths_and_folders_need_a_mode() {
    let project = Project::new(&[("a.c", SPLITS), ("b.c", SPLITS)]);
    for paths in [&["a.c", "b.c"][..], &["."][..]] {
        let ran = project.expect(2, paths);
        assert!(ran.stdout.is_empty());
        assert_contains(&ran.stderr, "several files need --in-place, --check or --diff");
    }
}

#[test]
fn in_place_rewrites_several_files() {
    let project = Project::new(&[("a.c", SPLITS), ("b.c", SPLITS), ("c.c", PLAIN)]);
    let ran = project.expect(0, &["a.c", "b.c", "c.c", "--in-place"]);
    assert!(ran.stdout.is_empty());
    assert_split(&project.read("a.c"));
    assert_split(&project.read("b.c"));
    assert_eq!(project.read("c.c"), PLAIN.as_bytes());
}

#[test]
fn a_second_run_changes_nothing() {
    let project = Project::new(&[("a.c", SPLITS)]);
    project.expect(0, &["-i", "a.c"]);
    let first = project.read("a.c");
    project.expect(0, &["--check", "a.c"]);
    project.expect(0, &["-i", "a.c"]);
    assert_eq!(project.read("a.c"), first);
}

#[test]
fn check_writes_nothing_and_exits_1() {
    let project = Project::new(&[("a.c", SPLITS), ("b.c", PLAIN)]);
    let ran = project.expect(1, &["--check", "a.c", "b.c"]);
    assert!(ran.stdout.is_empty());
    assert_contains(&ran.stderr, "a.c:2:1: split into 2 kernels");
    assert_contains(&ran.stderr, "1 of 2 files would change");
    assert!(!ran.stderr.contains("b.c"));
    assert_eq!(project.read("a.c"), SPLITS.as_bytes());
    project.expect(0, &["--check", "b.c"]);
}

#[test]
fn diff_can_be_applied_by_patch() {
    let project = Project::new(&[("a.c", SPLITS), ("b.c", PLAIN)]);
    let ran = project.expect(1, &["--diff", "a.c", "b.c"]);
    assert!(ran.text().starts_with("--- a/a.c\n+++ b/a.c\n@@ -1,"), "{}", ran.text());
    assert!(!ran.text().contains("b.c"));
    assert_eq!(project.read("a.c"), SPLITS.as_bytes());
    project.write("x.diff", &ran.stdout);
    let patch = Command::new("patch").args(["-p1", "-i", "x.diff"]).current_dir(project.folder.path()).output();
    // Where `patch` is not installed, the other assertions stand alone.
    if let Ok(patch) = patch {
        assert!(patch.status.success(), "{}", String::from_utf8_lossy(&patch.stdout));
        assert_split(&project.read("a.c"));
        project.expect(0, &["--check", "a.c"]);
    }
    project.expect(0, &["--diff", "b.c"]);
}

#[test]
fn a_refusal_is_a_warning_and_exits_0_unless_asked() {
    let project = Project::new(&[("a.c", REFUSED)]);
    let ran = project.expect(0, &["-v", "a.c"]);
    assert_eq!(ran.stdout, REFUSED.as_bytes());
    assert_contains(&ran.stderr, "warning[OMPS101]");
    project.expect(1, &["--error-on-refusal", "a.c"]);
    project.expect(0, &["--check", "a.c"]);
}

#[test]
fn failures_exit_2_while_the_other_files_are_written_and_2_wins_over_1() {
    let project = Project::new(&[("a.c", SPLITS), ("nul.c", "int a;\0\n")]);
    let ran = project.expect(2, &["--check", "missing.c", "a.c", "nul.c"]);
    assert_contains(&ran.stderr, "missing.c: ");
    assert_contains(&ran.stderr, "nul.c: ");
    project.expect(2, &["-i", "missing.c", "a.c", "nul.c"]);
    assert_split(&project.read("a.c"));
    assert_eq!(project.read("nul.c"), b"int a;\0\n");
}

#[test]
fn wrong_usage_exits_2() {
    let project = Project::new(&[("a.c", SPLITS)]);
    for arguments in [
        &[][..],
        &["--no-such-flag", "a.c"],
        &["-i", "--check", "a.c"],
        &["-i", "--diff", "a.c"],
        &["--stdin-filename", "x.c", "a.c"],
        &["--lines", "0:3", "a.c"],
        &["--lines", "4:3", "a.c"],
        &["--lines", "x", "a.c"],
        &["--lines", "1:2", "--check", "."],
    ] {
        let ran = project.expect(2, arguments);
        assert!(ran.stdout.is_empty() && !ran.stderr.is_empty(), "{arguments:?}");
    }
    assert_eq!(project.read("a.c"), SPLITS.as_bytes());
}

#[test]
fn help_and_version_go_to_stdout() {
    let project = Project::new(&[]);
    let help = project.expect(0, &["--help"]).text();
    for part in ["src/*.c --in-place", "--stdin-filename", "--assume-filename", "--stdin-filepath", "Exit codes:"] {
        assert_contains(&help, part);
    }
    let version = project.expect(0, &["--version"]).text();
    assert_eq!(version.trim_end(), format!("ompsplit {}", env!("CARGO_PKG_VERSION")));
}
