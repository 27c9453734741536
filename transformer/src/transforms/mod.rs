//! The transformations, one file each, and the one registry of them.

mod checks;
mod choose_geometry;
mod coarsen_loops;
mod collapse;
mod combine_teams;
mod fuse_constructs;
mod hoist_maps;
mod host_copies;
mod overlap_transfers;
mod pipeline_loop;
mod reduce_rows;
mod scalarize_sums;
mod split_target;
mod stage_tiles;
mod team_results;
mod tile_rows;
mod two_forms;
mod unroll_loop;

pub use self::choose_geometry::{chooses_grids, predicted_time};

use crate::context::Context;
use crate::plan::{Pass, Plan};

/// A transformation as the registry knows it.
pub struct Transform {
    /// The pass.
    pub pass: Pass,
    /// One line on what it does.
    pub summary: &'static str,
    /// Does it run when no passes are named?
    pub default: ByDefault,
    /// Looks at a file and decides for every construct it concerns; `None` for a pass that is planned but not built.
    pub plan: Option<fn(&Context<'_>) -> Vec<Plan>>,
    /// Which passes' changes it waits for: where one of them changes a construct in this round, this pass decides in the next.
    pub waits_for: fn(Waiting) -> &'static [Pass],
    /// Does it decide on the file together with the text of its headers?
    pub sees_headers: bool,
}

/// How a pass runs when none are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByDefault {
    /// It does all it can.
    Runs,
    /// It changes what is sure to gain much, whatever the lengths of the loops are, and says nothing of the rest.
    WhereSure,
    /// It must be named.
    Named,
}

impl Transform {
    /// Is it the one whose file and fixtures have this name, `unroll_loop` for `unroll`?
    #[must_use]
    pub fn is_of(&self, name: &str) -> bool {
        name.split('_').any(|word| word == self.pass.name())
    }
}

/// A plan that may wait for others.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Would it be written?
    pub is_written: bool,
    /// Are grids chosen for a device?
    pub for_device: bool,
}

/// A pass that waits for none.
fn waits_for_none(_: Waiting) -> &'static [Pass] {
    &[]
}

/// Threads of a team, where no clause says how many. Without a clause clang 19 compiles chunks of 128 iterations into a
/// kernel that its runtime then starts with 32 or 64 threads a team for loops below 409,600 iterations, so that a half or
/// three quarters of the teams get no work. With it there are 128, which is what longer loops get anyway.
const TEAM_THREADS: u32 = crate::device::launch::DEFAULT_THREADS;

/// Every transformation, in the order they run.
pub const TRANSFORMS: &[Transform] = &[
    Transform {
        pass: Pass::Split,
        summary: "Split target regions into one kernel per loop",
        default: ByDefault::Runs,
        plan: Some(split_target::split_target),
        waits_for: waits_for_none,
        sees_headers: false,
    },
    Transform {
        pass: Pass::Hoist,
        summary: "Keep data on the device between constructs",
        default: ByDefault::Runs,
        plan: Some(hoist_maps::hoist_maps),
        waits_for: hoist_maps::waits_for,
        sees_headers: true,
    },
    Transform {
        pass: Pass::Collapse,
        summary: "Collapse loop nests that give more parallelism",
        default: ByDefault::Runs,
        plan: Some(collapse::collapse),
        waits_for: collapse::waits_for,
        sees_headers: false,
    },
    Transform {
        pass: Pass::Scalarize,
        summary: "Keep sums of serial loops in variables",
        default: ByDefault::Runs,
        plan: Some(scalarize_sums::scalarize_sums),
        waits_for: scalarize_sums::waits_for,
        sees_headers: false,
    },
    Transform {
        pass: Pass::Fuse,
        summary: "Make one kernel of neighbouring loops over the same range",
        default: ByDefault::Runs,
        plan: Some(fuse_constructs::fuse_constructs),
        waits_for: fuse_constructs::waits_for,
        sees_headers: false,
    },
    Transform {
        pass: Pass::Reduce,
        summary: "Give each row to a whole team, whose threads share its sums",
        default: ByDefault::Named,
        plan: Some(reduce_rows::reduce_rows),
        waits_for: reduce_rows::waits_for,
        sees_headers: false,
    },
    Transform {
        pass: Pass::Coarsen,
        summary: "Give each thread a group of iterations, which share loads",
        default: ByDefault::WhereSure,
        plan: Some(coarsen_loops::coarsen_loops),
        waits_for: coarsen_loops::waits_for,
        sees_headers: false,
    },
    Transform {
        pass: Pass::Stage,
        summary: "Stage tiles in the memory of a team, where loads lie far apart",
        default: ByDefault::Named,
        plan: Some(stage_tiles::stage_tiles),
        waits_for: stage_tiles::waits_for,
        sees_headers: false,
    },
    Transform {
        pass: Pass::Geometry,
        summary: "Choose num_teams and thread_limit",
        default: ByDefault::Runs,
        plan: Some(choose_geometry::choose_geometry),
        waits_for: choose_geometry::waits_for,
        sees_headers: false,
    },
    Transform {
        pass: Pass::Overlap,
        summary: "Copy arrays beside kernels that do not use them",
        default: ByDefault::Named,
        plan: Some(overlap_transfers::overlap_transfers),
        waits_for: overlap_transfers::waits_for,
        sees_headers: false,
    },
    Transform {
        pass: Pass::Pipeline,
        summary: "Tile loops into transfer and compute stages",
        default: ByDefault::Named,
        plan: Some(pipeline_loop::pipeline_loop),
        waits_for: waits_for_none,
        sees_headers: false,
    },
    Transform {
        pass: Pass::Unroll,
        summary: "Unroll serial loops whose loads wait for each other",
        default: ByDefault::WhereSure,
        plan: Some(unroll_loop::unroll_loop),
        waits_for: unroll_loop::waits_for,
        sees_headers: false,
    },
    Transform {
        pass: Pass::Tile,
        summary: "Give each thread neighbouring iterations, of collapsed loops or of sums",
        default: ByDefault::WhereSure,
        plan: Some(tile_rows::tile_rows),
        waits_for: tile_rows::waits_for,
        sees_headers: false,
    },
    Transform {
        pass: Pass::Combine,
        summary: "Let each team add its results to the whole by atomic updates",
        default: ByDefault::Named,
        plan: Some(combine_teams::combine_teams),
        waits_for: combine_teams::waits_for,
        sees_headers: false,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pass_is_registered_in_its_order() {
        let registered: Vec<Pass> = TRANSFORMS.iter().map(|transform| transform.pass).collect();
        assert_eq!(registered, Pass::ALL);
    }
}
