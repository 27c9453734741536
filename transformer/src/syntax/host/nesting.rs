//! How deep the brackets of a text are nested, before any parser spends time on them.

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
        at = crate::source::pragma_scan::skip_token(text, at);
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
