use super::*;
use crate::source::scan;
use crate::syntax::Limits;
use crate::syntax::lower::DirectiveReader;

/// One line for each construct: `name -> body, up parent, on stacked, doubt`, blanks in the body squeezed.
fn constructs(path: &str, text: &str) -> Vec<String> {
    let file = SourceFile::new(path, text.as_bytes().to_vec());
    let scan = scan(&file.text);
    let tree = HostTree::parse(&file, &scan, &Limits::default()).unwrap();
    let mut reader = DirectiveReader::new();
    let directives = scan.directives.iter().map(|directive| reader.read(&file, directive)).collect();
    let found = associate(&file, &scan, &tree, directives);
    assert_eq!(found.constructs.len(), scan.directives.len());
    let all = found.constructs.iter().map(|construct| {
        let name = &found.directives[construct.directive].name;
        let body = file.show(construct.body_span).split_whitespace().collect::<Vec<_>>().join(" ");
        let mut line = format!("{name} -> {body}");
        for (word, link) in [("up", construct.parent), ("on", construct.stacked_under)] {
            if let Some(ConstructId(id)) = link {
                line += &format!(" {word} {id}");
            }
        }
        match &construct.doubt {
            Some(Doubt::SyntaxError(_)) => line += " syntax",
            Some(Doubt::Conditional(_)) => line += " conditional",
            Some(Doubt::Alternative(_)) => line += " alternative",
            Some(Doubt::Macro(_)) => line += " macro",
            Some(Doubt::NoStatement) => line += " nothing",
            None => {}
        }
        line
    });
    all.collect()
}

/// Checks a function body.
fn check(body: &str, expected: &[&str]) {
    let text = format!("void f(int n, int *a) {{\n{body}\n}}\n");
    assert_eq!(constructs("f.c", &text), expected, "C: {body}");
    assert_eq!(constructs("f.cpp", &text), expected, "C++: {body}");
}

#[test]
fn the_statement_behind_a_directive() {
    for (body, expected) in [
        ("#pragma omp parallel\n a[0] = 1; a[1] = 2;", &["parallel -> a[0] = 1;"][..]),
        ("#pragma omp parallel for\n // why\n /* { */ for (;;) { }", &["parallel for -> for (;;) { }"]),
        ("#pragma omp parallel\n { a[0]; }\n a[1];", &["parallel -> { a[0]; }"]),
        ("# \\\n pragma omp parallel \\\n private(n)\n ;", &["parallel -> ;"]),
        ("#pragma omp barrier\n a[0] = 1;", &["barrier -> "]),
        (
            "if (n)\n#pragma omp parallel\n a[0]; else\n#pragma omp task\n a[1];",
            &["parallel -> a[0];", "task -> a[1];"],
        ),
        ("for (int i = 0; i < n; i++)\n#pragma omp parallel for\n for (;;) ;", &["parallel for -> for (;;) ;"]),
        ("switch (n) { case 1:\n#pragma omp parallel\n a[0]; break; }", &["parallel -> a[0];"]),
        ("#pragma omp parallel\n", &["parallel ->  nothing"]),
        ("{\n#pragma omp parallel\n}\n a[0];", &["parallel ->  nothing"]),
        ("_Pragma(\"omp parallel\") a[0] = 1;", &["parallel -> a[0] = 1;"]),
        ("#pragma omp parallel\n#pragma GCC ivdep\n for (;;) ;", &["parallel -> for (;;) ;"]),
        ("#pragma omp ordered depend(source)\n a[0];", &["ordered -> "]),
        ("#pragma omp ordered\n a[0];", &["ordered -> a[0];"]),
        ("#pragma omp strange thing\n a[0];", &["strange thing -> a[0];"]),
        ("#pragma omp target update to(a[0:n])\n#pragma omp taskwait\n a[0];", &["target update -> ", "taskwait -> "]),
        ("#pragma omp target\n#pragma omp barrier\n a[0];", &["target ->  nothing", "barrier -> "]),
    ] {
        check(body, expected);
    }
}

