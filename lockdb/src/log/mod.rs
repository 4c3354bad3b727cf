// SPDX-License-Identifier: MIT OR Apache-2.0
//! The write-ahead log, and the order of commits that it gives.
//!
//! A commit goes through four calls: [`Log::begin`] gives it the next number and the next place in
//! the log, [`Log::write`] puts its record there, the caller installs its versions, and
//! [`Log::finish`] returns once it and all before it are published. [`Log::make_durable`] then
//! waits for the disk, as far as the transaction wants that.
//!
//! Everything before the call to the disk is in memory: records go into a ring, threads
//! that pass by write it out, and one thread at a time syncs for all finished commits.
//!
//! ```
//! use std::sync::Arc;
//! use lockdb::files::Memory;
//! use lockdb::log::{Kind, Log, LogOptions, LogPosition, Reader, Durability};
//!
//! let files = Arc::new(Memory::new());
//! let start = LogPosition { store: 7, ..Default::default() };
//! let log = Log::start(files.clone(), &LogOptions::default(), start)?;
//! let ticket = log.begin(5)?;
//! let end = ticket.end();
//! log.write(&ticket, Kind::Commit, b"hello");
//! log.finish(ticket)?;
//! log.make_durable(end, Durability::Group)?;
//!
//! let mut reader = Reader::open(files, start)?;
//! assert_eq!(reader.read()?.expect("one record").body, b"hello");
//! assert!(reader.read()?.is_none());
//! assert_eq!(reader.position(), log.position());
//! # Ok::<(), lockdb::log::LogError>(())
//! ```

use std::sync::Arc;
use std::time::Duration;

use crate::files::Files;

mod bounded_wait;
mod error;
mod options;
mod reader;
mod record;
mod ring;
mod segment;
mod sequencer;
mod storage;
mod ticket;
mod window;

pub(crate) use error::NO_ROOM;
pub use error::{Awaited, Evidence, HeaderError, IoError, LogError, RecordError};
pub use options::{Durability, Kind, LogOptions, LogPosition};
pub use reader::{Reader, Record, Torn};
pub use ticket::Ticket;

use bounded_wait::BoundedWait;
use sequencer::Sequencer;
use storage::Storage;

/// The longest body that a record can have, in bytes.
pub const BODY_LIMIT: usize = record::BODY_LIMIT;

/// Bytes of a segment before its first record.
pub(crate) const SEGMENT_HEADER_BYTES: u64 = segment::HEADER_BYTES as u64;

/// The order of commits, and their records on the way to the disk.
#[derive(Debug)]
pub struct Log {
    sequencer: Sequencer,
    /// None when volatile, or to be read only.
    storage: Option<Storage>,
    read_only: bool,
    store: u64,
    epoch: u64,
    timeout: Duration,
}

impl Log {
    /// A log without files: it only orders commits, from 1 on.
    pub fn volatile() -> Log {
        Self::volatile_with(&LogOptions::default())
    }

    /// As [`Log::volatile`], with as many commits under way and as much timeout as `options` say.
    pub(crate) fn volatile_with(options: &LogOptions) -> Log {
        Self::new(None, options, LogPosition::default())
    }

    /// A log that ends at `at` and takes no commits.
    pub(crate) fn read_only(at: LogPosition) -> Log {
        Log { read_only: true, ..Self::new(None, &LogOptions::default(), at) }
    }

    /// Goes on from `at`, where a [`Reader`] found the end or a new store begins, in a new segment.
    ///
    /// All before `at` is durable when this returns, and so is the new segment's header. For that the
    /// newest segment is written again, in its place.
    ///
    /// # Errors
    /// [`LogError::Option`], [`LogError::Occupied`] when a record stands at `at` or a segment after
    /// it, [`LogError::EndsEarly`] when the log ends before `at`, [`LogError::Corrupt`] when what is to
    /// be written again is damaged, [`LogError::NoRoom`], or [`LogError::Io`].
    pub fn start(
        files: Arc<dyn Files>,
        options: &LogOptions,
        at: LogPosition,
    ) -> Result<Log, LogError> {
        Self::resume(files, options, at, 0)
    }

