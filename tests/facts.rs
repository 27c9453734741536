//! What clang's syntax tree and preprocessor add to what the text of a file tells, and where they disagree.
//!
//! The fixtures are decided without them. Here small programs with headers out of sight are; the results are compiled again.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use ompsplit::engine::{Options, Outcome, run};
use ompsplit::plan::{Applicability, Decision, Pass, ReasonCode};
use ompsplit::source::SourceFile;
use ompsplit::transforms::TRANSFORMS;
use ompsplit::validate::clang::{VerifyError, facts};
use tempfile::TempDir;

/// A file beside a folder `elsewhere` with a header, which is on the compiler's search path alone.
struct Case {
    folder: TempDir,
    file: PathBuf,
    flags: Vec<String>,
    passes: Vec<Pass>,
}

impl Case {
    fn new(name: &str, text: &str, header: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = folder.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("grid.h"), header).unwrap();
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        let flags = vec![format!("-I{}", elsewhere.display())];
        Self { folder, file, flags, passes: vec![Pass::Split] }
    }

    fn outcome(&self, with_facts: bool) -> Outcome {
        let text = fs::read(&self.file).unwrap();
        let facts = with_facts.then(|| self.flags.clone().into());
        let options =
            Options { passes: self.passes.clone().into(), assumed_iterations: 1 << 30, facts, ..Options::default() };
        run(&SourceFile::new(self.file.clone(), text), &[], &options).unwrap()
    }

    /// Is it split only with the facts, and Safe? The result is split no further, with the facts of its own text.
    #[track_caller]
    fn is_split_with_facts(&self) {
        let without = self.outcome(false);
        assert!(without.text.is_none(), "{:#?}", without.plans);
        let with = self.outcome(true);
        let decisions: Vec<Decision> = with.plans.iter().map(|plan| plan.decision).collect();
        assert_eq!(decisions, [Decision::Apply(Applicability::Safe)], "{:#?}", with.plans);
        fs::write(&self.file, with.text.unwrap()).unwrap();
        assert_eq!(self.outcome(true).text, None);
    }

    #[track_caller]
    fn is_refused_with_facts(&self, code: ReasonCode) {
        let outcome = self.outcome(true);
        assert_eq!(outcome.text, None);
        let codes: Vec<ReasonCode> = outcome.plans.iter().flat_map(|plan| &plan.reasons).map(|r| r.code).collect();
        assert!(codes.contains(&code), "{:#?}", outcome.plans);
    }
}

/// A program whose region has two loops with this body each.
fn program(before: &str, body: &str) -> String {
    format!(
        "#include <grid.h>\n{before}\nvoid step(int n, double *a, double *b)\n{{\n#pragma omp target map(tofrom: a[0:n], b[0:n])\n  \
         {{\n#pragma omp parallel for\n    for (int i = 0; i < n; i++) {{ {body} }}\n#pragma omp parallel for\n    \
         for (int i = 0; i < n; i++) b[i] += a[i];\n  }}\n}}\n"
    )
}

#[test]
fn typedefs_and_macro_types_of_headers_out_of_sight_are_known() {
    let header = "typedef double real;\n#define REAL real\n";
    Case::new("f.cpp", &program("", "real t = a[i]; b[i] = t * (real)2;"), header).is_split_with_facts();
    Case::new("f.cpp", &program("", "REAL t = a[i]; b[i] = t * 2;"), header).is_split_with_facts();
    Case::new("f.cpp", &program("", "auto t = half(a[i]); b[i] = t;"), "inline double half(double x);")
        .is_refused_with_facts(ReasonCode::UnknownCall);
}

#[test]
fn constants_and_variables_of_headers_out_of_sight_are_known() {
    Case::new("f.c", &program("", "b[i] = a[i] * SCALE;"), "#define SCALE (2 * FOUR)\nenum { FOUR = 4 };\n")
        .is_split_with_facts();
    Case::new("f.c", &program("", "b[i] = a[i] * scale;"), "extern int scale;\n").is_split_with_facts();
    Case::new("f.c", &program("", "b[i] = a[i] * scale;"), "extern volatile int scale;\n")
        .is_refused_with_facts(ReasonCode::TeamDependent);
}

#[test]
fn what_openmp_knows_of_a_variable_out_of_sight_is_not_guessed() {
    let on_device = "extern int scale;\n#pragma omp declare target(scale)\n";
    Case::new("f.c", &program("", "b[i] = a[i] * scale;"), on_device).is_refused_with_facts(ReasonCode::UnknownName);
    let of_each_thread = "extern int scale;\n#pragma omp threadprivate(scale)\n";
    let case = Case::new("f.c", &program("", "b[i] = a[i] * 2;"), of_each_thread);
    assert!(case.outcome(true).text.is_some());
}

