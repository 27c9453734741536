//! Random OpenMP offload programs, valid and free of races by construction, each a function of its own.
//!
//! Every iteration of a loop writes its own elements alone; the loops of a league share no array that one writes; what a
//! `from` or `alloc` map leaves undefined is written before it is read. Integers stay small and fractions are multiples of
//! powers of two, so that sums are exact in any order. A program depends on its seed alone.

mod axes;
mod bodies;
mod builder;
mod control;
mod data;
pub mod families;
mod loops;
pub mod minimise;
pub mod node;
mod pipelines;
mod program;
pub mod recipe;
mod regions;
pub mod rng;
mod serial;
mod streams;

pub use builder::ArrayUse;
pub use program::{Case, HEAD, LONG_SIZES, SIZES, TILED_SIZES, VERSIONED_SIZES, batch_main, case, drawn, piped};
