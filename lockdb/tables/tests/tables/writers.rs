// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host threads that write beside each other, each on keys of its own.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tables::buckets::{self, Buckets};
use tables::memory::AtomicMemory;
use tables::robin_hood::Shape;
use tables::{RemoteTable, TableError, Values};

use crate::shapes;

const WRITERS: u64 = 3;
const OPERATIONS: u64 = 30_000;

/// Fills and empties a full table at random; what is left.
fn write(table: &impl RemoteTable, writer: u64, seed: u64) -> BTreeMap<u64, u64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ writer << 32);
    let (mut own, mut bytes) = (BTreeMap::new(), Vec::new());
    let keys = table.statistics().slots * 5 / 4 / WRITERS;
    for number in 0..OPERATIONS {
        let key = random.random_range(0..keys) * WRITERS + writer;
        let value = number.to_le_bytes();
        match random.random_range(0..4) {
            0 => match table.delete(key) {
                Ok(()) => assert!(own.remove(&key).is_some(), "key {key} was not there"),
                Err(error) => assert!(!own.contains_key(&key), "{error}"),
            },
            1 => match table.update(key, &value) {
                Ok(_) => assert!(own.insert(key, number).is_some(), "key {key} was not there"),
                Err(error) => assert!(!own.contains_key(&key), "{error}"),
            },
            _ => match table.insert(key, &value) {
                Ok(()) => assert!(own.insert(key, number).is_none(), "key {key} was there"),
                Err(TableError::Full { .. }) => assert!(!own.contains_key(&key)),
                Err(error) => assert!(own.contains_key(&key), "{error}"),
            },
        }
        let found = table.get(key, &mut bytes).map(|_| &bytes[..]);
        let expected = own.get(&key).map(|number| number.to_le_bytes());
        assert_eq!(found, expected.as_ref().map(|bytes| &bytes[..]), "key {key}, seed {seed}");
    }
    own
}

/// Objects that move across the ends of stripes are nobody's but the mover's.
#[test]
fn writers_of_one_table_do_not_meet() {
    seeds::each!(4, |seed| {
        for (limit, segment) in [(15, 1), (5, 32), (3, 4)] {
            let values = Values::inline(8);
            let shape =
                Shape { slots: 150, limit: Some(limit), segment, overflow_slots: 40, values };
            let table = &shapes::robin_hood(shape, AtomicMemory::allocated);
            let left: Vec<_> = thread::scope(|scope| {
                let writers: Vec<_> = (0..WRITERS)
                    .map(|writer| scope.spawn(move || write(table, writer, seed)))
                    .collect();
                writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
            });
            assert_eq!(table.statistics().objects, left.len() as u64);
            left.iter().for_each(|(key, _)| table.delete(*key).unwrap());
            assert_eq!(table.statistics().overflow_taken, 0);
        }
    });
}

/// The version that a bucket's header gives a value is the one that it was written with.
#[test]
fn a_value_has_the_version_of_its_bucket() {
    let shape =
        buckets::Shape { buckets: 1, slots: 7, overflow_buckets: 1, values: Values::inline(48) };
    let table = shapes::buckets(Buckets::mica(shape).unwrap(), AtomicMemory::allocated);
    table.insert(7, &1_u64.to_le_bytes()).unwrap();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for version in 2..300_000_u64 {
                let value = [version.to_le_bytes(); 6].concat();
                assert_eq!(table.update(7, &value), Ok(version));
            }
            over.store(true, Ordering::Relaxed);
        });
        scope.spawn(|| {
            let mut value = Vec::new();
            while !over.load(Ordering::Relaxed) {
                let version = table.get(7, &mut value).expect("it stays");
                assert_eq!(value[..8], version.to_le_bytes());
            }
        });
    });
}
