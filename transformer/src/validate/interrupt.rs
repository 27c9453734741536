//! What a signal that ends the program must not leave behind: processes that it started, and temporary files.
//!
//! A signal waits for a file that is being replaced, ends the processes and removes what is registered here; then the program ends as
//! the signal would have ended it. Where no signals are caught (in tests, or on other systems) all of it is removed by the usual way.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// All that is under way. A signal takes the lock and keeps it, so that nothing is begun any more.
static STATE: Mutex<State> = Mutex::new(State::new());

struct State {
    /// Are signals caught? Processes then have groups of their own, which end with all that they started.
    is_armed: bool,
    /// The processes that run.
    processes: BTreeSet<u32>,
    /// What is removed.
    removals: BTreeMap<usize, Box<dyn Fn() + Send>>,
    /// The number of the next one.
    next: usize,
}

impl State {
    const fn new() -> Self {
        Self { is_armed: false, processes: BTreeSet::new(), removals: BTreeMap::new(), next: 0 }
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While the result lives, no signal ends the program.
#[must_use]
pub fn hold() -> impl Drop {
    state()
}

/// A temporary folder.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _removal: Removal,
}

/// Makes a temporary folder, which is removed with all it holds when it goes out of scope.
///
/// # Errors
/// When it cannot be made.
pub fn folder() -> io::Result<Folder> {
    let mut state = state();
    let path = tempfile::tempdir()?.keep();
    let _removal = register(&mut state, remover(path.clone()));
    Ok(Folder { path, _removal })
}

impl Folder {
    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed stays.
        drop(std::fs::remove_dir_all(&self.path));
    }
}

/// Removes a folder in which processes that are ending may still write for a moment.
fn remover(path: PathBuf) -> impl Fn() + Send {
    move || {
        for _ in 0..200 {
            match std::fs::remove_dir_all(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
                _ => return,
            }
        }
    }
}

/// Something that a signal removes; when this goes out of scope, it does so no more.
#[derive(Debug)]
pub struct Removal {
    number: usize,
}

/// What a signal is to do besides, while the result lives.
#[must_use]
pub fn on_signal(removal: impl Fn() + Send + 'static) -> Removal {
    register(&mut state(), removal)
}

fn register(state: &mut State, removal: impl Fn() + Send + 'static) -> Removal {
    let number = state.next;
    state.next += 1;
    state.removals.insert(number, Box::new(removal));
    Removal { number }
}

impl Drop for Removal {
    fn drop(&mut self) {
        state().removals.remove(&self.number);
    }
}

/// A process that runs; a signal ends it as long as this lives.
#[derive(Debug)]
pub struct Running {
    id: u32,
}

impl Drop for Running {
    fn drop(&mut self) {
        state().processes.remove(&self.id);
    }
}

/// Starts a process.
///
/// # Errors
/// When it cannot be started.
pub fn spawn(command: &mut Command) -> io::Result<(Child, Running)> {
    let mut state = state();
    #[cfg(unix)]
    if state.is_armed {
        std::os::unix::process::CommandExt::process_group(command, 0);
    }
    let child = command.spawn()?;
    state.processes.insert(child.id());
    let running = Running { id: child.id() };
    Ok((child, running))
}

/// Runs a process to its end, without standard input, and gives what it says.
///
/// # Errors
/// When it cannot be started, or its output not be read.
pub fn output(command: &mut Command) -> io::Result<Output> {
    let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (child, _running) = spawn(piped)?;
    child.wait_with_output()
}

/// From here on the signals that end a program end it in the way of this module, but for those that it was started to ignore.
#[cfg(unix)]
pub fn catch_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

    let ignored = ignored_signals();
    let caught = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    // Where they cannot be caught, they end the program as ever.
    let Ok(mut signals) = signal_hook::iterator::Signals::new(caught) else { return };
    state().is_armed = true;
    std::thread::spawn(move || signals.forever().next().map(end));
}

/// There are no such signals.
#[cfg(not(unix))]
pub fn catch_signals() {}

/// The signals that whoever started the program made it ignore, as `nohup` does, by Linux's word: a bit for each.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Ends the program by a signal.
#[cfg(unix)]
fn end(signal: i32) {
    use rustix::process::{Pid, Signal, kill_process_group};

    // Kept for good: what other threads want to begin now waits for the end.
    let state = state();
    for id in state.processes.iter().filter_map(|id| i32::try_from(*id).ok().and_then(Pid::from_raw)) {
        // It may have ended by itself.
        let _gone = kill_process_group(id, Signal::KILL);
    }
    // The last first: the images of a program are known by the program.
    state.removals.values().rev().for_each(|remove| remove());
    let _ended = signal_hook::low_level::emulate_default_handler(signal);
    std::process::exit(128 + signal)
}
