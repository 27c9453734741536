//! The command line contract, checked on the program itself.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod advise;
mod cache;
mod configuration;
mod device;
mod diagnostics;
mod facts;
mod flags;
mod folders;
mod header;
#[cfg(unix)]
mod includes;
mod interrupts;
mod output;
mod overlap;
mod passes;
mod pin_header;
mod pipeline;
mod programs;
mod progress;
mod project;
mod reference;
mod report;
mod resources;
mod review;
mod snapshot;
mod stdin;
mod suppression;
mod together;
#[cfg(unix)]
mod tune;
#[cfg(unix)]
mod tune_together;
mod unchecked;
mod uncommitted;
mod verification;
mod writes;
