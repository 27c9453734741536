//! From the paths on the command line to the files to process.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

/// The endings of the files that are taken from a folder.
const ENDINGS: &[&str] = &["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "hxx"];

/// The files to process, in the order of the arguments, and what is wrong with the arguments.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// Each file once, by the first name it was given; for what could not be read, what is wrong with it.
    pub files: Vec<(PathBuf, Result<(), String>)>,
    /// Folders that hold no C or C++ file.
    pub empty: Vec<PathBuf>,
    /// Was a folder among the arguments?
    pub has_folder: bool,
}

impl Inputs {
    /// Takes files as they are and walks folders.
    pub(super) fn find(paths: &[PathBuf]) -> Self {
        let mut inputs = Self::default();
        let mut seen = BTreeSet::new();
        for path in paths {
            match fs::metadata(path) {
                Err(error) => inputs.files.push((path.clone(), Err(error.to_string()))),
                Ok(metadata) if metadata.is_dir() => inputs.walk(path, &mut seen),
                Ok(_) => inputs.add(path, &mut seen),
            }
        }
        inputs
    }

    /// Adds a file, unless it was already given under this or another name.
    fn add(&mut self, path: &Path, seen: &mut BTreeSet<PathBuf>) {
        let canonical = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        if seen.insert(canonical) {
            self.files.push((path.to_path_buf(), Ok(())));
        }
    }

    /// Adds the C and C++ files of a folder in the order of their names.
    fn walk(&mut self, folder: &Path, seen: &mut BTreeSet<PathBuf>) {
        self.has_folder = true;
        let mut found = false;
        for entry in walker(folder) {
            match entry {
                Err(error) => self.files.push((folder.to_path_buf(), Err(error.to_string()))),
                Ok(entry) if is_source(entry.path()) && entry.path().is_file() => {
                    found = true;
                    self.add(entry.path().strip_prefix("./").unwrap_or(entry.path()), seen);
                }
                Ok(_) => {}
            }
        }
        if !found {
            self.empty.push(folder.to_path_buf());
        }
    }
}

/// All C and C++ files of a folder.
pub(super) fn files_in(folder: &Path) -> Vec<PathBuf> {
    walker(folder).flatten().map(ignore::DirEntry::into_path).filter(|path| is_source(path) && path.is_file()).collect()
}

/// Walks a folder without hidden files and what the project's `.gitignore` files exclude. What the user's own settings
/// of git exclude does not count: the files must be the same on every machine.
fn walker(folder: &Path) -> ignore::Walk {
    WalkBuilder::new(folder)
        .standard_filters(false)
        .hidden(true)
        .parents(true)
        .git_ignore(true)
        .require_git(false)
        .sort_by_file_name(OsStr::cmp)
        .build()
}

fn is_source(path: &Path) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|ending| ENDINGS.contains(&ending))
}
