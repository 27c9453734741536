//! What a terminal shows while a program is built and run.

use std::process::Command;

use crate::project::{PROGRAM, Project, Ran, SPLITS, assert_contains};

/// Runs the tool on a terminal.
fn on_terminal(project: &Project, arguments: &str, is_ci: bool) -> Ran {
    let mut command = Command::new("script");
    command.args(["-qec", &format!("{PROGRAM} {arguments}"), "/dev/null"]).current_dir(project.folder.path());
    command.env_remove("CI").env("TERM", "xterm");
    if is_ci {
        command.env("CI", "true");
    }
    Ran::new(&command.output().unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn steps_are_shown_on_a_terminal_alone() {
    let project = Project::new(&[("a.c", SPLITS)]);
    let step = "asking clang about a.c";
    assert_contains(&on_terminal(&project, "--diff --verify device a.c", false).text(), step);
    for (arguments, is_ci) in [("--diff --verify device a.c", true), ("--diff --quiet --verify device a.c", false)] {
        let text = on_terminal(&project, arguments, is_ci).text();
        assert!(!text.contains(step), "{text}");
        assert_contains(&text, "target data");
    }
    let ran = project.run(&["--diff", "--verify", "device", "a.c"]);
    assert!(!ran.stderr.contains(step) && !ran.stderr.contains('\x1b'), "{}", ran.stderr);
}
