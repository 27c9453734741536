//! How long a kernel is predicted to take in a grid that somebody thinks of.

use super::gain::Predicted;
use crate::context::Context;
use crate::device::launch::{Launch, WrittenGrid, llvm_launch};
use crate::device::{Choice, GridClass};
use crate::plan::instructions::{Grid, Teams};
use crate::region::target::TargetRegion;

/// Predicted microseconds of a kernel that is one loop, without its launch, in a grid, or without clauses. It has the iterations that the text
/// gives, or that are assumed, divided by `share`. `None` if nothing is predicted of it.
#[must_use]
pub fn predicted_time(cx: &Context<'_>, region: &TargetRegion, share: u64, grid: Option<Grid>) -> Option<f64> {
    let predicted = Predicted::of(cx, region)?;
    let iterations = predicted.iterations().div_ceil(share.max(1)).max(1);
    Some(predicted.time(iterations, launch(iterations, grid)))
}

/// The launch of a kernel with this many iterations.
fn launch(iterations: u64, grid: Option<Grid>) -> Launch {
    match grid {
        None => llvm_launch(iterations, WrittenGrid::default()),
        Some(Grid { threads, teams: Teams::Runtime }) => {
            llvm_launch(iterations, WrittenGrid { num_teams: None, thread_limit: Some(threads) })
        }
        Some(Grid { threads, teams: Teams::AtMost(most) }) => {
            Choice::of(GridClass::Serial, threads.max(1), most.max(1)).launch(iterations)
        }
        // Nobody knows what is chosen at a launch; the usual grid stands for it.
        Some(Grid { teams: Teams::Open, .. }) => llvm_launch(iterations, WrittenGrid::default()),
    }
}
