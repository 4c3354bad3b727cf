// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a run could not be made, or did not pass.

use std::path::PathBuf;

use timing::platform::PlatformError;

use super::SettingsError;
use crate::faults::PlanError;
use crate::world::Unrest;

/// Why a run could not be made, or did not pass.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The settings are not possible. Nothing was run.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The settings are not possible for the protocol or the workload. Nothing was run.
    #[error("{0}")]
    Impossible(String),
    /// The platform is not possible. Nothing was run.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    /// The faults cannot be read. Nothing was run.
    #[error("{}: cannot read: {cause}", file.display())]
    UnreadableFaults {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        cause: std::io::Error,
    },
    /// The faults contradict each other, or the cluster. Nothing was run.
    #[error("{}: {cause}", file.display())]
    Faults {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        cause: PlanError,
    },
    /// The cluster did not come to rest.
    #[error(transparent)]
    Unrest(#[from] Unrest),
    /// At rest not all was as it should be.
    #[error("at rest: {0}")]
    AtRest(String),
    /// A transaction was not where it claimed to be.
    #[error("{0}")]
    Check(String),
    /// The hardware in the loop does otherwise than the machines.
    #[error("hardware in the loop: {0}")]
    DataPath(String),
    /// The timeline cannot be written.
    #[error("the timeline cannot be written: {0}")]
    Trace(std::io::Error),
    /// The history cannot be written.
    #[error("the history cannot be written: {0}")]
    History(std::io::Error),
}

impl RunError {
    /// Settings that the protocol, the workload or the world refuse.
    pub(crate) fn of_settings(error: impl std::error::Error) -> Self {
        Self::Impossible(error.to_string())
    }

    /// Whether the settings, the platform or the faults are to blame.
    pub fn is_of_input(&self) -> bool {
        match self {
            Self::Settings(_) | Self::Impossible(_) | Self::Platform(_) => true,
            Self::UnreadableFaults { .. } | Self::Faults { .. } => true,
            Self::Unrest(_) | Self::AtRest(_) | Self::Check(_) | Self::DataPath(_) => false,
            Self::Trace(_) | Self::History(_) => false,
        }
    }
}
