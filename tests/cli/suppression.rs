//! Suppression.

use crate::project::{Project, REFUSED, SPLITS, assert_contains, kernels};

#[test]
fn constructs_between_off_and_on_are_left_alone() {
    let second = SPLITS.replace("f(", "g(");
    let text = format!("// ompsplit off: vendor code\n{SPLITS}// ompsplit on\n{second}");
    let project = Project::new(&[("a.c", text.as_str())]);
    let ran = project.expect(0, &["a.c"]);
    assert_eq!(kernels(&ran.stdout), 2);
    assert!(ran.text().starts_with(&format!("// ompsplit off: vendor code\n{SPLITS}// ompsplit on\n")));
    assert_eq!(ran.stderr.matches(": split into").count(), 1);
    let open = Project::new(&[("a.c", format!("// ompsplit off\n{SPLITS}").as_str())]);
    open.expect(0, &["--check", "a.c"]);
}

#[test]
fn nolint_silences_one_rule_on_one_line() {
    let project = Project::new(&[("a.c", REFUSED)]);
    let concise = project.expect(0, &["-v", "--output-format", "concise", "a.c"]).stderr;
    let line: usize = concise.split(':').nth(1).unwrap().parse().unwrap();
    let with = |comment: &str| {
        let mut lines: Vec<&str> = REFUSED.lines().collect();
        lines.insert(line - 1, comment);
        project.write("a.c", (lines.join("\n") + "\n").as_bytes());
        project.run(&["-v", "--error-on-refusal", "a.c"])
    };
    for comment in ["// NOLINTNEXTLINE(OMPS101)", "// NOLINTNEXTLINE", "/* NOLINTNEXTLINE(OMPS*, x) */"] {
        let ran = with(comment);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{comment}");
    }
    let other = with("// NOLINTNEXTLINE(OMPS999, bugprone-foo)");
    assert_eq!(other.code, 1);
    assert_contains(&other.stderr, "OMPS999 is not reported");
    assert_eq!(with("// NOLINTNEXTLINE(bugprone-foo)").stderr.matches("not reported").count(), 0);
}
