//! Facts about a program, each with a certainty. Queries never edit and never report.

pub mod calls;
pub mod cost;
pub mod data_environment;
pub mod execution_mode;
pub mod symbols;
pub mod uses;
