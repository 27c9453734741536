//! Whether tiles pay.

use crate::analysis::accesses::Access;
use crate::analysis::polynomial::Polynomial;
use crate::plan::{Reason, ReasonCode};
use crate::semantics::symbols::DeclaredType;
use crate::source::Span;
use crate::transforms::pipeline_loop::Pipeline;
use crate::transforms::pipeline_loop::maps::{Mapped, Tiled};

/// Assumed iterations of an inner loop of unknown length.
const ASSUMED_TRIPS: i128 = 64;
/// If an element is used more often than this, the kernel takes longer than its copy: a product of matrices of 4096
/// took 32 ms whole and 65 in tiles (`bench/results/pipeline`).
const MOST_USES: i128 = 16;

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
        self.streams().collect::<Vec<_>>().into_iter().rev().max_by_key(|(_, tiled)| rank(tiled))
    }

    /// Why tiles would gain nothing.
    pub(super) fn does_not_pay(&self) -> Option<Reason> {
        let (largest, tiled) = self.largest()?;
        let no = |span, message: String| Some(Reason::new(ReasonCode::TooLittleToCopy, span, message));
        // Arrays that are only written come back as fast from memory that is not page-locked.
        if self.values.cx().pipeline.pin.locks() && !self.streams().any(|(_, tiled)| tiled.moves_in) {
            return no(
                largest.span,
                "arrays that are only written gain less than it takes to page-lock them".to_owned(),
            );
        }
        let mut whole =
            self.items.iter().filter(|item| item.tiled.is_none() && (item.copies_in() || item.copies_out()));
        if let Some(other) = whole.find(|item| length_rank(item) > Some(rank(tiled).0)) {
            let why = other.no_stream.map_or("moves as a whole", |(_, why)| why.explanation());
            return no(other.span, format!("most of what is copied moves in no tiles: `{}` {why}", other.name));
        }
        if let Some(span) = self.heavy_access(largest, &tiled.stream.stride) {
            let message = "the kernel takes longer than the copies: each element is used often";
            return no(largest.span, message.to_owned()).map(|reason| reason.with_label(span, "here"));
        }
        self.never_pays().or_else(|| self.too_little())
    }

    /// Why too few bytes are copied, if their number is known.
    pub(super) fn too_little(&self) -> Option<Reason> {
        let (largest, tiled) = self.largest()?;
        let trips = self.head.trips?;
        let bytes = trips.saturating_mul(tiled.stream.stride.as_constant()?).saturating_mul(largest.element_bytes?);
        let message = format!("{bytes} bytes of `{}` are copied; it pays from {} on", largest.name, self.least_bytes);
        let is_enough = bytes >= i128::from(self.least_bytes) && !self.is_too_short();
        (!is_enough).then(|| Reason::new(ReasonCode::TooLittleToCopy, largest.span, message))
    }

    /// Are there certainly fewer iterations than tiles need?
    pub(super) fn is_too_short(&self) -> bool {
        self.head.trips.is_some_and(|trips| trips < i128::from(self.tiles) * i128::from(self.halo().max(1)))
    }

    /// Does the kernel certainly take longer than the copies?
    pub(super) fn is_heavy(&self) -> bool {
        self.largest().is_some_and(|(item, tiled)| self.heavy_access(item, &tiled.stream.stride).is_some())
    }

    /// The number of elements in a row: in one element of the first dimension.
    fn row_elements(&self, item: &Mapped) -> i128 {
        let variable = self.values.symbols().lookup(&item.name, item.span.start);
        let Some(DeclaredType::Array { dimensions, .. }) = variable.map(|variable| variable.ty.dereferenced()) else {
            return 1;
        };
        dimensions.iter().map(|it| it.value.map_or(ASSUMED_TRIPS, i128::from)).fold(1, i128::saturating_mul)
    }

    /// An access that an iteration makes far more often than it has elements to copy.
    fn heavy_access(&self, item: &Mapped, stride: &Polynomial) -> Option<Span> {
        let elements = assumed_elements(stride).saturating_mul(self.row_elements(item));
        let trips = |index: &usize| self.found.loops.get(*index).and_then(|l| l.trips).unwrap_or(ASSUMED_TRIPS);
        let made = |access: &&Access| {
            let inner = access.loops.iter().filter(|index| **index > 0).map(trips);
            inner.fold(1_i128, i128::saturating_mul)
        };
        let heavy = |access: &&Access| made(access) > MOST_USES.saturating_mul(elements.max(1));
        self.found.accesses.iter().find(heavy).map(|access| access.span)
    }
}

/// The order of arrays by the length of their pieces: the number of unknown sizes in the product for the array's
/// length, then the stride.
pub(super) fn rank(tiled: &Tiled) -> (usize, Option<i128>) {
    (1 + degree(&tiled.stream.stride), tiled.stream.stride.as_constant())
}

/// The number of unknown sizes in the product for an array's length.
pub(super) fn length_rank(item: &Mapped) -> Option<usize> {
    item.length.as_ref().map(degree)
}

/// The elements of one iteration's piece, with assumed values for unknown sizes.
pub(super) fn assumed_elements(stride: &Polynomial) -> i128 {
    let unknown = |degree: usize| ASSUMED_TRIPS.saturating_pow(u32::try_from(degree).unwrap_or(u32::MAX));
    stride.as_constant().unwrap_or_else(|| unknown(degree(stride)))
}

/// The number of unknown sizes that are multiplied.
pub(super) fn degree(value: &Polynomial) -> usize {
    value.terms().map(|(atoms, _)| atoms.len()).max().unwrap_or(0)
}
