//! The whole harness on the x86_64 offload device with tiny sizes: build, run, report and compare.
//!
//! `tests/verified.txt` knows the programs that were right as they are, of which only a sample is compiled and run again. With `OMPSPLIT_DEEP`
//! nothing counts as known; with `OMPSPLIT_RECORD` the list is written anew.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use common::{bench, json, run, succeed, tool};
use serde_json::Value;

/// Where the machine has them, with fused multiply-adds, so that a form by hand that contracts others than `naive` is seen.
fn build(repository: &Path, out: &Path, more: &[&str]) {
    let tool = tool();
    let paths = [repository, out, &tool].map(|path| path.to_str().expect("a path in UTF-8"));
    let build = ["build", "--arch", "host", "--repository", paths[0], "--out", paths[1], "--tool", paths[2]];
    let flags = if std::arch::is_x86_feature_detected!("fma") { "--flags=-mfma" } else { "--flags=" };
    succeed(&[&build[..], &[flags], more].concat());
}

fn run_tiny(out: &Path, results: &str, more: &[&str]) -> Output {
    let (tree, results) = (out.join("tree"), out.join(results));
    let paths = [&tree, &results].map(|path| path.to_str().expect("a path in UTF-8"));
    let arguments = ["run", "--tiny", "--rounds", "2", "--seed", "1", "--tree", paths[0], "--out", paths[1]];
    run(&[&arguments, more].concat())
}

#[test]
fn every_program_is_built_run_checked_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let list = bench().join("tests/verified.txt");
    let known = ["--verified", list.to_str().unwrap()];
    let is_deep = ["OMPSPLIT_DEEP", "OMPSPLIT_RECORD"].iter().any(|name| std::env::var_os(name).is_some());
    build(&bench().join(".."), folder.path(), if is_deep { &[] } else { &known });
    for (name, part) in [("one.json", "1/2"), ("two.json", "2/2")] {
        let output = run_tiny(folder.path(), name, &["--part", part]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
    }
    let path = folder.path().join("results.json");
    let parts = ["one.json", "two.json"].map(|name| folder.path().join(name));
    succeed(&["merge", path.to_str().unwrap(), parts[1].to_str().unwrap(), parts[0].to_str().unwrap()]);
    let results = json(&path);
    let cases = results["cases"].as_array().unwrap();
    let numbers = fs::read_to_string(folder.path().join("tree/verified.txt")).unwrap();
    let known = if is_deep { String::new() } else { fs::read_to_string(&list).unwrap() };
    say_what_ran(&numbers, cases, &known);
    for case in cases {
        for variant in case["variants"].as_array().unwrap() {
            if variant.get("same_as").is_some() {
                continue;
            }
            let what = format!("{} {}", case["program"], variant["variant"]);
            assert_eq!(variant["checked"], 3, "{what}: the first run and two rounds");
            assert_eq!(variant["total_ms"].as_array().unwrap().len(), 2, "{what}");
            assert!(!variant["launches"].as_array().unwrap().is_empty(), "{what} launches nothing");
        }
        assert!(case["again"].is_object(), "{} was not run against itself", case["program"]);
        if case["case"]["only"].as_array().unwrap().is_empty() {
            output_copies_no_more_than_its_expert(case);
        }
        output_keeps_bits(case);
    }

    let path = path.to_str().unwrap();
    succeed(&["report", path]);
    succeed(&["report", path, "--check"]);
    let same = succeed(&["compare", path, path]);
    assert!(same.contains("nothing got slower"), "{same}");
    if std::env::var_os("OMPSPLIT_RECORD").is_some() {
        fs::write(&list, numbers).unwrap();
    }
}

