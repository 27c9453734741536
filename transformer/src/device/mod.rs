//! Devices: what a grid is chosen for.
//!
//! [`profile`] reads the data files, [`occupancy`] says how much of a kernel a device holds at once, [`grid`] chooses
//! grids by the published heuristics.

pub mod grid;
pub mod occupancy;
pub mod profile;

pub use grid::GridGeometry;
pub use occupancy::KernelResources;
pub use profile::DeviceProfile;
