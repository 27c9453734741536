//! The passes, by their short names.

use std::fmt;

/// A pass, built or planned, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pass {
    /// Target regions become one kernel for each loop.
    Split,
    /// Data stay on the device between constructs.
    Hoist,
    /// The loops of a nest become one parallel loop.
    Collapse,
    /// Sums of serial loops are kept in variables.
    Scalarize,
    /// Neighbouring constructs over the same range become one kernel.
    Fuse,
    /// The threads of a team share the serial loops of a row.
    Reduce,
    /// Each thread makes several neighbouring iterations.
    Coarsen,
    /// Teams load tiles of arrays along their rows.
    Stage,
    /// Kernels get a grid.
    Geometry,
    /// Transfers overlap kernels.
    Overlap,
    /// Loops are cut into tiles whose copies overlap kernels.
    Pipeline,
    /// Serial loops of kernels are unrolled.
    Unroll,
    /// Each thread makes neighbouring iterations, of collapsed loops or of sums.
    Tile,
    /// Teams add their results to the whole by atomic updates.
    Combine,
}

impl Pass {
    /// All of them, in the order in which they run.
    pub const ALL: [Self; 14] = [
        Self::Split,
        Self::Hoist,
        Self::Collapse,
        Self::Scalarize,
        Self::Fuse,
        Self::Reduce,
        Self::Coarsen,
        Self::Stage,
        Self::Geometry,
        Self::Overlap,
        Self::Pipeline,
        Self::Unroll,
        Self::Tile,
        Self::Combine,
    ];

    /// Those that run before it.
    #[must_use]
    pub fn before(self) -> &'static [Self] {
        const ALL: &[Pass] = &Pass::ALL;
        ALL.iter().position(|pass| *pass == self).and_then(|at| ALL.get(..at)).unwrap_or_default()
    }

    /// What `--passes`, configuration and messages call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Split => "split",
            Self::Hoist => "hoist",
            Self::Collapse => "collapse",
            Self::Scalarize => "scalarize",
            Self::Fuse => "fuse",
            Self::Reduce => "reduce",
            Self::Coarsen => "coarsen",
            Self::Stage => "stage",
            Self::Geometry => "geometry",
            Self::Overlap => "overlap",
            Self::Pipeline => "pipeline",
            Self::Unroll => "unroll",
            Self::Tile => "tile",
            Self::Combine => "combine",
        }
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
