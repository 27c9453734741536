//! A folder that holds all that was prepared, for a machine that can run it and perhaps not build it.
//!
//! | | |
//! |---|---|
//! | `plan.json` | the task, the kernels and their choices, the builds |
//! | `base` | the project as it was built as it stands |
//! | `builds/N.c`, `builds/N.tar` | the text of a build, and the files that it made |
//! | `replays/N.c`, `replays/N.tar` | the same of builds whose grids are chosen at their launches |
//! | `clock` | the device's clock, compiled |
//! | `result.json` | what was decided, once it was measured |

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::choices::Plan;
use super::clock::{Clock, FileId};
use super::decision::Outcome;
use super::prepare::{Places, Prepared};
use super::project::{Product, Project};
use super::task::{Build, Task, TunedLoop};

/// The form of `plan.json`; another version is not read.
const SCHEMA: u32 = 2;

/// `plan.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    schema: u32,
    /// How it is run.
    pub task: Task,
    /// The kernels and their choices.
    pub loops: Vec<TunedLoop>,
    /// Does the original tell of its own kernels?
    pub is_plain: bool,
    /// Candidates that could not be built, each with the reason.
    pub dropped: Vec<(Plan, String)>,
    builds: Vec<Stored>,
    replays: Vec<Stored>,
}

/// A build without its files.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Stored {
    plan: Plan,
    lines: Vec<usize>,
    tuned: Vec<Vec<usize>>,
    id: FileId,
    is_assumed: bool,
}

/// `result.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measurement {
    /// What was decided.
    pub outcome: Outcome,
    /// What it was measured on.
    pub device: String,
    /// When, as `2026-11-26`.
    pub date: String,
}

/// The folders in which a source is prepared for another machine. What is worked in lies elsewhere.
#[must_use]
pub fn places(folder: &Path, work: PathBuf) -> Places {
    Places { work, base: folder.join("base"), clock: folder.join("clock") }
}

/// The folder of builds.
const BUILDS: &str = "builds";
/// The folder of builds whose grids are chosen at their launches.
const REPLAYS: &str = "replays";

/// Writes down what was prepared, whose base and clock are in the folder already.
///
/// # Errors
/// When it cannot be written.
pub fn write(folder: &Path, prepared: &Prepared, task: &Task) -> Result<(), String> {
    let manifest = Manifest {
        schema: SCHEMA,
        task: task.clone(),
        loops: prepared.loops.clone(),
        is_plain: prepared.is_plain,
        dropped: prepared.dropped.clone(),
        builds: put(&folder.join(BUILDS), &prepared.builds)?,
        replays: put(&folder.join(REPLAYS), &prepared.replays)?,
    };
    write_json(&folder.join("plan.json"), &manifest)
}

/// Writes the texts and files of builds into a folder.
fn put(folder: &Path, builds: &[Build]) -> Result<Vec<Stored>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    let mut stored = Vec::new();
    for (index, build) in builds.iter().enumerate() {
        fs::write(folder.join(format!("{index}.c")), &build.text).map_err(failed)?;
        fs::write(folder.join(format!("{index}.tar")), &build.product.0).map_err(failed)?;
        let Build { plan, lines, tuned, id, is_assumed, .. } = build.clone();
        stored.push(Stored { plan, lines, tuned, id, is_assumed });
    }
    Ok(stored)
}

/// Reads builds from a folder.
fn get(folder: &Path, stored: &[Stored]) -> Result<Vec<Build>, String> {
    let read = |name: String| {
        let path = folder.join(name);
        fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let build = |(index, stored): (usize, &Stored)| {
        let Stored { plan, lines, tuned, id, is_assumed } = stored.clone();
        let (text, product) = (read(format!("{index}.c"))?, Product(read(format!("{index}.tar"))?));
        Ok(Build { plan, text, lines, tuned, id, is_assumed, arms: Vec::new(), product })
    };
    stored.iter().enumerate().map(build).collect()
}

impl Manifest {
    /// Reads it.
    ///
    /// # Errors
    /// When it cannot be read, or another version wrote it.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let manifest: Self = read_json(&folder.join("plan.json"))?;
        match manifest.schema {
            SCHEMA => Ok(manifest),
            other => Err(format!("{}: prepared by another version (schema {other})", folder.display())),
        }
    }

    /// The builds with their files.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn builds(&self, folder: &Path) -> Result<Vec<Build>, String> {
        get(&folder.join(BUILDS), &self.builds)
    }

    /// The builds whose grids are chosen at their launches, with their files.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn replays(&self, folder: &Path) -> Result<Vec<Build>, String> {
        get(&folder.join(REPLAYS), &self.replays)
    }

    /// The project as it was built, copied to a place where it can be run.
    ///
    /// # Errors
    /// When it cannot be copied.
    pub fn project(&self, folder: &Path, work: &Path) -> Result<Project, String> {
        let base = folder.join("base");
        Project::from_base(&base, work).map_err(|error| format!("{}: {error}", base.display()))
    }

    /// The clock, if it could be compiled.
    #[must_use]
    pub fn clock(folder: &Path) -> Option<Clock> {
        Clock::at(&folder.join("clock"))
    }
}

impl Measurement {
    /// Writes it into the folder.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), String> {
        write_json(&folder.join("result.json"), self)
    }

    /// Reads it from the folder.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(folder: &Path) -> Result<Self, String> {
        read_json(&folder.join("result.json"))
    }
}

fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), String> {
    let text = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?;
    fs::write(path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, String> {
    let text = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))
}
