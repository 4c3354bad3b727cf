// SPDX-License-Identifier: MIT OR Apache-2.0
//! SERIALIZABLE transactions that have read much, whose commits are held up while others continue.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread::{scope, yield_now};
use std::time::Duration;

use lockdb::mutant::Mutant;
use lockdb::schema::{RowRef, Schema, Type};
use lockdb::{
    ConflictError, Database, Durability, Error, Isolation, Options, Order, Result, Table,
    Transaction, TransactionOptions,
};

const SERIALIZABLE: TransactionOptions =
    TransactionOptions { isolation: Isolation::Serializable, durability: Durability::None };
const SNAPSHOT: TransactionOptions =
    TransactionOptions { isolation: Isolation::Snapshot, durability: Durability::None };

type Step = fn(&mut Transaction<'_>, &Table) -> Result<()>;

/// Rows 0, 10, … 90 of groups 0 to 9; 100 is changed by the transaction that reads.
fn store() -> (Database, Arc<Table>) {
    let options = Options {
        validated_in_place: 0,
        commit_timeout: Duration::from_secs(5),
        ..Options::small()
    };
    let store = Database::in_memory(options).unwrap();
    let schema = Schema::builder("t").column("id", Type::Int64).column("group", Type::Int64);
    let schema = schema.primary_key(&["id"]).index("by_group", &["group"]).build().unwrap();
    let table = store.create_table(schema).unwrap();
    let insert = |t: &mut Transaction<'_>| {
        (0..=10_i64).try_for_each(|n| t.insert(&table, &[(10 * n).into(), n.into()]))
    };
    store.transaction(insert).unwrap();
    (store, table)
}

