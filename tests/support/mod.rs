//! What the tests that compile and run programs share. Helpers return what went wrong as text instead of panicking, so
//! that one test reports every fixture that fails.
#![allow(dead_code, unused_imports, reason = "each test program uses a part of it")]

pub mod batch;
pub mod bits;
pub mod coarsened;
pub mod combined;
pub mod environments;
pub mod faults;
pub mod fixtures;
pub mod format;
pub mod generator;
pub mod kept_sums;
pub mod mutants;
pub mod oracle;
pub mod overlaps;
pub mod parallel;
pub mod patience;
pub mod program;
pub mod program_text;
pub mod questions;
pub mod rewrite;
pub mod shares;
pub mod staged;
pub mod tiled;
pub mod time_loops;
pub mod verified;

/// Are the larger samples asked for (`.ci/test --deep`)?
pub fn deep() -> bool {
    std::env::var_os("OMPSPLIT_DEEP").is_some()
}

/// A number that the environment gives, such as `OMPSPLIT_SEED`.
pub fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(otherwise)
}

/// A unified diff of two texts.
pub fn diff(old_name: &str, old: &[u8], new_name: &str, new: &[u8]) -> String {
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    similar::TextDiff::from_lines(old.as_ref(), new.as_ref())
        .unified_diff()
        .context_radius(2)
        .header(old_name, new_name)
        .to_string()
}
