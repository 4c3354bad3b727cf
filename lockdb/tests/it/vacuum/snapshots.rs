// SPDX-License-Identifier: MIT OR Apache-2.0
//! Snapshots stay whole beside vacuum and random changes.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use lockdb::schema::RowRef;
use lockdb::{Database, Error, Options, Order, Session, Table, Transaction};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::vacuum::{QUICK, accounts, run};

const ROWS: i64 = 300;
const OWNERS: i64 = 10;
const TOTAL: i64 = ROWS * 100;

/// One random change that keeps the sum of all balances.
fn change(
    transaction: &mut Transaction<'_>,
    table: &Table,
    (from, to): (i64, i64),
    (kind, owner): (u32, i64),
) -> Result<(), Error> {
    let take = |transaction: &mut Transaction<'_>, id: i64| {
        let row = transaction.get(table, &id)?;
        Ok::<_, Error>(row.map(|row| row.int(2)))
    };
    let (Some(balance), target) = (take(transaction, from)?, take(transaction, to)?) else {
        return Ok(());
    };
    match (kind, target) {
        // A transfer.
        (0..4, Some(_)) => {
            transaction.update(table, &from, |row| {
                row.set_int(2, balance - 1);
                Ok(())
            })?;
            transaction.update(table, &to, |row| {
                let before = row.as_row().int(2);
                row.set_int(2, before + 1);
                Ok(())
            })?;
        }
        // Another owner.
        (4..7, _) => {
            transaction.update(table, &from, |row| {
                row.set_int(1, owner);
                Ok(())
            })?;
        }
        // The account goes, its money goes to another one.
        (7.., Some(_)) => {
            assert!(transaction.delete(table, &from)?);
            transaction.update(table, &to, |row| {
                let before = row.as_row().int(2);
                row.set_int(2, before + balance);
                Ok(())
            })?;
        }
        // An account comes (again) with half of another's money.
        (_, None) => {
            let half = balance / 2;
            transaction.update(table, &from, |row| {
                row.set_int(2, balance - half);
                Ok(())
            })?;
            transaction.insert(table, &[to.into(), owner.into(), half.into()])?;
        }
    }
    Ok(())
}

/// One snapshot: the balances' sum, and the rows by each index.
fn check(session: &mut Session, table: &Table) {
    let mut transaction = session.begin(QUICK);
    let mut rows = BTreeMap::new();
    let go_on = ControlFlow::Continue(());
    let scanned = transaction.scan(table, |row| {
        assert!(
            rows.insert(row.int(0), (row.int(1), row.int(2))).is_none(),
            "row {} twice",
            row.int(0)
        );
        go_on
    });
    scanned.unwrap();
    let snapshot = transaction.snapshot();
    let sum: i64 = rows.values().map(|&(_, balance)| balance).sum();
    assert_eq!(sum, TOTAL, "sum at snapshot {snapshot}");
    let mut by_key = Vec::new();
    let visit = |row: RowRef<'_>| {
        by_key.push((row.int(0), (row.int(1), row.int(2))));
        go_on
    };
    transaction.range(table, 0..ROWS, Order::Ascending, visit).unwrap();
    assert!(rows.iter().map(|(&id, &row)| (id, row)).eq(by_key), "range at snapshot {snapshot}");
    for owner in 0..OWNERS {
        let owned_in = |order: Order, transaction: &mut Transaction<'_>| {
            let mut found = Vec::new();
            let visit = |row: RowRef<'_>| {
                found.push(row.int(0));
                go_on
            };
            transaction.range_by(table, "owner", owner..=owner, order, visit).unwrap();
            found.sort_unstable();
            found
        };
        let owned: Vec<_> =
            rows.iter().filter(|(_, (of, _))| *of == owner).map(|(&id, _)| id).collect();
        for order in [Order::Ascending, Order::Descending] {
            let found = owned_in(order, &mut transaction);
            assert_eq!(owned, found, "rows of owner {owner} at snapshot {snapshot}, {order:?}");
        }
    }
}

#[test]
fn snapshots_stay_whole_beside_vacuum() {
    seeds::each!(1, write_beside_vacuum);
}

fn write_beside_vacuum(seed: u64) {
    let store = Database::in_memory(Options::small()).unwrap();
    let table = accounts(&store);
    store
        .transaction(|transaction| {
            (0..ROWS).try_for_each(|id| {
                transaction.insert(&table, &[id.into(), (id % OWNERS).into(), 100.into()])
            })
        })
        .unwrap();
    let (writers, stop) = (2, AtomicBool::new(false));
    let done = std::thread::scope(|scope| {
        let (store, table, stop) = (&store, &table, &stop);
        let write = |writer: u64| {
            let mut random = ChaCha8Rng::seed_from_u64(seed << 8 | writer);
            let mut session = store.session().unwrap();
            for _ in 0..20_000 {
                let pair = (random.random_range(0..ROWS), random.random_range(0..ROWS));
                let how = (random.random_range(0..10), random.random_range(0..OWNERS));
                if pair.0 != pair.1 {
                    run(&mut session, |transaction| change(transaction, table, pair, how));
                }
            }
        };
        let writing: Vec<_> =
            (0..writers).map(|writer| scope.spawn(move || write(writer))).collect();
        scope.spawn(|| {
            let mut session = store.session().unwrap();
            while !stop.load(Ordering::Relaxed) {
                check(&mut session, table);
            }
        });
        let vacuum = scope.spawn(|| {
            let (mut moved, mut removed, mut entries) = (0, 0, 0);
            while !stop.load(Ordering::Relaxed) {
                let done = store.vacuum().unwrap();
                moved += done.versions_moved;
                removed += done.tuples_removed;
                entries += done.entries_removed;
            }
            (moved, removed, entries)
        });
        let written: Vec<_> = writing.into_iter().map(|writer| writer.join()).collect();
        stop.store(true, Ordering::Relaxed);
        written.into_iter().for_each(|writer| writer.unwrap());
        vacuum.join().unwrap()
    });
    println!("moved, tuples removed, entries removed beside transactions: {done:?}");
    let mut session = store.session().unwrap();
    check(&mut session, &table);
    run(&mut session, |transaction| {
        (0..ROWS).try_for_each(|id| transaction.delete(&table, &id).map(drop))
    });
    drop(session);
    // The first leaves what was in its own open page.
    store.vacuum().unwrap();
    let entries = [table.entries(None).unwrap(), table.entries(Some("owner")).unwrap()];
    assert!(entries.iter().all(|&entries| entries < 200), "{entries:?} entries for no row");
    assert!(table.vids() < 4 * ROWS as u32, "{} VIDs", table.vids());
}