/// Each program ran, or is known to be right with the number that it has now.
fn say_what_ran(numbers: &str, cases: &[Value], known: &str) {
    let ran: BTreeSet<_> = cases.iter().map(|case| case["program"].as_str().unwrap()).collect();
    let names: BTreeSet<_> = numbers.lines().map(|line| line.split_once(' ').unwrap().0.to_owned()).collect();
    assert_eq!(names, programs_in_suite().into_iter().collect(), "a number for each program");
    let known: BTreeSet<_> = known.lines().collect();
    let (left, changed): (Vec<_>, Vec<_>) = numbers.lines().partition(|line| known.contains(line));
    for line in &changed {
        let name = line.split_once(' ').unwrap().0;
        assert!(ran.contains(name), "{name} neither ran nor is known");
    }
    let said = format!(
        "{} of {} programs are right as tests/verified.txt knows, of which {} ran again (all with OMPSPLIT_DEEP=1); {} are new or changed: \
         OMPSPLIT_RECORD=1 notes them\n",
        left.len(),
        names.len(),
        ran.len() - changed.len(),
        changed.len()
    );
    // `eprintln` is shown of tests that fail alone.
    std::io::stderr().write_all(said.as_bytes()).unwrap();
}

/// Has what the tool writes the bits of `naive`, unless it may form sums in another order?
fn output_keeps_bits(case: &Value) {
    let program = case["program"].as_str().unwrap();
    let text = fs::read_to_string(bench().join("suite.toml")).unwrap();
    let suite: toml::Table = text.parse().unwrap();
    let entry =
        suite["program"].as_array().unwrap().iter().find(|entry| entry["name"].as_str() == Some(program)).unwrap();
    if entry.get("open_order").is_some() {
        return;
    }
    for variant in case["variants"].as_array().unwrap() {
        let name = variant["variant"].as_str().unwrap();
        if name.starts_with("naive+") && !name.contains("--assume") {
            assert_ne!(
                variant.get("same_bits"),
                Some(&Value::Bool(false)),
                "{program} {name} has other bits than naive"
            );
        }
    }
}

/// Programs whose output copies more than the form that was written by hand, and why.
const COPY_MORE: [(&str, &str); 2] = [
    ("chain", "the expert's form makes more copies than the original, of few elements each, which the tool never does"),
    ("srad", "floating-point arithmetic between the loops stays on the device, and its result comes back"),
];

/// Does what the tool writes copy as often and as much as what an expert writes, in each direction, or less?
fn output_copies_no_more_than_its_expert(case: &Value) {
    const JUDGED: &str = "naive+default";
    let program = case["program"].as_str().unwrap();
    let variant = |name: &str| case["variants"].as_array().unwrap().iter().find(|one| one["variant"] == name);
    let copies = |name: &str| {
        let found = variant(name)?;
        let same = found.get("same_as").and_then(Value::as_str);
        let copies = &same.map_or(Some(found), variant)?["copies"];
        let kinds = ["to_device", "to_device_bytes", "from_device", "from_device_bytes"];
        Some(kinds.map(|kind| copies[kind].as_u64().unwrap()))
    };
    let output = copies(JUDGED).unwrap();
    let expert = copies("pragmas").or_else(|| copies("ceiling")).unwrap();
    let is_no_more = output.iter().zip(expert).all(|(output, expert)| *output <= expert);
    match COPY_MORE.iter().find(|(known, _)| *known == program) {
        Some((_, why)) => assert!(!is_no_more, "{program} is as good as its expert's form now, although {why}"),
        None => assert!(is_no_more, "{program}: {output:?}, by hand {expert:?}"),
    }
}

