// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests for rows: keys are locked and looked up in the index, and what is not cached is read from the host's
//! tables by DMA (section 4.2, step 2).
//!
//! An answer is put together in one burst, at once if all is cached, or when all reads have ended: no key of it is
//! locked by another then, and each row is the newest version. So the rows of one answer were valid at one instant.

use super::super::displacements::Reading;
use super::super::index::{Cached, Fill, Look};
use super::super::log::Address;
use super::super::messages::{Header, Kind, Verdict, Version, put_row, row, value_bytes};
use super::Burst;
use super::logging::Then;
use crate::engine::{Key, NodeId, Operation, Outcome, Place, Token, TransactionId, Work};
use crate::placement::PartitionId;
use crate::transact::{Intent, Rows, Transactions};
use crate::wire::{Reader, Writer};

/// The bytes of a row before its value: the version.
const ROW_HEAD: usize = 4;

/// How far a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Found {
    /// The index had it, and is asked again when all are there.
    Cached,
    /// It is being read.
    Reading { epoch: u16, slots: u8, last: Option<(Reading, bool)> },
    /// It was read in this epoch of its entry; its bytes, version first, are at this place.
    Read { epoch: u16, at: u32 },
}

/// A key that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Want {
    key: Key,
    locks: bool,
    /// Whether this request has locked it, and none before it.
    has_locked: bool,
    /// The version that it should have, if it is to be compared.
    expected: u32,
    found: Found,
}

/// A request for rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Fetch {
    pub from: NodeId,
    pub header: Header,
    wants: Vec<Want>,
    /// How many are being read.
    open: u16,
    /// What was read.
    bytes: Vec<u8>,
    refused: Option<Verdict>,
    /// Of a shipped transaction: its name, its input, and the rows of the coordinator.
    pub transaction: TransactionId,
    pub input: Vec<u8>,
    pub own_rows: Vec<u8>,
}

impl Fetch {
    pub fn new(from: NodeId, header: Header) -> Self {
        Self {
            from,
            header,
            wants: Vec::new(),
            open: 0,
            bytes: Vec::new(),
            refused: None,
            transaction: TransactionId::default(),
            input: Vec::new(),
            own_rows: Vec::new(),
        }
    }

    /// Takes it out of its place, which keeps an empty one.
    fn take(place: &mut Self) -> Self {
        let empty = Self::new(place.from, place.header);
        std::mem::replace(place, empty)
    }

    pub fn add_keys(&mut self, reads: impl Iterator<Item = Key>, locks: impl Iterator<Item = Key>) {
        let want =
            |key, locks| Want { key, locks, has_locked: false, expected: 0, found: Found::Cached };
        self.wants.extend(reads.map(|key| want(key, false)));
        self.wants.extend(locks.map(|key| want(key, true)));
    }

    pub fn add_versions(&mut self, keys: impl Iterator<Item = (Key, Version)>) {
        self.wants.extend(keys.map(|(key, version)| Want {
            key,
            locks: false,
            has_locked: false,
            expected: version.number,
            found: Found::Cached,
        }));
    }
}

