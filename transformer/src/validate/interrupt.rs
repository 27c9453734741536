//! What a signal that ends the program must not leave behind: processes that it started, and temporary files.
//!
//! A signal waits for a file that is being replaced, ends the processes and removes what is registered here; then the
//! program ends as the signal would have ended it. If no signals are caught (in tests, or on other systems), everything
//! is removed when it goes out of scope.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Everything that is under way. The handler of a signal takes the lock and keeps it, so that nothing new is started.
static STATE: Mutex<State> = Mutex::new(State::new());

struct State {
    /// Are signals caught? Then each process gets a group of its own, which is killed with all that it started.
    is_armed: bool,
    /// The processes that run.
    processes: BTreeSet<u32>,
    /// The actions that remove files.
    removals: BTreeMap<usize, Box<dyn Fn() + Send>>,
    /// The key of the next action.
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

/// Makes a temporary folder at a place of its own, which is removed with all it holds when it goes out of scope.
///
/// # Errors
/// When it cannot be made, or something stands there.
pub fn folder_at(path: PathBuf) -> io::Result<Folder> {
    let mut state = state();
    std::fs::create_dir(&path)?;
    let _removal = register(&mut state, remover(path.clone()));
    Ok(Folder { path, _removal })
}

impl Folder {
    /// The path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Files that cannot be removed stay.
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

/// An action that a signal triggers; dropping this cancels it.
#[derive(Debug)]
pub struct Removal {
    number: usize,
}

/// Registers an action for a signal, as long as the result lives.
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

/// Kills a process, and where signals are caught all that it started.
///
/// # Errors
/// When it cannot be killed, or waited for.
pub fn kill(child: &mut Child) -> io::Result<()> {
    #[cfg(unix)]
    if state().is_armed
        && let Some(id) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw)
    {
        // The group may be gone already.
        let _gone = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
    }
    child.kill()?;
    child.wait().map(drop)
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

/// Runs a process to its end, without standard input, and returns its output.
///
/// # Errors
/// When it cannot be started, or its output not be read.
pub fn output(command: &mut Command) -> io::Result<Output> {
    let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (child, _running) = spawn(piped)?;
    child.wait_with_output()
}

/// From here on, the signals that end a program are handled by this module, except those that the program was started
/// to ignore.
#[cfg(unix)]
pub fn catch_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

    let ignored = ignored_signals();
    let caught = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    // If they cannot be caught, they end the program as usual.
    let Ok(mut signals) = signal_hook::iterator::Signals::new(caught) else { return };
    state().is_armed = true;
    std::thread::spawn(move || signals.forever().next().map(end));
}

/// There are no such signals.
#[cfg(not(unix))]
pub fn catch_signals() {}

/// The signals that the program was started to ignore, as `nohup` does: a bit for each, from Linux's `/proc`.
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

    // The lock is never released: other threads wait here until the program ends.
    let state = state();
    for id in state.processes.iter().filter_map(|id| i32::try_from(*id).ok().and_then(Pid::from_raw)) {
        // The process may have ended by itself.
        let _gone = kill_process_group(id, Signal::KILL);
    }
    // The last first: to find the images of a program, the program must still exist.
    state.removals.values().rev().for_each(|remove| remove());
    let _ended = signal_hook::low_level::emulate_default_handler(signal);
    std::process::exit(128 + signal)
}
