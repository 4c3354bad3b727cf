// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random operations beside a `BTreeMap`.

use std::collections::BTreeMap;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tables::buckets::{self, Buckets};
use tables::memory::{PlainMemory, RemoteMemory};
use tables::{Hint, Ordered, RemoteTable, Step, TableError, look_up};

use crate::shapes::{self, value};

/// An operation on a key; a value is told by its length and the number of the operation.
fn random_operation(table: &impl RemoteTable, model: &mut Model, random: &mut impl Rng) {
    let key = model.keys[random.random_range(0..model.keys.len())];
    let length = random.random_range(0..=model.longest);
    model.step += 1;
    let bytes = value(model.step, length);
    let present = model.objects.get(&key).cloned();
    match random.random_range(0..10) {
        0..5 => match (table.insert(key, &bytes), present) {
            (Ok(()), None) => drop(model.objects.insert(key, (1, bytes))),
            (Err(TableError::KeyPresent { key: named }), Some(_)) => assert_eq!(named, key),
            (Err(TableError::Full { .. }), None) => model.refused += 1,
            (result, present) => panic!("insert of {key}: {result:?}, model {present:?}"),
        },
        5..7 => match (table.update(key, &bytes), present) {
            (Ok(version), Some((before, _))) => {
                assert!(version > before, "version {version} after {before}");
                model.objects.insert(key, (version, bytes));
            }
            (Err(TableError::UnknownKey { key: named }), None) => assert_eq!(named, key),
            (Err(TableError::Full { .. }), Some(_)) => model.refused += 1,
            (result, present) => panic!("update of {key}: {result:?}, model {present:?}"),
        },
        _ => match (table.delete(key), present) {
            (Ok(()), Some(_)) => drop(model.objects.remove(&key)),
            (Err(TableError::UnknownKey { key: named }), None) => assert_eq!(named, key),
            (result, present) => panic!("delete of {key}: {result:?}, model {present:?}"),
        },
    }
}

struct Model {
    keys: Vec<u64>,
    longest: usize,
    objects: BTreeMap<u64, (u64, Vec<u8>)>,
    step: u64,
    refused: u32,
    /// Versions are those of buckets, which other keys raise.
    shared_versions: bool,
}

impl Model {
    fn check(&self, table: &impl RemoteTable, remote: &impl RemoteMemory, key: u64, hint: Hint) {
        let expected = self.objects.get(&key);
        let mut bytes = vec![1, 2, 3];
        let got = table.get(key, &mut bytes).map(|version| (version, bytes));
        let remotely = match look_up(remote, table.plan(key, hint)).0 {
            Step::Found(found) => Some((found.version, found.value)),
            Step::Absent => None,
            step => panic!("{step:?} without a writer"),
        };
        assert_eq!(got, remotely, "local and remote, key {key}");
        match (expected, got) {
            (Some((version, bytes)), Some((its, value))) => {
                assert_eq!(&value, bytes, "key {key}");
                assert!(*version == its || self.shared_versions && *version <= its);
            }
            (expected, got) => assert!(expected.is_none() && got.is_none(), "key {key}: {got:?}"),
        }
    }
}

fn run<T: RemoteTable>(
    table: &T,
    remote: &impl RemoteMemory,
    seed: u64,
    longest: usize,
    shared_versions: bool,
) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let slots = table.statistics().slots;
    let keys = (0..2 * slots).map(|_| random.random_range(0..4 * slots)).collect();
    let objects = BTreeMap::new();
    let mut model = Model { keys, longest, objects, step: 0, refused: 0, shared_versions };
    for step in 0..20 * slots {
        random_operation(table, &mut model, &mut random);
        let displacement = random.random_bool(0.7).then(|| random.random_range(0..10));
        let hint = Hint { displacement, overflow: None };
        model.check(table, remote, model.keys[random.random_range(0..model.keys.len())], hint);
        if step % 64 == 0 {
            model.keys.iter().for_each(|&key| model.check(table, remote, key, hint));
        }
    }
    let statistics = table.statistics();
    assert_eq!(statistics.objects, model.objects.len() as u64);
    // All that was taken comes back.
    let keys: Vec<u64> = model.objects.keys().copied().collect();
    keys.iter().for_each(|&key| table.delete(key).unwrap());
    let statistics = table.statistics();
    assert_eq!((statistics.objects, statistics.overflowed), (0, 0), "{statistics:?}");
    assert_eq!((statistics.overflow_taken, statistics.heap_lines_taken), (0, 0), "{statistics:?}");
}

