// SPDX-License-Identifier: MIT OR Apache-2.0
//! A store in miniature that makes valid histories, changes to them, and an oracle.

pub mod mutate;
pub mod oracle;

use std::collections::BTreeMap;

use history::{Extension, Header, History, Level, Read, Scan, Status, TransactionRecord, Write};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Versions in memory, snapshots by commit point, validation at commit.
#[derive(Clone, Debug)]
pub struct Model {
    pub transactions: usize,
    pub keys: u64,
    pub levels: Vec<Level>,
    /// Whether keys are written that were not read.
    pub blind: bool,
    /// Whether there are scans, insertions and deletions.
    pub scans: bool,
    /// Whether transactions at READ COMMITTED write.
    pub lax_writers: bool,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            transactions: 4,
            keys: 3,
            levels: vec![Level::Serializable],
            blind: true,
            scans: true,
            lax_writers: true,
        }
    }
}

/// The versions of each key, with their points, oldest first.
type Versions = BTreeMap<u64, Vec<(u64, Write)>>;

struct Run<'a> {
    model: &'a Model,
    random: ChaCha8Rng,
    versions: Versions,
    published: u64,
    begun: u64,
}

impl Model {
    /// A valid history of so many transactions, some of which abort.
    pub fn run(&self, seed: u64) -> History {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let initial: Vec<Write> = (1..=self.keys)
            .map(|key| {
                let dead = self.scans && random.random_bool(0.3);
                if dead { Write::dead(key, 0) } else { Write::new(key, 0) }
            })
            .collect();
        let versions = (1..).zip(&initial).map(|(key, w)| (key, vec![(0, w.clone())])).collect();
        let mut run = Run { model: self, random, versions, published: 0, begun: 0 };
        let mut transactions = vec![TransactionRecord { writes: initial, ..run.begin(0) }];
        transactions[0].status = Status::Committed;
        (transactions[0].begin, transactions[0].commit) = (Some(0), Some(0));
        let mut open: Vec<(usize, TransactionRecord)> = Vec::new();
        while transactions.len() + open.len() <= self.transactions || !open.is_empty() {
            let session = run.random.random_range(1..=3);
            let Some(at) = open.iter().position(|(_, t)| t.session == session) else {
                if transactions.len() + open.len() <= self.transactions {
                    let steps = run.random.random_range(1..=4);
                    let transaction = run.begin(session);
                    open.push((steps, transaction));
                }
                continue;
            };
            if open[at].0 > 0 {
                open[at].0 -= 1;
                run.step(&mut open[at].1);
            } else {
                let mut transaction = open.swap_remove(at).1;
                run.end(&mut transaction);
                transactions.push(transaction);
            }
        }
        let mut header = Header::new(seed, "model");
        header.extensions = vec![Extension::Dead, Extension::Scans];
        History::new(header, transactions).expect("the model keeps the format")
    }
}

