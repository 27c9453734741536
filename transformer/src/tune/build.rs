//! Builds candidates in the copy of the project, with the user's own command, and keeps what came of it by the content of all that went in.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::clock::FileId;
use super::command::Shell;
use super::project::{self, Product, Project};
use crate::validate::cache::Key;
use crate::validate::host::last_words;

/// Variables that say how programs are built.
const VARIABLES: [&str; 9] =
    ["CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS", "LIBRARY_PATH", "CPATH"];
/// Compilers that a build may call without naming them in a variable.
const COMPILERS: [&str; 6] = ["cc", "c++", "clang", "clang++", "clang-19", "clang++-19"];

/// What a project is built with.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The command, as `sh -c` takes it.
    pub command: String,
    /// The longest that a build may take.
    pub limit: Duration,
    /// The source that candidates replace, relative to the project's folder.
    pub file: PathBuf,
}

impl Recipe {
    /// Runs the command in a folder.
    ///
    /// # Errors
    /// Why nothing was built.
    pub fn run(&self, folder: &Path) -> Result<(), String> {
        let shell = Shell { line: &self.command, folder, environment: &[], stdin: None, limit: self.limit };
        let (run, _) = shell.run().map_err(|error| error.to_string())?;
        if run.end == "exit 0" {
            return Ok(());
        }
        Err(format!("`{}` ends with {}{}", self.command, run.end, last_words(&run)))
    }
}

/// Builds candidates, one after the other.
pub struct Builder<'a> {
    project: &'a Project,
    recipe: &'a Recipe,
    /// What all builds depend on; `None` where nothing is kept.
    key: Option<Key>,
}

impl<'a> Builder<'a> {
    /// A builder of a project whose user's files have this hash.
    #[must_use]
    pub fn new(project: &'a Project, recipe: &'a Recipe, hash: blake3::Hash) -> Self {
        let key = Key::new("tune build").map(|mut key| {
            key.add(hash.as_bytes());
            key.add(&recipe.command);
            key.add(project.folder().as_os_str().as_encoded_bytes());
            for name in VARIABLES {
                key.add(std::env::var_os(name).unwrap_or_default().as_encoded_bytes());
            }
            for program in programs(&recipe.command) {
                key.add_program(&program);
            }
            key
        });
        Self { project, recipe, key }
    }

    /// Builds a text of the source, or finds what was built of it before.
    ///
    /// # Errors
    /// Why it cannot be built.
    pub fn build(&self, text: &[u8]) -> Result<(Product, FileId), String> {
        let key = self.key.clone().map(|mut key| {
            key.add(text);
            key
        });
        if let Some(found) = key.as_ref().and_then(Key::find_bytes).and_then(|bytes| unpacked(&bytes)) {
            return Ok(found);
        }
        let path = self.project.folder().join(&self.recipe.file);
        let failed = |error: io::Error| format!("{}: {error}", path.display());
        self.project.restore().map_err(failed)?;
        fs::write(&path, text).map_err(failed)?;
        self.recipe.run(self.project.folder())?;
        let built = (self.project.product().map_err(failed)?, FileId::of(&path));
        if let Some(key) = key {
            key.keep_bytes(&packed(&built));
        }
        Ok(built)
    }
}

/// The programs that a build certainly or possibly calls: the first word of its command, what `CC` and `CXX` name, and the usual compilers.
fn programs(command: &str) -> Vec<PathBuf> {
    let named = ["CC", "CXX"].into_iter().filter_map(std::env::var_os);
    let first = command.split_whitespace().next().map(OsString::from);
    let names = named.chain(first).chain(COMPILERS.map(OsString::from));
    names.filter_map(|name| found_on_path(&name)).collect()
}

fn found_on_path(name: &OsStr) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// The product behind the id of the file.
fn packed((product, id): &(Product, FileId)) -> Vec<u8> {
    [&id.device.to_le_bytes()[..], &id.inode.to_le_bytes(), &product.0].concat()
}

fn unpacked(bytes: &[u8]) -> Option<(Product, FileId)> {
    let (device, rest) = bytes.split_first_chunk::<8>()?;
    let (inode, product) = rest.split_first_chunk::<8>()?;
    let id = FileId { device: u64::from_le_bytes(*device), inode: u64::from_le_bytes(*inode) };
    Some((Product(product.to_vec()), id))
}

/// The hash of a project without a folder that may stand in it.
///
/// # Errors
/// When it cannot be read.
pub fn hash(project: &Path, without: &[&Path]) -> Result<blake3::Hash, String> {
    project::hash(project, without).map_err(|error| format!("{}: {error}", project.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back() {
        let built = (Product(vec![1, 2, 3]), FileId { device: 7, inode: 1 << 40 });
        assert_eq!(unpacked(&packed(&built)), Some(built));
        assert_eq!(unpacked(&[0; 9]), None);
    }
}
