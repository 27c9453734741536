//! The flags of the pass `pipeline`, and what `explain` says of it.

use crate::project::{Project, Ran, assert_contains};

const SCALE: &str = "\
#include <stdlib.h>
void scale(long n, double f, const double *u, double *v) {
  #pragma omp target teams distribute parallel for map(to: u[0:n]) map(from: v[0:n])
  for (long i = 0; i < n; i++)
    v[i] = f * u[i];
}
";

/// 48 MiB each way.
const KNOWN: &str = "\
#include <stdlib.h>
static double u[6291456], v[6291456];
void scale(double f) {
  #pragma omp target teams distribute parallel for map(to: u) map(from: v)
  for (long i = 0; i < 6291456; i++)
    v[i] = f * u[i];
}
";

/// Two arrays go to the device with the first loop, one comes back with the second.
const BLOCK: &str = "\
#include <stdlib.h>
void smooth(long n, long m, const double *u, double *v) {
  #pragma omp target data map(to: u[0:n*m]) map(tofrom: v[0:n*m])
  {
    #pragma omp target teams distribute parallel for
    for (long i = 0; i < n; i++)
      for (long j = 0; j < m; j++)
        v[i * m + j] += u[i * m + j];
    #pragma omp target teams distribute parallel for
    for (long i = 0; i < n; i++)
      for (long j = 0; j < m; j++)
        v[i * m + j] *= 0.5;
  }
}
";

fn run(project: &Project, arguments: &[&str]) -> Ran {
    project.expect(0, &[&["-v", "--passes", "pipeline", "a.c"], arguments].concat())
}

#[test]
fn tiles_and_their_least_size_are_constants_flags_or_what_suits_the_device() {
    let project = Project::new(&[("a.c", SCALE)]);
    let constants = |arguments: &[&str], wanted: &str, title: &str| {
        let text = run(&project, arguments).text();
        assert_contains(&text, wanted);
        assert_contains(&text, &format!("(sizes: {title})"));
    };
    constants(&[], "enum { TILES = 16, THREADS = 16, LEAST_BYTES = 33554432 };", "NVIDIA H200");
    constants(&["--device", "h200"], "TILES = 16, THREADS = 16, LEAST_BYTES = 33554432", "NVIDIA H200");
    constants(&["--pin", "register"], "TILES = 16, THREADS = 4, LEAST_BYTES = 33554432", "NVIDIA H200");
    constants(&["--pipeline-tiles", "12"], "TILES = 12, THREADS = 16, LEAST_BYTES = 33554432", "NVIDIA H200");
    constants(&["--pipeline-from", "5"], "TILES = 16, THREADS = 16, LEAST_BYTES = 5", "NVIDIA H200");
    let both = ["--device", "h200", "--pipeline-from", "5", "--pipeline-tiles", "12"];
    constants(&both, "TILES = 12, THREADS = 16, LEAST_BYTES = 5", "NVIDIA H200");
    // A window has room for several rounds.
    constants(&["--pipeline-window", "6"], "TILES = 24, WINDOW = 6", "NVIDIA H200");
    constants(&["--pipeline-window", "6", "--pipeline-tiles", "7"], "TILES = 7, WINDOW = 6", "NVIDIA H200");
    // The file of a device says otherwise.
    let profile =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/transformer/src/device/profiles/h200.toml"))
            .unwrap();
    let slow = profile.replace("pin_us = 120.0", "pin_us = 2000.0").replace("tile_us = 32.0", "tile_us = 500.0");
    project.write("slow.toml", slow.replace("NVIDIA H200\"", "Slow\"").as_bytes());
    let of_slow = ["--device", "slow.toml", "--pin", "register"];
    constants(&of_slow, "TILES = 4, THREADS = 4, LEAST_BYTES = 268435456", "Slow");
    // Where page-locking takes longer than the copies nothing pays, unless it is asked for.
    let dear = profile.replace("pin_ms_per_gb = 40.0", "pin_ms_per_gb = 400.0").replace("NVIDIA H200\"", "Dear\"");
    project.write("dear.toml", dear.as_bytes());
    let left = run(&project, &["--device", "dear.toml", "--pin", "register"]);
    assert_contains(&left.stderr, "on Dear tiles gain less than page-locking takes, however much is copied");
    let asked = ["--device", "dear.toml", "--pin", "register", "--pipeline-from", "1000"];
    constants(&asked, "LEAST_BYTES = 1000", "Dear");
    for pin in ["none", "stage"] {
        constants(&["--device", "dear.toml", "--pin", pin], "TILES = ", "Dear");
    }
    // Buffers need memory of the host that is faster than what is copied as it is.
    let narrow =
        profile.replace("staged_gb_per_s = 45.0", "staged_gb_per_s = 11.0").replace("NVIDIA H200\"", "Narrow\"");
    project.write("narrow.toml", narrow.as_bytes());
    let left = run(&project, &["--device", "narrow.toml"]);
    assert_contains(&left.stderr, "on Narrow tiles gain too little, however much is copied");
}

