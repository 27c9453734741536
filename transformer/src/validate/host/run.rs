//! One run of a program: where, with what, for how long.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime};

use super::traffic::{LOG, Traffic};
use crate::validate::interrupt;

/// The folder that a program is run in may have at most these bytes, because it is copied.
const MOST_BYTES: u64 = 1 << 30;

/// The most that a program may print; one that prints without end must not fill the disk.
const MOST_PRINTED: u64 = 1 << 28;

/// How a program is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The file that is its standard input, which is empty if there is none.
    pub stdin: Option<PathBuf>,
    /// Variables added to the environment. Those of OpenMP's runtimes are set by the checks.
    pub environment: BTreeMap<String, String>,
    /// The folder in a copy of which it is run. Without one it runs in an empty folder. Each run has its own copy.
    pub folder: Option<PathBuf>,
    /// The longest that one run may take.
    pub timeout: Duration,
}

impl Default for Invocation {
    fn default() -> Self {
        let (arguments, stdin, environment, folder) = Default::default();
        Self { arguments, stdin, environment, folder, timeout: Duration::from_secs(60) }
    }
}

/// How many teams a kernel gets, and how many threads each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// The teams.
    pub teams: u32,
    /// The threads of a team.
    pub threads: u32,
}

impl Geometry {
    /// The environment for a run in this grid. By default the x86_64 device has one team and few threads, which hides
    /// races. Memory that nothing was copied to must hold neither zeros nor old values: the device takes its memory
    /// from the C library, and glibc fills what it gives out by a pattern. In some grids the pattern is a large number
    /// and in others a negative one, so that neither passes for the start of a least or a greatest value.
    #[must_use]
    pub fn environment(self) -> Vec<(&'static str, String)> {
        let pattern = if self.threads > self.teams { 0xc3 } else { 0x3c };
        vec![
            ("OMP_TARGET_OFFLOAD", "MANDATORY".to_owned()),
            ("OMP_WAIT_POLICY", "passive".to_owned()),
            ("KMP_TEAMS_THREAD_LIMIT", "64".to_owned()),
            ("KMP_DEVICE_THREAD_LIMIT", "64".to_owned()),
            // Without it libomp creates the teams of every league anew and spins meanwhile, which takes ten times as
            // long.
            ("KMP_HOT_TEAMS_MAX_LEVEL", "3".to_owned()),
            ("OMP_THREAD_LIMIT", "64".to_owned()),
            ("OMP_NUM_TEAMS", self.teams.to_string()),
            ("OMP_NUM_THREADS", self.threads.to_string()),
            ("OMP_TEAMS_THREAD_LIMIT", self.threads.to_string()),
            ("GLIBC_TUNABLES", format!("glibc.malloc.tcache_count=0:glibc.malloc.perturb={pattern}")),
            ("LIBOMPTARGET_MEMORY_MANAGER_THRESHOLD", "0".to_owned()),
        ]
    }
}

/// The results of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it and the runtime wrote to standard error; empty if the log was read instead.
    pub stderr: Vec<u8>,
    /// `exit 0`, `signal 6`, `no end after 30 s`.
    pub end: String,
    /// The files that were asked for, in that order.
    pub files: Vec<Option<Vec<u8>>>,
}

impl Run {
    /// Did it end by itself?
    #[must_use]
    pub fn exited(&self) -> bool {
        self.end.starts_with("exit ")
    }
}

/// A program that was built, and how it is called.
pub(super) struct Executable<'a> {
    /// The program.
    pub program: PathBuf,
    /// The folder of the offload runtime.
    pub runtime: &'a Path,
    /// How it is called.
    pub invocation: &'a Invocation,
    /// The files it writes that are compared, relative to the folder it runs in.
    pub files: &'a [PathBuf],
    /// Files that its runs leave elsewhere.
    pub _images: Images,
}

/// clang 19's x86_64 device writes the image that it loads to a file of its own and leaves it there. The files with an
/// image of this program are removed: debug information makes the images of every program different.
pub(super) struct Images {
    program: PathBuf,
    since: SystemTime,
    /// A signal removes them too.
    _removal: interrupt::Removal,
}

impl Images {
    /// The images of a program that was built at that time.
    pub(super) fn of(program: &Path, since: SystemTime) -> Self {
        let program = program.to_path_buf();
        let on_signal = program.clone();
        Self { program, since, _removal: interrupt::on_signal(move || remove_images(&on_signal, since)) }
    }
}

impl Drop for Images {
    fn drop(&mut self) {
        remove_images(&self.program, self.since);
    }
}

/// Removes the files with an image of a program that clang 19's x86_64 device left since then.
pub fn remove_images(program: &Path, since: SystemTime) {
    let Ok(program) = fs::read(program) else { return };
    let Ok(entries) = fs::read_dir(Path::new("/").join("tmp")) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with("tmpfile_")) {
        let recent = entry
            .metadata()
            .is_ok_and(|data| data.is_file() && data.len() > 0 && data.modified().is_ok_and(|time| time >= since));
        if recent && fs::read(entry.path()).is_ok_and(|image| memchr::memmem::find(&program, &image).is_some()) {
            // Files that cannot be removed stay.
            drop(fs::remove_file(entry.path()));
        }
    }
}

