// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a request or a change was not carried out.

use driver::look_up_unit::LookUpUnitError;
use driver::{DeviceError, LookUpStatus, QueueError};
use tables::{ShapeError, TableError};

/// A request to the look-up unit, or a change of the host's table, that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookUpError {
    /// A table of this shape cannot be made.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The host's table refuses a change: nothing has changed.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The look-up unit cannot search the table.
    #[error("{field} is {value}, expected {expected}")]
    Unsuitable {
        /// What does not suit.
        field: &'static str,
        /// Its value.
        value: u64,
        /// What it may be.
        expected: String,
    },
    /// The look-up unit, before requests are made.
    #[error(transparent)]
    Unit(#[from] LookUpUnitError),
    /// The queue, the device or the link.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// The unit did not do it.
    #[error("{operation} of key 0x{key:X}: {status}")]
    Ended {
        /// What was asked for.
        operation: &'static str,
        /// Of which key.
        key: u64,
        /// How it ended.
        status: LookUpStatus,
    },
    /// The host's table has changed, and the index may still have the object as it was. It is evicted before
    /// the next change, or by [`LookedUp::settle`](super::LookedUp::settle).
    #[error("key 0x{key:X} has changed in the host's table, and the index keeps it: {status}")]
    NotEvicted {
        /// Which key.
        key: u64,
        /// Why it keeps it.
        status: LookUpStatus,
    },
    /// The version of the host's table is not that of the index: somebody has changed it without a lock.
    #[error("key 0x{key:X} has version {found} in the host's table, expected {expected}")]
    Version {
        /// Which key.
        key: u64,
        /// That of the host's table.
        found: u64,
        /// That of the index.
        expected: u32,
    },
}

impl From<DeviceError> for LookUpError {
    fn from(error: DeviceError) -> Self {
        LookUpError::Queue(QueueError::Device(error))
    }
}