fn go_on(_: RowRef<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn set_group(t: &mut Transaction<'_>, table: &Table, id: i64, group: i64) -> Result<()> {
    let set = |row: &mut lockdb::schema::RowBuffer| {
        row.set_int(1, group);
        Ok(())
    };
    t.update(table, &id, set).map(drop)
}

/// What is read, and which of the changes below concern it.
const READS: [(&str, Step, &[&str]); 7] = [
    (
        "a scan",
        |t, table| t.scan(table, go_on),
        &[
            "row 30",
            "row 60",
            "row 30 is deleted",
            "row 35 is new",
            "row 65 is new",
            "into group 3",
            "out of group 3",
        ],
    ),
    (
        "keys 20 to 40",
        |t, table| t.range(table, 20..=40, Order::Ascending, go_on),
        &["row 30", "row 30 is deleted", "row 35 is new", "out of group 3"],
    ),
    (
        "keys from 20, the first two",
        |t, table| {
            let mut left = 2;
            t.range(table, 20.., Order::Ascending, |_| {
                left -= 1;
                if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
        },
        &["row 30", "row 30 is deleted", "out of group 3"],
    ),
    (
        "group 3",
        |t, table| t.range_by(table, "by_group", 3..=3, Order::Descending, go_on),
        &["row 30", "row 30 is deleted", "row 35 is new", "into group 3", "out of group 3"],
    ),
    (
        "row 30 by its key",
        |t, table| t.get(table, &30).map(drop),
        &["row 30", "row 30 is deleted", "out of group 3"],
    ),
    ("row 35, which is not there", |t, table| t.get(table, &35).map(drop), &["row 35 is new"]),
    (
        "rows 30 and 35, and group 7",
        |t, table| {
            t.get(table, &30)?;
            t.get(table, &35)?;
            t.range_by(table, "by_group", 7..=7, Order::Ascending, go_on)
        },
        &["row 30", "row 30 is deleted", "row 35 is new", "out of group 3"],
    ),
];

/// What another transaction does meanwhile.
const CHANGES: [(&str, Step); 8] = [
    ("nothing", |t, table| t.get(table, &30).map(drop)),
    ("row 30", |t, table| set_group(t, table, 30, 3)),
    ("row 60", |t, table| set_group(t, table, 60, 6)),
    ("row 30 is deleted", |t, table| t.delete(table, &30).map(drop)),
    ("row 35 is new", |t, table| t.insert(table, &[35.into(), 3.into()])),
    ("row 65 is new", |t, table| t.insert(table, &[65.into(), 6.into()])),
    ("into group 3", |t, table| set_group(t, table, 60, 3)),
    ("out of group 3", |t, table| set_group(t, table, 30, 6)),
];

/// Reads, changes row 100, and commits, while the other one changes something in between. Gives the
/// ends of both.
fn beside(mutant: Option<Mutant>, read: Step, change: Step) -> (Result<u64>, Result<()>) {
    let (store, table) = store();
    store.plant(mutant);
    store.hold_validations(true);
    scope(|threads| {
        let reader = threads.spawn(|| {
            let mut session = store.session()?;
            let mut transaction = session.begin(SERIALIZABLE);
            read(&mut transaction, &table)?;
            set_group(&mut transaction, &table, 100, 11)?;
            transaction.commit()
        });
        while store.held_validations() == 0 {
            yield_now();
        }
        // It has no place in the order of commits yet, so nobody waits for it.
        let changed = store.transaction_with(SNAPSHOT, |t| change(t, &table));
        store.hold_validations(false);
        (reader.join().unwrap(), changed)
    })
}

#[test]
fn what_is_committed_beside_a_long_validation_is_seen() {
    for (reads, read, concerned) in READS {
        for (changes, change) in CHANGES {
            let (end, changed) = beside(None, read, change);
            changed.unwrap_or_else(|error| panic!("{reads}, {changes}: {error}"));
            let turned_away = matches!(&end, Err(Error::Conflict(ConflictError::Read { .. })));
            assert_eq!(turned_away, concerned.contains(&changes), "{reads}, {changes}: {end:?}");
            assert!(turned_away || end.is_ok(), "{reads}, {changes}: {end:?}");
        }
    }
}

#[test]
fn changes_not_told_are_noticed() {
    let (_, read, _) = READS[0];
    for (changes, change) in &CHANGES[1..] {
        let (end, _) = beside(Some(Mutant::ChangesNotTold), read, *change);
        assert!(end.is_ok(), "{changes}: without the mutant this is a conflict: {end:?}");
    }
}

/// Little was read, so it is validated in place; but another transaction is about to insert so much
/// into the range that this would take long.
#[test]
fn a_range_that_has_grown_is_looked_at_ahead() {
    let options = Options { maintenance: false, ..Options::default() };
    let store = Database::in_memory(options).unwrap();
    let schema = Schema::builder("t").column("id", Type::Int64).primary_key(&["id"]);
    let table = store.create_table(schema.build().unwrap()).unwrap();
    store.transaction(|t| t.insert(&table, &[0.into()])).unwrap();
    for (own, commits) in [(-1_i64, false), (-2, true)] {
        let (mut bulk, mut session) = (store.session().unwrap(), store.session().unwrap());
        let mut transaction = session.begin(SERIALIZABLE);
        transaction.range(&table, 1.., Order::Ascending, go_on).unwrap();
        transaction.insert(&table, &[own.into()]).unwrap();
        let mut inserting = bulk.begin(SNAPSHOT);
        (1..3000_i64).try_for_each(|id| inserting.insert(&table, &[id.into()])).unwrap();
        store.hold_validations(true);
        let end = scope(|threads| {
            let committing = threads.spawn(|| transaction.commit());
            while store.held_validations() == 0 {
                yield_now();
            }
            if commits {
                inserting.commit().unwrap();
            }
            store.hold_validations(false);
            committing.join().unwrap()
        });
        if commits {
            assert!(matches!(end, Err(Error::Conflict(ConflictError::Read { .. }))), "{end:?}");
        } else {
            end.unwrap();
            inserting.rollback().unwrap();
        }
    }
}
