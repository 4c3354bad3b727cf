// SPDX-License-Identifier: MIT OR Apache-2.0
//! Jobs of a store that was just opened, whose indexes are not there yet.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use lockdb::files::{File, Files, Memory};
use lockdb::schema::Value;
use lockdb::{Database, Error, IndexBuild, Isolation, Options, Table};
use locks::Policy;
use ndp_runtime::host::{AggregateOf, JobOptions, PreparedUpdate, Runtime};
use ndp_runtime::program::Aggregate;

use crate::near_data::scene::{
    BALANCE, accounts, device, fill, options, rows, runtime_options, set, small_jobs, unsynced,
};

/// A closed store: accounts 0 to `rows` of 100 each, of which every third was deleted, with the
/// newest changes in the log or in a checkpoint.
fn closed(rows: i64, checkpointed: bool) -> Arc<dyn Files> {
    let files: Arc<dyn Files> = Arc::new(Memory::new());
    let store = Database::open_in(files.clone(), options(Policy::NoWait)).unwrap();
    let table = store.create_table(accounts()).unwrap();
    fill(&store, &table, rows);
    store.checkpoint().unwrap();
    let mut session = store.session().unwrap();
    let deleted = session.transaction(unsynced(Isolation::Snapshot), |transaction| {
        (0..rows).step_by(3).try_for_each(|id| transaction.delete(&table, &id).map(drop))
    });
    deleted.map_err(|error: Error| error.to_string()).unwrap();
    if checkpointed {
        store.checkpoint().unwrap();
    }
    files
}

fn open(files: &Arc<dyn Files>, indexes: IndexBuild, maintenance: bool) -> (Database, Arc<Table>) {
    let options = Options { indexes, maintenance, ..options(Policy::NoWait) };
    let store = Database::open_in(files.clone(), options).unwrap();
    let table = store.table("account").unwrap();
    (store, table)
}

fn runtime(files: &Arc<dyn Files>, store: &Database) -> Runtime {
    Runtime::open(store, device(files, store), runtime_options(options(Policy::NoWait).waiting))
}

/// How many accounts a device sees, and their balances together.
fn sums(runtime: &Runtime, store: &Database, table: &Table) -> (Value, Value) {
    let mut session = store.session().unwrap();
    let mut transaction = session.begin(unsynced(Isolation::Serializable));
    let mut near = runtime.begin(&mut transaction);
    let mut of = |aggregate| {
        let of = AggregateOf { aggregate, value: "balance", group: None, groups: 1 };
        let (groups, _) = near.aggregate(table, None, of, &JobOptions::default()).unwrap();
        groups[0].value.clone()
    };
    let sums = (of(Aggregate::Count), of(Aggregate::Sum));
    near.rollback().unwrap();
    sums
}

fn add(runtime: &Runtime, store: &Database, table: &Table, assignment: &str) -> u64 {
    let update = PreparedUpdate::new(table, Some("region = 7"), assignment).unwrap();
    let mut session = store.session().unwrap();
    let options = unsynced(Isolation::Snapshot);
    let done = runtime.update(&mut session, options, &update, &small_jobs(), 100);
    done.unwrap().rows
}

/// Rows as they are after so many times 5 was added near the data.
fn expected(rows: i64, times: i64) -> Vec<[i64; 3]> {
    let balance = |id| if id % 10 == 7 { 100 + 5 * times } else { 100 };
    (0..rows).filter(|id| id % 3 != 0).map(|id| [id, id % 10, balance(id)]).collect()
}

/// By the indexes each row is found, and can be changed; none that is gone.
fn check_indexes(store: &Database, table: &Table, expected: &[[i64; 3]]) {
    assert_eq!(rows(store, table), expected);
    assert_eq!(table.entries(None).unwrap(), expected.len());
    let mut session = store.session().unwrap();
    let mut transaction = session.begin(unsynced(Isolation::Snapshot));
    for [id, _, balance] in expected {
        let changed =
            transaction.update(table, id, |row| set(row, BALANCE, row.as_row().int(BALANCE)));
        assert!(changed.unwrap().is_some(), "account {id}");
        let found = transaction.get(table, id).unwrap().map(|row| row.int(BALANCE));
        assert_eq!(found, Some(*balance), "account {id}");
    }
    assert!(transaction.get(table, &0).unwrap().is_none(), "it was deleted");
    transaction.commit().unwrap();
}

