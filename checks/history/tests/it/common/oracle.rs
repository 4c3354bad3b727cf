// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decides whether a tiny history is correct, by trying every order in which its transactions can
//! have taken their snapshots and committed.
//!
//! It is independent of the checker: it uses no graph, and orders versions only by which one is
//! current.

use std::collections::BTreeMap;

use history::{History, Key, Level, Read, Scan, Status, TransactionRecord, Write};

/// Whether the committed transactions keep their levels in some order of events.
pub fn without_points(history: &History) -> bool {
    let search = Search::new(history, false);
    search.sources_are_right() && search.some_order_fits()
}

/// The same, in an order that the points allow, and every point true.
pub fn with_points(history: &History) -> bool {
    let search = Search::new(history, true);
    search.sources_are_right() && search.points_are_right() && search.some_order_fits()
}

struct Search<'a> {
    initial: &'a TransactionRecord,
    all: &'a [TransactionRecord],
    committed: Vec<&'a TransactionRecord>,
    timed: bool,
}

/// The events so far.
#[derive(Clone)]
struct State<'a> {
    /// Of each key its current version, and the number of the event that made it.
    current: BTreeMap<&'a Key, (usize, &'a Write)>,
    /// The event of each transaction's snapshot.
    begun: Vec<Option<usize>>,
    committed: Vec<bool>,
    events: usize,
}

/// The final state of a key after a transaction.
fn left<'a>(transaction: &'a TransactionRecord, key: &Key) -> Option<&'a Write> {
    transaction.writes.iter().rev().find(|write| write.key == *key)
}

impl<'a> Search<'a> {
    fn new(history: &'a History, timed: bool) -> Self {
        let all = history.transactions();
        let committed = all[1..].iter().filter(|t| t.status == Status::Committed).collect();
        Self { initial: &all[0], all, committed, timed }
    }

    /// Every version read was left by a committed transaction; above READ COMMITTED, no key is
    /// seen in two ways.
    fn sources_are_right(&self) -> bool {
        self.committed.iter().all(|t| {
            let found = t.scans.iter().flat_map(|scan| &scan.keys);
            t.reads.iter().chain(found).all(|read| {
                let Some(version) = read.version else { return true };
                self.all.iter().any(|writer| {
                    writer.status == Status::Committed
                        && left(writer, &read.key).is_some_and(|write| write.version == version)
                })
            })
        })
    }

    fn some_order_fits(&self) -> bool {
        let none = self.committed.len();
        self.go_on(State {
            current: self.initial.writes.iter().map(|write| (&write.key, (0, write))).collect(),
            begun: vec![None; none],
            committed: vec![false; none],
            events: 0,
        })
    }

    fn go_on(&self, state: State<'a>) -> bool {
        if state.committed.iter().all(|committed| *committed) {
            return true;
        }
        (0..self.committed.len()).any(|at| {
            let mut next = state.clone();
            next.events += 1;
            let fits = if state.begun[at].is_none() {
                self.begins(at, &mut next)
            } else {
                !state.committed[at] && self.commits(at, &mut next)
            };
            fits && self.go_on(next)
        })
    }

    fn begins(&self, at: usize, state: &mut State<'a>) -> bool {
        let transaction = self.committed[at];
        let after_all = (0..self.committed.len())
            .all(|other| state.committed[other] || !self.timed || !self.precedes(other, at));
        state.begun[at] = Some(state.events);
        let sees = transaction.level != Level::Snapshot || sees_all(transaction, &state.current);
        after_all && sees
    }

    /// Whether `first` must have ended when `second` begins.
    fn precedes(&self, first: usize, second: usize) -> bool {
        let (a, b) = (self.committed[first], self.committed[second]);
        let writes = !a.writes.is_empty();
        let in_time = if writes { a.commit <= b.begin } else { a.commit < b.begin };
        first != second && (in_time || first < second && a.session == b.session)
    }

    fn commits(&self, at: usize, state: &mut State<'a>) -> bool {
        let transaction = self.committed[at];
        let sees = match transaction.level {
            Level::Serializable => sees_all(transaction, &state.current),
            Level::Snapshot => true,
            Level::ReadCommitted => transaction.reads.iter().chain(found(transaction)).all(|r| {
                let installed = |(t, done): (&&TransactionRecord, &bool)| {
                    *done && left(t, &r.key).is_some_and(|w| Some(w.version) == r.version)
                };
                r.version.is_none()
                    || left(self.initial, &r.key).is_some_and(|w| Some(w.version) == r.version)
                    || self.committed.iter().zip(&state.committed).any(installed)
            }),
        };
        let begun = state.begun[at].expect("it began");
        let mut fits = sees;
        for write in &transaction.writes {
            let (event, current) = state.current[&write.key];
            let own = left(transaction, &write.key).is_some_and(|own| std::ptr::eq(own, current));
            fits &= own || transaction.level != Level::Snapshot || event <= begun;
            fits &= self.earlier_writers_are_done(transaction, &write.key, state);
            let last = left(transaction, &write.key).expect("it writes it");
            state.current.insert(&write.key, (state.events, last));
        }
        state.committed[at] = true;
        fits
    }

