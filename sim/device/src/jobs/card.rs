// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the engine reaches on this board.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use driver::Elements;
use lockdb::layout::PageBuffer;
use ndp_runtime::engine::{
    Card, Element, ElementSet, ElementTask, HostError, LockRequest, LockResponse, Snapshot,
    Storage, StorageError,
};
use ndp_runtime::job::{Embodiment, LockTable};

use super::NativeStorage;
use super::locks::BoardLocks;
use super::rtl_element::{self, RtlElement};
use crate::address_space::{Access, AccessError, AddressSpace};
use crate::board::Reach;
use crate::function::Shared;
use crate::mover;

/// The most bytes that are copied while others wait for the function's mutex.
const CHUNK_BYTES: usize = mover::CHUNK_BYTES as usize;

/// The card around an engine of one generation. Host memory is reached through the function's maps,
/// under its mutex, as all else of the device does it.
pub(super) struct BoardCard<'a> {
    host: Host<'a>,
    storage: &'a mut NativeStorage,
    locks: BoardLocks<'a>,
    elements: Elements,
    began: Instant,
}

impl<'a> BoardCard<'a> {
    pub fn new(
        function: &'a Shared,
        storage: &'a mut NativeStorage,
        elements: Elements,
        generation: u64,
    ) -> Self {
        let host = Host { function, generation };
        let locks = BoardLocks::new(host);
        Self { host, storage, locks, elements, began: Instant::now() }
    }
}

impl Card for BoardCard<'_> {
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn storage(&self) -> Storage {
        self.storage.pages()
    }

    fn write_page(&mut self, physical: u64, page: &PageBuffer) -> Result<(), StorageError> {
        self.host.check_generation()?;
        self.storage.write(physical, page)
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        self.host.check_generation()?;
        self.storage.sync()
    }

    fn read_host(&mut self, address: u64, into: &mut [u8]) -> Result<(), HostError> {
        self.host.read(address, into)
    }

    fn write_host(&mut self, address: u64, bytes: &[u8]) -> Result<(), HostError> {
        self.host.write(address, bytes)
    }

    fn load_host(&mut self, address: u64) -> Result<u64, HostError> {
        self.host.load(address)
    }

    fn place_lock_table(&mut self, table: LockTable) {
        self.locks.place(table);
    }

    fn request_lock(&mut self, request: LockRequest) -> bool {
        self.locks.request(request)
    }

    fn lock_response(&mut self) -> Option<LockResponse> {
        self.locks.response()
    }

    /// In hardware, if it is to be so and hardware can; else it is told why not.
    fn elements(
        &mut self,
        snapshot: &Arc<Snapshot>,
        task: &Arc<ElementTask>,
        parts: &[Range<u32>],
    ) -> ElementSet {
        let embodiment = match self.elements {
            Elements::Rtl => rtl_element::embodiment(snapshot, task),
            Elements::Software => Embodiment::Software,
        };
        if !embodiment.is_hardware() {
            return ElementSet::in_software(snapshot, task, parts, embodiment);
        }
        let pages = self.storage.page_count();
        let element = |part: &Range<u32>| -> Box<dyn Element> {
            Box::new(RtlElement::new(snapshot.clone(), task, part.clone(), pages))
        };
        ElementSet { embodiment, elements: parts.iter().map(element).collect() }
    }
}

/// The host's memory, as it is reached in one generation of the function.
#[derive(Clone, Copy)]
pub(super) struct Host<'a> {
    pub function: &'a Shared,
    pub generation: u64,
}

impl Host<'_> {
    /// Does something with the memory; a fault when the generation is over, or the function may not
    /// reach memory.
    pub fn with<T>(
        &self,
        act: impl FnOnce(Reach<'_>) -> Result<T, AccessError>,
    ) -> Result<T, AccessError> {
        self.function.with_host(self.generation, act)
    }

    /// What comes after the generation touches nothing.
    fn check_generation(&self) -> Result<(), StorageError> {
        match self.function.is_alive(self.generation) {
            true => Ok(()),
            false => Err(StorageError("the function was reset".into())),
        }
    }

    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), HostError> {
        let mut at = address;
        for chunk in into.chunks_mut(CHUNK_BYTES) {
            let fault = HostError { address: at };
            self.with(|host| read_chunk(host.space, at, chunk)).map_err(|_| fault)?;
            at = at.checked_add(chunk.len() as u64).ok_or(fault)?;
        }
        Ok(())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), HostError> {
        let mut at = address;
        for chunk in bytes.chunks(CHUNK_BYTES) {
            let fault = HostError { address: at };
            self.with(|host| write_chunk(host.space, at, chunk)).map_err(|_| fault)?;
            at = at.checked_add(chunk.len() as u64).ok_or(fault)?;
        }
        Ok(())
    }

    fn load(&self, address: u64) -> Result<u64, HostError> {
        let fault = HostError { address };
        if !address.is_multiple_of(8) {
            return Err(fault);
        }
        self.with(|host| host.space.load(address)).map_err(|_| fault)
    }
}

/// Several maps may lie in one piece.
fn read_chunk(space: &AddressSpace, address: u64, mut into: &mut [u8]) -> Result<(), AccessError> {
    let mut at = address;
    while !into.is_empty() {
        let (span, bytes) = space.span(at, Access::Read)?;
        let (now, later) = into.split_at_mut(into.len().min(bytes as usize));
        mover::read(span, now).map_err(|_| AccessError::Unmapped)?;
        at = at.wrapping_add(now.len() as u64);
        into = later;
    }
    Ok(())
}

fn write_chunk(space: &AddressSpace, address: u64, mut from: &[u8]) -> Result<(), AccessError> {
    let mut at = address;
    while !from.is_empty() {
        let (span, bytes) = space.span(at, Access::Write)?;
        let (now, later) = from.split_at(from.len().min(bytes as usize));
        mover::write(span, now).map_err(|_| AccessError::Unmapped)?;
        at = at.wrapping_add(now.len() as u64);
        from = later;
    }
    Ok(())
}
