//! What can go wrong between a driver and its device.

use std::fmt;

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
}
