//! Whether git has the texts that are about to be replaced: what it does not have, it cannot bring back.
//!
//! Git is asked only about files that will be written, and says nothing where it is missing or fails: its word is a courtesy.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::validate::interrupt;

/// How many files are named to git at a time, since the length of a command is bounded.
const FILES_AT_A_TIME: usize = 500;

/// Those of the files whose changes are in no commit; files that git does not track are not among them.
pub(super) fn uncommitted<'a>(files: impl Iterator<Item = &'a Path>) -> BTreeSet<PathBuf> {
    let mut repositories: BTreeMap<PathBuf, Vec<(PathBuf, &Path)>> = BTreeMap::new();
    for file in files {
        // A symbolic link is written through.
        let Ok(path) = fs::canonicalize(file) else { continue };
        let Some(root) = path.ancestors().skip(1).find(|folder| folder.join(".git").exists()) else { continue };
        let Ok(inside) = path.strip_prefix(root) else { continue };
        repositories.entry(root.to_path_buf()).or_default().push((inside.to_path_buf(), file));
    }
    let mut found = BTreeSet::new();
    for (root, files) in &repositories {
        for some in files.chunks(FILES_AT_A_TIME) {
            let changed = changed(root, some.iter().map(|(inside, _)| inside.as_path()));
            let ours = some.iter().filter(|(inside, _)| changed.contains(inside));
            found.extend(ours.map(|(_, file)| file.to_path_buf()));
        }
    }
    found
}

/// Those of the files, all relative to the root of a repository, of which git says that they are changed.
fn changed<'a>(root: &Path, files: impl Iterator<Item = &'a Path>) -> BTreeSet<PathBuf> {
    let mut command = Command::new("git");
    // Nothing may be written to the repository, and no program started that its configuration names.
    command.args(["--no-optional-locks", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-C"]).arg(root);
    command.args(["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=all"]);
    command.arg("--").args(files);
    let output = interrupt::output(&mut command).ok().filter(|output| output.status.success());
    let text = output.map(|output| output.stdout).unwrap_or_default();
    text.split(|byte| *byte == 0).filter_map(|entry| changed_file(entry, is_in_hook())).collect()
}

/// The file of an entry such as ` M src/a.c`: a letter for what is staged, one for the rest, a blank, the path.
fn changed_file(entry: &[u8], is_in_hook: bool) -> Option<PathBuf> {
    let (state, path) = (entry.get(..3)?, entry.get(3..)?);
    match state {
        // What is staged is about to be committed.
        [_, b' ', b' '] if is_in_hook => None,
        _ => path_of(path),
    }
}

/// Does git run a hook, or pre-commit one for it?
fn is_in_hook() -> bool {
    ["GIT_INDEX_FILE", "PRE_COMMIT"].iter().any(|name| std::env::var_os(name).is_some())
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(PathBuf::from(OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(|text| PathBuf::from(OsStr::new(text)))
}

/// What is said about files that were written all the same.
pub(super) fn note(files: &BTreeSet<PathBuf>) -> Option<String> {
    let first = files.first()?.display();
    Some(match files.len() {
        1 => format!("{first} had uncommitted changes before, so git cannot undo this rewrite alone"),
        2 => format!("{first} and 1 other file had uncommitted changes before, so git cannot undo this rewrite alone"),
        count => format!(
            "{first} and {} other files had uncommitted changes before, so git cannot undo this rewrite alone",
            count - 1
        ),
    })
}

/// What is said about a file that is not written for that reason.
pub(super) const REFUSED: &str =
    "has uncommitted changes, and the configuration says `require_clean`: commit or stash them first";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_git() {
        let file = |entry: &[u8], is_in_hook| changed_file(entry, is_in_hook).map(|path| path.display().to_string());
        assert_eq!(file(b" M src/a b.c", false).as_deref(), Some("src/a b.c"));
        assert_eq!(file(b"M  a.c", false).as_deref(), Some("a.c"));
        assert_eq!(file(b"M  a.c", true), None);
        assert_eq!(file(b"MM a.c", true).as_deref(), Some("a.c"));
        assert_eq!(file(b"", false), None);
    }
}
