//! How deep the brackets of a text are nested, before any parser spends time on them.

use crate::source::Span;
use crate::source::pragma_scan::skip_token;

/// Where the brackets are nested deeper than `limit`; `None` where they are not.
///
/// Brackets in comments and literals count only when the plain count is over the limit, which no sane file is.
pub(super) fn too_deep(text: &[u8], limit: usize) -> Option<usize> {
    let mut depth = 0_usize;
    plain(text, limit)?;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'(' | b'[' | b'{' => {
                depth += 1;
                if depth > limit {
                    return Some(at);
                }
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at = skip_token(text, at);
    }
    None
}

fn plain(text: &[u8], limit: usize) -> Option<usize> {
    let mut depth = 0_usize;
    text.iter().position(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > limit
    })
}

/// Does every closing bracket in some pieces of a text match an opening one, and the other way round?
pub(super) fn is_balanced(text: &[u8], pieces: impl Iterator<Item = Span>) -> bool {
    let mut open = Vec::new();
    for piece in pieces {
        let piece = piece.of(text);
        let mut at = 0;
        while let Some(byte) = piece.get(at) {
            match byte {
                b'(' | b'[' | b'{' => open.push(*byte),
                b')' if open.pop() != Some(b'(') => return false,
                b']' if open.pop() != Some(b'[') => return false,
                b'}' if open.pop() != Some(b'{') => return false,
                _ => {}
            }
            at = skip_token(piece, at);
        }
    }
    open.is_empty()
}
