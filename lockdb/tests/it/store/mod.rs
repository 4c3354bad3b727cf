// SPDX-License-Identifier: MIT OR Apache-2.0
//! The store's interface: what each operation gives, and what each bad input gets for an answer.

mod closures;
mod model;
mod reopen;
mod review;
mod sessions;

use std::ops::ControlFlow;
use std::ptr::NonNull;
use std::sync::Arc;

use lockdb::schema::{KeyError, MAX_PAYLOAD, RowBuffer, RowError, RowRef, Schema, Type, Value};
use lockdb::{
    ConflictError, Database, Ending, Error, Isolation, LockWait, Options, Order, Result, Table,
    Transaction,
};
use locks::{Bucket, LockError, Policy, SharedMemory, Waiting};

const LEVELS: [Isolation; 3] =
    [Isolation::ReadCommitted, Isolation::Snapshot, Isolation::Serializable];

fn people() -> Schema {
    Schema::builder("person")
        .column("id", Type::Int64)
        .column("town", Type::Int64)
        .nullable_column("name", Type::Text)
        .primary_key(&["id"])
        .index("by_town", &["town"])
        .build()
        .expect("the schema is sound")
}

fn person(id: i64, town: i64) -> [Value; 3] {
    [id.into(), town.into(), format!("person {id}").into()]
}

/// A store with a table of these people: id and town.
fn store_of(options: Options, people_there: &[(i64, i64)]) -> (Database, Arc<Table>) {
    let store = Database::in_memory(options).unwrap();
    let table = store.create_table(people()).unwrap();
    let fill = |transaction: &mut Transaction<'_>| {
        people_there
            .iter()
            .try_for_each(|&(id, town)| transaction.insert(&table, &person(id, town)))
    };
    store.transaction(fill).unwrap();
    (store, table)
}

fn store() -> (Database, Arc<Table>) {
    store_of(Options::small(), &[(1, 10), (2, 20)])
}

/// Does not wait.
fn hasty() -> Options {
    let waiting = Waiting { policy: Policy::NoWait, ..Waiting::default() };
    Options { waiting, attempts: 3, ..Options::small() }
}

fn set_town(town: i64) -> impl FnOnce(&mut RowBuffer) -> Result<()> {
    move |row| {
        row.set_int(1, town);
        Ok(())
    }
}

fn town(transaction: &mut Transaction<'_>, table: &Table, id: i64) -> Option<i64> {
    transaction.get(table, &id).unwrap().map(|row| row.int(1))
}

fn all(store: &Database, table: &Table) -> Vec<(i64, i64)> {
    store.transaction(|transaction| rows(transaction, table)).unwrap()
}

/// All rows, in the order of their keys, the same by each way that leads to them.
fn rows(transaction: &mut Transaction<'_>, table: &Table) -> Result<Vec<(i64, i64)>> {
    let mut ways: [Vec<(i64, i64)>; 3] = Default::default();
    let [scanned, by_key, by_town] = &mut ways;
    transaction.scan(table, collect(scanned))?;
    transaction.range::<i64>(table, .., Order::Ascending, collect(by_key))?;
    transaction.range_by::<i64>(table, "by_town", .., Order::Ascending, collect(by_town))?;
    assert!(by_key.is_sorted(), "{by_key:?}");
    assert!(by_town.is_sorted_by_key(|&(_, town)| town), "{by_town:?}");
    scanned.sort_unstable();
    by_town.sort_unstable();
    assert_eq!(scanned, by_key);
    assert_eq!(by_town, by_key);
    Ok(std::mem::take(by_key))
}

