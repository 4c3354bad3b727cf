// SPDX-License-Identifier: MIT OR Apache-2.0
//! A board in memory: native storage is a store's own file, host memory a few spans, the lock unit the
//! lock table's own machine behind delays.

use std::collections::BTreeMap;
use std::sync::Arc;

use lockdb::files::{File, StoredPages};
use lockdb::layout::{PAGE_BYTES, PageBuffer};
use lockdb::{Database, Table};
use locks::Timestamp;
use locks::machine::{Outcome, Place, Request, Rule};
use ndp_runtime::engine::{
    Card, HostError, LockAnswer, LockOperation, LockRequest, LockResponse, Storage, StorageError,
};
use ndp_runtime::job::{LockTable, Span};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Where the host's VID map stands for the device.
pub const VID_MAP: u64 = 0x4000_0000_0000;
/// Where its lock table does.
pub const LOCK_TABLE: u64 = 0x5000_0000_0000;
/// Where everything else begins.
const MEMORY: u64 = 0x10_0000;

/// An acquire that waits in its queue.
struct Waiter {
    timestamp: Timestamp,
    bucket: usize,
    place: Place,
    /// A poll has told of the grant; the notice follows.
    granted: bool,
}

/// A response on its way.
struct Answer {
    due: u64,
    response: LockResponse,
    /// The request that ends with it.
    ends: Option<u8>,
    /// The target that a cancel ends.
    ends_target: Option<u8>,
}

/// The board.
pub struct TestCard {
    pub store: Database,
    pub table: Arc<Table>,
    pages: Arc<dyn File>,
    pub memory: Vec<u8>,
    pub time: u64,
    pub random: ChaCha8Rng,
    /// Longest delay of a response, in looks at the responses.
    pub delay: u64,
    /// The unit takes no more than so many requests at a time.
    pub room: usize,
    responses: Vec<Answer>,
    looks: u64,
    waiters: BTreeMap<u8, Waiter>,
    /// Tags of requests that are open.
    open: Vec<u8>,
    /// Requests that must not be, in the order of their coming.
    pub violations: Vec<String>,
    /// Physical pages that were written since the last sync.
    pub unsynced: Vec<u64>,
    pub written: Vec<u64>,
    /// Accesses to host memory and storage that fail, by their number; from 1.
    pub fail_at: Option<u64>,
    pub accesses: u64,
    pub placed: Vec<LockTable>,
    free: u64,
    /// The lock unit's answer to its request of this number, from 1, instead of the right one.
    pub wrong_answer: Option<(u64, LockAnswer)>,
    pub requests: u64,
}

impl TestCard {
    pub fn new(store: Database, pages: Arc<dyn File>, random: ChaCha8Rng) -> Self {
        let table = store.tables()[0].clone();
        Self {
            store,
            table,
            pages,
            memory: Vec::new(),
            time: 1,
            random,
            delay: 0,
            room: 128,
            responses: Vec::new(),
            looks: 0,
            waiters: BTreeMap::new(),
            open: Vec::new(),
            violations: Vec::new(),
            unsynced: Vec::new(),
            written: Vec::new(),
            fail_at: None,
            accesses: 0,
            placed: Vec::new(),
            free: MEMORY,
            wrong_answer: None,
            requests: 0,
        }
    }

    /// Memory of the host that the device reaches.
    pub fn allocate(&mut self, bytes: u64) -> Span {
        let span = Span { address: self.free, bytes };
        self.free += bytes.next_multiple_of(64);
        self.memory.resize((self.free - MEMORY) as usize, 0);
        span
    }

    /// Memory with these bytes in it.
    pub fn put(&mut self, bytes: &[u8]) -> Span {
        let span = self.allocate(bytes.len() as u64);
        let at = (span.address - MEMORY) as usize;
        self.memory[at..at + bytes.len()].copy_from_slice(bytes);
        span
    }

