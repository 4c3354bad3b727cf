// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the ring into the files: writing out, and syncs that many commits share.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::files::{File, Files};

use super::record::{HEADER_BYTES, Header};
use super::ring::Ring;
use super::segment::Writer;
use super::sequencer::{CommitPlace, Padded, Sequencer};
use super::{Awaited, IoError, LogError, LogOptions, LogPosition};

/// Committing threads write out this many bytes at a time: enough for one call to the
/// system, few enough that it delays nobody long.
const WRITE_OUT: u64 = 1 << 20;

/// Where a log's bytes are.
///
/// Invariants: `synced <= written <=` end of the finished records; no finished record past
/// `written` is further than the ring's size from it; records under way lie past the finished ones
/// and within the ring's size of `written`, except for large ones, which never touch the ring. No
/// record lies past `reserved`, so that none is published for which the disk has no room.
#[derive(Debug)]
pub(super) struct Storage {
    ring: Ring,
    /// The files hold the log up to this LSN. Changed under `writer`.
    written: Padded<AtomicU64>,
    /// The newest file has room for the log up to this LSN. Changed under `writer`.
    reserved: AtomicU64,
    /// Durable up to this LSN. Changed under `syncing`.
    synced: Padded<AtomicU64>,
    /// The first failure: after it nothing is written or synced.
    failure: OnceLock<IoError>,
    writer: Mutex<Writer>,
    /// One sync at a time: the system reports an error to one of several only.
    syncing: Mutex<()>,
    turn: Mutex<Turn>,
    /// A leader is through.
    through: Condvar,
    /// A commit that does not want to wait for others has come.
    hurry: Condvar,
    gather: Duration,
    timeout: Duration,
    /// The LSN at which this log began.
    began: u64,
}

/// Whose turn it is to sync for all.
#[derive(Debug, Default)]
struct Turn {
    taken: bool,
    hurried: bool,
    /// How many have begun to wait since the last one was through.
    waiting: usize,
    /// How many waited when the last one was through.
    company: usize,
}

/// So often a leader lets others run before it syncs, if the last one had company.
const MOMENTS: u32 = 32;

impl Storage {
    pub fn start(
        files: Arc<dyn Files>,
        options: &LogOptions,
        at: LogPosition,
        durable: u64,
    ) -> Result<Self, LogError> {
        let ring = Ring::new(options.ring_bytes)
            .map_err(|error| LogError::Io(IoError::new("map", "memory for the log", 0, error)))?;
        let writer = Writer::start(files, options.segment_bytes, at, durable);
        let writer = writer.map_err(|error| match error {
            LogError::Io(failure) => no_room(failure, HEADER_BYTES as u64),
            error => error,
        })?;
        Ok(Self {
            ring,
            written: Padded(AtomicU64::new(at.lsn)),
            reserved: AtomicU64::new(at.lsn),
            synced: Padded(AtomicU64::new(at.lsn)),
            failure: OnceLock::new(),
            writer: Mutex::new(writer),
            syncing: Mutex::new(()),
            turn: Mutex::default(),
            through: Condvar::new(),
            hurry: Condvar::new(),
            gather: options.gather,
            timeout: options.timeout,
            began: at.lsn,
        })
    }

    /// An error after the first failure.
    #[inline]
    pub fn check(&self) -> Result<(), LogError> {
        match self.failure.get() {
            None => Ok(()),
            Some(first) => Err(LogError::MustReopen(first.clone())),
        }
    }

    fn fail(&self, failure: IoError) -> LogError {
        LogError::MustReopen(self.failure.get_or_init(|| failure).clone())
    }

    /// Whether a record of `bytes` bytes goes past the ring: it would keep too many others out.
    #[inline]
    pub fn is_large(&self, bytes: u64) -> bool {
        bytes > self.ring.capacity() / 4
    }

    /// The LSN that records must not exceed; `large` ones go past the ring.
    pub fn room(&self, large: bool) -> u64 {
        let reserved = self.reserved.load(Ordering::Acquire);
        if large { reserved } else { reserved.min(self.written() + self.ring.capacity()) }
    }

