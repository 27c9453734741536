use super::*;
use crate::engine::{self, Options};
use crate::plan::ReasonCode;
use crate::syntax::Limits;

fn file(name: &str, text: &str) -> SourceFile {
    SourceFile::new(name, text.as_bytes().to_vec())
}

/// Every text that a file with one directive may be read as: the last line of each.
fn texts(text: &str, headers: &[&str], flags: &[(&str, Option<&str>)]) -> Vec<String> {
    let headers: Vec<SourceFile> = headers.iter().map(|text| file("header.h", text)).collect();
    let flag = |(name, body): &(&str, Option<&str>)| FlagDefinition {
        name: (*name).to_owned(),
        parameters: None,
        body: body.map(str::to_owned),
    };
    let flags: Vec<FlagDefinition> = flags.iter().map(flag).collect();
    let file = file("program.c", text);
    let readings =
        Readings::of(&file, &headers, &flags, &mut FileReader::new(Limits::default(), &headers, &flags)).unwrap();
    let last = |reading: &Reading<'_>| {
        let text = String::from_utf8_lossy(&reading.file.text).into_owned();
        text.split_once("#pragma omp ").map(|(_, directive)| directive.trim_end().to_owned()).unwrap_or_default()
    };
    readings.texts.iter().map(last).collect()
}

#[test]
fn macros_stand_for_their_text() {
    for (definitions, directive, expected) in [
        ("#define A nowait", "target A", "target nowait"),
        ("#define A(x) if(target: (x))", "target A(f(1, 2) > y) nowait", "target if(target: (f(1, 2) > y)) nowait"),
        ("#define A(x, ...) x(__VA_ARGS__)", "target A(map, to: a, b)", "target map(to: a,b)"),
        ("#define A B nowait\n#define B teams", "target A", "target teams nowait"),
        ("#define A A nowait", "target A", "target A nowait"),
        ("#define A() teams", "target A() nowait", "target teams nowait"),
        ("#define A(x) x /* kind */ \\\n  nowait", "target A(teams)", "target teams nowait"),
    ] {
        assert_eq!(texts(&format!("{definitions}\n#pragma omp {directive}\n"), &[], &[]), [expected], "{definitions}");
    }
}

#[test]
fn what_is_not_certain_stays_as_it_is() {
    for (definitions, directive) in [
        // Inside of parentheses the expression's own reading counts.
        ("#define N 4", "target thread_limit(N)"),
        ("#define A(x) a##x", "target A(1)"),
        ("#define A(x) map(x)", "target A"),
        ("#define A(x) map(x)", "target A(x, y)"),
        ("#define A nowait\n#undef A\n#define A if(0)", "target A"),
        ("#define A B\n#define B(x) map(x)", "target A (y)"),
        ("#define __A nowait", "target __A"),
    ] {
        assert_eq!(texts(&format!("{definitions}\n#pragma omp {directive}\n"), &[], &[]), [directive], "{definitions}");
    }
    let later = texts("#pragma omp target A\n#define A nowait\n", &[], &[]);
    assert_eq!(later, ["target A\n#define A nowait"]);
}

#[test]
fn each_choice_of_definitions_is_a_text() {
    let headers = ["#ifdef X\n#define A nowait\n#define B teams\n#else\n#define A\n#endif\n"];
    let directive = "#pragma omp target A B\n";
    assert_eq!(texts(directive, &headers, &[]), ["target nowait teams", "target  teams"]);
    let flags = [("B", Some("loop"))];
    let all = texts(directive, &headers, &flags);
    assert_eq!(all, ["target nowait loop", "target nowait teams", "target  loop", "target  teams"]);
    assert_eq!(texts(directive, &headers, &[("A", None)]), ["target A teams"]);
}

const LOOP: &str = "static void f(int n, int *a) {\n#pragma omp target teams distribute parallel for A map(tofrom: a[0:n])\n\
    for (int i = 0; i < n; i++) {\n        int s = a[i];\n        for (int k = 0; k < 99; k++) s = s * 3 % 7;\n        a[i] = s;\n    }\n}\n";

#[test]
fn an_edit_is_made_where_every_text_wants_it() {
    let run = |header: &str| {
        let outcome = engine::run(&file("program.c", LOOP), &[file("header.h", header)], &Options::default()).unwrap();
        let codes: Vec<ReasonCode> = engine::refusals(&outcome.plans).map(|reason| reason.code).collect();
        (outcome.text.map(|text| String::from_utf8(text).unwrap()), codes)
    };
    let (text, codes) = run("#ifdef X\n#define A if(target: n > 0)\n#else\n#define A\n#endif\n");
    assert_eq!(codes, []);
    let written = LOOP.replace("[0:n])", "[0:n]) thread_limit(128)");
    assert_eq!(text.unwrap(), written);
    let (text, codes) = run("#ifdef X\n#define A nowait\n#else\n#define A thread_limit(32)\n#endif\n");
    assert_eq!((text, codes), (None, vec![ReasonCode::MacroDirective]));
    // The edit must not make a second run want more.
    let again = engine::run(
        &file("program.c", &written),
        &[file("header.h", "#ifdef X\n#define A if(target: n > 0)\n#else\n#define A\n#endif\n")],
        &Options::default(),
    );
    let again = again.unwrap();
    assert!(again.text.is_none() && engine::refusals(&again.plans).next().is_none());
}

