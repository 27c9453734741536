//! Which parts expressions have.

use super::{Act, Evaluation};
use crate::source::{SourceFile, Span};
use crate::syntax::host::parse_expression;

fn acts(name: &str, text: &str) -> Vec<Act> {
    let file = SourceFile::new(name, text.as_bytes().to_vec());
    let tree = parse_expression(&file, Span::new(0, text.len()), file.language).expect("an expression");
    Evaluation::of_text(&file, tree).parts.into_iter().map(|part| part.act).collect()
}

#[test]
fn each_part_says_what_it_does() {
    use Act::{
        Address, Arithmetic, Bits, Call, Choice, Conversion, Division, Effect, Literal, Load, Member, Name, Size, Test,
        Type, Unknown,
    };
    let cases: &[(&str, &[Act])] = &[
        ("n * 2 + 1", &[Arithmetic, Arithmetic, Name, Literal, Literal]),
        ("-n / m", &[Division, Arithmetic, Name, Name]),
        ("(n >> 3) & ~m", &[Bits, Bits, Name, Literal, Bits, Name]),
        ("n < m || !k", &[Choice, Test, Name, Name, Test, Name]),
        ("n ? a[i] : *p", &[Choice, Name, Load, Name, Name, Load, Name]),
        ("&s.m", &[Address, Member, Name]),
        ("p->m", &[Load, Name]),
        ("(unsigned long)n", &[Conversion, Type, Name]),
        ("sizeof(int) * f(n)", &[Arithmetic, Size, Type, Call, Name, Name]),
        ("n++", &[Effect, Name]),
        ("(n = 3)", &[Effect, Name, Literal]),
        ("(int[]){1, 2}", &[Unknown, Type, Unknown, Literal, Literal]),
        ("'a' + \"text\"[0]", &[Arithmetic, Literal, Load, Literal, Literal]),
    ];
    for (text, expected) in cases {
        assert_eq!(acts("a.c", text), *expected, "{text}");
    }
}

#[test]
fn conversions_of_cpp_are_no_calls() {
    use Act::{Arithmetic, Call, Choice, Conversion, Literal, Name, Type, Unknown};
    let cases: &[(&str, &[Act])] = &[
        ("int(n) + 1", &[Arithmetic, Conversion, Type, Name, Literal]),
        ("static_cast<double>(n)", &[Conversion, Type, Name]),
        ("static_cast<T>(n)", &[Conversion, Type, Name]),
        ("n and m", &[Choice, Name, Name]),
        ("[](int i) { return i; }(3)", &[Call, Unknown]),
    ];
    for (text, expected) in cases {
        let found = acts("a.cpp", text);
        assert_eq!(found.get(..expected.len()), Some(*expected), "{text}: {found:?}");
    }
}
