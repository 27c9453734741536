//! `.ompsplit.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cli::suggest;
use crate::cli::tuned::TunedKernel;

/// The file that is looked for in the folder of a source file and above.
pub(super) const FILE_NAME: &str = ".ompsplit.toml";

/// What a configuration file may say. Paths in it are relative to its folder.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
#[schemars(deny_unknown_fields, title = ".ompsplit.toml")]
pub(super) struct Config {
    /// The passes to run.
    pub passes: Option<Vec<String>>,
    /// Also write edits that rest on an assumption?
    pub assume: Option<bool>,
    /// Also write edits that form floating-point sums, minima and maxima in another order?
    pub reassociation: Option<bool>,
    /// How many iterations a loop is taken to have where the text does not tell.
    pub assumed_iterations: Option<u32>,
    /// How many bytes of the device's memory data may take that stay on it.
    pub device_memory: Option<u64>,
    /// Write both forms of a region where the lengths of its loops decide which is faster?
    pub versioned: Option<bool>,
    /// Replace written grids that are far off on the device?
    pub retune: Option<bool>,
    /// `register`, `alloc` or `none`: how `pipeline` page-locks host memory.
    pub pin: Option<String>,
    /// How many tiles of a pipeline are on the device at a time.
    pub pipeline_window: Option<NonZeroU32>,
    /// How many tiles a pipeline has.
    pub pipeline_tiles: Option<NonZeroU32>,
    /// From how many bytes of an array on a loop is cut into tiles.
    pub pipeline_from: Option<u64>,
    /// `llvm`, `gcc` or `nvhpc`: the compiler that the result is written for.
    #[serde(rename = "for")]
    pub compiler: Option<String>,
    /// `tree` or `clang`: whose types and names the decisions rest on.
    pub facts: Option<String>,
    /// `estimate` or `clang`: who counts the registers that a grid is chosen by.
    pub resources: Option<String>,
    /// Files and folders whose functions may be looked up when a called one is defined there.
    pub sources: Vec<PathBuf>,
    /// Folders in which `#include ".."` is looked up, after the including file's own.
    pub include_dirs: Vec<PathBuf>,
    /// The folder of `compile_commands.json`.
    pub compile_commands: Option<PathBuf>,
    /// Further compiler flags.
    pub flags: Vec<String>,
    /// Exit 1 when a construct is refused?
    pub error_on_refusal: Option<bool>,
    /// Is a file left alone that has uncommitted changes?
    pub require_clean: Option<bool>,
    /// The device to choose for.
    pub device: Option<String>,
    /// The folder that `ompsplit_pin.h` is written to.
    pub write_header: Option<PathBuf>,
    /// What is checked before a result is written.
    pub verify: Option<Verify>,
    /// Kernels that `tune` measured, by the hashes of their loops.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tuned: BTreeMap<String, TunedKernel>,
}

/// `verify = "device"`, or a section `[verify]`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(try_from = "toml::Value", untagged)]
#[schemars(!try_from)]
pub(super) enum Verify {
    /// The level alone.
    Level(String),
    /// The level and the program that is run.
    Section(Box<HostConfig>),
}

/// What `[verify]` may say. Paths in it are relative to the configuration's folder, but for those of `outputs`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub(super) struct HostConfig {
    /// `none`, `syntax`, `device` or `host`.
    pub level: Option<String>,
    /// The other sources of the program.
    pub sources: Vec<PathBuf>,
    /// Flags of the linker.
    pub link_flags: Vec<String>,
    /// The arguments of the program.
    pub args: Vec<String>,
    /// The file that is its standard input.
    pub stdin: Option<PathBuf>,
    /// The folder whose copy it runs in.
    pub cwd: Option<PathBuf>,
    /// The longest that one run may take, in seconds.
    pub timeout: Option<f64>,
    /// How far two printed numbers may lie apart.
    pub tolerance: Option<f64>,
    /// Lines that hold one of these texts are not compared.
    pub ignore: Vec<String>,
    /// Is standard error compared as well?
    pub stderr: bool,
    /// Files that the program writes, relative to its folder, to be compared.
    pub outputs: Vec<PathBuf>,
    /// A file that holds what the original is expected to print.
    pub expected: Option<PathBuf>,
    /// The exit status that it is expected to end with.
    pub exit: Option<i32>,
    /// Are races looked for?
    pub races: Option<bool>,
    /// Variables of its environment.
    pub env: BTreeMap<String, String>,
}

/// Every key of [`HostConfig`].
const HOST_KEYS: &[&str] = &[
    "level",
    "sources",
    "link_flags",
    "args",
    "stdin",
    "cwd",
    "timeout",
    "tolerance",
    "ignore",
    "stderr",
    "outputs",
    "expected",
    "exit",
    "races",
    "env",
];

impl Verify {
    /// The level, where one is named.
    pub(super) fn level(&self) -> Option<&str> {
        match self {
            Self::Level(level) => Some(level),
            Self::Section(section) => section.level.as_deref(),
        }
    }

    /// The program that is run.
    pub(super) fn host(&self) -> HostConfig {
        match self {
            Self::Level(_) => HostConfig::default(),
            Self::Section(section) => (**section).clone(),
        }
    }

    /// These settings with another level.
    pub(super) fn with_level(self, level: String) -> Self {
        match self {
            Self::Level(_) => Self::Level(level),
            Self::Section(section) => Self::Section(Box::new(HostConfig { level: Some(level), ..*section })),
        }
    }
}

