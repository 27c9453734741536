//! What leaves the program as text: diffs, and files written so that a reader sees the old or the new text, never half.

pub mod atomic;
pub mod diff;

pub use atomic::{Loss, WriteError, create, replace};
pub use diff::{lines_after, unified, unified_near};
