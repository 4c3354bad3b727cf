// SPDX-License-Identifier: MIT OR Apache-2.0
//! A progress bar for what takes longer than two seconds.

use std::fmt::Display;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long nothing is shown.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Steps of the bar.
const STEPS: u64 = 1000;

/// A bar on standard error, cleared when it is dropped.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    since: Instant,
    shown: bool,
    allowed: bool,
}

impl Progress {
    /// A bar that begins with `what`; never shown if not `allowed`.
    pub fn new(what: &str, allowed: bool) -> Self {
        let style = ProgressStyle::with_template("{prefix} [{bar:30}] {percent:>3} %  {msg}")
            .expect("the template is well formed")
            .progress_chars("=> ");
        let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::hidden())
            .with_style(style)
            .with_prefix(what.to_owned());
        Self { bar, since: Instant::now(), shown: false, allowed }
    }

    /// One that is never shown.
    pub fn hidden() -> Self {
        Self::new("", false)
    }

    /// Says that the part `done` (0 to 1) is done, and something about it.
    pub fn set(&mut self, done: f64, message: impl Display) {
        if !self.allowed || self.since.elapsed() < TIMEOUT {
            return;
        }
        if !self.shown {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.shown = true;
        }
        self.bar.set_message(message.to_string());
        self.bar.set_position((done.clamp(0.0, 1.0) * STEPS as f64) as u64);
    }

    /// Lets `speak` write lines, with the bar out of the way.
    pub fn aside<T>(&self, speak: impl FnOnce() -> T) -> T {
        self.bar.suspend(speak)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
