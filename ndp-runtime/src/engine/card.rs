// SPDX-License-Identifier: MIT OR Apache-2.0
//! The environment of an engine: storage, host memory, the lock unit, processing elements, a clock.

use std::ops::Range;
use std::sync::Arc;

use lockdb::device_reader::PhysicalPages;
use lockdb::layout::PageBuffer;
use locks::{Timestamp, TupleKey};

use super::element::ElementSet;
use super::snapshot::{ElementTask, Snapshot};
use crate::job::{Embodiment, LockTable};

/// Native storage, shared by all that read it.
pub type Storage = Arc<dyn PhysicalPages + Send + Sync>;

/// The board around an engine. Calls do not wait; whatever takes time is asked for with one call and
/// taken with another.
pub trait Card {
    /// Nanoseconds since some beginning; never goes back.
    fn now(&self) -> u64;

    /// Native storage, to be read.
    fn storage(&self) -> Storage;

    /// Writes a physical page of native storage.
    ///
    /// # Errors
    /// When there is no such page, or the storage fails.
    fn write_page(&mut self, physical: u64, page: &PageBuffer) -> Result<(), StorageError>;

    /// Makes all pages durable that were written.
    ///
    /// # Errors
    /// When the storage fails; what was written may then be there or not.
    fn sync(&mut self) -> Result<(), StorageError>;

    /// Reads host memory, in no particular order of its bytes.
    ///
    /// # Errors
    /// When some of it is not there.
    fn read_host(&mut self, address: u64, into: &mut [u8]) -> Result<(), HostError>;

    /// Writes host memory, in no particular order of its bytes. A completion that follows is seen
    /// after them.
    ///
    /// # Errors
    /// When some of it is not there.
    fn write_host(&mut self, address: u64, bytes: &[u8]) -> Result<(), HostError>;

    /// Loads an aligned word of host memory, coherently and in one piece, and after everything that
    /// was done before (acquire).
    ///
    /// # Errors
    /// When it is not there.
    fn load_host(&mut self, address: u64) -> Result<u64, HostError>;

    /// Where the lock unit finds its table from now on. It is called when no request is open.
    fn place_lock_table(&mut self, table: LockTable);

    /// Hands a request to the lock unit; false when it takes none now.
    fn request_lock(&mut self, request: LockRequest) -> bool;

    /// The next response of the lock unit, if there is one.
    fn lock_response(&mut self) -> Option<LockResponse>;

    /// Elements for these parts of a table's VID map: in software, if nothing else is said.
    fn elements(
        &mut self,
        snapshot: &Arc<Snapshot>,
        task: &Arc<ElementTask>,
        parts: &[Range<u32>],
    ) -> ElementSet {
        ElementSet::in_software(snapshot, task, parts, Embodiment::Software)
    }
}

/// Host memory did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("host memory at {address:#x} did not answer")]
pub struct HostError {
    /// Where.
    pub address: u64,
}

/// A storage operation failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("native storage: {0}")]
pub struct StorageError(pub String);

/// What an engine asks the lock unit for (`docs/lock-unit.md`, "Request stream"). The engine uses
/// tags 0 to 63 for acquires, and 64 above the acquire's for polls and cancels of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockRequest {
    /// Names the request until its last response.
    pub tag: u8,
    /// The transaction.
    pub timestamp: Timestamp,
    /// The requested operation.
    pub operation: LockOperation,
}

/// The requested operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockOperation {
    /// The lock of a tuple version, or a place in its queue (rule Queue).
    Acquire(TupleKey),
    /// How the waiting acquire of this tag stands.
    Poll(u8),
    /// The waiting acquire of this tag out of its queue.
    Cancel(u8),
}

/// What the lock unit answers (`docs/lock-unit.md`, "Response stream").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockResponse {
    /// Of the request.
    pub tag: u8,
    /// Its outcome.
    pub answer: LockAnswer,
    /// The second response of an acquire that was queued first.
    pub notice: bool,
}

/// The outcome of a request; the numbers are those of the lock unit's codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockAnswer {
    /// Code 0: the transaction holds the lock.
    Granted {
        /// It held the bucket already.
        again: bool,
    },
    /// Code 1: it waits.
    Queued,
    /// Codes 2 and 5: the queue was full, or too many others were at it.
    Refused,
    /// Code 7: it has left the queue.
    Cancelled,
    /// Code 11: the target does not wait (any more).
    NotWaiting,
    /// Code 9: an access failed on the bus.
    BusError,
    /// Any other code; none is to be expected.
    Other(u8),
}
