// SPDX-License-Identifier: MIT OR Apache-2.0
//! Near-data updates: versions that a device has written next to the data become part of a host
//! transaction (ccSLT paper, section 3). `docs/store-near-data.md` argues why such a commit is
//! atomic.
//!
//! 1. [`Transaction::near_data`] names the transaction's locks and hands out the shared state.
//! 2. [`Transaction::reserve_pages`] gives the device pages to write to: logical ones, and places for
//!    them on native storage.
//! 3. The device locks rows under the transaction's timestamp and builds their new versions.
//!    [`Transaction::adopt`] takes these over, with their locks.
//! 4. [`Transaction::commit_finalizing`] fixes the commit timestamp, has the device stamp and write
//!    its pages, and publishes everything.
//!
//! [`Transaction::abandon_fenced`] ends it without a change, even when the device is dead.

mod commit;
mod error;
mod operations;
mod record;
mod state;

pub use error::{AdoptError, FinalizeError, NearDataError};

pub(crate) use record::{FinalizedPage, Sections};
pub(crate) use state::NearData;

use super::layout::{Place, RecordId};
use super::options::Isolation;
use super::shared_state::SharedState;
use locks::Timestamp;

#[cfg(doc)]
use super::Transaction;

/// The data for a device that works on a table: [`Transaction::near_data`].
///
/// As long as it lives, no checkpoint overwrites the pages that the shared state is relative to.
#[derive(Debug)]
pub struct Invocation {
    /// What has changed since the last flush to native storage.
    pub shared_state: SharedState,
    /// The snapshot that the device is to work at.
    pub snapshot: u64,
    /// The transaction's name in the lock table, which the device takes its locks under.
    pub timestamp: Timestamp,
    /// The table's number.
    pub table: u32,
    /// Identity of the store, which stands in each of its pages.
    pub store: u64,
    /// What a changed row means to the transaction.
    pub isolation: Isolation,
    /// VIDs below this one have been used.
    pub vids: u32,
}

/// A page that is reserved for a device to write: [`Transaction::reserve_pages`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageReservation {
    /// The logical page, which RecordIDs name.
    pub page: u64,
    /// The word of its [`Place`] on native storage.
    pub place: u64,
}

impl PageReservation {
    /// The physical page.
    pub fn physical(&self) -> u64 {
        Place::from_word(self.place).physical()
    }

    /// Whether its place is one of the checkpoint of this epoch.
    pub fn is_of(&self, epoch: u64) -> bool {
        Place::from_word(self.place).is_of(epoch)
    }
}

/// A version that a device has made: [`Transaction::adopt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adopted {
    /// The tuple.
    pub vid: u32,
    /// The new version's number: one more than that of the version before, which is locked.
    pub number: u32,
    /// Where the new version stands: in a reserved page.
    pub record: RecordId,
    /// The version before: what the VID map leads to, and what the new version names.
    pub predecessor: RecordId,
    /// What the version before takes of its page, its line pointer included, bytes: 4, and
    /// [`placed_bytes`](super::layout::placed_bytes) of its payload.
    pub superseded_bytes: u32,
    /// Whether the bucket of its lock was new to the transaction. (Each bucket is taken over once,
    /// whatever this says.)
    pub locked: bool,
}

/// What a device needs to finish its pages: [`Transaction::commit_finalizing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finalize<'a> {
    /// The commit timestamp: `created` of each new version, `newest` of each page.
    pub commit: u64,
    /// The `epoch` of each page's header: that which the places are of, and not newer than the
    /// store's.
    pub epoch: u64,
    /// The `store` of each page's header.
    pub store: u64,
    /// The pages that versions were adopted of, by their numbers. Others are not to be written.
    pub pages: &'a [PageReservation],
}
