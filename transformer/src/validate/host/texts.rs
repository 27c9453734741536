//! Which version of each given file a program is built from.

use std::collections::BTreeSet;

use super::harden::harden;
use super::program::File;
use super::races::host_copy;

/// A version of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Version {
    /// The original.
    Before,
    /// The new text.
    After,
    /// The new text, in which a missing map aborts.
    Hardened,
    /// The new text, in which widened loops run on the host.
    Widened,
}

/// The texts of all given files in one program.
pub(super) struct Texts {
    /// What the program is called in messages.
    pub what: &'static str,
    versions: Vec<(Version, Vec<u8>)>,
    /// How many kernels or loops a copy changed.
    pub changed: usize,
}

impl Texts {
    /// The originals.
    pub(super) fn before(files: &[File]) -> Self {
        Self::of(files, &BTreeSet::new(), Version::Before, "original")
    }

    /// The new texts of a set of files, and the originals of the others.
    pub(super) fn after(files: &[File], set: &BTreeSet<usize>) -> Self {
        Self::of(files, set, Version::After, "new text")
    }

    /// The copy in which a missing map aborts.
    pub(super) fn hardened(files: &[File], set: &BTreeSet<usize>) -> Self {
        Self::of(files, set, Version::Hardened, "copy that needs every item present")
    }

    /// The copy in which widened loops run on the host.
    pub(super) fn widened(files: &[File], set: &BTreeSet<usize>) -> Self {
        Self::of(files, set, Version::Widened, "copy that races are looked for in")
    }

    fn of(files: &[File], set: &BTreeSet<usize>, version: Version, what: &'static str) -> Self {
        let mut changed = 0;
        let mut text = |index: usize, file: &File| {
            let Some(after) = file.after.as_ref().filter(|_| set.contains(&index)) else {
                return (Version::Before, file.before.clone());
            };
            let (copy, count) = match version {
                Version::Before => return (version, file.before.clone()),
                Version::After => return (version, after.clone()),
                Version::Hardened => harden(&file.before, after),
                Version::Widened => host_copy(&file.before, after),
            };
            changed += count;
            if count > 0 { (version, copy) } else { (Version::After, after.clone()) }
        };
        let versions = files.iter().enumerate().map(|(index, file)| text(index, file)).collect();
        Self { what, versions, changed }
    }

    /// The version of a file.
    pub(super) fn version(&self, file: usize) -> Version {
        self.versions.get(file).map_or(Version::Before, |(version, _)| *version)
    }

    /// The text of a file.
    pub(super) fn text(&self, file: usize) -> &[u8] {
        self.versions.get(file).map_or(&[], |(_, text)| text)
    }
}
