//! `--device`: a profile by name, from a file, or of the machine's own GPU; the configuration key of that name.

use std::process::Stdio;

use crate::project::{Project, Ran, SPLITS, assert_contains, kernels};

/// A profile of ten SMs.
const SMALL: &str = "\
name = 'small'
title = 'Small'
sm_count = 10
threads_per_sm = 2048
registers_per_sm = 65536
shared_memory_per_sm = 65536
blocks_per_sm = 32
warp_size = 32
threads_per_block_limit = 1024
preferred_threads_per_block = 128
l2_bytes = 1000000
memory_gb_per_s = 100.0
";

#[track_caller]
fn comments(ran: &Ran, device: &str) {
    assert_eq!(kernels(&ran.stdout), 2, "{}", ran.text());
    assert_eq!(ran.text().matches(&format!("/* {device} */")).count(), 2, "{}", ran.text());
}

#[test]
fn a_device_is_named_in_what_is_written_for_it() {
    let project = Project::new(&[("a.c", SPLITS)]);
    comments(&project.expect(0, &["--device", "h200", "a.c"]), "h200");
    comments(&project.expect(0, &["--device", "H200", "a.c"]), "h200");
    let plain = project.expect(0, &["a.c"]).text();
    assert!(!plain.contains("num_teams") && plain.contains("thread_limit(128)"), "{plain}");
    // Without the pass nothing is chosen, and what holds on every device stays.
    let split = project.expect(0, &["--device", "h200", "--passes", "split", "a.c"]).text();
    assert!(!split.contains("num_teams") && split.contains("thread_limit(128)"), "{split}");
}

#[test]
fn a_second_run_changes_nothing_also_for_another_device() {
    let project = Project::new(&[("a.c", SPLITS)]);
    project.expect(0, &["-i", "--device", "h200", "a.c"]);
    project.expect(0, &["--check", "--device", "h200", "a.c"]);
    project.expect(0, &["--check", "--device", "titan-x-pascal", "a.c"]);
    project.expect(0, &["--check", "a.c"]);
}

#[test]
fn an_unknown_device_comes_with_a_suggestion() {
    let project = Project::new(&[("a.c", SPLITS)]);
    let ran = project.expect(2, &["--device", "h20", "a.c"]);
    assert_contains(&ran.stderr, "there is no device `h20`; did you mean `h200`?");
    assert!(ran.stdout.is_empty());
    let piped = project.pipe(&["-", "--device", "h20", "--stdin-filename", "a.c"], SPLITS.as_bytes());
    assert_eq!((piped.code, piped.stdout.as_slice()), (2, SPLITS.as_bytes()));
}

#[test]
fn a_profile_of_ones_own_is_a_file() {
    let project = Project::new(&[("a.c", SPLITS), ("small.toml", SMALL), ("wrong.toml", "name = 'x'\n")]);
    let ran = project.expect(0, &["--device", "small.toml", "a.c"]);
    comments(&ran, "small");
    assert_contains(&ran.text(), "num_teams(0 <= n && n < 20480 ? n / 128 + 1 : 160)");
    assert_contains(&project.expect(2, &["--device", "wrong.toml", "a.c"]).stderr, "wrong.toml: ");
    assert_contains(&project.expect(2, &["--device", "none.toml", "a.c"]).stderr, "none.toml: ");
}

#[test]
fn the_configuration_names_a_device_and_the_flag_wins() {
    let project = Project::new(&[("src/a.c", SPLITS), ("small.toml", SMALL)]);
    project.write(".ompsplit.toml", b"device = \"small.toml\"\n");
    comments(&project.expect(0, &["src/a.c"]), "small");
    comments(&project.expect(0, &["--device", "h200", "src/a.c"]), "h200");
    project.write(".ompsplit.toml", b"device = \"h201\"\n");
    assert_contains(&project.expect(2, &["src/a.c"]).stderr, "there is no device `h201`");
}

/// A program that stands in for the driver's.
fn native(project: &Project, program: &str) -> Ran {
    let mut command = project.command(&["--device", "native", "a.c"]);
    command.env("OMPSPLIT_NVIDIA_SMI", project.path(program)).stdin(Stdio::null());
    Ran::new(&command.output().unwrap())
}