#[test]
fn stacks_and_parents() {
    for (body, expected) in [
        (
            "#pragma omp target\n\n#pragma omp teams\n { a[0]; }",
            &["target -> { a[0]; }", "teams -> { a[0]; } on 0"][..],
        ),
        (
            "#pragma omp target\n{\n#pragma omp parallel for\nfor (;;) ;\n#pragma omp parallel for\nfor (;;) { }\n}\n\
             #pragma omp parallel\n;",
            &[
                "target -> { #pragma omp parallel for for (;;) ; #pragma omp parallel for for (;;) { } }",
                "parallel for -> for (;;) ; up 0",
                "parallel for -> for (;;) { } up 0",
                "parallel -> ;",
            ],
        ),
        (
            "#pragma omp target\n#pragma omp teams\n{\n#pragma omp distribute\n#pragma omp tile sizes(4)\nfor (;;) ;\n}",
            &[
                "target -> { #pragma omp distribute #pragma omp tile sizes(4) for (;;) ; }",
                "teams -> { #pragma omp distribute #pragma omp tile sizes(4) for (;;) ; } on 0",
                "distribute -> for (;;) ; up 1",
                "tile -> for (;;) ; up 1 on 2",
            ],
        ),
        (
            "#pragma omp parallel\n{ a[0];\n#pragma omp barrier\n#pragma omp for\nfor (;;) ;\n}",
            &[
                "parallel -> { a[0]; #pragma omp barrier #pragma omp for for (;;) ; }",
                "barrier ->  up 0",
                "for -> for (;;) ; up 0",
            ],
        ),
    ] {
        check(body, expected);
    }
}

#[test]
fn sections_reach_to_the_next() {
    check(
        "#pragma omp sections\n{\n#pragma omp section\n a[0]; a[1];\n#pragma omp section\n#pragma omp parallel\n\
         { a[2]; }\n}",
        &[
            "sections -> { #pragma omp section a[0]; a[1]; #pragma omp section #pragma omp parallel { a[2]; } }",
            "section -> a[0]; a[1]; up 0",
            "section -> #pragma omp parallel { a[2]; } up 0",
            "parallel -> { a[2]; } up 2",
        ],
    );
    check(
        "#pragma omp sections\n{\n#pragma omp section\n{\n#pragma omp sections\n{\n#pragma omp section\n;\n}\n}\n\
         #pragma omp section\n}",
        &[
            "sections -> { #pragma omp section { #pragma omp sections { #pragma omp section ; } } #pragma omp section }",
            "section -> { #pragma omp sections { #pragma omp section ; } } up 0",
            "sections -> { #pragma omp section ; } up 1",
            "section -> ; up 2",
            "section ->  up 0 nothing",
        ],
    );
    check(
        "#pragma omp for reduction(inscan, + : n)\nfor (;;) {\n a[0];\n#pragma omp scan inclusive(n)\n a[1]; }",
        &["for -> for (;;) { a[0]; #pragma omp scan inclusive(n) a[1]; }", "scan ->  up 0"],
    );
}

#[test]
fn declarations_and_delimited_directives() {
    for (text, expected) in [
        (
            "#pragma omp declare target\nint x;\nvoid g(void);\n#pragma omp end declare target\nint y;\n",
            &["declare target -> int x; void g(void);", "end declare target -> "][..],
        ),
        ("int x;\n#pragma omp declare target(x)\nint y;\n", &["declare target -> "]),
        (
            "#pragma omp begin declare target\n#pragma omp declare simd\nint g(int);\n#pragma omp end declare target\n",
            &[
                "begin declare target -> #pragma omp declare simd int g(int);",
                "declare simd -> int g(int); up 0",
                "end declare target -> ",
            ],
        ),
        ("#pragma omp declare target\nint x;\n", &["declare target ->  nothing"]),
        ("#pragma omp declare simd\nint g(int i) { return i; }\n", &["declare simd -> int g(int i) { return i; }"]),
        ("#pragma omp requires unified_shared_memory\nint x;\n", &["requires -> "]),
    ] {
        assert_eq!(constructs("f.c", text), expected, "{text}");
    }
    assert_eq!(
        constructs("f.cpp", "#pragma omp declare simd\ntemplate <typename T> T g(T i) { return i; }\n"),
        ["declare simd -> template <typename T> T g(T i) { return i; }"]
    );
}