impl<T: Transactions> Burst<'_, T> {
    /// An empty request, in the memory of one that is over.
    pub(super) fn new_fetch(&mut self, from: NodeId, header: Header) -> Fetch {
        match self.scratch.fetches.pop() {
            Some(fetch) => Fetch { from, header, ..fetch },
            None => Fetch::new(from, header),
        }
    }

    /// A request is over.
    fn end_fetch(&mut self, mut fetch: Fetch) {
        fetch.wants.clear();
        fetch.bytes.clear();
        fetch.input.clear();
        fetch.own_rows.clear();
        (fetch.open, fetch.refused) = (0, None);
        fetch.transaction = TransactionId::default();
        self.scratch.fetches.push(fetch);
    }

    /// Locks and looks up, and reads what is not cached.
    pub(super) fn begin_fetch(&mut self, flow: usize, mut fetch: Fetch) {
        let owner = self.owner_of_flow(flow);
        self.look_up_all(owner, &mut fetch);
        let number = usize::from(self.core.number);
        let held = &mut self.shared.nic.cores[number].flows[flow].held;
        held.extend(fetch.wants.iter().filter(|want| want.has_locked).map(|want| want.key));
        if fetch.refused.is_some() {
            self.refuse(flow, &fetch);
            return self.end_fetch(fetch);
        }
        // Looking one key up may have made the index forget another one.
        let index = &self.shared.nic.index;
        let places = &self.scratch.places;
        let are_there = places.len() == fetch.wants.len()
            && places.iter().zip(&fetch.wants).all(|(at, of)| index.row_at(*at, of.key).is_some());
        if are_there {
            self.answer_fetch(flow, &fetch);
            return self.end_fetch(fetch);
        }
        let place = self.core.fetches.put(fetch);
        self.read_all(place);
        self.finish_fetch(place);
    }

    /// Looks all keys of a request up, and notes the places of those that are cached until one is not.
    fn look_up_all(&mut self, owner: u16, fetch: &mut Fetch) {
        self.scratch.places.clear();
        // What is to be locked comes first: who cannot lock all need not read.
        for at in (0..fetch.wants.len()).rev() {
            let Want { key, locks, .. } = fetch.wants[at];
            let partition = self.fixed.layout.partition_of(key);
            if self.shared.primary_of(partition) != Some(self.core.own) {
                fetch.refused = Some(Verdict::Refused);
                return;
            }
            self.out.work(Work::Index, 1);
            let index = &mut self.shared.nic.index;
            let (look, had) = match locks {
                true => index.lock(partition, key, owner),
                false => (index.look(partition, key, owner), false),
            };
            let look = match look {
                Look::Miss { epoch, .. } if self.shared.nic.index.was_cached(partition, key) => {
                    self.bring(partition, key, (epoch, look, owner))
                }
                _ => look,
            };
            let looks = &mut self.shared.nic.looks.0;
            looks.rows += u64::from(matches!(look, Look::Cached(_) | Look::Miss { .. }));
            looks.cached += u64::from(matches!(look, Look::Cached(_)));
            let want = &mut fetch.wants[at];
            match look {
                Look::Locked => fetch.refused = Some(Verdict::Locked),
                Look::Full => fetch.refused = Some(Verdict::Room),
                Look::Cached(place) => {
                    want.has_locked = locks && !had;
                    self.scratch.places.push(place);
                }
                Look::Miss { epoch, slots } => {
                    want.has_locked = locks && !had;
                    want.found = Found::Reading { epoch, slots, last: None };
                }
            }
            if fetch.refused.is_some() {
                return;
            }
        }
        self.scratch.places.reverse();
    }

    /// Caches a row that had been cached until the run began, as a read of host memory would bring it.
    fn bring(
        &mut self,
        partition: PartitionId,
        key: Key,
        (epoch, look, owner): (u16, Look, u16),
    ) -> Look {
        let mut bytes = std::mem::take(&mut self.scratch.one);
        bytes.clear();
        let length = ROW_HEAD + value_bytes(self.fixed.workload.tables(), key);
        let is_there = self.shared.read_host(Address::Row(key).number(), length as u32, &mut bytes);
        self.shared.nic.index.begin_read(partition, key);
        let filled = self.fill(key, epoch, is_there.then_some(&bytes[..]));
        let is_cached = matches!(filled, Some((_, _, Fill::Cached)));
        self.scratch.one = bytes;
        match is_cached {
            true => self.shared.nic.index.look_again(partition, key, owner),
            false => look,
        }
    }

    /// Fills the index with what a read that began in `epoch` has brought, if it has brought anything. Gives the row,
    /// and what has become of it.
    fn fill<'r>(
        &mut self,
        key: Key,
        epoch: u16,
        bytes: Option<&'r [u8]>,
    ) -> Option<(Version, Option<&'r [u8]>, Fill)> {
        let size = value_bytes(self.fixed.workload.tables(), key);
        let partition = self.fixed.layout.partition_of(key);
        let read = bytes.and_then(|bytes| row(&mut Reader::new(bytes), size).ok());
        let (version, value) = read.unwrap_or_default();
        let cached = Cached { version: version.number, value };
        // What was not read at all fills nothing: no epoch is this one.
        let epoch = if read.is_some() { epoch } else { !epoch };
        let fill = self.shared.nic.index.end_read(partition, key, epoch, cached);
        read.map(|(version, value)| (version, value, fill))
    }

    /// Begins the reads that are to be begun.
    fn read_all(&mut self, place: u32) {
        let Some(mut fetch) = self.core.fetches.get_mut(place).map(Fetch::take) else {
            return;
        };
        for at in 0..fetch.wants.len() {
            if let Found::Reading { last: None, .. } = fetch.wants[at].found {
                let partition = self.fixed.layout.partition_of(fetch.wants[at].key);
                self.shared.nic.index.begin_read(partition, fetch.wants[at].key);
                self.read_next(place, at, &mut fetch.wants[at]);
                fetch.open += 1;
            }
        }
        if let Some(there) = self.core.fetches.get_mut(place) {
            *there = fetch;
        }
    }

    /// Begins the next read of a look-up. Says whether there is one.
    fn read_next(&mut self, fetch: u32, want: usize, of: &mut Want) -> bool {
        let Found::Reading { epoch, slots, last } = of.found else { return false };
        let table = &self.fixed.places[usize::from(of.key.table.0)];
        let next = self.fixed.displacements.next(table, of.key, slots, last);
        let Some((reading, length)) = next else { return false };
        of.found = Found::Reading { epoch, slots, last: Some((reading, false)) };
        let token = self.core.operations.put(Then::Read { fetch, want: want as u16 });
        let read = Operation::Read { at: Address::Row(of.key).number(), length };
        self.out.operate(Token(token), Place::Host, read, |_| {});
        true
    }

    /// A read has ended.
    pub(super) fn has_read(&mut self, place: u32, want: u16, outcome: Outcome, bytes: &[u8]) {
        let at = usize::from(want);
        let fixed = self.fixed;
        let Some(there) = self.core.fetches.get_mut(place) else { return };
        let mut fetch = Fetch::take(there);
        let mut of = fetch.wants[at];
        let Found::Reading { epoch, slots, last: Some((reading, _)) } = of.found else {
            unreachable!("a read of a key ends while it is being read");
        };
        let size = value_bytes(fixed.workload.tables(), of.key);
        // A slot whose value lies out of line may be shorter than it: then the read is not the last.
        let version = Version::decode(&mut Reader::new(bytes)).unwrap_or_default();
        of.found = Found::Reading { epoch, slots, last: Some((reading, version.present)) };
        let goes_on = outcome == Outcome::Done && self.read_next(place, at, &mut of);
        if !goes_on {
            fetch.open -= 1;
            self.out.work(Work::Index, 1);
            let read = Some(bytes).filter(|_| outcome == Outcome::Done);
            of.found = match self.fill(of.key, epoch, read) {
                None => {
                    fetch.refused.get_or_insert(Verdict::Refused);
                    Found::Cached
                }
                // Of a stale read, the look-up is made again when all are there.
                Some((_, _, Fill::Stale)) => Found::Cached,
                // Another row of the request may take its place in the index.
                Some((version, value, Fill::Cached | Fill::NotCached)) => {
                    let place = fetch.bytes.len() as u32;
                    put_row(version, value, &mut fetch.bytes);
                    Found::Read { epoch, at: place }
                }
            };
            self.out.work(Work::CopyLine, size.div_ceil(64) as u32);
        }
        fetch.wants[at] = of;
        if let Some(there) = self.core.fetches.get_mut(place) {
            *there = fetch;
        }
        self.finish_fetch(place);
    }

    /// Answers, if all is there. What has left the index meanwhile is read again.
    fn finish_fetch(&mut self, place: u32) {
        let is_open = self.core.fetches.get_mut(place).is_none_or(|fetch| fetch.open > 0);
        if is_open {
            return;
        }
        let Some(mut fetch) = self.core.fetches.take(place) else { return };
        self.scratch.places.clear();
        let flow = self.flow_of(fetch.from, fetch.header.slot);
        let owner = self.owner_of_flow(flow);
        let mut again = false;
        for want in &mut fetch.wants {
            let partition = self.fixed.layout.partition_of(want.key);
            match self.shared.nic.index.look(partition, want.key, owner) {
                // A key that was read already cannot be locked by this request; its own lock is none.
                Look::Locked if !want.locks => {
                    fetch.refused.get_or_insert(Verdict::Locked);
                }
                Look::Locked | Look::Cached(_) => want.found = Found::Cached,
                Look::Full => {
                    fetch.refused.get_or_insert(Verdict::Room);
                }
                Look::Miss { epoch, slots } => {
                    let is_valid =
                        matches!(want.found, Found::Read { epoch: then, .. } if then == epoch);
                    if !is_valid {
                        again = true;
                        want.found = Found::Reading { epoch, slots, last: None };
                    }
                }
            }
        }
        if fetch.refused.is_some() {
            self.refuse(flow, &fetch);
            return self.end_fetch(fetch);
        }
        if again {
            let place = self.core.fetches.put(fetch);
            return self.read_all(place);
        }
        // Looking one key up may have made the index forget another one, if that is not locked.
        let (index, layout) = (&self.shared.nic.index, &self.fixed.layout);
        let has_left = |want: &Want| {
            let partition = layout.partition_of(want.key);
            want.found == Found::Cached
                && !want.locks
                && index.cached(partition, want.key).is_none()
        };
        if fetch.wants.iter().any(has_left) {
            fetch.refused = Some(Verdict::Room);
            self.refuse(flow, &fetch);
            return self.end_fetch(fetch);
        }
        self.answer_fetch(flow, &fetch);
        self.end_fetch(fetch);
    }

    /// The row of the key at this place of the request, which is there.
    fn row_of<'r>(&'r self, fetch: &'r Fetch, at: usize) -> (Version, Option<&'r [u8]>) {
        let want = &fetch.wants[at];
        match want.found {
            Found::Read { at, .. } => {
                let size = value_bytes(self.fixed.workload.tables(), want.key);
                row(&mut Reader::new(&fetch.bytes[at as usize..]), size).unwrap_or_default()
            }
            _ => {
                let index = &self.shared.nic.index;
                let cached = match self.scratch.places.get(at) {
                    Some(place) => index.row_at(*place, want.key),
                    None => index.cached(self.fixed.layout.partition_of(want.key), want.key),
                };
                let Some(Cached { version, value }) = cached else { return <_>::default() };
                let version =
                    Version { number: version, present: value.is_some(), to_write: false };
                (version, value)
            }
        }
    }

    /// Adds the rows of a fetch to those of a transaction.
    pub(super) fn rows_of(&self, fetch: &Fetch, rows: &mut Rows) {
        for (at, want) in fetch.wants.iter().enumerate() {
            let (version, value) = self.row_of(fetch, at);
            let intent = if want.locks { Intent::Write } else { Intent::Read };
            rows.fetched(want.key, intent, version.number.into(), value);
        }
    }

    fn answer_fetch(&mut self, flow: usize, fetch: &Fetch) {
        let mut answer = self.scratch.spare.pop().unwrap_or_default();
        answer.clear();
        let verdict = match fetch.header.kind {
            Kind::Ship => self.run_shipped(fetch, &mut answer),
            Kind::Validate => {
                let is_same =
                    |(at, want): (usize, &Want)| self.row_of(fetch, at).0.number == want.expected;
                match fetch.wants.iter().enumerate().all(is_same) {
                    true => Verdict::Done,
                    false => Verdict::Changed,
                }
            }
            kind => {
                for at in 0..fetch.wants.len() {
                    let (version, value) = self.row_of(fetch, at);
                    match kind {
                        Kind::Lock => version.encode(&mut answer),
                        _ => put_row(version, value, &mut answer),
                    }
                }
                Verdict::Done
            }
        };
        // What has nothing to be logged is over here.
        if fetch.header.kind == Kind::Ship && verdict != Verdict::Done {
            self.release_held(flow);
        }
        self.out.work(Work::CopyLine, answer.len().div_ceil(64) as u32);
        self.post(fetch.from, fetch.header.answer(), |bytes| {
            bytes.put_u8(verdict as u8);
            bytes.extend_from_slice(&answer);
        });
        answer.clear();
        self.scratch.spare.push(answer);
    }

    /// Answers that nothing was done: what this request has locked is unlocked.
    fn refuse(&mut self, flow: usize, fetch: &Fetch) {
        let owner = self.owner_of_flow(flow);
        let number = usize::from(self.core.number);
        for want in fetch.wants.iter().filter(|want| want.has_locked) {
            let partition = self.fixed.layout.partition_of(want.key);
            self.out.work(Work::Index, 1);
            self.shared.nic.index.unlock(partition, want.key, owner);
            let held = &mut self.shared.nic.cores[number].flows[flow].held;
            held.retain(|key| *key != want.key);
        }
        let verdict = fetch.refused.unwrap_or(Verdict::Refused);
        self.post(fetch.from, fetch.header.answer(), |bytes| bytes.put_u8(verdict as u8));
    }
}
