//! Each case is one annotated text: `«»` around a directive's span, `‹›` around its body. The text without the marks is
//! scanned, and the marks put in again by the scan's spans must give the case back.

use super::Spelling::{Attribute, Macro, Microsoft, Operator, Pragma};
use super::{Scan, Spelling, mask, may_hold_directives, scan};
use crate::source::Span;

fn annotate(text: &str, scan: &Scan) -> String {
    let mut marks: Vec<(usize, u8, char)> = Vec::new();
    for directive in &scan.directives {
        // The order of marks at one place: bodies close before spans, all that closes before what opens.
        marks.push((directive.span.start, 2, '«'));
        marks.push((directive.span.end, 1, '»'));
        if let Some(body) = directive.body {
            // An empty body opens and closes at one place.
            let empty = body.is_empty();
            marks.push((body.start, if empty { 0 } else { 3 }, '‹'));
            marks.push((body.end, 0, '›'));
        }
    }
    marks.sort_by_key(|(at, order, _)| (*at, *order));
    let mut out = String::new();
    let mut from = 0;
    for (at, _, mark) in marks {
        out.push_str(&text[from..at]);
        out.push(mark);
        from = at;
    }
    out + &text[from..]
}

fn plain(case: &str) -> String {
    case.replace(['«', '»', '‹', '›'], "")
}

#[track_caller]
fn check(case: &str, spelling: Spelling) {
    let text = plain(case);
    let found = scan(text.as_bytes());
    assert_eq!(annotate(&text, &found), case);
    assert!(found.directives.iter().all(|d| d.spelling == spelling), "{found:?}");
    assert!(found.directives.is_empty() || may_hold_directives(text.as_bytes()), "{text:?}");
    assert_masked(&text, &found);
}

#[track_caller]
fn assert_masked(text: &str, scan: &Scan) {
    let masked = mask(text.as_bytes(), &scan.masked);
    assert_eq!(masked.len(), text.len());
    for directive in &scan.directives {
        assert!(directive.span.of(&masked).trim_ascii().is_empty(), "not masked: {directive:?}");
    }
}

#[test]
fn finds_pragma_lines() {
    let cases = [
        "«#pragma omp ‹parallel for›»\nfor (;;);\n",
        "«#pragma omp ‹barrier›»",
        "«#pragma omp‹›»\nx;\n",
        "«#pragma omp‹› »\nx;\n",
        "«# pragma omp ‹single›»\n",
        "  «#\tpragma\tomp\t‹single›\t»\n",
        "«%:pragma omp ‹parallel›»\n",
        "«%: pragma omp ‹parallel›»\n",
        "«#/*x*/pragma omp ‹parallel›»\n",
        "«#/*x*/pragma/*y*/omp/*z*/‹parallel›»\n",
        "/* a */ «#pragma omp ‹parallel›»\n",
        "/* a\n b */ «#pragma omp ‹parallel›»\n",
        "«#pragma omp ‹target \\\n  map(to: a)›»\n{}\n",
        "«#pragma omp ‹target \\\r\n  map(to: a)›»\r\n{}\r\n",
        "«#pragma omp ‹target \\ \t\n  map(to: a)›»\n{}\n",
        "«#\\\npragma omp ‹target›»\n",
        "«#prag\\\nma o\\\nmp ‹tar\\\nget›»\n",
        "«#pragma \\\n omp \\\n ‹target›»\n",
        "«#pragma omp ‹parallel› // why»\nx;\n",
        "«#pragma omp ‹parallel› // why \\\n still the comment»\nx;\n",
        "«#pragma omp ‹parallel› /* why */»\nx;\n",
        "«#pragma omp ‹parallel› /* why\n still */»\nx;\n",
        "«#pragma omp ‹parallel /* why\n still */ private(x)›»\nx;\n",
        "«#pragma omp ‹parallel /* a */ if(c)› /* b */ // c»\nx;\n",
        "«#pragma omp /* a */ ‹for›»\n",
        "«#pragma omp ‹parallel›»\r\nx;\r\n",
        "«#pragma omp ‹parallel›»\rx;\r«#pragma omp ‹for›»\rx;\r",
        "\u{feff}«#pragma omp ‹parallel›»\n",
        "{\n«#pragma omp ‹for›»\n}",
        "f();\n\x0c«#pragma omp ‹for›»\n",
        "«#pragma omp ‹critical(a\"//\"b) if(x)›»\n",
        "«#pragma omp ‹parallel num_threads(1'000) if(a)› // b»\nx;\n",
        "«#pragma omp ‹parallel if('\"' == c)› // b\"»\nx;\n",
        "\\\n«#pragma omp ‹parallel›»\n",
        "«#pragma omp ‹parallel› /* open»",
    ];
    for case in cases {
        check(case, Pragma);
    }
}

