//! The result file of a proof.

use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::manifest::Set;
use crate::results::Device;

/// The version of the format; readers refuse others.
pub const SCHEMA: u32 = 1;

/// What `prove run` writes.
#[derive(Debug, Serialize, Deserialize)]
pub struct Proof {
    /// What was run, and on what.
    #[serde(flatten)]
    pub head: Head,
    /// Every program.
    pub programs: Vec<Outcome>,
}

/// What was run, and on what.
#[derive(Debug, Serialize, Deserialize)]
pub struct Head {
    /// [`SCHEMA`].
    pub schema: u32,
    /// When the run began, in UTC.
    pub date: String,
    /// The command line, without paths.
    pub command: String,
    /// The commit that was built.
    pub commit: String,
    /// The compiler and its flags.
    pub compiler: String,
    /// How many programs were generated.
    pub generated: usize,
    /// From which seed.
    pub seed: u64,
    /// What it ran on.
    pub device: Device,
    /// How long the whole run took, in seconds.
    pub seconds: f64,
    /// How many processes were run.
    pub processes: usize,
    /// With which options each program was rewritten.
    pub sets: Vec<Set>,
}

/// What became of one program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Its name.
    pub name: String,
    /// As it is.
    pub original: Original,
    /// As each set of options writes it.
    pub outputs: Vec<Verdict>,
}

/// What a program did as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Original {
    /// It is a part of a program, which is compiled only.
    NotRunnable,
    /// No set of options changes it, so that it was not run.
    NotChanged,
    /// It ended with exit status 0, and did the same each time.
    Ran,
    /// The compiler makes no program of it for this device.
    DoesNotBuild(String),
    /// It does not end well by itself.
    Fails(String),
    /// It does not do the same each time.
    Varies(String),
    /// It does something else than on the host, and an output does what the host does: the device's compiler is wrong.
    Wrong(String),
}

/// What an output did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Its text is the original's.
    NotChanged,
    /// It does what the original does.
    Same,
    /// It does what the original does on the host, which on the device fails, varies or is wrong.
    AsHost,
    /// There is nothing to compare it with.
    NotCompared,
    /// It does something else.
    Differs(String),
    /// It does not do the same each time.
    Varies(String),
    /// The compiler makes no program of it.
    DoesNotBuild(String),
    /// The tool ended with an error.
    ToolFails(String),
}

impl Original {
    /// Could it be compared with anything?
    pub fn is_reference(&self) -> bool {
        *self == Self::Ran
    }

    /// Was it to be run?
    pub fn is_wanted(&self) -> bool {
        !matches!(self, Self::NotRunnable | Self::NotChanged)
    }

    /// What is wrong with it, in words.
    pub fn exception(&self) -> Option<String> {
        match self {
            Self::NotRunnable | Self::NotChanged | Self::Ran => None,
            Self::DoesNotBuild(said) => Some(format!("does not compile: {said}")),
            Self::Fails(how) => Some(format!("fails: {how}")),
            Self::Varies(how) => Some(format!("varies: {how}")),
            Self::Wrong(how) => Some(format!("is wrong: {how}, as on the host")),
        }
    }
}

impl Verdict {
    /// What is wrong with it, in words.
    pub fn exception(&self) -> Option<String> {
        match self {
            Self::NotChanged | Self::Same | Self::AsHost | Self::NotCompared => None,
            Self::Differs(how) => Some(format!("differs: {how}")),
            Self::Varies(how) => Some(format!("varies: {how}")),
            Self::DoesNotBuild(said) => Some(format!("does not compile: {said}")),
            Self::ToolFails(said) => Some(format!("the tool: {said}")),
        }
    }

    /// Is the text another one, that was run and compared?
    pub fn is_compared(&self) -> bool {
        matches!(self, Self::Same | Self::AsHost | Self::Differs(_) | Self::Varies(_))
    }
}

impl Proof {
    /// Reads a result file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let proof: Self = serde_json::from_str(&text).with_context(|| format!("{} is no proof", path.display()))?;
        let schema = proof.head.schema;
        anyhow::ensure!(schema == SCHEMA, "{} has format {schema}, this reads {SCHEMA}", path.display());
        Ok(proof)
    }

    /// Writes it, a program on each line.
    pub fn write(&self, path: &Path) -> Result<()> {
        let head = serde_json::to_string_pretty(&self.head)?;
        let programs: Vec<String> = self.programs.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        let head = head.trim_end().trim_end_matches('}').trim_end();
        let text = format!("{head},\n  \"programs\": [\n    {}\n  ]\n}}\n", programs.join(",\n    "));
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// The name of the set with a number.
    pub fn set_name(&self, number: usize) -> &str {
        self.head.sets.get(number).map_or("", |set| &set.name)
    }
}
