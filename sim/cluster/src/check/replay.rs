// SPDX-License-Identifier: MIT OR Apache-2.0
//! The replay of a run in the order of its points.
//!
//! Only what was written is kept: a header that is not known has version 0, and a key that is not known
//! has its initial row. So the memory goes with the writes, and a run of reads needs none.

use cluster::engine::{Access, Key, Point};
use cluster::placement::HeaderId;
use cluster::transact::Transactions;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use timing::Time;

use super::Judge;
use super::violation::{Event, Violation};
use crate::world::recorder::{Attempt, Recorder};

/// No place in a list.
const NONE: u32 = u32::MAX;

/// A header that was raised.
#[derive(Clone, Copy, Debug)]
struct Header {
    version: u64,
    /// The last of its raises.
    last: u32,
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
    header: u32,
    initial: u64,
    /// The last of its changes.
    last: u32,
}

/// How a key came to a value.
#[derive(Clone, Copy, Debug)]
struct Change {
    digest: u64,
    /// The version of the header that came with it.
    version: u64,
    event: Event,
    before: u32,
}

/// What the run has left, by its points.
#[derive(Clone, Debug)]
pub struct Replayed<'a, T> {
    judge: Judge<'a, T>,
    headers: Vec<Header>,
    header_places: HashMap<u64, u32, FixedState>,
    raises: Vec<Raise>,
    keys: Vec<Written>,
    key_places: HashMap<Key, u32, FixedState>,
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
        headers: Vec::new(),
        header_places: HashMap::default(),
        raises: Vec::new(),
        keys: Vec::new(),
        key_places: HashMap::default(),
        changes: Vec::new(),
        value: Vec::new(),
        transactions: 0,
        accesses: 0,
    };
    let mut accesses = Vec::new();
    for attempt in by_point(recorder)? {
        accesses.clear();
        accesses.extend(recorder.accesses(attempt).iter().map(|access| Access::from(*access)));
        replayed.add(attempt, &accesses)?;
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

fn packed(header: HeaderId) -> u64 {
    let HeaderId { partition, table, bucket } = header;
    u64::from(partition.0) << 40 | u64::from(table.0) << 32 | u64::from(bucket)
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

    /// The place of the header of a key that nobody has written, if another key has raised it.
    fn header_of(&self, key: Key) -> Option<u32> {
        self.header_places.get(&packed(self.judge.header_of(key))).copied()
    }

    /// The newest version of a key's header, and who made it; and the newest digest, and who wrote it.
    fn newest(&mut self, key: Key) -> (Option<u32>, u64, Option<Event>) {
        match self.key_places.get(&key) {
            Some(place) => {
                let written = &self.keys[*place as usize];
                let change = &self.changes[written.last as usize];
                (Some(written.header), change.digest, Some(change.event))
            }
            None => {
                let header = self.header_of(key);
                (header, self.judge.initial_digest(key, &mut self.value), None)
            }
        }
    }

    fn check_newest(&mut self, of: Event, read: &Access) -> Result<(), Box<Violation>> {
        let Access { key, version: found, digest, .. } = *read;
        let (header, newest_digest, writer) = self.newest(key);
        let (newest, by) = self.version_of(header);
        if found != newest {
            return Err(Violation::Read { of, key, found, newest, by }.into());
        }
        if digest != newest_digest {
            let (version, newest) = (found, newest_digest);
            let by = writer;
            return Err(Violation::Value { of, key, version, found: digest, newest, by }.into());
        }
        Ok(())
    }

    fn version_of(&self, header: Option<u32>) -> (u64, Option<Event>) {
        let header = header.map(|header| self.headers[header as usize]);
        header.map_or((0, None), |header| {
            (header.version, Some(self.raises[header.last as usize].event))
        })
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
        let place = self.key_places.get(&key).copied();
        let header = match place {
            Some(place) => Some(self.keys[place as usize].header),
            None => self.header_of(key),
        };
        let (newest, by) = self.version_of(header);
        if version > newest {
            return Err(Violation::Read { of, key, found: version, newest, by }.into());
        }
        let mut at = header.map_or(NONE, |header| self.headers[header as usize].last);
        let mut until = None;
        for _ in version..newest {
            let raise = self.raises[at as usize];
            if raise.event.at < begin {
                let by = raise.event;
                return Err(Violation::Overwritten { of, begin, key, version, by }.into());
            }
            (until, at) = (Some(raise.event), raise.before);
        }
        let since = if at == NONE { Time::ZERO } else { self.raises[at as usize].event.at };
        let (expected, by) = self.digest_at(key, place, version);
        if digest != expected {
            let (found, newest) = (digest, expected);
            return Err(Violation::Value { of, key, version, found, newest, by }.into());
        }
        Ok((since, until))
    }

    /// The digest of a key under a version of its header, and who wrote it.
    fn digest_at(&mut self, key: Key, place: Option<u32>, version: u64) -> (u64, Option<Event>) {
        let Some(place) = place else {
            return (self.judge.initial_digest(key, &mut self.value), None);
        };
        let written = self.keys[place as usize];
        let mut at = written.last;
        while at != NONE {
            let change = self.changes[at as usize];
            if change.version <= version {
                return (change.digest, Some(change.event));
            }
            at = change.before;
        }
        (written.initial, None)
    }

    /// A write of a transaction whose raises begin at `first_raise`.
    fn write(&mut self, of: Event, first_raise: u32, write: &Access) -> Result<(), Box<Violation>> {
        let key = write.key;
        let place = self.place_of(key);
        let header = self.keys[place as usize].header;
        let Header { version, last } = self.headers[header as usize];
        // Another key of the same transaction may have raised the header already.
        let is_raised = last != NONE && last >= first_raise;
        let expected = if is_raised { version } else { version + 1 };
        if write.version != expected {
            let by = (last != NONE).then(|| self.raises[last as usize].event);
            let (header, made) = (self.judge.header_of(key), write.version);
            return Err(Violation::Write { of, key, header, made, expected, by }.into());
        }
        if !is_raised {
            let raise = self.raises.len() as u32;
            self.raises.push(Raise { event: of, before: last });
            self.headers[header as usize] = Header { version: expected, last: raise };
        }
        let before = self.keys[place as usize].last;
        if before != NONE && self.changes[before as usize].event.transaction == of.transaction {
            return Err(Violation::WrittenTwice { of, key }.into());
        }
        self.keys[place as usize].last = self.changes.len() as u32;
        self.changes.push(Change { digest: write.digest, version: expected, event: of, before });
        Ok(())
    }

    /// The place of a key, which is made if it has none.
    fn place_of(&mut self, key: Key) -> u32 {
        if let Some(place) = self.key_places.get(&key) {
            return *place;
        }
        let headers = &mut self.headers;
        let header =
            *self.header_places.entry(packed(self.judge.header_of(key))).or_insert_with(|| {
                headers.push(Header { version: 0, last: NONE });
                headers.len() as u32 - 1
            });
        let initial = self.judge.initial_digest(key, &mut self.value);
        let place = self.keys.len() as u32;
        self.keys.push(Written { key, header, initial, last: NONE });
        self.key_places.insert(key, place);
        place
    }

    /// Compares the rows that a node, or all of them, has in the end: those that differ from the start, and
    /// any others. [`Replayed::written`] lists those that were written.
    ///
    /// # Errors
    /// The first row that is not what its last writer has left.
    pub fn check_end(&mut self, rows: impl IntoIterator<Item = Row>) -> Result<(), Box<Violation>> {
        for Row { key, version, digest } in rows {
            let (header, expected, by) = self.newest(key);
            let (newest, _) = self.version_of(header);
            if (version, digest) != (newest, expected) {
                let (found, expected) = ((version, digest), (newest, expected));
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
            version: self.headers[written.header as usize].version,
            digest: self.changes[written.last as usize].digest,
        })
    }
}
