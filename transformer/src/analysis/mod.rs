//! Facts about loops, memory and cost, each with a certainty. Queries never edit and never report.

pub mod accesses;
pub mod associated_loops;
pub(crate) mod atomics;
pub mod body_work;
pub mod coalescing;
pub(crate) mod combinations;
pub mod cost;
pub mod data_environment;
pub mod dependence;
pub mod execution_mode;
pub(crate) mod floats;
pub(crate) mod independence;
pub mod inequalities;
pub(crate) mod integers;
pub mod iteration_work;
pub mod kernel_shape;
pub mod limit;
pub(crate) mod numbers;
pub mod polynomial;
pub mod streams;
pub mod transactions;