fn collect(into: &mut Vec<(i64, i64)>) -> impl FnMut(RowRef<'_>) -> ControlFlow<()> + '_ {
    |row| {
        into.push((row.int(0), row.int(1)));
        ControlFlow::Continue(())
    }
}

#[test]
fn a_key_that_exists_is_refused_and_the_transaction_goes_on() {
    let (store, table) = store();
    store
        .transaction(|transaction| {
            let error = transaction.insert(&table, &person(1, 99)).unwrap_err();
            assert_eq!(error.to_string(), "table \"person\" has a row of key id = 1 already");
            assert!(matches!(error, Error::DuplicateKey { .. }));
            transaction.insert(&table, &person(3, 30))?;
            // Its own rows count as well.
            let error = transaction.insert(&table, &person(3, 31)).unwrap_err();
            assert!(matches!(error, Error::DuplicateKey { .. }));
            Ok::<_, Error>(())
        })
        .unwrap();
    assert_eq!(all(&store, &table), [(1, 10), (2, 20), (3, 30)]);
}

#[test]
fn a_row_that_breaks_its_schema_is_refused() {
    let (store, table) = store();
    let mut session = store.session().unwrap();
    let mut transaction = session.begin(Isolation::Snapshot);
    let mut refused = |values: &[Value]| match transaction.insert(&table, values) {
        Err(Error::Row(error)) => error,
        other => panic!("{other:?}"),
    };
    let error = refused(&[3.into(), 4.into()]);
    assert!(matches!(error, RowError::ColumnCount { found: 2, expected: 3, .. }), "{error}");
    let error = refused(&[3.into(), "four".into(), Value::Null]);
    assert!(matches!(&error, RowError::WrongType { column, .. } if column == "town"), "{error}");
    let error = refused(&[3.into(), Value::Null, Value::Null]);
    assert!(matches!(&error, RowError::Null { column, .. } if column == "town"), "{error}");
    let error = refused(&[3.into(), 4.into(), "long".repeat(4000).into()]);
    assert!(matches!(error, RowError::TooLong { .. }), "{error}");
    // A row made for another table.
    let other = Schema::builder("other").column("id", Type::Int64).primary_key(&["id"]);
    let row = RowBuffer::from_values(&other.build().unwrap(), &[3.into()]).unwrap();
    let error = transaction.insert_row(&table, &row).unwrap_err();
    assert_eq!(error.to_string(), "a row of table \"other\" was given for table \"person\"");
    // The row is as it was, and so is the transaction.
    let error = transaction.update(&table, &1, |row| Ok(row.set(1, "ten")?)).unwrap_err();
    assert!(matches!(error, Error::Row(RowError::WrongType { .. })), "{error}");
    assert_eq!(town(&mut transaction, &table, 1), Some(10));
    transaction.commit().unwrap();
    assert_eq!(all(&store, &table), [(1, 10), (2, 20)]);
}

#[test]
fn the_longest_row_is_stored_and_a_longer_one_refused() {
    let (store, table) = store();
    let room = MAX_PAYLOAD - RowBuffer::new(table.schema()).bytes().len();
    let row = |id: i64, bytes: usize| [id.into(), 10.into(), "x".repeat(bytes).as_str().into()];
    for bytes in room - 8..=room {
        let id = bytes as i64;
        store.transaction(|transaction| transaction.insert(&table, &row(id, bytes))).unwrap();
        let length = |transaction: &mut Transaction<'_>| {
            Ok::<_, Error>(transaction.get(&table, &id)?.map(|row| row.text(2).len()))
        };
        assert_eq!(store.transaction(length).unwrap(), Some(bytes));
    }
    let error = store.transaction(|transaction| transaction.insert(&table, &row(3, room + 1)));
    assert!(matches!(error, Err(Error::Row(RowError::TooLong { .. }))), "{error:?}");
}

#[test]
fn a_key_that_does_not_fit_is_refused() {
    let (store, table) = store();
    let mut session = store.session().unwrap();
    let mut transaction = session.begin(Isolation::Serializable);
    let error = transaction.get(&table, "one").unwrap_err();
    assert!(matches!(error, Error::Key(KeyError::WrongType { .. })), "{error}");
    let error = transaction.delete(&table, &(1, 2)).unwrap_err();
    assert!(matches!(error, Error::Key(KeyError::ColumnCount { .. })), "{error}");
    let nothing = |_: RowRef<'_>| ControlFlow::Continue(());
    let ascending = Order::Ascending;
    let error = transaction.range(&table, "a".."b", ascending, nothing).unwrap_err();
    assert!(matches!(error, Error::Key(KeyError::WrongType { .. })), "{error}");
    let error = transaction.range_by(&table, "by_name", 1..2, ascending, nothing).unwrap_err();
    assert_eq!(
        error.to_string(),
        "table \"person\" has no index \"by_name\"; expected one of [\"by_town\"]"
    );
    transaction.commit().unwrap();
}

