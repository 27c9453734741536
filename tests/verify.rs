//! `validate::host` on programs of several files, and on outputs with a planted fault: each must be found.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;
use std::path::Path;

use ompsplit::validate::host::{File, HostError, Kind, Program, Report, Source, Sources};
use support::{faults, parallel};

/// A program without races to look for.
fn quick() -> Program {
    Program { races: false, ..Program::default() }
}

/// What comes of one file.
fn verify(path: &Path, before: &[u8], after: &[u8], program: &Program) -> Result<Report, HostError> {
    let file = File::changed(path, before, after);
    let mut outcome = ompsplit::validate::host::verify(&[file], program, &|_| {})?;
    outcome.failures.pop_first().map_or_else(|| Ok(outcome.reports.remove(0)), |(_, error)| Err(error))
}

#[test]
fn planted_faults_are_found() {
    let expected = [
        ("a dropped map of an array", Kind::Transfers),
        ("a dropped map of a pointer", Kind::UnmappedPointer),
        ("a missing update", Kind::Results),
        ("no data environment", Kind::Transfers),
    ];
    let faults: Vec<_> = faults::all()
        .into_iter()
        .filter_map(|fault| expected.iter().find(|(name, _)| *name == fault.name).map(|(_, kind)| (fault, *kind)))
        .collect();
    assert_eq!(faults.len(), expected.len());
    let failures = parallel::failures(&faults, |(fault, kind)| {
        match verify(Path::new("fault.c"), fault.original.as_bytes(), fault.output.as_bytes(), &quick()) {
            Err(error) if error.kind == *kind => Ok(()),
            other => Err(format!("{}: {other:?}", fault.name)),
        }
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// One thread keeps the iterations apart; a grid does not, though every run prints the same.
const ONE_THREAD: &str = "#include <stdio.h>
static int a[600], last;
int main(void) {
#pragma omp target data map(from: a) map(tofrom: last)
  {
#pragma omp target parallel for num_threads(1) map(from: a) map(tofrom: last)
    for (int i = 0; i < 600; i++) {
      a[i] = i;
      last = 7;
    }
  }
  printf(\"%d %d\\n\", a[599], last);
  return 0;
}
";

#[test]
fn a_race_that_no_result_shows_is_found() {
    let output = ONE_THREAD.replace("target parallel for num_threads(1)", "target teams distribute parallel for");
    let error = verify(Path::new("race.c"), ONE_THREAD.as_bytes(), output.as_bytes(), &Program::default()).unwrap_err();
    assert_eq!(error.kind, Kind::Race, "{error}");
    assert!(error.text.contains("line 9 `last = 7;`"), "{error}");
    // The same race in the original is none of the output's.
    let racy = ONE_THREAD.replace(" num_threads(1)", " num_threads(4)");
    let report = verify(Path::new("race.c"), racy.as_bytes(), output.as_bytes(), &Program::default());
    assert_eq!(report.map(|report| report.widened), Ok(Some(1)));
}

/// What passes by itself need not pass together, and only what passed together is accepted.
#[test]
fn texts_that_fail_together_are_not_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let text = |name: &str, value: u8| {
        format!("int {name}(void) {{\n  int r = 0;\n#pragma omp target map(from: r)\n  r = {value};\n  return r;\n}}\n")
    };
    let file = |name: &str| {
        let path = folder.path().join(format!("{name}.c"));
        File::changed(&path, text(name, 1).as_bytes(), text(name, 2).as_bytes())
    };
    let main = folder.path().join("main.c");
    fs::write(&main, "int f(void), g(void);\nint main(void) { return f() == 2 && g() == 2; }\n").unwrap();
    let program = Program { sources: Sources::Named(vec![Source { path: main, flags: Vec::new() }]), ..quick() };
    let outcome = ompsplit::validate::host::verify(&[file("f"), file("g")], &program, &|_| {}).unwrap();
    assert_eq!(outcome.failures.len(), 2, "{outcome:?}");
    assert!(outcome.failures[&0].text.contains("passes by itself, but not all of them together"), "{outcome:?}");
}

/// What changes inside a kernel is compared only if that kernel is launched.
#[test]
fn a_change_inside_a_kernel_that_is_not_launched_is_not_verified() {
    let text = |condition: &str| {
        format!(
            "static int a[64];\nint main(void) {{\n#pragma omp target teams distribute parallel for map(from: a) \
             if({condition})\n  for (int i = 0; i < 8; i++)\n    for (int j = 0; j < 8; j++) a[i * 8 + j] = j;\n  return \
             0;\n}}\n"
        )
    };
    let unrolled = |text: &str| text.replace("    for (int j", "#pragma omp unroll partial(4)\n    for (int j");
    let check = |text: &str| {
        let program = Program { races: false, ..Program::default() };
        verify(Path::new("f.c"), text.as_bytes(), unrolled(text).as_bytes(), &program)
    };
    assert_eq!(check(&text("0")).map_err(|error| error.kind), Err(Kind::NotReached));
    assert_eq!(check(&text("1")).map(|report| report.not_reached.len()), Ok(0));
}

/// A kernel in a header, called from C++; `main` in C.
#[test]
fn a_header_is_checked_through_its_sources() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name)
    };
    let kernel = |map: &str, value: &str| {
        format!(
            "static inline void fill(int *a, int n) {{\n#pragma omp target teams distribute parallel for map({map}: \
             a[0:n])\n  for (int i = 0; i < n; i++) a[i] = {value};\n}}\n"
        )
    };
    let header = write("fill.hpp", &kernel("tofrom", "i"));
    let cpp = "#include \"fill.hpp\"\nextern \"C\" int use(void) { int a[9]; fill(a, 9); return a[8]; }\n";
    let c = "#include <stdio.h>\nint use(void);\nint main(void) { printf(\"%d\\n\", use()); return 0; }\n";
    let sources = [write("use.cpp", cpp), write("main.c", c)].map(|path| Source { path, flags: Vec::new() });
    let program = Program { sources: Sources::Named(sources.to_vec()), ..quick() };
    let check = |map: &str, value: &str, program: &Program| {
        verify(&header, kernel("tofrom", "i").as_bytes(), kernel(map, value).as_bytes(), program)
    };
    let good = check("from", "i", &program).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((good.before.copies_to, good.after.copies_to), (1, 0));
    assert_eq!(check("from", "i + 1", &program).map_err(|error| error.kind), Err(Kind::Results));
    let alone = check("from", "i", &quick()).unwrap_err();
    assert!(alone.kind == Kind::Setup && alone.text.contains("--verify-source"), "{alone}");
    let other = Program { sources: Sources::Named(sources[1..].to_vec()), ..quick() };
    let unseen = check("from", "i", &other).unwrap_err();
    assert!(unseen.text.contains("no source in --verify-source or [verify] includes"), "{unseen}");
}
