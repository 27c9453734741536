//! A text with pointers in the place of members, and how places in it are told in terms of the file.

use crate::edit::{Edit, EditSet, Origins};
use crate::source::Span;

/// The other text.
pub(in crate::transforms::hoist_maps) struct Changed {
    pub text: Vec<u8>,
    origins: Origins,
}

impl Changed {
    /// `None` if two edits conflict.
    pub(in crate::transforms::hoist_maps) fn new(text: &[u8], edits: Vec<Edit>) -> Option<Self> {
        let edits = EditSet::new(edits).ok()?;
        Some(Self { text: edits.apply(text), origins: edits.origins() })
    }

    /// The declarations that it has besides.
    pub(super) fn added(&self) -> Vec<Span> {
        self.origins.added().collect()
    }

    pub(in crate::transforms::hoist_maps) fn origin(&self, at: usize) -> usize {
        self.origins.place(at)
    }

    pub(in crate::transforms::hoist_maps) fn origin_of(&self, span: Span) -> Span {
        let at = self.origin(span.start);
        if span.is_empty() { Span::new(at, at) } else { self.origins.of(span) }
    }

    /// Does a place stand inside of nothing that was replaced?
    pub(in crate::transforms::hoist_maps) fn is_kept(&self, at: usize) -> bool {
        self.origins.is_between(at)
    }
}
