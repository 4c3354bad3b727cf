// SPDX-License-Identifier: MIT OR Apache-2.0
//! A store for one transaction at a time, for the tests: it fetches as a protocol does.

use std::collections::BTreeMap;

use super::{ChangedRow, Totals};
use crate::engine::{Access, Key};
use crate::transact::{Change, Decision, Intent, Rows, Transactions};
use crate::wire::{Reader, WireError};

/// The rows that have changed since the start, or were looked at.
pub(super) struct SerialStore<'t, T> {
    workload: &'t T,
    changed: BTreeMap<Key, Option<Vec<u8>>>,
    /// Those of the last transaction.
    pub(super) rows: Rows,
    wanted: Vec<(Key, Intent)>,
    /// The kinds and the accesses of what has committed.
    pub(super) committed: Vec<(u8, Vec<Access>)>,
}

/// What a transaction took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) decision: Decision,
    /// How often keys were fetched.
    pub(super) rounds: usize,
    pub(super) keys: usize,
    /// How many of the keys were fetched to be written.
    pub(super) to_write: usize,
}

impl<'t, T: Transactions> SerialStore<'t, T> {
    pub(super) fn new(workload: &'t T) -> Self {
        let (changed, rows) = (BTreeMap::new(), Rows::new());
        Self { workload, changed, rows, wanted: Vec::new(), committed: Vec::new() }
    }

    pub(super) fn value(&self, key: Key) -> Option<Vec<u8>> {
        let initial = || {
            let mut value = Vec::new();
            self.workload.initial(key, &mut value).then_some(value)
        };
        self.changed.get(&key).cloned().unwrap_or_else(initial)
    }

    /// Executes one transaction. The logic must not miss a row that it could have declared.
    pub(super) fn execute(&mut self, input: &T::Input) -> Taken {
        self.rows.clear();
        for rounds in 0.. {
            self.wanted.clear();
            self.workload.declare(input, &self.rows, &mut self.wanted);
            self.wanted.retain(|(key, intent)| !self.rows.has(*key, *intent));
            if self.wanted.is_empty() {
                return self.run(input, rounds);
            }
            for (key, intent) in std::mem::take(&mut self.wanted) {
                let value = self.value(key);
                self.rows.fetched(key, intent, 0, value.as_deref());
            }
            // The logic is run in between, too, and what that changes must not last.
            let early = self.workload.run(input, &mut self.rows);
            self.wanted.clear();
            self.workload.declare(input, &self.rows, &mut self.wanted);
            self.wanted.retain(|(key, intent)| !self.rows.has(*key, *intent));
            match early {
                Ok(_) => assert_eq!(self.wanted, [], "{input:?} ran without these"),
                Err(missing) => assert!(
                    self.wanted.contains(&(missing.key, missing.intent)),
                    "{input:?} lacks {missing:?}, which it did not declare"
                ),
            }
        }
        unreachable!("every round fetches something")
    }

    fn run(&mut self, input: &T::Input, rounds: usize) -> Taken {
        let decision = self.workload.run(input, &mut self.rows).expect("all that was declared");
        let keys = self.rows.all().len();
        let to_write = self.rows.all().iter().filter(|row| row.intent == Intent::Write).count();
        if decision == Decision::Commit {
            let kind = self.workload.kind(input);
            self.committed.push((kind, self.rows.accesses().collect()));
            for (row, change) in self.rows.changes() {
                let now = self.rows.value_of(row).map(<[u8]>::to_vec);
                assert_eq!(now.is_none(), change == Change::Delete);
                self.changed.insert(row.key, now);
            }
        }
        Taken { decision, rounds, keys, to_write }
    }

    /// The changed rows.
    pub(super) fn changed(&self) -> impl Iterator<Item = ChangedRow<'_>> {
        self.changed.iter().map(|(key, now)| ChangedRow { key: *key, now: now.as_deref() })
    }

    /// Compares the total of the rows with the transactions.
    pub(super) fn check_totals(&self) -> Result<i64, super::TotalError>
    where
        T: Totals,
    {
        let committed =
            self.committed.iter().map(|(kind, accesses)| (*kind, accesses.iter().copied()));
        super::check_totals(self.workload, self.changed(), committed)
    }
}

/// Checks that so many inputs of a worker come back from their bytes, and that no other bytes mean the same.
/// Each damaged byte is refused, or makes another input of the workload.
pub(super) fn check_inputs<T: Transactions>(workload: &T, worker: u32, count: usize) {
    let bytes_of = |input: &T::Input| {
        let mut bytes = vec![0xee];
        workload.put_input(input, &mut bytes);
        bytes.split_off(1)
    };
    let take = |bytes: &[u8]| {
        let mut reader = Reader::new(bytes);
        let input = workload.take_input(&mut reader)?;
        Ok::<_, WireError>((input, reader.position()))
    };
    for input in draw(workload, worker, count) {
        let bytes = bytes_of(&input);
        assert!(bytes.len() <= 255, "{input:?} has {} bytes", bytes.len());
        let followed = [&bytes[..], &[1, 2, 3]].concat();
        assert_eq!(take(&followed), Ok((input.clone(), bytes.len())));
        for end in 0..bytes.len() {
            assert!(take(&bytes[..end]).is_err(), "{input:?} of {end} bytes");
        }
        for (at, bit) in (0..bytes.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut damaged = followed.clone();
            damaged[at] ^= 1 << bit;
            if let Ok((other, length)) = take(&damaged) {
                assert_ne!(other, input, "bit {bit} of byte {at} means nothing");
                assert_eq!(bytes_of(&other), damaged[..length], "{other:?} has two forms");
                assert!(usize::from(workload.kind(&other)) < workload.kinds().len());
                // The logic takes whatever can be read.
                let mut rows = Rows::new();
                workload.declare(&other, &rows, &mut Vec::new());
                let _ = workload.run(&other, &mut rows);
            }
        }
    }
}

/// Draws `count` inputs of one worker.
pub(super) fn draw<T: Transactions>(workload: &T, worker: u32, count: usize) -> Vec<T::Input> {
    let mut source = workload.source(worker);
    (0..count).map(|_| workload.draw(&mut source).expect("an endless source")).collect()
}
