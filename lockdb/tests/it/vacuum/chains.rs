// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows with long chains of versions.

use std::ops::ControlFlow;

use lockdb::schema::RowRef;
use lockdb::{Database, Isolation, Options, Order, Session, Table, Transaction};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::vacuum::{accounts, one_row, plain, put, run};

/// Changes row 0 repeatedly: its second column.
fn change_again(session: &mut Session, table: &Table, values: impl Iterator<Item = i64>) {
    for value in values {
        run(session, |transaction| put(transaction, table, 0, value));
    }
}

/// However long the chain is, and whether its versions have keys of their own or share a few.
#[test]
fn vacuum_visits_each_version_of_a_long_chain_a_bounded_number_of_times() {
    for (versions, keys) in [(2_000, 1), (40_000, 1), (2_000, 0), (20_000, 0), (20_000, 7)] {
        let store = Database::in_memory(Options::small()).unwrap();
        let table = if keys == 1 { plain(&store) } else { accounts(&store) };
        let mut writer = one_row(&store, &table);
        let key = |n: i64| if keys == 7 { n % 7 } else { n };
        // Half of the versions are dead, half are kept by a snapshot.
        change_again(&mut writer, &table, (0..versions / 2).map(key));
        let mut reader = store.session().unwrap();
        let _old = reader.begin(Isolation::Snapshot);
        change_again(&mut writer, &table, (versions / 2..versions).map(key));
        drop(writer);
        let done = store.vacuum().unwrap();
        let visited = done.versions_visited;
        // Twice in its page, once along the chain; and a page may be begun again by the next step.
        let bound = 4 * versions as u64 + 2_000;
        assert!(visited <= bound, "{visited} visits of {versions} versions, {keys}: {done:?}");
        assert!(done.pages_pinned > 0, "{done:?}");
    }
}

/// The owner of row 0 by the index, as a transaction sees it: each one near `near` that it is listed
/// under.
fn owners_of_row_0(transaction: &mut Transaction<'_>, table: &Table, near: i64) -> Vec<i64> {
    let mut owners = Vec::new();
    let visit = |row: RowRef<'_>| {
        owners.push(row.int(1));
        ControlFlow::Continue(())
    };
    // Each entry costs a walk along the chain.
    transaction.range_by(table, "owner", near - 20..near + 20, Order::Ascending, visit).unwrap();
    owners
}

/// Entries of a long chain's keys go with the last version that has them, also of keys that come
/// again, and no sooner.
#[test]
fn entries_stay_as_long_as_a_version_of_a_long_chain_has_their_key() {
    seeds::each!(1, change_keys_of_a_long_chain);
}

fn change_keys_of_a_long_chain(seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let store = Database::in_memory(Options::small()).unwrap();
    let table = accounts(&store);
    let mut writer = one_row(&store, &table);
    let mut sessions: Vec<_> = (0..8).map(|_| store.session().unwrap()).collect();
    let mut snapshots: Vec<(Transaction<'_>, i64)> = Vec::new();
    let (mut owner, mut next) = (0, 1);
    let mut sessions = sessions.iter_mut();
    for session in sessions.by_ref() {
        // More versions than one step of vacuum walks along, now and then.
        for _ in 0..random.random_range(50..8_000) {
            owner = match random.random_range(0..3) {
                0 => random.random_range(0..next),
                _ => next,
            };
            next += 1;
            run(&mut writer, |transaction| put(transaction, &table, 0, owner));
        }
        snapshots.push((session.begin(Isolation::Snapshot), owner));
        store.vacuum().unwrap();
        // The oldest ends, or one in the middle.
        if snapshots.len() > 3 {
            snapshots.remove(random.random_range(0..2));
            store.vacuum().unwrap();
        }
        for (snapshot, owner) in &mut snapshots {
            assert_eq!(owners_of_row_0(snapshot, &table, *owner), [*owner]);
        }
        assert_eq!(run(&mut writer, |now| Ok(owners_of_row_0(now, &table, owner))), [owner]);
    }
    drop((snapshots, writer));
    // The first leaves what was in its own open page.
    store.vacuum().unwrap();
    let done = store.vacuum().unwrap();
    assert_eq!(table.entries(Some("owner")).unwrap(), 1, "{done:?}");
}
