//! What holds of the scan of any bytes.

use proptest::prelude::*;

use crate::source::Span;
use crate::source::pragma_scan::{Scan, mask, may_hold_directives, scan};

/// Pieces that open and close everything the scan knows, so that random sequences reach all of it.
const PIECES: &[&str] = &[
    "#",
    "pragma",
    " ",
    "omp",
    "_Pragma",
    "(",
    ")",
    "\"",
    "'",
    "\\",
    "\n",
    "\r\n",
    "\r",
    "/*",
    "*/",
    "//",
    "[[",
    "]]",
    "omp::",
    "directive",
    "sequence",
    "using",
    ":",
    "%:",
    "R\"",
    "x(",
    ")x\"",
    "#define",
    "#if",
    "#else",
    "#endif",
    "#include",
    "<",
    ">",
    "1'0",
    "__pragma",
    "A",
    "0",
    ",",
    "{",
    "}",
    "#pragma omp for\n",
    "#define A _Pragma(\"omp for\")\n",
    "NOLINT",
    "\u{feff}",
    "é",
    "\0",
];

fn texts() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES), 0..60);
    prop_oneof![pieces.prop_map(|pieces| pieces.concat().into_bytes()), prop::collection::vec(any::<u8>(), 0..200)]
}

fn is_sorted_and_disjoint(spans: impl Iterator<Item = Span>, length: usize) -> bool {
    let mut from = 0;
    spans.into_iter().all(|span| {
        let fits = from <= span.start && span.start <= span.end && span.end <= length;
        from = span.end;
        fits
    })
}

fn check_spans(scan: &Scan, length: usize) {
    assert!(is_sorted_and_disjoint(scan.directives.iter().map(|d| d.span), length));
    assert!(is_sorted_and_disjoint(scan.masked.iter().copied(), length), "{scan:?}");
    assert!(is_sorted_and_disjoint(scan.definitions.iter().map(|d| d.span), length));
    assert!(is_sorted_and_disjoint(scan.includes.iter().map(|d| d.span), length));
    assert!(is_sorted_and_disjoint(scan.notes.iter().map(|d| d.span), length));
    assert!(scan.conditionals.is_sorted_by_key(|group| group.span.start));
    for directive in &scan.directives {
        assert!(directive.body.is_none_or(|body| directive.span.contains(body)), "{directive:?}");
        assert!(scan.masked.iter().any(|masked| masked.contains(directive.span)));
    }
    for definition in &scan.definitions {
        assert!(definition.span.contains(definition.name) && definition.span.contains(definition.body));
    }
    for group in &scan.conditionals {
        let parts = group.branches.iter().flat_map(|branch| [branch.line, branch.content]);
        assert!(is_sorted_and_disjoint(parts, group.span.end), "{group:?}");
    }
}

proptest! {
    #[test]
    fn spans_are_sorted_disjoint_and_in_range(text in texts()) {
        let found = scan(&text);
        check_spans(&found, text.len());
        prop_assert!(found.directives.iter().all(|it| it.body.is_none()) || may_hold_directives(&text));
    }

    #[test]
    fn masking_keeps_length_and_line_ends(text in texts()) {
        let masked = mask(&text, &scan(&text).masked);
        prop_assert_eq!(masked.len(), text.len());
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        prop_assert!(text.iter().zip(&masked).all(|(a, b)| a == b || (*b == b' ' && !is_end(a))));
    }

    #[test]
    fn a_masked_text_holds_no_directives(text in texts()) {
        let first = scan(&text);
        // Macros stay defined, and an unfinished literal may end elsewhere once a directive is blanked.
        prop_assume!(first.definitions.is_empty() && !text.contains(&b'"') && !text.contains(&b'\''));
        let second = scan(&mask(&text, &first.masked));
        prop_assert!(second.directives.is_empty(), "{:?}", second.directives);
    }
}