#[test]
fn skips_what_is_no_directive() {
    let cases = [
        "// #pragma omp parallel\nx;\n",
        "// a \\\n#pragma omp parallel\nx;\n",
        "/*\n#pragma omp parallel\n*/\n",
        "/*\n#pragma omp parallel\n",
        "\"a\\\n#pragma omp parallel\\\n\";\n",
        "R\"(\n#pragma omp parallel\n)\";\n",
        "u8R\"x(\n)\"\n#pragma omp parallel\n)x\";\n",
        "R\"(\n#pragma omp parallel\n",
        "x; #pragma omp parallel\n",
        "x \\\n#pragma omp parallel\n",
        "#define P \\\n#pragma omp parallel\nP\n",
        "#pragma once\n#pragma GCC ivdep\n#pragma ompx foo\n",
        "#pragma\n#\n##pragma omp parallel\n",
        "#pragmaomp parallel\n",
        "#error don't /* \n #pragma omp parallel\n",
        "_Pragma(\"GCC ivdep\") __pragma(warning(push))\n",
        "x_Pragma(\"omp for\"); _Pragmax(\"omp for\"); _Pragma;\n",
        "_Pragma(\"omp for\" \n",
        "a[[omp]]; a[omp::directive(x)];\n[[likely]] x; [[using gnu: directive(x)]];\n",
        "[[omp::directive(parallel\n",
        "\"[[omp::directive(parallel)]] _Pragma(\\\"omp for\\\")\"\n",
        "'[' /* _Pragma(\"omp for\") */ // __pragma(omp for)\n",
    ];
    for case in cases {
        // What looks like `#error don't /*` opens no comment: the quote takes the rest of its line.
        let expected = case.replacen("don't /* \n #pragma omp parallel", "don't /* \n «#pragma omp ‹parallel›»", 1);
        check(&expected, Pragma);
    }
}

#[test]
fn finds_directives_behind_literals_and_comments() {
    let cases = [
        "int n = 1'000'000; char c = 'a';\n«#pragma omp ‹for›»\n",
        "int n = 0xFF'FF; // don't\n«#pragma omp ‹for›»\n",
        "char c = '\"';\n«#pragma omp ‹for›»\n",
        "char c = '\\'', *s = \"\\\"\\\\\";\n«#pragma omp ‹for›»\n",
        "wchar_t c = L'\"', d = u8'\\\"';\n«#pragma omp ‹for›»\n",
        "it's an unfinished literal\n«#pragma omp ‹for›»\n",
        "\"an unfinished string\n«#pragma omp ‹for›»\n",
        "s = R\"x()\")x\"; // \"\n«#pragma omp ‹for›»\n",
        "s = LR\"(\\)\"; \n«#pragma omp ‹for›»\n",
        "s = FOOR\"(\\\")\"; \n«#pragma omp ‹for›»\n",
        "s = R\"not raw \"; \n«#pragma omp ‹for›»\n",
        "/* a **/ x /**/ /*/ */\n«#pragma omp ‹for›»\n",
        "a = b / c; // d /* e\n«#pragma omp ‹for›»\n",
        "#include <a//b>\n«#pragma omp ‹for›»\n",
        "#include <a/*b>\n«#pragma omp ‹for›»\n",
        "#include \"a'b\"\n«#pragma omp ‹for›»\n",
        "#define URL \"http://x\" /* a\n b */\n«#pragma omp ‹for›»\n",
        "x; \\\n\n«#pragma omp ‹for›»\n",
        "a /\\\n* c\n#pragma omp master\n*\\\n/\n«#pragma omp ‹for›»\n",
    ];
    for case in cases {
        check(case, Pragma);
    }
}

