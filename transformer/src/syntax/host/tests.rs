use proptest::prelude::*;

use super::{HostError, HostTree, Limits, NodeId, parse_expression};
use crate::source::{Language, SourceFile, Span, scan};

fn parse(name: &str, text: &str) -> (SourceFile, HostTree) {
    let file = SourceFile::new(name, text.as_bytes().to_vec());
    let tree = HostTree::parse(&file, &scan(&file.text), &Limits::default()).unwrap();
    assert_well_formed(&tree, text.len());
    (file, tree)
}

/// The invariants of the arena that its queries rest on.
pub(super) fn assert_well_formed(tree: &HostTree, length: usize) {
    assert!(tree.nodes.is_sorted_by_key(|node| node.start), "starts go up in the order of the nodes");
    for id in tree.descendants(tree.root()) {
        assert!(tree.span(id).end <= length);
        let children: Vec<NodeId> = tree.children(id).collect();
        for child in &children {
            assert_eq!(tree.parent(*child), Some(id));
            assert!(tree.span(id).contains(tree.span(*child)));
        }
        let below: usize = children.iter().map(|child| tree.descendants(*child).count()).sum();
        assert_eq!(below + 1, tree.descendants(id).count());
        assert_eq!(tree.ancestors(id).last().unwrap_or(id), tree.root());
    }
}

/// The kind and text of the statement behind the mark `@`.
fn statement(name: &str, marked: &str) -> Option<(&'static str, String)> {
    let at = marked.find('@').unwrap();
    let (file, tree) = parse(name, &marked.replacen('@', "", 1));
    tree.statement_at(at).map(|id| (tree.kind(id).text(), file.show(tree.span(id)).into_owned()))
}

#[track_caller]
fn check_statement(name: &str, marked: &str, kind: &str, text: &str) {
    let expected = Some((kind, text.to_owned()));
    assert_eq!(statement(name, marked).as_ref().map(|(k, t)| (*k, t.clone())), expected);
}

#[test]
fn finds_the_associated_statement() {
    let inside = |body: &str| format!("void f(int c, int *a) {{\n{body}\n}}\n");
    let cases = [
        ("#pragma omp for\n@for (;;) {}\nc++;", "for_statement", "for (;;) {}"),
        ("if (c)\n#pragma omp for\n@for (;;) ;\nelse c--;", "for_statement", "for (;;) ;"),
        ("if (c) ; else\n#pragma omp task\n@c++;\nc--;", "expression_statement", "c++;"),
        ("for (;;)\n#pragma omp simd\n@for (;;) c++;", "for_statement", "for (;;) c++;"),
        ("switch (c) { case 1:\n#pragma omp for\n@for (;;) ;\nbreak; }", "for_statement", "for (;;) ;"),
        ("again:\n#pragma omp critical\n@c++;", "expression_statement", "c++;"),
        ("#pragma omp parallel\n@again: c++;", "labeled_statement", "again: c++;"),
        ("#pragma omp parallel\n@{ { c++; } }", "compound_statement", "{ { c++; } }"),
        ("#pragma omp allocate(d)\n@int d = 1, e;", "declaration", "int d = 1, e;"),
        ("do\n#pragma omp task\n@c++;\nwhile (c);", "expression_statement", "c++;"),
        ("_Pragma(\"omp atomic\") @a[0] += 1;", "expression_statement", "a[0] += 1;"),
        ("#pragma omp parallel // x\n/* y */ @(*a)++;", "expression_statement", "(*a)++;"),
        ("#ifdef X\n#pragma omp for\n#else\n#pragma omp simd\n#endif\n@for (;;) ;", "for_statement", "for (;;) ;"),
        ("#pragma omp parallel\n@while (c) c--;", "while_statement", "while (c) c--;"),
    ];
    for (body, kind, text) in cases {
        check_statement("a.c", &inside(body), kind, text);
        check_statement("a.cpp", &inside(body), kind, text);
    }
    assert_eq!(statement("a.c", &inside("c++;\n#pragma omp barrier\n@")), None);
    assert_eq!(statement("a.c", &inside("c = @1;")), None);
}

