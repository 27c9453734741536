//! `.ompsplit.toml`.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cli::suggest;

/// The file that is looked for in the folder of a source file and above.
pub(super) const FILE_NAME: &str = ".ompsplit.toml";

/// What a configuration file may say. Paths in it are relative to its folder.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Config {
    /// The passes to run.
    pub passes: Option<Vec<String>>,
    /// Also write edits that rest on an assumption?
    pub assume: Option<bool>,
    /// How many iterations a loop is taken to have where the text does not tell.
    pub assumed_iterations: Option<u32>,
    /// Write both forms of a region where the lengths of its loops decide which is faster?
    pub versioned: Option<bool>,
    /// Files and folders whose functions may be looked up when a called one is defined there.
    pub sources: Vec<PathBuf>,
    /// Folders in which `#include ".."` is looked up, after the including file's own.
    pub include_dirs: Vec<PathBuf>,
    /// The folder of `compile_commands.json`.
    pub compile_commands: Option<PathBuf>,
    /// Further compiler flags.
    pub flags: Vec<String>,
    /// What is checked with clang before a result is written: `none`, `syntax` or `device`.
    pub verify: Option<String>,
    /// Exit 1 when a construct is refused?
    pub error_on_refusal: Option<bool>,
    /// The device to choose for.
    pub device: Option<String>,
}

/// Every key of [`Config`].
const KEYS: &[&str] = &[
    "passes",
    "assume",
    "assumed_iterations",
    "versioned",
    "sources",
    "include_dirs",
    "compile_commands",
    "flags",
    "verify",
    "error_on_refusal",
    "device",
];

impl Config {
    /// Reads a configuration file; its paths become relative to the current folder, as the file's own name is.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut config = Self::parse(&text).map_err(|message| format!("{}: {message}", path.display()))?;
        config.rebase(path.parent().unwrap_or(Path::new("")));
        Ok(config)
    }

    /// Reads the text of a configuration file.
    fn parse(text: &str) -> Result<Self, String> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(format!("unknown key `{key}`{}", suggest::hint(key, KEYS.iter().copied())));
        }
        toml::from_str(text).map_err(|error| error.to_string())
    }

    fn rebase(&mut self, folder: &Path) {
        for path in self.sources.iter_mut().chain(&mut self.include_dirs).chain(&mut self.compile_commands) {
            *path = folder.join(&path);
        }
    }
}

/// The nearest configuration file above a source file.
pub(super) fn nearest(file: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(file).ok()?;
    absolute.ancestors().skip(1).map(|folder| folder.join(FILE_NAME)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_known() {
        let mut config = Config::parse("").unwrap();
        config.passes = Some(vec!["split".to_owned()]);
        config.assume = Some(true);
        config.assumed_iterations = Some(1);
        config.versioned = Some(true);
        config.compile_commands = Some("b".into());
        config.verify = Some("none".to_owned());
        config.error_on_refusal = Some(true);
        config.device = Some("h200".to_owned());
        let table: toml::Table = toml::to_string(&config).unwrap().parse().unwrap();
        assert_eq!(table.len(), KEYS.len());
        assert!(table.keys().all(|key| KEYS.contains(&key.as_str())));
    }

    #[test]
    fn an_unknown_key_comes_with_a_suggestion() {
        assert_eq!(Config::parse("asume = true").unwrap_err(), "unknown key `asume`; did you mean `assume`?");
        assert_eq!(Config::parse("wibble = true").unwrap_err(), "unknown key `wibble`");
    }
}
