//! From the paths on the command line to the files to process.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use crate::source::Language;

/// The endings of Fortran files.
const FORTRAN: &[&str] = &["f", "for", "ftn", "f77", "f90", "f95", "f03", "f08", "f18", "fpp"];

/// The files to process, in the order of the arguments, and what is wrong with the arguments.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// Each file once, by the first name it was given; for what could not be read, what is wrong with it.
    pub files: Vec<(PathBuf, Result<(), String>)>,
    /// Folders that hold no C or C++ file.
    pub empty: Vec<PathBuf>,
    /// Symbolic links in folders that lead out of them: to C or C++ files, and to folders.
    pub leading_out: Vec<PathBuf>,
    /// How many Fortran files folders hold, which are not read.
    pub fortran: usize,
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

    /// Adds the C and C++ files of a folder in the order of their names, then those that only links lead to. A link leads
    /// no further than the folder: what lies elsewhere was not asked for.
    fn walk(&mut self, folder: &Path, seen: &mut BTreeSet<PathBuf>) {
        self.has_folder = true;
        let mut found = false;
        let mut links = Vec::new();
        for entry in walker(folder) {
            match entry {
                Err(error) => self.files.push((folder.to_path_buf(), Err(error.to_string()))),
                Ok(entry) if entry.depth() > 0 && entry.path_is_symlink() => links.push(entry.into_path()),
                Ok(entry) if is_source(entry.path()) && entry.path().is_file() => {
                    found = true;
                    self.add(shown(entry.path()), seen);
                }
                Ok(entry) => self.fortran += usize::from(is_fortran(entry.path()) && entry.path().is_file()),
            }
        }
        let inside = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
        for link in links {
            // A link that leads nowhere is no input.
            let Ok(target) = fs::canonicalize(&link) else { continue };
            let is_file = is_source(&link) && target.is_file();
            match target.starts_with(&inside) {
                true if is_file => {
                    found = true;
                    self.add(shown(&link), seen);
                }
                false if is_file || target.is_dir() => self.leading_out.push(shown(&link).to_path_buf()),
                _ => {}
            }
        }
        if !found {
            self.empty.push(folder.to_path_buf());
        }
    }
}

/// Why a file cannot be read by its name, or `None` if it is a C or C++ file.
pub(super) fn not_a_source(path: &Path) -> Option<String> {
    if Language::by_ending(path).is_some() {
        return None;
    }
    let ending = path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
    Some(match ending.as_deref() {
        Some(_) if is_fortran(path) => "is Fortran, which is not supported".to_owned(),
        Some("cu" | "cuh" | "hip") => "is CUDA or HIP, which is not supported; only C and C++ are".to_owned(),
        Some(_) | None => {
            "is no C or C++ file by its name; `ompsplit - --stdin-filename NAME.cpp` takes any text for one".to_owned()
        }
    })
}

/// Is it a Fortran file by its name?
fn is_fortran(path: &Path) -> bool {
    let ending = path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
    ending.is_some_and(|ending| FORTRAN.contains(&ending.as_str()))
}

/// The name of a file in a folder, as messages show it.
fn shown(path: &Path) -> &Path {
    path.strip_prefix("./").unwrap_or(path)
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

/// Is it a C or C++ file by its name? What ends in `.inc` may be text of any language, so that it has to be named.
fn is_source(path: &Path) -> bool {
    Language::by_ending(path).is_some() && path.extension() != Some(OsStr::new("inc"))
}
