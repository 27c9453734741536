//! Programs for clang's x86_64 offload device, which has a data environment of its own: a missing transfer gives stale
//! data there, as on a GPU.

use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use ompsplit::device::pinned_memory::{HEADER, HEADER_NAME};
use ompsplit::validate::clang::Clang;
use ompsplit::validate::host::directives::directives;
use ompsplit::validate::host::{Geometry, LOG, remove_images};

use super::fixtures::Fixture;
use super::patience::Patience;

/// libomp 19 fails this assertion of its own now and then on a busy machine, whatever the program.
const RUNTIME_FAULT: &str = "Assertion failure at kmp_barrier.cpp";

/// The linker does not check that the offload runtime's libraries find every name: that took half of the time of a build.
const QUICK_LINK: &str = "-Wl,--allow-shlib-undefined";

/// Stands behind the header in the tests.
const CHECKED_PINS: &str = include_str!("checked_pins.h");

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
    /// The library of `late_tasks.c`.
    late_tasks: PathBuf,
}

/// A program that was built.
#[derive(Debug)]
pub struct Program {
    folder: PathBuf,
    runtime: PathBuf,
    late_tasks: PathBuf,
    build: String,
    /// When it was made, by the clock of a file system.
    since: SystemTime,
}

/// What clang 19's x86_64 device leaves of each run is removed.
impl Drop for Program {
    fn drop(&mut self) {
        remove_images(&self.folder.join("program"), self.since);
    }
}

/// How a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// In this grid.
    Grid(Geometry),
    /// In this grid; the runtime writes down every kernel, map and copy on stderr.
    Logged(Geometry),
    /// In this grid; deferred tasks begin late.
    Late(Geometry),
    /// On the host, with this schedule and number of threads, where [`Builder::build_for_threads`] built it.
    Threads(&'static str, u32),
}

