// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who carries the requests of the NIC's software out.

use driver::{LookUpOperation, LookUpStatus};

use super::error::LookUpError;

/// The answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// How it ended.
    pub status: LookUpStatus,
    /// The version of the object, or 0.
    pub version: u32,
    /// The first word of the value; or its address in the table's heap, when it lies out of line; or who has the
    /// lock, when the request ended as locked.
    pub value: u64,
}

/// A look-up unit, or a machine that does the same.
pub trait LookUpPort: Send {
    /// Carries a request out, and waits for its answer, for a bounded time.
    ///
    /// # Errors
    /// When the request or the answer is lost. How the request ended is no error here.
    fn ask(&mut self, key: u64, operation: LookUpOperation) -> Result<Reply, LookUpError>;
}
