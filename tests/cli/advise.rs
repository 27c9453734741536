//! `advise`: profiles in both forms, and what is said of the kernels of files.

use serde_json::Value;

use crate::project::{Project, assert_contains};

const SOURCE: &str = "\
void scale(int n, double *a) {
#pragma omp target teams distribute parallel for map(tofrom: a[0:n])
  for (int i = 0; i < n; i++)
    a[i] *= 2;
}
void columns(int n, const double *a, double *b) {
#pragma omp target teams distribute parallel for map(to: a[0:n*n]) map(from: b[0:n])
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++)
      sum += a[i * n + j];
    b[i] = sum;
  }
}
double total(int n, const double *a) {
  double sum = 0;
#pragma omp target teams distribute parallel for reduction(+: sum) map(to: a[0:n])
  for (int i = 0; i < n; i++)
    sum += a[i];
  return sum;
}
";

const RAW: &str = include_str!("advise/raw.csv");
const DETAILS: &str = include_str!("advise/details.csv");
const SAID: &str = include_str!("advise/raw.txt");

fn project() -> Project {
    Project::new(&[("src/a.c", SOURCE), ("raw.csv", RAW), ("details.csv", DETAILS)])
}

#[test]
fn a_profile_tells_what_limits_each_kernel() {
    let project = project();
    let ran = project.expect(0, &["advise", "--counters", "raw.csv", "src/a.c"]);
    assert_eq!(ran.text(), SAID);
    assert_contains(&ran.stderr, "2 of 3 constructs are in this profile");
    let again = project.expect(0, &["advise", "--counters", "raw.csv", "src"]);
    assert_eq!(again, ran, "a folder holds the same file");
}

#[test]
fn the_other_form_of_a_profile_is_read_as_well() {
    let project = project();
    let ran = project.expect(0, &["advise", "--counters", "details.csv", "src/a.c", "--output-format", "json"]);
    let told: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let all = told["diagnostics"].as_array().unwrap();
    assert_eq!(all.len(), 1, "{told:#}");
    let (message, notes) = (all[0]["message"].as_str().unwrap(), all[0]["notes"].to_string());
    assert_eq!((&all[0]["kind"], &all[0]["severity"]), (&Value::from("advice"), &Value::from("note")));
    assert_eq!(all[0]["range"]["start"]["line"], 17);
    assert_contains(message, "few warps, as threads need many registers; try less coarsening, `ompsplit tune`");
    assert_contains(&notes, "possible occupancy 12.5 % (below 60)");
    assert_contains(&notes, "registers of a multiprocessor suffice for 2 teams");
    assert_contains(&notes, "255 registers in a thread");
    assert_contains(&notes, "WarpStateStats");
    for format in ["concise", "sarif", "github"] {
        let ran = project.expect(0, &["advise", "--counters", "details.csv", "src/a.c", "--output-format", format]);
        assert_contains(&ran.text(), "few warps");
    }
}

/// As versions before 2021 printed it: other labels, and no columns of sizes.
#[test]
fn profiles_of_older_versions_are_read() {
    let project = project();
    project.write("old.csv", include_bytes!("advise/old.csv"));
    let ran = project.expect(0, &["advise", "--counters", "old.csv", "src/a.c"]);
    assert_contains(&ran.text(), "1 launch, 89.9 us, 100.0 % of what was profiled; 506 teams of 192 threads");
    assert_contains(&ran.text(), "limited by too little work to fill the device once");
    assert!(!ran.text().contains("SpeedOfLight"), "all of that section is known: {}", ran.text());
}

#[test]
fn kernels_of_other_files_are_told_and_not_guessed() {
    let project = Project::new(&[("b.c", &format!("\n{SOURCE}")), ("raw.csv", RAW)]);
    let ran = project.expect(1, &["advise", "--counters", "raw.csv", "b.c", "--output-format", "concise"]);
    let text = ran.text();
    assert_eq!(text.lines().count(), 3, "{text}");
    assert_contains(
        &text,
        "raw.csv:6:31: no advice: the kernel `__omp_offloading_fd00_1a2b_scale_l2` is of `scale`, line 2, where no construct",
    );
    assert_contains(&text, "is not named as clang names kernels");
    // The same function at the same line of two files.
    project.write("c/a.c", SOURCE.as_bytes());
    project.write("d/a.c", SOURCE.as_bytes());
    let ran = project.expect(1, &["advise", "--counters", "raw.csv", "c", "d", "--output-format", "concise"]);
    assert_contains(&ran.text(), "is either the construct at c/a.c:2 or that at d/a.c:2");
}

#[test]
fn what_is_no_profile_is_refused_with_its_line() {
    let project = project();
    let cases: [(String, &str); 7] = [
        (String::new(), "bad.csv:1: no line has a column `Kernel Name`"),
        (RAW.replace("\"Kernel Name\"", "\"Name\""), "bad.csv:1: no line has a column `Kernel Name`"),
        (DETAILS.replace("\"Metric Value\"", "\"Value\""), "bad.csv:1: the column `Metric Value` is missing"),
        (
            RAW.replace("1,034.56", "1.034,56"),
            "bad.csv:6: `1.034,56` of `gpu__time_duration.sum` is no number with commas",
        ),
        (
            RAW.replace("\"us\"", "\"Kbyte/second\""),
            "bad.csv:6: `Kbyte/second` is no unit that `gpu__time_duration.sum` is known in",
        ),
        (RAW.lines().take(6).collect::<Vec<_>>().join("\n")[..RAW.len() / 2].to_owned(), "bad.csv:6: "),
        (RAW.lines().take(5).collect::<Vec<_>>().join("\n"), "bad.csv:4: no kernel was profiled"),
    ];
    for (text, said) in cases {
        project.write("bad.csv", text.as_bytes());
        let ran = project.expect(2, &["advise", "--counters", "bad.csv", "src/a.c"]);
        assert_contains(&ran.stderr, said);
        assert!(ran.stdout.is_empty(), "{}", ran.text());
    }
    for arguments in [
        &["src/a.c"][..],
        &["--counters", "raw.csv"],
        &["--counters", "none.csv", "src/a.c"],
        &["--counters", "raw.csv", "none.c"],
    ] {
        assert_eq!(project.run(&[&["advise"], arguments].concat()).code, 2, "{arguments:?}");
    }
}
