// SPDX-License-Identifier: MIT OR Apache-2.0
//! The draws, the values and the count of updates of the object store.

use super::*;
use crate::workload::testing::{SerialStore, check_inputs, draw};

fn store(reads: u8, writes: u8, nodes: u16) -> ObjectStore {
    let settings =
        ObjectStoreSettings { objects: 3_000, ..ObjectStoreSettings::o(reads, writes, nodes, 1) };
    ObjectStore::new(settings).expect("sound settings")
}

#[test]
fn objects_are_uniform_apart_and_updated_w_of_r() {
    const DRAWS: usize = 30_000;
    let store = store(4, 2, 7);
    let (mut updates, mut halves, mut by_place) = (0, [0_usize; 2], [0_usize; 4]);
    for input in draw(&store, 3, DRAWS) {
        let partitions: Vec<_> =
            input.objects().map(|(object, _)| partition_of(object, 7)).collect();
        let mut distinct = partitions.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 4, "{partitions:?}");
        for (place, (object, intent)) in input.objects().enumerate() {
            halves[usize::from(object >= 1_500)] += 1;
            let writes = usize::from(intent == Intent::Write);
            updates += writes;
            by_place[place] += writes;
        }
        assert_eq!(store.kind(&input), u8::from(input.updated != 0));
    }
    let near = |seen: usize, expected: usize| seen.abs_diff(expected) * 50 < expected;
    assert!(near(updates, 2 * DRAWS), "{updates} updates");
    assert!(by_place.iter().all(|updates| near(*updates, DRAWS / 2)), "{by_place:?}");
    assert!(near(halves[0], 2 * DRAWS), "{halves:?}");
}

#[test]
fn transactions_of_reads_alone_update_nothing() {
    for (reads, writes) in [(1, 0), (4, 0)] {
        let store = store(reads, writes, 4);
        assert!(draw(&store, 0, 200).iter().all(|input| store.kind(input) == 0));
    }
    let all = store(3, 3, 4);
    assert!(draw(&all, 0, 200).iter().all(|input| input.updated == 0b111));
}

#[test]
fn few_objects_are_drawn_without_end_and_differ() {
    let settings = ObjectStoreSettings { objects: 4, ..ObjectStoreSettings::o(3, 1, 3, 1) };
    for apart in [false, true] {
        let store = ObjectStore::new(ObjectStoreSettings { apart, ..settings });
        for input in draw(&store.expect("sound settings"), 0, 5) {
            let mut objects: Vec<_> = input.objects().map(|(object, _)| object).collect();
            objects.sort_unstable();
            objects.dedup();
            assert_eq!(objects.len(), 3);
        }
    }
}

#[test]
fn no_two_inputs_write_the_same_value() {
    let store = store(2, 2, 3);
    let mut writers: Vec<u64> =
        (0..4).flat_map(|worker| draw(&store, worker, 100)).map(|input| input.writer).collect();
    writers.sort_unstable();
    writers.dedup();
    assert_eq!(writers.len(), 400);
    assert!(!writers.contains(&0), "0 is the start's");
}

#[test]
fn updates_are_counted_in_the_rows() {
    seeds::each!(20, |seed| {
        let settings = ObjectStoreSettings { objects: 40, ..ObjectStoreSettings::o(4, 2, 5, 1) };
        let store = ObjectStore::new(ObjectStoreSettings { seed, ..settings }).expect("sound");
        let mut serial = SerialStore::new(&store);
        let mut updates = 0;
        for input in draw(&store, 0, 100) {
            let taken = serial.execute(&input);
            let to_write = input.updated.count_ones() as usize;
            assert_eq!((taken.decision, taken.rounds, taken.keys), (Decision::Commit, 1, 4));
            assert_eq!(taken.to_write, to_write);
            updates += to_write as i64;
        }
        assert_eq!(serial.check_totals(), Ok(updates));
        let place = serial.committed.iter().position(|(kind, _)| *kind == 1).expect("an update");
        serial.committed.remove(place);
        serial.check_totals().expect_err("a transaction is missing");
    });
}

#[test]
fn a_value_of_another_object_or_writer_is_noticed() {
    let store = store(1, 0, 3);
    let mut value = Vec::new();
    assert!(store.initial(key(7), &mut value));
    assert_eq!((value.len(), store.check_row(key(7), &value)), (40, Ok(())));
    assert!(store.check_row(key(8), &value).is_err());
    assert!(store.check_row(key(7), &value[..39]).is_err());
    for place in 0..value.len() {
        value[place] ^= 1;
        assert!(store.check_row(key(7), &value).is_err(), "byte {place}");
        value[place] ^= 1;
    }
    assert!(!store.initial(key(3_000), &mut value));
    assert!(!store.initial(Key { table: TableNumber(1), row: 0 }, &mut value));
}

#[test]
fn settings_out_of_range_are_named() {
    let refused = |settings| ObjectStore::new(settings).expect_err("out of range").to_string();
    let o = ObjectStoreSettings::o;
    assert_eq!(refused(o(5, 0, 4, 1)), "reads is 5, expected 1 to 4");
    assert_eq!(refused(o(4, 5, 4, 1)), "writes is 5, expected 0 to 4");
    let small = ObjectStoreSettings { value_bytes: 8, ..o(1, 0, 4, 1) };
    assert_eq!(refused(small), "value_bytes is 8, expected 16 to 4060");
    let together = ObjectStoreSettings { apart: false, ..o(16, 0, 4, 1) };
    assert!(ObjectStore::new(together).is_ok());
}

#[test]
fn inputs_come_back_from_their_bytes() {
    for (reads, writes) in [(1, 0), (4, 2), (16, 8)] {
        check_inputs(&store(reads, writes, 20), 3, 50);
    }
    let store = store(2, 1, 3);
    let mut bytes = Vec::new();
    store.put_input(
        &ObjectTransaction::new(7, &[(5, Intent::Read), (6, Intent::Write)]),
        &mut bytes,
    );
    assert_eq!(bytes.len(), 1 + 2 + 8 + 2 * 8);
    let refused = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        store.take_input(&mut Reader::new(&bytes)).expect_err("damaged").to_string()
    };
    assert_eq!(refused(0, 17), "byte 0: a number of objects (1 to 16) expected, found 17");
    assert_eq!(refused(0, 0), "byte 0: a number of objects (1 to 16) expected, found 0");
    assert_eq!(refused(1, 4), "byte 1: a bit for each object expected, found 4");
    // There are 3,000.
    assert_eq!(refused(12, 0xff), "byte 11: an object of the store expected, found 65285");
}
