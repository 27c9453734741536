//! `tune`: what is fastest on the user's machine, found by building and running what is legal.
//!
//! ```text
//! space: the engine writes every candidate --replay: all grids of a form within one run--> the best few of each kernel
//!                                         --predictions, where that cannot be--> a quarter of them
//!   --build: in one copy of the project--> products --runner, lane: interleaved runs, on one device or several, by its clock-->
//!   --search: successive halving, rank sums--> one text, or the present one
//! ```
//!
//! Sources: Magni, "Analysis and Parameter Prediction of Compiler Transformations for Graphics Processors" (2015), chapter 6, for the size
//! at which is searched; Lloyd, Chikin, Kedia, Jain and Amaral, "Automated GPU Grid Geometry Selection for OpenMP Kernels" (2018), for the
//! grids that are worth a try.

pub mod build;
pub mod choices;
pub mod clock;
pub mod command;
pub mod decision;
pub mod kernel_tuner;
pub mod lane;
pub mod prepare;
pub mod project;
pub mod replay;
pub mod runner;
pub mod search;
pub mod size;
pub mod space;
pub mod statistics;
pub mod store;
pub mod task;

/// Called with a line about each step.
pub type Watch<'a> = dyn Fn(&str) + 'a;