#[test]
fn a_primary_key_does_not_change() {
    let (store, table) = store();
    let mut session = store.session().unwrap();
    let mut transaction = session.begin(Isolation::Snapshot);
    let to_three = |row: &mut RowBuffer| {
        row.set_int(0, 3);
        Ok(())
    };
    let error = transaction.update(&table, &1, to_three).unwrap_err();
    assert_eq!(
        error.to_string(),
        "update of table \"person\" changes the primary key from id = 1 to id = 3"
    );
    assert_eq!(rows(&mut transaction, &table).unwrap(), [(1, 10), (2, 20)]);
    transaction.commit().unwrap();
}

#[test]
fn the_callers_own_error_rolls_back() {
    let (store, table) = store();
    let result: Result<()> = store.transaction(|transaction| {
        transaction.update(&table, &1, set_town(99))?;
        transaction.update(&table, &2, |_| Err::<(), _>(Error::RolledBack("no funds".into())))?;
        unreachable!("the update fails")
    });
    assert_eq!(result.unwrap_err().to_string(), "rolled back: no funds");
    assert_eq!(all(&store, &table), [(1, 10), (2, 20)]);
}

/// After each way to end, each operation says how the transaction ended.
#[test]
fn a_transaction_that_has_ended_refuses_everything() {
    let (store, table) = store_of(hasty(), &[(1, 10), (2, 20)]);
    let (mut session, mut other) = (store.session().unwrap(), store.session().unwrap());
    for ending in [Ending::Committed, Ending::RolledBack, Ending::Conflict] {
        let mut holder = other.begin(Isolation::Snapshot);
        holder.get_for_update(&table, &2, LockWait::Wait).unwrap();
        let mut transaction = session.begin(Isolation::Snapshot);
        let savepoint = transaction.savepoint().unwrap();
        match ending {
            Ending::Committed => drop(transaction.commit().unwrap()),
            Ending::RolledBack => transaction.rollback().unwrap(),
            Ending::Conflict => {
                let error = transaction.delete(&table, &2).unwrap_err();
                assert!(error.is_conflict(), "{error}");
            }
        }
        refuses_everything(&mut transaction, &table, savepoint, ending);
        drop(transaction);
        holder.commit().unwrap();
    }
    assert_eq!(all(&store, &table), [(1, 10), (2, 20)]);
}

fn refuses_everything(
    transaction: &mut Transaction<'_>,
    table: &Table,
    savepoint: lockdb::Savepoint,
    ending: Ending,
) {
    let nothing = |_: RowRef<'_>| ControlFlow::Continue(());
    let ascending = Order::Ascending;
    let refusals = [
        transaction.get(table, &1).map(drop),
        transaction.get_for_update(table, &1, LockWait::Wait).map(drop),
        transaction.insert(table, &person(9, 9)),
        transaction.update(table, &1, set_town(0)).map(drop),
        transaction.delete(table, &1).map(drop),
        transaction.scan(table, nothing),
        transaction.range(table, 1..2, ascending, nothing),
        transaction.range_by(table, "by_town", 1..2, ascending, nothing),
        transaction.savepoint().map(drop),
        transaction.rollback_to(savepoint),
        transaction.rollback(),
        transaction.commit().map(drop),
    ];
    for (operation, refusal) in refusals.into_iter().enumerate() {
        match refusal {
            Err(Error::Ended { how }) => assert_eq!(how, ending, "operation {operation}"),
            other => panic!("operation {operation} after {ending:?}: {other:?}"),
        }
    }
}

#[test]
fn tables_are_told_apart() {
    let (store, table) = store();
    let (stranger, _) = self::store();
    let error = stranger.transaction(|transaction| transaction.get(&table, &1).map(drop));
    assert_eq!(error.unwrap_err().to_string(), "table \"person\" belongs to another store");
    let error = store.create_table(people()).unwrap_err();
    assert!(matches!(error, Error::TableExists { .. }), "{error}");
    let error = store.table("people").unwrap_err();
    assert_eq!(error.to_string(), "there is no table \"people\"; expected one of [\"person\"]");
}

#[test]
fn options_that_are_impossible_are_refused() {
    let small = Options::small;
    let refused = [
        ("lock_buckets", Options { lock_buckets: 3, ..small() }),
        ("pages", Options { pages: 1, ..small() }),
        ("tuples", Options { tuples: 0, ..small() }),
        ("sessions", Options { sessions: 0, ..small() }),
        ("attempts", Options { attempts: 0, ..small() }),
        ("log_ring", Options { log_ring: 1000, ..small() }),
    ];
    for (name, options) in refused {
        match Database::in_memory(options) {
            Err(Error::Option { option, .. }) => assert_eq!(option, name),
            other => panic!("{name}: {other:?}"),
        }
    }
}

