//! A check that saw nothing of what changed must not pass, and what it did not see is named.

use crate::project::{Project, SPLITS, assert_contains, assert_split};

/// The function of [`SPLITS`], under a condition and a name of its own.
fn guarded(condition: &str, name: &str) -> String {
    format!("{condition}\n{}#endif\n", SPLITS.replace("void f(", &format!("void {name}(")))
}

#[test]
fn code_that_the_flags_leave_out_is_not_verified() {
    let text = guarded("#ifdef USE_GPU", "f");
    for level in ["syntax", "device", "host"] {
        let project = Project::new(&[("a.c", &text)]);
        let ran = project.expect(2, &["-i", "--verify", level, "a.c"]);
        for part in [
            "nothing that changed was compiled, so nothing was checked",
            "of the new text: `#ifdef USE_GPU` was not taken: pass -DUSE_GPU",
        ] {
            assert_contains(&ran.stderr, part);
        }
        assert_eq!(project.read("a.c"), text.as_bytes());
        if level != "host" {
            project.expect(0, &["-i", "--verify", level, "a.c", "--", "-DUSE_GPU"]);
            assert_split(&project.read("a.c"));
        }
    }
}

#[test]
fn what_a_check_did_not_see_is_named() {
    let text = format!("{SPLITS}{}", guarded("#if defined(USE_GPU) && 1", "g"));
    let project = Project::new(&[("a.c", &text)]);
    for level in ["syntax", "device"] {
        let ran = project.expect(0, &["--verify", level, "a.c"]);
        let part = "not compiled: line 13, 15, 18 of the new text: `#if defined(USE_GPU) && 1` was not taken";
        assert_contains(&ran.stderr, part);
    }
}

#[test]
fn functions_that_nothing_calls_are_compiled() {
    for (name, function) in [("a.c", "static void f("), ("a.hpp", "inline void f(")] {
        let project = Project::new(&[(name, &SPLITS.replace("void f(", function))]);
        let ran = project.expect(0, &["--verify", "device", name]);
        assert_contains(&ran.stderr, "after ");
        assert!(!ran.stderr.contains("not compiled"), "{}", ran.stderr);
    }
}

#[test]
fn a_template_that_nothing_instantiates_is_compiled_for_no_device() {
    let template = SPLITS.replace("void f(int n", "template <int N> void f(int n");
    let project = Project::new(&[("a.cpp", &template)]);
    let ran = project.expect(2, &["-i", "--verify", "device", "a.cpp"]);
    assert_contains(&ran.stderr, "clang made no kernel of it, as of a template that is not instantiated");
    assert_eq!(project.read("a.cpp"), template.as_bytes());
    let used = format!("{template}void g(int n, float *a, float *b) {{ f<1>(n, a, b); }}\n");
    Project::new(&[("a.cpp", &used)]).expect(0, &["-i", "--verify", "device", "a.cpp"]);
}