#[test]
fn each_choice_of_branches_is_a_text() {
    let cut = |first: &str, second: &str| {
        let text = format!(
            "static void f(int n, int *a) {{\n#pragma omp target teams distribute parallel for map(tofrom: a[0:n])\n\
            for (int i = 0; i < n; i++) {{\n{first}\na[i] *= 3;\n{second}\na[i] *= 2;\n#endif\n}}\n}}\n"
        );
        texts(&text, &[], &[]).iter().map(|text| (text.contains("*= 3"), text.contains("*= 2"))).collect::<Vec<_>>()
    };
    assert_eq!(cut("#ifdef A", "#else"), [(true, false), (false, true)]);
    assert_eq!(cut("#if !defined( A )", "#else"), [(false, true), (true, false)]);
    assert_eq!(cut("#if 0", "#else"), [(false, true)]);
    let of_two = [(true, false), (false, true), (true, false), (false, false)];
    assert_eq!(cut("#if N > 4 // many", "#elif defined B"), of_two);
    assert_eq!(cut("#ifndef A", "#endif\n#ifdef A"), [(false, true), (true, false)]);
    // It may hold at one place and not at another.
    assert_eq!(cut("#ifdef A", "#undef A\n#endif\n#ifdef A").len(), 4);
    assert_eq!(cut("#ifdef A", "#include \"more.h\"\n#endif\n#ifdef A").len(), 4);
    assert_eq!(cut("#ifdef __NVPTX__", "#else"), [(true, true)]);
    assert_eq!(cut("#if A\n#if B\n#if C\n#if D\n#if E", "#endif\n#endif\n#endif\n#endif"), [(true, true)]);
}

/// What is read of statements that hide behind macros.
fn statements_read(definitions: &str, statements: &str) -> String {
    let text = format!("{definitions}\nvoid f(int x, int y) {{\n#pragma omp target\n{{ {statements} }}\n}}\n");
    let read = texts(&text, &["#define FLUSH _Pragma(\"omp flush\")\n#define WORD int\n#define NOTHING\n"], &[]);
    let read = read.into_iter().next().unwrap_or_default();
    read.trim_start_matches("target").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn macros_of_statements_stand_for_their_text() {
    for (definitions, statements, expected) in [
        ("#define A(v) v = 1; v = 2;", "A(x) A(y)", "{ x = 1; x = 2; y = 1; y = 2; } }"),
        // Nothing grows together.
        (
            "#define N(v) -v\n#define A(v) v = N(-v); v = x-N(v);",
            "A(x) A(y)",
            "{ x = - - x; x = x- - x; y = - - y; y = x- - y; } }",
        ),
        // Braces and brackets keep no comma.
        ("#define A(v, w) v; w;", "A({x = 1, y = 2}) A(x, y)", "{ {x = 1; y = 2}; x; y; } }"),
        // A name alone is no use of a macro with parameters.
        (
            "#define v(x) {x, x}\n#define I v\n#define A f(I); x = v + I;",
            "A A",
            "{ f(v); x = v + v; f(v); x = v + v; } }",
        ),
        ("#define A x = WORD(1); y = 2;", "A A", "{ x = WORD(1); y = 2; x = WORD(1); y = 2; } }"),
    ] {
        let read = statements_read(definitions, statements);
        assert_eq!(read.replace("( ", "(").replace(" )", ")").replace(" ;", ";"), expected, "{definitions}");
    }
}

#[test]
fn statements_that_hide_more_stay_as_they_are() {
    for definitions in [
        "#define A FLUSH x = 1;",
        "#define A NOTHING x = 1; y = 1;",
        "#define A _Pragma(\"omp flush\") x = 1;",
        "#define B(v) v##_there = 1;\n#define A B(x) y = 1;",
        "#define B(v...) f(v);\n#define A B(x) y = 1;",
        "#ifdef X\n#define B x = 1;\n#else\n#define B\n#endif\n#define A B y = 1;",
        "#define _B x = 1;\n#define A _B y = 1;",
        "#define A(v) v = 1; y = 1;",
        "#define B(v...) {v}\n#define I B\n#define A I (1) y = 1;",
        "#define A A x = 1;",
    ] {
        assert_eq!(statements_read(definitions, "A A"), "{ A A } }", "{definitions}");
    }
    let read = statements_read("#define A(v...) v = 1; y = 1;", "A(x) A(x)");
    assert_eq!(read, "{ A(x) A(x) } }");
    let taken_back = statements_read("#define A x = 1; y = 1;", "A A\n#undef A\nA A");
    assert!(taken_back.ends_with("A A } }") && taken_back.starts_with("{ x = 1; y = 1; x"), "{taken_back}");
}
