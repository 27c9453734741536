//! What a long check is doing, on one line of a terminal.

use std::borrow::Cow;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The line. It is gone when this is.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// A line on standard error, where that is a terminal and nobody asked for quiet; none in continuous integration.
    pub(super) fn new(quiet: bool) -> Self {
        let is_unwatched = quiet || std::env::var_os("CI").is_some_and(|value| !value.is_empty());
        let target = if is_unwatched { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        Self(ProgressBar::with_draw_target(None, target).with_style(ProgressStyle::default_spinner()))
    }

    /// Shows what is done now.
    pub(super) fn step(&self, step: impl Into<Cow<'static, str>>) {
        if !self.0.is_hidden() {
            self.0.enable_steady_tick(Duration::from_millis(100));
            self.0.set_message(step);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
