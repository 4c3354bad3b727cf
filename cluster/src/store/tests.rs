// SPDX-License-Identifier: MIT OR Apache-2.0
//! The store against a plain map, and against other orders of the same changes.

use std::hash::BuildHasher;

use super::*;
use crate::engine::{NodeId, TableNumber};
use crate::placement::Headers;
use crate::transact::{Decision, Intent, Missing, Rows, TableShape};
use crate::wire::{Reader, WireError, Writer};

/// One table; even rows exist at the start, with their key as value.
#[derive(Clone, Debug)]
struct Even;

const TABLES: [TableShape; 1] = [TableShape::hashed("even", 8, 64)];

impl Transactions for Even {
    type Input = u64;
    type Source = u64;

    fn tables(&self) -> &[TableShape] {
        &TABLES
    }

    fn kinds(&self) -> &[&'static str] {
        &["none"]
    }

    fn kind(&self, _: &u64) -> u8 {
        0
    }

    fn source(&self, _: u32) -> u64 {
        0
    }

    fn draw(&self, _: &mut u64) -> Option<u64> {
        None
    }

    fn put_input(&self, input: &u64, out: &mut Vec<u8>) {
        out.put_u64(*input);
    }

    fn take_input(&self, reader: &mut Reader<'_>) -> Result<u64, WireError> {
        reader.u64("an input")
    }

    fn initial(&self, key: Key, value: &mut Vec<u8>) -> bool {
        let is_there = key.row.is_multiple_of(2);
        if is_there {
            value.extend_from_slice(&key.row.to_le_bytes());
        }
        is_there
    }

    fn declare(&self, _: &u64, _: &Rows, _: &mut Vec<(Key, Intent)>) {}

    fn run(&self, _: &u64, _: &mut Rows) -> Result<Decision, Missing> {
        Ok(Decision::Commit)
    }
}

fn key(row: u64) -> Key {
    Key { table: TableNumber(0), row }
}

/// With three buckets, which have the headers.
fn store() -> Store<Even> {
    store_with(Headers::Buckets)
}

fn store_with(headers: Headers) -> Store<Even> {
    let layout = Partitioning::new(1, 0, &TABLES).unwrap().with_buckets(3);
    let layout = Arc::new(layout.with_headers(headers));
    Store::new(Even, layout.clone(), layout.all())
}

fn by(count: u32) -> TransactionId {
    TransactionId::new(NodeId(0), 0, 0, count)
}

fn update(row: u64, fetched: u64, value: &[u8]) -> Item<'_> {
    Item { key: key(row), change: Change::Update, fetched, value }
}

/// The value of a row, and the version of its header.
fn read(store: &Store<Even>, row: u64) -> (Option<Vec<u8>>, u64) {
    let mut value = Vec::new();
    let found = store.read(key(row), &mut value).unwrap();
    (found.present.then_some(value), found.version)
}

/// Two rows under one header.
fn neighbours(store: &Store<Even>) -> (u64, u64) {
    let header = |row| store.header_of(key(row));
    (0, (2..).step_by(2).find(|row| header(*row) == header(0)).unwrap())
}

#[test]
fn a_lock_is_no_conflict_for_its_own_transaction_and_goes_once() {
    let mut store = store();
    let (one, two) = neighbours(&store);
    assert_eq!(store.lock(key(one), by(1)), Ok(0));
    assert_eq!(store.lock(key(two), by(1)), Ok(0));
    assert_eq!(store.lock(key(two), by(2)), Err(Refused::Locked));
    assert_eq!(store.is_unchanged(key(one), 0, by(1)), Ok(true));
    assert_eq!(store.is_unchanged(key(one), 0, by(2)), Ok(false));
    assert_eq!(store.locked(), Some((store.header_of(key(one)), by(1))));
    assert!(!store.unlock(key(one), by(2)));
    assert!(store.unlock(key(two), by(1)));
    assert_eq!(store, self::store(), "an unlocked header is as at the start");
}

#[test]
fn two_rows_of_a_transaction_under_one_header_raise_its_version_once() {
    let mut store = store();
    let (one, two) = neighbours(&store);
    let changes = [update(one, 0, &[1; 8]), update(two, 0, &[2; 8])];
    assert!(changes.iter().all(|item| store.apply(item).unwrap()));
    assert_eq!(
        (read(&store, one), read(&store, two)),
        ((Some(vec![1; 8]), 1), (Some(vec![2; 8]), 1))
    );
    assert!(!changes.iter().any(|item| store.apply(item).unwrap()), "applied once");
    // A change that comes after a later one under the same header is lost: so the order matters.
    assert!(store.apply(&update(two, 2, &[4; 8])).unwrap());
    assert!(!store.apply(&update(one, 1, &[3; 8])).unwrap());
}

#[test]
fn rows_with_headers_of_their_own_do_not_meet() {
    let mut store = store_with(Headers::Rows);
    let (one, two) = neighbours(&self::store());
    assert_eq!(store.lock(key(one), by(1)), Ok(0));
    assert_eq!(store.lock(key(two), by(2)), Ok(0));
    // Also of a row that is not there yet.
    assert_eq!(store.lock(key(u64::MAX), by(1)), Ok(0));
    assert_eq!(store.lock(key(u64::MAX), by(2)), Err(Refused::Locked));
    assert!(store.apply(&update(one, 0, &[1; 8])).unwrap());
    assert_eq!(
        (read(&store, one), read(&store, two)),
        ((Some(vec![1; 8]), 1), (Some(two.to_le_bytes().into()), 0))
    );
}

