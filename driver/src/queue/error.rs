// SPDX-License-Identifier: MIT OR Apache-2.0
//! The errors that stop a queue.

use crate::DeviceError;
use crate::map::queue::Cause;

use super::Status;

/// A queue's error. After [`QueueError::Halted`], [`QueueError::Stopped`] and
/// [`QueueError::Violation`] the queue gives the same error again until it is restarted; commands
/// that were open are lost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    /// No room for another submission: take completions first.
    #[error("the {queue} queue is full: {entries} submissions are open; take completions first")]
    Full {
        /// Which queue.
        queue: &'static str,
        /// Its entries.
        entries: u16,
    },
    /// The device halted the queue.
    #[error("the {queue} queue halted with error {code}: {meaning}; restart it")]
    Halted {
        /// Which queue.
        queue: &'static str,
        /// Register ERROR.
        code: u32,
        /// What that means.
        meaning: &'static str,
    },
    /// The queue is disabled though nobody here disabled it: the device was reset.
    #[error("the {queue} queue was stopped by a reset; its open work is lost; restart it")]
    Stopped {
        /// Which queue.
        queue: &'static str,
    },
    /// The device wrote what no device may write.
    #[error(
        "the {queue} queue broke its rules: {detail}; reset the device, then restart the queue"
    )]
    Violation {
        /// Which queue.
        queue: &'static str,
        /// The field, its value and what was expected.
        detail: String,
    },
    /// Nothing came in time; what is open stays open.
    #[error("waited for {waited_for}: nothing within {bound}")]
    Timeout {
        /// What should have happened.
        waited_for: String,
        /// The bound of the wait.
        bound: String,
    },
    /// A command ended with a status other than done.
    #[error("the {queue} queue ended a command with status {}: {status}", .status.code())]
    Failed {
        /// Which queue.
        queue: &'static str,
        /// The status.
        status: Status,
        /// Bytes that were moved all the same.
        bytes: u32,
    },
    /// The device or the way to it failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// What register ERROR means.
pub(super) fn halt_meaning(cause: Option<Cause>) -> &'static str {
    match cause {
        Some(Cause::ReadSubmission) => "it could not read a submission: is the ring still mapped?",
        Some(Cause::WriteCompletion) => {
            "it could not write a completion: is the ring still mapped?"
        }
        Some(Cause::Doorbell) => "the doorbell or the completion head was out of range",
        Some(Cause::None) | None => "an error that this program does not know",
    }
}