/// What a run gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// What it printed.
    pub stdout: Vec<u8>,
    /// `exit 0`, `signal 6`, `no end after 30 s of work`.
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
        let builder = Self { clang, runtime, late_tasks: PathBuf::new() };
        Ok(Self { late_tasks: builder.late_tasks()?, ..builder })
    }

    /// The compiler's version.
    pub fn version(&self) -> &str {
        self.clang.version()
    }

    /// Builds `text` as a variant (`before`, `after`, ..) of a fixture.
    pub fn build(&self, fixture: &Fixture, variant: &str, text: &[u8], flags: &[&str]) -> Result<Program, String> {
        let device = ["-gline-tables-only", "-O1", "-fopenmp-targets=x86_64-pc-linux-gnu"];
        self.build_with(fixture, variant, text, &[&device, flags].concat())
    }

    /// What the compiler says against a text, without making a program of it.
    pub fn errors(&self, fixture: &Fixture, text: &[u8]) -> Result<Option<String>, String> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("offload").join(&fixture.name).join("syntax");
        let program = self.program(folder, String::new());
        let name = fixture.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut arguments = ["-w", "-fopenmp", "-fsyntax-only"].map(str::to_owned).to_vec();
        if fixture.is_cpp() {
            arguments.push("--driver-mode=g++".to_owned());
        }
        arguments.extend(fixture.flags.iter().cloned());
        arguments.push(name.clone());
        self.compile(&program, &name, text, &arguments, text.to_vec())
    }

    /// Builds `text` for the host alone, with ThreadSanitizer.
    pub fn build_for_threads(&self, fixture: &Fixture, variant: &str, text: &[u8]) -> Result<Program, String> {
        self.build_with(fixture, variant, text, &["-O0", "-fsanitize=thread"])
    }

    fn build_with(&self, fixture: &Fixture, variant: &str, original: &[u8], flags: &[&str]) -> Result<Program, String> {
        // Built in its folder under its plain name, so that `__FILE__` is the same in every variant.
        let name = fixture.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut arguments: Vec<String> = Vec::new();
        if fixture.is_cpp() {
            arguments.push("--driver-mode=g++".to_owned());
        }
        arguments.extend(["-w", "-fopenmp"].map(str::to_owned));
        arguments.extend(flags.iter().map(|flag| (*flag).to_owned()));
        arguments.extend(fixture.flags.iter().cloned());
        arguments.extend(["-iquote".to_owned(), fixture.folder().display().to_string(), name.clone()]);
        arguments.extend(["-o", "program", "-lm", QUICK_LINK].map(str::to_owned));
        let text = &*with_numbered_teams(original);
        if text != original {
            arguments.extend(["-include", "stdlib.h"].map(str::to_owned));
        }
        if memchr::memmem::find(text, LATE.as_bytes()).is_some() {
            arguments.extend(["-include", "unistd.h"].map(str::to_owned));
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("offload").join(&fixture.name).join(variant);
        let build =
            format!("cd {} && {:?} {}", folder.display(), self.clang.command().get_program(), arguments.join(" "));
        let program = self.program(folder, build);
        let key = self.key(fixture, &program.build, text)?;
        match self.compile(&program, &name, text, &arguments, key)? {
            None => Ok(program),
            Some(said) => Err(format!("{variant} does not compile:\n{said}\nrepeat: {}", program.build)),
        }
    }

    /// Compiles `text` in the program's folder where that was not done yet; what the compiler says if it fails.
    fn compile(
        &self,
        program: &Program,
        name: &str,
        text: &[u8],
        arguments: &[String],
        key: Vec<u8>,
    ) -> Result<Option<String>, String> {
        let folder = &program.folder;
        let io = |error: std::io::Error| format!("{}: {error}", folder.display());
        std::fs::create_dir_all(folder).map_err(io)?;
        let key_file = folder.join("built-from");
        if folder.join("program").exists() && std::fs::read(&key_file).is_ok_and(|old| old == key) {
            return Ok(None);
        }
        std::fs::write(folder.join(name), text).map_err(io)?;
        std::fs::write(folder.join(HEADER_NAME), [HEADER, CHECKED_PINS].concat()).map_err(io)?;
        let mut command = self.clang.command();
        command.args(arguments).current_dir(folder).env("LIBRARY_PATH", &self.runtime);
        let output = command.output().map_err(io)?;
        if !output.status.success() {
            return Ok(Some(String::from_utf8_lossy(&output.stderr).lines().take(30).collect::<Vec<_>>().join("\n")));
        }
        std::fs::write(&key_file, key).map_err(io)?;
        Ok(None)
    }

    /// A program that is not built yet.
    fn program(&self, folder: PathBuf, build: String) -> Program {
        let (runtime, late_tasks) = (self.runtime.clone(), self.late_tasks.clone());
        // File systems count time more coarsely than clocks do.
        let since = SystemTime::now() - Duration::from_secs(2);
        Program { folder, runtime, late_tasks, build, since }
    }

    /// The tool that lets deferred tasks begin late.
    fn late_tasks(&self) -> Result<PathBuf, String> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("offload").join("late_tasks");
        let program = self.program(folder.clone(), String::new());
        let text = include_bytes!("late_tasks.c");
        let arguments = ["-shared", "-fPIC", "-O1", "late_tasks.c", "-o", "program"].map(str::to_owned);
        match self.compile(&program, "late_tasks.c", text, &arguments, text.to_vec())? {
            None => Ok(folder.join("program")),
            Some(said) => Err(format!("late_tasks.c does not compile:\n{said}")),
        }
    }

    /// All that the built program depends on: command, compiler, text, and the headers beside the fixture.
    pub fn key(&self, fixture: &Fixture, command: &str, text: &[u8]) -> Result<Vec<u8>, String> {
        let mut key = format!("{command}\n{}\n", self.clang.version()).into_bytes();
        key.extend_from_slice(text);
        if memchr::memmem::find(text, HEADER_NAME.as_bytes()).is_some() {
            key.extend_from_slice([HEADER, CHECKED_PINS].concat().as_bytes());
        }
        let text_of = |path: &PathBuf| std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
        let mut headers = beside(fixture.folder());
        // Those that the text names, and those that these name.
        while let Some(at) = headers.iter().position(|header| is_named(header, &key)) {
            key.extend(text_of(&headers.remove(at))?);
        }
        Ok(key)
    }
}

impl Program {
    /// Runs it with this grid. With `log`, the runtime writes down every kernel, map and copy on stderr.
    pub fn run(&self, geometry: Geometry, log: bool) -> Result<Run, String> {
        self.run_parts(&[], if log { How::Logged(geometry) } else { How::Grid(geometry) })
    }

    /// Runs it with arguments, which say of a program of many parts which of them it runs.
    pub fn run_parts(&self, arguments: &[String], how: How) -> Result<Run, String> {
        let mut environment = match how {
            How::Grid(geometry) | How::Logged(geometry) | How::Late(geometry) => geometry.environment(),
            How::Threads(schedule, threads) => self.race_environment(schedule, threads),
        };
        match how {
            How::Logged(_) => environment.push(("LIBOMPTARGET_INFO", LOG.to_owned())),
            How::Late(_) => environment.push(("OMP_TOOL_LIBRARIES", self.late_tasks.display().to_string())),
            How::Grid(_) | How::Threads(..) => {}
        }
        self.run_with(arguments, environment)
    }

    /// What makes ThreadSanitizer know of OpenMP, and report each race on stderr.
    fn race_environment(&self, schedule: &str, threads: u32) -> Vec<(&'static str, String)> {
        vec![
            ("OMP_TARGET_OFFLOAD", "DISABLED".to_owned()),
            ("OMP_WAIT_POLICY", "passive".to_owned()),
            ("OMP_NUM_THREADS", threads.to_string()),
            ("OMP_NUM_TEAMS", "1".to_owned()),
            ("OMP_SCHEDULE", schedule.to_owned()),
            ("OMP_TOOL_LIBRARIES", self.runtime.join("libarcher.so").display().to_string()),
            ("TSAN_OPTIONS", "ignore_noninstrumented_modules=1 exitcode=0 symbolize=0".to_owned()),
        ]
    }

