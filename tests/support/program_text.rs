//! Generated programs: target regions with loops, host code and odd things between them.

use proptest::prelude::*;

/// A C program with one to three target regions.
pub fn program() -> impl Strategy<Value = String> {
    prop::collection::vec(region(), 1..4).prop_map(|regions| {
        let mut text = String::from(
            "#define N 4096\nstatic int a[N], b[N], c[N];\nint g(int);\nint main(void) {\n  int s = 0, n = N;\n",
        );
        for region in regions {
            text.push_str(&region);
        }
        text.push_str("  return s + a[1] + b[2] + c[3] + n;\n}\n");
        text
    })
}

/// One region: a directive and a block of segments.
fn region() -> impl Strategy<Value = String> {
    let head = prop::sample::select(
        &[
            "#pragma omp target",
            "#pragma omp target map(tofrom: a, b, c)",
            "#pragma omp target map(to: a[0:N]) map(tofrom: b, c) map(tofrom: s)",
            "#pragma omp target teams",
            "#pragma omp target teams num_teams(8) thread_limit(64) map(tofrom: s)",
            "#pragma omp target \\\n    map(a, b) device(0) // a comment",
            "#pragma omp target nowait",
            "#pragma omp target if(n > 100)",
        ][..],
    );
    let braces = any::<bool>();
    (head, prop::collection::vec(segment(), 0..5), braces).prop_map(|(head, segments, braces)| {
        let inner: String = segments.into_iter().map(|segment| fit(&segment, head)).collect();
        match (braces, inner.is_empty()) {
            (true, _) | (false, true) => format!("{head}\n  {{\n{inner}  }}\n"),
            // Without braces only the first segment belongs to the region, as in real code that is written so.
            (false, false) => format!("{head}\n{inner}"),
        }
    })
}

/// One thing in a region.
fn segment() -> impl Strategy<Value = String> {
    let body = prop::sample::select(
        &[
            "a[i] = b[i] + 1;",
            "b[i] += a[N - 1 - i];",
            "{ c[i] = a[i]; s += c[i]; }",
            "{ int t = i; c[t] ^= t; }",
            "a[i] = g(i);",
        ][..],
    );
    let clauses = prop::sample::select(
        &[
            "",
            " reduction(+: s)",
            " schedule(static, 1)",
            " num_threads(4)",
            " private(n)",
            " nowait",
            " collapse(1)",
            " if(n)",
        ][..],
    );
    let looped = (clauses, body)
        .prop_map(|(clauses, body)| format!("#pragma omp @{clauses}\n    for (int i = 0; i < N; i++)\n      {body}\n"));
    let serial = prop::sample::select(
        &[
            "    s = s + 1;\n",
            "    int t = s;\n",
            "    // only a comment\n",
            "    if (s > 3)\n      a[0] = 1;\n",
            "    for (int k = 0; k < 3; k++)\n      a[k] = k;\n",
            "    while (n-- > 4000) {\n#pragma omp @\n      for (int i = 0; i < N; i++) a[i]++;\n    }\n",
            "#pragma omp barrier\n",
            "    ;\n",
        ][..],
    );
    prop_oneof![4 => looped, 1 => serial.prop_map(str::to_owned)]
}

/// Names the loop directives after the region they stand in.
fn fit(segment: &str, head: &str) -> String {
    let inner = if head.contains("teams") { "distribute parallel for" } else { "parallel for" };
    segment.replace("omp @", &format!("omp {inner}"))
}
