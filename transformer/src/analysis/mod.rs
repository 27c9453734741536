//! Facts about a program, each with a certainty. Queries never edit and never report.

pub mod accesses;
pub mod calls;
pub mod coalescing;
pub mod cost;
pub mod data_environment;
pub mod dependence;
pub mod execution_mode;
pub mod expansions;
pub mod facts;
pub mod kernel_shape;
pub mod polynomial;
pub mod streams;
pub mod symbols;
pub mod uses;
