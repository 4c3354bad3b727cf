// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writing down what transactions saw, from many threads.
//!
//! Each session records for itself, without any lock; [`Recorder::finish`] merges the sessions in
//! an order that depends on what they recorded alone.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::time::Instant;

use crate::{
    Error, Extension, Header, History, Key, Level, Read, Scan, Status, Times, TransactionRecord,
    Write,
};

/// The transactions that a session may begin.
const TRANSACTIONS_A_SESSION: u64 = 10_000_000;
/// The versions that a transaction may write.
const VERSIONS_A_TRANSACTION: u64 = 1_000_000;
/// Sessions are numbered below this, so that a version stays below 2^63.
const SESSIONS: u64 = 900_000;

/// Makes a history. See the crate's example.
#[derive(Clone, Debug)]
pub struct Recorder {
    header: Header,
    initial: Vec<Write>,
    clock: Option<Instant>,
}

impl Recorder {
    /// A recorder of a history whose first transaction makes the `initial` version of every key
    /// that will ever be used; keys that are inserted later begin dead. The database's own point
    /// of the first transaction is 0.
    pub fn new(
        seed: u64,
        scenario: impl Into<String>,
        initial: impl IntoIterator<Item = Write>,
    ) -> Self {
        let initial = initial.into_iter().collect();
        Self { header: Header::new(seed, scenario), initial, clock: None }
    }

    /// Also writes down when each transaction began and ended in wall-clock time; the checker then
    /// compares the database's points with it.
    pub fn with_wall_clock(mut self) -> Self {
        self.clock = Some(Instant::now());
        self
    }

    /// A session, for one thread at a time. Transactions and versions are numbered after the
    /// session, so its own number must not be used twice.
    ///
    /// # Panics
    /// When `number` is not from 1 to 899,999.
    pub fn session(&self, number: u64) -> SessionRecorder {
        assert!((1..SESSIONS).contains(&number), "session {number}: expected 1 to 899,999");
        SessionRecorder { number, clock: self.clock, transactions: Vec::new() }
    }

    /// The history of all sessions, in the order of their `begin`, and of their sessions where
    /// that is equal or not known; each session stays in its own order.
    ///
    /// # Errors
    /// When a rule of the format is broken: the error names the line that the transaction would
    /// have in the file.
    pub fn finish(
        self,
        sessions: impl IntoIterator<Item = SessionRecorder>,
    ) -> Result<History, Error> {
        let mut sessions: Vec<_> = sessions.into_iter().collect();
        sessions.sort_by_key(|session| session.number);
        let mut rests: Vec<_> =
            sessions.into_iter().map(|s| s.transactions.into_iter().peekable()).collect();
        let key = |transaction: &TransactionRecord| transaction.begin.unwrap_or(0);
        let mut next: BinaryHeap<_> = rests
            .iter_mut()
            .enumerate()
            .filter_map(|(at, rest)| rest.peek().map(|t| Reverse((key(t), at))))
            .collect();
        let mut transactions = vec![TransactionRecord::initial(self.initial)];
        while let Some(Reverse((_, at))) = next.pop() {
            transactions.extend(rests[at].next());
            next.extend(rests[at].peek().map(|t| Reverse((key(t), at))));
        }
        let mut header = self.header;
        header.extensions = extensions(&transactions);
        History::new(header, transactions)
    }
}

/// The extensions that are in use.
fn extensions(transactions: &[TransactionRecord]) -> Vec<Extension> {
    let used: BTreeSet<Extension> =
        transactions.iter().flat_map(|t| t.extensions().map(|(extension, _)| extension)).collect();
    used.into_iter().collect()
}

/// Records the transactions of one session.
#[derive(Debug)]
pub struct SessionRecorder {
    number: u64,
    clock: Option<Instant>,
    transactions: Vec<TransactionRecord>,
}

impl SessionRecorder {
    /// Begins a transaction, or another attempt at one: call it before the database is asked to.
    ///
    /// # Panics
    /// After ten million transactions.
    pub fn begin(&mut self, level: Level) -> TransactionRecorder<'_> {
        let count = self.transactions.len() as u64;
        assert!(count < TRANSACTIONS_A_SESSION, "session {}: too many transactions", self.number);
        let started = nanoseconds(self.clock);
        let transaction = TransactionRecord {
            txn: self.number * TRANSACTIONS_A_SESSION + count,
            session: self.number,
            begin: None,
            commit: None,
            status: Status::Unknown,
            level,
            reads: Vec::new(),
            writes: Vec::new(),
            scans: Vec::new(),
            wall: None,
            virtual_time: None,
        };
        TransactionRecorder {
            session: self,
            transaction,
            started,
            drawn: 0,
            seen: HashMap::new(),
            own: HashMap::new(),
        }
    }
}

fn nanoseconds(clock: Option<Instant>) -> Option<u64> {
    clock.map(|origin| origin.elapsed().as_nanos() as u64)
}

/// Records one transaction. One that is dropped before its end is recorded with an unknown end.
#[derive(Debug)]
pub struct TransactionRecorder<'a> {
    session: &'a mut SessionRecorder,
    transaction: TransactionRecord,
    started: Option<u64>,
    drawn: u64,
    /// The versions of other transactions that were last seen.
    seen: HashMap<Key, Option<u64>>,
    /// The last write of each key, by its place.
    own: HashMap<Key, usize>,
}

