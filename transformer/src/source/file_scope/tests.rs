use proptest::prelude::*;

use super::pragmas::{Effect, Kind, effect_of_directive, effect_of_pragma};
use super::{Ending, FileScope};
use crate::source::scan;

/// The names of the includes behind which another one may stand; those of files named `open` or `cut` end so.
fn free(text: &str) -> Vec<String> {
    let text = text.as_bytes();
    let found = scan(text);
    let path = |index: usize| String::from_utf8_lossy(found.includes[index].path.of(text)).into_owned();
    let scope = FileScope::of(text, &found, text.len(), &|include| match include.path.of(text) {
        b"open" => Some(Ending { is_closed: false, is_whole: true }),
        b"cut" => Some(Ending { is_closed: true, is_whole: false }),
        _ => None,
    });
    scope.free.into_iter().map(path).collect()
}

/// Includes named `yes` are free, the others are not.
#[track_caller]
fn check(text: &str) {
    let text = text.replace("@yes", "#include <yes>").replace("@no", "#include <no>").replace("@cut", "#include <cut>");
    let text = text.replace("@open", "#include <open>");
    let expected =
        scan(text.as_bytes()).includes.iter().filter(|include| include.path.of(text.as_bytes()) == b"yes").count();
    assert_eq!(free(&text), vec!["yes"; expected], "{text}");
}

#[test]
fn includes_in_brackets_are_not_free() {
    for text in [
        "@yes\n@yes\n",
        "\u{feff}// a comment\n@yes\n",
        "@yes\nstruct S {\n@no\n};\n@yes\n",
        "@yes\nnamespace foo {\n@no\n}\n@yes\n",
        "extern \"C\" {\n@no\n}\n@yes\n",
        "void f(void) {\n@no\n}\n@yes\n",
        "int t[] = {\n@no\n};\n@yes\n",
        "int f(\n@no\n);\n@yes\n",
        "struct S <%\n@no\n%>;\n@yes\n",
        "char c = '{', *s = \"{\"; /* { */ // {\n@yes\n",
        "long n = 1'000'000, m = 0xFF'FF'FF;\n@yes\n",
        "const char *s = R\"x({\"{)x\";\n@yes\n",
        "#define OPEN {\n@yes\n",
        "#undef X // don't {\n@yes\n",
        "#undef X \\\n\nstruct S {\n@no\n};\n@yes\n",
        "#undef X\rstruct S {\r@no\r};\r@yes\r",
        "#line 5 \\\r\n {\r\n@yes\r\n",
    ] {
        check(text);
    }
}

#[test]
fn includes_in_declarations_are_not_free() {
    for text in [
        "int x =\n@no\n;\n@yes\n",
        "static const int\n@no\n",
        "MACRO\n@no\nint x;\n@yes\n",
        "MACRO(1)\n@no\nint x;\n@yes\n",
        "extern \"C\"\n@no\nint x;\n@yes\n",
        "int t[] = {\n@cut\n};\n@yes\n",
        "@yes\n@cut\n;\n@no\n",
        "@yes\n@open\nint x;\n@no\n",
    ] {
        check(text);
    }
}

#[test]
fn what_conditionals_open_they_close() {
    for text in [
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n@no\n#ifdef __cplusplus\n}\n#endif\n@yes\n",
        "#ifdef A\nvoid f(int x) {\n#else\nvoid f(long x) {\n#endif\n}\n@no\n",
        "#ifdef C // C++\n{\n#endif\n@no\n#if defined(C)\n}\n#endif /* C */\n@yes\n",
        "#ifndef C\n{\n#endif\n@no\n# if !defined C\n}\n#endif\n@yes\n",
        "#ifdef C\n{\n#endif\n#ifndef C\n}\n#endif\n@no\n",
        "#ifdef A\n{\n#endif\n#ifdef B\n}\n#endif\n@no\n",
        "#ifdef A\n@no\n#endif\n@yes\n",
        "#ifdef A\nint x;\n#elif B\nint y;\n#else\nint z;\n#endif\n@yes\n",
        "@yes\nint x\n#ifdef A\n;\n#endif\n@no\n",
        "int x = f(1\n#ifdef A\n+ 1\n#endif\n);\n@yes\n",
        "#ifdef A\n#pragma pack(push, 1)\n#endif\n@no\n#ifdef A\n#pragma pack(pop)\n#endif\n@yes\n",
        "#ifdef A\n#pragma pack(1)\n#else\n#pragma pack(2)\n#endif\n@no\n#pragma pack()\n@no\n",
    ] {
        check(text);
    }
}

