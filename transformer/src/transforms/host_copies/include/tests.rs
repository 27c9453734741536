use super::{place, requires};
use crate::source::{SourceFile, scan};

/// `@` marks the place for the header, `LOOP` the place of the loop.
#[track_caller]
fn check(marked: &str) {
    check_in("a.c", marked);
}

#[track_caller]
fn check_in(name: &str, marked: &str) {
    let text = marked.replace('@', "");
    let file = SourceFile::new(name, text.clone().into_bytes());
    let start = text.find("LOOP").unwrap_or(text.len());
    assert_eq!(place(&file, &scan(text.as_bytes()), start), marked.find('@'), "{marked}");
}

#[test]
fn it_goes_before_the_first_include() {
    for text in [
        "@#include <a>\n#include <b>\nLOOP",
        "\u{feff}@#include <a>\nLOOP",
        "\u{feff}// why\n@  # include <a>\nLOOP",
        "/* a\n * b */\n\n@#include <a>\nLOOP",
        "// a \\\n#include <no>\n@#include <a>\nLOOP",
        "#pragma once\n#define A(x) {\\\n\n#undef B\n@#include A(1)\nLOOP",
        "#define A\r\n@#include <a>\r\nLOOP",
        "#define A\r@#include <a>\rLOOP",
        "#if __STDC_VERSION__ < 199901L\n#error old\n#endif\n@#include <a>\nLOOP",
        "@#include <a>\nextern \"C\" {\n#include <b>\n}\nLOOP",
        "@#include <a>\nstruct s {\n#include <b>\nLOOP",
        "@#include <a>\n#pragma pack(push, 1)\n#include <b>\nLOOP",
    ] {
        check(text);
    }
}

#[test]
fn nothing_may_be_open_before_it() {
    for text in [
        "struct s {\n#include <a>\n};\nLOOP",
        "extern \"C\" {\n#include <a>\n}\nLOOP",
        "namespace foo {\n#include <a>\n}\nLOOP",
        "void f(void) {\n#include <a>\n}\nLOOP",
        "int t[] = {\n#include <a>\n};\nLOOP",
        "static const int\n#include <a>\nLOOP",
        "MACRO\n#include <a>\nLOOP",
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n#include <a>\nLOOP",
        "#pragma pack(push, 1)\n#include <a>\nLOOP",
        "#pragma GCC visibility push(hidden)\n#include <a>\nLOOP",
        "#pragma omp begin declare target\n#include <a>\nLOOP",
        "#pragma clang attribute push (__attribute__((x)), apply_to = function)\n#include <a>\nLOOP",
        "_Pragma(\"pack(push, 1)\")\n#include <a>\nLOOP",
        "#line 5\n#include <a>\nLOOP",
        "# 1 \"a.c\"\n#include <a>\nLOOP",
        "/* why\n */ #include <a>\nLOOP",
        "#pragma x\nLOOP\n#include <a>\n",
    ] {
        check(text);
    }
}

#[test]
fn it_stands_under_no_other_condition_than_the_loop() {
    for text in [
        "#ifndef H\n#define H\n@#include <a>\nLOOP\n#endif\n",
        "@#ifdef A\n#include <a>\n#endif\nLOOP",
        "@#if A\n#if B\n#include <a>\n#endif\n#endif\nLOOP",
        "#ifndef H\n#define H\n@#if A\n#include <a>\n#else\nLOOP\n#endif\n#endif\n",
        "#if A\n#define B\n#endif\n@#include <a>\nLOOP",
        // A definition that stays behind the header would come too late for headers that it includes.
        "#if A\n#define _GNU_SOURCE\n#include <a>\n#endif\nLOOP",
        "#ifdef A\nint x;\n#endif\n#include <a>\nLOOP",
    ] {
        check(text);
    }
}

#[test]
fn a_program_without_includes_begins_with_it() {
    check("// why\n#define N 5\n@static int f(void)\nLOOP");
    check("#ifdef A\n#endif\n@int x;\nLOOP\n#include <b>\n");
    check_in("a.cpp", "export module m;\nLOOP");
    check_in("a.cpp", "module;\n#include <a>\nexport module m;\nLOOP");
    for name in ["a.h", "a.inc", "a.ipp", "fragment"] {
        check_in(name, "static int f(void)\nLOOP");
        check_in(name, "@#include <a>\nLOOP");
    }
}

#[test]
fn requirements_stand_before_directives() {
    for (text, is_one) in [
        ("#pragma omp requires reverse_offload\n", true),
        ("# pragma omp \\\n requires unified_shared_memory\n", true),
        ("#pragma omp /* all */ requires unified_shared_memory\n", true),
        ("_Pragma(\"omp requires reverse_offload\")\n", true),
        ("#define REQUIRE _Pragma(\"omp requires reverse_offload\")\nREQUIRE\n", true),
        ("template <class T> requires true void f();\n#pragma omp parallel\n", false),
        ("// requires\n", false),
    ] {
        assert_eq!(requires(text.as_bytes(), &scan(text.as_bytes()), 0), is_one, "{text}");
        assert!(!requires(text.as_bytes(), &scan(text.as_bytes()), text.len()), "{text}");
    }
}
