//! Compiles with clang 19, for a GPU through the stand-in toolkit, or for the x86_64 offload device.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::HOST;

const HOST_FLAGS: [&str; 2] = ["-O2", "-fopenmp"];
const HARNESS: [&str; 3] = ["main", "arrays", "checks"];
const WARNINGS: [&str; 3] = ["-Wall", "-Wextra", "-Werror"];

/// A compiler with its flags for one architecture.
pub struct Compiler {
    clang: String,
    architecture: String,
    bench: PathBuf,
    work: PathBuf,
    toolkit: PathBuf,
    libraries: PathBuf,
}

impl Compiler {
    /// Finds the compiler, makes the toolkit where a GPU needs it and compiles the harness.
    pub fn new(architecture: &str, bench: &Path, out: &Path) -> Result<Self> {
        let clang = std::env::var("OMPSPLIT_CLANG").unwrap_or_else(|_| "clang-19".to_owned());
        let work = out.join("work");
        std::fs::create_dir_all(work.join("objects"))?;
        let absolute = |path: &Path| path.canonicalize().with_context(|| format!("no folder {}", path.display()));
        let mut compiler = Self {
            libraries: runtime_folder(&clang)?,
            clang,
            architecture: architecture.to_owned(),
            bench: absolute(bench)?,
            work: absolute(&work)?,
            toolkit: PathBuf::new(),
        };
        if architecture != HOST {
            compiler.toolkit = compiler.work.join("toolkit");
            compiler.make_toolkit()?;
        }
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

    /// The folder that holds the programs' folders.
    pub fn programs(&self) -> PathBuf {
        self.bench.join("programs")
    }

    /// The folder of `libomptarget.so`.
    pub fn libraries(&self) -> &Path {
        &self.libraries
    }

    /// The compiler's version and flags, for the manifest.
    pub fn description(&self) -> Result<String> {
        let output = Command::new(&self.clang).arg("--version").output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = text.lines().next().unwrap_or_default();
        let offload = match self.architecture.as_str() {
            HOST => "-fopenmp-targets=x86_64-pc-linux-gnu".to_owned(),
            gpu => format!("--offload-arch={gpu} -foffload-lto"),
        };
        Ok(format!("{version}, {} {offload}", HOST_FLAGS.join(" ")))
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
        self.run(command.arg("-lm").arg("-o").arg(binary))
    }

    /// Compiles the program that measures the machine's limits.
    pub fn compile_limits(&self, binary: &Path) -> Result<()> {
        let source = self.bench.join("harness/limits.c");
        self.run(self.offload_command().arg(source).arg("-lm").arg("-o").arg(binary))
    }

    /// Compiles the library that stands before the CUDA driver. It is linked with an empty library of the driver's
    /// name, so that the loader puts the real one behind it.
    pub fn compile_tracer(&self, library: &Path) -> Result<()> {
        let driver = self.work.join("objects/libcuda.so.1");
        let shared = || {
            let mut command = Command::new(&self.clang);
            command.args(WARNINGS).args(["-O2", "-fPIC", "-shared"]);
            command
        };
        self.run(shared().args(["-Wl,-soname,libcuda.so.1", "-x", "c", "/dev/null", "-o"]).arg(&driver))?;
        let source = self.bench.join("harness/cuda_trace.c");
        self.run(shared().arg("-Wl,--no-as-needed").arg(source).arg(driver).arg("-o").arg(library))
    }

    fn object(&self, name: &str) -> PathBuf {
        self.work.join("objects").join(format!("{name}.o"))
    }

    fn compile_object(&self, mut command: Command, source: &str, object: &Path) -> Result<()> {
        self.run(command.arg("-c").arg(self.bench.join(source)).arg("-o").arg(object))
    }

    fn host_command(&self) -> Command {
        let mut command = Command::new(&self.clang);
        command.args(HOST_FLAGS).args(WARNINGS).arg("-I").arg(self.bench.join("harness"));
        command
    }

    fn offload_command(&self) -> Command {
        let mut command = self.host_command();
        command.env("LIBRARY_PATH", &self.libraries);
        if self.architecture == HOST {
            command.arg("-fopenmp-targets=x86_64-pc-linux-gnu");
            return command;
        }
        command.arg(format!("--offload-arch={}", self.architecture)).arg("-foffload-lto");
        command.arg(format!("--cuda-path={}", self.toolkit.display()));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.toolkit.join("bin")).chain(std::env::split_paths(&path));
        if let Ok(joined) = std::env::join_paths(folders) {
            command.env("PATH", joined);
        }
        command
    }

    /// Runs one compilation; builds at the same time keep their cubins apart.
    fn run(&self, command: &mut Command) -> Result<()> {
        let cubin = tempfile::NamedTempFile::new()?;
        let output = command.env("OMPSPLIT_CUBIN", cubin.path()).output().context("cannot run the compiler")?;
        anyhow::ensure!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    fn make_toolkit(&self) -> Result<()> {
        if self.toolkit.exists() {
            return Ok(());
        }
        let status = Command::new(self.bench.join("toolkit.sh")).arg(&self.toolkit).status()?;
        anyhow::ensure!(status.success(), "the stand-in CUDA toolkit could not be made");
        Ok(())
    }
}

/// The folder of the offload runtime, by asking the compiler.
fn runtime_folder(clang: &str) -> Result<PathBuf> {
    let output = Command::new(clang)
        .arg("-print-file-name=libomptarget.so")
        .output()
        .with_context(|| format!("cannot run {clang}: install clang-19"))?;
    let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let path = path.canonicalize().context("no libomptarget.so: install libomp-19-dev")?;
    Ok(path.parent().unwrap_or(&path).to_owned())
}
