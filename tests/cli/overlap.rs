//! When the pass `overlap` pays, and what `explain` says of it.

use crate::project::{Project, assert_contains};

/// A block whose first kernel executes `BODY` for each element, and whose second uses another array of as many.
fn block(body: &str) -> String {
    format!(
        "void step(long n, int steps, double *x, double *c) {{\n  #pragma omp target data map(tofrom: x[0:n]) map(to: c[0:n])\n  \
         {{\n    #pragma omp target teams distribute parallel for\n    for (long i = 0; i < n; i++)\n      {body}\n    \
         #pragma omp target teams distribute parallel for\n    for (long i = 0; i < n; i++)\n      x[i] += c[i];\n  }}\n}}\n"
    )
}

#[test]
fn kernels_must_hide_enough_of_a_copy() {
    // One operation for each element takes much less than its copy, some thousands take as long.
    let light = block("x[i] *= 2;");
    let heavy = block("{ double y = x[i]; for (int k = 0; k < steps; k++) y = y * y + 1; x[i] = y; }");
    let project = Project::new(&[("light.c", light.as_str()), ("heavy.c", heavy.as_str())]);
    let ran = project.expect(0, &["-v", "--passes", "overlap", "light.c"]);
    assert_eq!(String::from_utf8_lossy(&ran.stdout), light);
    assert_contains(&ran.stderr, "OMPS256");
    let ran = project.expect(0, &["--passes", "overlap", "heavy.c"]);
    assert_contains(&String::from_utf8_lossy(&ran.stdout), "LEAST_BYTES = 33554432");
    // A size that is asked for changes both.
    for file in ["light.c", "heavy.c"] {
        let ran = project.expect(0, &["--passes", "overlap", "--pipeline-from", "65536", file]);
        assert_contains(&String::from_utf8_lossy(&ran.stdout), "LEAST_BYTES = 65536");
    }
}

#[test]
fn explain_tells_beside_what_an_array_travels() {
    let heavy = block("for (int k = 0; k < 5000; k++) x[i] = x[i] * x[i] + 1;");
    let project = Project::new(&[("a.c", heavy.as_str())]);
    let ran = project.expect(0, &["explain", "--passes", "overlap", "a.c:2"]);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_contains(&said, "beside 1 kernel from line 4 on");
    assert_contains(&said, "`c` is copied to the device, of which");
}
