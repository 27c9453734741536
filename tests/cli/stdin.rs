//! Standard input.

use crate::project::{Project, REFUSED, SPLITS, assert_contains, assert_split};

#[test]
fn stdin_is_rewritten_to_stdout() {
    let project = Project::new(&[]);
    for flag in ["--stdin-filename", "--assume-filename", "--stdin-filepath"] {
        let ran = project.pipe(&["-", flag, "src/x.c"], SPLITS.as_bytes());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_split(&ran.stdout);
        assert_contains(&ran.stderr, "src/x.c:2:1");
    }
}

#[test]
fn stdin_comes_back_unchanged_when_something_fails() {
    let project = Project::new(&[(".ompsplit.toml", "wrong = 1\n")]);
    let nul = b"int a;\0\xff\r\n";
    for (arguments, input) in [
        (&["-", "--stdin-filename", "x.c", "--no-config"][..], nul.as_slice()),
        (&["-", "--passes", "no-such-pass", "--no-config"], SPLITS.as_bytes()),
        (&["-", "--no-such-flag"], SPLITS.as_bytes()),
        (&["-", "--stdin-filename", "x.c"], SPLITS.as_bytes()),
        (&["-", "other.c"], SPLITS.as_bytes()),
        (&["-i", "-"], SPLITS.as_bytes()),
        (&["-", "-p", "no-such-folder", "--no-config"], SPLITS.as_bytes()),
    ] {
        let ran = project.pipe(arguments, input);
        assert_eq!(ran.code, 2, "{arguments:?}");
        if !arguments.contains(&"-i") {
            assert_eq!(ran.stdout, input, "{arguments:?}");
        }
        assert!(!ran.stderr.is_empty());
    }
}

#[test]
fn a_failed_diff_of_stdin_prints_no_text() {
    let project = Project::new(&[]);
    for flag in ["--diff", "--check"] {
        let ran = project.pipe(&["-", flag, "--passes", "none"], SPLITS.as_bytes());
        assert_eq!((ran.code, ran.stdout.len()), (2, 0));
    }
    let ran = project.pipe(&["-", "--diff", "--stdin-filename", "x.c"], SPLITS.as_bytes());
    assert_eq!(ran.code, 1);
    assert!(ran.text().starts_with("--- a/x.c\n"));
}

#[test]
fn syntax_errors_on_stdin_are_no_failure() {
    let project = Project::new(&[]);
    let ran = project.pipe(&["-", "--stdin-filename", "x.c"], REFUSED.as_bytes());
    assert_eq!((ran.code, ran.stdout.as_slice()), (0, REFUSED.as_bytes()));
}
