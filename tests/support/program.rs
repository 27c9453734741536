//! Programs for clang's x86_64 offload device, which has a data environment of its own: a missing transfer gives stale
//! data there, as on a GPU.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ompsplit::validate::clang::Clang;
use ompsplit::validate::host::{Geometry, LOG};

use super::fixtures::Fixture;

/// The longest that one run may take; the limits of a program that hangs.
const LONGEST_RUN: Duration = Duration::from_secs(30);

/// libomp 19 fails this assertion of its own now and then on a busy machine, whatever the program.
const RUNTIME_FAULT: &str = "Assertion failure at kmp_barrier.cpp";

/// The grids that every program runs with, and how often: several repetitions of the one in which races show.
pub const GEOMETRIES: &[(Geometry, usize)] = &[
    (Geometry { teams: 4, threads: 4 }, 3),
    (Geometry { teams: 1, threads: 1 }, 1),
    (Geometry { teams: 2, threads: 3 }, 1),
    (Geometry { teams: 7, threads: 2 }, 1),
    (Geometry { teams: 3, threads: 8 }, 1),
];

/// Builds programs; keeps them under cargo's folder for test files, so that a failure can be looked at and an unchanged
/// program need not be built again.
#[derive(Debug)]
pub struct Builder {
    clang: Clang,
    runtime: PathBuf,
}

/// A program that was built.
#[derive(Debug)]
pub struct Program {
    folder: PathBuf,
    runtime: PathBuf,
    build: String,
}

/// What a run gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// What it printed.
    pub stdout: Vec<u8>,
    /// `exit 0`, `signal 6`, `no end after 30 s`.
    pub end: String,
    /// What it and the runtime said on stderr.
    pub stderr: String,
}

impl Builder {
    /// Finds clang and its offload runtime; the error says what to install.
    pub fn new() -> Result<Self, String> {
        let clang = Clang::find().map_err(|error| error.to_string())?;
        let printed = clang.command().arg("-print-file-name=libomptarget.so").output().map_err(|e| e.to_string())?;
        let library = PathBuf::from(String::from_utf8_lossy(&printed.stdout).trim());
        let library = library.canonicalize().map_err(|_| {
            "no libomptarget.so for this clang: install `libomp-19-dev` (apt-get install libomp-19-dev)".to_owned()
        })?;
        let runtime = library.parent().map(Path::to_path_buf).unwrap_or_default();
        Ok(Self { clang, runtime })
    }

    /// Builds `text` as a variant (`before`, `after`, ..) of a fixture.
    pub fn build(&self, fixture: &Fixture, variant: &str, text: &[u8], flags: &[&str]) -> Result<Program, String> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("offload").join(&fixture.name).join(variant);
        let io = |error: std::io::Error| format!("{}: {error}", folder.display());
        std::fs::create_dir_all(&folder).map_err(io)?;
        // Built in its folder under its plain name, so that `__FILE__` is the same in every variant.
        let name = fixture.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut arguments: Vec<String> = Vec::new();
        if fixture.is_cpp() {
            arguments.push("--driver-mode=g++".to_owned());
        }
        arguments.extend(["-g", "-O1", "-w", "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu"].map(str::to_owned));
        arguments.extend(fixture.flags.iter().cloned());
        arguments.extend(flags.iter().map(|flag| (*flag).to_owned()));
        arguments.extend(["-iquote".to_owned(), fixture.folder().display().to_string(), name.clone()]);
        arguments.extend(["-o", "program", "-lm"].map(str::to_owned));

        let build =
            format!("cd {} && {:?} {}", folder.display(), self.clang.command().get_program(), arguments.join(" "));
        let program = Program { folder: folder.clone(), runtime: self.runtime.clone(), build };
        let key = self.key(fixture, &program.build, text)?;
        let key_file = folder.join("built-from");
        if folder.join("program").exists() && std::fs::read(&key_file).is_ok_and(|old| old == key) {
            return Ok(program);
        }
        std::fs::write(folder.join(&name), text).map_err(io)?;
        let mut command = self.clang.command();
        command.args(&arguments).current_dir(&folder).env("LIBRARY_PATH", &self.runtime);
        let output = command.output().map_err(io)?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).lines().take(30).collect::<Vec<_>>().join("\n");
            return Err(format!("{variant} does not compile:\n{said}\nrepeat: {}", program.build));
        }
        std::fs::write(&key_file, key).map_err(io)?;
        Ok(program)
    }

    /// All that the built program depends on: command, compiler, text, and the headers beside the fixture.
    fn key(&self, fixture: &Fixture, command: &str, text: &[u8]) -> Result<Vec<u8>, String> {
        let mut key = format!("{command}\n{}\n", self.clang.version()).into_bytes();
        key.extend_from_slice(text);
        let beside = std::fs::read_dir(fixture.folder()).map(|entries| entries.flatten().collect::<Vec<_>>());
        let mut headers: Vec<PathBuf> = beside.unwrap_or_default().iter().map(std::fs::DirEntry::path).collect();
        headers.retain(|path| path.extension().is_some_and(|ending| ending == "h" || ending == "hpp"));
        headers.sort();
        for header in headers {
            key.extend(std::fs::read(&header).map_err(|error| format!("{}: {error}", header.display()))?);
        }
        Ok(key)
    }
}