/// Lines of another owner.
#[derive(Debug)]
struct Lines(Arc<[Bucket]>);

// SAFETY: the lines stay where they are as long as an `Arc` of them lives, and are atomics.
unsafe impl SharedMemory for Lines {
    fn start(&self) -> NonNull<u8> {
        NonNull::from(&*self.0).cast()
    }

    fn bytes(&self) -> usize {
        64 * self.0.len()
    }
}

#[test]
fn row_locks_stand_in_memory_that_somebody_else_owns() {
    let lines: Arc<[Bucket]> = (0..256).map(|_| Bucket::default()).collect();
    let memory = || Some(Arc::new(Lines(lines.clone())) as Arc<dyn SharedMemory>);
    let options = Options { lock_buckets: 256, lock_memory: memory(), ..Options::small() };
    let in_use = || (0..256).filter(|&line| lines[line].line() != [0; 8]).collect::<Vec<usize>>();
    let (store, table) = store_of(options.clone(), &[(1, 10), (2, 20)]);
    let update = |transaction: &mut Transaction<'_>| {
        transaction.update(&table, &1, set_town(30))?;
        let vid = store.vid_of(&table, &1)?.expect("the row is there");
        let bucket = store.lock_table().bucket_of(table.lock_key(vid, 1));
        assert!(in_use().contains(&bucket), "{bucket} is not among {:?}", in_use());
        // A second store would give the same names to transactions of its own.
        match Database::in_memory(options.clone()) {
            Err(error @ Error::Option { option: "lock_memory", .. }) => {
                assert!(error.to_string().contains("is in use: expected zeroes"), "{error}");
            }
            other => panic!("{other:?}"),
        }
        Ok(())
    };
    store.transaction::<(), Error>(update).unwrap();
    assert_eq!(in_use(), [0_usize; 0]);
    let too_large = Options { lock_buckets: 512, ..options.clone() };
    let error = Database::in_memory(too_large).unwrap_err().to_string();
    assert!(error.starts_with("lock_memory = 16384 bytes at 0x"), "{error}");
    let both = Options { lock_file: Some("locks".into()), ..options };
    let error = Database::in_memory(both).unwrap_err().to_string();
    assert!(error.starts_with("lock_file = locks beside lock_memory: expected either"), "{error}");
}

/// A transaction that finds the store full has changed nothing, and may continue with less.
#[test]
fn a_full_store_stays_usable() {
    let (store, table) = store_of(Options { pages: 4, ..Options::small() }, &[(1, 10), (2, 20)]);
    let mut session = store.session().unwrap();
    let long = "x".repeat(3000);
    let mut transaction = session.begin(Isolation::Snapshot);
    for id in 3..20 {
        transaction.insert(&table, &[id.into(), 30.into(), long.as_str().into()]).unwrap();
    }
    let error = transaction.commit().unwrap_err();
    assert_eq!(error.to_string(), "all 4 pages of the store are in use");
    // It still runs, and still sees what it has written.
    assert_eq!(town(&mut transaction, &table, 19), Some(30));
    transaction.rollback().unwrap();
    drop(transaction);
    assert_eq!(all(&store, &table), [(1, 10), (2, 20)]);
    let change = |transaction: &mut Transaction<'_>| transaction.update(&table, &1, set_town(11));
    session.transaction(Isolation::Snapshot, change).unwrap();
    assert_eq!(all(&store, &table), [(1, 11), (2, 20)]);
}

#[test]
fn tuples_are_counted() {
    let (store, table) = store_of(Options { tuples: 3, ..Options::small() }, &[(1, 10), (2, 20)]);
    let insert = |ids: &[i64]| {
        let insert = |t: &mut Transaction<'_>, id| t.insert(&table, &person(id, 0));
        store.transaction(|t| ids.iter().try_for_each(|&id| insert(t, id)))
    };
    let error = insert(&[3, 4]).unwrap_err();
    assert_eq!(error.to_string(), "all 3 tuples of the store are in use");
    assert_eq!(all(&store, &table), [(1, 10), (2, 20)]);
    // What was rolled back gives its tuple back, once a commit shows that nobody looks at it.
    store.transaction(|t| t.update(&table, &1, set_town(11))).unwrap();
    insert(&[5]).unwrap();
    assert_eq!(all(&store, &table), [(1, 11), (2, 20), (5, 0)]);
}

