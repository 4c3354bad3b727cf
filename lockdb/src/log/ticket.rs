// SPDX-License-Identifier: MIT OR Apache-2.0
//! One commit on its way through the log.

use std::cell::{Cell, RefCell};

use super::record::Header;
use super::sequencer::CommitPlace;
use super::{Kind, Log, LogError};

/// A commit that was begun and not yet finished. All later ones wait for it; dropped, it is void.
#[derive(Debug)]
#[must_use = "a ticket dropped is a void commit"]
pub struct Ticket<'l> {
    log: &'l Log,
    place: CommitPlace,
    body_bytes: usize,
    written: Cell<bool>,
    /// Those before it have taken too long already.
    stalled: Cell<bool>,
    finished: bool,
    /// A record too large for the ring, which only goes into the file when all before it are there.
    large: RefCell<Option<(Header, Vec<u8>)>>,
}

impl<'l> Ticket<'l> {
    pub(super) fn new(log: &'l Log, place: CommitPlace, body_bytes: usize) -> Self {
        let (written, stalled) = (Cell::new(false), Cell::new(false));
        let large = RefCell::new(None);
        Self { log, place, body_bytes, written, stalled, finished: false, large }
    }

    /// The commit number.
    #[inline]
    pub fn commit(&self) -> u64 {
        self.place.commit
    }

    /// Where its record begins.
    #[inline]
    pub fn lsn(&self) -> u64 {
        self.place.lsn
    }

    /// Where its record ends: what to make durable.
    #[inline]
    pub fn end(&self) -> u64 {
        self.place.end
    }

    pub(super) fn log(&self) -> &'l Log {
        self.log
    }

    /// No commit has to wait again for those before it.
    pub(super) fn note_stalled(&self) {
        self.stalled.set(true);
    }

    #[inline]
    pub(super) fn write(&self, kind: Kind, body: &[u8]) {
        if kind == Kind::Void {
            return self.write_void();
        }
        let (found, begun) = (body.len(), self.body_bytes);
        assert_eq!(found, begun, "length of the body of commit {}", self.commit());
        self.write_record(kind, body);
    }

    #[cold]
    fn write_void(&self) {
        self.write_record(Kind::Void, &vec![0; self.body_bytes]);
    }

    #[inline]
    fn write_record(&self, kind: Kind, body: &[u8]) {
        self.written.set(true);
        let Some(storage) = &self.log.storage else { return };
        let header = Header {
            kind,
            body_bytes: body.len(),
            lsn: self.lsn(),
            commit: self.commit(),
            durable: storage.synced(),
            body_checksum: crc32c::crc32c(body),
        };
        if storage.is_large(self.place.end - self.place.lsn) {
            self.large.replace(Some((header, body.to_vec())));
        } else {
            // SAFETY: `begin` gave the place for a body of `body_bytes` bytes, which `body` has,
            // within the room there was; a ticket that is not finished is borrowed here, by one
            // thread, for it is not `Sync`.
            unsafe { storage.put(self.place, &header, body) };
        }
    }

    #[inline]
    pub(super) fn finish(mut self) -> Result<(), LogError> {
        self.complete()
    }

    /// Marks it done, whatever happens: else no later commit would ever be published.
    #[inline]
    fn complete(&mut self) -> Result<(), LogError> {
        self.finished = true;
        if !self.written.get() {
            self.write_void();
        }
        let large = self.large.get_mut().take();
        let written = large.map_or(Ok(()), |(header, body)| self.write_large(&header, &body));
        self.log.sequencer.finish(self.place);
        if self.stalled.get() {
            self.log.sequencer.advance();
            return written;
        }
        self.log.wait_until_published(self.commit())
    }

    #[cold]
    fn write_large(&self, header: &Header, body: &[u8]) -> Result<(), LogError> {
        let storage = self.log.storage.as_ref().expect("a volatile log keeps no record");
        if self.stalled.get() {
            storage.give_up_large(self.place);
            return Ok(());
        }
        let waited = self.log.wait_for_predecessors(self);
        waited.inspect_err(|_| storage.give_up_large(self.place))?;
        // A failure is remembered, and `make_durable` tells of it.
        let _ = storage.write_large(self.place, header, body);
        Ok(())
    }
}

impl Drop for Ticket<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.finished {
            self.written.set(false); // not what was meant
            let _ = self.complete(); // nobody waits for a void commit
        }
    }
}