#[test]
fn finds_the_associated_declaration() {
    check_statement(
        "a.c",
        "#pragma omp declare simd\n@static int f(int a) { return a; }\n",
        "function_definition",
        "static int f(int a) { return a; }",
    );
    check_statement("a.c", "#pragma omp declare simd\n@int f(int a);\nint g;", "declaration", "int f(int a);");
    check_statement("a.c", "@struct S { int x; };", "struct_specifier", "struct S { int x; }");
    check_statement("a.c", "@struct S s;", "declaration", "struct S s;");
    let cpp = [
        (
            "#pragma omp declare simd\n@template <class T> T f(T a);",
            "template_declaration",
            "template <class T> T f(T a);",
        ),
        (
            "template <class T>\n#pragma omp declare simd\n@T f(T a) { return a; }",
            "function_definition",
            "T f(T a) { return a; }",
        ),
        ("void f(V &v) {\n#pragma omp for\n@for (auto &x : v) x++;\n}", "for_range_loop", "for (auto &x : v) x++;"),
        ("struct S {\n#pragma omp declare simd\n@int f(int);\n};", "field_declaration", "int f(int);"),
        ("namespace n {\n#pragma omp threadprivate(x)\n@int y; }", "declaration", "int y;"),
        ("void f() { [[omp::directive(parallel for)]] @for (;;) ; }", "for_statement", "for (;;) ;"),
    ];
    for (marked, kind, text) in cpp {
        check_statement("a.cpp", marked, kind, text);
    }
}

#[test]
fn reads_c_and_cpp_by_the_name_of_the_file() {
    assert_eq!(parse("a.c", "int x;").1.language(), Language::C);
    assert_eq!(parse("a.cpp", "int x;").1.language(), Language::Cpp);
    assert_eq!(parse("a.h", "int x;").1.language(), Language::C);
    assert_eq!(parse("a.h", "template <class T> struct S { T f() const; };").1.language(), Language::Cpp);
    assert!(parse("a.c", "void f(void) { { } }").1.problems().is_empty());
}

#[test]
fn finds_problems_only_where_they_are() {
    let text = "void f(void) { MACRO(1) x++; }\nvoid g(void) { y++; }\nvoid h(void) { int = ; }\n";
    let (_, tree) = parse("a.c", text);
    let at = |part: &str| {
        let start = text.find(part).unwrap();
        Span::new(start, start + part.len())
    };
    let around_macro = tree.problem_in(at("MACRO(1) x++")).unwrap();
    assert_eq!(tree.kind(around_macro).text(), "ERROR");
    assert_eq!(tree.problem_in(at("void f(void) { MACRO(1) x++; }")), Some(around_macro));
    assert!(tree.problem_in(at("void g(void) { y++; }")).is_none());
    assert!(tree.problem_in(at("int = ;")).is_some());
    assert!(tree.problem_in(Span::new(0, text.len())).is_some());
}

#[test]
fn covers_with_the_smallest_node() {
    let text = "int f(int a) { return a + 10; }";
    let (file, tree) = parse("a.c", text);
    let covering = |part: &str| {
        let start = text.find(part).unwrap();
        let id = tree.covering(Span::new(start, start + part.len()));
        (tree.kind(id).text(), file.show(tree.span(id)).into_owned())
    };
    assert_eq!(covering("10"), ("number_literal", "10".to_owned()));
    assert_eq!(covering("0"), ("number_literal", "10".to_owned()));
    assert_eq!(covering("a + 1"), ("binary_expression", "a + 10".to_owned()));
    assert_eq!(covering("return a"), ("return_statement", "return a + 10;".to_owned()));
    assert_eq!(covering(") {").0, "function_definition");
    assert_eq!(covering(text).0, "function_definition");
    assert_eq!(tree.covering(Span::new(0, 1000)), tree.root());
}

#[test]
fn takes_one_branch_where_no_grammar_reads_both() {
    let text = "void f(int n) {\n#ifdef A\n  for (;;) {\n#else\n  for (; n;) {\n#endif\n    n--;\n  }\n}\n\
                #ifdef B\nint x;\n#endif\n";
    let (file, tree) = parse("a.c", text);
    assert!(tree.problems().is_empty(), "{:?}", tree.problems());
    let inactive: Vec<_> = tree.inactive().iter().map(|span| file.show(*span).into_owned()).collect();
    assert_eq!(inactive, ["#ifdef A", "#else\n  for (; n;) {\n#endif"]);
    let start = text.find("for (;;)").unwrap();
    let found = tree.statement_at(start).unwrap();
    assert!(file.show(tree.span(found)).ends_with("n--;\n  }"));
}

