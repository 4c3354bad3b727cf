// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a host does while look-ups read: its stores one by one, and what each key is meanwhile.

use std::collections::BTreeMap;

use rand::{Rng, RngExt};
use tables::memory::{HostMemory, LoggedMemory, RemoteMemory};
use tables::{RemoteTable, Walk};

use super::*;

/// An operation on a table. One that is refused does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Insert(u64, usize),
    Update(u64, usize),
    Delete(u64),
}

impl Change {
    pub fn key(self) -> u64 {
        let (Change::Insert(key, _) | Change::Update(key, _) | Change::Delete(key)) = self;
        key
    }

    pub fn random(random: &mut impl Rng, keys: u64, longest: usize, inserts: u32) -> Self {
        let key = random.random_range(0..keys);
        let length = random.random_range(0..=longest);
        match random.random_range(0..10) {
            choice if choice < inserts => Change::Insert(key, length),
            choice if choice < (inserts + 10) / 2 => Change::Delete(key),
            _ => Change::Update(key, length),
        }
    }
}

/// A table whose stores are shown to readers one by one, and what was in it when.
pub struct Past {
    pub table: Table<RobinHood, LoggedMemory>,
    /// Stores that readers have seen.
    pub shown: usize,
    changes: u64,
    /// After how many stores each operation begins and ends.
    pub spans: Vec<(usize, usize)>,
    /// By key, version and value before the first operation and after each.
    contents: Vec<BTreeMap<u64, (u32, Vec<u8>)>>,
}

impl Past {
    pub fn new(table: Table<RobinHood, LoggedMemory>) -> Self {
        let contents = vec![BTreeMap::new()];
        Past { table, shown: 0, changes: 0, spans: Vec::new(), contents }
    }

    /// Carries out an operation, of which readers see nothing yet.
    pub fn change(&mut self, change: Change) {
        self.changes += 1;
        let begin = self.table.memory().stores();
        let mut contents = self.contents.last().expect("there is a beginning").clone();
        let value = |length| value(self.changes, length);
        match change {
            Change::Insert(key, length) => {
                if self.table.insert(key, &value(length)).is_ok() {
                    contents.insert(key, (1, value(length)));
                }
            }
            Change::Update(key, length) => {
                if let Ok(version) = self.table.update(key, &value(length)) {
                    contents.insert(key, (version as u32, value(length)));
                }
            }
            Change::Delete(key) => {
                if self.table.delete(key).is_ok() {
                    contents.remove(&key);
                }
            }
        }
        self.spans.push((begin, self.table.memory().stores()));
        self.contents.push(contents);
    }

    /// Shows the next store, and says in which word; nothing when all are shown.
    pub fn show(&mut self) -> Option<usize> {
        let store = self.table.memory().let_through()?;
        self.shown += 1;
        Some(store.word)
    }

    /// Operations that have ended after so many stores.
    pub fn ended(&self, stores: usize) -> usize {
        self.spans.iter().take_while(|span| span.1 <= stores).count()
    }

    /// Whether the answer about a key was right at an instant between two numbers of stores. While an operation
    /// runs, both what was before and what is after will do.
    pub fn allows(
        &self,
        key: u64,
        answer: &Answer<WORDS>,
        from: usize,
        to: usize,
    ) -> Result<(), String> {
        let inline = self.table.geometry().ground().layout().value_bytes();
        let first = self.ended(from);
        let last = self.spans.iter().take_while(|span| span.0 < to).count().max(first);
        let is_right = |epoch: usize| match (answer.status, self.contents[epoch].get(&key)) {
            (Status::Absent, None) => true,
            (Status::DONE, Some((version, value))) => {
                has_object(answer, *version, value, inline).is_ok()
            }
            _ => false,
        };
        let was_disturbed = self.spans[first..last].iter().any(|span| span.1 > span.0);
        if answer.status == Status::GaveUp && was_disturbed || (first..=last).any(is_right) {
            return Ok(());
        }
        let contents = self.contents[first..=last].iter().map(|contents| contents.get(&key));
        let contents: Vec<_> = contents.collect();
        Err(format!(
            "{answer:?} of key {key}, from {from} to {to} stores, when it was {contents:?}"
        ))
    }
}

/// All versions of each line, while the operations of a script go on.
pub struct History {
    pub past: Past,
    pub lines: Vec<Vec<[u64; 8]>>,
    /// Which version each line has after so many stores of the script.
    pub versions: Vec<Vec<u16>>,
    /// Stores before the script.
    pub start: usize,
}

impl History {
    /// Runs the operations of `before`, then takes down those of `script`.
    pub fn new(
        table: Table<RobinHood, LoggedMemory>,
        before: &[Change],
        script: &[Change],
    ) -> Self {
        let mut past = Past::new(table);
        before.iter().for_each(|&change| past.change(change));
        while past.show().is_some() {}
        let count = past.table.memory().words() / 8;
        let mut lines: Vec<_> =
            (0..count).map(|line| vec![past.table.memory().read_line(line)]).collect();
        let (mut versions, start) = (vec![vec![0; count]], past.shown);
        script.iter().for_each(|&change| past.change(change));
        while let Some(word) = past.show() {
            let line = word / 8;
            let mut next: Vec<u16> = versions.last().expect("there is a beginning").clone();
            next[line] += 1;
            versions.push(next);
            lines[line].push(past.table.memory().read_line(line));
        }
        History { past, lines, versions, start }
    }
}
