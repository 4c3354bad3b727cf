// SPDX-License-Identifier: MIT OR Apache-2.0
//! The shared state: what has changed since the last flush to native storage, in one small area
//! that is handed over with each near-data invocation (ccSLT paper, sections 1 and 2.3).
//!
//! A device that has the pages on native storage and this area has every snapshot from
//! [`AreaHeader::oldest`] to [`AreaHeader::snapshot`], exactly. `docs/shared-state.md` has the
//! layout and the argument.

mod area;
mod builder;
mod collect;
mod format;

use std::sync::Arc;

pub use area::Area;
pub use format::{AreaError, AreaHeader, PageEntry, TableEntry, VidEntry};

use super::database::{Database, Shared};
use super::error::{Error, Result};
use super::mutant::Mutant;
use super::native::NativeStorage;
use super::transaction::Transaction;

/// A shared state, collected. As long as it lives, checkpoints leave the pages in place that it is
/// relative to, so that a device can take its time.
#[derive(Debug)]
pub struct SharedState {
    shared: Arc<Shared>,
    header: AreaHeader,
    bytes: Vec<u8>,
}

/// How often an invocation flushes when too much is committed meanwhile.
const ATTEMPTS: usize = 4;

impl Shared {
    /// Collects the shared state, after a checkpoint if it has grown beyond its limit.
    pub(crate) fn shared_state(self: &Arc<Self>) -> Result<SharedState> {
        self.shared_state_with(|| ())
    }

    /// As [`Shared::shared_state`]; does `also` with it, while neither vacuum nor a checkpoint is
    /// running.
    pub(crate) fn shared_state_with(self: &Arc<Self>, also: impl FnOnce()) -> Result<SharedState> {
        let storage = self.pages.storage().ok_or(Error::NoNativeStorage)?;
        // Neither vacuum nor a checkpoint of others meanwhile: VID maps lead to nothing older than they do
        // now, pages stay in use, and the checkpoint that all is relative to is the newest. Nor between a
        // checkpoint and the next look, since much could be committed while another has its turn.
        let mut vacuum = self.maintenance.lock();
        for _ in 0..ATTEMPTS {
            // The area has no way to name pages that a device has written since.
            if self.pages.has_unnamed() && !self.mutants.has(Mutant::NearDataNotFlushed) {
                self.checkpoint_alone(&mut vacuum)?;
            }
            let collected = collect::collect(self, storage, vacuum.horizon())?;
            if let Some((header, bytes)) = collected {
                storage.hold(header.epoch);
                also();
                return Ok(SharedState { shared: self.clone(), header, bytes });
            }
            self.checkpoint_alone(&mut vacuum)?;
        }
        let limit = self.options.shared_state_limit as u64;
        Err(Error::full("bytes of shared state", limit))
    }

    /// Whether a checkpoint is due because the shared state could be beyond its limit otherwise. A
    /// store that no device was ever to read is not flushed for it.
    pub(crate) fn shared_state_is_due(&self) -> bool {
        let room = (self.options.shared_state_limit / collect::IMAGE_BYTES) as u64;
        self.pages.storage().is_some_and(NativeStorage::has_devices)
            && self.pages.taken_since_flush() >= room
    }
}

impl Database {
    /// Collects the shared state: the changes since the last checkpoint, for a device that reads
    /// native storage. Transactions continue in the meantime. When it would be larger than
    /// [`Options::shared_state_limit`](super::Options::shared_state_limit), a checkpoint is made
    /// first.
    ///
    /// # Errors
    /// When the store has no files, when storage cannot be read or written, or when so much is
    /// committed that not even a checkpoint keeps the area within its limit.
    pub fn shared_state(&self) -> Result<SharedState> {
        self.shared.shared_state()
    }
}

impl Transaction<'_> {
    /// As [`Database::shared_state`]: with it a device sees the transaction's snapshot,
    /// [`Transaction::snapshot`]. Its own changes are not in it before they are committed.
    ///
    /// # Errors
    /// The same errors.
    pub fn shared_state(&self) -> Result<SharedState> {
        self.shared().shared_state()
    }
}

impl SharedState {
    /// The area's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The contents of its first 128 bytes.
    pub fn header(&self) -> &AreaHeader {
        &self.header
    }

    /// The newest snapshot that a device can reconstruct from it.
    pub fn snapshot(&self) -> u64 {
        self.header.snapshot
    }

    /// The checkpoint that it is relative to.
    pub fn epoch(&self) -> u64 {
        self.header.epoch
    }

    /// Puts the area into memory that a device has mapped; gives its length. What follows it there
    /// does not matter. As many bytes as the store's limit are always enough.
    ///
    /// # Errors
    /// When there is not enough room; nothing is written then.
    pub fn copy_into(&self, target: &mut [u8]) -> Result<usize> {
        let length = self.bytes.len();
        let Some(place) = target.get_mut(..length) else {
            let limit = target.len() as u64;
            return Err(Error::full("bytes for a shared state", limit));
        };
        place.copy_from_slice(&self.bytes);
        Ok(length)
    }
}

impl Drop for SharedState {
    fn drop(&mut self) {
        let storage: Option<&NativeStorage> = self.shared.pages.storage();
        storage.expect("it was collected from one").let_go(self.header.epoch);
        *self.shared.spare_area.lock() = std::mem::take(&mut self.bytes);
    }
}
