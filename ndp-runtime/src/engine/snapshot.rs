// SPDX-License-Identifier: MIT OR Apache-2.0
//! The data of an invocation, opened and checked, for as long as a job needs them.

use std::sync::atomic::{AtomicU64, Ordering};

use lockdb::device_reader::{DeviceError, DeviceReader, PhysicalPages};
use lockdb::layout::{PAGE_BYTES, PageBuffer};
use self_cell::self_cell;

use super::card::Storage;
use crate::program::Program;

/// Native storage, with a count of what is read of it.
pub struct CountedStorage {
    storage: Storage,
    bytes: AtomicU64,
}

impl PhysicalPages for CountedStorage {
    fn read(&self, physical: u64, into: &mut PageBuffer) -> bool {
        self.bytes.fetch_add(PAGE_BYTES as u64, Ordering::Relaxed);
        self.storage.read(physical, into)
    }
}

/// What a [`DeviceReader`] reads from.
struct Inputs {
    storage: CountedStorage,
    shared_state: Vec<u8>,
}

/// A reader of the storage that [`Snapshot`] has.
pub type Reader<'a> = DeviceReader<'a, CountedStorage>;

self_cell!(
    struct Opened {
        owner: Inputs,
        #[covariant]
        dependent: Reader,
    }
);

/// The device's copy of a shared state (the paper's delta buffer), with the maps of the checkpoint
/// that it is relative to.
pub struct Snapshot(Opened);

impl Snapshot {
    /// Checks a shared state and reads the maps.
    ///
    /// # Errors
    /// When anything is damaged, or shared state and storage do not belong together.
    pub fn open(storage: Storage, shared_state: Vec<u8>) -> Result<Self, DeviceError> {
        let storage = CountedStorage { storage, bytes: AtomicU64::new(0) };
        let inputs = Inputs { storage, shared_state };
        Opened::try_new(inputs, |inputs| DeviceReader::open(&inputs.storage, &inputs.shared_state))
            .map(Snapshot)
    }

    /// The reader.
    pub fn reader(&self) -> &Reader<'_> {
        self.0.borrow_dependent()
    }

    /// The bytes of the shared state.
    pub fn shared_state(&self) -> &[u8] {
        &self.0.borrow_owner().shared_state
    }

    /// The store that it is of, and the newest snapshot that can be asked for.
    pub(super) fn identity(&self) -> (u64, u64) {
        let reader = self.reader();
        (reader.shared_state().header().store, reader.snapshots().1)
    }

    /// The storage, for elements that read it themselves; what they read is counted.
    pub fn storage(&self) -> &CountedStorage {
        &self.0.borrow_owner().storage
    }

    /// Bytes read from storage so far.
    pub fn storage_bytes(&self) -> u64 {
        self.0.borrow_owner().storage.bytes.load(Ordering::Relaxed)
    }
}

/// The task of the elements of a job.
#[derive(Clone)]
pub struct ElementTask {
    /// The table; the snapshot has it.
    pub table: u32,
    /// The snapshot's number; it can be asked for.
    pub snapshot: u64,
    /// Which rows qualify, and what is computed of them.
    pub program: Program,
    /// Whether packets are to have the rows' payloads.
    pub payloads: bool,
}
