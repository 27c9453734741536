//! What the system stores about a file besides its text: mode, owner, extended attributes, access control lists.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;

use rustix::io::Errno;
use xattr::FileExt;

use super::{Loss, WriteError};

/// Attributes that depend on the content of the file; the system or its owner makes them anew.
const OF_THE_TEXT: &[&str] = &["security.ima", "security.evm", "security.capability"];

/// Gives a new file the owner, the mode bits and the extended attributes of the old one at `path`; returns what was
/// lost. The owner comes first, because changing it clears the set-user bits, and access control lists last, because
/// the mode is part of them.
pub(super) fn keep(new: &File, path: &Path, old: &Metadata) -> Result<Vec<Loss>, WriteError> {
    let mut lost = Vec::new();
    let own = new.metadata()?;
    let is_other = (own.uid(), own.gid()) != (old.uid(), old.gid());
    if is_other && fchown(new, Some(old.uid()), Some(old.gid())).is_err() {
        // Only a privileged user can give a file away; its group may still be one of the user's own.
        let _refused = fchown(new, None, Some(old.gid()));
        lost.push(Loss::Owner);
    }
    new.set_permissions(old.permissions())?;
    keep_attributes(new, path)?;
    if old.nlink() > 1 {
        lost.push(Loss::HardLinks(old.nlink() - 1));
    }
    Ok(lost)
}

/// User attributes and access control lists must be kept, or the file is not written. Attributes of security modules
/// and file systems are kept if that is permitted. Attributes that the new file only has from its folder are removed.
fn keep_attributes(new: &File, path: &Path) -> Result<(), WriteError> {
    for name in names(|| new.list_xattr())? {
        if must_be_kept(&name) && xattr::get(path, &name)?.is_none() {
            new.remove_xattr(&name).map_err(|error| WriteError::Attribute(show(&name), error))?;
        }
    }
    for name in names(|| xattr::list(path))?.iter().filter(|name| !OF_THE_TEXT.iter().any(|other| *name == other)) {
        let kept = xattr::get(path, name).and_then(|value| value.map_or(Ok(()), |value| new.set_xattr(name, &value)));
        match kept {
            Err(error) if must_be_kept(name) => return Err(WriteError::Attribute(show(name), error)),
            _ => {}
        }
    }
    Ok(())
}

/// The names of a file's attributes. Empty if the file system supports no attributes.
fn names(list: impl FnOnce() -> io::Result<xattr::XAttrs>) -> io::Result<Vec<OsString>> {
    match list() {
        Ok(names) => Ok(names.collect()),
        Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::NOTSUP | Errno::NOSYS)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn must_be_kept(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("user.") || name.starts_with("system.")
}

fn show(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}
