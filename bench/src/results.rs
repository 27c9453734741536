//! The result file: everything that a run measured, and on what.

use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::statistics::median;
use crate::suite::Case;

/// The version of the format; readers refuse others.
pub const SCHEMA: u32 = 1;

/// What `run` writes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Results {
    /// [`SCHEMA`].
    pub schema: u32,
    /// When the run began, in UTC.
    pub date: String,
    /// The command line, without paths.
    pub command: String,
    /// The commit that the suite was built from.
    pub commit: String,
    /// The compiler and its flags.
    pub compiler: String,
    /// What it ran on.
    pub device: Device,
    /// The machine's simple limits.
    pub limits: Limits,
    /// How long the whole run took, in seconds.
    pub seconds: f64,
    /// The passes whose output is judged.
    pub passes: String,
    /// Every case, in the order of the suite.
    pub cases: Vec<CaseResult>,
}

/// The device and what drives it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// The GPU's name, or `CPU (x86_64 offload device)`.
    pub name: String,
    /// The driver's version; empty on the CPU.
    pub driver: String,
    /// The architecture that the suite was built for.
    pub architecture: String,
    /// How many threads the host runs at once.
    pub host_threads: usize,
}

/// Measured limits: gigabytes (10^9) and tera-operations a second, microseconds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Limits {
    /// Copies from page-locked memory to the device.
    pub to_device_gb_s: f64,
    /// Copies from the device to page-locked memory.
    pub from_device_gb_s: f64,
    /// The same for ordinary memory.
    pub pageable_to_device_gb_s: f64,
    /// The same for ordinary memory.
    pub pageable_from_device_gb_s: f64,
    /// Both directions at the same time, their sum.
    pub both_ways_gb_s: f64,
    /// Device memory, bytes read and written.
    pub device_memory_gb_s: f64,
    /// Single-precision arithmetic; a fused multiply-add counts two.
    pub float_tflop_s: f64,
    /// One empty kernel, from call to return.
    pub launch_us: f64,
}

/// What one run of a case must at least move and compute; 0 where no simple number exists.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Work {
    /// Bytes from the host to the device.
    pub bytes_in: f64,
    /// Bytes from the device to the host.
    pub bytes_out: f64,
    /// Bytes read and written in device memory.
    pub device_bytes: f64,
    /// Single-precision operations.
    pub operations: f64,
}

/// All variants of one program at one size.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CaseResult {
    /// The program's name.
    pub program: String,
    /// The size.
    pub case: Case,
    /// The least that a run must do.
    pub work: Work,
    /// The variants that ran.
    pub variants: Vec<VariantResult>,
    /// The same binary as one of the variants, in a process of its own (A/A).
    pub again: Option<VariantResult>,
}

/// The measurements of one variant.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct VariantResult {
    /// `naive`, `naive+split`, `ceiling` ..
    pub variant: String,
    /// The variant whose times stand for it, because both have the same text: another pass set's output, or the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// What the tool said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<String>,
    /// Wall-clock times from host memory to host memory, in milliseconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub total_ms: Vec<f64>,
    /// Sums of the kernels' times by the device's clock, in milliseconds; other runs than those of `total_ms`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernel_ms: Vec<f64>,
    /// Sums of the copies' times by the device's clock, in milliseconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copy_ms: Vec<f64>,
    /// Copies in one run.
    #[serde(default)]
    pub copies: Copies,
    /// Kernels in one run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub launches: Vec<Launch>,
    /// The largest relative error of all checked runs.
    #[serde(default)]
    pub largest_error: f64,
    /// Whether the arrays that both change have the bits of `naive`, or of the judged output where `naive` does not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_bits: Option<bool>,
    /// How many checked runs gave a wrong result, of how many; only racy variants may have any.
    #[serde(default)]
    pub wrong: u32,
    /// How many runs were checked.
    #[serde(default)]
    pub checked: u32,
    /// The first wrong result, or why it could not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// What libomptarget logged of copies in one run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copies {
    /// Number of copies to the device.
    pub to_device: u64,
    /// Their bytes.
    pub to_device_bytes: u64,
    /// Number of copies from the device.
    pub from_device: u64,
    /// Their bytes.
    pub from_device_bytes: u64,
}

/// Launches of one kernel in one mode and with one number of threads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// Function and source line of its construct.
    pub kernel: String,
    /// `SPMD`, `Generic` or `Generic-SPMD`.
    pub mode: String,
    /// How often it was launched.
    pub count: u64,
    /// The smallest and the largest number of blocks.
    pub blocks: [u64; 2],
    /// Threads in each block.
    pub threads: u64,
}

impl Results {
    /// Reads a result file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let results: Self =
            serde_json::from_str(&text).with_context(|| format!("{} is not a result file", path.display()))?;
        anyhow::ensure!(
            results.schema == SCHEMA,
            "{} has format {}, this reads {SCHEMA}",
            path.display(),
            results.schema
        );
        Ok(results)
    }

    /// Wrong results and variants that could not run, but for the wrong results of racy variants.
    pub fn failures(&self) -> Vec<String> {
        let mut failures = Vec::new();
        for case in &self.cases {
            for variant in case.variants.iter().chain(&case.again) {
                if let Some(failure) = &variant.failure {
                    failures.push(format!("{} {} {}: {failure}", case.program, case.case, variant.variant));
                }
            }
        }
        failures
    }
}

impl CaseResult {
    /// A variant's measurements; those of another where both have the same text.
    pub fn measured(&self, variant: &str) -> Option<&VariantResult> {
        let found = self.variants.iter().find(|result| result.variant == variant)?;
        match &found.same_as {
            Some(other) => self.variants.iter().find(|result| &result.variant == other),
            None => Some(found),
        }
    }

    /// Whether the tool left this variant's input as it was.
    pub fn is_unchanged(&self, variant: &str) -> bool {
        let input = variant.split('+').next();
        self.variants.iter().any(|result| result.variant == variant && result.same_as.as_deref() == input)
    }
}

impl VariantResult {
    /// The median wall-clock time, in milliseconds.
    pub fn total(&self) -> Option<f64> {
        median(&self.total_ms)
    }

    /// The median of the kernels' time, in milliseconds; nothing where the device has no clock that can be read.
    pub fn kernels(&self) -> Option<f64> {
        median(&self.kernel_ms)
    }
}
