//! `advise`: what limits the kernels of a run that was profiled, and what to try.
//!
//! ```text
//! the table that NVIDIA's ncu printed --profile: its two forms, numbers, units--> launches, each with its counters
//!   --places: function and line in the kernel's name--> constructs of the user's files
//!   --rules: a table of questions about counters--> findings, each with what led there and what to try
//! ```
//!
//! The table is none that was learnt. Connors ("Automatically Selecting Profitable Thread Block Sizes for Accelerated Kernels", 2017) and
//! Magni ("Analysis and Parameter Prediction of Compiler Transformations for Graphics Processors", 2015, chapter 5) train trees on counters;
//! their counters are those of GPUs that are gone, the splits of Connors' tree are printed as a picture alone, and trees on an H100's counters
//! know no more of other programs than what is known before a run (`learn/README.md`). What both found about causes decides here which question leads to which advice; the bounds are those
//! that the rules of Nsight Compute print, and where those print none, choices of this tool, which say so.

pub mod counters;
mod numbers;
pub mod places;
pub mod profile;
pub mod quantities;
pub mod rules;
