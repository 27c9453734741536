//! The programs of a proof, and what the tool makes of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::fixtures::{self, Fixture};
use super::generator;
use super::manifest::{Output, Set};

/// The sets of options that every program is rewritten with. Pipelines cut loops however little they copy, since these are small.
const SETS: [(&str, &str); 3] =
    [("default", ""), ("device", "--device h200"), ("all", "--passes all --device h200 --pipeline-from 1")];

/// Of so many generated programs one has a loop that `pipeline` cuts.
const PIPED: usize = 5;

/// The sets of options.
pub fn sets() -> Vec<Set> {
    SETS.map(|(name, options)| Set { name: name.to_owned(), options: options.to_owned() }).to_vec()
}

/// All fixtures of the repository and generated programs, whose files go into `folder`; only those whose name holds one of the texts in `only`, between
/// commas.
pub fn all(repository: &Path, folder: &Path, generated: usize, seed: u64, only: &str) -> Result<Vec<Fixture>> {
    let root = repository.join("fixtures").canonicalize().context("no fixtures: is this the repository?")?;
    let holds_one = |name: &str| only.split(',').any(|text| name.contains(text));
    let mut programs = fixtures::below(&root, "").map_err(anyhow::Error::msg)?;
    programs.retain(|fixture| holds_one(&fixture.name));
    std::fs::create_dir_all(folder)?;
    for index in 0..generated {
        let (kind, case) = match index % PIPED {
            0 => ("tiles-", generator::piped(seed, index / PIPED)),
            _ => ("", generator::drawn(seed, index - index / PIPED - 1)),
        };
        let file = format!("{kind}{}.{}", case.index, if case.cpp { "cpp" } else { "c" });
        let (name, path) = (format!("generated/{file}"), folder.join(&file));
        if holds_one(&name) {
            let text = case.text().into_bytes();
            std::fs::write(&path, &text).with_context(|| format!("cannot write {}", path.display()))?;
            programs.push(Fixture::new(&name, path, text).map_err(anyhow::Error::msg)?);
        }
    }
    anyhow::ensure!(!programs.is_empty(), "no program has `{only}` in its name");
    Ok(programs)
}

/// The `ompsplit` that is judged.
pub struct Tool {
    path: PathBuf,
    /// What its output may include.
    header: Vec<u8>,
}

impl Tool {
    /// Asks it for its header.
    pub fn new(path: PathBuf) -> Result<Self> {
        let output = Command::new(&path).arg("header").output();
        let output = output.with_context(|| format!("cannot run {}", path.display()))?;
        anyhow::ensure!(output.status.success(), "{} prints no header", path.display());
        Ok(Self { path, header: output.stdout })
    }

    /// The header that stands beside every program.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// What it makes of a program with each set of options, and the different texts, the original first.
    pub fn rewrite(&self, program: &Fixture, sets: &[Set]) -> Result<(Vec<Vec<u8>>, Vec<Output>)> {
        let mut texts = vec![program.text.clone()];
        let mut outputs = Vec::new();
        for set in sets {
            let mut command = Command::new(&self.path);
            command.args(["--no-config", "--quiet"]).args(set.options.split_whitespace()).args(&program.options);
            command.arg(&program.path).arg("--").args(&program.flags);
            let output = command.output().context("cannot run the tool")?;
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                let folder = format!("{}/", program.folder().display());
                outputs.push(Output::Error(said.lines().next().unwrap_or_default().replace(&folder, "")));
                continue;
            }
            let known = texts.iter().position(|text| *text == output.stdout);
            outputs.push(Output::Text(known.unwrap_or(texts.len())));
            if known.is_none() {
                texts.push(output.stdout);
            }
        }
        Ok((texts, outputs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines_ask_for_options_and_flags() -> Result<()> {
        let head = "// fixture: assume\n// fixture: versioned\n// fixture: pin alloc\n// fixture: for gcc\n\
                    // fixture: window 4\n// fixture: device h200\n// fixture: flags -DN=8 -w\n";
        let fixture = Fixture::new("x/y.c", PathBuf::from("y.c"), head.into()).map_err(anyhow::Error::msg)?;
        let options = ["--assume", "--versioned", "--pin", "alloc", "--for", "gcc", "--pipeline-window", "4"];
        assert_eq!(
            (fixture.options, fixture.flags),
            (options.map(str::to_owned).to_vec(), vec!["-DN=8".to_owned(), "-w".to_owned()])
        );
        Ok(())
    }

    #[test]
    fn generated_programs_depend_on_the_seed_alone() -> Result<()> {
        let folder = tempfile::tempdir()?;
        std::fs::create_dir(folder.path().join("fixtures"))?;
        let sample = |seed, only| -> Result<Vec<(String, Vec<u8>)>> {
            let programs = all(folder.path(), &folder.path().join("generated"), 12, seed, only)?;
            Ok(programs.into_iter().map(|program| (program.name, program.text)).collect())
        };
        let first = sample(1, "")?;
        assert_eq!(first, sample(1, "")?);
        assert_ne!(first, sample(2, "")?);
        assert_eq!(sample(1, "tiles-")?.len(), 3, "one of five is cut into tiles");
        assert!(sample(1, "no such").is_err());
        Ok(())
    }
}