    pub fn bytes(&self, span: Span) -> &[u8] {
        let at = (span.address - MEMORY) as usize;
        &self.memory[at..at + span.bytes as usize]
    }

    pub fn lock_table(&self) -> LockTable {
        let log2_buckets = self.store.lock_table().buckets().len().trailing_zeros();
        LockTable { address: LOCK_TABLE, log2_buckets }
    }

    pub fn vid_map(&self) -> Span {
        Span { address: VID_MAP, bytes: 8 * u64::from(self.table.vids()) }
    }

    /// Whether the lock unit has nothing open.
    pub fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    pub fn open_requests(&self) -> usize {
        self.open.len()
    }

    /// Whether the transaction stands anywhere in the lock table.
    pub fn locks_of(&self, timestamp: Timestamp) -> usize {
        let buckets = self.store.lock_table().buckets().iter();
        let names = |word: &u64| Timestamp::of_word(*word) == Some(timestamp);
        buckets.filter(|bucket| bucket.line().iter().any(names)).count()
    }

    fn access(&mut self, address: u64) -> Result<(), HostError> {
        self.accesses += 1;
        if self.fail_at == Some(self.accesses) { Err(HostError { address }) } else { Ok(()) }
    }

    fn place(&self, address: u64, bytes: usize) -> Result<usize, HostError> {
        let at = address.checked_sub(MEMORY).and_then(|at| usize::try_from(at).ok());
        let end = at.and_then(|at| at.checked_add(bytes));
        match (at, end) {
            (Some(at), Some(end)) if end <= self.memory.len() => Ok(at),
            _ => Err(HostError { address }),
        }
    }

    fn answer(&mut self, tag: u8, answer: LockAnswer, notice: bool) {
        let due = self.looks + self.random.random_range(0..=self.delay);
        let stays = tag < 64 && answer == LockAnswer::Queued;
        let ends = (!stays).then_some(tag);
        let response = LockResponse { tag, answer, notice };
        self.responses.push(Answer { due, response, ends, ends_target: None });
    }

    fn acquire(&mut self, request: LockRequest, key: locks::TupleKey) {
        let table = self.store.lock_table();
        let bucket = table.bucket_of(key);
        match table.acquire(request.timestamp, key, Rule::Queue) {
            Outcome::Granted { again } => {
                self.answer(request.tag, LockAnswer::Granted { again }, false);
            }
            Outcome::Queued { place, .. } => {
                let timestamp = request.timestamp;
                let waiter = Waiter { timestamp, bucket, place, granted: false };
                self.waiters.insert(request.tag, waiter);
                self.answer(request.tag, LockAnswer::Queued, false);
            }
            Outcome::Refused(_) => self.answer(request.tag, LockAnswer::Refused, false),
            other => panic!("an acquire does not end as {other:?}"),
        }
    }

    /// Asks how a waiter stands; its slot is cleared when it has been granted the lock.
    fn look(&mut self, tag: u8) -> Option<LockAnswer> {
        let waiter = self.waiters.get_mut(&tag)?;
        if waiter.granted {
            return Some(LockAnswer::Granted { again: false });
        }
        let poll = Request::Poll(waiter.place);
        Some(match self.store.lock_table().run(waiter.timestamp, waiter.bucket, poll) {
            Outcome::Granted { again } => {
                waiter.granted = true;
                LockAnswer::Granted { again }
            }
            Outcome::Queued { .. } => LockAnswer::Queued,
            _ => LockAnswer::Cancelled,
        })
    }

    fn cancel(&mut self, request: LockRequest, target: u8) {
        let answer = match self.waiters.remove(&target) {
            None => LockAnswer::NotWaiting,
            Some(waiter) if waiter.granted => LockAnswer::Granted { again: false },
            Some(waiter) => {
                let cancel = Request::Cancel(waiter.place);
                match self.store.lock_table().run(waiter.timestamp, waiter.bucket, cancel) {
                    Outcome::Granted { again } => LockAnswer::Granted { again },
                    _ => LockAnswer::Cancelled,
                }
            }
        };
        self.answer(request.tag, answer, false);
        let sent = self.responses.last_mut().expect("it was just sent");
        sent.ends_target = (answer != LockAnswer::NotWaiting).then_some(target);
    }

