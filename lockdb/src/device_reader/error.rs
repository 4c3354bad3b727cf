// SPDX-License-Identifier: MIT OR Apache-2.0
//! The errors that a device may find.

use super::super::layout::{PageError, RecordId};
use super::super::shared_state::AreaError;
use super::walk::WalkError;

/// Why a device cannot read a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The shared state is not what was handed over.
    #[error("shared state, {0}")]
    Area(#[from] AreaError),
    /// Native storage has no superblock that can be read.
    #[error("native storage has no superblock: {slots:?}")]
    NoSuperblock {
        /// The error in each.
        slots: [String; 2],
    },
    /// Shared state and native storage are not of the same store.
    #[error("the shared state is of store {area:#x}, the pages are of store {storage:#x}")]
    OtherStore {
        /// The shared state's.
        area: u64,
        /// The superblock's.
        storage: u64,
    },
    /// The checkpoint that the shared state is relative to is not on native storage yet.
    #[error(
        "the shared state is relative to checkpoint {area}, storage has no later than {storage}"
    )]
    StorageBehind {
        /// The shared state's.
        area: u64,
        /// The newest on storage.
        storage: u64,
    },
    /// A page on native storage is not the one that it should be. With a stranger's epoch: the
    /// checkpoint that the shared state is relative to has been given up.
    #[error("physical page {physical} ({page:#x}): {fault}")]
    Page {
        /// Physical page: it begins at 8,192 times this byte.
        physical: u64,
        /// The logical page, or the number of the map page, that was looked for.
        page: u64,
        /// The error in it.
        fault: PageError,
    },
    /// The directory cannot be read.
    #[error("directory, byte {offset}: {what}")]
    Directory {
        /// Where in the directory.
        offset: u64,
        /// The value found there, and the expected value.
        what: String,
    },
    /// A table of the shared state is impossible.
    #[error("shared state, table {table}: {what}")]
    Table {
        /// Its number.
        table: u32,
        /// The error.
        what: String,
    },
    /// There is no table of this number.
    #[error("there is no table {table}, of {tables}")]
    NoSuchTable {
        /// The number that was asked for.
        table: u32,
        /// How many there are.
        tables: u32,
    },
    /// The snapshot cannot be reconstructed from this shared state.
    #[error("snapshot {asked}: the shared state has those from {oldest} to {newest}")]
    NoSuchSnapshot {
        /// The one that was asked for.
        asked: u64,
        /// The oldest one.
        oldest: u64,
        /// The newest one.
        newest: u64,
    },
    /// A map or a version leads to something that is not a version of the tuple.
    #[error("table {table}, VID {vid}: {record} {fault}")]
    Version {
        /// The table.
        table: u32,
        /// The tuple.
        vid: u32,
        /// Where it leads.
        record: RecordId,
        /// The value found instead.
        fault: WalkError,
    },
}

impl DeviceError {
    /// The fault of a walk that it is told of.
    pub(super) fn walk_fault(&self) -> WalkError {
        match self {
            Self::Page { fault, .. } => (*fault).into(),
            Self::Version { fault, .. } => *fault,
            _ => unreachable!("the reader was opened, so shared state and directory are whole"),
        }
    }
}