#[test]
fn macros_that_open_something_are_not_followed() {
    for text in [
        "#define BEGIN namespace foo {\n#define END }\n@yes\nBEGIN\nint x;\n@no\nEND\n@no\n",
        "#define BEGIN {\n#define FIRST BEGIN\n@yes\nFIRST\n;\n@no\n",
        "#define PACK _Pragma(\"pack(1)\")\n@yes\nPACK;\n@no\n",
        "#define PACK(n) _Pragma(#n)\n@yes\nPACK(1);\n@no\n",
        "#define UNROLL _Pragma(\"GCC unroll 4\")\nvoid f() { UNROLL for (;;); }\n@yes\n",
        "#define SQUARE(x) ((x) * (x))\nint x = SQUARE(2);\n@yes\n",
    ] {
        check(text);
    }
}

#[test]
fn pragmas_that_hold_are_open() {
    for text in [
        "@yes\n#pragma pack(push, 1)\n@no\n#pragma pack(pop)\n@yes\n",
        "@yes\n_Pragma(\"pack(push, 1)\")\n@no\n_Pragma(\"pack(pop)\")\n@yes\n",
        "@yes\n#pragma pack(push) // why\n#pragma pack(1)\n@no\n# pragma pack ( pop )\n@yes\n",
        "#pragma pack(1)\n@no\n#pragma pack()\n@yes\n",
        "#pragma pack(show)\n@yes\n",
        "#pragma GCC visibility push(hidden)\n@no\n#pragma GCC visibility pop\n@yes\n",
        "#pragma clang attribute push (__attribute__((annotate(\"x\"))), apply_to = function)\n@no\n#pragma clang attribute pop\n@yes\n",
        "#pragma GCC push_options\n#pragma GCC optimize(\"O0\")\n@no\n#pragma GCC pop_options\n@yes\n",
        "#pragma clang optimize off\n@no\n#pragma clang optimize on\n@yes\n",
        "#pragma omp declare target\n@no\n#pragma omp end declare target\n@yes\n",
        "#pragma omp begin declare target device_type(any)\n@no\n#pragma omp end declare target\n@yes\n",
        "#pragma omp declare target(x)\n@yes\n#pragma omp declare target to(x)\n@yes\n#pragma omp declare target enter(x)\n@yes\n",
        "#pragma omp begin declare variant match(device={kind(host)})\n@no\n#pragma omp end declare variant\n@yes\n",
        "#pragma omp assumes no_openmp\n@no\n",
        "#pragma once\n#pragma GCC diagnostic push\n#pragma STDC FP_CONTRACT ON\n#pragma omp requires reverse_offload\n@yes\n",
        "@yes\n#pragma vendor section\n@no\n",
        "void f(void) {\n#pragma omp parallel\n{ }\n}\n@yes\n",
    ] {
        check(text);
    }
}

#[test]
fn pragmas_are_read_in_every_spelling() {
    let push = Effect::Settings { kind: Kind::Packing, save: true, restore: false, set: Some(true) };
    for text in [
        "#pragma pack(push, 1)",
        "%:pragma pack(push, name, 1)",
        "_Pragma(\"pack(push, 1)\")",
        "__pragma(pack(push, 1))",
    ] {
        assert_eq!(effect_of_pragma(text.as_bytes()), push, "{text}");
    }
    assert_eq!(effect_of_pragma(b"#pragma clang attribute my.push (x)"), Effect::Open(Kind::Attribute));
    assert_eq!(effect_of_pragma(b"#pragma clang attribute (x)"), Effect::Nothing);
    assert_eq!(effect_of_pragma(b"#pragma clang assume_nonnull begin"), Effect::Open(Kind::Clang));
    assert_eq!(effect_of_pragma(b"#pragma"), Effect::Nothing);
    assert_eq!(effect_of_directive(b"begin_declare_target"), Effect::Open(Kind::OpenMp));
    assert_eq!(effect_of_directive(b"metadirective when(user={condition(x)}: end declare target)"), Effect::Unknown);
}

proptest! {
    #[test]
    fn any_text_is_followed(pieces in proptest::collection::vec(0_usize..PIECES.len(), 0..40), until in 0_usize..200) {
        let text: String = pieces.iter().map(|piece| PIECES[*piece]).collect();
        let found = scan(text.as_bytes());
        let scope = FileScope::of(text.as_bytes(), &found, until.min(text.len()), &|_| None);
        let inside = |index: &usize| found.includes[*index].span.end <= until;
        prop_assert!(scope.free.is_sorted() && scope.free.iter().all(inside));
    }
}

/// What texts are made of.
const PIECES: &[&str] = &[
    "#",
    "\n",
    "\\",
    "\r\n",
    "#include <a>\n",
    "#if A\n",
    "#else\n",
    "#endif\n",
    "#define X {\n",
    "#pragma pack(",
    "push",
    ")",
    "X",
    "_Pragma(\"",
    "\"",
    "'",
    "R\"(",
    "{",
    "}",
    "<%",
    "%>",
    ";",
    "/*",
    "*/",
    "//",
    "1'0",
    "\u{e9}",
    " ",
];
