// SPDX-License-Identifier: MIT OR Apache-2.0
//! Remote readers in a race with host threads, on real atomics.
//!
//! Some keys stay, and are updated; others come and go, so that those that stay are moved about.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tables::memory::{AtomicMemory, HostMemory, RemoteMemory};
use tables::mutant::{Mutant, plant};
use tables::robin_hood::Shape;
use tables::{Hint, RemoteTable, Step, TableError, Values, look_up};

use crate::shapes;

/// A case is so many look-ups: `LOCKSTEP_CASES=10000` makes ten million.
const LOOK_UPS: u64 = 1000;
const WRITERS: u64 = 2;

/// A value that names its key and whose bytes agree with each other.
fn bytes_of(key: u64, number: u64, longest: usize) -> Vec<u8> {
    let length = 8 + (number as usize * 7) % (longest - 7);
    let mark = number as u8;
    let mut bytes = vec![mark; length];
    bytes[..8].copy_from_slice(&(key << 16 | (number & 0xFF) << 8 | mark as u64).to_le_bytes());
    bytes
}

/// What is wrong with a value, if anything.
fn fault(key: u64, bytes: &[u8]) -> Option<String> {
    let (head, rest) = bytes.split_first_chunk::<8>()?;
    let word = u64::from_le_bytes(*head);
    let whole = word >> 16 == key && rest.iter().all(|&byte| byte == word as u8);
    (!whole || word >> 8 & 0xFF != word & 0xFF).then(|| format!("key {key}: {bytes:?}"))
}

struct Race<'a, T, R> {
    table: &'a T,
    remote: &'a R,
    /// Keys from here on come and go; those before stay.
    staying: u64,
    keys: u64,
    longest: usize,
    mutant: Option<Mutant>,
    /// Look-ups that are still to be made.
    left: AtomicU64,
    over: AtomicBool,
}

impl<T: RemoteTable + Sync, R: RemoteMemory + Sync> Race<'_, T, R> {
    /// Each key has one writer.
    fn write(&self, writer: u64, seed: u64) {
        plant(self.mutant);
        let mut random = ChaCha8Rng::seed_from_u64(seed ^ writer << 32);
        let mut number = 0;
        while !self.over.load(Ordering::Relaxed) {
            let key = random.random_range(0..self.keys / WRITERS) * WRITERS + writer;
            number += 1;
            let bytes = bytes_of(key, number, self.longest);
            let result = match random.random_range(0..3) {
                0 => self.table.update(key, &bytes).map(drop),
                _ if key < self.staying => continue,
                1 => self.table.insert(key, &bytes),
                _ => self.table.delete(key),
            };
            match result {
                Ok(()) => {}
                Err(TableError::KeyPresent { .. } | TableError::Full { .. }) => {}
                Err(TableError::UnknownKey { key }) => assert!(key >= self.staying),
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// What went wrong, if anything.
    fn read(&self, reader: u64, seed: u64) -> Option<String> {
        plant(self.mutant);
        let mut random = ChaCha8Rng::seed_from_u64(!seed ^ reader << 32);
        let mut value = Vec::new();
        while self.left.fetch_sub(1, Ordering::Relaxed) as i64 > 0 {
            let key = random.random_range(0..self.keys);
            let displacement = random.random_bool(0.5).then(|| random.random_range(0..6));
            let hint = Hint { displacement, overflow: None };
            let found = if random.random_bool(0.3) {
                self.table.get(key, &mut value).map(|_| value.clone())
            } else {
                match look_up(self.remote, self.table.plan(key, hint)).0 {
                    Step::Found(found) => Some(found.value),
                    Step::Absent => None,
                    _ => continue,
                }
            };
            let wrong = match found {
                Some(bytes) => fault(key, &bytes),
                None => (key < self.staying).then(|| format!("key {key} is not found")),
            };
            if wrong.is_some() {
                self.over.store(true, Ordering::Relaxed);
                return wrong;
            }
        }
        self.over.store(true, Ordering::Relaxed);
        None
    }

    fn run(&self, seed: u64) -> Option<String> {
        for key in 0..self.staying {
            self.table.insert(key, &bytes_of(key, 0, self.longest)).unwrap();
        }
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                scope.spawn(move || self.write(writer, seed));
            }
            let readers: Vec<_> =
                (0..2).map(|reader| scope.spawn(move || self.read(reader, seed))).collect();
            readers.into_iter().filter_map(|reader| reader.join().unwrap()).last()
        })
    }
}

fn race<T: RemoteTable + Sync, R: RemoteMemory + Sync>(
    table: &T,
    remote: &R,
    longest: usize,
    mutant: Option<Mutant>,
    seed: u64,
    look_ups: u64,
) -> Option<String> {
    let slots = table.statistics().slots;
    let race = Race {
        table,
        remote,
        staying: slots / 2,
        keys: slots + slots / 4,
        longest,
        mutant,
        left: AtomicU64::new(look_ups),
        over: AtomicBool::new(false),
    };
    race.run(seed)
}

fn values(longest: usize) -> Values {
    Values { inline_bytes: longest.min(100), longest, heap_lines: 20_000 }
}

const SHAPE: Shape =
    Shape { slots: 64, limit: Some(3), segment: 4, overflow_slots: 64, values: Values::inline(8) };

/// The words of the geometry are not needed here: more memory does no harm.
fn memory(words: usize) -> AtomicMemory {
    let memory = AtomicMemory::allocated(words);
    assert!(memory.words() >= words);
    memory
}

#[test]
fn readers_race_with_host_threads() {
    let seeds = seeds::of!(40);
    for (round, longest) in [(0, 16), (1, 100), (2, 400)] {
        let look_ups = seeds.count() * LOOK_UPS / 12;
        let seed = seeds.first().wrapping_add(round);
        let values = values(longest);
        let run = |result: Option<String>| assert_eq!(result, None, "values up to {longest} bytes");
        let table = shapes::robin_hood(Shape { values, ..SHAPE }, memory);
        run(race(&table, table.memory(), longest, None, seed, look_ups));
        let table = shapes::robin_hood(Shape { values, limit: None, ..SHAPE }, memory);
        run(race(&table, table.memory(), longest, None, seed, look_ups));
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let table = shapes::random_hopscotch(&mut random, values, memory);
        run(race(&table, table.memory(), longest, None, seed, look_ups));
        let table = shapes::random_chained(&mut random, values, memory);
        run(race(&table, table.memory(), longest, None, seed, look_ups));
        let table = shapes::random_mica(&mut random, values, memory);
        run(race(&table, table.memory(), longest, None, seed, look_ups));
    }
}

/// Scheduling decides whether threads meet, so one bug is enough that is met often.
#[test]
fn the_race_finds_a_bug() {
    let values = values(100);
    let table = shapes::robin_hood(Shape { values, ..SHAPE }, memory);
    let found = race(&table, table.memory(), 100, Some(Mutant::PartsNotCompared), 0, 10_000_000);
    assert!(found.is_some(), "the bug went unnoticed");
}
