// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is refused changes nothing, and names the value and what was expected.

use tables::memory::{HostMemory, PlainMemory};
use tables::robin_hood::{RobinHood, Shape};
use tables::{Hint, Plan, RemoteTable, Step, Table, TableError, Values, Walk};

use crate::shapes;

const SHAPE: Shape =
    Shape { slots: 4, limit: Some(2), segment: 2, overflow_slots: 2, values: Values::inline(8) };

#[test]
fn a_shape_that_does_not_fit_is_named() {
    let refused = |shape| RobinHood::new(shape).unwrap_err().to_string();
    assert_eq!(refused(Shape { slots: 0, ..SHAPE }), "slots is 0, expected 1 to 2^31");
    assert_eq!(refused(Shape { limit: Some(0), ..SHAPE }), "limit is 0, expected 1 to 63");
    assert_eq!(refused(Shape { limit: Some(64), ..SHAPE }), "limit is 64, expected 1 to 63");
    for segment in [0, 3, 8] {
        let expected = "a power of two, at most the slots rounded up to one";
        let text = format!("segment is {segment}, expected {expected}");
        assert_eq!(refused(Shape { segment, ..SHAPE }), text);
    }
    let values = Values { inline_bytes: 257, longest: 300, heap_lines: 9 };
    assert_eq!(refused(Shape { values, ..SHAPE }), "inline_bytes is 257, expected at most 256");
    let values = Values { inline_bytes: 1, longest: 1 << 21, heap_lines: 9 };
    assert_eq!(refused(Shape { values, ..SHAPE }), "longest is 2097152, expected at most 2^20");
    let values = Values { inline_bytes: 1, longest: 40, heap_lines: 0 };
    let expected = "heap_lines is 0, expected at least 1 for values out of line";
    assert_eq!(refused(Shape { values, ..SHAPE }), expected);
}

#[test]
fn a_memory_that_is_too_small_is_named() {
    let geometry = RobinHood::new(SHAPE).unwrap();
    let words = geometry.ground().words() - 8;
    let error = Table::new(geometry, PlainMemory::new(words)).unwrap_err();
    let expected = "expected as many words as the geometry says";
    assert_eq!(error.to_string(), format!("words of the memory is {words}, {expected}"));
}

/// Of such a memory it is not known what is free, and a chain in it may go in circles.
#[test]
fn a_memory_with_something_in_it_is_refused() {
    let table = shapes::robin_hood(SHAPE, PlainMemory::new);
    (0..5).for_each(|key| table.insert(key, &[1]).unwrap());
    let memory = PlainMemory::clone(table.memory());
    let used = memory.to_vec().iter().position(|&word| word != 0).unwrap();
    let error = Table::new(*table.geometry(), memory).unwrap_err();
    let expected = "expected none: a table begins with words of 0";
    assert_eq!(error.to_string(), format!("first word that is not 0 is {used}, {expected}"));
    // What lies behind the table is not its own.
    let words = table.geometry().ground().words();
    let memory = PlainMemory::new(words + 8);
    memory.store(words, 1);
    Table::new(*table.geometry(), memory).unwrap();
}

#[test]
#[should_panic(expected = "number of words that were asked for")]
fn words_that_were_not_asked_for_are_noticed() {
    let table = shapes::robin_hood(SHAPE, PlainMemory::new);
    let mut plan = table.plan(1, Hint::default());
    let Step::Read(ranges) = plan.next(&[]) else { panic!("nothing to read") };
    let words = ranges.iter().map(|range| range.words).sum::<usize>();
    plan.next(&vec![0; words + 5]);
}

#[test]
fn refused_operations_change_nothing() {
    let values = Values { inline_bytes: 8, longest: 90, heap_lines: 2 };
    let table = shapes::robin_hood(Shape { values, ..SHAPE }, PlainMemory::new);
    let mut key = 0;
    let full = loop {
        match table.insert(key, &[7; 8]) {
            Ok(()) => key += 1,
            Err(error) => break error,
        }
    };
    let wanted = TableError::Full { key, what: "overflow slots", wanted: 1, capacity: 2 };
    let larger = TableError::Full { key, what: "overflow slots", wanted: 2, capacity: 2 };
    assert!(full == wanted || full == larger, "{full}");
    table.update(0, &[1; 90]).unwrap();

    let (memory, statistics) = (table.memory().to_vec(), table.statistics());
    let check = |result: Result<(), TableError>, text: &str| {
        assert_eq!(result.unwrap_err().to_string(), text);
        assert_eq!((table.memory().to_vec(), table.statistics()), (memory.clone(), statistics));
    };
    let long = "the value has 91 bytes, expected at most 90";
    check(table.insert(key, &[0; 91]), long);
    check(table.update(0, &[0; 91]).map(drop), long);
    check(table.insert(0, &[]), "key 0 is in the table, expected one that is not");
    check(table.delete(999), "key 999 is not in the table, expected one that is");
    check(table.update(999, &[]).map(drop), "key 999 is not in the table, expected one that is");
    let heap = "no room for key 1: no 2 lines of the heap in a row are free, of 2";
    check(table.update(1, &[0; 60]).map(drop), heap);
    // What was taken for the value comes back when there is no place for the slot.
    table.delete(0).unwrap();
    table.insert(0, &[2; 8]).unwrap();
    let (memory, statistics) = (table.memory().to_vec(), table.statistics());
    assert!(matches!(table.insert(key, &[0; 60]), Err(TableError::Full { .. })));
    assert_eq!((table.memory().to_vec(), table.statistics()), (memory, statistics));
}
