//! Runs the tool on a copy of a program, as its user would.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::suite::ANY_DEVICE;

/// What the tool made of one source.
pub struct Output {
    /// The rewritten file.
    pub path: PathBuf,
    /// What the tool said, one line for each construct.
    pub decisions: Vec<String>,
}

/// The part of `--output-format json` that is kept.
#[derive(Deserialize)]
struct Report {
    diagnostics: Vec<Diagnostic>,
}

#[derive(Deserialize)]
struct Diagnostic {
    code: Option<String>,
    message: String,
    range: Range,
}

#[derive(Deserialize)]
struct Range {
    start: Position,
}

#[derive(Deserialize)]
struct Position {
    line: u32,
}

/// Copies a source and its header into `folder` and runs the tool on the copy, with a pass set of the suite.
pub fn rewrite(tool: &Path, device: Option<&str>, set: &str, source: &Path, folder: &Path) -> Result<Output> {
    let program = source.parent().context("a program has a folder")?;
    let name = program.file_name().context("a program has a name")?;
    let folder = folder.join(name);
    std::fs::create_dir_all(&folder)?;
    for entry in std::fs::read_dir(program)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "h") {
            std::fs::copy(&path, folder.join(path.file_name().unwrap_or_default()))?;
        }
    }
    let path = folder.join(source.file_name().context("a source has a name")?);
    std::fs::copy(source, &path)?;

    let (passes, flags) = set.split_once(' ').unwrap_or((set, ""));
    let (any_device, flags): (Vec<&str>, Vec<&str>) = flags.split_whitespace().partition(|word| *word == ANY_DEVICE);
    let device = device.filter(|_| any_device.is_empty());
    let output = Command::new(tool)
        .args(["--in-place", "--output-format", "json", "--passes", passes])
        .args(device.map(|device| format!("--device={device}")))
        .args(flags)
        .arg(&path)
        .output()
        .with_context(|| format!("cannot run {}", tool.display()))?;
    anyhow::ensure!(
        output.status.success(),
        "{} {}: {}",
        tool.display(),
        source.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    let report: Report = serde_json::from_slice(&output.stdout).context("the tool's JSON")?;
    let decisions = report
        .diagnostics
        .into_iter()
        .map(|one| {
            let code = one.code.map(|code| format!(" [{code}]")).unwrap_or_default();
            format!("line {}: {}{code}", one.range.start.line, one.message)
        })
        .collect();
    Ok(Output { path, decisions })
}
