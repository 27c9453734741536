//! Texts whose words are not what stands in them.
//!
//! Compilers replace trigraphs and join spliced lines before they look for words, so `ki\` and `ng` on two lines are one name, and a
//! comment that ends in `??/` goes on in the next line where trigraphs count (`-std=c17`). The grammars do neither.

use memchr::{memchr_iter, memmem};

use super::bytes::{Bytes, is_word};
use crate::source::Span;

/// What makes a text unclear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unclear {
    /// A line splice with parts of one word or operator on both sides, or one that the grammars do not take for a splice.
    Splice(Span),
    /// A trigraph: whether it counts hangs on the compiler's flags.
    Trigraph(Span),
}

/// The first place from which on compilers and grammars may read different words; none in nearly all texts, which is quick to learn.
/// `masked` are the pragmas, which are read by this scan and may have blanks behind the backslash that continues them.
#[must_use]
pub fn unclear(text: &[u8], masked: &[Span]) -> Option<Unclear> {
    // This one ends a literal or joins lines, even in a comment.
    if let Some(at) = memmem::find(text, b"??/") {
        return Some(Unclear::Trigraph(Span::new(at, at + 3)));
    }
    let bytes = Bytes(text);
    let is_odd = |at| odd_splice(bytes, at).is_some();
    let may_be = memmem::find(text, b"??").is_some() || memchr_iter(b'\\', text).any(is_odd);
    may_be.then(|| outside_of_literals(bytes, masked)).flatten()
}

/// Looks again with comments and literals told apart, in which none of that matters.
fn outside_of_literals(text: Bytes<'_>, masked: &[Span]) -> Option<Unclear> {
    let is_read = |span: &Span| {
        let next = masked.partition_point(|pragma| pragma.end <= span.start);
        masked.get(next).is_some_and(|pragma| pragma.contains(*span)) && !cuts_token(text, span.start)
    };
    let mut separator = None;
    let mut at = 0;
    while at < text.len() {
        if let Some(span) = odd_splice(text, at).filter(|span| !is_read(span)) {
            return Some(Unclear::Splice(span));
        }
        if trigraph(text, at) {
            return Some(Unclear::Trigraph(Span::new(at, at + 3)));
        }
        let next = text.token_step(at, &mut separator).max(at + 1);
        let is_line_comment = text.at(at) == b'/' && text.at(at + 1) == b'/' && next > at + 1;
        if let Some(span) = (at..next).filter(|_| is_line_comment).find_map(|inside| blank_splice(text, inside)) {
            return Some(Unclear::Splice(span));
        }
        at = next;
    }
    None
}

/// The splice at a byte, where words or operators may go on behind it, or blanks stand before the end of its line.
fn odd_splice(text: Bytes<'_>, at: usize) -> Option<Span> {
    let splice = text.splice(at);
    if splice > 0 && cuts_token(text, at) { Some(Span::new(at, at + splice)) } else { blank_splice(text, at) }
}

/// May the bytes around the splices at a byte belong to one word, number, literal or operator?
fn cuts_token(text: Bytes<'_>, at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| text.at(before)) else { return false };
    let behind = text.at(text.skip_splices(at));
    let is_operator = |byte: u8| b"+-*/%<>=!&|^~?:.#".contains(&byte);
    is_word(before) && (is_word(behind) || matches!(behind, b'"' | b'\'' | b'.'))
        || is_operator(before) && is_operator(behind)
        || matches!(before, b'.' | b'\'') && is_word(behind)
}

fn blank_splice(text: Bytes<'_>, at: usize) -> Option<Span> {
    let splice = text.splice(at);
    (splice > 0 && matches!(text.at(at + 1), b' ' | b'\t' | 0x0b | 0x0c)).then(|| Span::new(at, at + splice))
}

fn trigraph(text: Bytes<'_>, at: usize) -> bool {
    text.at(at) == b'?' && text.at(at + 1) == b'?' && b"=()'<>!-".contains(&text.at(at + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<Unclear> {
        unclear(text.as_bytes(), &crate::source::scan(text.as_bytes()).masked)
    }

    #[test]
    fn what_may_be_read_in_two_ways_is_found() {
        for text in [
            "ki\\\nng = 7;",
            "a +\\\r\n= 1;",
            "L\\\n\"x\"",
            "1.\\\n5",
            "a = b; // note \\ \nx = 1;",
            "a = b \\ \n + c;",
        ] {
            assert!(matches!(found(text), Some(Unclear::Splice(_))), "{text}");
        }
        for text in ["// note ??/\n#pragma omp target", "??=pragma omp target", "a??(1??)"] {
            assert!(matches!(found(text), Some(Unclear::Trigraph(_))), "{text}");
        }
    }

    #[test]
    fn what_is_read_in_one_way_is_left_alone() {
        for text in [
            "#define A(x) f(x); \\\n  g(x)",
            "#define A(x) f(x);\\\ng(x)",
            "puts(\"one\\\ntwo\");",
            "puts(\"what??(\"); // what??!",
            "/* a\\\nb */ int x;",
            "#pragma omp target map(to: a) \\\n  map(from: b)",
            "#pragma omp target map(to: a) \\  \n  map(from: b)",
            "a ? b : c;",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