#[test]
fn finds_pragma_operators() {
    let cases = [
        "«_Pragma(\"omp ‹parallel for›\")» for (;;);\n",
        "«_Pragma (\n\"omp ‹barrier›\" )» a[0] = 1; «_Pragma(\"omp ‹taskwait›\")»\n",
        "«_Pragma(L\"omp ‹barrier›\")»\n",
        "«_Pragma(R\"x(omp ‹barrier›)x\")»\n",
        "«_Pragma(\" omp  ‹for› \")»\n",
        "«_Pragma(\"omp allocate(\\\"x\\\")\")»\n",
        "«_Pragma(\"omp ‹parallel \\\n for›\")»\n",
        "«_Pragma(STRING(omp for))»\n",
        "«_Prag\\\nma(\"omp ‹for›\")»\n",
        "if (c) «_Pragma(\"omp ‹critical›\")» x++;\n",
    ];
    for case in cases {
        check(case, Operator);
    }
    check("«__pragma(omp ‹parallel for if(a(b))›)» for (;;);\n", Microsoft);
    check("«__pragma( omp ‹barrier› )»;\n", Microsoft);
}

#[test]
fn finds_attributes() {
    let cases = [
        "«[[omp::directive(‹parallel for›)]]» for (;;);\n",
        "«[[ omp :: directive ( ‹simd reduction(+:t)› ) ]]» for (;;);\n",
        "«[[using omp: directive(‹parallel›)]]» x;\n",
        "«[[omp::sequence(directive(‹parallel›), »«directive(‹for›))]]» for (;;);\n",
        "«[[omp::sequence(omp::directive(‹parallel›), omp::»«directive(‹for›))]]» for (;;);\n",
        "«[[using omp: sequence(directive(‹a›), »«directive(‹b›))]]»;\n",
        "«[[likely, omp::directive(‹barrier›)]]»;\n",
        "int x «[[omp::decl(‹threadprivate›)]]»;\n",
        "«[[omp::directive(‹critical(a) hint(\"]]\")›)]]» x;\n",
        "a[b[0]] = c[d[[] { return 1; }()]];\n«[[omp::directive(‹for›)]]»\n",
    ];
    for case in cases {
        check(case, Attribute);
    }
}

#[test]
fn finds_uses_of_pragma_macros() {
    let cases = [
        "#define FOR _Pragma(\"omp for\")\n«FOR» for (;;);\n",
        "#define OMP(x) _Pragma(#x)\n«OMP(omp target map(to: a))» {}\n OMP;\n",
        "#define P(x) _Pragma(#x)\n#define OMP(...) P(omp __VA_ARGS__)\n«OMP(target, \")\")» {}\n",
        "#define A B\n#define B __pragma(omp for)\n«A» «B» x\n",
        "#define ONE(x) _Pragma(\"omp single\") x\n«ONE (\n f(1))»;\n",
        "FOR; \"FOR\";\n#define FOR \\\n  _Pragma(\"omp for\")\n«FOR» /* FOR */ xFOR FORx\n",
        "#define IVDEP _Pragma(\"GCC ivdep\")\nIVDEP for (;;);\n",
        "#ifdef X\n#define O(x) _Pragma(#x)\n#else\n#define O(x)\n#endif\n«O(omp for)»\n",
        "#define LOOP() P\n#define P LOOP()\nP\n",
    ];
    for case in cases {
        check(case, Macro);
    }
    let found = scan(b"#define A B\n#define C D\n#define B _Pragma(\"omp for\")\n");
    assert_eq!(found.definitions.iter().map(|d| d.leads_to_pragma).collect::<Vec<_>>(), [true, false, true]);
}

/// The masked text, line ends shown as `|`.
fn masked(text: &str) -> String {
    let found = scan(text.as_bytes());
    String::from_utf8(mask(text.as_bytes(), &found.masked)).unwrap().replace('\n', "|")
}

#[test]
fn masks_foreign_pragmas_and_keeps_line_ends() {
    assert_eq!(masked("#pragma once\nx;\n"), "            |x;|");
    assert_eq!(masked("#pragma omp \\\n for\nx;\n"), "             |    |x;|");
    assert_eq!(masked("_Pragma(\"a\")y;"), "            y;");
    let crlf = b"#pragma omp for \\\r\n nowait\r\n";
    assert_eq!(mask(crlf, &scan(crlf).masked), b"                 \r\n       \r\n");
}

