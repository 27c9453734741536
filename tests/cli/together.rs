//! `--verify host` on programs of several files: where the sources come from, what is built, and what is written.

use std::fs;

use crate::project::{Project, Ran, assert_contains, assert_split};

/// A function whose region splits when loops are assumed to be long. `last` is what its second loop computes.
fn kernels(name: &str, last: &str) -> String {
    format!(
        "void {name}(int *a, int n) {{
#pragma omp target map(from: a[0:n])
  {{
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = i % 7;
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = {last};
  }}
}}
"
    )
}

/// A program that calls functions and prints sums.
fn main_of(names: &[&str]) -> String {
    let mut text = "#include <stdio.h>\nstatic int a[500];\n".to_owned();
    names.iter().for_each(|name| text.push_str(&format!("void {name}(int *a, int n);\n")));
    text.push_str("int main(void) {\n  int s = 0;\n");
    for name in names {
        text.push_str(&format!("  {name}(a, 500);\n  for (int i = 0; i < 500; i++) s += a[i] * (i % 5);\n"));
    }
    text + "  printf(\"%d\\n\", s);\n  return 0;\n}\n"
}

const HOST: [&str; 4] = ["--verify", "host", "--assumed-iterations", "1000000000"];
const QUICK: [&str; 5] = ["--verify", "host", "--assumed-iterations", "1000000000", "--verify-no-races"];

#[test]
fn files_are_verified_in_one_program() {
    let project = Project::new(&[
        ("main.c", &main_of(&["f", "g"])),
        ("f.c", &kernels("f", "a[i] * 2")),
        ("g.c", &kernels("g", "a[i] + 1")),
    ]);
    // `main.c` has nothing to change, but belongs to the program, for it was given.
    let ran = project.expect(0, &[&["-i", "f.c", "g.c", "main.c"], &QUICK[..]].concat());
    assert_contains(
        &ran.stderr,
        "f.c, g.c together: 6 runs on the x86_64 device give what the original gives (exit 0)",
    );
    assert_split(&project.read("f.c"));
    assert_split(&project.read("g.c"));
}

#[test]
fn programs_of_one_file_each_are_run_by_themselves() {
    let whole = |last: &str| format!("{}{}", kernels("f", last), main_of(&["f"]));
    let project = Project::new(&[("one.c", &whole("a[i] * 2")), ("two.c", &whole("a[i] + 3"))]);
    let ran = project.expect(0, &[&["-i", "one.c", "two.c"], &QUICK[..]].concat());
    assert_contains(&ran.stderr, "one.c: 6 runs");
    assert_contains(&ran.stderr, "two.c: 6 runs");
}