    /// Waiters that were handed the lock are told.
    fn notice(&mut self) {
        let tags: Vec<u8> = self.waiters.keys().copied().collect();
        for tag in tags {
            // The first response of its acquire comes first.
            if self.responses.iter().any(|sent| sent.response.tag == tag) {
                continue;
            }
            // A poll may see a grant before its notice is on its way.
            if self.random.random_range(0..=self.delay) != 0 {
                continue;
            }
            let look = self.look(tag).filter(|answer| *answer != LockAnswer::Queued);
            if let Some(answer) = look {
                self.waiters.remove(&tag);
                self.answer(tag, answer, true);
            }
        }
    }
}

impl Card for TestCard {
    fn now(&self) -> u64 {
        self.time
    }

    fn storage(&self) -> Storage {
        Arc::new(StoredPages(self.pages.clone()))
    }

    fn write_page(&mut self, physical: u64, page: &PageBuffer) -> Result<(), StorageError> {
        let fault = |reason: String| StorageError(reason);
        self.access(physical).map_err(|_| fault("planted".into()))?;
        self.unsynced.push(physical);
        self.written.push(physical);
        let at = physical * PAGE_BYTES as u64;
        self.pages.write_at(at, &page.0).map_err(|error| fault(error.to_string()))
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        self.access(0).map_err(|_| StorageError("planted".into()))?;
        self.unsynced.clear();
        self.pages.sync().map_err(|error| StorageError(error.to_string()))
    }

    fn read_host(&mut self, address: u64, into: &mut [u8]) -> Result<(), HostError> {
        self.access(address)?;
        let at = self.place(address, into.len())?;
        into.copy_from_slice(&self.memory[at..at + into.len()]);
        Ok(())
    }

    fn write_host(&mut self, address: u64, bytes: &[u8]) -> Result<(), HostError> {
        self.access(address)?;
        let at = self.place(address, bytes.len())?;
        self.memory[at..at + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn load_host(&mut self, address: u64) -> Result<u64, HostError> {
        self.access(address)?;
        let index = address.checked_sub(VID_MAP).ok_or(HostError { address })? / 8;
        let words = self.table.vid_map().words();
        let word = words.get(index as usize).ok_or(HostError { address })?;
        Ok(word.load(std::sync::atomic::Ordering::Acquire))
    }

    fn place_lock_table(&mut self, table: LockTable) {
        if !self.open.is_empty() {
            self.violations.push(format!("{table:?} with {:?} open", self.open));
        }
        self.placed.push(table);
    }

    fn request_lock(&mut self, request: LockRequest) -> bool {
        if self.open.len() >= self.room {
            return false;
        }
        self.requests += 1;
        if self.open.contains(&request.tag) {
            self.violations.push(format!("{request:?}: the tag is open"));
            return true;
        }
        self.open.push(request.tag);
        if let Some((_, answer)) = self.wrong_answer.filter(|(at, _)| *at == self.requests) {
            self.answer(request.tag, answer, false);
            return true;
        }
        match request.operation {
            LockOperation::Acquire(key) => self.acquire(request, key),
            LockOperation::Poll(target) => {
                let answer = self.look(target).unwrap_or(LockAnswer::NotWaiting);
                self.answer(request.tag, answer, false);
            }
            LockOperation::Cancel(target) => self.cancel(request, target),
        }
        true
    }

    fn lock_response(&mut self) -> Option<LockResponse> {
        self.looks += 1;
        self.notice();
        let due = self.responses.iter().position(|sent| sent.due <= self.looks)?;
        let Answer { response, ends, ends_target, .. } = self.responses.remove(due);
        self.open.retain(|tag| Some(*tag) != ends && Some(*tag) != ends_target);
        Some(response)
    }
}