impl Program {
    /// Runs it with this grid. With `log`, the runtime writes down every kernel, map and copy on stderr.
    pub fn run(&self, geometry: Geometry, log: bool) -> Result<Run, String> {
        let mut environment = geometry.environment();
        if log {
            environment.push(("LIBOMPTARGET_INFO", LOG.to_owned()));
        }
        self.run_with(&[], environment)
    }

    /// The same for a program of many parts, which takes arguments that say which of them it runs.
    pub fn run_parts(&self, arguments: &[String], geometry: Geometry, log: bool) -> Result<Run, String> {
        let mut environment = geometry.environment();
        if log {
            environment.push(("LIBOMPTARGET_INFO", LOG.to_owned()));
        }
        self.run_with(arguments, environment)
    }

    /// Runs it on the host alone, with one thread.
    pub fn run_on_host(&self) -> Result<Run, String> {
        let settings = [("OMP_TARGET_OFFLOAD", "DISABLED"), ("OMP_NUM_THREADS", "1"), ("OMP_NUM_TEAMS", "1")];
        self.run_with(&[], settings.map(|(name, value)| (name, value.to_owned())).to_vec())
    }

    /// Runs it, and again where the runtime gave up for a reason of its own.
    fn run_with(&self, arguments: &[String], environment: Vec<(&'static str, String)>) -> Result<Run, String> {
        let mut run = self.run_once(arguments, &environment)?;
        for _ in 0..2 {
            if !run.stderr.contains(RUNTIME_FAULT) {
                break;
            }
            run = self.run_once(arguments, &environment)?;
        }
        Ok(run)
    }

    fn run_once(&self, arguments: &[String], environment: &[(&'static str, String)]) -> Result<Run, String> {
        let io = |error: std::io::Error| format!("{}: {error}", self.folder.display());
        let (stdout, stderr) = (self.folder.join("stdout"), self.folder.join("stderr"));
        let mut command = Command::new(self.folder.join("program"));
        command.args(arguments).current_dir(&self.folder);
        command.envs(environment.iter().map(|(name, value)| (name, value))).env("LD_LIBRARY_PATH", &self.runtime);
        // Files instead of pipes: a program that prints much cannot block, and none has to be read while it runs.
        command.stdin(Stdio::null()).stdout(File::create(&stdout).map_err(io)?);
        command.stderr(File::create(&stderr).map_err(io)?);
        let mut child = command.spawn().map_err(io)?;
        let started = Instant::now();
        let end = loop {
            if let Some(status) = child.try_wait().map_err(io)? {
                break describe(status);
            }
            if started.elapsed() > LONGEST_RUN {
                child.kill().map_err(io)?;
                child.wait().map_err(io)?;
                break format!("no end after {} s", LONGEST_RUN.as_secs());
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let stderr = std::fs::read(&stderr).map_err(io)?;
        let stdout = std::fs::read(&stdout).map_err(io)?;
        Ok(Run { stdout, end, stderr: String::from_utf8_lossy(&stderr).into_owned() })
    }

    /// What to type to build and run it again.
    pub fn repeat(&self, geometry: Geometry) -> String {
        let environment: Vec<String> =
            geometry.environment().iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{} && LD_LIBRARY_PATH={} {} ./program", self.build, self.runtime.display(), environment.join(" "))
    }
}

#[cfg(unix)]
fn describe(status: std::process::ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no status".to_owned(),
    }
}

#[cfg(not(unix))]
fn describe(status: std::process::ExitStatus) -> String {
    status.to_string()
}
