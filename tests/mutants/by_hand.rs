//! Faults planted by hand, each with what must be found of it.

use std::path::PathBuf;

use crate::support::fixtures::Fixture;
use crate::support::mutants::environments::{Part, planted, with};
use crate::support::mutants::operators;
use crate::support::mutants::watched::{self, Effect};
use crate::support::oracle::{self, Finding};
use crate::support::program::Builder;
use crate::support::{faults, parallel};

/// What decides whether a mutant counts: whether anybody reads what it leaves otherwise.
#[test]
fn what_nobody_could_see_does_not_count() {
    const OUTPUT: &str = "#include <stdio.h>
enum { N = 40 };
static double a[N], b[N];

int main(void)
{
    for (int i = 0; i < N; i++)
        a[i] = b[i] = i;
    #pragma omp target data map(tofrom: a[0:N], b[0:N])
    {
        #pragma omp target update to(a[0:N])
        #pragma omp target teams distribute parallel for map(tofrom: a[0:N], b[0:N])
        for (int i = 0; i < N; i++)
            a[i] += b[i] + 1;
        #pragma omp target update from(a[0:N])
        for (int i = 0; i < N - 1; i++)
            printf(\"%g\\n\", a[i] + b[i]);
        a[N - 1] = 2;
        #pragma omp target update to(a[N - 1:1])
    }
    printf(\"%g %g\\n\", a[N - 1], b[3]);
    return 0;
}
";
    let changes = [
        // The host and the device have the same.
        ("        #pragma omp target update to(a[0:N])\n", "\n", Effect::None),
        ("update to(a[0:N])", "update from(a[0:N])", Effect::None),
        ("map(tofrom: a[0:N], b[0:N])\n    {", "map(tofrom: a[0:N]) map(to: b[0:N])\n    {", Effect::None),
        // The element is assigned before anybody reads it.
        ("update from(a[0:N])", "update from(a[0:N - 1])", Effect::Unread),
        ("update from(a[0:N])", "update from(a[0:N - 2])", Effect::Read),
        ("        #pragma omp target update from(a[0:N])\n", "\n", Effect::Read),
        ("        #pragma omp target update to(a[N - 1:1])\n", "\n", Effect::Read),
        // The update brings what the environment does not.
        ("map(tofrom: a[0:N], b[0:N])\n    {", "map(from: a[0:N]) map(tofrom: b[0:N])\n    {", Effect::None),
        ("map(tofrom: a[0:N], b[0:N])\n    {", "map(tofrom: a[0:N]) map(from: b[0:N])\n    {", Effect::Read),
    ];
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let fixture = Fixture::new("mutants/watched", PathBuf::from("watched.c"), OUTPUT.as_bytes().to_vec());
    let mut fixture = fixture.unwrap_or_else(|error| panic!("{error}"));
    fixture.flags.extend(["-include".to_owned(), watched::header().unwrap_or_else(|error| panic!("{error}"))]);
    let places: Vec<_> = changes.iter().enumerate().collect();
    let failures = parallel::failures(&places, |(place, (old, new, expected))| {
        let mutant = OUTPUT.replacen(old, new, 1);
        assert_ne!(mutant, OUTPUT);
        let output = builder.build(&fixture, &format!("sound{place}"), OUTPUT.as_bytes(), &[])?;
        let mutant = builder.build(&fixture, &format!("mutant{place}"), mutant.as_bytes(), &[])?;
        let effect = watched::effect(&output, &mutant, &["0".to_owned(), "0".to_owned()])?;
        if effect == *expected { Ok(()) } else { Err(format!("{new}: {effect:?} instead of {expected:?}")) }
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Ways out of an environment that is left by `target exit data`: each is a place for a mutant, and it is found.
#[test]
fn environments_that_are_not_left_are_found() {
    const ORIGINAL: &str = "#include <stdio.h>
enum { N = 40 };
static int steps(int n, int most, double *a)
{
    for (int t = 0; t < 3; t++) {
        #pragma omp target teams distribute parallel for map(tofrom: a[0:n])
        for (int i = 0; i < n; i++)
            a[i] += t;
        if (t == most)
            return t;
    }
    return 3;
}

int main(void)
{
    static double a[N];
    for (int most = 1; most < 5; most += 3) {
        int t = steps(N, most, a);
        printf(\"%d %g\\n\", t, a[5]);
    }
    return 0;
}
";
    let output = ORIGINAL
        .replace("    for (int t = 0;", "    #pragma omp target enter data map(to: a[0:n])\n    for (int t = 0;")
        .replace(
            "            return t;",
            "        {\n            #pragma omp target exit data map(from: a[0:n])\n            return t;\n        }",
        )
        .replace("    return 3;", "    #pragma omp target exit data map(from: a[0:n])\n    return 3;");
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let operators = operators().unwrap_or_else(|error| panic!("{error}"));
    let whole = [Part { number: 0, original: 0..ORIGINAL.len(), output: 0..output.len() }];
    let fixture = Fixture::new("mutants/left", PathBuf::from("left.c"), ORIGINAL.as_bytes().to_vec());
    let fixture = fixture.unwrap_or_else(|error| panic!("{error}"));
    let sound = oracle::compare(&builder, &fixture, output.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert!(sound.is_empty(), "{sound:?}");
    let mut not_left = planted(&operators, ORIGINAL, &output, &whole);
    not_left.retain(|it| it.operator.name == "an environment is not left");
    assert_eq!(not_left.len(), 2, "{not_left:?}");
    let numbered: Vec<_> = not_left.iter().enumerate().collect();
    let failures = parallel::failures(&numbered, |(number, mutant)| {
        let fixture = Fixture { name: format!("mutants/left/{number}"), ..fixture.clone() };
        let found = oracle::compare(&builder, &fixture, with(&output, &[*mutant]).as_bytes())?;
        if found.is_empty() { Err(mutant.what.clone()) } else { Ok(()) }
    });
    assert!(failures.is_empty(), "not found: {}", failures.join(", "));
}

/// Faults planted by hand, each found for the reason that it was planted for.
#[test]
fn every_planted_fault_is_found() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let faults = faults::all();
    let failures = parallel::failures(&faults, |fault| {
        let name = format!("faults/{}", fault.name.replace(' ', "-"));
        let fixture = Fixture::new(&name, PathBuf::from("fault.c"), fault.original.clone().into_bytes())?;
        if fault.expected.is_some() && fault.original == fault.output {
            return Err(format!("{name}: nothing was planted"));
        }
        let findings = oracle::compare(&builder, &fixture, fault.output.as_bytes())?;
        let found = match fault.expected {
            None => findings.is_empty(),
            Some(kind) => findings.iter().any(|finding| finding.kind == kind),
        };
        let shown: Vec<String> = findings.iter().map(Finding::to_string).collect();
        if found { Ok(()) } else { Err(format!("{name}: expected {:?}, found\n{}", fault.expected, shown.join("\n"))) }
    });
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
