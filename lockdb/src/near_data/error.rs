// SPDX-License-Identifier: MIT OR Apache-2.0
//! The errors of a near-data update.

use super::super::layout::RecordId;
use locks::Timestamp;

/// Why an operation of a near-data update was refused. Nothing was changed by it.
#[derive(Debug, thiserror::Error)]
pub enum NearDataError {
    /// The transaction has written the table before: a device would not see that.
    #[error("the transaction has written table {table:?}, which a device would not see")]
    AlreadyWritten {
        /// The table.
        table: String,
    },
    /// A device writes the table for this transaction: its rows are not in the host's memory before
    /// the commit.
    #[error("a device writes table {table:?} for the transaction until it ends")]
    InUse {
        /// The table.
        table: String,
    },
    /// There was no [`Transaction::near_data`](super::super::Transaction::near_data) of the table.
    #[error("table {table:?} was not handed to a device by the transaction")]
    NotInvoked {
        /// The table.
        table: String,
    },
    /// A savepoint from before the device's work: that cannot be undone in part.
    #[error("savepoint {savepoint} was made before the near-data update")]
    Savepoint {
        /// The savepoint.
        savepoint: usize,
    },
    /// Rows are left to the host at READ COMMITTED only.
    #[error("row {vid} of table {table:?}: rows are left to the host at READ COMMITTED only")]
    NotLeft {
        /// The table.
        table: String,
        /// The row.
        vid: u32,
    },
    /// A device's version cannot be taken over.
    #[error("row {vid} of table {table:?}: {fault}")]
    Adopt {
        /// The table.
        table: String,
        /// The row.
        vid: u32,
        /// Why not.
        fault: AdoptError,
    },
    /// Lines of a page were left out.
    #[error("{adopted} lines of granted page {page} were adopted, but not line {line}")]
    MissingLine {
        /// The logical page.
        page: u64,
        /// The first line that is missing.
        line: u32,
        /// How many were adopted.
        adopted: u32,
    },
    /// The transaction has versions in a device's pages: only
    /// [`Transaction::commit_finalizing`](super::super::Transaction::commit_finalizing) commits
    /// them.
    #[error("the transaction has {rows} versions in pages that a device has to finalize")]
    NotFinalized {
        /// How many.
        rows: usize,
    },
    /// The pages could not be finalized; the transaction can only be rolled back now.
    #[error("the pages of commit {commit} were not finalized: {source}")]
    Finalize {
        /// The commit timestamp, which is void.
        commit: u64,
        /// Why not.
        source: FinalizeError,
    },
    /// The pages could not be finalized before; the transaction can only be rolled back.
    #[error("the transaction's pages could not be finalized: it can only be rolled back")]
    FinalizeFailed,
}

/// The error in a version that a device has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AdoptError {
    /// The table has no such tuple.
    #[error("the table has {vids} VIDs")]
    Vid {
        /// VIDs that have been used.
        vids: u32,
    },
    /// The row was adopted before.
    #[error("it was adopted already")]
    Twice,
    /// The row's newest version is another one than the device's predecessor.
    #[error("predecessor {found}, but the newest version is {expected}")]
    Head {
        /// What the device says.
        found: RecordId,
        /// The entry in the VID map.
        expected: RecordId,
    },
    /// The new version has not the next number.
    #[error("version {found}, expected {expected}")]
    Number {
        /// What the device says.
        found: u32,
        /// The next number.
        expected: u32,
    },
    /// The version before is the last that a row can have.
    #[error("the row has had all its versions")]
    VersionsUsedUp,
    /// The predecessor is newer than the snapshot of the invocation, or deletes the row.
    #[error("the newest version, of commit {created}, is no row of snapshot {snapshot}")]
    NotVisible {
        /// Its commit.
        created: u64,
        /// The snapshot.
        snapshot: u64,
    },
    /// The page is not one that was reserved for the table.
    #[error("record {record}: the page was not granted for the table")]
    Page {
        /// Where the device says that the version stands.
        record: RecordId,
    },
    /// Another version stands there.
    #[error("record {record} is another row's already")]
    Record {
        /// Where the device says that the version stands.
        record: RecordId,
    },
    /// A version before it cannot be of such a size.
    #[error("the version before takes {found} bytes, expected {least} to {most}")]
    SupersededBytes {
        /// What the device says.
        found: u32,
        /// The least that a version takes.
        least: u32,
        /// The most.
        most: u32,
    },
    /// The lock is not held by the transaction.
    #[error("bucket {bucket} is held by {holder:?}, expected {expected}")]
    NotLocked {
        /// The bucket of the lock.
        bucket: usize,
        /// The holder.
        holder: Option<Timestamp>,
        /// The transaction.
        expected: Timestamp,
    },
}

/// Why a device has not finalized its pages.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct FinalizeError(Box<dyn std::error::Error + Send + Sync>);

impl FinalizeError {
    /// A reason: an error, or words.
    pub fn new(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(reason.into())
    }
}
