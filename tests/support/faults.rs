//! Outputs with a known fault: the checks must find each of them, or they prove nothing.

use super::oracle::Kind;

/// An original, an output made of it, and what must be found wrong with it.
pub struct Fault {
    /// What was done wrong.
    pub name: &'static str,
    /// The original.
    pub original: String,
    /// The wrong output.
    pub output: String,
    /// What must be found; nothing for an output that is right.
    pub expected: Option<Kind>,
}

/// A program with two loops in one target region.
const LOOPS: &str = r#"#include <stdio.h>
#define N 1000000
static int a[N], b[N], c[N];
int main(void) {
  long sum = 0, check = 0;
  for (int i = 0; i < N; i++) { a[i] = i % 7; b[i] = i % 5; c[i] = 1; }
@REGION@
  for (int i = 0; i < N; i++) check += (long)(a[i] + 3 * b[i] + 5 * c[i]) * (i % 11);
  printf("%ld %ld\n", sum, check);
  return 0;
}
"#;

const LOOPS_ORIGINAL: &str = "#pragma omp target map(to: a) map(tofrom: b, sum) map(from: c)
  {
#pragma omp parallel for
    for (int i = 0; i < N; i++) b[i] += 2 * a[i];
#pragma omp parallel for reduction(+: sum)
    for (int i = 0; i < N; i++) { c[i] = b[N - 1 - i]; sum += c[i]; }
  }";

const LOOPS_SPLIT: &str = "#pragma omp target data map(to: a) map(tofrom: b, sum) map(from: c)
  {
#pragma omp target teams distribute parallel for map(to: a) map(tofrom: b)
    for (int i = 0; i < N; i++) b[i] += 2 * a[i];
#pragma omp target teams distribute parallel for map(tofrom: b, sum) map(from: c) reduction(+: sum)
    for (int i = 0; i < N; i++) { c[i] = b[N - 1 - i]; sum += c[i]; }
  }";

/// A program whose rows are each a prefix sum.
const ROWS: &str = r#"#include <stdio.h>
#define N 60
#define M 2000
static int a[N][M];
int main(void) {
  for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) a[i][j] = (i + j) % 7;
@REGION@
  long check = 0;
  for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) check += (long)a[i][j] * (j % 13);
  printf("%ld\n", check);
  return 0;
}
"#;

const ROWS_LOOPS: &str = "
  for (int i = 0; i < N; i++)
    for (int j = 1; j < M; j++) a[i][j] += a[i][j - 1];";

/// A program that allocates, and whose host part changes an array between two regions.
const POINTERS: &str = r#"#include <stdio.h>
#include <stdlib.h>
int main(void) {
  int n = 5000;
  int *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
  for (int i = 0; i < n; i++) { a[i] = i % 9; b[i] = 0; }
@REGION@
  long check = 0;
  for (int i = 0; i < n; i++) check += (long)(a[i] + 2 * b[i]) * (i % 13);
  printf("%ld\n", check);
  free(a);
  free(b);
  return 0;
}
"#;

const POINTERS_ORIGINAL: &str = "#pragma omp target teams distribute parallel for map(tofrom: a[0:n], b[0:n])
  for (int i = 0; i < n; i++) b[i] += a[i];
  a[17] = 1000;
#pragma omp target teams distribute parallel for map(tofrom: a[0:n], b[0:n])
  for (int i = 0; i < n; i++) b[i] += 2 * a[i];";

const POINTERS_UNITED: &str = "#pragma omp target data map(tofrom: a[0:n], b[0:n])
  {
#pragma omp target teams distribute parallel for map(tofrom: a[0:n], b[0:n])
  for (int i = 0; i < n; i++) b[i] += a[i];
  a[17] = 1000;
#pragma omp target update to(a[17])
#pragma omp target teams distribute parallel for map(tofrom: a[0:n], b[0:n])
  for (int i = 0; i < n; i++) b[i] += 2 * a[i];
  }";

/// A prefix sum whose one thread makes it right.
const PREFIX: &str = r#"#include <stdio.h>
#define N 1000000
static int a[N];
int main(void) {
  for (int i = 0; i < N; i++) a[i] = i % 3;
@REGION@
  printf("%d %d\n", a[N / 2], a[N - 1]);
  return 0;
}
"#;

const PREFIX_LOOP: &str = "\n  for (int i = 1; i < N; i++) a[i] += a[i - 1];";

/// A region whose one team smooths each element of many rows, and then sums up each row in order.
const TEAM: &str = r#"#include <stdio.h>
#define N 60
#define M 2000
static int a[N][M], b[N][M];
int main(void) {
  for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) a[i][j] = (i + j) % 7;
@REGION@
  long check = 0;
  for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) check += (long)a[i][j] * (j % 13);
  printf("%ld\n", check);
  return 0;
}
"#;

const TEAM_ORIGINAL: &str = "#pragma omp target map(tofrom: a) map(alloc: b)
  for (int t = 0; t < 3; t++) {
#pragma omp parallel for
    for (int i = 0; i < N; i++)
      for (int j = 1; j < M; j++) b[i][j] = (a[i][j] + a[i][j - 1]) % 1009;
#pragma omp parallel for
    for (int i = 0; i < N; i++)
      for (int j = 1; j < M; j++) a[i][j] = b[i][j] + a[i][j - 1] % 3;
  }";

