use super::*;

fn file(name: &str, text: &str) -> SourceFile {
    SourceFile::new(name, text.as_bytes().to_vec())
}

/// The text of `program.c` with that of headers, without blanks at the ends of lines and empty lines.
fn joined(text: &str, headers: &[(&str, &str)]) -> Option<String> {
    let headers: Vec<SourceFile> = headers.iter().map(|(name, text)| file(name, text)).collect();
    let found = Joined::of(&file("program.c", text), &headers, &[], &Limits::default())?;
    let text = String::from_utf8_lossy(&found.file.text).into_owned();
    Some(text.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>().join("\n"))
}

#[test]
fn a_guard_makes_the_first_place_the_only_one() {
    let guarded = "/* what it is */\n#ifndef A_H\n#define A_H\nint a;\n#endif // A_H\n";
    for text in ["#include \"a.h\"\nint b;\n#include \"a.h\"", "#include \"./x/../a.h\" // first\nint b;\n"] {
        let found = joined(text, &[("a.h", guarded)]);
        assert_eq!(found.as_deref(), Some("/* what it is */\n#define A_H\nint a;\nint b;"), "{text}");
    }
    let once = joined(
        "#include \"a.h\"\n#include \"b.h\"\n",
        &[("a.h", "#include \"b.h\"\nint a;\n"), ("b.h", "#pragma once\nint b;\n")],
    );
    assert_eq!(once.as_deref(), Some("#pragma once\nint b;\nint a;"));
}

#[test]
fn what_may_stand_elsewhere_or_twice_is_left() {
    let plain = "int a;\n";
    let guarded = "#ifndef A_H\n#define A_H\nint a;\n#endif\n";
    for (text, header) in [
        ("#include \"a.h\"\n#include \"a.h\"\n", plain),
        ("#if X\n#include \"a.h\"\n#endif\n", plain),
        ("#if X\n#include \"a.h\"\n#endif\n#include \"a.h\"\n", guarded),
        ("void f(void) {\n#include \"a.h\"\n}\n", plain),
        ("#include \"a.h\"\n#include <x/a.h>\n", guarded),
        ("#include \"a.h\"\n#include OTHER\n", guarded),
        ("#define A_H\n#include \"a.h\"\n", guarded),
        ("#include \"a.h\"\n#undef A_H\n#include \"a.h\"\n", guarded),
        ("#include \"b/a.h\"\n", plain),
        ("#include \"a.h\"\n", "int a(void) {\n"),
    ] {
        assert_eq!(joined(text, &[("a.h", header)]), None, "{text} {header}");
    }
}

#[test]
fn what_is_decided_of_headers_is_left_out() {
    let own = file("program.c", "#include \"a.h\"\nint b;\n");
    let found = Joined::of(&own, &[file("a.h", "int a;\n")], &[], &Limits::default()).unwrap();
    let text = String::from_utf8_lossy(&found.file.text).into_owned();
    let span = |word: &str| text.find(word).map(|at| Span::new(at, at + word.len())).unwrap();
    assert!(found.is_of_header(span("int a")));
    assert_eq!(own.show(found.place(span("int a"))), "#include \"a.h\"");
    assert_eq!(own.show(found.place(span("int b"))), "int b");
    assert!(found.edit(&Edit { span: span("int a"), text: String::new() }).is_none());
    let edit = found.edit(&Edit::insertion(span("int b").start, "static ")).unwrap();
    assert_eq!(edit.span, Span::new(15, 15));
}