/// Runs the tool with a fault in the output of one file.
fn with_fault(project: &Project, names: &[&str]) -> (u8, String) {
    let mut arguments: Vec<std::ffi::OsString> = vec!["ompsplit".into(), "-i".into(), "--no-config".into()];
    arguments.extend(names.iter().map(|name| project.path(name).into()));
    arguments.extend(QUICK.iter().map(Into::into));
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut streams = ompsplit::cli::Streams {
        stdin: &mut std::io::empty(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        stdout_colour: false,
        stderr_colour: false,
    };
    let status = ompsplit::cli::run(&arguments, &mut streams, |file, headers, options| {
        let mut outcome = ompsplit::engine::run(file, headers, options)?;
        let wrong = |text: Vec<u8>| String::from_utf8(text).unwrap().replace("a[i] + 1", "a[i] + 2").into_bytes();
        outcome.text = outcome.text.map(wrong);
        Ok(outcome)
    });
    (status.code(), String::from_utf8_lossy(&stderr).into_owned())
}

#[test]
fn only_the_file_at_fault_is_not_written() {
    let (good, bad) = (kernels("f", "a[i] * 2"), kernels("g", "a[i] + 1"));
    let project = Project::new(&[("main.c", &main_of(&["f", "g"])), ("f.c", &good), ("g.c", &bad)]);
    let (code, stderr) = with_fault(&project, &["f.c", "g.c", "main.c"]);
    assert_eq!(code, 2, "{stderr}");
    assert_eq!(stderr.matches("not verified, so not written").count(), 1, "{stderr}");
    assert_contains(&stderr, "gives something else than the original");
    assert_contains(&stderr, "f.c: 6 runs");
    assert_split(&project.read("f.c"));
    assert_eq!(project.read("g.c"), bad.as_bytes());
}

#[test]
fn a_file_that_the_run_does_not_reach_is_not_written() {
    let (f, g) = (kernels("f", "a[i] * 2"), kernels("g", "a[i] + 1"));
    let main = main_of(&["f"]);
    let project = Project::new(&[("main.c", &main), ("f.c", &f), ("g.c", &g)]);
    let ran = project.expect(2, &[&["-i", "f.c", "g.c", "main.c"], &QUICK[..]].concat());
    assert_contains(&ran.stderr, "launches none of the changed kernels");
    assert_split(&project.read("f.c"));
    assert_eq!(project.read("g.c"), g.as_bytes());
}

/// A compile database as CMake writes it: which object of which program or library a source becomes.
fn database(project: &Project, entries: &[(&str, &str)]) {
    let folder = project.folder.path().display().to_string();
    let entry = |(file, target): &(&str, &str)| {
        let output = if target.is_empty() { format!("{file}.o") } else { format!("CMakeFiles/{target}.dir/{file}.o") };
        serde_json::json!({ "directory": folder, "file": file, "command": format!("cc -DN=500 -o {output} -c {file}") })
    };
    let text = serde_json::Value::from(entries.iter().map(entry).collect::<Vec<_>>());
    project.write("build/compile_commands.json", text.to_string().as_bytes());
}

#[test]
fn sources_come_from_the_compile_database() {
    let (f, main) = (kernels("f", "a[i] * 2"), main_of(&["f"]).replace("500", "N"));
    let project = Project::new(&[("f.c", &f), ("main.c", &main), ("test.c", &main.replace("f(a, N)", "f(a, 9)"))]);
    let arguments = [&["-i", "f.c", "-p", "build"], &QUICK[..]].concat();
    // Two programs could be meant.
    database(&project, &[("f.c", ""), ("main.c", ""), ("test.c", "")]);
    let ran = project.expect(2, &arguments);
    assert_contains(&ran.stderr, "there are several programs, and nothing tells which one to run: `main` stands in ");
    assert_contains(&ran.stderr, "--verify-source");
    // The file's own program is meant.
    database(&project, &[("test.c", "test"), ("gone.c", "test"), ("f.c", "app"), ("main.c", "app")]);
    project.expect(0, &arguments);
    assert_split(&project.read("f.c"));
    // One program is the only one.
    project.write("f.c", f.as_bytes());
    database(&project, &[("f.c", "library"), ("main.c", "app")]);
    project.expect(0, &arguments);
    assert_split(&project.read("f.c"));
}

#[test]
fn a_header_is_found_through_the_compile_database() {
    let header = kernels("f", "a[i] * 2").replace("void f", "static inline void f");
    let main = main_of(&["f"]).replace("void f(int *a, int n);", "#include \"f.h\"");
    let project = Project::new(&[("f.h", &header), ("main.c", &main), ("other.c", "int other;\n")]);
    database(&project, &[("main.c", ""), ("other.c", "")]);
    project.expect(0, &[&["-i", "f.h", "-p", "build"], &QUICK[..]].concat());
    assert_split(&project.read("f.h"));
}

/// A compiler that writes down what it is called with.
#[cfg(unix)]
fn logging_clang(project: &Project) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let log = project.path("log");
    let script = format!("#!/bin/sh\necho \"$@\" >> '{}'\nexec clang-19 \"$@\"\n", log.display());
    project.write("clang", script.as_bytes());
    fs::set_permissions(project.path("clang"), fs::Permissions::from_mode(0o755)).unwrap();
    project.path("clang")
}

#[cfg(unix)]
#[test]
fn each_source_is_built_once() {
    let project = Project::new(&[
        ("main.c", &main_of(&["f", "g"])),
        ("f.c", &kernels("f", "a[i] * 2")),
        ("g.c", &kernels("g", "a[i] + 1")),
        ("use.c", "int use;\n"),
    ]);
    let clang = logging_clang(&project);
    let arguments =
        [&["-i", "f.c", "g.c", "--verify-source", "main.c", "--verify-source", "use.c"], &HOST[..]].concat();
    let ran = Ran::new(&project.command(&arguments).env("OMPSPLIT_CLANG", clang).output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_contains(&ran.stderr, "4 widened loops show no new race");
    let log = fs::read_to_string(project.path("log")).unwrap();
    let objects = log.lines().filter(|line| line.contains(" -c -o ")).count();
    // `main.c` and `use.c` for the device and for threads; `f.c` and `g.c` before, after, hardened and for threads.
    assert_eq!(objects, 2 * 2 + 2 * 4, "{log}");
}
