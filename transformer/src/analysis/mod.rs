//! Facts about a program, each with a certainty. Queries never edit and never report.

pub mod uses;
pub mod cost;
