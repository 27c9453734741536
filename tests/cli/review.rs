//! Changes that are accepted one by one.

use crate::project::{PLAIN, Project, REFUSED, Ran, SPLITS, assert_contains, assert_split, kernels};

fn answer(project: &Project, arguments: &[&str], answers: &str) -> Ran {
    project.pipe(&[&["review"], arguments].concat(), answers.as_bytes())
}

#[test]
fn what_is_accepted_is_written() {
    let second = SPLITS.replace("void f", "void g");
    let both = format!("{SPLITS}{second}");
    let project = Project::new(&[("a.c", &both), ("plain.c", PLAIN), ("refused.c", REFUSED)]);
    // The first one not, the second one yes.
    let ran = answer(&project, &["."], "?\ne\nn\ny\n");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for part in [
        "a.c:2: split: split into 2 kernels",
        "predicted: ",
        "k  keep it so",
        "kernels: 1 before, 2 after",
        "candidates:",
        "+#pragma omp target data",
    ] {
        assert_contains(&ran.text(), part);
    }
    assert_contains(&ran.stderr, "1 file was written");
    let text = String::from_utf8(project.read("a.c")).unwrap();
    assert!(text.starts_with(SPLITS) && text != both && kernels(text.as_bytes()) == 2, "{text}");
    // The rest is what the command line makes of it.
    answer(&project, &["a.c"], &"y\n".repeat(9));
    let reviewed = project.read("a.c");
    project.write("a.c", both.as_bytes());
    assert_eq!(reviewed, project.expect(0, &["a.c"]).stdout);
}

/// Grids that are a part of what another change gains are proposed behind it.
#[test]
fn grids_are_proposed_with_what_they_belong_to() {
    let text = "\
void f(int n, int rounds, double *a) {
  for (int t = 0; t < rounds; t++) {
#pragma omp target teams distribute parallel for map(tofrom: a[0:n])
    for (int i = 0; i < n; i++) a[i] += 1;
#pragma omp target teams distribute parallel for map(tofrom: a[0:n])
    for (int i = 0; i < n; i++) a[i] *= 2;
  }
}
";
    let project = Project::new(&[("a.c", text), ("b.c", text)]);
    answer(&project, &["a.c"], &"y\n".repeat(9));
    let reviewed = project.read("a.c");
    assert_contains(&String::from_utf8_lossy(&reviewed), "thread_limit(128)");
    assert_eq!(reviewed, project.expect(0, &["b.c"]).stdout);
    // Where nothing else is accepted, they are not worth it.
    answer(&project, &["b.c"], &"n\n".repeat(9));
    assert_eq!(project.read("b.c"), text.as_bytes());
}

#[test]
fn whoever_stops_or_goes_keeps_what_was_accepted() {
    let both = format!("{SPLITS}{}", SPLITS.replace("void f", "void g"));
    for answers in ["y\nq\n", "y\n"] {
        let project = Project::new(&[("a.c", &both), ("b.c", SPLITS)]);
        let ran = answer(&project, &["a.c", "b.c"], answers);
        assert_eq!(ran.code, 0);
        assert_eq!(kernels(&project.read("a.c")), 2, "{}", ran.text());
        assert_eq!(project.read("b.c"), SPLITS.as_bytes());
    }
    let project = Project::new(&[("a.c", SPLITS)]);
    answer(&project, &["a.c"], "q\n");
    assert_eq!(project.read("a.c"), SPLITS.as_bytes());
}

#[test]
fn what_is_kept_so_is_not_proposed_again() {
    for text in [SPLITS.to_owned(), SPLITS.replace('\n', "\r\n"), SPLITS.trim_end().to_owned()] {
        let project = Project::new(&[("a.c", &text)]);
        answer(&project, &["a.c"], &"k\n".repeat(5));
        let kept = String::from_utf8(project.read("a.c")).unwrap();
        assert_contains(&kept, "// ompsplit off");
        assert_eq!(kept.contains('\r'), text.contains('\r'));
        assert_eq!(kept.lines().filter(|line| !line.contains("// ompsplit o")).count(), text.lines().count());
        project.expect(0, &["--check", "a.c"]);
        assert_eq!(answer(&project, &["a.c"], "").text(), "");
    }
}

#[test]
fn an_assumption_is_asked_for() {
    let text = "\
template <class T> void f(int n, T *a) {
#pragma omp target map(tofrom: a[0:n])
  {
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] += 1;
#pragma omp parallel for
    for (int i = 1; i < n; i++) a[i] *= 2;
  }
}
";
    let project = Project::new(&[("a.cpp", text)]);
    let ran = answer(&project, &["a.cpp"], &"y\n".repeat(5));
    assert_contains(&ran.text(), "! assumes that `T` is an arithmetic type");
    assert_split(&project.read("a.cpp"));
    let ran = answer(&project, &["missing.c"], "");
    assert_eq!(ran.code, 2);
    assert_contains(&ran.stderr, "missing.c: ");
}
