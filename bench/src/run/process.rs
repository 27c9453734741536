//! One variant as a running process that obeys the commands of `harness/main.c`.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// How long one command may take before the variant counts as hung.
const PATIENCE: Duration = Duration::from_secs(60);
/// Words of the harness around the log of one run.
const LOG_BEGIN: &str = "inspect begin";
const LOG_END: &str = "inspect end";

/// A running variant.
pub struct Process {
    child: Child,
    commands: ChildStdin,
    answers: Receiver<String>,
    log: Receiver<String>,
}

/// What `trace` tells of one run; without a device clock there are no operations.
#[derive(Debug, Clone, Copy)]
pub struct Trace {
    /// The whole run's wall-clock time, in milliseconds.
    pub total_ms: f64,
    /// The kernels' time, in milliseconds.
    pub kernel_ms: f64,
    /// The copies' time, in milliseconds.
    pub copy_ms: f64,
}

impl Process {
    /// Starts a binary of a built suite.
    pub fn start(tree: &Path, binary: &str, host_threads: usize) -> Result<Self> {
        let mut command = command(tree, binary)?;
        if std::env::var_os("OMP_NUM_THREADS").is_none() {
            command.env("OMP_NUM_THREADS", host_threads.to_string());
        }
        let mut child = command
            .arg("--serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run {binary}"))?;
        let commands = child.stdin.take().context("no standard input")?;
        let answers = lines(child.stdout.take().context("no standard output")?);
        let log = lines(child.stderr.take().context("no standard error")?);
        Ok(Self { child, commands, answers, log })
    }

    /// Sends a command without waiting for its answer.
    pub fn send(&mut self, command: &str) -> Result<()> {
        writeln!(self.commands, "{command}").and_then(|()| self.commands.flush()).context("the process is gone")
    }

    /// The answer to the oldest command that has none yet: its words after the first, which must be `expected`.
    pub fn receive(&mut self, expected: &str) -> Result<String> {
        let line = match self.answers.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => bail!("no answer after {} s", PATIENCE.as_secs()),
            Err(RecvTimeoutError::Disconnected) => bail!("{}", self.last_words()),
        };
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        anyhow::ensure!(word == expected, "{line}");
        Ok(rest.to_owned())
    }

    /// Sends a command and waits for its answer.
    pub fn ask(&mut self, command: &str, expected: &str) -> Result<String> {
        self.send(command)?;
        self.receive(expected)
    }

    /// One run; gives its wall-clock time in milliseconds.
    pub fn time(&mut self) -> Result<f64> {
        Ok(first_number(&self.ask("time", "time")?)? * 1e3)
    }

    /// One run under the device's clock; nothing where there is none.
    pub fn trace(&mut self) -> Result<Option<Trace>> {
        let numbers = numbers(&self.ask("trace", "trace")?)?;
        let [seconds, kernel_ms, _, to_ms, _, _, from_ms, ..] = numbers[..] else { return Ok(None) };
        Ok(Some(Trace { total_ms: seconds * 1e3, kernel_ms, copy_ms: to_ms + from_ms }))
    }

    /// One run whose launches and copies are logged; gives the log, and a word for each array: a number of its bits, or `-`
    /// where the run did not change it.
    pub fn inspect(&mut self) -> Result<(Vec<String>, Vec<String>)> {
        let answer = self.ask("inspect", "time")?;
        let bits = answer.split_whitespace().skip(1).map(str::to_owned).collect();
        let mut log = Vec::new();
        let mut begun = false;
        while let Ok(line) = self.log.recv_timeout(PATIENCE) {
            match line.as_str() {
                LOG_BEGIN => begun = true,
                LOG_END => return Ok((log, bits)),
                _ if begun => log.push(line),
                _ => {}
            }
        }
        bail!("the log of a run does not end")
    }

    /// What the process left on standard error when it died.
    fn last_words(&mut self) -> String {
        let status = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        let last: Vec<String> = self.log.try_iter().collect();
        let from = last.len().saturating_sub(4);
        format!("{status}: {}", last[from..].join(" / "))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Nothing is left to do for a process that is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command for a binary of a built suite, with its libraries in reach.
pub fn command(tree: &Path, binary: &str) -> Result<Command> {
    let tree = tree.canonicalize()?;
    let mut folders = vec![tree.join("driver"), tree.join("lib")];
    if let Some(path) = std::env::var_os("LD_LIBRARY_PATH") {
        folders.extend(std::env::split_paths(&path));
    }
    let mut command = Command::new(tree.join("bin").join(binary));
    command
        .env("LD_LIBRARY_PATH", std::env::join_paths(folders)?)
        .env("OMP_TARGET_OFFLOAD", "MANDATORY")
        // Host threads that wait must not take cores from the variant that is being timed.
        .env("KMP_BLOCKTIME", "0");
    Ok(command)
}

/// The numbers of an answer.
pub fn numbers(words: &str) -> Result<Vec<f64>> {
    words.split_whitespace().map(|word| word.parse().with_context(|| format!("no number: {word}"))).collect()
}

fn first_number(words: &str) -> Result<f64> {
    numbers(words)?.first().copied().context("an answer without a number")
}

/// Reads a stream line by line in a thread of its own, so that it never fills up.
fn lines(stream: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}
