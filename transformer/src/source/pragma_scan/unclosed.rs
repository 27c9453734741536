//! Comments and raw strings that take the rest of the text because they are not closed.
//!
//! No compiler takes such a text, which editors write while somebody types; a grammar goes on behind its beginning as if
//! it were code.

use memchr::memmem;

use super::bytes::Bytes;

/// Where the comment or raw string begins that is not closed.
#[must_use]
pub fn unclosed(text: &[u8]) -> Option<usize> {
    // In `/*/` the end that is found last belongs to the comment that it opens.
    let behind_last =
        memmem::rfind(text, b"*/").map_or(text, |closed| text.get(closed.saturating_sub(1)..).unwrap_or_default());
    // A splice may stand between the two bytes that open a comment.
    let may_be = |opening: &[u8]| memmem::find(behind_last, opening).is_some();
    if !may_be(b"/*") && !may_be(b"/\\") && memmem::find(text, b"R\"").is_none() {
        return None;
    }
    let bytes = Bytes(text);
    let mut separator = None;
    let mut at = 0;
    while at < text.len() {
        let next = bytes.token_step(at, &mut separator).max(at + 1);
        if next >= text.len() && bytes.is_unclosed(at) {
            return Some(at);
        }
        at = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_closed_is_found() {
        for (text, at) in [
            ("int x; /* and so on", 7),
            ("/* a */ /*/", 8),
            ("/* a */ int x; /\\\n* b", 15),
            ("auto s = R\"x(never)\";", 10),
            ("\"*/\" /* *", 5),
        ] {
            assert_eq!(unclosed(text.as_bytes()), Some(at), "{text}");
        }
    }

    #[test]
    fn what_is_closed_is_left_alone() {
        for text in [
            "int x; /* a */",
            "/**/",
            "// /* a",
            "puts(\"/*\");",
            "auto s = R\"x(\")x\";",
            "R\"(/*)\"",
            "/* a *\\\n/",
            "a /\\\n b",
            "FOUR\"(\"",
        ] {
            assert_eq!(unclosed(text.as_bytes()), None, "{text}");
        }
    }
}