    /// Ensures that the disk has room for the log up to `lsn`: for more, if it has, so that this is
    /// asked seldom.
    pub fn reserve(&self, lsn: u64) -> Result<(), LogError> {
        if self.reserved.load(Ordering::Acquire) >= lsn {
            return Ok(());
        }
        let writer = self.writer.lock();
        let reserved = self.reserved.load(Ordering::Acquire);
        if reserved >= lsn {
            return Ok(());
        }
        let ahead = lsn + (lsn - self.began).clamp(LEAST_AHEAD, MOST_AHEAD);
        let outcome = match writer.reserve(reserved, ahead) {
            Ok(()) => Ok(ahead),
            Err(_) => writer.reserve(reserved, lsn).map(|()| lsn),
        };
        let reserved = outcome.map_err(|failure| no_room(failure, lsn - reserved))?;
        self.reserved.store(reserved, Ordering::Release);
        Ok(())
    }

    pub fn written(&self) -> u64 {
        self.written.0.load(Ordering::Acquire)
    }

    #[inline]
    pub fn synced(&self) -> u64 {
        self.synced.0.load(Ordering::Acquire)
    }

    /// Puts a record into the ring.
    ///
    /// # Safety
    /// `place` was given for these bytes within [`Storage::room`], is not finished, and this is the
    /// only call for it at this time.
    #[inline]
    pub unsafe fn put(&self, place: CommitPlace, header: &Header, body: &[u8]) {
        let header = header.encode();
        let after_body = place.lsn + (HEADER_BYTES + body.len()) as u64;
        let padding = (place.end - after_body) as usize;
        // SAFETY: the sequencer gave these bytes to `place` alone, at most the ring's size past
        // `written`, so their former content was written out; they are read only once the place
        // is finished, which is after this (the caller's promise).
        unsafe {
            self.ring.write(place.lsn, &header);
            self.ring.write(place.lsn + HEADER_BYTES as u64, body);
            self.ring.write(after_body, &[0; 8][..padding]);
        }
    }

    /// Writes a large record into the file. All before it must be finished, it not yet.
    pub fn write_large(
        &self,
        place: CommitPlace,
        header: &Header,
        body: &[u8],
    ) -> Result<(), LogError> {
        let mut writer = self.writer.lock();
        self.write_ring(&mut writer, place.lsn)?;
        self.roll_if_full(&mut writer)?;
        let padding = place.end - place.lsn - (HEADER_BYTES + body.len()) as u64;
        self.append(&mut writer, &[&header.encode(), body, &[0; 8][..padding as usize]])?;
        assert_eq!(writer.written(), place.end, "the end of a large record");
        Ok(())
    }

    /// A large record cannot be written, since those before it are not finished; so nothing behind
    /// it can be, either.
    pub fn give_up_large(&self, place: CommitPlace) {
        let source = io::Error::new(io::ErrorKind::TimedOut, "commits before it are not finished");
        self.fail(IoError::new("write a large record to", "the log", place.lsn, source));
    }

    /// Writes the finished records into the file.
    pub fn write_out(&self, sequencer: &Sequencer) -> Result<(), LogError> {
        let (_, finished) = sequencer.completed();
        self.write_ring(&mut self.writer.lock(), finished)
    }

    /// The same, if there are many of them, before `lsn`, and nobody else is at it.
    pub fn write_out_if_due(&self, sequencer: &Sequencer, lsn: u64) -> Result<(), LogError> {
        let due = WRITE_OUT.min(self.ring.capacity() / 2);
        if lsn.saturating_sub(self.written()) < due {
            return self.check();
        }
        let Some(mut writer) = self.writer.try_lock() else {
            return self.check();
        };
        let (_, finished) = sequencer.completed();
        self.write_ring(&mut writer, finished)
    }

    /// Returns when all before `lsn`, which is finished, is durable; `gathers` says whether to wait
    /// for company.
    pub fn make_durable(
        &self,
        sequencer: &Sequencer,
        lsn: u64,
        gathers: bool,
    ) -> Result<(), LogError> {
        if self.synced() >= lsn {
            return Ok(());
        }
        let since = Instant::now();
        let mut turn = self.turn.lock();
        loop {
            if self.synced() >= lsn {
                return Ok(());
            }
            self.check()?;
            if !turn.taken {
                turn = self.lead(turn, sequencer, gathers)?;
                continue;
            }
            if !gathers {
                turn.hurried = true;
                self.hurry.notify_all();
            }
            let waited = since.elapsed();
            let Some(left) = self.timeout.checked_sub(waited) else {
                return Err(LogError::Stalled { event: Awaited::Durable(lsn), waited });
            };
            turn.waiting += 1;
            self.through.wait_for(&mut turn, left);
        }
    }

