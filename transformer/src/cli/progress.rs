//! What a long run is doing, on one line of a terminal.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Runs that are done sooner need no line for their files.
const PATIENCE: Duration = Duration::from_millis(700);

/// The line. It is gone when this is.
pub(super) struct Progress {
    line: ProgressBar,
    started: Instant,
}

impl Progress {
    /// A line on standard error, where that is a terminal and nobody asked for quiet; none in continuous integration.
    pub(super) fn new(quiet: bool) -> Self {
        let is_unwatched = quiet || std::env::var_os("CI").is_some_and(|value| !value.is_empty());
        let target = if is_unwatched { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let line = ProgressBar::with_draw_target(None, target).with_style(ProgressStyle::default_spinner());
        Self { line, started: Instant::now() }
    }

    /// Shows what is done now.
    pub(super) fn step(&self, step: impl Into<Cow<'static, str>>) {
        if !self.line.is_hidden() {
            self.line.enable_steady_tick(Duration::from_millis(100));
            self.line.set_message(step);
        }
    }

    /// Counts a file that is done.
    pub(super) fn file_done(&self, of: usize) {
        self.line.inc(1);
        if self.started.elapsed() > PATIENCE {
            self.step(format!("{} of {of} files", self.line.position()));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.line.finish_and_clear();
    }
}
