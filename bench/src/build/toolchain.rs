//! Clang 19 with what it needs to write programs for a GPU, through the stand-in toolkit, or for the x86_64 offload device.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result};

use super::HOST;

/// A compiler and what belongs to one architecture.
pub struct Toolchain {
    clang: String,
    architecture: String,
    toolkit: PathBuf,
    libraries: PathBuf,
}

impl Toolchain {
    /// Finds the compiler, and makes the toolkit in `work` where a GPU needs it.
    pub fn new(architecture: &str, bench: &Path, work: &Path) -> Result<Self> {
        let clang = std::env::var("OMPSPLIT_CLANG").unwrap_or_else(|_| "clang-19".to_owned());
        let libraries = runtime_folder(&clang)?;
        let toolkit = work.join("toolkit");
        if architecture != HOST && !toolkit.exists() {
            let status = Command::new(bench.join("toolkit.sh")).arg(&toolkit).status()?;
            anyhow::ensure!(status.success(), "the stand-in CUDA toolkit could not be made");
        }
        Ok(Self { clang, architecture: architecture.to_owned(), toolkit, libraries })
    }

    /// The folder of `libomptarget.so`.
    pub fn libraries(&self) -> &Path {
        &self.libraries
    }

    /// The device that is compiled for: `sm_90`, or `host`.
    pub fn architecture(&self) -> &str {
        &self.architecture
    }

    /// The compiler's version, and the flags of the device.
    pub fn description(&self, flags: &str) -> Result<String> {
        let output = self.command().arg("--version").output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = text.lines().next().unwrap_or_default();
        let offload = match self.architecture.as_str() {
            HOST => "-fopenmp-targets=x86_64-pc-linux-gnu".to_owned(),
            gpu => format!("--offload-arch={gpu} -foffload-lto"),
        };
        Ok(format!("{version}, {flags} {offload}"))
    }

    /// The compiler, without arguments.
    pub fn command(&self) -> Command {
        Command::new(&self.clang)
    }

    /// Makes a compiler's command one for the device.
    pub fn offload(&self, command: &mut Command) {
        command.env("LIBRARY_PATH", &self.libraries);
        if self.architecture == HOST {
            command.arg("-fopenmp-targets=x86_64-pc-linux-gnu");
            return;
        }
        command.arg(format!("--offload-arch={}", self.architecture)).arg("-foffload-lto");
        command.arg(format!("--cuda-path={}", self.toolkit.display()));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.toolkit.join("bin")).chain(std::env::split_paths(&path));
        if let Ok(joined) = std::env::join_paths(folders) {
            command.env("PATH", joined);
        }
    }

    /// Runs one compilation and gives what came of it; builds at the same time keep their cubins apart.
    pub fn output(&self, command: &mut Command) -> Result<Output> {
        let cubin = tempfile::NamedTempFile::new()?;
        command.env("OMPSPLIT_CUBIN", cubin.path()).output().context("cannot run the compiler")
    }

    /// Runs one compilation, which must succeed.
    pub fn run(&self, command: &mut Command) -> Result<()> {
        let output = self.output(command)?;
        anyhow::ensure!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Compiles a library that stands before the CUDA driver, from a C file that may be empty. It is linked with an empty
    /// library of the driver's name, made in `work`, so that the loader puts the real one behind it.
    pub fn compile_before_driver(&self, source: &Path, work: &Path, library: &Path) -> Result<()> {
        let driver = work.join("libcuda.so.1");
        let shared = || {
            let mut command = self.command();
            command.args(["-Wall", "-Wextra", "-Werror", "-O2", "-fPIC", "-shared", "-x", "c"]);
            command
        };
        self.run(shared().args(["-Wl,-soname,libcuda.so.1", "/dev/null", "-o"]).arg(&driver))?;
        self.run(shared().arg(source).args(["-Wl,--no-as-needed", "-x", "none"]).arg(driver).arg("-o").arg(library))
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