    /// Syncs for all finished commits.
    fn lead<'a>(
        &'a self,
        mut turn: MutexGuard<'a, Turn>,
        sequencer: &Sequencer,
        gathers: bool,
    ) -> Result<MutexGuard<'a, Turn>, LogError> {
        (turn.taken, turn.hurried) = (true, false);
        let leader = Leader(self);
        if gathers {
            turn = self.await_company(turn);
        }
        if gathers && !self.gather.is_zero() {
            self.hurry.wait_while_for(&mut turn, |turn| !turn.hurried, self.gather);
        }
        drop(turn);
        let outcome = self.write_and_sync(sequencer);
        drop(leader);
        outcome.map(|()| self.turn.lock())
    }

    /// The threads that shared the last sync were just woken, and are likely to commit again: a
    /// leader that is quicker than they would sync for itself alone.
    fn await_company<'a>(&'a self, mut turn: MutexGuard<'a, Turn>) -> MutexGuard<'a, Turn> {
        for _ in 0..MOMENTS {
            if turn.waiting >= turn.company || turn.hurried {
                break;
            }
            drop(turn);
            thread::yield_now();
            turn = self.turn.lock();
        }
        turn
    }

    fn write_and_sync(&self, sequencer: &Sequencer) -> Result<(), LogError> {
        let (_, finished) = sequencer.completed();
        let mut writer = self.writer.lock();
        self.write_ring(&mut writer, finished)?;
        let (file, name) = (writer.file(), writer.segment().name.clone());
        let written = writer.written();
        drop(writer); // the next records can be written meanwhile
        self.sync(&*file, &name, written)
    }

    /// Removes the segments of which nothing is at or past `lsn`.
    pub fn remove_before(&self, lsn: u64) -> Result<(), LogError> {
        self.writer.lock().remove_before(lsn).map_err(LogError::Io)
    }

    fn write_ring(&self, writer: &mut Writer, finished: u64) -> Result<(), LogError> {
        self.check()?; // also: a large record that failed never counts as in the ring
        if finished <= writer.written() {
            return Ok(());
        }
        self.roll_if_full(writer)?;
        // SAFETY: all records before `finished` were put, which happened before (the sequencer's
        // release and acquire); nobody writes there before `written` says that they are in the
        // file, which only we, holding the writer, can say.
        let chunks = unsafe { self.ring.read(writer.written()..finished) };
        self.append(writer, &chunks)
    }

    fn append(&self, writer: &mut Writer, chunks: &[&[u8]]) -> Result<(), LogError> {
        writer.append(chunks).map_err(|failure| self.fail(failure))?;
        // Release: a thread that sees it may overwrite what we read.
        self.written.0.store(writer.written(), Ordering::Release);
        Ok(())
    }

    fn roll_if_full(&self, writer: &mut Writer) -> Result<(), LogError> {
        if !writer.is_full() {
            return Ok(());
        }
        self.sync(&*writer.file(), &writer.segment().name, writer.written())?;
        let reserved = self.reserved.load(Ordering::Acquire);
        writer.roll(reserved).map_err(|failure| self.fail(failure))
    }

    /// Syncs `file`, the newest segment or the last, which makes all before `written` durable.
    fn sync(&self, file: &dyn File, name: &str, written: u64) -> Result<(), LogError> {
        let _alone = self.syncing.lock();
        self.check()?;
        if self.synced() < written {
            file.sync().map_err(|error| self.fail(IoError::new("sync", name, 0, error)))?;
            self.synced.0.store(written, Ordering::Release);
        }
        Ok(())
    }
}

/// Bytes that are reserved at least and at most beyond what is needed: as many as were written since
/// the log began.
const LEAST_AHEAD: u64 = 64 << 10;
const MOST_AHEAD: u64 = 8 << 20;

/// The error if nothing could be reserved or begun: nothing has happened.
fn no_room(failure: IoError, bytes: u64) -> LogError {
    match failure.is_no_room() {
        true => LogError::NoRoom { file: failure.file, bytes, source: failure.source },
        false => LogError::Io(failure),
    }
}

/// Gives the turn back, even if a file panics.
struct Leader<'a>(&'a Storage);

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        let mut turn = self.0.turn.lock();
        *turn = Turn { company: turn.waiting, ..Turn::default() };
        drop(turn);
        self.0.through.notify_all();
    }
}
