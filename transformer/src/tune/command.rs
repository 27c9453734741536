//! The user's commands: where they run, for how long, and what they print.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::validate::host::{Run, describe};
use crate::validate::interrupt;

/// The most that a program may print; one that prints without end must not fill the disk.
const MOST_PRINTED: u64 = 1 << 28;

/// A command of a shell.
#[derive(Clone, Debug)]
pub struct Shell<'a> {
    /// The command, as `sh -c` takes it.
    pub line: &'a str,
    /// The folder it runs in.
    pub folder: &'a Path,
    /// Variables added to the environment.
    pub environment: &'a [(OsString, OsString)],
    /// The file that is its standard input, which is empty if there is none.
    pub stdin: Option<&'a Path>,
    /// The longest that it may take.
    pub limit: Duration,
}

impl Shell<'_> {
    /// Runs it, and kills it with all that it started when its time is over. Gives what it printed, and how long it took.
    ///
    /// # Errors
    /// When no shell can be started.
    pub fn run(&self) -> io::Result<(Run, Duration)> {
        let scratch = interrupt::folder()?;
        let (stdout, stderr) = (scratch.path().join("stdout"), scratch.path().join("stderr"));
        let stdin = self.stdin.map_or_else(|| Ok(Stdio::null()), |path| File::open(path).map(Stdio::from))?;
        let mut command = Command::new("sh");
        command.arg("-c").arg(self.line).current_dir(self.folder).stdin(stdin);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        // Files instead of pipes: what prints much cannot block, and nothing has to be read while it runs.
        command.stdout(File::create(&stdout)?).stderr(File::create(&stderr)?);
        let started = Instant::now();
        let (mut child, _running) = interrupt::spawn(&mut command)?;
        let printed = |path: &Path| fs::metadata(path).map_or(0, |data| data.len());
        let end = loop {
            if let Some(status) = child.try_wait()? {
                break describe(status);
            }
            if started.elapsed() > self.limit {
                interrupt::kill(&mut child)?;
                break format!("no end after {:.1} s", self.limit.as_secs_f64());
            }
            if printed(&stdout).max(printed(&stderr)) > MOST_PRINTED {
                interrupt::kill(&mut child)?;
                break format!("more than {MOST_PRINTED} bytes printed");
            }
            std::thread::sleep(Duration::from_micros(500));
        };
        let took = started.elapsed();
        Ok((Run { stdout: fs::read(&stdout)?, stderr: fs::read(&stderr)?, end, files: Vec::new() }, took))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn run(line: &str, limit: u64) -> Run {
        let folder = tempfile::tempdir().unwrap();
        let environment = [("WORD".into(), "seven".into())];
        let limit = Duration::from_millis(limit);
        Shell { line, folder: folder.path(), environment: &environment, stdin: None, limit }.run().unwrap().0
    }

    #[cfg(unix)]
    #[test]
    fn a_command_has_its_environment_and_an_end() {
        let run = run("echo $WORD; echo wrong >&2; cat; exit 3", 60_000);
        assert_eq!(
            (run.stdout.as_slice(), run.stderr.as_slice(), run.end.as_str()),
            (&b"seven\n"[..], &b"wrong\n"[..], "exit 3")
        );
    }

    #[cfg(unix)]
    #[test]
    fn what_hangs_is_killed() {
        assert_eq!(run("exec sleep 60", 100).end, "no end after 0.1 s");
        assert!(run("kill -9 $$", 60_000).end.starts_with("signal 9"));
    }
}
