// SPDX-License-Identifier: MIT OR Apache-2.0
//! The smallest and the largest shapes, values and keys, and counters that wrap around.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tables::buckets::{self, Buckets};
use tables::hopscotch;
use tables::memory::{HostMemory, PlainMemory};
use tables::robin_hood::{RobinHood, RobinHoodTable, Shape};
use tables::slot::Meta;
use tables::{
    Hint, Link, Plan, RemoteTable, Search, Step, Table, TableError, Values, Walk, look_up,
    read_range,
};

use crate::shapes::{self, value};

/// Lengths around the limits of slots and lines, and the longest value of all.
const LENGTHS: [usize; 12] = [0, 1, 16, 17, 48, 49, 104, 105, 256, 257, 4096, 1 << 20];

fn all_values() -> impl Iterator<Item = Values> {
    let inline = [0, 16, 48, 104, 256].map(Values::inline);
    let out_of_line = [(0, 257, 12), (256, 1 << 20, 18_800)];
    inline.into_iter().chain(out_of_line.map(|(inline_bytes, longest, heap_lines)| Values {
        inline_bytes,
        longest,
        heap_lines,
    }))
}

/// The ends of the range of keys and of its halves, and many keys with one home.
fn keys(home: impl Fn(u64) -> u32) -> Vec<u64> {
    let wanted = home(0);
    let colliding = (1..).filter(|&key| home(key) == wanted).take(20);
    [0, u64::MAX, 1, u64::MAX - 1, 1 << 63, u32::MAX.into()].into_iter().chain(colliding).collect()
}

fn remotely<W: Walk>(table: &Table<W, PlainMemory>, key: u64, hint: Hint) -> Option<(u64, Vec<u8>)>
where
    Table<W, PlainMemory>: RemoteTable<Plan = Search<W>>,
{
    match look_up(table.memory(), table.plan(key, hint)).0 {
        Step::Found(found) => Some((found.version, found.value)),
        Step::Absent => None,
        step => panic!("{step:?} of key {key} without a writer"),
    }
}

fn random_hint(random: &mut ChaCha8Rng) -> Hint {
    let displacement =
        [None, Some(0), Some(1), Some(63), Some(u16::MAX)][random.random_range(0..5)];
    let overflow = match random.random_range(0..3) {
        0 => None,
        1 => Some(Link::default()),
        // Of another table, or of none.
        _ => Some(Link(random.random())),
    };
    Hint { displacement, overflow }
}

/// Random operations on few keys; a full table is no error, but whatever it refuses changes nothing.
fn torment<W: Walk>(table: &Table<W, PlainMemory>, keys: &[u64], longest: usize, seed: u64)
where
    Table<W, PlainMemory>: RemoteTable<Plan = Search<W>>,
{
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut model: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    let lengths: Vec<usize> = LENGTHS.into_iter().filter(|&length| length <= longest).collect();
    for step in 0..60 {
        let key = keys[random.random_range(0..keys.len())];
        let bytes = value(step, lengths[random.random_range(0..lengths.len())]);
        let before = (table.memory().to_vec(), table.statistics());
        let result = match random.random_range(0..5) {
            0..3 => table.insert(key, &bytes).map(|()| drop(model.insert(key, bytes))),
            3 => table.update(key, &bytes).map(|_| drop(model.insert(key, bytes))),
            _ => table.delete(key).map(|()| drop(model.remove(&key))),
        };
        if let Err(error) = result {
            let right = match error {
                TableError::KeyPresent { .. } => model.contains_key(&key),
                TableError::UnknownKey { .. } => !model.contains_key(&key),
                TableError::Full { .. } => true,
                TableError::ValueTooLong { .. } => false,
            };
            assert!(right, "{error}");
            assert!((table.memory().to_vec(), table.statistics()) == before, "{error} changed it");
        }
        let mut bytes = Vec::new();
        for key in [key, keys[random.random_range(0..keys.len())]] {
            let found = table.get(key, &mut bytes).map(|_| &bytes);
            assert!(found == model.get(&key), "key {key}, step {step}");
            let found = remotely(table, key, random_hint(&mut random)).map(|(_, value)| value);
            assert!(found.as_ref() == model.get(&key), "key {key} remotely, step {step}");
        }
    }
    model.keys().for_each(|&key| table.delete(key).unwrap());
    let left = table.statistics();
    assert_eq!((left.objects, left.overflow_taken, left.heap_lines_taken), (0, 0, 0));
}

#[test]
fn robin_hood_of_the_smallest_and_the_largest_shapes() {
    for values in all_values() {
        for slots in [1, 2, 5] {
            for (limit, overflow_slots) in [
                (Some(1), 0),
                (Some(1), 1),
                (Some(63), 0),
                (Some(63), 1),
                (Some(63), 64),
                (None, 0),
            ] {
                for segment in [1, u32::next_power_of_two(slots)] {
                    let shape = Shape { slots, limit, segment, overflow_slots, values };
                    let table = shapes::robin_hood(shape, PlainMemory::new);
                    let keys = keys(|key| table.geometry().home(key));
                    torment(&table, &keys, values.longest, u64::from(slots + overflow_slots));
                }
            }
        }
    }
}