#[test]
fn all_tables_agree_with_the_model() {
    seeds::each!(30, |seed| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let values = shapes::random_values(&mut random);
        let longest = values.longest;
        let table = shapes::random_robin_hood(&mut random, values, PlainMemory::new);
        run(&table, table.memory(), seed, longest, false);
        let table = shapes::random_hopscotch(&mut random, values, PlainMemory::new);
        run(&table, table.memory(), seed, longest, false);
        let table = shapes::random_chained(&mut random, values, PlainMemory::new);
        run(&table, table.memory(), seed, longest, false);
        let table = shapes::random_mica(&mut random, values, PlainMemory::new);
        run(&table, table.memory(), seed, longest, true);
    });
}

#[test]
fn the_ordered_table_agrees_with_the_model() {
    seeds::each!(10, |seed| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (table, mut model) = (Ordered::new(20), BTreeMap::new());
        for step in 0..500 {
            let key = random.random_range(0..60).min(50) * (u64::MAX / 50);
            let bytes = value(step, random.random_range(0..=20));
            match random.random_range(0..3) {
                0 => {
                    let present = model.contains_key(&key);
                    assert_eq!(table.insert(key, &bytes).is_err(), present);
                    model.entry(key).or_insert((1, bytes));
                }
                1 => assert_eq!(table.delete(key).is_ok(), model.remove(&key).is_some()),
                _ => match model.get_mut(&key) {
                    None => {
                        assert_eq!(table.update(key, &bytes), Err(TableError::UnknownKey { key }))
                    }
                    Some(object) => {
                        *object = (object.0 + 1, bytes);
                        assert_eq!(table.update(key, &object.1), Ok(object.0));
                    }
                },
            }
            let mut found = Vec::new();
            let from = random.random_range(0..=key);
            table.visit(from..=u64::MAX, |key, version, value| {
                found.push((key, (version, value.to_vec())));
                true
            });
            let range = model.range(from..);
            assert_eq!(
                found,
                range.map(|(&key, object)| (key, object.clone())).collect::<Vec<_>>()
            );
            let mut bytes = Vec::new();
            let got = table.get(key, &mut bytes).map(|version| (version, bytes));
            assert_eq!(got.as_ref(), model.get(&key));
        }
    });
}

/// Whoever visits an object holds none of its locks.
#[test]
fn a_visitor_can_use_the_table() {
    let table = std::sync::Arc::new(Ordered::new(8));
    (0..5).for_each(|key| table.insert(key, &[key as u8]).unwrap());
    let (end, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        table.visit(0..=u64::MAX, |key, version, value| {
            assert_eq!(table.get(key, &mut bytes), Some(version));
            assert_eq!((table.update(key, &[9]), value), (Ok(version + 1), &bytes[..]));
            table.delete(key).unwrap();
            true
        });
        end.send(table.get(3, &mut bytes)).unwrap();
    });
    assert_eq!(ended.recv_timeout(std::time::Duration::from_secs(20)), Ok(None));
}

/// A range that ends before it begins has no objects.
#[test]
#[expect(clippy::reversed_empty_ranges)]
fn nothing_is_visited_in_an_empty_range() {
    let table = Ordered::new(8);
    (0..5).for_each(|key| table.insert(key, &[]).unwrap());
    table.visit(3..=1, |key, _, _| panic!("key {key}"));
    table.visit(u64::MAX..=0, |key, _, _| panic!("key {key}"));
}

#[test]
fn a_bucket_is_locked_once_and_keeps_its_lock_while_it_is_written() {
    let shape = buckets::Shape { buckets: 1, slots: 7, overflow_buckets: 1, values: shapes::SMALL };
    let table = shapes::buckets(Buckets::mica(shape).unwrap(), PlainMemory::new);
    table.insert(1, &[1]).unwrap();
    table.insert(2, &[2]).unwrap();
    assert_eq!((table.try_lock(1), table.try_lock(2)), (Some(2), None));
    assert_eq!(table.update(2, &[3]), Ok(3));
    let look = || match look_up(table.memory(), table.plan(1, Hint::default())).0 {
        Step::Found(found) => (found.locked, found.version, found.value),
        step => panic!("{step:?}"),
    };
    assert_eq!(look(), (true, 3, vec![1]));
    assert_eq!((table.unlock(2), table.unlock(1)), (true, false));
    assert_eq!(look(), (false, 3, vec![1]));
    assert_eq!(table.try_lock(1), Some(3));
}