impl Run<'_> {
    fn begin(&mut self, session: u64) -> TransactionRecord {
        self.begun += 1;
        let level = self.model.levels[self.random.random_range(0..self.model.levels.len())];
        TransactionRecord {
            txn: self.begun - 1,
            session,
            begin: Some(self.published),
            commit: None,
            status: Status::Aborted,
            level,
            reads: Vec::new(),
            writes: Vec::new(),
            scans: Vec::new(),
            wall: None,
            virtual_time: None,
        }
    }

    /// The point as of which a transaction sees.
    fn sight(&self, transaction: &TransactionRecord) -> u64 {
        match transaction.level {
            Level::ReadCommitted => self.published,
            _ => transaction.begin.unwrap_or(0),
        }
    }

    fn step(&mut self, transaction: &mut TransactionRecord) {
        let key = self.random.random_range(1..=self.model.keys);
        match self.random.random_range(0..10) {
            0..5 => self.read(transaction, key),
            9 if self.model.scans => self.scan(transaction),
            _ => self.write(transaction, key),
        }
    }

    fn read(&mut self, transaction: &mut TransactionRecord, key: u64) {
        if transaction.writes.iter().any(|write| write.key == key.into()) {
            return;
        }
        let seen = as_of(&self.versions[&key], self.sight(transaction));
        let version = (!seen.dead).then_some(seen.version);
        let before = transaction.reads.iter().rev().find(|read| read.key == key.into());
        if before.is_none_or(|before| before.version != version) {
            transaction.reads.push(Read { version, ..Read::absent(key) });
        }
    }

    fn scan(&mut self, transaction: &mut TransactionRecord) {
        let low = self.random.random_range(1..=self.model.keys);
        let high = (low + 3).min(self.model.keys);
        let sight = self.sight(transaction);
        let mut scan = Scan::of_keys(low, high);
        for key in low..=high {
            let seen = as_of(&self.versions[&key], sight);
            if transaction.writes.iter().any(|write| write.key == key.into()) {
                scan.own.push(key.into());
            } else if !seen.dead {
                scan = scan.found(key, seen.version);
            }
        }
        transaction.scans.push(scan);
    }

    fn write(&mut self, transaction: &mut TransactionRecord, key: u64) {
        if transaction.level == Level::ReadCommitted && !self.model.lax_writers {
            return;
        }
        if !self.model.blind {
            self.read(transaction, key);
        }
        let version = transaction.txn * 100 + transaction.writes.len() as u64;
        let dead = self.model.scans && self.random.random_bool(0.3);
        let write = if dead { Write::dead(key, version) } else { Write::new(key, version) };
        transaction.writes.push(write);
    }

    fn end(&mut self, transaction: &mut TransactionRecord) {
        let begin = transaction.begin.unwrap_or(0);
        let unchanged = |key: u64| self.versions[&key].last().is_some_and(|(at, _)| *at <= begin);
        let number = |key: &history::Key| match key {
            history::Key::Number(number) => *number,
            history::Key::Text(_) => unreachable!("the model's keys are numbers"),
        };
        let fits = match transaction.level {
            Level::ReadCommitted => true,
            Level::Snapshot => transaction.writes.iter().all(|w| unchanged(number(&w.key))),
            Level::Serializable => {
                transaction.writes.is_empty()
                    || transaction.reads.iter().all(|read| unchanged(number(&read.key)))
                        && transaction
                            .scans
                            .iter()
                            .all(|scan| (number(&scan.low)..=number(&scan.high)).all(unchanged))
            }
        };
        if !fits || self.random.random_bool(0.05) {
            return;
        }
        transaction.status = Status::Committed;
        if transaction.writes.is_empty() {
            let point = self.sight(transaction);
            transaction.commit = Some(point);
            return;
        }
        self.published += 1;
        transaction.commit = Some(self.published);
        let mut last: BTreeMap<u64, &Write> = BTreeMap::new();
        for write in &transaction.writes {
            last.insert(number(&write.key), write);
        }
        for (key, write) in last {
            let versions = self.versions.get_mut(&key).expect("every key has a version");
            versions.push((self.published, write.clone()));
        }
    }
}

/// The version that is current at `point`.
fn as_of(versions: &[(u64, Write)], point: u64) -> &Write {
    let current = versions.iter().rev().find(|(at, _)| *at <= point);
    &current.expect("the initial version is always there").1
}

/// Whether the history itself tells the order of all versions: each was written over one that its
/// writer had read, and, except for violations, no two over the same.
pub fn every_writer_read_before(history: &History) -> bool {
    let committed = |t: &&TransactionRecord| t.status == Status::Committed;
    let lasting = |t: &TransactionRecord, at: usize| {
        t.writes[at + 1..].iter().all(|later| later.key != t.writes[at].key)
    };
    let from_committed = |read: &Read| {
        history.transactions().iter().filter(committed).any(|t| {
            (0..t.writes.len()).any(|at| {
                let write = &t.writes[at];
                write.key == read.key && Some(write.version) == read.version && lasting(t, at)
            })
        })
    };
    history.transactions()[1..].iter().filter(committed).all(|t| {
        t.writes.iter().all(|write| {
            t.level != Level::ReadCommitted
                && t.reads.iter().any(|read| read.key == write.key && from_committed(read))
        })
    })
}
