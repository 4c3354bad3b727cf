// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows against a model of two maps: what was fetched, and what it has become.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::engine::TableNumber;
use crate::transact::digest;

/// The largest value that fits a message (FaSST, section 5.1).
const LARGEST: usize = 4_060;

fn key(row: u64) -> Key {
    Key { table: TableNumber(1), row }
}

/// What is known of a key that was fetched.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Known {
    intent: Intent,
    version: u64,
    was: Option<Vec<u8>>,
    now: Option<Vec<u8>>,
    changed: bool,
}

impl Known {
    fn change(&self) -> Option<Change> {
        match (&self.was, &self.now) {
            (None, None) => None,
            (Some(_), Some(_)) => self.changed.then_some(Change::Update),
            (None, Some(_)) => Some(Change::Insert),
            (Some(_), None) => Some(Change::Delete),
        }
    }
}

fn agree(rows: &Rows, known: &BTreeMap<u64, Known>) {
    assert_eq!(rows.all().len(), known.len());
    for row in rows.all() {
        let known = &known[&row.key.row];
        let of_row = (row.intent, row.version, row.digest, row.was_present(), row.is_present());
        let (was, now) = (known.was.as_deref(), known.now.as_deref());
        let expected = (known.intent, known.version, digest(was), was.is_some(), now.is_some());
        assert_eq!(of_row, expected, "{row:?}");
        assert_eq!((rows.value_of(row), rows.get(row.key)), (now, Ok(now)));
        assert_eq!(row.change(), known.change(), "{row:?}");
    }
    let read = known.values().map(|known| (known.version, digest(known.was.as_deref()), false));
    let written = known.values().filter(|known| known.change().is_some());
    let written = written.map(|known| (known.version + 1, digest(known.now.as_deref()), true));
    let mut expected: Vec<_> = read.chain(written).collect();
    let told = rows.accesses().map(|access| (access.version, access.digest, access.writes));
    let mut told: Vec<_> = told.collect();
    expected.sort_unstable();
    told.sort_unstable();
    assert_eq!(told, expected);
}

fn value(random: &mut ChaCha8Rng) -> Vec<u8> {
    let length = match random.random_range(0..10) {
        0 => LARGEST,
        1 => 0,
        _ => random.random_range(1..50),
    };
    (0..length).map(|_| random.random()).collect()
}

fn fetch(rows: &mut Rows, known: &mut BTreeMap<u64, Known>, random: &mut ChaCha8Rng) {
    let (row, version) = (random.random_range(0..5), random.random_range(0..100));
    let intent = if random.random() { Intent::Read } else { Intent::Write };
    let was = random.random_bool(0.7).then(|| value(random));
    rows.fetched(key(row), intent, version, was.as_deref());
    reset(known);
    known.insert(row, Known { intent, version, now: was.clone(), was, changed: false });
}

fn reset(known: &mut BTreeMap<u64, Known>) {
    for known in known.values_mut() {
        (known.now, known.changed) = (known.was.clone(), false);
    }
}

fn change(rows: &mut Rows, known: &mut BTreeMap<u64, Known>, random: &mut ChaCha8Rng) {
    let (row, value) = (random.random_range(0..6), value(random));
    let key = key(row);
    let Some(known) = known.get_mut(&row).filter(|known| known.intent == Intent::Write) else {
        let missing = Missing { key, intent: Intent::Write };
        assert_eq!(rows.get_mut(key), Err(missing));
        assert_eq!(rows.insert(key, &value), Err(missing));
        assert_eq!(rows.delete(key), Err(missing));
        return;
    };
    match random.random_range(0..3) {
        0 => {
            let place = rows.get_mut(key).expect("it was fetched to be written");
            assert_eq!(place.is_some(), known.now.is_some());
            let Some(now) = &mut known.now else { return };
            let fill = value.first().copied().unwrap_or(0);
            place.expect("there is one").fill(fill);
            now.fill(fill);
            known.changed = true;
        }
        1 => {
            let is_new = known.now.is_none();
            assert_eq!(rows.insert(key, &value), Ok(is_new));
            if is_new {
                (known.now, known.changed) = (Some(value), true);
            }
        }
        _ => {
            assert_eq!(rows.delete(key), Ok(known.now.is_some()));
            known.changed |= known.now.take().is_some();
        }
    }
}

#[test]
fn rows_are_as_fetched_or_as_changed_since() {
    let mut rows = Rows::new();
    seeds::each!(300, |seed| {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        rows.clear();
        let mut known = BTreeMap::new();
        for _ in 0..40 {
            match random.random_range(0..10) {
                0..=2 => fetch(&mut rows, &mut known, random),
                3 => {
                    rows.reset();
                    reset(&mut known);
                }
                _ => change(&mut rows, &mut known, random),
            }
            agree(&rows, &known);
        }
        rows.reset();
        reset(&mut known);
        agree(&rows, &known);
    });
}

#[test]
fn a_second_run_finds_the_rows_as_fetched() {
    let mut rows = Rows::new();
    rows.fetched(key(1), Intent::Write, 3, Some(&[1; 8]));
    rows.fetched(key(2), Intent::Read, 4, Some(&[2; 8]));
    rows.get_mut(key(1)).expect("to be written").expect("a row").fill(9);
    let missing = Missing { key: key(2), intent: Intent::Write };
    assert_eq!(rows.delete(key(2)), Err(missing));
    rows.fetched(key(2), Intent::Write, 5, Some(&[7; 8]));
    assert_eq!(rows.get(key(1)), Ok(Some(&[1; 8][..])));
    assert_eq!(rows.get(key(2)), Ok(Some(&[7; 8][..])));
    assert_eq!((rows.all().len(), rows.changes().count()), (2, 0));
    assert_eq!(rows.delete(key(2)), Ok(true));
    rows.get_mut(key(1)).expect("to be written").expect("a row").fill(9);
    let found = [1, 2, 3].map(|row| rows.as_fetched(key(row)));
    assert_eq!(found, [Some(&[1; 8][..]), Some(&[7; 8]), None]);
    rows.reset();
    assert_eq!(rows.delete(key(2)), Ok(true));
    let changes: Vec<_> = rows.changes().map(|(row, change)| (row.key, change)).collect();
    assert_eq!(changes, [(key(2), Change::Delete)]);
}

#[test]
fn the_memory_is_used_again() {
    let mut rows = Rows::new();
    let fill = |rows: &mut Rows| {
        for row in 0..8 {
            rows.fetched(key(row), Intent::Write, 0, (row % 2 == 0).then_some(&[0; LARGEST][..]));
            rows.reset();
        }
        for row in 0..8 {
            rows.insert(key(row), &[1; LARGEST]).expect("to be written");
        }
    };
    fill(&mut rows);
    let capacities =
        |rows: &Rows| (rows.rows.capacity(), rows.fetched.capacity(), rows.bytes.capacity());
    let before = capacities(&rows);
    rows.clear();
    fill(&mut rows);
    assert_eq!(capacities(&rows), before);
}
