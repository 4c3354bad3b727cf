// SPDX-License-Identifier: MIT OR Apache-2.0
//! Snapshots of all ages, ended in any order, beside all kinds of changes: each reads what was
//! committed when it began, by each index, whatever vacuum has done.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use lockdb::files::{Files, Memory};
use lockdb::{Database, Isolation, Options, Order, Session, Table, Transaction};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::vacuum::{QUICK, accounts};

/// Rows by id: owner and balance.
type Rows = BTreeMap<i64, (i64, i64)>;

const IDS: i64 = 40;

fn check(transaction: &mut Transaction<'_>, table: &Table, rows: &Rows) {
    for id in 0..IDS {
        let found = transaction.get(table, &id).unwrap().map(|row| (row.int(1), row.int(2)));
        assert_eq!(found.as_ref(), rows.get(&id), "row {id} at {}", transaction.snapshot());
    }
    let mut owned = Vec::new();
    let visit = |row: lockdb::schema::RowRef<'_>| {
        owned.push((row.int(1), row.int(0)));
        ControlFlow::Continue(())
    };
    transaction.range_by(table, "owner", 0..i64::MAX, Order::Ascending, visit).unwrap();
    let mut expected: Vec<_> = rows.iter().map(|(&id, &(owner, _))| (owner, id)).collect();
    expected.sort_unstable();
    owned.sort_unstable();
    assert_eq!(owned, expected, "by owner at {}", transaction.snapshot());
}

/// One transaction of a few changes, some of which are taken back; in a third of the cases all are.
fn change(session: &mut Session, table: &Table, rows: &mut Rows, random: &mut ChaCha8Rng) {
    let mut transaction = session.begin(QUICK);
    let mut after = rows.clone();
    for _ in 0..random.random_range(1..4) {
        let before = after.clone();
        let savepoint = transaction.savepoint().unwrap();
        // Some rows are changed much more often than others; keys come again, or never.
        let id = random.random_range(0..IDS).min(random.random_range(0..IDS));
        let owner = match random.random_range(0..3) {
            0 => random.random_range(0..i64::MAX),
            _ => random.random_range(0..8),
        };
        let balance: i64 = random.random();
        let exists = after.contains_key(&id);
        if !exists {
            transaction.insert(table, &[id.into(), owner.into(), balance.into()]).unwrap();
            after.insert(id, (owner, balance));
        } else if random.random_range(0..6) == 0 {
            assert!(transaction.delete(table, &id).unwrap());
            after.remove(&id);
        } else {
            let changed = transaction.update(table, &id, |row| {
                row.set_int(1, owner);
                row.set_int(2, balance);
                Ok(())
            });
            assert!(changed.unwrap().is_some());
            after.insert(id, (owner, balance));
        }
        if random.random_range(0..5) == 0 {
            transaction.rollback_to(savepoint).unwrap();
            after = before;
        }
    }
    if random.random_range(0..3) > 0 {
        transaction.commit().unwrap();
        *rows = after;
    }
}

#[test]
fn snapshots_of_all_ages_read_what_was_committed_when_they_began() {
    for seed in seeds::of!(4) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let options = Options { maintenance: seed % 2 == 1, ..Options::small() };
        let files: Arc<dyn Files> = Arc::new(Memory::new());
        let mut rows = Rows::new();
        for opened in 0..3 {
            let store = Database::open_in(files.clone(), options.clone()).unwrap();
            let table =
                if opened == 0 { accounts(&store) } else { store.table("account").unwrap() };
            // Sessions stay where they are while others come and go.
            let mut holders: Vec<_> = (0..6).map(|_| store.session().unwrap()).collect();
            let mut free: Vec<_> = holders.iter_mut().collect();
            let mut open: Vec<(Transaction<'_>, Rows)> = Vec::new();
            let mut writer = store.session().unwrap();
            check(&mut writer.begin(QUICK), &table, &rows);
            for _ in 0..30 {
                for _ in 0..random.random_range(0..150) {
                    change(&mut writer, &table, &mut rows, &mut random);
                }
                match random.random_range(0..10) {
                    0..3 => {
                        if let Some(session) = free.pop() {
                            let isolation = [Isolation::Snapshot, Isolation::Serializable]
                                [seed as usize / 2 % 2];
                            open.push((session.begin(isolation), rows.clone()));
                        }
                    }
                    3 if !open.is_empty() => {
                        drop(open.swap_remove(random.random_range(0..open.len())));
                    }
                    4 => drop(store.checkpoint().unwrap()),
                    // Its pages are left to vacuum.
                    5 => writer = store.session().unwrap(),
                    6..9 => drop(store.vacuum().unwrap()),
                    _ => {}
                }
                for (snapshot, rows) in &mut open {
                    check(snapshot, &table, rows);
                }
                check(&mut writer.begin(Isolation::ReadCommitted), &table, &rows);
            }
            drop((open, free, writer));
            drop(holders);
            for _ in 0..3 {
                store.vacuum().unwrap();
            }
            let entries = table.entries(Some("owner")).unwrap();
            assert!(entries <= 3 * IDS as usize, "{entries} entries of {} rows", rows.len());
        }
    }
}