const TEAM_WIDENED: &str = "#pragma omp target map(tofrom: a) map(alloc: b) thread_limit(1024)
  for (int t = 0; t < 3; t++) {
#pragma omp parallel for collapse(2)
    for (int i = 0; i < N; i++)
      for (int j = 1; j < M; j++) b[i][j] = (a[i][j] + a[i][j - 1]) % 1009;
#pragma omp parallel for
    for (int i = 0; i < N; i++)
      for (int j = 1; j < M; j++) a[i][j] = b[i][j] + a[i][j - 1] % 3;
  }";

/// Every pair, the right ones first.
pub fn all() -> Vec<Fault> {
    let loops = |name, output: String, expected| fault(name, LOOPS, LOOPS_ORIGINAL, &output, expected);
    let pointers = |name, output: String, expected| fault(name, POINTERS, POINTERS_ORIGINAL, &output, expected);
    let split = |from: &str, to: &str| replaced(LOOPS_SPLIT, from, to);
    let united = |from: &str, to: &str| replaced(POINTERS_UNITED, from, to);
    let one_thread = format!("#pragma omp target parallel for num_threads(1){PREFIX_LOOP}");
    let widened = format!("#pragma omp target teams distribute parallel for{PREFIX_LOOP}");
    let rows = format!("#pragma omp target teams distribute parallel for{ROWS_LOOPS}");
    let collapsed = format!("#pragma omp target teams distribute parallel for collapse(2){ROWS_LOOPS}");
    let team = |name, output: String, expected| fault(name, TEAM, TEAM_ORIGINAL, &output, expected);
    let widened_team = |from: &str, to: &str| replaced(TEAM_WIDENED, from, to);
    let second = LOOPS_SPLIT.rfind("#pragma").and_then(|at| LOOPS_SPLIT.get(..at)).unwrap_or_default();
    vec![
        loops("a right split", LOOPS_SPLIT.to_owned(), None),
        pointers("a right data environment", POINTERS_UNITED.to_owned(), None),
        loops(
            "a dropped map of an array",
            split("(tofrom: b, sum) map(from: c)\n  {", "(tofrom: sum) map(from: c)\n  {"),
            Some(Kind::Transfers),
        ),
        loops(
            "every map of the data environment dropped",
            split("target data map(to: a) map(tofrom: b, sum) map(from: c)", "target data map(to: a)"),
            Some(Kind::Transfers),
        ),
        pointers(
            "a dropped map of a pointer",
            united("data map(tofrom: a[0:n], b[0:n])", "data map(tofrom: b[0:n])")
                .replace("for map(tofrom: a[0:n], b[0:n])", "for map(tofrom: b[0:n])")
                .replace("#pragma omp target update to(a[17])\n", ""),
            Some(Kind::UnmappedPointer),
        ),
        pointers("a missing update", united("#pragma omp target update to(a[17])\n", ""), Some(Kind::Results)),
        fault("a widened prefix sum", PREFIX, &one_thread, &widened, Some(Kind::Results)),
        team("a right team of many threads", TEAM_WIDENED.to_owned(), None),
        team(
            "a sum in order that a team collapses",
            widened_team("parallel for\n", "parallel for collapse(2)\n"),
            Some(Kind::Results),
        ),
        team(
            "several teams in the place of one",
            widened_team("target map", "target teams num_teams(8) map"),
            Some(Kind::Results),
        ),
        team("a team without its second loop's threads", widened_team("#pragma omp parallel for\n", ""), None),
        fault(
            "a team of many threads in the place of one thread",
            PREFIX,
            &format!("#pragma omp target map(tofrom: a) thread_limit(1)\n#pragma omp parallel for{PREFIX_LOOP}"),
            &format!("#pragma omp target map(tofrom: a) thread_limit(1024)\n#pragma omp parallel for{PREFIX_LOOP}"),
            Some(Kind::Results),
        ),
        fault("a collapsed prefix sum", ROWS, &rows, &collapsed, Some(Kind::Results)),
        loops(
            "to and from exchanged",
            split("map(to: a) map(tofrom: b, sum) map(from: c)", "map(from: a) map(tofrom: b, sum) map(to: c)"),
            Some(Kind::Results),
        ),
        loops("a dropped reduction", split(" reduction(+: sum)", ""), Some(Kind::Results)),
        loops(
            "a dropped reduction and map of its variable",
            split(" reduction(+: sum)", "").replace("b, sum", "b"),
            Some(Kind::Results),
        ),
        loops("a removed loop", format!("{second}  }}"), Some(Kind::Results)),
        loops(
            "no data environment",
            split("#pragma omp target data map(to: a) map(tofrom: b, sum) map(from: c)\n", ""),
            Some(Kind::Transfers),
        ),
    ]
}

fn fault(name: &'static str, program: &str, original: &str, output: &str, expected: Option<Kind>) -> Fault {
    let with = |region: &str| program.replace("@REGION@", region);
    Fault { name, original: with(original), output: with(output), expected }
}

/// The text with one passage exchanged. A passage that is not there gives the right output back, which the test then
/// reports as a fault that was not found.
fn replaced(text: &str, from: &str, to: &str) -> String {
    text.replacen(from, to, 1)
}
