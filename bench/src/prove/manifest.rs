//! The file `manifest.json` of programs that were built to be proved.

use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// What `prove run` finds in the package.
#[derive(Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// The device that it was built for: `sm_90`, or `host`.
    pub architecture: String,
    /// The compiler's version line and its flags.
    pub compiler: String,
    /// The commit of the repository; with `-dirty` where files differed from it.
    pub commit: String,
    /// How many programs were generated.
    pub generated: usize,
    /// From which seed.
    pub seed: u64,
    /// With which options each program was rewritten.
    pub sets: Vec<Set>,
    /// The programs.
    pub programs: Vec<Program>,
}

/// Options of the tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Set {
    /// A word for it.
    pub name: String,
    /// What stands on the command line.
    pub options: String,
}

/// One program, and what the tool makes of it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Program {
    /// `split_target/two_loops.c`, `generated/17.c`
    pub name: String,
    /// Has it a `main`, and does it end?
    pub runnable: bool,
    /// May the original give several results? What the host gives with one thread is then the reference.
    pub racy: bool,
    /// What was built of the different texts, the original first; nothing where there is no other.
    pub texts: Vec<Built>,
    /// What each set of options gives.
    pub outputs: Vec<Output>,
}

/// What the compiler made of a text.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Built {
    /// A file under `bin/`.
    Binary(String),
    /// It said this.
    Error(String),
}

/// What the tool made of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// The text with this number; 0 where nothing changes.
    Text(usize),
    /// It ended with this error.
    Error(String),
}

impl Manifest {
    /// Reads `manifest.json` of a package.
    pub fn read(tree: &Path) -> Result<Self> {
        let path = tree.join("manifest.json");
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} lists no programs to prove", path.display()))
    }
}
