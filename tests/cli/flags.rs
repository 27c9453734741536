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

const SIZES: &str = "void f(double *a) {
#pragma omp target map(tofrom: a[0:N*M])
  {
#pragma omp parallel for
    for (int i = 0; i < N*M; i++) a[i] = i;
#pragma omp parallel for
    for (int i = 0; i < N*M; i++) a[i] += a[N*M - 1 - i] > 0;
  }
}
";

#[test]
fn a_number_that_a_flag_defines_is_a_number() {
    let project = Project::new(&[("a.c", SIZES)]);
    let split = |flags: &[&str]| project.expect(0, &[&["--passes", "split", "a.c"], flags].concat()).text() != SIZES;
    assert!(split(&["-DN=4000000", "-DM=2"]));
    assert!(split(&["-DM=2", "--", "-DN=4000000"]));
    assert!(split(&["-DN=(4000000)", "-DM=0x2u"]));
    assert!(!split(&[]));
    assert!(!split(&["-DN=4000000"]));
    // Which of these holds is not asked, nor what is more than a number.
    assert!(!split(&["-DN=4000000", "-DM=2", "-DM=3"]));
    assert!(!split(&["-DN=4000000", "-DM=2", "--", "-UM"]));
    assert!(!split(&["-DN=4000000", "-DM=(*a)"]));
    assert!(!split(&["-DN=4000000", "-DM(x)=2"]));
}
