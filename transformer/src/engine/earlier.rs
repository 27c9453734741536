//! What earlier rounds of a run changed: a grid there is a part of what other passes gain.

use crate::edit::{EditSet, Origins};
use crate::plan::{Pass, Plan};
use crate::source::Span;

/// What one round changed.
#[derive(Clone, Debug)]
pub struct Changed {
    /// Where the bytes of the new text come from.
    pub(super) origins: Origins,
    /// The constructs that other passes than `geometry` changed, in the text before.
    extents: Vec<Span>,
}

impl Changed {
    /// What these plans, which were carried out by these edits, changed.
    pub fn new<'p>(carried_out: impl Iterator<Item = &'p Plan>, edits: &EditSet) -> Self {
        let extents = carried_out.filter(|plan| plan.pass != Pass::Geometry).map(|plan| plan.extent).collect();
        Self { origins: edits.origins(), extents }
    }
}

/// Did one of these rounds, in their order, change or make a part of the text that the last one wrote, by another pass than `geometry`?
pub(super) fn is_changed<'c>(rounds: impl DoubleEndedIterator<Item = &'c Changed>, extent: Span) -> bool {
    let mut extent = extent;
    rounds.rev().any(|Changed { origins, extents }| {
        extent = origins.of(extent);
        extents.iter().any(|changed| changed.start <= extent.end && extent.start <= changed.end)
    })
}