    /// As [`Log::start`], where [`Reader::durable`] is known: only what follows it is written again.
    ///
    /// # Errors
    /// The same errors.
    pub fn resume(
        files: Arc<dyn Files>,
        options: &LogOptions,
        at: LogPosition,
        durable: u64,
    ) -> Result<Log, LogError> {
        options.check()?;
        let storage = Storage::start(files, options, at, durable)?;
        Ok(Self::new(Some(storage), options, at))
    }

    fn new(storage: Option<Storage>, options: &LogOptions, at: LogPosition) -> Log {
        let sequencer = Sequencer::new(at.commit, at.lsn, options.commits_under_way);
        let LogPosition { store, epoch, .. } = at;
        Log { sequencer, storage, read_only: false, store, epoch, timeout: options.timeout }
    }

    /// The largest P such that all commits up to P are finished: a snapshot.
    #[inline]
    pub fn published(&self) -> u64 {
        self.sequencer.published()
    }

    /// All before this LSN is durable. A volatile log has nothing durable: 0.
    #[inline]
    pub fn durable(&self) -> u64 {
        self.storage.as_ref().map_or(0, Storage::synced)
    }

    /// Gives the next commit number, and the next place for a record with a body of `body_bytes`.
    ///
    /// All later commits wait for this one: the caller may do finite work, but must neither wait
    /// for a lock nor begin another commit before it has finished.
    ///
    /// # Errors
    /// [`LogError::TooLarge`], [`LogError::NoRoom`] on a full disk, [`LogError::MustReopen`],
    /// [`LogError::ReadOnly`], or [`LogError::Stalled`] when others keep the log from having room for
    /// longer than [`LogOptions::timeout`]. Nothing was given then.
    #[inline]
    pub fn begin(&self, body_bytes: usize) -> Result<Ticket<'_>, LogError> {
        if body_bytes > BODY_LIMIT {
            return Err(LogError::TooLarge { bytes: body_bytes, limit: BODY_LIMIT });
        }
        let total = record::total_bytes(body_bytes);
        let place = match &self.storage {
            None if self.read_only => return Err(LogError::ReadOnly),
            None => self.sequencer.begin(total, false, None::<fn() -> u64>),
            Some(storage) => {
                storage.check()?;
                let large = storage.is_large(total);
                self.sequencer.begin(total, large, Some(|| storage.room(large)))
            }
        };
        match place {
            Some(place) => Ok(Ticket::new(self, place, body_bytes)),
            None => self.wait_for_room(body_bytes, total),
        }
    }

    /// The ring is full, or what was reserved of the file: helps to write it out, and reserves more,
    /// until there is room.
    #[cold]
    fn wait_for_room(&self, body_bytes: usize, total: u64) -> Result<Ticket<'_>, LogError> {
        let mut wait = BoundedWait::new(self.timeout);
        loop {
            let published = self.sequencer.advance();
            if let Some(storage) = &self.storage {
                storage.write_out(&self.sequencer)?;
                storage.reserve(self.sequencer.tail().1 + total)?;
            }
            let large = self.storage.as_ref().is_some_and(|storage| storage.is_large(total));
            let room = self.storage.as_ref().map(|storage| || storage.room(large));
            if let Some(place) = self.sequencer.begin(total, large, room) {
                return Ok(Ticket::new(self, place, body_bytes));
            }
            wait.pause().map_err(|waited| {
                let commit = self.sequencer.tail().0 + 1;
                LogError::Stalled { event: Awaited::Room { commit, published }, waited }
            })?;
        }
    }

    /// Returns when all commits before the ticket's are published.
    ///
    /// # Errors
    /// [`LogError::Stalled`] when that takes longer than [`LogOptions::timeout`].
    pub fn wait_for_predecessors(&self, ticket: &Ticket<'_>) -> Result<(), LogError> {
        let waited = self.wait_until_published(ticket.commit() - 1);
        waited.inspect_err(|_| ticket.note_stalled())
    }

    /// Writes the ticket's record; nothing when volatile. Before [`Log::finish`] it may be written
    /// again, such as a [`Kind::Void`], whose body is zeros, whatever is given.
    ///
    /// # Panics
    /// When the ticket is another log's, or `body` has not the length that was begun.
    #[inline]
    pub fn write(&self, ticket: &Ticket<'_>, kind: Kind, body: &[u8]) {
        assert!(std::ptr::eq(self, ticket.log()), "commit {} of another log", ticket.commit());
        ticket.write(kind, body);
    }

    /// Marks the commit done, and returns when it is published. A ticket that was never written
    /// is void.
    ///
    /// # Errors
    /// [`LogError::Stalled`] when the commits before it take longer than [`LogOptions::timeout`].
    /// It is marked done all the same, and published as soon as they are.
    ///
    /// # Panics
    /// When the ticket is another log's.
    #[inline]
    pub fn finish(&self, ticket: Ticket<'_>) -> Result<(), LogError> {
        assert!(std::ptr::eq(self, ticket.log()), "commit {} of another log", ticket.commit());
        ticket.finish()
    }

    /// Returns when a commit is published that was begun.
    ///
    /// # Errors
    /// [`LogError::Stalled`] when that takes longer than [`LogOptions::timeout`].
    #[inline]
    pub(crate) fn wait_until_published(&self, commit: u64) -> Result<(), LogError> {
        if self.sequencer.advance() >= commit {
            return Ok(());
        }
        let mut wait = BoundedWait::new(self.timeout);
        // A thread that finds an earlier commit unfinished leaves the publication to that commit's
        // thread: so look again, each time.
        while self.sequencer.advance() < commit {
            wait.pause().map_err(|waited| {
                let event = Awaited::Commit { commit, published: self.published() };
                LogError::Stalled { event, waited }
            })?;
        }
        Ok(())
    }

    /// Returns when the finished records before `lsn`, a [`Ticket::end`], are as durable as `level`
    /// says. At once when volatile.
    ///
    /// With [`Durability::None`] it never waits for a sync, but now and then writes records out.
    ///
    /// # Errors
    /// [`LogError::MustReopen`] when this write or sync failed, or an earlier one: the commit is
    /// then durable or not, and only reopening the store tells. [`LogError::NotFinished`] when
    /// records before `lsn` are not finished; [`LogError::Stalled`] when another's sync takes
    /// longer than [`LogOptions::timeout`].
    #[inline]
    pub fn make_durable(&self, lsn: u64, level: Durability) -> Result<(), LogError> {
        let Some(storage) = &self.storage else { return Ok(()) };
        match level {
            Durability::None => storage.write_out_if_due(&self.sequencer, lsn),
            Durability::Group | Durability::Immediate => {
                let (_, finished) = self.sequencer.completed();
                if lsn > finished {
                    return Err(LogError::NotFinished { lsn, finished });
                }
                storage.make_durable(&self.sequencer, lsn, level == Durability::Group)
            }
        }
    }

    /// Makes all finished records durable, and then a record that says so: until such a record
    /// follows, damage to the newest records looks like a loss of power to a [`Reader`]. For the
    /// end of a session and of a checkpoint. Takes a commit number.
    ///
    /// # Errors
    /// As [`Log::begin`] and [`Log::make_durable`].
    pub fn mark(&self) -> Result<(), LogError> {
        self.make_durable(self.position().lsn, Durability::Immediate)?;
        let ticket = self.begin(0)?;
        let end = ticket.end();
        self.write(&ticket, Kind::Mark, &[]);
        self.finish(ticket)?;
        self.make_durable(end, Durability::Immediate)
    }

    /// The end of the published prefix: its last commit, and the LSN after that one's record. From
    /// there redo may begin, once all these commits are in pages, and the log is durable up to it.
    pub fn position(&self) -> LogPosition {
        self.at(self.sequencer.completed())
    }

    /// The end of what was given out.
    pub fn tail(&self) -> LogPosition {
        self.at(self.sequencer.tail())
    }

    fn at(&self, (commit, lsn): (u64, u64)) -> LogPosition {
        LogPosition { store: self.store, epoch: self.epoch, commit, lsn }
    }

    /// Removes the segments of which nothing is at or past `lsn`; never the newest.
    ///
    /// # Errors
    /// [`LogError::Io`]: some may be left, and the log is as good as before.
    pub fn remove_before(&self, lsn: u64) -> Result<(), LogError> {
        self.storage.as_ref().map_or(Ok(()), |storage| storage.remove_before(lsn))
    }
}

#[cfg(test)]
mod tests;
