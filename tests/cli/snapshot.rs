//! Decisions that are written down and compared.

use crate::project::{PLAIN, Project, REFUSED, SPLITS, assert_contains};

#[test]
fn decisions_are_written_down_and_compared() {
    let project = Project::new(&[("src/a.c", SPLITS), ("src/b.c", REFUSED), ("src/plain.c", PLAIN)]);
    let ran = project.expect(1, &["snapshot", "--check", "src"]);
    assert_contains(&ran.text(), "+## 1: #pragma omp target map(tofrom: a[0:n]) map(to: b[0:n])");
    project.expect(0, &["snapshot", "src"]);
    let text = String::from_utf8(project.read("ompsplit-snapshots/src/a.c.snap")).unwrap();
    assert_contains(&text, "- split: applied: split into 2 kernels");
    assert_contains(&text, "+#pragma omp target teams distribute parallel for");
    assert_contains(&String::from_utf8(project.read("ompsplit-snapshots/src/b.c.snap")).unwrap(), "  - OMPS101: ");
    assert!(!project.path("ompsplit-snapshots/src/plain.c.snap").exists());
    assert_contains(&project.expect(0, &["snapshot", "--check", "src"]).stderr, "0 of 2 files with constructs differ");
    // Lines above change nothing.
    project.write("src/a.c", format!("\n\n\n{SPLITS}").as_bytes());
    let ran = project.expect(0, &["snapshot", "--check", "src"]);
    assert!(ran.stdout.is_empty(), "{}", ran.text());
    // Another decision, as of another version.
    let ran = project.expect(1, &["snapshot", "--check", "src", "--passes", "collapse"]);
    assert_contains(&ran.text(), "-- split: applied: split into 2 kernels");
    // A file that has no constructs any more.
    project.write("src/b.c", PLAIN.as_bytes());
    project.expect(1, &["snapshot", "--check", "src"]);
    project.expect(0, &["snapshot", "src"]);
    assert!(!project.path("ompsplit-snapshots/src/b.c.snap").exists());
    project.expect(2, &["snapshot", "missing.c"]);
    // Nothing is written outside of the folder.
    project.expect(0, &["snapshot", "src/../src/a.c", "-o", "here"]);
    assert!(project.path("here/src/up/src/a.c.snap").exists());
}