#[test]
fn a_closure_is_run_again_until_it_has_been_tried_often_enough() {
    let (store, table) = store_of(hasty(), &[(1, 10)]);
    let (mut holder, mut session) = (store.session().unwrap(), store.session().unwrap());
    let mut holding = holder.begin(Isolation::Snapshot);
    holding.get_for_update(&table, &1, LockWait::Wait).unwrap();
    let mut tried = 0;
    let result = session.transaction(Isolation::Snapshot, |transaction| {
        tried += 1;
        transaction.update(&table, &1, set_town(11))
    });
    match result {
        Err(Error::TooManyAttempts {
            attempts: 3,
            last: ConflictError::Lock { vid: 0, source, .. },
        }) => {
            assert!(matches!(source, LockError::Busy { .. }), "{source}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(tried, 3);
    holding.commit().unwrap();
    drop(holding);
    // The first attempt's own conflict is no end.
    let mut tried = 0;
    let change = |transaction: &mut Transaction<'_>| {
        tried += 1;
        let before = town(transaction, &table, 1);
        if tried == 1 {
            let by_another = |t: &mut Transaction<'_>| t.update(&table, &1, set_town(50));
            store.transaction(by_another)?;
        }
        transaction.update(&table, &1, set_town(before.unwrap() + 1))
    };
    session.transaction(Isolation::Snapshot, change).unwrap();
    assert_eq!((tried, all(&store, &table)), (2, vec![(1, 51)]));
}

#[test]
fn a_transaction_sees_its_own_writes_and_goes_back_to_savepoints() {
    for level in LEVELS {
        let (store, table) = store();
        let mut session = store.session().unwrap();
        let mut transaction = session.begin(level);
        transaction.update(&table, &1, set_town(11)).unwrap();
        let first = transaction.savepoint().unwrap();
        transaction.update(&table, &1, set_town(12)).unwrap();
        transaction.insert(&table, &person(3, 30)).unwrap();
        let second = transaction.savepoint().unwrap();
        assert!(transaction.delete(&table, &2).unwrap());
        assert!(!transaction.delete(&table, &2).unwrap());
        transaction.insert(&table, &person(2, 22)).unwrap();
        let seen = rows(&mut transaction, &table).unwrap();
        assert_eq!(seen, [(1, 12), (2, 22), (3, 30)], "{level:?}");
        transaction.rollback_to(second).unwrap();
        assert_eq!(rows(&mut transaction, &table).unwrap(), [(1, 12), (2, 20), (3, 30)]);
        // The savepoint stays.
        assert!(transaction.delete(&table, &1).unwrap());
        transaction.rollback_to(second).unwrap();
        transaction.rollback_to(first).unwrap();
        assert_eq!(rows(&mut transaction, &table).unwrap(), [(1, 11), (2, 20)]);
        let error = transaction.rollback_to(second).unwrap_err();
        assert_eq!(error.to_string(), "savepoint 1: the transaction has 1");
        transaction.commit().unwrap();
        drop(transaction);
        assert_eq!(all(&store, &table), [(1, 11), (2, 20)], "{level:?}");
    }
}

#[test]
fn a_key_is_deleted_and_inserted_again() {
    for level in LEVELS {
        let (store, table) = store();
        let mut session = store.session().unwrap();
        let mut run = |work: &mut dyn FnMut(&mut Transaction<'_>) -> Result<()>| {
            session.transaction(level, work).unwrap();
        };
        // In one transaction, twice.
        run(&mut |transaction| {
            for town in [11, 12] {
                assert!(transaction.delete(&table, &1)?);
                assert_eq!(self::town(transaction, &table, 1), None);
                transaction.insert(&table, &person(1, town))?;
            }
            Ok(())
        });
        assert_eq!(all(&store, &table), [(1, 12), (2, 20)]);
        // In several, with an older snapshot looking on.
        let mut observer = store.session().unwrap();
        let mut old = observer.begin(Isolation::Snapshot);
        run(&mut |transaction| transaction.delete(&table, &1).map(drop));
        assert_eq!(all(&store, &table), [(2, 20)]);
        run(&mut |transaction| transaction.insert(&table, &person(1, 13)));
        assert_eq!(all(&store, &table), [(1, 13), (2, 20)]);
        assert_eq!(rows(&mut old, &table).unwrap(), [(1, 12), (2, 20)]);
        // A row that came and went within a transaction was never there.
        run(&mut |transaction| {
            transaction.insert(&table, &person(7, 70))?;
            transaction.delete(&table, &7).map(drop)
        });
        assert_eq!(all(&store, &table), [(1, 13), (2, 20)]);
    }
}

/// A row that a transaction has not looked at comes into a range of the secondary index: at
/// SERIALIZABLE the range was read, and the transaction fails.
#[test]
fn a_phantom_in_a_secondary_index_is_a_conflict() {
    let (store, table) = store();
    let (mut session, mut other) = (store.session().unwrap(), store.session().unwrap());
    type Work<'w> = &'w dyn Fn(&mut Transaction<'_>) -> Result<()>;
    let enter: [Work<'_>; 3] = [
        &|transaction| transaction.insert(&table, &person(3, 55)),
        &|transaction| transaction.update(&table, &1, set_town(56)).map(drop),
        &|transaction| transaction.delete(&table, &3).map(drop),
    ];
    for (at, enter) in enter.into_iter().enumerate() {
        let mut transaction = session.begin(Isolation::Serializable);
        let mut found = Vec::new();
        let order = Order::Descending;
        transaction.range_by(&table, "by_town", 50..60, order, collect(&mut found)).unwrap();
        transaction.update(&table, &2, set_town(21)).unwrap();
        other.transaction(Isolation::ReadCommitted, enter).unwrap();
        let error = transaction.commit().unwrap_err();
        assert!(matches!(error, Error::Conflict(ConflictError::Read { .. })), "{at}: {error}");
        drop(transaction);
        // Outside the range it is none.
        let mut transaction = session.begin(Isolation::Serializable);
        transaction.range_by(&table, "by_town", 70..80, order, collect(&mut found)).unwrap();
        transaction.update(&table, &2, set_town(22)).unwrap();
        let change = |t: &mut Transaction<'_>| t.insert(&table, &person(100 + at as i64, 90));
        other.transaction(Isolation::ReadCommitted, change).unwrap();
        transaction.commit().unwrap();
    }
}

/// Only what was looked at counts as read: a range that was broken off ends there.
#[test]
fn a_range_that_is_broken_off_was_read_up_to_there() {
    let (store, table) = store_of(Options::small(), &[(1, 10), (5, 50), (9, 90)]);
    let (mut session, mut other) = (store.session().unwrap(), store.session().unwrap());
    for (order, inserted, is_conflict) in [
        (Order::Ascending, 3, true),
        (Order::Ascending, 7, false),
        (Order::Descending, 8, true),
        (Order::Descending, 2, false),
    ] {
        let mut transaction = session.begin(Isolation::Serializable);
        let stop_at_5 = |row: RowRef<'_>| match row.int(0) {
            5 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        transaction.range::<i64>(&table, .., order, stop_at_5).unwrap();
        transaction.insert(&table, &person(100, 0)).unwrap();
        let insert = |t: &mut Transaction<'_>| t.insert(&table, &person(inserted, 0));
        other.transaction(Isolation::ReadCommitted, insert).unwrap();
        assert_eq!(transaction.commit().is_err(), is_conflict, "{order:?}, {inserted}");
        let tidy = |t: &mut Transaction<'_>| {
            t.delete(&table, &inserted)?;
            t.delete(&table, &100)
        };
        other.transaction(Isolation::ReadCommitted, tidy).unwrap();
    }
}

/// A commit's number is a snapshot that shows it.
#[test]
fn commits_are_numbered_in_order() {
    let (store, table) = store();
    let mut session = store.session().unwrap();
    let mut last = store.published();
    for town in 0..5 {
        let mut transaction = session.begin(Isolation::Snapshot);
        assert_eq!(transaction.snapshot(), last);
        transaction.update(&table, &1, set_town(town)).unwrap();
        let commit = transaction.commit().unwrap();
        assert_eq!((commit, store.published()), (last + 1, last + 1));
        last = commit;
    }
    let mut reader = session.begin(Isolation::Serializable);
    assert_eq!(reader.commit().unwrap(), last, "who changes nothing takes no number");
}