#[test]
fn other_tables_of_the_smallest_and_the_largest_shapes() {
    for (values, overflow_buckets) in all_values().zip([0, 1, 2].into_iter().cycle()) {
        let buckets = 1;
        let table = shapes::hopscotch(
            hopscotch::Shape { buckets, overflow_buckets, values },
            PlainMemory::new,
        );
        torment(&table, &keys(|_| 0), values.longest, 1);
        for slots in [4, 16] {
            let shape = buckets::Shape { buckets, slots, overflow_buckets, values };
            let table = shapes::buckets(Buckets::chained(shape).unwrap(), PlainMemory::new);
            torment(&table, &keys(|_| 0), values.longest, 2);
        }
        for slots in [7, 15] {
            let shape = buckets::Shape { buckets, slots, overflow_buckets, values };
            let table = shapes::buckets(Buckets::mica(shape).unwrap(), PlainMemory::new);
            torment(&table, &keys(|_| 0), values.longest, 3);
        }
    }
}

/// A table of two lines to a slot, whose first slot is made to have had `stamp` writes, and its object so many
/// versions.
fn aged(stamp: u32, version: u32) -> RobinHoodTable<PlainMemory> {
    let shape = Shape {
        slots: 1,
        limit: Some(1),
        segment: 1,
        overflow_slots: 1,
        values: Values::inline(104),
    };
    let table = shapes::robin_hood(shape, PlainMemory::new);
    table.insert(7, &value(0, 104)).unwrap();
    let place = table.locate(7).unwrap().word;
    let meta = Meta::object(version, 104, false).with_stamp(stamp);
    [place, place + 8].into_iter().for_each(|part| table.memory().store(part, meta.0));
    table
}

#[test]
fn versions_and_stamps_wrap_around() {
    let most = (1 << Meta::STAMP_BITS) - 2;
    let table = aged(most, u32::MAX);
    assert_eq!(remotely(&table, 7, Hint::default()), Some((u32::MAX.into(), value(0, 104))));
    assert_eq!(table.update(7, &value(1, 103)), Ok(0));
    let place = table.locate(7).unwrap().word;
    assert_eq!(Meta(table.memory().load(place)).stamp(), 0);
    assert_eq!(remotely(&table, 7, Hint::default()), Some((0, value(1, 103))));
    let mut bytes = Vec::new();
    assert_eq!((table.get(7, &mut bytes), &bytes), (Some(0), &value(1, 103)));
    table.delete(7).unwrap();
    assert_eq!(remotely(&table, 7, Hint::default()), None);
    assert_eq!(table.get(7, &mut bytes), None);
    // An object that leaves a slot ends a turn of the stamps, too.
    let table = aged(most, 1);
    table.delete(7).unwrap();
    assert_eq!(table.memory().load(0), 0);
    assert_eq!((remotely(&table, 7, Hint::default()), table.get(7, &mut bytes)), (None, None));
}

/// A slot whose stamp comes back to 0 between two readings was written between them.
#[test]
fn readings_on_both_sides_of_a_wrap_differ() {
    let table = aged((1 << Meta::STAMP_BITS) - 2, 1);
    let (mut plan, mut words, mut trips) = (table.plan(8, Hint::default()), Vec::new(), 0);
    while let Step::Read(ranges) = plan.next(&words) {
        words.clear();
        ranges.iter().for_each(|range| read_range(table.memory(), range, &mut words));
        trips += 1;
        if trips == 1 {
            table.update(7, &value(1, 50)).unwrap();
        }
    }
    // The first two readings differ, the next one confirms the second.
    assert_eq!(trips, 3);
}

#[test]
fn a_shape_with_the_largest_numbers_is_a_geometry() {
    let values = Values { inline_bytes: 256, longest: 1 << 20, heap_lines: u32::MAX };
    let most = 1 << 31;
    for limit in [Some(63), None] {
        let segment = if limit.is_some() { most } else { 1 };
        let shape = Shape { slots: most, limit, segment, overflow_slots: most, values };
        let geometry = RobinHood::new(shape).unwrap();
        assert!(geometry.home(u64::MAX) < most);
        let error = Table::new(geometry, PlainMemory::new(8)).unwrap_err();
        assert_eq!((error.field, error.value), ("words of the memory", 8));
    }
    let shape = buckets::Shape { buckets: most, slots: 16, overflow_buckets: most, values };
    assert!(Buckets::chained(shape).unwrap().ground().words() > 1 << 40);
}