#[test]
fn a_wrong_result_fails_the_run_and_so_do_other_bits_of_exact() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy/bench");
    for part in ["harness", "programs/axpy"] {
        fs::create_dir_all(copy.join(part)).unwrap();
        for entry in fs::read_dir(bench().join(part)).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, copy.join(part).join(path.file_name().unwrap())).unwrap();
        }
    }
    let suite = "pass_sets = ['split']\njudged = 'split'\n[[program]]\nname = 'axpy'\ntiny = '1003'\ncase = []\n";
    fs::write(copy.join("suite.toml"), suite).unwrap();
    let program = |form: &str| copy.join("programs/axpy").join(form);
    let plant = |from: &str, sound: &str, fault: &str, to: &str| {
        let text = fs::read_to_string(program(from)).unwrap();
        let faulty = text.replacen(sound, fault, 1);
        assert_ne!(text, faulty, "the planted fault");
        fs::write(program(to), faulty).unwrap();
    };
    plant("naive.c", "i = 0", "i = 1", "pragmas.c");
    plant("ceiling.c", "+ y[i]", "+ y[i] * 1.0000002f", "exact.c");

    build(&folder.path().join("copy"), folder.path(), &[]);
    let output = run_tiny(folder.path(), "results.json", &[]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("FAILED axpy 1003 pragmas: fail y"), "{text}");
    assert!(text.contains("FAILED axpy 1003 exact: array 1 has other bits than with naive"), "{text}");
    assert!(!text.contains("ceiling") && !text.contains("naive:"), "only what is wrong is named: {text}");
    let results = json(&folder.path().join("results.json"));
    let variants = results["cases"][0]["variants"].as_array().unwrap();
    let failed = |name: &str| variants.iter().find(|one| one["variant"] == name).unwrap()["failure"].is_string();
    assert!(failed("pragmas") && failed("exact"), "{results}");
}

#[test]
fn a_slower_program_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let Some(committed) = committed_results().into_iter().next() else { panic!("no committed results") };
    let mut results = json(&committed);
    let case = &mut results["cases"][0];
    let name = format!("{} {}", case["program"].as_str().unwrap(), case["case"]["sizes"].as_str().unwrap());
    let make_slower = |variant: &mut Value| {
        for time in variant["total_ms"].as_array_mut().into_iter().flatten() {
            *time = (time.as_f64().unwrap() * 10.0).into();
        }
    };
    // A variant and the same binary once more, so that the noise stays what it is.
    let variant = case["again"]["variant"].as_str().unwrap().to_owned();
    case["variants"].as_array_mut().unwrap().iter_mut().filter(|one| one["variant"] == variant).for_each(make_slower);
    make_slower(&mut case["again"]);
    let slower = folder.path().join("slower.json");
    fs::write(&slower, results.to_string()).unwrap();
    let paths = [&committed, &slower].map(|path| path.to_str().unwrap().to_owned());
    let output = run(&["compare", &paths[0], &paths[1]]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(&format!("slower by 900.0 %: {name} {variant} (total time)")), "{text}");
    let back = succeed(&["compare", &paths[1], &paths[0]]);
    assert!(back.contains("nothing got slower"), "{back}");
}

#[test]
fn committed_reports_are_what_their_results_give() {
    for path in committed_results() {
        succeed(&["report", path.to_str().unwrap(), "--check"]);
    }
}

#[test]
fn the_committed_charts_of_grids_are_those_of_their_tables() {
    for (command, name) in [("grids", "h200-decades"), ("threads", "h200-threads")] {
        let table = bench().join(format!("../snapshots/geometry/{name}.snap"));
        let chart = bench().join(format!("results/geometry/{name}.svg"));
        succeed(&[command, table.to_str().unwrap(), chart.to_str().unwrap(), "--check"]);
    }
}

#[test]
fn the_committed_chart_of_pipelines_is_that_of_its_tables() {
    succeed(&["pipelines", bench().join("results/pipeline").to_str().unwrap(), "--check"]);
}

#[test]
fn the_suite_lists_every_program_once() {
    let folders: BTreeSet<String> = fs::read_dir(bench().join("programs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    let listed = programs_in_suite();
    assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), folders);
    assert_eq!(listed.len(), folders.len(), "a program is listed twice");
}

fn programs_in_suite() -> Vec<String> {
    let text = fs::read_to_string(bench().join("suite.toml")).unwrap();
    let suite: toml::Table = text.parse().unwrap();
    let programs = suite["program"].as_array().unwrap();
    programs.iter().map(|program| program["name"].as_str().unwrap().to_owned()).collect()
}

fn committed_results() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(bench().join("results"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    found.sort();
    found
}
