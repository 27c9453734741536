//! The user's program, before and after.

use std::fs;

use crate::project::{Project, SPLITS, assert_contains, assert_split};

/// A program with a region that splits; it prints what it computed, its first argument and its standard input.
const PROGRAM_TEXT: &str = "\
#include <stdio.h>
static int a[900];
int main(int n, char **arguments) {
  int k = n > 1 ? arguments[1][0] - '0' : 1, m = n > 5 ? n : 900, c = getchar();
#pragma omp target map(from: a) if(k > 0)
  {
#pragma omp parallel for
    for (int i = 0; i < m; i++) a[i] = i % 7;
#pragma omp parallel for
    for (int i = 0; i < m; i++) a[i] *= 2;
  }
  int s = 0;
  for (int i = 0; i < 900; i++) s += a[i] * (i % 5 + k);
  printf(\"input %d\\nsum %d\\n\", c, s);
  return 0;
}
";

/// Runs the program in this process with an engine that replaces one passage of the right output by another.
fn run_with_fault(
    arguments: &[&str],
    engine: fn(
        &ompsplit::source::SourceFile,
        &[ompsplit::source::SourceFile],
        &ompsplit::engine::Options,
    ) -> Result<ompsplit::engine::Outcome, ompsplit::engine::EngineError>,
) -> (u8, String) {
    let arguments: Vec<std::ffi::OsString> =
        std::iter::once("ompsplit").chain(arguments.iter().copied()).map(Into::into).collect();
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut streams = ompsplit::cli::Streams {
        stdin: &mut std::io::empty(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        stdout_colour: false,
        stderr_colour: false,
    };
    let status = ompsplit::cli::run(&arguments, &mut streams, engine);
    (status.code(), String::from_utf8_lossy(&stderr).into_owned())
}

#[test]
fn a_program_that_gives_the_same_is_written() {
    let settings = "assumed_iterations = 1000000000\n[verify]\nlevel = \"host\"\nargs = [\"3\"]\nstdin = \"in\"\n\
                    expected = \"out\"\nignore = [\"input\"]\nsources = [\"lib/helper.cpp\"]\n";
    let project = Project::new(&[
        (".ompsplit.toml", settings),
        ("a.c", PROGRAM_TEXT),
        ("in", "x"),
        ("out", "sum 26942\n"),
        ("lib/helper.cpp", "int helper;\n"),
    ]);
    let ran = project.run(&["-i", "a.c"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for part in ["give what the original gives (exit 0)", "2 widened loops show no new race", "after  2 kernels"] {
        assert_contains(&ran.stderr, part);
    }
    assert_split(&project.read("a.c"));
    assert_eq!(fs::read_dir(project.folder.path()).unwrap().count(), 5, "something is left");
}

#[test]
fn a_program_that_gives_something_else_is_not_written() {
    let project = Project::new(&[("a.c", PROGRAM_TEXT)]);
    let path = project.path("a.c");
    let path = path.to_str().unwrap();
    let arguments = ["-i", path, "--verify", "host", "--verify-no-races", "--assumed-iterations", "1000000000"];
    let (code, stderr) = run_with_fault(&arguments, |file, headers, options| {
        let mut outcome = ompsplit::engine::run(file, headers, options)?;
        outcome.text = outcome.text.map(|text| String::from_utf8(text).unwrap().replace("*= 2", "*= 3").into_bytes());
        Ok(outcome)
    });
    assert_eq!(code, 2, "{stderr}");
    assert_contains(&stderr, "OMPS902");
    assert_contains(&stderr, "line 2 of standard output is `sum 24249` instead of `sum 16166`");
    assert_eq!(project.read("a.c"), PROGRAM_TEXT.as_bytes());
}

#[test]
fn what_a_program_needs_is_asked_for() {
    let project = Project::new(&[("a.c", SPLITS), ("b.c", PROGRAM_TEXT)]);
    let long = ["--verify", "host", "--assumed-iterations", "1000000000"];
    let fails = |arguments: &[&str], part: &str| {
        let ran = project.expect(2, &[arguments, &long].concat());
        assert_contains(&ran.stderr, part);
    };
    fails(&["-i", "a.c"], "there is no `main` to run: name the other sources of the program with --verify-source");
    // With `if(0)` the region stays on the host, so that nothing is compared.
    fails(&["-i", "b.c", "--verify-arg", "0"], "launches none of the changed kernels");
    fails(&["-i", "b.c", "--verify-stdin", "missing"], "could not be built or run");
    fails(&["-i", "b.c", "--verify-tolerance", "0"], "no number above zero");
    assert_eq!((project.read("a.c"), project.read("b.c")), (SPLITS.into(), PROGRAM_TEXT.into()));
}
