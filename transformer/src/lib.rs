//! `ompsplit` rewrites the OpenMP offload pragmas of C and C++ sources so that every kernel uses the whole device.
//!
//! The data flow is one-directional; each module may import only those above it in this list
//! (`tests/layering.rs` checks it). `transformer/ARCHITECTURE.md` draws the picture.

pub mod analysis;
pub mod cli;
pub mod context;
pub mod device;
pub mod edit;
pub mod engine;
pub mod output;
pub mod plan;
pub mod region;
pub mod report;
pub mod semantics;
pub mod source;
pub mod syntax;
pub mod transforms;
pub mod validate;
