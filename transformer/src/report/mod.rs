//! Diagnostics for people and for programs.
