//! Replaces a file in one step.

use std::fmt;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why a file was not replaced; it then holds what it held before.
#[derive(Debug)]
pub enum WriteError {
    /// The operating system refused a step.
    Io(io::Error),
    /// No one may write it.
    ReadOnly,
    /// Its bytes are no longer the ones that were read.
    ChangedMeanwhile,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "cannot be written: {error}"),
            Self::ReadOnly => write!(f, "is read-only and was left as it is"),
            Self::ChangedMeanwhile => write!(f, "was changed by another program meanwhile and was left as it is"),
        }
    }
}

impl std::error::Error for WriteError {}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Replaces the content of `path`, which was `before`, with `after`.
///
/// The new text goes to a temporary file in the same folder, is flushed to the disk and renamed over the old file, so
/// that a crash leaves one of the two whole. Symbolic links are followed to the file they lead to; its mode bits, and
/// where permitted its owner, are kept. Hard links to the old file keep the old text. Equal texts touch nothing.
///
/// # Errors
/// When a step fails, the file is read-only, or its content is not `before` any more.
pub fn replace(path: &Path, before: &[u8], after: &[u8]) -> Result<(), WriteError> {
    if before == after {
        return Ok(());
    }
    let target = fs::canonicalize(path)?;
    let metadata = fs::metadata(&target)?;
    if metadata.permissions().readonly() {
        return Err(WriteError::ReadOnly);
    }
    let mut temporary = tempfile::Builder::new().prefix(".ompsplit-").tempfile_in(folder_of(&target))?;
    temporary.write_all(after)?;
    keep_attributes(temporary.as_file(), &metadata)?;
    temporary.as_file().sync_all()?;
    if fs::read(&target)? != before {
        return Err(WriteError::ChangedMeanwhile);
    }
    temporary.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// The folder that holds a file.
fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// Gives a new file the owner and the mode bits of the old one. The owner comes first, because changing it clears the
/// set-user bits; only a privileged user can change it, so a refusal is no failure.
#[cfg(unix)]
fn keep_attributes(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};

    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        let _refused = fchown(file, Some(old.uid()), Some(old.gid()));
    }
    file.set_permissions(old.permissions())
}

/// Gives a new file the permissions of the old one.
#[cfg(not(unix))]
fn keep_attributes(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
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