#[test]
fn a_macro_with_effects_is_refused_as_ever() {
    let header = "extern int count;\n#define NEXT (count++)\n";
    Case::new("f.c", &program("", "b[i] = a[i] + NEXT;"), header).is_refused_with_facts(ReasonCode::OpaqueMacro);
    let twice = "#define SIZE 3\n#undef SIZE\n#define SIZE 4\n";
    Case::new("f.c", &program("", "b[i] = a[i] + SIZE;"), twice).is_refused_with_facts(ReasonCode::UnknownName);
}

#[test]
fn the_types_that_stand_for_a_parameter_are_known() {
    let template = |uses: &str| {
        format!(
            "struct Big {{ double v; Big operator+(const Big &o) const; Big &operator+=(const Big &o); }};\n\
             template <typename T> void step(int n, T *a, T *b)\n{{\n#pragma omp target map(tofrom: a[0:n], b[0:n])\n  {{\n\
             #pragma omp parallel for\n    for (int i = 0; i < n; i++) a[i] += a[i];\n#pragma omp parallel for\n    \
             for (int i = 0; i < n; i++) b[i] += a[i];\n  }}\n}}\n{uses}\n"
        )
    };
    // What is added is known to the compiler alone.
    let numbers = "void go(int n, double *a, float *b) { step(n, a + n, a + n); step(n, b, b); }";
    Case::new("f.cpp", &template(numbers), "").is_split_with_facts();
    // As without facts: `Big` may be such a type, nobody knows who includes a header, and nothing uses it.
    for (name, uses) in [
        ("f.cpp", "void go(int n, double *a, Big *b) { step(n, a, a); step(n, b, b); }"),
        ("f.hpp", numbers),
        ("f.cpp", ""),
    ] {
        let outcome = Case::new(name, &template(uses), "").outcome(true);
        assert_eq!(outcome.text, None);
        assert_eq!(outcome.plans[0].decision, Decision::Apply(Applicability::Assumed), "{name} {uses}");
    }
}

#[test]
fn where_text_and_compiler_disagree_is_refused() {
    // A header makes a macro of a word that the text takes for a type.
    let hidden = "#define double float\n";
    Case::new("f.cpp", &program("", "double t = a[i]; b[i] = t;"), hidden)
        .is_refused_with_facts(ReasonCode::FactsDisagree);
    let constant = "#define const\n";
    Case::new("f.cpp", &program("", "const int k = 2; b[i] = a[i] * k;"), constant)
        .is_refused_with_facts(ReasonCode::FactsDisagree);
}

#[test]
fn each_round_asks_for_facts_of_its_own() {
    // The first round splits, the second one reads the kernels again.
    let text = program("", "REAL t = a[i]; b[i] = t * 2;").replace("REAL t", "REAL u = a[i]; REAL t");
    let case = Case::new("f.cpp", &text.replace("t * 2", "t * u"), "#define REAL double\n");
    case.is_split_with_facts();
}

/// What is declared anew, and what clauses name that were written, clang knows in the next round as in a run over the output.
#[test]
fn a_second_run_changes_nothing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/split_target");
    for name in ["counted_outside.c", "scalar_written_in_loop.c", "serial_casts_and_auto.cpp"] {
        let mut case = Case::new(name, &fs::read_to_string(root.join(name)).unwrap(), "");
        let built = TRANSFORMS.iter().filter(|transform| transform.plan.is_some());
        case.passes = built.map(|transform| transform.pass).collect();
        let output = case.outcome(true).text.unwrap();
        fs::write(&case.file, output).unwrap();
        assert_eq!(case.outcome(true).text.map(String::from_utf8), None, "{name}");
    }
}

#[test]
fn a_file_that_does_not_compile_has_no_facts() {
    let case = Case::new("f.c", "int x = y;\n#pragma omp target\n;\n", "");
    let text = fs::read(&case.file).unwrap();
    let error = facts(&case.file, &text, &case.flags).unwrap_err();
    assert!(matches!(&error, VerifyError::Facts(message) if message.contains("undeclared identifier 'y'")), "{error}");
    let error = facts(Path::new("missing.c"), b"#include <stdio.h>\nint main(void) { return 0; }\n", &[]);
    assert!(error.is_ok());
    assert!(case.folder.path().is_dir());
}