#[test]
fn chooses_the_branch_that_the_language_and_openmp_take() {
    let starts = |condition: &str, name: &str| {
        let text = format!(
            "void f(int n) {{\n{condition}\n  for (;;) {{\n#else\n  while (n) {{\n#endif\n    n--;\n  }}\n}}\n"
        );
        let (_, tree) = parse(name, &text);
        assert!(tree.problems().is_empty(), "{condition}");
        tree.descendants(tree.root()).any(|id| tree.kind(id).text() == "for_statement")
    };
    let cases = [
        ("#if 0", false),
        ("#if 1", true),
        ("#if (0) // x", false),
        ("#ifdef _OPENMP", true),
        ("#ifndef _OPENMP", false),
        ("#if defined(_OPENMP)", true),
        ("# if !defined _OPENMP /* x */", false),
        ("#ifdef __cplusplus", false),
        ("#ifndef __cplusplus", true),
        ("#if UNKNOWN > 2", true),
        ("#ifndef UNKNOWN", true),
    ];
    for (condition, is_for) in cases {
        assert_eq!(starts(condition, "a.c"), is_for, "{condition}");
    }
    assert!(starts("#ifdef __cplusplus", "a.cpp"));
}

#[test]
fn leaves_balanced_groups_alone() {
    let text = "#ifndef H\n#define H\nvoid f(int n) {\n#ifdef A\n  n++;\n#else\n  n--;\n#endif\n}\n#endif\n";
    let (_, tree) = parse("a.h", text);
    assert!(tree.problems().is_empty() && tree.inactive().is_empty());
}

#[test]
fn ends_lines_at_a_lone_carriage_return() {
    let (_, tree) = parse("a.c", "#define A 1\r// x\rint x;\r#pragma omp declare target\rint y;\r");
    assert!(tree.problems().is_empty());
    assert_eq!(tree.named_children(tree.root()).count(), 3);
}

#[test]
fn keeps_within_its_limits() {
    let refuse = |text: &str, limits: Limits| {
        let file = SourceFile::new("a.c", text.as_bytes().to_vec());
        HostTree::parse(&file, &scan(&file.text), &limits).unwrap_err()
    };
    let limits = Limits::default();
    assert_eq!(refuse("int\0x;", limits), HostError::Nul(3));
    assert_eq!(refuse("int x;", Limits { bytes: 5, ..limits }), HostError::TooLarge(6));
    assert_eq!(refuse("((((1", Limits { depth: 3, ..limits }), HostError::TooDeep(3));
    assert_eq!(refuse("int x = 1+1+1+1+1;", Limits { depth: 5, ..limits }), HostError::TooDeep(8));
    let long = "int x = 1 + 2;\n".repeat(100_000);
    assert_eq!(refuse(&long, Limits { milliseconds: 0, ..limits }), HostError::Deadline);
    let brackets_in_strings = format!("char *s = \"{}\"; // {}\n", "(".repeat(2000), "[".repeat(2000));
    assert!(parse("a.c", &brackets_in_strings).1.problems().is_empty());
}

/// The kind of an expression between the marks `<` and `>`, read in place.
fn expression(text: &str, part: &str, language: Language) -> Option<(&'static str, String)> {
    let file = SourceFile::new("a.c", text.as_bytes().to_vec());
    let start = text.find(part).unwrap();
    let tree = parse_expression(&file, Span::new(start, start + part.len()), language)?;
    assert!(tree.nodes.is_sorted_by_key(|node| node.start));
    Some((tree.kind(tree.root()).text(), file.show(tree.span(tree.root())).into_owned()))
}

