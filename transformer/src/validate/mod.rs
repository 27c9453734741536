//! Checks of the output: in the process, and with clang.

pub mod clang;
