//! What the user says about a program: its files, how it is linked and called, and how results are compared.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Comparison, Invocation};

/// A source of a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// Where it is.
    pub path: PathBuf,
    /// How it is compiled.
    pub flags: Vec<String>,
}

/// A source of a compile database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseSource {
    /// The source.
    pub source: Source,
    /// The folder that the build uses for the objects of one program or library, if the path of the object tells.
    pub target: Option<PathBuf>,
}

/// The sources of a program besides the given files.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Sources {
    /// There are none.
    #[default]
    Given,
    /// These. Those of the given files that change belong to the program too.
    Named(Vec<Source>),
    /// Those of a compile database that belong to the program of the given files.
    Database(Arc<Vec<DatabaseSource>>),
}

/// A program.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Its other sources.
    pub sources: Sources,
    /// Flags of the linker, libraries among them.
    pub link_flags: Vec<String>,
    /// How it is called.
    pub invocation: Invocation,
    /// How results are compared.
    pub comparison: Comparison,
    /// Is it checked for races?
    pub races: bool,
}

impl Default for Program {
    /// A program of the given files that is called without arguments; every byte is compared.
    fn default() -> Self {
        let (sources, link_flags, invocation, comparison) = Default::default();
        Self { sources, link_flags, invocation, comparison, races: true }
    }
}

/// A file that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Where it is, and how it is compiled if it is compiled by itself.
    pub source: Source,
    /// Its text.
    pub before: Vec<u8>,
    /// Its new text, if it changes.
    pub after: Option<Vec<u8>>,
}

impl File {
    /// A file with its new text.
    #[must_use]
    pub fn changed(path: &Path, before: &[u8], after: &[u8]) -> Self {
        let source = Source { path: path.to_path_buf(), flags: Vec::new() };
        Self { source, before: before.to_vec(), after: Some(after.to_vec()) }
    }
}

/// Do two paths lead to the same file?
pub(super) fn is_same(a: &Path, b: &Path) -> bool {
    a == b || canonical(a) == canonical(b)
}

/// The path without links, or the absolute path of a file that does not exist.
pub(super) fn canonical(path: &Path) -> PathBuf {
    let absolute = || std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    std::fs::canonicalize(path).unwrap_or_else(|_| absolute())
}
