//! The proof of fixtures, the whole way on the x86_64 offload device: build, run and report.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use common::{bench, json, run, succeed, tool};
use serde_json::Value;

/// A repository with these fixtures alone.
fn repository(folder: &Path, fixtures: &[(&str, &str)]) -> PathBuf {
    let repository = folder.join("repository");
    fs::create_dir_all(repository.join("bench")).unwrap();
    for (name, text) in fixtures {
        let path = repository.join("fixtures").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    repository
}

fn fixture(name: &str) -> String {
    fs::read_to_string(bench().join("../fixtures").join(name)).unwrap()
}

fn build(folder: &Path, tool: &Path, generated: &str) {
    let paths = [&folder.join("repository"), &folder.join("out"), tool].map(|path| path.to_str().unwrap().to_owned());
    let command = ["prove", "build", "--arch", "host", "--generated", generated];
    succeed(&[&command[..], &["--repository", &paths[0], "--out", &paths[1], "--tool", &paths[2]]].concat());
}

fn prove(folder: &Path) -> (Output, Value) {
    let results = folder.join("proof.json");
    let paths = [&folder.join("out/tree"), &results].map(|path| path.to_str().unwrap().to_owned());
    let output = run(&["prove", "run", "--tree", &paths[0], "--out", &paths[1]]);
    (output, json(&results))
}

fn texts(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

fn report(folder: &Path, more: &[&str]) -> Output {
    run(&[&["prove", "report", folder.join("proof.json").to_str().unwrap()], more].concat())
}

#[test]
fn outputs_are_built_run_compared_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["split_target/two_loops_one_team.c", "split_target/trap11_nowait_depend_two_loops.c"];
    let kept = "split_target/trap04_critical_in_loop.c";
    let read = [names[0], names[1], kept].map(|name| (name, fixture(name)));
    repository(folder.path(), &read.each_ref().map(|(name, text)| (*name, text.as_str())));
    let tool = tool();
    build(folder.path(), &tool, "2");
    let (output, proof) = prove(folder.path());
    assert!(output.status.success(), "{}", texts(&output));

    let programs = proof["programs"].as_array().unwrap();
    let outcome = |name: &str| programs.iter().find(|program| program["name"] == name).unwrap();
    for name in names {
        assert_eq!(outcome(name)["original"], "ran", "{name}");
        assert_eq!(outcome(name)["outputs"], serde_json::json!(["same", "same", "same"]), "{name}");
    }
    assert_eq!(outcome(kept)["original"], "not_changed");
    assert_eq!(programs.len(), 5, "three fixtures, and two programs that are generated: {proof}");
    assert_eq!(report(folder.path(), &["--check"]).status.code(), Some(1), "there is no table yet");
    assert!(report(folder.path(), &[]).status.success());
    assert!(report(folder.path(), &["--check"]).status.success());

    // What is built already is not built again.
    let binary = folder.path().join("out/work/programs/host").join(names[0]).join("default/program");
    fs::write(&binary, "kept").unwrap();
    build(folder.path(), &tool, "0");
    let packed = folder.path().join("out/tree/bin").join(names[0]).join("default");
    assert_eq!(fs::read_to_string(packed).unwrap(), "kept");
}

/// A tool that makes loops begin at 1.
const FAULTY: &str = "#!/bin/sh
[ \"$1\" = header ] && exit 0
while [ \"$1\" != -- ]; do file=$1; shift; done
case $file in *refused*) echo 'error: it gave up' >&2; exit 2 ;; esac
sed 's/i = 0/i = 1/' \"$file\"
";

/// Prints what stands for `SHOWN` behind a loop on the device.
const PROGRAM: &str = "#include <stdio.h>
#include <unistd.h>
int main(void)
{
    int a[8] = {0};
#pragma omp target teams distribute parallel for map(tofrom: a)
    for (int i = 0; i < 8; i++)
        a[i] = 2;
    SHOWN
}
";

#[test]
fn whatever_is_wrong_is_told_apart_and_must_have_a_cause() {
    let folder = tempfile::tempdir().unwrap();
    let tool = folder.path().join("tool");
    fs::write(&tool, FAULTY).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    let shown = |text: &str| PROGRAM.replace("SHOWN", text);
    let fixtures = [
        ("x/differs.c", shown("printf(\"%d\\n\", a[0]);")),
        ("x/fails.c", shown("return 3;")),
        ("x/host_only.c", shown("return 0;").replace("#pragma", "double no(x);\n#pragma")),
        ("x/refused.c", shown("return 0;")),
        ("x/same.c", shown("printf(\"%d\\n\", a[1]);")),
        ("x/varies.c", shown("printf(\"%d\\n\", (int)getpid());")),
    ];
    repository(folder.path(), &fixtures.each_ref().map(|(name, text)| (*name, text.as_str())));
    build(folder.path(), &tool, "0");
    let (output, proof) = prove(folder.path());
    let said = texts(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("FAILED x/differs.c default: differs: line 1 is `0` instead of `2`"), "{said}");
    assert!(said.contains("original x/fails.c: fails: exit 3"), "{said}");
    assert!(said.contains("original x/host_only.c: does not compile: "), "{said}");
    assert!(said.contains("FAILED x/refused.c all: the tool: error: it gave up"), "{said}");
    assert!(said.contains("original x/varies.c: varies: line 1 is "), "{said}");
    assert!(!said.contains("x/same.c"), "{said}");
    assert_eq!(proof["programs"][4]["outputs"], serde_json::json!(["same", "same", "same"]));

    let said = texts(&report(folder.path(), &[]));
    assert!(said.contains("causes.toml does not say why x/fails.c is an exception"), "{said}");
    assert!(said.contains("only 2 of 5 changed fixtures ran"), "{said}");
    let names = ["differs", "fails", "host_only", "refused", "varies"];
    let causes: String = names.iter().map(|name| format!("'x/{name}.c' = 'planted'\n")).collect();
    fs::write(folder.path().join("causes.toml"), causes).unwrap();
    let said = texts(&report(folder.path(), &[]));
    assert!(!said.contains("causes.toml"), "{said}");
    let table = fs::read_to_string(folder.path().join("proof.md")).unwrap();
    let row = table.lines().find(|line| line.contains("x/differs.c")).unwrap();
    assert!(row.contains("default, device, all") && row.contains("planted"), "{row}");
}

#[test]
fn committed_tables_are_what_their_proofs_give() {
    let folder = bench().join("results/proof");
    let mut proofs = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            succeed(&["prove", "report", path.to_str().unwrap(), "--check"]);
            proofs += 1;
        }
    }
    assert!(proofs > 0, "no proof is committed");
}
