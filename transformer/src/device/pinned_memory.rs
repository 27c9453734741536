//! The C header with which programs page-lock host memory, as `ompsplit header` prints it.

/// The name by which a program includes it.
pub const HEADER_NAME: &str = "ompsplit_pin.h";

/// Its text; what its functions promise stands there.
pub const HEADER: &str = include_str!("pinned_memory/ompsplit_pin.h");