#[test]
fn reads_expressions_in_place() {
    let read = |part: &str| {
        let text = format!("#pragma omp target if({part})\n");
        expression(&text, part, Language::C)
    };
    let cases = [
        ("n", "identifier", "n"),
        (" a * b ", "binary_expression", "a * b"),
        ("(n + 1) / 2", "binary_expression", "(n + 1) / 2"),
        ("f(a, b)[i]", "subscript_expression", "f(a, b)[i]"),
        ("a = b", "assignment_expression", "a = b"),
        ("c ? d : e", "conditional_expression", "c ? d : e"),
        ("n \\\n + 1", "binary_expression", "n \\\n + 1"),
        ("n /* x */", "identifier", "n"),
        ("n // x", "identifier", "n"),
        ("sizeof(int)", "sizeof_expression", "sizeof(int)"),
        ("*p", "pointer_expression", "*p"),
        ("-1", "number_literal", "-1"),
    ];
    for (part, kind, text) in cases {
        assert_eq!(read(part), Some((kind, text.to_owned())), "{part}");
    }
    for part in ["a, b", "a; b", "a b", "", "(", "a)", "{1}", "+", "= a", "a; }  x = (", "[n]p"] {
        assert_eq!(read(part), None, "{part}");
    }
    let cpp = |part: &str| expression(part, part, Language::Either).map(|(kind, _)| kind);
    assert_eq!(cpp("this->n"), Some("field_expression"));
    assert_eq!(cpp("A<int>::n"), Some("qualified_identifier"));
    let deep = "(".repeat(200_000);
    assert_eq!(expression(&deep, &deep, Language::C), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// The order of the starts, on which the queries rest, holds in broken programs too.
    #[test]
    fn trees_of_broken_programs_are_well_formed(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60),
        is_cpp: bool,
    ) {
        let text = pieces.concat();
        let (_, tree) = parse(if is_cpp { "a.cpp" } else { "a.c" }, &text);
        for at in 0..text.len() {
            if let Some(found) = tree.statement_at(at) {
                prop_assert_eq!(tree.span(found).start, at);
                prop_assert!(tree.ancestors(found).all(|above| tree.span(above).start < at || !tree.kind(above).is_statement_or_declaration()));
            }
            let span = Span::new(at, (at + 3).min(text.len()));
            let found = tree.covering(span);
            prop_assert!(found == tree.root() || tree.span(found).contains(span));
            prop_assert!(tree.children(found).all(|child| !tree.span(child).contains(span)));
        }
    }
}

const PIECES: &[&str] = &[
    "if (a) ",
    "else ",
    "for (;;) ",
    "{ ",
    "} ",
    "( ",
    ") ",
    "[",
    "]",
    ";\n",
    "x ",
    "int ",
    "= ",
    "1 ",
    ", ",
    "return ",
    "case 1: ",
    "switch (x) ",
    "do ",
    "while (x) ",
    "\n#pragma omp for\n",
    "\n#if A\n",
    "\n#else\n",
    "\n#endif\n",
    "struct S ",
    "f(x) ",
    "* ",
    "+ ",
    "template <class T> ",
    "class ",
    ": ",
    "// c\n",
    "/* c */ ",
    "\"s\" ",
    "@ ",
    "void f(void) { ",
    "\n#define M x\n",
];

/// What stands behind a macro without a semicolon is no declaration and no call, whatever the grammar takes it for.
#[test]
fn statements_behind_macros_are_problems() {
    let macros = "#define IF(x) if (x)\n#define STEP x = 1;\n#define NONE\n#define AT *\n#define ELSE else\n#define OUT out :\n\
                  #define INC ++\n#define REAL double /* wide */\n#define POINTER REAL *\n#define INNER STEP\n#define k_x k\n";
    let check = |body: &str, is_problem: bool| {
        let (_, tree) = parse("a.c", &format!("{macros}void f(int n, double *a) {{ {body} }}\n"));
        assert_eq!(tree.problems().is_empty(), !is_problem, "{body}");
    };
    let statements = [
        "IF(x) a[i] = 3;",
        "UNSEEN(x) a[i] = 3;",
        "STEP a[i] = b;",
        "STEP x = 3;",
        "NONE x = 3;",
        "AT p = 3;",
        "ELSE x = 3;",
        "OUT x = 3;",
        "INNER x = 3;",
        "x INC;",
        "UNSEEN a[i] = x + 1;",
        "IF(x) (a[i]) = 3;",
        "UNSEEN(x) (a[i])++;",
    ];
    statements.into_iter().for_each(|body| check(body, true));
    let declarations = [
        "REAL x = 3;",
        "POINTER x = a;",
        "unseen x = 3;",
        "unseen a[2] = {1, 2};",
        "unseen a[3] = TABLE;",
        "static STEP x = 1;",
        "unseen k_x = 3;",
        "char s[] = \"s\";",
        "__typeof__(a) b = a;",
        "get(n)(a);",
        "x = IF(n);",
    ];
    declarations.into_iter().for_each(|body| check(body, false));
}
