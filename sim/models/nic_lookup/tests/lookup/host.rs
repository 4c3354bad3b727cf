// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host: a table whose stores become visible one by one while reads are under way, and what was in it when.

use std::collections::BTreeMap;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use suites::values::anywhere;
use tables::memory::{HostMemory, LoggedMemory, RemoteMemory};
use tables::robin_hood::{RobinHood, Shape};
use tables::slot::Meta;
use tables::{RemoteTable, Store, Table, Walk};

/// What an answer from host memory says of a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Saw {
    Absent,
    GaveUp,
    Object { version: u32, length: usize, is_out_of_line: bool, words: Vec<u64> },
}

pub struct Host {
    /// Where the table lies in host memory.
    pub base: u64,
    pub table: Table<RobinHood, LoggedMemory>,
    /// Stores that are visible.
    pub shown: usize,
    changes: u64,
    /// After how many stores each operation begins and ends.
    spans: Vec<(usize, usize)>,
    /// By key, version and value before the first operation and after each.
    contents: Vec<BTreeMap<u64, (u32, Vec<u8>)>>,
    /// All versions of each line, with the number of stores from which on it was so.
    lines: Vec<Vec<(usize, [u64; 8])>>,
    pub keys: u64,
    /// Others have written into the table, so that nothing is known of what is in it.
    is_spoiled: bool,
}

impl Host {
    /// A table after random operations, all of which are visible.
    pub fn new(shape: Shape, random: &mut ChaCha8Rng) -> Self {
        let geometry = RobinHood::new(shape).expect("a table that can be");
        let memory_words = geometry.ground().words();
        let memory = LoggedMemory::new(memory_words);
        let table = Table::new(geometry, memory).expect("the memory is as large as it has to be");
        let base = anywhere(random, 8 * memory_words, 64);
        let mut host = Host {
            base,
            table,
            shown: 0,
            changes: 0,
            spans: Vec::new(),
            contents: vec![BTreeMap::new()],
            lines: Vec::new(),
            keys: u64::from(shape.slots) + 6,
            is_spoiled: false,
        };
        for _ in 0..random.random_range(0..3 * shape.slots) {
            host.change(random);
        }
        let last = host.contents.pop().expect("there is a beginning");
        host.contents = vec![last];
        host.spans.clear();
        while host.show().is_some() {}
        let memory = host.table.memory();
        let line = |line| vec![(host.shown, memory.read_line(line))];
        host.lines = (0..memory.words() / 8).map(line).collect();
        host
    }

    /// A random operation, of which nothing is visible yet. One that is refused does nothing.
    pub fn change(&mut self, random: &mut ChaCha8Rng) {
        self.changes += 1;
        let longest = self.table.geometry().ground().longest();
        let length = if random.random_bool(0.7) { longest.min(8) } else { longest };
        let length = if random.random_bool(0.8) { length } else { random.random_range(0..=length) };
        let key = random.random_range(0..self.keys);
        // Words of a value tell its number.
        let number = (self.changes as u8).wrapping_mul(31);
        let value: Vec<u8> =
            (0..length).map(|index| number.wrapping_add(index as u8 / 8 + 1)).collect();
        let begin = self.table.memory().stores();
        let mut contents = self.contents.last().expect("there is a beginning").clone();
        match random.random_range(0..5) {
            0 => {
                if let Ok(version) = self.table.update(key, &value) {
                    contents.insert(key, (version as u32, value));
                }
            }
            1 | 2 if self.table.delete(key).is_ok() => {
                contents.remove(&key);
            }
            _ if self.table.insert(key, &value).is_ok() => {
                contents.insert(key, (1, value));
            }
            _ => {}
        }
        self.spans.push((begin, self.table.memory().stores()));
        self.contents.push(contents);
    }

    /// Has a slot outside overflow buckets look as if it were being written for ever.
    pub fn tear(&mut self, slot: u32) {
        self.is_spoiled = true;
        let word = self.table.geometry().slot_word(slot);
        let memory = self.table.memory();
        memory.store(word, memory.load(word) | 1);
        self.show();
    }