impl TransactionRecorder<'_> {
    /// The transaction's number.
    pub fn txn(&self) -> u64 {
        self.transaction.txn
    }

    /// The database's own point at which the snapshot was taken.
    pub fn snapshot(&mut self, begin: u64) {
        self.transaction.begin = Some(begin);
    }

    /// When it began and ended in virtual time, in picoseconds.
    pub fn virtual_time(&mut self, begin: u64, end: u64) {
        self.transaction.virtual_time = Some(Times { begin, end });
    }

    /// A version to write, unique in the history. Store it in the row, so that a reader can tell
    /// what it saw.
    ///
    /// # Panics
    /// After a million versions.
    pub fn version(&mut self) -> u64 {
        assert!(self.drawn < VERSIONS_A_TRANSACTION, "txn {}: too many versions", self.txn());
        self.drawn += 1;
        self.transaction.txn * VERSIONS_A_TRANSACTION + self.drawn - 1
    }

    /// `version` of `key` was seen. Nothing is recorded when the transaction saw the same before,
    /// or its own write.
    ///
    /// Something else than its own write is recorded as [`Read::instead_of`] it: the database lost
    /// the write from sight.
    pub fn read(&mut self, key: impl Into<Key>, version: u64) {
        self.observe(key.into(), Some(version));
    }

    /// Nothing was found under `key`.
    pub fn absent(&mut self, key: impl Into<Key>) {
        self.observe(key.into(), None);
    }

    /// `version` of `key` was written. Call it also for a write that may yet be undone.
    pub fn write(&mut self, key: impl Into<Key>, version: u64) {
        self.record(Write::new(key, version));
    }

    /// `key` was deleted; `version` is [`version`](Self::version)'s, and only the history has it.
    pub fn delete(&mut self, key: impl Into<Key>, version: u64) {
        self.record(Write::dead(key, version));
    }

    /// A write with all its particulars.
    pub fn record(&mut self, write: Write) {
        self.own.insert(write.key.clone(), self.transaction.writes.len());
        self.transaction.writes.push(write);
    }

    /// The number of writes so far: take it with a savepoint, for [`undo`](Self::undo).
    pub fn writes(&self) -> usize {
        self.transaction.writes.len()
    }

    /// All but the first `writes` were undone by a rollback to a savepoint: nobody may ever see
    /// them.
    pub fn undo(&mut self, writes: usize) {
        self.transaction.writes.truncate(writes);
        let kept = self.transaction.writes.iter().enumerate();
        self.own = kept.map(|(at, write)| (write.key.clone(), at)).collect();
    }

    /// A range scan and all that it found, in any order, the transaction's own versions among
    /// it: those are taken out, as is what the scan says of keys that the transaction has
    /// written.
    pub fn scan(&mut self, mut scan: Scan) {
        let writes = &self.transaction.writes;
        let mut own: Vec<(&Key, &Write)> =
            self.own.iter().map(|(key, at)| (key, &writes[*at])).collect();
        own.sort_by_key(|(key, _)| *key);
        if scan.index.is_none() {
            own.retain(|(key, _)| (&scan.low..=&scan.high).contains(key));
        }
        for (key, write) in &own {
            let expected = scan.admits(write).then_some(write.version);
            let found = scan.keys.iter().find(|found| found.key == **key);
            let version = found.and_then(|found| found.version);
            if version != expected {
                let instead_of = Some(write.version);
                self.transaction.reads.push(Read { key: (*key).clone(), version, instead_of });
            }
        }
        scan.own = own.into_iter().map(|(key, _)| key.clone()).collect();
        scan.keys.retain(|found| scan.own.binary_search(&found.key).is_err());
        scan.keys.sort_by(|a, b| a.key.cmp(&b.key));
        self.transaction.scans.push(scan);
    }

    /// The database says that it committed, at its own point `commit`; `None` when it does not
    /// tell.
    pub fn commit(self, commit: impl Into<Option<u64>>) {
        self.end(Status::Committed, commit.into());
    }

    /// It was rolled back, by itself or by the database.
    pub fn abort(self) {
        self.end(Status::Aborted, None);
    }

    fn observe(&mut self, key: Key, version: Option<u64>) {
        let own = self.own.get(&key).map(|at| &self.transaction.writes[*at]);
        let repeats = match own {
            Some(own) => version == (!own.dead).then_some(own.version),
            None => self.seen.insert(key.clone(), version) == Some(version),
        };
        if repeats {
            return;
        }
        let instead_of = own.map(|own| own.version);
        self.transaction.reads.push(Read { key, version, instead_of });
    }

    fn end(mut self, status: Status, commit: Option<u64>) {
        self.transaction.status = status;
        self.transaction.commit = commit;
    }
}

impl Drop for TransactionRecorder<'_> {
    fn drop(&mut self) {
        let ended = nanoseconds(self.session.clock);
        self.transaction.wall = self.started.zip(ended).map(|(begin, end)| Times { begin, end });
        let empty =
            TransactionRecord { reads: Vec::new(), ..TransactionRecord::initial(Vec::new()) };
        self.session.transactions.push(std::mem::replace(&mut self.transaction, empty));
    }
}