#[test]
fn what_does_not_belong_here_is_refused() {
    let mut store = store();
    let foreign = Key { table: TableNumber(7), row: 0 };
    assert_eq!(store.lock(foreign, by(1)), Err(Refused::NotHere));
    assert_eq!(store.read(foreign, &mut Vec::new()), Err(Refused::NotHere));
    assert_eq!(store.apply(&update(0, 0, &[1; 7])), Err(Refused::WrongLength));
    store.drop_all();
    assert_eq!(store.apply(&update(0, 0, &[1; 8])), Err(Refused::NotHere));
}

/// Small random numbers from a seed.
fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let (state, mut count) = (FixedSeed::with_seed(seed), 0_u64);
    move |limit| {
        count += 1;
        state.hash_one(count) % limit
    }
}

use foldhash::fast::FixedState as FixedSeed;

#[test]
fn a_replica_is_filled_by_copies_and_changes_in_any_order() {
    seeds::each!(200, |seed| {
        let mut draw = numbers(seed);
        let headers = if seed % 3 == 0 { Headers::Rows } else { Headers::Buckets };
        let mut primary = store_with(headers);
        let mut changes: Vec<(u64, u64, Change, [u8; 8])> = Vec::new();
        let mut change = |primary: &mut Store<Even>, draw: &mut dyn FnMut(u64) -> u64| {
            let row = draw(12);
            let (present, fetched) = read(primary, row);
            let kind = match (present.is_some(), draw(2)) {
                (false, _) => Change::Insert,
                (true, 0) => Change::Update,
                (true, _) => Change::Delete,
            };
            let value = draw(u64::MAX).to_le_bytes();
            changes.push((row, fetched, kind, value));
            let length = if kind == Change::Delete { 0 } else { 8 };
            let item = Item { key: key(row), change: kind, fetched, value: &value[..length] };
            assert!(primary.apply(&item).unwrap());
            changes.len()
        };
        (0..draw(30)).for_each(|_| {
            change(&mut primary, &mut draw);
        });
        let before = change(&mut primary, &mut draw);
        // From here on the new replica takes changes, and rows are copied as they are at some time.
        let mut backup = primary.clone();
        backup.drop_all();
        backup.begin_filling(PartitionId(0));
        let mut to_copy = primary.written(PartitionId(0));
        while !to_copy.is_empty() {
            let row = to_copy.swap_remove(draw(to_copy.len() as u64) as usize);
            backup.merge(&primary.copied(row).unwrap()).unwrap();
            change(&mut primary, &mut draw);
        }
        let mut late: Vec<_> = changes[before..].to_vec();
        while !late.is_empty() {
            let (row, fetched, change, value) = late.swap_remove(draw(late.len() as u64) as usize);
            let length = if change == Change::Delete { 0 } else { 8 };
            let item = Item { key: key(row), change, fetched, value: &value[..length] };
            backup.apply(&item).unwrap();
        }
        backup.end_filling(PartitionId(0));
        assert_eq!(primary.difference(&backup, PartitionId(0)), None);
    });
}

#[test]
fn equal_stores_hash_equally_whatever_was_before() {
    let with = FixedSeed::default();
    let (mut one, mut other) = (store(), store());
    let value = [9; 8];
    for row in 0..40 {
        one.apply(&update(row, row, &value)).unwrap();
    }
    let mut backup = store();
    backup.begin_filling(PartitionId(0));
    for row in (0..40).rev() {
        assert_ne!(one, other);
        let copied = one.copied(key(row)).unwrap();
        other.merge(&copied).unwrap();
    }
    assert_eq!(one, other);
    assert_eq!(with.hash_one(&one), with.hash_one(&other));
    assert!(one.bytes() > 40 * 8);
    other.lock(key(0), by(1)).unwrap();
    assert_ne!(one, other);
    other.unlock_all();
    assert_eq!(one, other);
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    const ROWS: u64 = 1 << 20;
    const TABLES: [TableShape; 1] = [TableShape::hashed("even", 40, ROWS)];
    let layout = Arc::new(Partitioning::new(1, 0, &TABLES).unwrap());
    let mut store = Store::new(Even, layout.clone(), layout.all());
    let value = [7; 40];
    let mut bytes = Vec::new();
    let mut draw = numbers(1);
    let rows: Vec<u64> = (0..ROWS).map(|_| draw(ROWS)).collect();
    let measure = |what: &str, work: &mut dyn FnMut(u64)| {
        // The median of short pieces, for a machine that does other things, too.
        let piece = |rows: &[u64]| {
            let start = std::time::Instant::now();
            rows.iter().for_each(|row| work(*row));
            start.elapsed().as_nanos() / rows.len() as u128
        };
        let mut pieces: Vec<_> = rows.chunks(256).map(piece).collect();
        pieces.sort_unstable();
        println!("{what}: {} ns", pieces[pieces.len() / 2]);
    };
    measure("read as at the start", &mut |row| {
        bytes.clear();
        store.read(key(row), &mut bytes).unwrap();
    });
    measure("lock and unlock", &mut |row| {
        store.lock(key(row), by(1)).unwrap();
        store.unlock(key(row), by(1));
    });
    measure("apply the first time", &mut |row| {
        let version = store.header(store.header_of(key(row))).unwrap().version;
        store.apply(&update(row, version, &value)).unwrap();
    });
    measure("apply again", &mut |row| {
        let version = store.header(store.header_of(key(row))).unwrap().version;
        store.apply(&update(row, version, &value)).unwrap();
    });
    measure("read as written", &mut |row| {
        bytes.clear();
        store.read(key(row), &mut bytes).unwrap();
    });
    let written = store.written(PartitionId(0)).len();
    println!("{} bytes a written row of 40 bytes", store.bytes() / written);
}