    /// Writes a word that need not be any writer's: a link, or a word of a slot that is near a right one.
    pub fn spoil(&mut self, random: &mut ChaCha8Rng) {
        self.is_spoiled = true;
        let table = *self.table.geometry();
        let size = table.ground().layout().words();
        let (word, value) = if random.random_bool(0.4) {
            let segment = random.random_range(0..table.segments());
            (table.directory_word(segment), random_link(random))
        } else {
            let slot = match table.overflow_slots() {
                slots if slots > 0 && random.random_bool(0.3) => {
                    table.overflow_word(random.random_range(0..slots))
                }
                _ => table.slot_word(random.random_range(0..table.all_slots())),
            };
            let word = [0, 0, 1, random.random_range(0..size)][random.random_range(0..4)];
            let value = match word {
                1 => random.random_range(0..self.keys),
                2.. if word % 8 != 0 => random.random(),
                _ => self.random_meta(slot, random),
            };
            (slot + word, value)
        };
        self.table.memory().store(word, value);
    }

    /// A meta word; often the one that the slot begins with, so that its parts are of one version.
    fn random_meta(&self, slot: usize, random: &mut ChaCha8Rng) -> u64 {
        let first = self.table.memory().load(slot);
        match random.random_range(0..4) {
            0 => first,
            1 => first.wrapping_add(random.random_range(0..3)),
            2 => random.random(),
            _ => Meta::object(random.random_range(0..3), 8, false).with_stamp(random.random()).0,
        }
    }

    /// Makes the next store visible, and says which; nothing when all are.
    pub fn show(&mut self) -> Option<Store> {
        let store = self.table.memory().let_through()?;
        self.shown += 1;
        let line = store.word / 8;
        if let Some(versions) = self.lines.get_mut(line) {
            versions.push((self.shown, self.table.memory().read_line(line)));
        }
        Some(store)
    }

    /// The line of the table that an address of host memory is in.
    pub fn line(&self, address: u64) -> usize {
        ((address - self.base) / 64) as usize
    }

    /// What the line was from one number of visible stores to another.
    pub fn versions(&self, line: usize, from: usize, to: usize) -> Vec<[u64; 8]> {
        let all = &self.lines[line];
        let first = all.iter().rposition(|version| version.0 <= from).expect("there is a first");
        all[first..].iter().take_while(|version| version.0 <= to).map(|version| version.1).collect()
    }

    /// Whether what was seen of a key was so at an instant between two numbers of visible stores. While an
    /// operation runs, both what was before and what is after will do.
    pub fn allows(&self, key: u64, saw: &Saw, from: usize, to: usize) -> Result<(), String> {
        let first = self.spans.iter().take_while(|span| span.1 <= from).count();
        let last = self.spans.iter().take_while(|span| span.0 < to).count().max(first);
        let is_right = |contents: &BTreeMap<u64, (u32, Vec<u8>)>| match (saw, contents.get(&key)) {
            (Saw::Absent, None) => true,
            (Saw::Object { version, length, is_out_of_line, words }, Some((newest, value))) => {
                let inline = self.table.geometry().ground().layout().value_bytes();
                let first_words = first_words(value, words.len());
                version == newest
                    && *is_out_of_line == (value.len() > inline)
                    && (*is_out_of_line || *length == value.len() && *words == first_words)
            }
            _ => false,
        };
        if self.is_spoiled {
            return Ok(());
        }
        let was_disturbed = self.spans[first..last].iter().any(|span| span.1 > span.0);
        let contents = &self.contents[first..=last];
        if *saw == Saw::GaveUp && was_disturbed || contents.iter().any(is_right) {
            return Ok(());
        }
        let was: Vec<_> = contents.iter().map(|contents| contents.get(&key)).collect();
        Err(format!("{saw:?} of key {key}, from {from} to {to} stores, when it was {was:?}"))
    }
}

/// A link to a bucket of the area, or to one beyond it, or with an order that no link has.
fn random_link(random: &mut ChaCha8Rng) -> u64 {
    let order = match random.random_range(0..8) {
        0 | 1 => 0,
        7 => random.random_range(0..64_u64),
        _ => random.random_range(1..5),
    };
    let place = match random.random_range(0..8) {
        0 => random.random(),
        _ => random.random_range(0..32_u32),
    };
    random.random_range(0..3_u64) << 38 | order << 32 | u64::from(place)
}

fn first_words(value: &[u8], words: usize) -> Vec<u64> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    (0..words).map(|n| word(value.chunks(8).nth(n).unwrap_or_default())).collect()
}
