// SPDX-License-Identifier: MIT OR Apache-2.0
//! The replay of a run in the order of its points.
//!
//! Only what was written is kept: a header that is not known has version 0, and a key that is not known
//! has its initial row. So the memory goes with the writes, and a run of reads needs none.

use cluster::engine::{Access, Key, Point};
use cluster::placement::{HeaderId, Headers};
use cluster::transact::Transactions;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use timing::Time;

use super::Judge;
use super::violation::{Event, Violation};
use crate::world::recorder::{Attempt, RecordedAccess, Recorder};

/// How many attempts are looked up ahead. Most of the time goes into waiting for memory, and look-ups that
/// do not depend on each other wait together.
const AHEAD: usize = 16;

/// No place in a list.
const NONE: u32 = u32::MAX;

/// A header that was raised.
#[derive(Clone, Copy, Debug)]
struct Header {
    version: u64,
    /// The last of its raises.
    last: u32,
    /// The first of its keys that were written.
    keys: u32,
}

impl Header {
    const INITIAL: Self = Self { version: 0, last: NONE, keys: NONE };
}

/// How a header came to a version: raise by raise, each of one.
#[derive(Clone, Copy, Debug)]
struct Raise {
    event: Event,
    before: u32,
}

/// A key that was written.
#[derive(Clone, Copy, Debug)]
struct Written {
    key: Key,
    /// Its newest digest.
    digest: u64,
    /// The last of its changes.
    last: u32,
    /// The next key under its header.
    next: u32,
}

/// How a key came to a value.
#[derive(Clone, Copy, Debug)]
struct Change {
    digest: u64,
    /// The version of the header that came with it.
    version: u64,
    /// The raise to that version.
    raise: u32,
    before: u32,
}

/// What the run has left, by its points.
#[derive(Clone, Debug)]
pub struct Replayed<'a, T> {
    judge: Judge<'a, T>,
    /// Those of each table, by [`packed`].
    headers: Box<[HashMap<u64, Header, FixedState>; 256]>,
    raises: Vec<Raise>,
    keys: Vec<Written>,
    changes: Vec<Change>,
    value: Vec<u8>,
    transactions: u64,
    accesses: u64,
}

/// A row as a node has it in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its key.
    pub key: Key,
    /// The version of its header.
    pub version: u64,
    /// Its digest; 0 if there is none.
    pub digest: u64,
}

pub(super) fn replay<'a, T: Transactions>(
    judge: Judge<'a, T>,
    recorder: &Recorder,
) -> Result<Replayed<'a, T>, Box<Violation>> {
    let mut replayed = Replayed {
        judge,
        headers: Box::new(std::array::from_fn(|_| HashMap::default())),
        raises: Vec::new(),
        keys: Vec::new(),
        changes: Vec::new(),
        value: Vec::new(),
        transactions: 0,
        accesses: 0,
    };
    let mut accesses = Vec::new();
    for attempts in by_point(recorder)?.chunks(AHEAD) {
        replayed.look_ahead(attempts.iter().flat_map(|attempt| recorder.accesses(attempt)));
        for attempt in attempts {
            accesses.clear();
            accesses.extend(recorder.accesses(attempt).iter().map(|access| Access::from(*access)));
            replayed.add(attempt, &accesses)?;
        }
    }
    Ok(replayed)
}

/// The attempts whose reads count, in the order of their points.
fn by_point(recorder: &Recorder) -> Result<Vec<&Attempt>, Box<Violation>> {
    let counts = |attempt: &&Attempt| attempt.is_committed() || attempt.is_rolled_back();
    let mut placed: Vec<(Time, u64, &Attempt)> = Vec::with_capacity(recorder.attempts().len());
    for attempt in recorder.attempts().iter().filter(counts) {
        let Some((_, at, order)) = attempt.point() else {
            return Err(Violation::NoPoint { transaction: attempt.transaction }.into());
        };
        placed.push((at, order, attempt));
    }
    // They come nearly in this order, in which case the stable sort takes a time in proportion.
    placed.sort_by_key(|(at, order, _)| (*at, *order));
    Ok(placed.into_iter().map(|(_, _, attempt)| attempt).collect())
}

/// A header among those of its table. Buckets are counted within a partition, in 32 bits; rows are not.
fn packed(header: HeaderId, headers: Headers) -> u64 {
    match headers {
        Headers::Buckets => u64::from(header.partition.0) << 32 | header.bucket,
        Headers::Rows => header.bucket,
    }
}