impl TryFrom<toml::Value> for Verify {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Self, String> {
        match value {
            toml::Value::String(level) => Ok(Self::Level(level)),
            toml::Value::Table(table) => {
                if let Some(key) = table.keys().find(|key| !HOST_KEYS.contains(&key.as_str())) {
                    let hint = suggest::hint(key, HOST_KEYS.iter().copied());
                    return Err(format!("unknown key `{key}` in [verify]{hint}"));
                }
                let section: HostConfig = table.try_into().map_err(|error| format!("[verify]: {error}"))?;
                let positive = |number: Option<f64>| number.is_none_or(|number| number.is_finite() && number > 0.0);
                if !positive(section.timeout) || !positive(section.tolerance) {
                    return Err("timeout and tolerance in [verify] are numbers above zero".to_owned());
                }
                Ok(Self::Section(Box::new(section)))
            }
            _ => Err("verify is a level or a section".to_owned()),
        }
    }
}

/// Every key of [`Config`].
const KEYS: &[&str] = &[
    "passes",
    "assume",
    "reassociation",
    "assumed_iterations",
    "device_memory",
    "versioned",
    "retune",
    "pin",
    "pipeline_window",
    "pipeline_tiles",
    "pipeline_from",
    "for",
    "facts",
    "resources",
    "sources",
    "include_dirs",
    "compile_commands",
    "flags",
    "write_header",
    "verify",
    "error_on_refusal",
    "require_clean",
    "device",
    "tuned",
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
        let folders = self.include_dirs.iter_mut().chain(&mut self.compile_commands).chain(&mut self.write_header);
        let tuned = self.tuned.values_mut().map(|entry| &mut entry.file);
        for path in folders.chain(&mut self.sources).chain(tuned) {
            *path = folder.join(&path);
        }
        if let Some(file) = self.device.as_mut().filter(|device| device.ends_with(".toml")) {
            *file = folder.join(&*file).display().to_string();
        }
        if let Some(Verify::Section(host)) = &mut self.verify {
            let files = host.stdin.iter_mut().chain(&mut host.cwd).chain(&mut host.expected);
            for path in files.chain(&mut host.sources) {
                *path = folder.join(&path);
            }
        }
    }
}

/// The nearest configuration file above a source file.
///
/// # Errors
/// When something of that name is there and is no file that can be looked at: what it was to say must not be passed over.
pub(super) fn nearest(file: &Path) -> Result<Option<PathBuf>, String> {
    let Ok(absolute) = std::path::absolute(file) else { return Ok(None) };
    for path in absolute.ancestors().skip(1).map(|folder| folder.join(FILE_NAME)) {
        let refused = |why: &dyn std::fmt::Display| {
            Err(format!("{}: {why} (--no-config reads no configuration)", path.display()))
        };
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => return Ok(Some(path)),
            Ok(metadata) if metadata.is_dir() => return refused(&"is a folder, not a configuration file"),
            Ok(_) => return refused(&"is no regular file"),
            Err(_) if path.is_symlink() => return refused(&"is a symbolic link that leads to no file"),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => return refused(&error),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_known() {
        let mut config = Config::parse("").unwrap();
        config.passes = Some(vec!["split".to_owned()]);
        config.assume = Some(true);
        config.reassociation = Some(true);
        config.assumed_iterations = Some(1);
        config.device_memory = Some(1);
        config.versioned = Some(true);
        config.retune = Some(true);
        config.pin = Some("none".to_owned());
        config.pipeline_window = NonZeroU32::new(4);
        config.pipeline_tiles = NonZeroU32::new(16);
        config.pipeline_from = Some(1);
        config.compiler = Some("gcc".to_owned());
        config.facts = Some("clang".to_owned());
        config.resources = Some("clang".to_owned());
        config.compile_commands = Some("b".into());
        config.verify = Some(Verify::Level("none".to_owned()));
        config.error_on_refusal = Some(true);
        config.require_clean = Some(true);
        config.write_header = Some("include".into());
        config.device = Some("h200".to_owned());
        config.tuned.insert("0123456789abcdef".to_owned(), TunedKernel::default());
        let table: toml::Table = toml::to_string(&config).unwrap().parse().unwrap();
        assert_eq!(table.len(), KEYS.len());
        assert!(table.keys().all(|key| KEYS.contains(&key.as_str())));
    }

    #[test]
    fn every_key_of_the_section_is_known() {
        let host = HostConfig {
            level: Some("host".to_owned()),
            stdin: Some("in".into()),
            cwd: Some("data".into()),
            timeout: Some(1.0),
            tolerance: Some(1.0),
            expected: Some("out".into()),
            exit: Some(1),
            races: Some(true),
            ..HostConfig::default()
        };
        let table: toml::Table = toml::to_string(&host).unwrap().parse().unwrap();
        assert_eq!(table.len(), HOST_KEYS.len());
        assert!(table.keys().all(|key| HOST_KEYS.contains(&key.as_str())));
    }

    #[test]
    fn verify_is_a_level_or_a_section() {
        let level = |text: &str| Config::parse(text).map(|c| c.verify.and_then(|v| v.level().map(str::to_owned)));
        assert_eq!(level("verify = \"device\""), Ok(Some("device".to_owned())));
        assert_eq!(level("[verify]\nlevel = \"host\"\nargs = [\"3\"]"), Ok(Some("host".to_owned())));
        assert!(
            level("[verify]\narg = []").unwrap_err().contains("unknown key `arg` in [verify]; did you mean `args`?")
        );
        assert!(level("[verify]\ntimeout = -1.0").is_err() && level("verify = 3").is_err());
    }

    #[test]
    fn an_unknown_key_comes_with_a_suggestion() {
        assert_eq!(Config::parse("asume = true").unwrap_err(), "unknown key `asume`; did you mean `assume`?");
        assert_eq!(Config::parse("wibble = true").unwrap_err(), "unknown key `wibble`");
    }
}
