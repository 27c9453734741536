//! An original that fails is no reference for its output.

use crate::project::{Project, assert_contains, assert_split};

/// A program with a region that splits, and what it does at its end.
fn program(end: &str) -> String {
    format!(
        "#include <stdio.h>
#include <stdlib.h>
static int a[900];
int main(int n, char **arguments) {{
  int m = n > 5 ? n : 900;
#pragma omp target map(from: a)
  {{
#pragma omp parallel for
    for (int i = 0; i < m; i++) a[i] = i % 7;
#pragma omp parallel for
    for (int i = 0; i < m; i++) a[i] *= 2;
  }}
  {end}
}}
"
    )
}

#[test]
fn an_original_that_fails_is_no_reference() {
    let quick = ["-i", "a.c", "--verify", "host", "--verify-no-races", "--assumed-iterations", "1000000000"];
    for (end, further, part) in [
        ("return 3;", None, "exit status 3 where 0 is expected (`exit = 3` in [verify], or --verify-exit 3"),
        ("puts(\"give -m event\"); return 1;", None, "says that it is right):\n    give -m event"),
        ("return 0;", Some(["--verify-exit", "3"]), "exit status 0 where 3 is expected"),
        ("abort();", None, "it ends with signal 6"),
        ("for (;;) a[0] = rand();", Some(["--verify-timeout", "0.5"]), "no end after 0.5 s (`timeout` in [verify]"),
    ] {
        let text = program(end);
        let project = Project::new(&[("a.c", &text)]);
        let ran = project.expect(2, &[&quick[..], further.as_ref().map_or(&[], |f| &f[..])].concat());
        assert_contains(&ran.stderr, "the original is no reference: it ends with ");
        assert_contains(&ran.stderr, part);
        assert_eq!(project.read("a.c"), text.as_bytes());
    }
    let project = Project::new(&[("a.c", &program("return 3;"))]);
    project.expect(0, &[&quick[..], &["--verify-exit", "3"]].concat());
    assert_split(&project.read("a.c"));
    let project = Project::new(&[("a.c", &program("return 3;")), (".ompsplit.toml", "[verify]\nexit = 3\n")]);
    project.expect(0, &quick);
}

#[test]
fn an_original_that_cannot_be_built_says_why() {
    let broken = "#warning beside\nint f(void) {\n  return missing;\n}\n";
    let project = Project::new(&[("a.c", &program("return 0;")), ("b.c", broken)]);
    let arguments = ["-i", "a.c", "--verify", "host", "--verify-source", "b.c", "--assumed-iterations", "1000000000"];
    let ran = project.expect(2, &arguments);
    assert_contains(&ran.stderr, "original cannot be built, for b.c does not compile");
    assert_contains(&ran.stderr, "b.c:3:10: error: use of undeclared identifier 'missing'");
}
