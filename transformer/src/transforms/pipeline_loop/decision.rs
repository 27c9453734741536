//! Whether tiles pay.

use crate::analysis::polynomial::Polynomial;
use crate::plan::{Reason, ReasonCode};
use crate::transforms::pipeline_loop::Pipeline;
use crate::transforms::pipeline_loop::maps::{Mapped, Tiled};

impl Pipeline<'_, '_> {
    /// The arrays that are copied in tiles.
    pub(super) fn streams(&self) -> impl Iterator<Item = (&Mapped, &Tiled)> {
        self.items.iter().filter_map(|item| Some((item, item.tiled.as_ref()?)))
    }

    /// The widest halo, in iterations.
    pub(super) fn halo(&self) -> u32 {
        self.streams().map(|(_, tiled)| tiled.stream.behind.max(tiled.stream.ahead)).max().unwrap_or(0)
    }

    /// The array with the longest pieces.
    pub(super) fn largest(&self) -> Option<(&Mapped, &Tiled)> {
        self.streams()
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .max_by_key(|(_, tiled)| (1 + degree(&tiled.stream.stride), tiled.stream.stride.as_constant()))
    }

    /// Why tiles would gain nothing.
    pub(super) fn does_not_pay(&self) -> Option<Reason> {
        let (largest, tiled) = self.largest()?;
        let most = 1 + degree(&tiled.stream.stride);
        let whole = self.items.iter().filter(|item| item.tiled.is_none() && (item.copies_in() || item.copies_out()));
        if let Some(other) =
            whole.filter(|item| item.length.as_ref().is_some_and(|length| degree(length) > most)).next()
        {
            let why = other.no_stream.map_or("moves as a whole", |(_, why)| why.explanation());
            let message = format!("most of what is copied moves in no tiles: `{}` {why}", other.name);
            return Some(Reason::new(ReasonCode::TooLittleToCopy, other.span, message));
        }
        let trips = self.head.trips?;
        let bytes = trips.saturating_mul(tiled.stream.stride.as_constant()?).saturating_mul(largest.element_bytes?);
        if bytes >= i128::from(self.least_bytes) && trips >= i128::from(self.tiles * self.halo().max(1)) {
            return None;
        }
        let message = format!("{bytes} bytes of `{}` are copied; it pays from {} on", largest.name, self.least_bytes);
        Some(Reason::new(ReasonCode::TooLittleToCopy, largest.span, message))
    }
}

/// How many unknown sizes are multiplied.
fn degree(value: &Polynomial) -> usize {
    value.terms().map(|(atoms, _)| atoms.len()).max().unwrap_or(0)
}
