//! The device's own clock: a library that stands between LLVM's offload runtime and the CUDA driver, and times each kernel by events.
//!
//! Its source is a part of this program and is compiled once for each run of `tune`. Where it cannot be compiled, or no kernel goes through
//! it (another device, another runtime), the time of the whole program counts, which holds the host's part and what other processes do.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::validate::clang::Clang;
use crate::validate::interrupt;

/// The library's source, and what it includes.
const SOURCES: [(&str, &str); 5] = [
    ("device_clock.c", include_str!("device_clock.c")),
    ("device_replay.c", include_str!("device_replay.c")),
    ("device_plans.c", include_str!("device_plans.c")),
    ("device_driver.c", include_str!("device_driver.c")),
    ("device_memory.c", include_str!("device_memory.c")),
];
/// The variable that names the folder to which it writes.
const FOLDER: &str = "OMPSPLIT_CLOCK";
/// The variable that names the file with the grids that are tried in one run.
const REPLAY: &str = "OMPSPLIT_REPLAY";
/// What the names of kernels begin with in LLVM's runtimes.
const PREFIX: &str = "__omp_offloading_";

/// A compiled clock.
#[derive(Clone, Debug)]
pub struct Clock {
    /// The folder that holds `libcuda.so`.
    folder: PathBuf,
}

/// The times that the clock wrote.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// Microseconds and launches of each kernel, by its name.
    pub kernels: BTreeMap<String, (f64, u64)>,
    /// Microseconds of all copies.
    pub copies: f64,
    /// Launches that were made again in other grids.
    pub replays: Vec<Replay>,
    /// The lines of kernels that could not be launched again, each with the reason.
    pub refused: BTreeMap<usize, String>,
}

/// One launch of a kernel in a grid that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The line of the kernel.
    pub line: usize,
    /// The process that launched it, and which launch of the kernel there it was: that of all grids had the same work.
    pub launch: (usize, u64),
    /// The threads of a team, and the most teams.
    pub grid: (u32, u64),
    /// How long it took, in microseconds.
    pub time: f64,
}

/// How the kernels of one file are named: by the file's device and inode when it was compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FileId {
    /// The number of the device that holds the file.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
}

impl Clock {
    /// Compiles the clock into a folder, which is made.
    ///
    /// # Errors
    /// Why it cannot be compiled.
    pub fn compile(folder: &Path) -> Result<Self, String> {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let scratch = interrupt::folder().map_err(|error| error.to_string())?;
        // An empty library of the driver's name, so that the loader puts the real one behind the clock.
        let driver = scratch.path().join("libcuda.so.1");
        let empty = scratch.path().join("empty.c");
        for (name, text) in SOURCES.into_iter().chain([("empty.c", "")]) {
            fs::write(scratch.path().join(name), text).map_err(|error| error.to_string())?;
        }
        let source = scratch.path().join(SOURCES[0].0);
        let shared = |source: &Path| {
            let mut command = compiler();
            command.args(["-O2", "-fPIC", "-shared"]).arg(source);
            command
        };
        run(shared(&empty).arg("-Wl,-soname,libcuda.so.1").arg("-o").arg(&driver))?;
        let library = folder.join("libcuda.so");
        run(shared(&source).arg("-Wl,--no-as-needed").arg(&driver).args(["-ldl", "-lpthread", "-o"]).arg(library))?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// A clock that was compiled before, if it is there.
    #[must_use]
    pub fn at(folder: &Path) -> Option<Self> {
        folder.join("libcuda.so").is_file().then(|| Self { folder: folder.to_owned() })
    }

    /// The variables for a program that is to be timed; its times go to a folder. `replay` is a file with the grids that are tried.
    #[must_use]
    pub fn environment(
        &self,
        times: &Path,
        inherited: Option<&OsStr>,
        replay: Option<&Path>,
    ) -> Vec<(OsString, OsString)> {
        let own = std::iter::once(self.folder.clone());
        let paths = own.chain(inherited.into_iter().flat_map(std::env::split_paths));
        let joined = std::env::join_paths(paths.filter(|path| !path.as_os_str().is_empty()));
        let mut all = vec![(FOLDER.into(), times.into())];
        all.extend(joined.ok().map(|joined| ("LD_LIBRARY_PATH".into(), joined)));
        all.extend(replay.map(|path| (REPLAY.into(), path.into())));
        all
    }
}

/// The compiler that `CC` names, or else clang, or else `cc`.
fn compiler() -> Command {
    let named = std::env::var_os("CC").filter(|name| !name.is_empty()).map(Command::new);
    named.or_else(|| Clang::find().ok().map(|clang| clang.command())).unwrap_or_else(|| Command::new("cc"))
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = interrupt::output(command).map_err(|error| format!("no compiler: {error}"))?;
    let said = || String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned();
    if output.status.success() { Ok(()) } else { Err(said()) }
}

/// Reads what the processes of one run wrote; their times add up. `None` where none wrote anything, or a clock failed.
#[must_use]
pub fn read(folder: &Path) -> Option<Times> {
    let mut times = None;
    for (process, entry) in fs::read_dir(folder).ok()?.flatten().enumerate() {
        let text = fs::read_to_string(entry.path()).ok()?;
        add(&text, process, times.get_or_insert_default())?;
    }
    times.filter(|times| !times.kernels.is_empty())
}

fn add(text: &str, process: usize, times: &mut Times) -> Option<()> {
    for line in text.lines() {
        if let Some((line, why)) = line.strip_prefix("refused ").and_then(|rest| rest.split_once(' ')) {
            times.refused.insert(line.parse().ok()?, why.to_owned());
            continue;
        }
        let mut words = line.split(' ');
        match words.next()? {
            "copies" => times.copies += words.nth(1)?.parse::<f64>().ok()? * 1e3,
            "kernel" => {
                let launches: u64 = words.next()?.parse().ok()?;
                let milliseconds: f64 = words.next()?.parse().ok()?;
                let name = words.nth(2)?.to_owned();
                let sum = times.kernels.entry(name).or_insert((0.0, 0));
                *sum = (sum.0 + milliseconds * 1e3, sum.1 + launches);
            }
            "replay" => times.replays.push(Replay {
                line: words.next()?.parse().ok()?,
                launch: (process, words.next()?.parse().ok()?),
                grid: (words.next()?.parse().ok()?, words.next()?.parse().ok()?),
                time: words.next()?.parse::<f64>().ok()? * 1e3,
            }),
            _ => return None,
        }
    }
    Some(())
}

impl FileId {
    /// The id of a file.
    #[cfg(unix)]
    #[must_use]
    pub fn of(path: &Path) -> Self {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(path).map_or_else(|_| Self::default(), |data| Self { device: data.dev(), inode: data.ino() })
    }