#[test]
fn attributes_follow_the_same_rule() {
    for (text, expected) in [
        ("void f() { [[omp::directive(parallel for)]] for (;;) ; }", &["parallel for -> for (;;) ;"][..]),
        (
            "void f() { [[omp::sequence(directive(target), directive(parallel))]] { ; } }",
            &["target -> { ; }", "parallel -> { ; } on 0"],
        ),
    ] {
        assert_eq!(constructs("f.cpp", text), expected, "{text}");
    }
}

#[test]
fn doubts() {
    for (body, expected) in [
        ("#pragma omp parallel\n{ g(a b); }", &["parallel -> { g(a b); } syntax"][..]),
        ("g(a b);\n#pragma omp parallel\n{ }", &["parallel -> { }"]),
        ("#pragma omp parallel\n#ifdef A\nfor (;;) ;\n#endif", &["parallel -> for (;;) ; conditional"]),
        ("#ifdef A\n#pragma omp parallel\nfor (;;) ;\n#endif", &["parallel -> for (;;) ;"]),
        (
            "#pragma omp target\n#ifdef A\n#pragma omp teams\n#else\n#pragma omp parallel\n#endif\nfor (;;) ;",
            &[
                "target -> for (;;) ; conditional",
                "teams -> for (;;) ; on 0 alternative",
                "parallel -> for (;;) ; on 0 alternative",
            ],
        ),
        (
            "#if A\n#pragma omp target\n#elif B\n// b\n#pragma omp parallel\n#endif\n// c\nfor (;;) ;",
            &["target -> for (;;) ; alternative", "parallel -> for (;;) ; alternative"],
        ),
        (
            "#if A\n#pragma omp target\n#pragma omp teams\n#else\n#pragma GCC ivdep\n#pragma omp parallel\n#endif\n{ }",
            &["target -> { } conditional", "teams -> { } on 0 conditional", "parallel -> { } conditional"],
        ),
        ("#if A\n#pragma omp target\n#endif\n#pragma GCC ivdep\nfor (;;) ;", &["target -> for (;;) ; conditional"]),
        (
            "#if A\n#pragma omp target\n#endif\n#if B\n#pragma omp teams\n#endif\nfor (;;) ;",
            &["target -> for (;;) ; conditional", "teams -> for (;;) ; on 0 alternative"],
        ),
        ("#if A\n#pragma omp target\n#endif\n{\n#if B\n;\n#endif\n}", &["target -> { #if B ; #endif } conditional"]),
        ("#pragma omp target\n{\n#ifdef A\n a[0];\n#endif\n}", &["target -> { #ifdef A a[0]; #endif } conditional"]),
        ("#pragma omp parallel\n#include \"loop.h\"\n a[0];", &["parallel -> a[0]; macro"]),
        (
            "#ifdef A\n#pragma omp parallel\nfor (;;) {\n#else\nfor (;;) {\n#endif\n}",
            &["parallel -> for (;;) { #else for (;;) { #endif } conditional"],
        ),
    ] {
        let text = format!("void f(int n, int *a) {{\n{body}\n}}\n");
        assert_eq!(constructs("f.c", &text), expected, "{body}");
    }
    assert_eq!(
        constructs("f.c", "#define OMP(x) _Pragma(#x)\nvoid f(void) {\nOMP(omp parallel)\n{ }\n}\n"),
        [" -> { } macro"]
    );
}

#[test]
fn many_stacked_directives_take_no_square_time() {
    let text = format!("void f(void) {{\n{}for (;;) ;\n}}\n", "#pragma omp parallel\n".repeat(20_000));
    let found = constructs("f.c", &text);
    assert_eq!(found.last().map(String::as_str), Some("parallel -> for (;;) ; on 19998"));
}
