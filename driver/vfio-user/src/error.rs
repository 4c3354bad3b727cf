// SPDX-License-Identifier: MIT OR Apache-2.0
//! The errors of the link.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::message::Command;

/// Why a call failed. After anything but [`Error::Refused`], [`Error::Unmapped`] and the errors that
/// arguments earn before a byte is sent, a [`crate::Client`] is of no more use and says so.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The socket at `path` could not be used.
    #[error("{action} {}: {source}", path.display())]
    Socket {
        /// What was tried, as "connect to".
        action: &'static str,
        /// The socket's path.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The path names something that is not a socket; it was left alone.
    #[error("{} is no socket; give the path of a vfio-user socket", path.display())]
    NotASocket {
        /// The path.
        path: PathBuf,
    },
    /// Another server answers at the path; it was left alone.
    #[error("{} is in use by another server; stop that one or choose another path", path.display())]
    InUse {
        /// The path.
        path: PathBuf,
    },
    /// A system call failed.
    #[error("{action}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// The peer did not do its part in time.
    #[error("waited {bound:?} for {waited_for}")]
    Timeout {
        /// What did not happen.
        waited_for: &'static str,
        /// The bound of the wait.
        bound: Duration,
    },
    /// The peer closed the connection.
    #[error("the peer closed the connection {during}")]
    Closed {
        /// Where in the conversation, as "before a message" or "within a message".
        during: &'static str,
    },
    /// The peer sent what the protocol forbids.
    #[error("malformed {message}: {field} is {found}, expected {expected}")]
    Malformed {
        /// The message, as "reply to DMA_MAP".
        message: String,
        /// The field.
        field: &'static str,
        /// Its value.
        found: String,
        /// What would have been right.
        expected: String,
    },
    /// The peer answered with an error.
    #[error("{command} was refused: {}", refusal(*errno))]
    Refused {
        /// The command.
        command: Command,
        /// The peer's error number; 0 if it gave none.
        errno: u32,
    },
    /// An argument exceeds what can be sent or what was negotiated.
    #[error("{what} is {size}, at most {limit} is allowed")]
    TooLarge {
        /// The argument.
        what: &'static str,
        /// Its value.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// The server unmapped less than was asked for, for it had no such map.
    #[error("unmapped {unmapped} of the {size} bytes at device address {address:#x}")]
    Unmapped {
        /// First device address asked for.
        address: u64,
        /// Bytes asked for.
        size: u64,
        /// Bytes that had been mapped, and no longer are.
        unmapped: u64,
    },
    /// The peer speaks another version of the protocol.
    #[error("the peer speaks version {major}.{minor} of the protocol, expected 0.x")]
    Version {
        /// The peer's major version.
        major: u16,
        /// The peer's minor version.
        minor: u16,
    },
    /// An earlier call failed in a way that leaves the link in an unknown state.
    #[error("the link is of no more use since an earlier failure: {cause}; connect anew")]
    Poisoned {
        /// The earlier failure.
        cause: String,
    },
}

fn refusal(errno: u32) -> String {
    match i32::try_from(errno) {
        Ok(0) => "the peer gave no reason".to_string(),
        Ok(errno) => io::Error::from_raw_os_error(errno).to_string(),
        Err(_) => format!("error number {errno}"),
    }
}

impl Error {
    pub(crate) fn io(action: &'static str, errno: rustix::io::Errno) -> Self {
        Self::Io { action, source: errno.into() }
    }

    pub(crate) fn malformed(
        message: impl Into<String>,
        field: &'static str,
        found: impl ToString,
        expected: impl Into<String>,
    ) -> Self {
        Self::Malformed {
            message: message.into(),
            field,
            found: found.to_string(),
            expected: expected.into(),
        }
    }
}
