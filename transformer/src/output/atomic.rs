//! Replaces a file in one step.

#[cfg(unix)]
mod attributes;

use std::fmt;
use std::fs;
#[cfg(not(unix))]
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::validate::interrupt;

/// Why a file was not replaced; it then holds what it held before.
#[derive(Debug)]
pub enum WriteError {
    /// The operating system refused a step.
    Io(io::Error),
    /// The file is read-only.
    ReadOnly,
    /// Its bytes are no longer the ones that were read.
    ChangedMeanwhile,
    /// A new file cannot get this extended attribute of the old one.
    Attribute(String, io::Error),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "cannot be written: {error}"),
            Self::ReadOnly => write!(f, "is read-only and was left as it is"),
            Self::ChangedMeanwhile => write!(f, "was changed by another program meanwhile and was left as it is"),
            Self::Attribute(name, error) => {
                write!(f, "was left as it is, because its extended attribute {name} cannot be kept: {error}")
            }
        }
    }
}

impl std::error::Error for WriteError {}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What a replaced file does not share with the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The old file has this many other hard links, which keep the old text.
    HardLinks(u64),
    /// Its owner or group: this user cannot give the file to them.
    Owner,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HardLinks(1) => write!(f, "another hard link to it keeps the old text"),
            Self::HardLinks(count) => write!(f, "{count} other hard links to it keep the old text"),
            Self::Owner => write!(f, "it has another owner or group now, for this user cannot give it the old one"),
        }
    }
}

/// Replaces the content of `path`, which was `before`, with `after`; says what the new file lost.
///
/// The new text goes to a temporary file in the same folder, is flushed to the disk and renamed over the old file, so
/// that a crash leaves one of the two whole, and a signal waits until it is done. Symbolic links are followed to the file they
/// lead to; its mode bits, its extended attributes, and where permitted its owner, are kept. Other hard links to the old file
/// keep the old text: writing into the file that they share could not be undone, and is seen half done. Equal texts touch nothing.
///
/// # Errors
/// When a step fails, the file is read-only, an attribute cannot be kept, or the content is not `before` any more.
pub fn replace(path: &Path, before: &[u8], after: &[u8]) -> Result<Vec<Loss>, WriteError> {
    if before == after {
        return Ok(Vec::new());
    }
    let target = fs::canonicalize(path)?;
    let metadata = fs::metadata(&target)?;
    if metadata.permissions().readonly() {
        return Err(WriteError::ReadOnly);
    }
    let _whole = interrupt::hold();
    let mut temporary = tempfile::Builder::new().prefix(".ompsplit-").tempfile_in(folder_of(&target))?;
    temporary.write_all(after)?;
    let lost = attributes::keep(temporary.as_file(), &target, &metadata)?;
    temporary.as_file().sync_all()?;
    if fs::read(&target)? != before {
        return Err(WriteError::ChangedMeanwhile);
    }
    temporary.persist(&target).map_err(|error| error.error)?;
    Ok(lost)
}

/// Creates a file, completely or not at all.
///
/// # Errors
/// When a step fails, or when the file exists by now.
pub fn create(path: &Path, text: &[u8]) -> Result<(), WriteError> {
    let _whole = interrupt::hold();
    let mut builder = tempfile::Builder::new();
    // The mode follows the user's mask, as for every new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut temporary = builder.prefix(".ompsplit-").tempfile_in(folder_of(path))?;
    temporary.write_all(text)?;
    temporary.as_file().sync_all()?;
    temporary.persist_noclobber(path).map_err(|error| error.error)?;
    Ok(())
}

/// The folder that holds a file.
fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

#[cfg(not(unix))]
mod attributes {
    use super::{File, Loss, Metadata, Path, WriteError};

    /// Gives a new file the permissions of the old one.
    pub(super) fn keep(new: &File, _path: &Path, old: &Metadata) -> Result<Vec<Loss>, WriteError> {
        new.set_permissions(old.permissions())?;
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_and_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.c");
        fs::write(&path, b"old").unwrap();
        replace(&path, b"old", b"new\xff").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new\xff");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn refuses_when_the_file_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.c");
        fs::write(&path, b"edited").unwrap();
        assert!(matches!(replace(&path, b"old", b"new"), Err(WriteError::ChangedMeanwhile)));
        assert_eq!(fs::read(&path).unwrap(), b"edited");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
