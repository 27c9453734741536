//! The text that leaves the program: diffs, and files written so that a reader sees either the old or the new text,
//! never a half.

pub mod atomic;
pub mod diff;

pub use atomic::{Loss, WriteError, create, replace};
pub use diff::{lines_after, unified, unified_near};
