// SPDX-License-Identifier: MIT OR Apache-2.0
//! The output of a command: results to standard output, everything else to standard error.

use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};

use terminal::Progress;

use crate::error::CommandError;

/// How a command speaks.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Whether standard output understands bold face.
    bold: bool,
    /// Whether standard error is a terminal, on which a progress bar can move.
    terminal: bool,
    quiet: bool,
}

impl Output {
    /// Speaks as standard output and error can show it, and as `NO_COLOR` wishes.
    pub fn new() -> Self {
        let colour = std::env::var_os("NO_COLOR").is_none_or(|wish| wish.is_empty());
        Self {
            bold: colour && stdout().is_terminal(),
            terminal: stderr().is_terminal(),
            quiet: false,
        }
    }

    /// The same, without progress bars and notes if `quiet`.
    pub fn quiet(self, quiet: bool) -> Self {
        Self { quiet: self.quiet || quiet, ..self }
    }

    /// Writes `text` and an end of line to standard output.
    ///
    /// # Errors
    /// When it cannot be written, or nobody reads.
    pub fn print(&self, text: impl Display) -> Result<(), CommandError> {
        let mut stdout = stdout().lock();
        writeln!(stdout, "{text}").and_then(|()| stdout.flush()).map_err(|cause| {
            match cause.kind() {
                ErrorKind::BrokenPipe => CommandError::Unread,
                _ => CommandError::Internal(format!("standard output: cannot write: {cause}")),
            }
        })
    }

    /// Writes `text` and an end of line to standard error, unless quiet.
    pub fn note(&self, text: impl Display) {
        if !self.quiet {
            // The loss of standard error cannot be reported.
            let _ = writeln!(stderr().lock(), "{text}");
        }
    }

    /// `text` in bold face, where standard output has one.
    pub fn strong(&self, text: impl Display) -> String {
        match self.bold {
            true => format!("\u{1b}[1m{text}\u{1b}[0m"),
            false => text.to_string(),
        }
    }

    /// A progress bar for something called `what`.
    pub fn progress(&self, what: &str) -> Progress {
        Progress::new(what, self.terminal && !self.quiet)
    }
}