#[cfg(unix)]
#[test]
fn native_asks_the_driver() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new(&[
        ("a.c", SPLITS),
        ("known", "#!/bin/sh\necho 'NVIDIA H200, 9.0'\necho 'NVIDIA H200, 9.0'\n"),
        ("unknown", "#!/bin/sh\necho 'NVIDIA Thing 1, 99.0'\n"),
        ("broken", "#!/bin/sh\necho 'NVIDIA-SMI has failed' >&2\nexit 9\n"),
    ]);
    for name in ["known", "unknown", "broken"] {
        std::fs::set_permissions(project.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    comments(&native(&project, "known"), "h200");
    for (program, message) in [
        ("unknown", "there is no profile for `NVIDIA Thing 1` of compute capability 99.0"),
        ("broken", "names no GPU"),
        ("missing", "cannot be run"),
    ] {
        let ran = native(&project, program);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert_contains(&ran.stderr, message);
        assert_contains(&ran.stderr, "ompsplit devices");
    }
}

#[test]
fn a_users_grid_that_is_far_off_is_reported_and_kept() {
    let text = "\
enum { N = 4096 };
void f(const float a[N][N], float *sums) {
#pragma omp target
#pragma omp teams num_teams(2)
#pragma omp distribute parallel for
  for (int i = 0; i < N; i++) {
    float sum = 0;
    for (int j = 0; j < N; j++) sum += a[i][j];
    sums[i] = sum;
  }
#pragma omp target teams distribute parallel for num_teams(2) thread_limit(64)
  for (int i = 0; i < N; i++) {
    float sum = 0;
    for (int j = 0; j < N; j++) sum += a[i][j];
    sums[i] = sum;
  }
}
";
    let project = Project::new(&[("a.c", text)]);
    let ran = project.expect(0, &["--device", "h200", "-v", "--output-format", "concise", "a.c"]);
    // The first construct gets a limit, so that its message is about that.
    let full = project.expect(0, &["--device", "h200", "-v", "a.c"]).stderr;
    assert_eq!(full.matches("OMPS450]").count(), 2, "{full}");
    assert_contains(&full, "(line 4) [OMPS450]");
    assert!(!project.expect(0, &["a.c"]).stderr.contains("OMPS450"));
    assert_eq!(ran.text().matches("num_teams(2)").count(), 2);
    let retuned = project.expect(0, &["--device", "h200", "--retune", "-v", "--output-format", "concise", "a.c"]);
    assert_eq!(retuned.text().matches("num_teams(2)").count(), 0, "{}", retuned.text());
    assert!(!retuned.stderr.contains("OMPS450"));
    project.write(".ompsplit.toml", b"device = \"h200\"\nretune = true\n");
    assert_eq!(project.expect(0, &["a.c"]).stdout, retuned.stdout);
    project.expect(0, &["--in-place", "a.c"]);
    project.expect(0, &["--check", "a.c"]);
}

#[test]
fn grids_are_judged_by_a_device_alone() {
    let project = Project::new(&[("a.c", SPLITS)]);
    let ran = project.expect(2, &["--retune", "a.c"]);
    assert_contains(&ran.stderr, "give `--device`");
}

#[test]
fn explain_shows_the_launches() {
    let text = "\
void f(const float *a, float *sums) {
#pragma omp target teams distribute parallel for
  for (int i = 0; i < 1056; i++) {
    float sum = 0;
    for (int j = 0; j < 2048; j++) sum += a[i * 2048 + j];
    sums[i] = sum;
  }
}
";
    let project = Project::new(&[("a.c", text)]);
    let said = project.expect(0, &["explain", "a.c:2", "--device", "h200"]).text();
    for part in [
        "grid for NVIDIA H200: 1056 iterations (known)",
        "sectors a warp and access, 1 uncoalesced",
        "a warp loads 65536 sectors and stores 4 in one iteration",
        "without clauses: 33 x 32, of which 9 teams get work",
        "with thread_limit(128) alone: 9 x 128, of which 9 teams get work",
        "chosen: 1056 x 1, of which 1056 teams get work",
        "blocks on an SM by its blocks; waves: 1",
    ] {
        assert_contains(&said, part);
    }
}

#[test]
fn explain_shows_the_launches_of_the_kernels_that_a_split_makes() {
    let text = "\
void g(int *w) {
#pragma omp target teams distribute parallel for
  for (int i = 0; i < 1000; i++) w[i] = 1;
}
// A change is shown with three lines
// before it and three behind it, and
// those that share some of these are
// shown together. So that the change
// above is one of its own, there are
// seven lines.
void f(const float *a, float *sums) {
#pragma omp target map(to: a[0:2162688]) map(tofrom: sums[0:1056])
  {
#pragma omp parallel for
    for (int i = 0; i < 1056; i++) {
      float sum = 0;
      for (int j = 0; j < 2048; j++) sum += a[i * 2048 + j];
      sums[i] = sum;
    }
#pragma omp parallel for
    for (int i = 0; i < 1056; i++) sums[i] *= 2;
  }
}
";
    let project = Project::new(&[("a.c", text)]);
    let said = project.expect(0, &["explain", "a.c:12", "--device", "h200"]).text();
    for part in [
        "a.c:12:1: split: applied, safe",
        "a.c:14:1: geometry: applied, safe",
        "  grid for NVIDIA H200: 1056 iterations (known)",
        "chosen: 1056 x 1, of which 1056 teams get work",
        "a.c:20:1: geometry: left alone, does not pay",
    ] {
        assert_contains(&said, part);
    }
    // What is done elsewhere in the file is not told.
    assert!(!said.contains("1000") && !said.contains("w[i]"), "{said}");
}

/// Two arrays that no construct needs at once.
const STAYING: &str = "\
void f(int n, double *restrict a, double *restrict b) {
    for (int t = 0; t < 9; t++) {
        #pragma omp target teams distribute parallel for map(tofrom: a[0:n])
        for (int i = 0; i < n; i++)
            a[i] += 1;
        #pragma omp target teams distribute parallel for map(tofrom: b[0:n])
        for (int i = 0; i < n; i++)
            b[i] += 1;
    }
}
";

#[test]
fn data_may_stay_up_to_half_of_the_device_or_what_is_said() {
    let project = Project::new(&[("a.c", STAYING)]);
    let limit = |arguments: &[&str]| {
        let text = project.expect(0, &[&["--passes", "hoist", "a.c"], arguments].concat()).text();
        let (_, rest) = text.split_once("* n <= ").expect("a limit");
        rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default().to_owned()
    };
    assert_eq!(limit(&[]), "2147483648");
    assert_eq!(limit(&["--device", "h200"]), "70500000000");
    assert_eq!(limit(&["--device", "h200", "--device-memory", "1000000"]), "1000000");
    project.write(".ompsplit.toml", b"device_memory = 5000\n");
    assert_eq!(limit(&["--device", "h200"]), "5000");
}
