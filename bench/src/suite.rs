//! What the suite consists of: `suite.toml`, and the manifest of a built suite.

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// The word of a pass set that asks for what holds on every device.
pub const ANY_DEVICE: &str = "any-device";

/// `suite.toml`: the programs, and the pass sets that each is rewritten with.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Values of `ompsplit --passes`, each of which gives a variant of every program. Words behind one are further flags;
    /// [`ANY_DEVICE`] leaves the device out.
    pub pass_sets: Vec<String>,
    /// The one whose output is compared with what was written by hand.
    pub judged: String,
    /// The device profile that `geometry` chooses grids for; without one only what holds on every device is written.
    #[serde(default)]
    pub device: Option<String>,
    /// The programs, in the order of the report.
    #[serde(rename = "program")]
    pub programs: Vec<Program>,
}

/// One program of the suite, in the folder `programs/NAME`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The name of its folder.
    pub name: String,
    /// The sizes of the smoke test on the CPU.
    pub tiny: String,
    /// Further cases there, for what these sizes do not reach in forms by hand.
    #[serde(default)]
    pub tiny_too: Vec<Case>,
    /// Variants that have a data race by the specification: a wrong result of theirs is counted and
    /// reported, but is no failure of the suite.
    /// `teams*` lists all that the tool makes of that one as well, `teams*--versioned` what it makes with pass sets of that end.
    #[serde(default)]
    pub racy: Vec<String>,
    /// The form by hand that keeps all bits and is the best that does, where there is no `exact.c`: `pragmas` or `ceiling`.
    #[serde(default)]
    pub exact: Option<String>,
    /// Whether `naive` itself leaves the order of a sum of floats open, by a reduction clause, so that no bits are to be kept.
    #[serde(default)]
    pub open_order: bool,
    /// The sizes to run on a GPU.
    #[serde(rename = "case")]
    pub cases: Vec<Case>,
}

/// One size of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The numbers on the program's command line.
    pub sizes: String,
    /// Whether its arrays are in page-locked host memory.
    #[serde(default)]
    pub pinned: bool,
    /// Whether it belongs to the quick set.
    #[serde(default)]
    pub quick: bool,
    /// The only variants to run, where not all; a size at which the naive program would take minutes.
    #[serde(default)]
    pub only: Vec<String>,
    /// Tunables of hand-tuned variants, as `threads 64`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tune: Vec<String>,
}

impl Program {
    /// Whether a variant has a data race by the specification.
    pub fn is_racy(&self, variant: &str) -> bool {
        self.racy.iter().any(|racy| match racy.split_once('*') {
            Some((input, end)) => {
                let passes = variant.strip_prefix(input).and_then(|rest| rest.strip_prefix('+'));
                (end.is_empty() && variant == input) || passes.is_some_and(|passes| passes.ends_with(end))
            }
            None => variant == racy,
        })
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pinned = if self.pinned { " pinned" } else { "" };
        write!(f, "{}{pinned}", self.sizes)
    }
}

/// The file `manifest.json` of a built suite: what `run` finds in the package.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Manifest {
    /// The suite that was built.
    pub suite: Suite,
    /// The device that it was built for: `sm_90`, or `host`.
    pub architecture: String,
    /// The compiler's version line and its flags.
    pub compiler: String,
    /// The commit of the repository; with `-dirty` where files differed from it.
    pub commit: String,
    /// Every binary.
    pub variants: Vec<BuiltVariant>,
}

/// One binary of the package.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BuiltVariant {
    /// The program's name.
    pub program: String,
    /// `naive`, `teams`, `pragmas` or `ceiling`; for the tool's output the input's name and the passes: `naive+split`.
    pub variant: String,
    /// The file under `bin/`, which is another variant's where both have the same text.
    pub binary: String,
    /// What the tool said of it, one line for each construct.
    pub decisions: Vec<String>,
}

impl Suite {
    /// Reads `suite.toml`.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("{} is not a suite", path.display()))
    }
}

impl Manifest {
    /// Reads `manifest.json` of a package.
    pub fn read(package: &Path) -> Result<Self> {
        let path = package.join("manifest.json");
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is not a manifest", path.display()))
    }

    /// The variants of one program.
    pub fn of_program<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a BuiltVariant> {
        self.variants.iter().filter(move |variant| variant.program == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_lists_racy_variants() -> Result<()> {
        let racy = |pattern: &str, variant: &str| -> Result<bool> {
            let text = format!("name = 'x'\ntiny = '1'\nracy = ['{pattern}']\ncase = []\n");
            Ok(toml::from_str::<Program>(&text)?.is_racy(variant))
        };
        assert!(racy("teams", "teams")? && !racy("teams", "teams+split")?);
        assert!(racy("teams*", "teams")? && racy("teams*", "teams+split --versioned")?);
        assert!(racy("teams*--versioned", "teams+split --versioned")?);
        assert!(!racy("teams*--versioned", "teams")? && !racy("teams*--versioned", "teams+split")?);
        assert!(!racy("teams*", "naive+split")?);
        Ok(())
    }
}
