//! Flags of the compiler that change what a text means.

use crate::project::Project;

const STRIDE: &str = "\
#ifndef STRIDE
#define STRIDE 1
#endif
#ifndef REAL
#define REAL float
#endif
void by_stride(int n, int m, double *p) {
#pragma omp target teams distribute parallel for map(tofrom: p[0:n*m])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      p[i * m + j * STRIDE] = p[i * m + j * STRIDE] * 0.5 + j;
}
extern REAL q[4096];
void by_type(int n, int m, int *p) {
#pragma omp target teams distribute parallel for
  for (int i = 0; i < n; i++)
    for (int j = 1; j < m; j++)
      p[i * m + j] = q[i * m + j - 1] + 1;
}
void by_promise(int n, int m, int *restrict p, int *q) {
#pragma omp target teams distribute parallel for
  for (int i = 0; i < n; i++)
    for (int j = 1; j < m; j++)
      p[i * m + j] = q[i * m + j - 1] + 1;
}
";

/// How many nests are collapsed with these flags.
fn collapsed(flags: &[&str]) -> usize {
    let project = Project::new(&[("a.c", STRIDE)]);
    let arguments = [&["--passes", "collapse", "a.c", "--"], flags].concat();
    project.expect(0, &arguments).text().matches("collapse(2)").count()
}

#[test]
fn a_macro_that_a_flag_defines_is_not_what_the_text_defines() {
    assert_eq!(collapsed(&[]), 3);
    assert_eq!(collapsed(&["-DSTRIDE=0"]), 2);
    assert_eq!(collapsed(&["-D", "STRIDE=0"]), 2);
    assert_eq!(collapsed(&["-USTRIDE"]), 2);
    assert_eq!(collapsed(&["-DREAL=int"]), 2);
    assert_eq!(collapsed(&["-Drestrict="]), 2);
    assert_eq!(collapsed(&["-DOTHER=0"]), 3);
}

#[test]
fn aliasing_and_overflow_are_as_the_flags_say() {
    assert_eq!(collapsed(&["-fno-strict-aliasing"]), 2);
    assert_eq!(collapsed(&["-fno-strict-aliasing", "-fstrict-aliasing"]), 3);
    assert_eq!(collapsed(&["-fwrapv"]), 0);
}
