//! What the suite runs on, and how fast that can be at most.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::process;
use crate::build::HOST;
use crate::parallel;
use crate::results::{Device, Limits};

/// Asks the driver's own program for the GPU.
pub fn device(architecture: &str) -> Result<Device> {
    let host_threads = parallel::cores();
    if architecture == HOST {
        let name = "CPU (x86_64 offload device)".to_owned();
        return Ok(Device { name, driver: String::new(), architecture: architecture.to_owned(), host_threads });
    }
    let output = Command::new("nvidia-smi")
        .args(["--query-gpu=name,driver_version", "--format=csv,noheader"])
        .output()
        .context("cannot run nvidia-smi: is there an NVIDIA GPU?")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let first = text.lines().next().context("nvidia-smi names no GPU")?;
    let (name, driver) = first.split_once(',').context("nvidia-smi answers otherwise than expected")?;
    Ok(Device {
        name: name.trim().to_owned(),
        driver: driver.trim().to_owned(),
        architecture: architecture.to_owned(),
        host_threads,
    })
}

/// Runs the program that measures the limits, with its sizes times `scale`.
pub fn limits(tree: &Path, scale: f64) -> Result<Limits> {
    let output = process::command(tree, "limits")?.arg(scale.to_string()).output().context("cannot run limits")?;
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    anyhow::ensure!(output.status.success(), "limits failed: {error}");
    serde_json::from_slice(&output.stdout).context("what limits printed")
}