    /// Runs it on the host alone, with one thread.
    pub fn run_on_host(&self) -> Result<Run, String> {
        let settings = [("OMP_TARGET_OFFLOAD", "DISABLED"), ("OMP_NUM_THREADS", "1"), ("OMP_NUM_TEAMS", "1")];
        self.run_with(&[], settings.map(|(name, value)| (name, value.to_owned())).to_vec())
    }

    /// Runs it, and again where the runtime gave up for a reason of its own. On a busy machine libomp 19 also faults now and then when a
    /// program ends while its last threads still start (5 in 1,000 runs of a pipeline), and where it makes the task of a `target nowait`
    /// (in some programs in 1 of 5 runs, in `__kmpc_omp_task`): a fault of the program's own stays.
    fn run_with(&self, arguments: &[String], environment: Vec<(&'static str, String)>) -> Result<Run, String> {
        let mut run = self.run_once(arguments, &environment)?;
        for _ in 0..7 {
            if !run.stderr.contains(RUNTIME_FAULT) && !run.end.starts_with("signal") {
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
        let mut patience = Patience::new();
        let end = loop {
            if let Some(status) = child.try_wait().map_err(io)? {
                break describe(status);
            }
            if let Some(lost) = patience.lost(&child) {
                child.kill().map_err(io)?;
                child.wait().map_err(io)?;
                break lost;
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

/// The headers in a folder, in order.
fn beside(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).map(|entries| entries.flatten().collect::<Vec<_>>());
    let mut headers: Vec<PathBuf> = entries.unwrap_or_default().iter().map(std::fs::DirEntry::path).collect();
    headers.retain(|path| path.extension().is_some_and(|ending| ending == "h" || ending == "hpp"));
    headers.sort();
    headers
}

fn is_named(header: &Path, text: &[u8]) -> bool {
    let name = header.file_name().unwrap_or_default().to_string_lossy().into_owned();
    memchr::memmem::find(text, name.as_bytes()).is_some()
}

/// Kernels that several threads of the host launch say how many teams they have: libomp 19 otherwise takes the number that a
/// thread had when it last led a team, and fails an assertion (`kmp_csupport.cpp`).
fn with_numbered_teams(text: &[u8]) -> Cow<'_, [u8]> {
    const NAMES: [&str; 3] =
        ["target teams distribute parallel for simd", "target teams distribute parallel for", "target teams loop"];
    if memchr::memmem::find(text, HEADER_NAME.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::new();
    let mut copied = 0;
    for directive in directives(text) {
        let said = String::from_utf8_lossy(text.get(directive.clone()).unwrap_or_default()).into_owned();
        let start = said.len() - said.trim_start().len();
        let name = NAMES.into_iter().find(|name| said[start..].starts_with(name));
        if let Some(name) = name.filter(|_| !said.contains("num_teams")) {
            let at = directive.start + start + name.len();
            out.extend_from_slice(text.get(copied..at).unwrap_or_default());
            out.extend_from_slice(b" num_teams(atoi(getenv(\"OMP_NUM_TEAMS\")))");
            copied = at;
        }
    }
    out.extend_from_slice(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// The call that lets a tile begin late.
const LATE: &str = "usleep(tile_late);";

/// A copy of a text in which some tiles of pipelines, and some sections with copies or kernels, begin late: what nobody waits for is then
/// not there. Nothing where it has none.
pub fn with_late_tiles(text: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(text);
    let mut out = String::new();
    let (mut late, mut in_sections, mut begins_section) = (false, false, false);
    let mut sections = 0;
    let mut found = false;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if begins_section {
            let delay = format!("const unsigned tile_late = {}; {LATE}", (sections * 7 + 3) % 5 * 500);
            match trimmed {
                "{" => out.push_str(&format!("{line}{delay}\n")),
                _ if trimmed.ends_with('\\') => out.push_str(line),
                _ => out.push_str(&format!("{{ {delay}\n{line}}}\n")),
            }
            sections += 1;
            begins_section = false;
            continue;
        }
        begins_section = in_sections && trimmed == "#pragma omp section";
        out.push_str(line);
        if late && trimmed.starts_with("for (int ") && trimmed.ends_with('{') {
            let tile = trimmed.split([' ', '=']).nth(2).unwrap_or("tile");
            out.push_str(&format!("const unsigned tile_late = ({tile} * 7 + 3) % 5 * 500; {LATE}\n"));
            found = true;
        }
        late = trimmed.starts_with("#pragma omp parallel for num_threads(");
        in_sections |= trimmed.starts_with("#pragma omp parallel sections num_threads(ompsplit_threads(");
    }
    (found || sections > 0).then(|| out.into_bytes())
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