#[test]
fn tells_alternatives() {
    let text = "#ifdef A\n#pragma omp for\n#elif B // x\n/* y */\n#pragma omp simd\n#else\n#endif\nfor (;;);\n";
    let found = scan(text.as_bytes());
    let group = &found.conditionals[0];
    assert!(group.only_directives);
    assert_eq!(group.span, Span::new(0, text.find("\nfor").unwrap()));
    assert_eq!(group.branches.len(), 3);
    assert_eq!(group.branches[1].line.of(text.as_bytes()), b"#elif B // x");
    assert_eq!(group.branches[1].content.of(text.as_bytes()), b"\n/* y */\n#pragma omp simd\n");
    assert_eq!(found.directives.iter().map(|d| d.alternative).collect::<Vec<_>>(), [Some((0, 0)), Some((0, 1))]);
    assert_eq!(masked(text).trim_start_matches([' ', '|']), "/* y */|                |     |      |for (;;);|");
}

#[test]
fn tells_alternatives_in_nested_groups() {
    let text =
        "#if A\n#if B\n#pragma omp a\n#else\n#pragma acc b\n#endif\n#else\n#pragma omp c\n#endif\n#pragma omp d\n";
    let found = scan(text.as_bytes());
    assert!(found.conditionals.iter().all(|group| group.only_directives));
    let alternatives: Vec<_> = found.directives.iter().map(|d| d.alternative).collect();
    assert_eq!(alternatives, [Some((1, 0)), Some((0, 1)), None]);
    assert_eq!(masked(text).trim_matches([' ', '|']), "");
}

#[test]
fn groups_with_code_are_no_alternatives() {
    let cases = [
        "#if A\n#pragma omp a\nx;\n#endif\n",
        "#if A\n#pragma omp a\n#define X\n#endif\n",
        "#if A\n#endif\n",
        "#if A\n// c\n#else\n#endif\n",
        "#if A\n#pragma omp a\n",
        "#if A\n#if B\nx;\n#endif\n#pragma omp a\n#endif\n",
        "#if A\n#pragma omp a\n#else\n#include \"x\"\n#endif\n",
    ];
    for case in cases {
        let found = scan(case.as_bytes());
        assert!(found.conditionals.iter().all(|group| !group.only_directives), "{case}");
        assert!(found.directives.iter().all(|d| d.alternative.is_none()), "{case}");
    }
    let unbalanced = scan(b"#else\n#endif\n#elif\n#if\n#if\n#else\n");
    assert_eq!(unbalanced.conditionals.len(), 2);
    assert_eq!(unbalanced.conditionals[1].branches.len(), 2);
    assert_eq!(unbalanced.conditionals[0].span.end, 33);
}

#[test]
fn reads_definitions_and_includes() {
    let text = "#define A\n#define B 1 /* x */\n# define C(x, y) \\\n  ((x) + \\\n   (y)) // z\n#define D (1)\n#define\n#define E(x\n";
    let found = scan(text.as_bytes());
    let show = |span: Span| String::from_utf8_lossy(span.of(text.as_bytes())).into_owned();
    let read: Vec<_> = found.definitions.iter().map(|d| (show(d.name), d.parameters.map(show), show(d.body))).collect();
    let expected = [("A", None, ""), ("B", None, "1"), ("C", Some("x, y"), "((x) + \\\n   (y))"), ("D", None, "(1)")];
    let expected = expected.map(|(a, b, c): (&str, Option<&str>, &str)| (a.into(), b.map(Into::into), c.into()));
    assert_eq!(read, expected);
    let text = "#include \"a b.h\" // x\n# include <c/d.h>\n#include NAME\n#include <e\n#include\n";
    let found = scan(text.as_bytes());
    let read: Vec<_> = found.includes.iter().map(|i| (&text[i.path.start..i.path.end], i.quoted)).collect();
    assert_eq!(read, [("a b.h", true), ("c/d.h", false)]);
    assert_eq!(found.includes[0].span, Span::new(0, 21));
}

#[test]
fn keeps_notes() {
    let text = "// NOLINT\nx; /* ompsplit: off */ \"// ompsplit\"\n#pragma omp for // NOLINTNEXTLINE\n// other\n";
    let found = scan(text.as_bytes());
    let read: Vec<_> = found.notes.iter().map(|n| &text[n.span.start..n.span.end]).collect();
    assert_eq!(read, ["// NOLINT", "/* ompsplit: off */", "// NOLINTNEXTLINE"]);
}

mod properties;