impl<T: Transactions> Replayed<'_, T> {
    /// How many transactions were replayed.
    pub fn transactions(&self) -> u64 {
        self.transactions
    }

    /// How many accesses they had.
    pub fn accesses(&self) -> u64 {
        self.accesses
    }

    /// Brings the headers and the keys of these accesses near.
    fn look_ahead<'r>(&self, accesses: impl Iterator<Item = &'r RecordedAccess>) {
        let mut near = 0;
        for access in accesses {
            let header = self.header_of(Access::from(*access).key);
            near ^= self.keys.get(header.keys as usize).map_or(0, |written| written.digest);
        }
        std::hint::black_box(near);
    }

    fn add(&mut self, attempt: &Attempt, accesses: &[Access]) -> Result<(), Box<Violation>> {
        let Some((point, at, _)) = attempt.point() else { return Ok(()) };
        let of = Event { transaction: attempt.transaction, at };
        let (begin, end) = (attempt.begin, attempt.end());
        if at < begin || at > end {
            return Err(Violation::OutsideOfItself { of, begin, end }.into());
        }
        self.transactions += 1;
        self.accesses += accesses.len() as u64;
        let reads = accesses.iter().filter(|access| !access.writes);
        match point {
            Point::Now => {
                for read in reads {
                    self.check_newest(of, read)?;
                }
                if attempt.is_rolled_back() {
                    return Ok(());
                }
                let first_raise = self.raises.len() as u32;
                for write in accesses.iter().filter(|access| access.writes) {
                    self.write(of, first_raise, write)?;
                }
                Ok(())
            }
            Point::Within if accesses.iter().any(|access| access.writes) => {
                Err(Violation::InexactWriter { of }.into())
            }
            Point::Within => self.check_within(of, begin, reads),
        }
    }

    fn header_of(&self, key: Key) -> Header {
        let of_table = &self.headers[usize::from(key.table.0)];
        let header = of_table.get(&packed(self.judge.header_of(key), self.judge.layout.headers()));
        header.copied().unwrap_or(Header::INITIAL)
    }

    /// The key, if it was written.
    fn written_key(&self, header: Header, key: Key) -> Option<&Written> {
        let mut at = header.keys;
        while at != NONE {
            let written = &self.keys[at as usize];
            if written.key == key {
                return Some(written);
            }
            at = written.next;
        }
        None
    }

    /// The newest digest of a key.
    fn digest_of(&mut self, header: Header, key: Key) -> u64 {
        match self.written_key(header, key) {
            Some(written) => written.digest,
            None => self.judge.initial_digest(key, &mut self.value),
        }
    }

    /// Who made the newest version.
    fn raised_by(&self, header: Header) -> Option<Event> {
        (header.last != NONE).then(|| self.raises[header.last as usize].event)
    }

    /// Who wrote a key last.
    fn written_by(&self, header: Header, key: Key) -> Option<Event> {
        let last = self.written_key(header, key)?.last;
        Some(self.raises[self.changes[last as usize].raise as usize].event)
    }

    fn check_newest(&mut self, of: Event, read: &Access) -> Result<(), Box<Violation>> {
        let Access { key, version: found, digest, .. } = *read;
        let header = self.header_of(key);
        let newest = header.version;
        if found != newest {
            let by = self.raised_by(header);
            return Err(Violation::Read { of, key, found, newest, by }.into());
        }
        let (version, newest) = (found, self.digest_of(header, key));
        if digest != newest {
            let by = self.written_by(header, key);
            return Err(Violation::Value { of, key, version, found: digest, newest, by }.into());
        }
        Ok(())
    }

    /// Checks that all was current at one moment from `begin` to the point. What has been replayed is what
    /// has its points before, so versions are looked for backwards, and not further than to `begin`.
    fn check_within<'r>(
        &mut self,
        of: Event,
        begin: Time,
        reads: impl Iterator<Item = &'r Access>,
    ) -> Result<(), Box<Violation>> {
        let mut from = begin;
        let mut overwritten: Option<(Access, Event)> = None;
        for read in reads {
            let (since, until) = self.find(of, begin, read)?;
            from = from.max(since);
            if let Some(by) = until
                && overwritten.is_none_or(|(_, earlier)| by.at < earlier.at)
            {
                overwritten = Some((*read, by));
            }
        }
        match overwritten {
            Some((read, by)) if by.at < from => {
                let (key, version) = (read.key, read.version);
                Err(Violation::Overwritten { of, begin, key, version, by }.into())
            }
            _ => Ok(()),
        }
    }

    /// Finds what was read: since when it was current, and who overwrote it.
    fn find(
        &mut self,
        of: Event,
        begin: Time,
        read: &Access,
    ) -> Result<(Time, Option<Event>), Box<Violation>> {
        let Access { key, version, digest, .. } = *read;
        let header = self.header_of(key);
        let newest = header.version;
        if version > newest {
            let by = self.raised_by(header);
            return Err(Violation::Read { of, key, found: version, newest, by }.into());
        }
        let (mut at, mut until) = (header.last, None);
        for _ in version..newest {
            let raise = self.raises[at as usize];
            if raise.event.at < begin {
                let by = raise.event;
                return Err(Violation::Overwritten { of, begin, key, version, by }.into());
            }
            (until, at) = (Some(raise.event), raise.before);
        }
        let since = if at == NONE { Time::ZERO } else { self.raises[at as usize].event.at };
        let (expected, by) = self.digest_at(header, key, version);
        if digest != expected {
            let (found, newest) = (digest, expected);
            return Err(Violation::Value { of, key, version, found, newest, by }.into());
        }
        Ok((since, until))
    }

    /// The digest of a key under a version of its header, and who wrote it.
    fn digest_at(&mut self, header: Header, key: Key, version: u64) -> (u64, Option<Event>) {
        let mut at = self.written_key(header, key).map_or(NONE, |written| written.last);
        while at != NONE {
            let change = self.changes[at as usize];
            if change.version <= version {
                return (change.digest, Some(self.raises[change.raise as usize].event));
            }
            at = change.before;
        }
        (self.judge.initial_digest(key, &mut self.value), None)
    }

    /// A write of a transaction whose raises begin at `first_raise`.
    fn write(&mut self, of: Event, first_raise: u32, write: &Access) -> Result<(), Box<Violation>> {
        let key = write.key;
        let id = self.judge.header_of(key);
        let of_table = &mut self.headers[usize::from(key.table.0)];
        let header =
            of_table.entry(packed(id, self.judge.layout.headers())).or_insert(Header::INITIAL);
        // Another key of the same transaction may have raised the header already.
        let is_raised = header.last != NONE && header.last >= first_raise;
        let expected = if is_raised { header.version } else { header.version + 1 };
        if write.version != expected {
            let by = (header.last != NONE).then(|| self.raises[header.last as usize].event);
            let (made, header) = (write.version, self.judge.layout.name_of(id));
            return Err(Violation::Write { of, key, header, made, expected, by }.into());
        }
        if !is_raised {
            let raise = self.raises.len() as u32;
            self.raises.push(Raise { event: of, before: header.last });
            (header.version, header.last) = (expected, raise);
        }
        let raise = header.last;
        let mut at = header.keys;
        while at != NONE && self.keys[at as usize].key != key {
            at = self.keys[at as usize].next;
        }
        if at == NONE {
            at = self.keys.len() as u32;
            self.keys.push(Written { key, digest: 0, last: NONE, next: header.keys });
            header.keys = at;
        }
        let written = &mut self.keys[at as usize];
        let before = written.last;
        if before != NONE && self.changes[before as usize].raise == raise {
            return Err(Violation::WrittenTwice { of, key }.into());
        }
        (written.digest, written.last) = (write.digest, self.changes.len() as u32);
        self.changes.push(Change { digest: write.digest, version: expected, raise, before });
        Ok(())
    }

    /// Compares the rows that a node, or all of them, has in the end: those that differ from the start, and
    /// any others. [`Replayed::written`] lists those that were written.
    ///
    /// # Errors
    /// The first row that is not what its last writer has left.
    pub fn check_end(&mut self, rows: impl IntoIterator<Item = Row>) -> Result<(), Box<Violation>> {
        for Row { key, version, digest } in rows {
            let header = self.header_of(key);
            let (found, expected) =
                ((version, digest), (header.version, self.digest_of(header, key)));
            if found != expected {
                let by = self.written_by(header, key);
                return Err(Violation::End { key, found, expected, by }.into());
            }
        }
        Ok(())
    }

    /// The rows that were written, as their last writers have left them, in the order of their first
    /// writes.
    pub fn written(&self) -> impl Iterator<Item = Row> + '_ {
        self.keys.iter().map(|written| Row {
            key: written.key,
            version: self.header_of(written.key).version,
            digest: written.digest,
        })
    }
}