    /// Commits of writers of one key follow their points.
    fn earlier_writers_are_done(
        &self,
        of: &TransactionRecord,
        key: &Key,
        state: &State<'a>,
    ) -> bool {
        !self.timed
            || self.committed.iter().zip(&state.committed).all(|(other, done)| {
                left(other, key).is_none() || other.commit >= of.commit || *done
            })
    }

    /// The version of `key` at `point`, passing over what `reader` wrote.
    fn as_of(&self, key: &Key, point: u64, reader: &TransactionRecord) -> &'a Write {
        let writers = self.committed.iter().filter(|t| t.txn != reader.txn);
        let newest = writers
            .filter(|t| t.commit <= Some(point) && left(t, key).is_some())
            .max_by_key(|t| t.commit);
        left(newest.unwrap_or(&self.initial), key).expect("the initial one writes all keys")
    }

    fn points_are_right(&self) -> bool {
        (0..self.committed.len()).all(|at| {
            let transaction = self.committed[at];
            let before = self.committed[..at].iter().rfind(|t| t.session == transaction.session);
            before.is_none_or(|before| before.commit <= transaction.begin)
                && self.reads_fit_points(transaction)
        })
    }

    fn reads_fit_points(&self, t: &TransactionRecord) -> bool {
        let (begin, end) = (t.begin.expect("timed"), t.commit.expect("timed"));
        let fits = |read: &Read, point| shows(self.as_of(&read.key, point, t), read);
        let scan_fits = |scan: &Scan, key: &Key, point| {
            let found = scan.keys.iter().find(|read| read.key == *key).cloned();
            let seen = found.unwrap_or_else(|| Read::absent(key.clone()));
            shows(self.as_of(key, point, t), &seen)
        };
        let scans_fit_in = |low: u64, high: u64| {
            t.scans.iter().all(|scan| {
                self.scanned(scan).all(|key| (low..=high).any(|point| scan_fits(scan, key, point)))
            })
        };
        let whole = |point| t.reads.iter().all(|r| fits(r, point)) && scans_fit_in(point, point);
        match t.level {
            Level::Snapshot => {
                let alone = t.writes.iter().all(|write| {
                    (begin + 1..end).all(|point| {
                        self.as_of(&write.key, point, t) == self.as_of(&write.key, begin, t)
                    })
                });
                whole(begin) && alone
            }
            Level::Serializable if t.writes.is_empty() && begin == end => whole(begin),
            Level::Serializable => {
                let not_later = |read: &Read| (0..=end).any(|point| fits(read, point));
                t.reads.iter().all(not_later) && scans_fit_in(0, end)
            }
            Level::ReadCommitted => {
                let mut moment = begin;
                let reads = t.reads.iter().filter(|read| read.version.is_some()).all(|read| {
                    let found = (moment..=end).find(|point| fits(read, *point));
                    moment = found.unwrap_or(end);
                    found.is_some()
                });
                let absent = t.reads.iter().filter(|read| read.version.is_none());
                let mut absent = absent.map(|r| (begin..=end).any(|point| fits(r, point)));
                reads && absent.all(|fits| fits) && scans_fit_in(begin, end)
            }
        }
    }

    /// The keys of which a scan speaks.
    fn scanned(&self, scan: &'a Scan) -> impl Iterator<Item = &'a Key> {
        let keys = self.initial.writes.iter().map(|write| &write.key);
        keys.filter(|key| (&scan.low..=&scan.high).contains(key) && !scan.own.contains(key))
    }
}

fn found(transaction: &TransactionRecord) -> impl Iterator<Item = &Read> {
    transaction.scans.iter().flat_map(|scan| &scan.keys)
}

/// Whether a reader that sees `write` reports `read`.
fn shows(write: &Write, read: &Read) -> bool {
    match read.version {
        Some(version) => write.version == version,
        None => write.dead,
    }
}

fn sees_all(transaction: &TransactionRecord, current: &BTreeMap<&Key, (usize, &Write)>) -> bool {
    let reads = transaction.reads.iter().all(|read| shows(current[&read.key].1, read));
    reads
        && transaction.scans.iter().all(|scan| {
            current.iter().all(|(key, (_, write))| {
                let spoken_of = (&scan.low..=&scan.high).contains(key) && !scan.own.contains(key);
                match scan.keys.iter().find(|read| read.key == **key) {
                    Some(read) => shows(write, read),
                    None => !spoken_of || write.dead,
                }
            })
        })
}