impl Executable<'_> {
    /// Runs it with these variables, for up to `patience` times the usual limit. It is run again if a signal ends it,
    /// since libomp 19 sometimes crashes when a program ends while its last threads still start.
    pub(super) fn run(&self, environment: &[(&str, String)], patience: u32) -> Result<Run, Error> {
        let mut run = self.run_once(environment, patience)?;
        for _ in 0..2 {
            if !run.end.starts_with("signal") {
                break;
            }
            run = self.run_once(environment, patience)?;
        }
        Ok(run)
    }

    fn run_once(&self, environment: &[(&str, String)], patience: u32) -> Result<Run, Error> {
        let scratch = interrupt::folder()?;
        let stderr = scratch.path().join("stderr");
        let mut command = self.command(scratch.path(), environment)?;
        let (mut child, _running) = interrupt::spawn(command.stderr(File::create(&stderr)?))?;
        let end = wait(&mut child, scratch.path(), self.invocation.timeout * patience)?;
        self.collect(scratch.path(), end, fs::read(&stderr)?)
    }

    /// Runs it in this grid and reads the runtime's log meanwhile.
    pub(super) fn run_logged(&self, geometry: Geometry) -> Result<(Run, Traffic), Error> {
        let scratch = interrupt::folder()?;
        let mut environment = geometry.environment();
        environment.push(("LIBOMPTARGET_INFO", LOG.to_owned()));
        // A pipe, for a log may be larger than a disk.
        let (mut child, _running) =
            interrupt::spawn(self.command(scratch.path(), &environment)?.stderr(Stdio::piped()))?;
        let log = child.stderr.take().ok_or(ErrorKind::BrokenPipe)?;
        let (send, receive) = mpsc::channel();
        std::thread::spawn(move || drop(send.send(Traffic::read(BufReader::new(log)))));
        let end = wait(&mut child, scratch.path(), self.invocation.timeout)?;
        // A process that the program left behind may keep the pipe open.
        let traffic = receive.recv_timeout(Duration::from_secs(10)).map_err(|_| ErrorKind::TimedOut)?;
        Ok((self.collect(scratch.path(), end, Vec::new())?, traffic))
    }

    fn command(&self, scratch: &Path, environment: &[(&str, String)]) -> Result<Command, Error> {
        let folder = scratch.join("run");
        fs::create_dir(&folder)?;
        if let Some(from) = &self.invocation.folder {
            copy_folder(from, &folder, &mut MOST_BYTES.clone())?;
        }
        let mut command = Command::new(&self.program);
        set_name(&mut command);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["OMP_", "KMP_", "LIBOMPTARGET_", "TSAN_", "ARCHER_"].iter().any(|prefix| text.starts_with(prefix)) {
                command.env_remove(&name);
            }
        }
        command.args(&self.invocation.arguments).current_dir(&folder);
        command.env("LD_LIBRARY_PATH", self.library_path()?);
        command.envs(&self.invocation.environment).envs(environment.iter().map(|(name, value)| (name, value)));
        let stdin =
            self.invocation.stdin.as_ref().map_or_else(|| Ok(Stdio::null()), |path| File::open(path).map(Stdio::from));
        // A file instead of a pipe: a program that prints much cannot block, and nothing has to be read while it runs.
        command.stdin(stdin?).stdout(File::create(scratch.join("stdout"))?);
        Ok(command)
    }

    /// The folder of the offload runtime, before the user's own library folders.
    fn library_path(&self) -> Result<std::ffi::OsString, Error> {
        let inherited = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let own = std::iter::once(self.runtime.to_path_buf());
        let paths = own.chain(std::env::split_paths(&inherited)).filter(|path| !path.as_os_str().is_empty());
        std::env::join_paths(paths).map_err(|error| Error::new(ErrorKind::InvalidInput, error))
    }

    fn collect(&self, scratch: &Path, end: String, stderr: Vec<u8>) -> Result<Run, Error> {
        let files = self.files.iter().map(|name| fs::read(scratch.join("run").join(name)).ok()).collect();
        Ok(Run { stdout: fs::read(scratch.join("stdout"))?, stderr, end, files })
    }
}

/// Waits for a program, and kills it after `timeout` or if it prints too much. Returns how it ended.
fn wait(child: &mut Child, scratch: &Path, timeout: Duration) -> Result<String, Error> {
    let started = Instant::now();
    let printed = |name: &str| fs::metadata(scratch.join(name)).map_or(0, |data| data.len());
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(describe(status));
        }
        if started.elapsed() > timeout {
            child.kill()?;
            child.wait()?;
            return Ok(format!("no end after {} s", timeout.as_secs_f64()));
        }
        if printed("stdout").max(printed("stderr")) > MOST_PRINTED {
            child.kill()?;
            child.wait()?;
            return Ok(format!("more than {MOST_PRINTED} bytes printed"));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Copies what is in a folder; symbolic links are followed.
fn copy_folder(from: &Path, to: &Path, left: &mut u64) -> Result<(), Error> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        // A link that leads nowhere, or to a folder above, is no input.
        let Ok(metadata) = fs::metadata(&path) else { continue };
        if metadata.is_dir() && entry.file_type()?.is_dir() {
            fs::create_dir(&target)?;
            copy_folder(&path, &target, left)?;
        } else if metadata.is_file() {
            let too_large = || Error::other(format!("{} holds more than {MOST_BYTES} bytes", from.display()));
            *left = left.checked_sub(metadata.len()).ok_or_else(too_large)?;
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

/// All variants have the same name, since a program may print it.
#[cfg(unix)]
fn set_name(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.arg0("./program");
}

#[cfg(not(unix))]
fn set_name(_: &mut Command) {}

/// How a process ended: `exit 0`, `signal 6`.
#[cfg(unix)]
#[must_use]
pub fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no status".to_owned(),
    }
}

/// How a process ended.
#[cfg(not(unix))]
#[must_use]
pub fn describe(status: ExitStatus) -> String {
    status.to_string()
}
