//! Compiles the suite: variants with their drivers and the harness.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::toolchain::Toolchain;

const HOST_FLAGS: [&str; 2] = ["-O2", "-fopenmp"];
const HARNESS: [&str; 3] = ["main", "arrays", "checks"];
const WARNINGS: [&str; 3] = ["-Wall", "-Wextra", "-Werror"];

/// A compiler with the suite's flags for one architecture.
pub struct Compiler {
    toolchain: Toolchain,
    bench: PathBuf,
    work: PathBuf,
    flags: Vec<String>,
}

impl Compiler {
    /// Finds the compiler, makes the toolkit where a GPU needs it and compiles the harness.
    pub fn new(architecture: &str, bench: &Path, out: &Path, flags: &str) -> Result<Self> {
        let work = out.join("work");
        std::fs::create_dir_all(work.join("objects"))?;
        let absolute = |path: &Path| path.canonicalize().with_context(|| format!("no folder {}", path.display()));
        let (bench, work) = (absolute(bench)?, absolute(&work)?);
        let toolchain = Toolchain::new(architecture, &bench, &work)?;
        let flags = flags.split_whitespace().map(str::to_owned).collect();
        let compiler = Self { toolchain, bench, work, flags };
        for part in HARNESS {
            // The main program has a kernel of its own, which wakes the device.
            let command = if part == "main" { compiler.offload_command() } else { compiler.host_command() };
            compiler.compile_object(command, &format!("harness/{part}.c"), &compiler.object(part))?;
        }
        Ok(compiler)
    }

    /// Where intermediate files go.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// The folder of the harness.
    pub fn harness(&self) -> PathBuf {
        self.bench.join("harness")
    }

    /// The folder that holds the programs' folders.
    pub fn programs(&self) -> PathBuf {
        self.bench.join("programs")
    }

    /// The compiler without the suite's flags.
    pub fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    /// The compiler's version and flags, for the manifest.
    pub fn description(&self) -> Result<String> {
        let flags: Vec<_> = HOST_FLAGS.into_iter().chain(self.flags.iter().map(String::as_str)).collect();
        self.toolchain.description(&flags.join(" "))
    }

    /// Compiles a program's host part and gives the object.
    pub fn compile_driver(&self, program: &str) -> Result<PathBuf> {
        let object = self.object(program);
        self.compile_object(self.host_command(), &format!("programs/{program}/{program}.c"), &object)?;
        Ok(object)
    }

    /// Compiles one variant of a program and links it with its driver and the harness.
    pub fn compile_variant(&self, program: &str, source: &Path, driver: &Path, binary: &Path) -> Result<()> {
        let mut command = self.offload_command();
        command.arg("-I").arg(self.programs().join(program)).arg(source).arg(driver);
        command.args(HARNESS.map(|part| self.object(part)));
        self.toolchain.run(command.arg("-lm").arg("-o").arg(binary))
    }

    /// Compiles the program that measures the machine's limits.
    pub fn compile_limits(&self, binary: &Path) -> Result<()> {
        let source = self.bench.join("harness/limits.c");
        self.toolchain.run(self.offload_command().arg(source).arg("-lm").arg("-o").arg(binary))
    }

    /// Compiles the library that stands before the CUDA driver.
    pub fn compile_tracer(&self, library: &Path) -> Result<()> {
        let source = self.bench.join("harness/cuda_trace.c");
        self.toolchain.compile_before_driver(&source, &self.work.join("objects"), library)
    }

    fn object(&self, name: &str) -> PathBuf {
        self.work.join("objects").join(format!("{name}.o"))
    }

    fn compile_object(&self, mut command: Command, source: &str, object: &Path) -> Result<()> {
        self.toolchain.run(command.arg("-c").arg(self.bench.join(source)).arg("-o").arg(object))
    }

    fn host_command(&self) -> Command {
        let mut command = self.toolchain.command();
        command.args(HOST_FLAGS).args(&self.flags).args(WARNINGS).arg("-I").arg(self.bench.join("harness"));
        command
    }

    fn offload_command(&self) -> Command {
        let mut command = self.host_command();
        self.toolchain.offload(&mut command);
        command
    }
}
