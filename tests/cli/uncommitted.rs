//! What git does not have cannot be brought back: this is said, or forbids the rewrite.

use std::process::Command;

use crate::project::{Project, Ran, SPLITS, assert_contains, assert_split};

const CLEAN: &str = "require_clean = true\n";

/// A repository in which the files are committed.
fn committed(files: &[(&str, &str)]) -> Project {
    let project = Project::new(files);
    git(&project, &["init", "--quiet"]);
    git(&project, &["add", "."]);
    git(&project, &["-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "--quiet", "-m", "all"]);
    project
}

#[track_caller]
fn git(project: &Project, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(project.folder.path());
    assert!(clean(&mut command).status().unwrap().success());
}

/// Without what a hook that runs the tests has in its environment.
fn clean(command: &mut Command) -> &mut Command {
    ["GIT_INDEX_FILE", "GIT_DIR", "PRE_COMMIT"].iter().fold(command, |command, name| command.env_remove(name))
}

fn run(project: &Project, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
    let mut command = project.command(arguments);
    Ran::new(&clean(&mut command).envs(environment.iter().copied()).output().unwrap())
}

fn changed(name: &str, project: &Project) {
    project.write(name, format!("// mine\n{SPLITS}").as_bytes());
}

#[test]
fn changes_that_git_does_not_have_are_noted() {
    let project = committed(&[("src/a.c", SPLITS), ("src/b.c", SPLITS), ("é ü.c", SPLITS), ("c.c", SPLITS)]);
    changed("src/b.c", &project);
    changed("é ü.c", &project);
    for flag in ["--check", "--diff"] {
        assert!(!run(&project, &[flag, "."], &[]).stderr.contains("uncommitted"));
    }
    let ran = run(&project, &["-i", "src", "é ü.c"], &[]);
    assert_eq!(ran.code, 0);
    assert_contains(&ran.stderr, "note: src/b.c and 1 other file had uncommitted changes before");
    assert_split(&project.read("src/b.c"));
    // What is committed, what changes nothing and what git does not track is not spoken of.
    project.write("new.c", SPLITS.as_bytes());
    for arguments in [["-i", "c.c"], ["-i", "src/a.c"], ["-i", "new.c"]] {
        let ran = run(&project, &arguments, &[]);
        assert!(ran.code == 0 && !ran.stderr.contains("uncommitted"), "{arguments:?}: {}", ran.stderr);
    }
    assert!(!run(&project, &["-q", "-i", "c.c"], &[]).stderr.contains("uncommitted"));
}

#[test]
fn what_is_staged_counts_but_in_a_hook() {
    let project = committed(&[("a.c", SPLITS), ("b.c", SPLITS)]);
    for name in ["a.c", "b.c"] {
        changed(name, &project);
    }
    git(&project, &["add", "."]);
    assert_contains(&run(&project, &["-i", "a.c"], &[]).stderr, "a.c had uncommitted changes before");
    let ran = run(&project, &["-i", "b.c"], &[("PRE_COMMIT", "1")]);
    assert!(!ran.stderr.contains("uncommitted"), "{}", ran.stderr);
    assert_split(&project.read("b.c"));
}

#[test]
fn a_configuration_may_demand_that_git_has_everything() {
    let project = committed(&[(".ompsplit.toml", CLEAN), ("a.c", SPLITS), ("b.c", SPLITS)]);
    changed("a.c", &project);
    let before = project.read("a.c");
    let ran = run(&project, &["-i", "a.c", "b.c"], &[]);
    assert_eq!(ran.code, 2);
    assert_contains(&ran.stderr, "a.c: has uncommitted changes, and the configuration says `require_clean`");
    assert_eq!(project.read("a.c"), before);
    assert_split(&project.read("b.c"));
    let ran = run(&project, &["review", "a.c"], &[]);
    assert_eq!((ran.code, project.read("a.c")), (2, before));
    assert_contains(&ran.stderr, "require_clean");
    // Whoever only looks is not stopped.
    assert_eq!(run(&project, &["--check", "a.c"], &[]).code, 1);
}

#[test]
fn without_a_repository_or_git_nothing_is_said() {
    let outside = Project::new(&[(".ompsplit.toml", CLEAN), ("a.c", SPLITS)]);
    let ran = run(&outside, &["-i", "a.c"], &[]);
    assert!(ran.code == 0 && !ran.stderr.contains("git") && !ran.stderr.contains("uncommitted"), "{}", ran.stderr);
    let project = committed(&[("a.c", SPLITS)]);
    changed("a.c", &project);
    let ran = run(&project, &["-i", "a.c"], &[("PATH", "/nowhere")]);
    assert!(ran.code == 0 && !ran.stderr.contains("git"), "{}", ran.stderr);
    assert_split(&project.read("a.c"));
}
