//! Passes, ranges, assumptions.

use crate::project::{Project, SPLITS, assert_contains, kernels};

#[test]
fn an_unknown_pass_comes_with_a_suggestion() {
    let project = Project::new(&[("a.c", SPLITS)]);
    let ran = project.expect(2, &["--passes", "splt", "a.c"]);
    assert_contains(&ran.stderr, "there is no pass `splt`; did you mean `split`?");
    assert!(ran.stdout.is_empty());
}

#[test]
fn all_passes_are_built() {
    let project = Project::new(&[("a.c", SPLITS)]);
    // Without a `target data` construct there is nothing that it could overlap.
    let ran = project.expect(0, &["--passes", "overlap", "a.c"]);
    assert_eq!(ran.stdout, SPLITS.as_bytes());
    assert!(!ran.stderr.contains("planned"));
    // Others include it, so that it gets no tiles: the header that they need finds no place.
    let project = Project::new(&[("a.h", SPLITS)]);
    let all = project.expect(0, &["--passes", "all", "a.h"]);
    assert_eq!(kernels(&all.stdout), 2);
    assert!(!all.stderr.contains("planned"));
}

#[test]
fn lines_choose_the_constructs_that_touch_them() {
    let text = format!("{SPLITS}{}", SPLITS.replace("f(", "g("));
    let project = Project::new(&[("a.c", text.as_str())]);
    assert_eq!(kernels(&project.expect(0, &["a.c"]).stdout), 4);
    let second = project.expect(0, &["--lines", "15:15", "a.c"]).stdout;
    assert_eq!(kernels(&second), 2);
    assert!(second.starts_with(SPLITS.as_bytes()));
    assert_eq!(kernels(&project.expect(0, &["--lines", "3:4", "--lines", "12:99", "a.c"]).stdout), 4);
    assert_eq!(kernels(&project.expect(0, &["--lines", "9:10", "a.c"]).stdout), 0);
}

#[test]
fn split_counts_on_collapse_where_it_follows() {
    let project = Project::new(&[("a.c", STEPS)]);
    let asked = |passes: &str| {
        let text = project.expect(1, &["--diff", "--versioned", "--passes", passes, "a.c"]);
        let text = String::from_utf8(text.stdout).unwrap();
        let asked = text.split("if (n >= ").nth(1).unwrap_or_default();
        asked.split(')').next().unwrap_or_default().parse::<u32>().unwrap()
    };
    let (alone, followed) = (asked("split"), asked("split,collapse"));
    assert!(followed < alone, "{followed} and {alone}");
}

const STEPS: &str = "void smooth(int n, int steps, double *restrict a, double *restrict b)
{
#pragma omp target map(tofrom: a[0:n * n * n], b[0:n * n * n])
    for (int s = 0; s < steps; s++) {
#pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    b[(i * n + j) * n + k] = a[(i * n + j) * n + k - 1] + a[(i * n + j) * n + k + 1];
#pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    a[(i * n + j) * n + k] = b[(i * n + j) * n + k];
    }
}
";
