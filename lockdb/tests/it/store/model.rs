// SPDX-License-Identifier: MIT OR Apache-2.0
//! One session of the store against a plain map.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use lockdb::schema::RowRef;
use lockdb::{Error, LockWait, Options, Order, Table, Transaction};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{LEVELS, all, person, rows, set_town, store_of, town as town_of};

/// All operations, ranges with all kinds of bounds, savepoints
/// and rollbacks, write sets of many rows, more index entries than are fetched at once.
#[test]
fn a_session_does_what_a_map_does() {
    seeds::each!(20, compare_with_a_map);
}

fn compare_with_a_map(seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (store, table) = store_of(Options::small(), &[]);
    let mut session = store.session().unwrap();
    let keys = random.random_range(5..600);
    let mut committed = BTreeMap::new();
    for _ in 0..30 {
        let mut transaction = session.begin(LEVELS[random.random_range(0..3)]);
        let mut model = committed.clone();
        let mut saved = Vec::new();
        for _ in 0..random.random_range(0..150) {
            match random.random_range(0..20) {
                0 => saved.push((transaction.savepoint().unwrap(), model.clone())),
                1 if !saved.is_empty() => {
                    saved.truncate(random.random_range(1..=saved.len()));
                    let (savepoint, then) = saved.last().unwrap();
                    transaction.rollback_to(*savepoint).unwrap();
                    model = then.clone();
                }
                2 | 3 => compare_a_range(&mut random, &mut transaction, &table, &model, keys),
                _ => change_one(&mut random, &mut transaction, &table, &mut model, keys),
            }
        }
        let seen = rows(&mut transaction, &table).unwrap();
        assert_eq!(seen, model.clone().into_iter().collect::<Vec<_>>());
        if random.random_ratio(3, 4) {
            transaction.commit().unwrap();
            committed = model;
        }
        drop(transaction);
        if random.random_ratio(1, 8) {
            store.vacuum().unwrap();
        }
    }
    assert_eq!(all(&store, &table), committed.into_iter().collect::<Vec<_>>());
}

type Model = BTreeMap<i64, i64>;

fn change_one(
    random: &mut ChaCha8Rng,
    transaction: &mut Transaction<'_>,
    table: &Table,
    model: &mut Model,
    keys: i64,
) {
    let (id, town) = (random.random_range(0..keys), random.random_range(0..5));
    match random.random_range(0..6) {
        0 => assert_eq!(town_of(transaction, table, id), model.get(&id).copied()),
        1 => {
            let row = transaction.get_for_update(table, &id, LockWait::Wait).unwrap();
            assert_eq!(row.map(|row| row.int(1)), model.get(&id).copied());
        }
        2 => {
            let found = transaction.update(table, &id, set_town(town)).unwrap();
            assert_eq!(found.is_some(), model.contains_key(&id));
            model.entry(id).and_modify(|of| *of = town);
        }
        3 => assert_eq!(transaction.delete(table, &id).unwrap(), model.remove(&id).is_some()),
        _ => match transaction.insert(table, &person(id, town)) {
            Ok(()) => assert_eq!(model.insert(id, town), None),
            Err(Error::DuplicateKey { .. }) => assert!(model.contains_key(&id)),
            Err(error) => panic!("{error}"),
        },
    }
}

fn compare_a_range(
    random: &mut ChaCha8Rng,
    transaction: &mut Transaction<'_>,
    table: &Table,
    model: &Model,
    keys: i64,
) {
    let by_town = random.random();
    let most = if by_town { 6 } else { keys };
    let mut bound = || {
        let at = random.random_range(-1..=most);
        [Bound::Included(at), Bound::Excluded(at), Bound::Unbounded][random.random_range(0..3)]
    };
    let bounds = (bound(), bound());
    let order = [Order::Ascending, Order::Descending][random.random_range(0..2)];
    let most = if random.random() { usize::MAX } else { random.random_range(1..200) };
    let mut found = Vec::new();
    let visit = |row: RowRef<'_>| {
        found.push((row.int(0), row.int(1)));
        if found.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    match by_town {
        true => transaction.range_by(table, "by_town", bounds, order, visit).unwrap(),
        false => transaction.range(table, bounds, order, visit).unwrap(),
    }
    let within = |&(id, town): &(i64, i64)| {
        std::ops::RangeBounds::contains(&bounds, if by_town { &town } else { &id })
    };
    let mut expected: Vec<_> = model.iter().map(|(&id, &town)| (id, town)).filter(within).collect();
    let place = |&(id, town): &(i64, i64)| if by_town { town } else { id };
    expected.sort_by_key(place);
    if order == Order::Descending {
        expected.reverse();
    }
    expected.truncate(most);
    // Within a town rows come in no order that means anything.
    let places = |rows: &[(i64, i64)]| rows.iter().map(place).collect::<Vec<_>>();
    assert_eq!(places(&found), places(&expected), "{bounds:?}, {order:?}, by town: {by_town}");
    if !by_town || most == usize::MAX {
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}