#[test]
fn known_sizes_are_compared_here_and_now() {
    let project = Project::new(&[("a.c", KNOWN)]);
    let text = run(&project, &[]).text();
    assert!(text.contains("TILES = 16") && !text.contains("LEAST_BYTES"), "{text}");
    // 8 tiles suit 48 MiB that are page-locked.
    let text = run(&project, &["--device", "h200", "--pin", "register"]).text();
    assert!(text.contains("TILES = 8") && !text.contains("LEAST_BYTES"), "{text}");
    let left = run(&project, &["--pipeline-from", "50331649"]);
    assert_contains(&left.stderr, "50331648 bytes of `u` are copied; it pays from 50331649 on");
}

#[test]
fn explain_says_what_moves_and_what_the_sizes_are_chosen_by() {
    let project = Project::new(&[("a.c", SCALE)]);
    let said = |arguments: &[&str]| {
        project.expect(0, &[&["explain", "a.c:3", "--passes", "pipeline"], arguments].concat()).text()
    };
    let text = said(&[]);
    assert_contains(&text, "    u: in, 1 element for each iteration\n    v: back, 1 element for each iteration\n");
    assert_contains(&text, "an NVIDIA H200, since no device is asked for: 16 tiles, from 33554432 bytes");
    assert!(!text.contains("page-locking"), "{text}");
    let text = said(&["--device", "h200"]);
    assert_contains(&text, "sizes for NVIDIA H200: 16 tiles, from 33554432 bytes of the largest array on");
    assert_contains(&text, "1024 MiB: 19");
    assert_contains(&text, "ms in tiles, with the page-locking that each run takes");
}

#[test]
fn the_loops_of_a_block_are_sized_by_their_own_arrays() {
    let project = Project::new(&[("a.c", BLOCK)]);
    let said = |arguments: &[&str]| {
        project.expect(0, &[&["explain", "a.c:4", "--passes", "pipeline"], arguments].concat()).text()
    };
    let text = said(&[]);
    assert_contains(&text, "    u: in, m elements for each iteration of the loop in line 5\n");
    assert_contains(&text, "    v: in, m elements for each iteration of the loop in line 5\n");
    assert_contains(&text, "    v: back, m elements for each iteration of the loop in line 9\n");
    assert_contains(&text, "since no device is asked for: 16 tiles, from 33554432 bytes");
    assert_contains(
        &said(&["--device", "h200"]),
        "sizes for NVIDIA H200: 16 tiles, from 33554432 bytes of the largest array on",
    );
    let registered = ["--device", "h200", "--pin", "register"];
    let text = said(&registered);
    // Each loop's copies go one way, so that only its kernels are hidden, by few tiles; and more is copied than one array each way.
    assert_contains(&text, "sizes for NVIDIA H200: 4 tiles, from 16777216 bytes of the largest array on");
    assert_contains(&text, "1024 MiB: 3");
    let rewritten = run(&project, &registered).text();
    assert_contains(&rewritten, "TILES = 4, THREADS = 4, LEAST_BYTES = 16777216");
}

#[test]
fn other_compilers_get_tiles_on_demand() {
    let project = Project::new(&[("a.c", SCALE)]);
    let gcc = project.expect(0, &["-v", "--passes", "pipeline", "--for", "gcc", "--check", "a.c"]);
    assert_contains(&gcc.stderr, "note[OMPS250]: GCC's runtime copies and launches one after the other");
    let llvm = run(&project, &["--pipeline-from", "7"]).text();
    assert_eq!(run(&project, &["--for", "gcc", "--pipeline-from", "7"]).text(), llvm);
    let nvhpc = project.expect(0, &["-v", "--passes", "pipeline", "--for", "nvhpc", "--check", "a.c"]);
    assert_contains(&nvhpc.stderr, "OMPS305");
    assert_eq!(run(&project, &["--for", "nvhpc", "--assume", "--pipeline-from", "7"]).text(), llvm);
}

#[test]
fn a_promise_holds_in_its_block() {
    // clang 19 does not read the block form of `assume`, so that no fixture has it.
    let promised = |promise: &str| {
        SCALE.replace("  #pragma omp target", &format!("  #pragma omp assume {promise}\n  {{\n  #pragma omp target"))
            + "}\n"
    };
    for promise in ["no_openmp", "no_openmp_constructs", "no_openmp_routines", "no_parallelism"] {
        let project = Project::new(&[("a.c", &promised(promise))]);
        let refused = project.expect(0, &["-v", "--passes", "pipeline", "--check", "a.c"]);
        assert_contains(&refused.stderr, "OMPS105");
    }
    let project = Project::new(&[("a.c", &promised("contains(target)"))]);
    assert_contains(&run(&project, &[]).text(), "TILES = 16");
}

#[test]
fn macros_of_flags_are_no_names_for_constants() {
    let project = Project::new(&[("a.c", SCALE)]);
    let run = |flags: &[&str]| {
        let arguments = ["--pipeline-from", "1", "--"];
        run(&project, &[arguments.as_slice(), flags].concat()).text()
    };
    assert_contains(&run(&[]), "enum { TILES = 16, THREADS = ");
    assert_contains(&run(&["-DTHREADS=4", "-D", "TILES"]), "enum { TILES_2 = 16, THREADS_2 = ");
}
