//! Replacements of byte ranges.

pub mod directive_writer;

use crate::source::Span;

/// Replaces a range of the original text. An empty range inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced.
    pub span: Span,
    /// What stands there instead.
    pub text: String,
}

/// Two edits of a set share a byte, or insert at the same place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditConflict {
    /// The first of the two.
    pub first: Span,
    /// The second of the two.
    pub second: Span,
}

/// Disjoint edits in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditSet {
    edits: Vec<Edit>,
}

impl EditSet {
    /// Sorts the edits and checks that no two touch the same byte.
    ///
    /// # Errors
    /// The first two edits that conflict.
    pub fn new(mut edits: Vec<Edit>) -> Result<Self, EditConflict> {
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        for pair in edits.windows(2) {
            if let [first, second] = pair
                && (first.span.end > second.span.start || first.span == second.span)
            {
                return Err(EditConflict { first: first.span, second: second.span });
            }
        }
        Ok(Self { edits })
    }

    /// The edits in order.
    #[must_use]
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Is there nothing to change?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The text with every edit applied; all other bytes are copied as they are.
    #[must_use]
    pub fn apply(&self, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len() + 256);
        let mut at = 0;
        for edit in &self.edits {
            out.extend_from_slice(text.get(at..edit.span.start).unwrap_or_default());
            out.extend_from_slice(edit.text.as_bytes());
            at = edit.span.end;
        }
        out.extend_from_slice(text.get(at..).unwrap_or_default());
        out
    }
}
