// SPDX-License-Identifier: MIT OR Apache-2.0
//! The errors between a driver and its device.

use std::fmt;
use std::io;

/// The two register operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A 32-bit read.
    Read,
    /// A 32-bit write.
    Write,
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Operation::Read => "read",
            Operation::Write => "write",
        })
    }
}

/// The error responses of an AXI bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusResponse {
    /// SLVERR: the register exists, the access does not suit it.
    SubordinateError,
    /// DECERR: nothing answers at this address.
    DecodeError,
}

impl fmt::Display for BusResponse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            BusResponse::SubordinateError => "SLVERR",
            BusResponse::DecodeError => "DECERR",
        })
    }
}

/// A failed access to a device, or a device that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The bus answered with an error response.
    #[error("{operation} of register 0x{offset:03X} answered {response}, expected OKAY")]
    Bus {
        /// What was tried.
        operation: Operation,
        /// Byte offset in the register map.
        offset: u32,
        /// What came back.
        response: BusResponse,
    },
    /// The bus broke its own protocol, so that no answer can be trusted any more.
    #[error("{operation} of register 0x{offset:03X}: {detail}")]
    Protocol {
        /// What was tried.
        operation: Operation,
        /// Byte offset in the register map.
        offset: u32,
        /// The rule that was broken, with the field, its value and the expectation.
        detail: String,
    },
    /// A bounded wait ended without what it waited for.
    #[error("waited for {waited_for}: nothing within {bound}")]
    Timeout {
        /// What should have happened.
        waited_for: String,
        /// How long the wait was, with its unit.
        bound: String,
    },
    /// Reads answer all-ones, as they do on PCI Express once the device is gone.
    #[error("device is gone: register 0x{offset:03X} and IDENTITY read 0xFFFF_FFFF")]
    Gone {
        /// The register that was read first.
        offset: u32,
    },
    /// Registers do not answer because the function sleeps.
    #[error(
        "the function is in D3hot: register 0x{offset:03X} and IDENTITY read 0xFFFF_FFFF; wake it (D0 in \
         its power management), or open the device anew"
    )]
    Asleep {
        /// The register that was read first.
        offset: u32,
    },
    /// Registers do not answer because somebody has switched that off.
    #[error(
        "memory space is disabled (bit 1 of the function's command register is 0): register \
         0x{offset:03X} and IDENTITY read 0xFFFF_FFFF; open the device anew"
    )]
    MemoryDisabled {
        /// The register that was read first.
        offset: u32,
    },
    /// A register holds something other than it must.
    #[error("{register} is 0x{found:X}, expected {expected}")]
    Mismatch {
        /// Name in the register map.
        register: String,
        /// The value that was read.
        found: u64,
        /// What it should have been.
        expected: String,
    },
    /// An argument outside its range; nothing was written.
    #[error("{field} is 0x{value:X}, expected {expected}")]
    OutOfRange {
        /// The argument.
        field: &'static str,
        /// Its value.
        value: u64,
        /// The range it must lie in.
        expected: String,
    },
    /// The device, or whoever stands between, does not do it; nothing has changed.
    #[error("cannot {attempted}: {reason}")]
    Refused {
        /// What was asked for.
        attempted: String,
        /// Why not, and what to do about it where that is known.
        reason: String,
    },
    /// The other end of the link has gone: a server that ended, a connection that broke. Every
    /// later call gives this again, at once.
    #[error("{peer} is gone: {reason}; open the device anew once it is back")]
    Disconnected {
        /// Who it was.
        peer: String,
        /// How it was noticed.
        reason: String,
    },
    /// The operating system reported an error.
    #[error("cannot {attempted}: {reason}")]
    System {
        /// What was asked of it.
        attempted: String,
        /// What kind of error it is.
        kind: io::ErrorKind,
        /// The system's words.
        reason: String,
    },
}

impl DeviceError {
    /// An error of the operating system, with what was asked of it.
    pub fn system(attempted: impl Into<String>, error: impl Into<io::Error>) -> Self {
        let error = error.into();
        DeviceError::System {
            attempted: attempted.into(),
            kind: error.kind(),
            reason: error.to_string(),
        }
    }
}
