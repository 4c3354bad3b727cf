// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a command fails, and with which exit code.

use std::path::Path;
use std::process::ExitCode;

/// Why a command ended without doing what was asked.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// What the user gave is not possible; the message names place, value and what was
    /// expected. Exit code 2.
    #[error("{0}")]
    Input(String),
    /// Something that the user's input is not to blame for. Exit code 1.
    #[error("{0}")]
    Internal(String),
    /// What it is to be measured beside is not on this machine; the message says what is missing
    /// and how to get it. Exit code 2.
    #[error("{0}")]
    NotMeasured(String),
    /// Ended by Ctrl-C; what there was to say has been said. Exit code 130.
    #[error("interrupted")]
    Interrupted,
    /// A process that was started for it has failed with this exit code, and has said why.
    #[error("a process that was started has failed")]
    Told(u8),
    /// The reader of the output is gone (`lockstep … | head`). Exit code 0, without a message.
    #[error("the reader of the output is gone")]
    Unread,
}

impl CommandError {
    /// `file` cannot be what it has to be: `{file}: {what}`.
    pub fn input(file: &Path, what: impl std::fmt::Display) -> Self {
        Self::Input(format!("{}: {what}", file.display()))
    }

    /// Writing to `file` failed half-way.
    pub fn writing(file: &Path, cause: impl std::fmt::Display) -> Self {
        Self::Internal(format!("{}: cannot write: {cause}", file.display()))
    }

    /// The commands to the shell.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Unread => ExitCode::SUCCESS,
            Self::Told(code) => ExitCode::from(*code),
            Self::Internal(_) => ExitCode::FAILURE,
            Self::Input(_) | Self::NotMeasured(_) => ExitCode::from(2),
            Self::Interrupted => ExitCode::from(130),
        }
    }
}

impl From<workloads::Error> for CommandError {
    fn from(error: workloads::Error) -> Self {
        match error {
            workloads::Error::Input(_) | workloads::Error::Read { .. } => {
                Self::Input(error.to_string())
            }
            workloads::Error::Write { ref source, .. }
                if source.kind() == std::io::ErrorKind::BrokenPipe =>
            {
                Self::Unread
            }
            workloads::Error::Write { .. } => Self::Internal(error.to_string()),
        }
    }
}

impl From<system::RunError> for CommandError {
    fn from(error: system::RunError) -> Self {
        match error {
            system::RunError::Scenario(error) => error.into(),
            // The device does not do as it should.
            system::RunError::Platform(_)
            | system::RunError::NotCoherent { .. }
            | system::RunError::EndOfTime { .. }
            | system::RunError::System(_)
            | system::RunError::Silent { .. }
            | system::RunError::Device { .. }
            | system::RunError::Answer { .. } => Self::Input(error.to_string()),
            _ => Self::Internal(error.to_string()),
        }
    }
}
