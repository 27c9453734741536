//! Devices: what a grid is chosen for.
//!
//! [`profile`] reads the data files, [`occupancy`] says how much of a kernel a device holds at once, [`grid`] has the
//! published heuristics, [`launch`] what LLVM's runtime does without clauses, [`choice`] chooses between them, by the times
//! that [`time`] predicts; [`reduction`] for loops that sum up. [`pinned_memory`] is the header for programs whose copies are to overlap;
//! [`unrolling`] says how far serial loops are unrolled, [`transfer`] has the rates of the bus, [`overlap`] what they make of copies in tiles.

pub mod choice;
pub mod grid;
pub mod launch;
pub mod occupancy;
pub mod overlap;
pub mod pinned_memory;
pub mod profile;
pub mod reduction;
pub mod time;
pub mod transfer;
pub mod unrolling;

pub use choice::{Choice, GridClass, KernelShape, choose};
pub use grid::GridGeometry;
pub use occupancy::{CountedKernel, KernelResources};
pub use profile::DeviceProfile;
pub use transfer::TransferRates;
pub use unrolling::{Loads, unrolled, unrolled_where_long, unrolled_wide};
