// SPDX-License-Identifier: MIT OR Apache-2.0
//! What stands around the engine on a card, here in this process.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use driver::HostMemory;
use lockdb::Database;
use lockdb::files::{File, StoredPages};
use lockdb::layout::{PAGE_BYTES, PageBuffer};
use ndp_runtime::engine::{Card, HostError, LockRequest, LockResponse, Storage, StorageError};
use ndp_runtime::job::LockTable;
use parking_lot::Mutex;

use crate::lock_unit::LockUnit;

/// The host's memory that the device reaches, by where it begins.
pub type Maps = Mutex<BTreeMap<u64, Arc<HostMemory>>>;

/// A card of which everything is in this process. Device addresses are addresses of this process.
pub struct SoftwareCard {
    database: Database,
    /// Native storage.
    pages: StoredPages,
    /// The host's memory that it reaches.
    pub memory: Arc<Maps>,
    /// Nanoseconds since its beginning.
    pub now: u64,
    /// The lock unit.
    pub locks: LockUnit,
}

impl SoftwareCard {
    /// A card beside a store, whose native storage is the file `pages`.
    pub fn new(database: &Database, pages: Arc<dyn File>) -> Self {
        Self {
            database: database.clone(),
            pages: StoredPages(pages),
            memory: Arc::default(),
            now: 0,
            locks: LockUnit::default(),
        }
    }

    /// The memory in which `bytes` from an address on lie, and the offset there.
    fn find(&self, address: u64, bytes: usize) -> Result<(Arc<HostMemory>, usize), HostError> {
        let maps = self.memory.lock();
        let before = maps.range(..=address).next_back();
        let found = before.map(|(start, memory)| (memory.clone(), (address - start) as usize));
        let inside = |(memory, offset): &(Arc<HostMemory>, usize)| {
            offset.checked_add(bytes).is_some_and(|end| end <= memory.bytes())
        };
        found.filter(inside).ok_or(HostError { address })
    }
}

impl Card for SoftwareCard {
    fn now(&self) -> u64 {
        self.now
    }

    fn storage(&self) -> Storage {
        Arc::new(self.pages.clone())
    }

    fn write_page(&mut self, physical: u64, page: &PageBuffer) -> Result<(), StorageError> {
        let offset = physical.checked_mul(PAGE_BYTES as u64);
        let offset = offset.ok_or_else(|| StorageError(format!("there is no page {physical}")))?;
        self.pages.0.write_at(offset, &page.0).map_err(|error| StorageError(error.to_string()))
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        self.pages.0.sync().map_err(|error| StorageError(error.to_string()))
    }

    fn read_host(&mut self, address: u64, into: &mut [u8]) -> Result<(), HostError> {
        let (memory, offset) = self.find(address, into.len())?;
        memory.read(offset, into);
        Ok(())
    }

    fn write_host(&mut self, address: u64, bytes: &[u8]) -> Result<(), HostError> {
        let (memory, offset) = self.find(address, bytes.len())?;
        memory.write(offset, bytes);
        Ok(())
    }

    fn load_host(&mut self, address: u64) -> Result<u64, HostError> {
        for table in self.database.tables() {
            let words = table.vid_map().words();
            let first = words.as_ptr().addr() as u64;
            let word = address.checked_sub(first).map(|offset| (offset / 8) as usize);
            if let Some(word) = word.and_then(|word| words.get(word))
                && address.is_multiple_of(8)
            {
                return Ok(word.load(Ordering::Acquire));
            }
        }
        Err(HostError { address })
    }

    fn place_lock_table(&mut self, table: LockTable) {
        let expected = self.database.lock_table().buckets().as_ptr().addr() as u64;
        assert_eq!(table.address, expected, "the lock table is that of the store");
    }

    fn request_lock(&mut self, request: LockRequest) -> bool {
        self.locks.request(self.database.lock_table(), request);
        true
    }

    fn lock_response(&mut self) -> Option<LockResponse> {
        self.locks.response()
    }
}