#[test]
fn jobs_read_no_page_for_indexes_that_nobody_needs() {
    let rows = 9000;
    let live = rows - rows / 3;
    for (checkpointed, maintenance) in [(true, true), (true, false), (false, false)] {
        let files = closed(rows, checkpointed);
        let all = files.open("pages").unwrap().len().unwrap();
        let (store, table) = open(&files, IndexBuild::WhenNeeded, maintenance);
        let (opened, runtime) = (store.storage_bytes(), runtime(&files, &store));
        assert_eq!(sums(&runtime, &store, &table), (live.into(), (100 * live).into()));
        assert_eq!(add(&runtime, &store, &table, "balance = balance + 5"), 600);
        assert_eq!(add(&runtime, &store, &table, "balance = balance + 5"), 600);
        let sum = 100 * live + 10 * 600;
        assert_eq!(sums(&runtime, &store, &table), (live.into(), sum.into()));
        let read = store.storage_bytes().since(opened).read;
        assert!(read < all / 5, "{read} bytes read, of {all}");
        check_indexes(&store, &table, &expected(rows, 2));
        let read = store.storage_bytes().since(opened).read;
        assert!(checkpointed <= (read > all / 2), "{read} bytes read, of {all}");
        store.vacuum().unwrap();
        assert_eq!(add(&runtime, &store, &table, "balance = balance + 5"), 600);
        check_indexes(&store, &table, &expected(rows, 3));
        drop((runtime, store, table));
        let (store, table) = open(&files, IndexBuild::AtOpen, false);
        check_indexes(&store, &table, &expected(rows, 3));
    }
}

/// A folder whose files are read slowly, so that the building of indexes takes a while.
#[derive(Debug)]
struct Slow(Arc<dyn Files>);

#[derive(Debug)]
struct SlowFile(Arc<dyn File>);

impl Files for Slow {
    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(SlowFile(self.0.open(name)?)))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.0.create(name)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.remove(name)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.0.list()
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.0.sync_directory()
    }
}

impl File for SlowFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        std::thread::sleep(Duration::from_micros(200));
        self.0.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_at(offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }

    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
}

/// Updates and reads of devices beside a thread that builds the indexes, or that comes to need them at
/// any moment. A commit amid the building would leave rows without entries, or with two.
#[test]
fn jobs_run_beside_the_building_of_indexes() {
    let (rows, live) = (3000, 2000);
    for seed in seeds::of!(12) {
        let files = closed(rows, seed.is_multiple_of(2));
        let build = match seed % 3 {
            0 => IndexBuild::AtOpen,
            _ => IndexBuild::WhenNeeded,
        };
        let slow: Arc<dyn Files> = Arc::new(Slow(files.clone()));
        let (store, table) = open(&slow, build, true);
        let runtime = runtime(&files, &store);
        std::thread::scope(|scope| {
            let (store, table) = (&store, &table);
            scope.spawn(move || {
                // Sooner or later, as the seed says, in steps of what the other does.
                (0..seed.wrapping_mul(0x9E37_79B9) % 2000).for_each(|_| std::thread::yield_now());
                assert!(store.vid_of(table, &1).unwrap().is_some(), "seed {seed}");
            });
            for times in 0..4 {
                let sum = 100 * live + 5 * 200 * times;
                let found = sums(&runtime, store, table);
                assert_eq!(found, (live.into(), sum.into()), "seed {seed}, {times}");
                let changed = add(&runtime, store, table, "balance = balance + 5");
                assert_eq!(changed, 200, "seed {seed}");
            }
        });
        check_indexes(&store, &table, &expected(rows, 4));
    }
}

/// Whole rows, too, and a walk that is broken off.
#[test]
fn rows_are_selected_without_indexes() {
    let files = closed(300, true);
    let (store, table) = open(&files, IndexBuild::WhenNeeded, false);
    let runtime = runtime(&files, &store);
    let mut session = store.session().unwrap();
    let mut transaction = session.begin(unsynced(Isolation::ReadCommitted));
    let mut near = runtime.begin(&mut transaction);
    let mut found = 0;
    let jobs = JobOptions::default();
    near.select(&table, Some("id < 30"), &[], &jobs, |_| {
        found += 1;
        ControlFlow::Continue(())
    })
    .unwrap();
    near.rollback().unwrap();
    assert_eq!(found, 20);
}