    /// The id of a file.
    #[cfg(not(unix))]
    #[must_use]
    pub fn of(_: &Path) -> Self {
        Self::default()
    }

    /// What the names of its kernels begin with: LLVM takes the last 32 bits of both numbers.
    #[must_use]
    pub fn prefix(self) -> String {
        format!("{PREFIX}{:x}_{:x}_", self.device & 0xffff_ffff, self.inode & 0xffff_ffff)
    }
}

impl Times {
    /// Microseconds of the kernels at each of these lines of a file; `None` where a kernel was not launched, or the file is not known by its
    /// id and kernels of several files stand at one line.
    #[must_use]
    pub fn at(&self, id: FileId, lines: &[usize]) -> Vec<Option<f64>> {
        let prefix = id.prefix();
        let is_known = self.kernels.keys().any(|name| name.starts_with(&prefix));
        let mut files: Vec<&str> = self.kernels.keys().filter_map(|name| file_part(name)).collect();
        files.dedup();
        if !is_known && files.len() > 1 {
            return vec![None; lines.len()];
        }
        let time = |line: &usize| {
            let is_it = |name: &str| (!is_known || name.starts_with(&prefix)) && line_of(name) == Some(*line);
            let found: Vec<f64> =
                self.kernels.iter().filter(|(name, _)| is_it(name)).map(|(_, (time, _))| *time).collect();
            (!found.is_empty()).then(|| found.iter().sum())
        };
        lines.iter().map(time).collect()
    }

    /// Microseconds of all kernels.
    #[must_use]
    pub fn all(&self) -> f64 {
        self.kernels.values().map(|(time, _)| time).sum()
    }
}

/// The part of a kernel's name that tells its file.
fn file_part(name: &str) -> Option<&str> {
    let rest = name.strip_prefix(PREFIX)?;
    let (at, _) = rest.match_indices('_').nth(1)?;
    rest.get(..at)
}

/// The line in a kernel's name: `.._l12`, or `.._l12_1` for the second one of a line.
fn line_of(name: &str) -> Option<usize> {
    let (before, last) = name.rsplit_once('_')?;
    match last.strip_prefix('l').and_then(|digits| digits.parse().ok()) {
        Some(line) => Some(line),
        None if last.bytes().all(|byte| byte.is_ascii_digit()) => {
            before.rsplit_once('_')?.1.strip_prefix('l')?.parse().ok()
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "copies 3 1.5\nkernel 10 2.000000 128 32 __omp_offloading_fd00_1a2b_product_l12\n\
                        kernel 1 0.5 1 1 __omp_offloading_fd00_1a2b__Z3fooi_l40_1\nkernel 1 9 1 1 __omp_offloading_fd00_77_main_l12\n";

    #[test]
    fn kernels_are_told_by_file_and_line() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()), None);
        fs::write(folder.path().join("host.1"), TEXT).unwrap();
        fs::write(folder.path().join("host.2"), TEXT).unwrap();
        let times = read(folder.path()).unwrap();
        assert!((times.copies - 3000.0).abs() < 1e-9);
        let id = FileId { device: 0xfd00, inode: 0x0001_0000_1a2b };
        assert_eq!(times.at(id, &[12, 40, 41]), [Some(4000.0), Some(1000.0), None], "the last 32 bits of an inode");
        assert_eq!(times.at(FileId::default(), &[12]), [None], "it may be the other file's");
        assert!((times.all() - 23_000.0).abs() < 1e-9);
    }

    #[test]
    fn one_file_needs_no_id() {
        let mut times = Times::default();
        add("copies 0 0\nkernel 1 2 1 1 __omp_offloading_fd00_1a2b_product_l12", 0, &mut times).unwrap();
        assert_eq!(times.at(FileId::default(), &[12]), [Some(2000.0)]);
    }

    #[test]
    fn a_clock_that_failed_tells_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("host.1"), format!("broken\n{TEXT}")).unwrap();
        assert_eq!(read(folder.path()), None);
    }
}
