// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stores with a few rows, near-data updates of them, and what they hold.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use lockdb::files::{Files, Simulated};
use lockdb::mutant::Mutant;
use lockdb::schema::{RowBuffer, RowRef, Schema, Type, Value};
use lockdb::{
    Database, Durability, Error, Isolation, Options, Result, Table, Transaction, TransactionOptions,
};
use locks::{Policy, Waiting};

use super::device::{Job, TestDevice};

/// Commits that no test waits for.
pub const QUICK: TransactionOptions =
    TransactionOptions { isolation: Isolation::Snapshot, durability: Durability::None };

pub fn at(isolation: Isolation) -> TransactionOptions {
    TransactionOptions { isolation, durability: Durability::Group }
}

/// Nobody in one thread can wait for another.
pub fn options() -> Options {
    let waiting = Waiting { policy: Policy::NoWait, ..Waiting::default() };
    Options { lock_buckets: 1 << 14, log_segment: 1 << 14, waiting, ..Options::small() }
}

pub fn schema(name: &str) -> Schema {
    Schema::builder(name)
        .column("id", Type::Int64)
        .column("n", Type::Int64)
        .nullable_column("note", Type::Text)
        .primary_key(&["id"])
        .index("by_note", &["note"])
        .build()
        .unwrap()
}

/// Long enough that a hundred rows fill several pages.
pub fn values(id: i64, n: i64) -> [Value; 3] {
    [id.into(), n.into(), "note ".repeat(id as usize % 20 + 1).into()]
}

/// A store on a folder with a power switch.
pub struct Scene {
    pub files: Simulated,
    pub store: Database,
    pub table: Arc<Table>,
}

impl Scene {
    /// With rows 0 to `rows` − 1, whose `n` is 0. Nothing of them is on native storage.
    pub fn new(rows: i64) -> Self {
        Self::with(rows, options())
    }

    pub fn with(rows: i64, options: Options) -> Self {
        let files = Simulated::new();
        let store = open_with(&files, options).unwrap();
        store.create_table(schema("t")).unwrap();
        store.create_table(schema("other")).unwrap();
        let scene = Self::of(files, store);
        scene.put(|_| 0, 0..rows);
        scene
    }

    fn of(files: Simulated, store: Database) -> Self {
        let table = store.table("t").unwrap();
        Self { files, store, table }
    }

    /// Opens what stands in a folder.
    pub fn open(files: Simulated) -> Result<Self> {
        let store = open_with(&files, options())?;
        Ok(Self::of(files, store))
    }

    /// As [`Scene::open`], with a mutant planted in recovery.
    pub fn open_with_fault(files: Simulated, mutant: Option<Mutant>) -> Result<Self> {
        let Some(mutant) = mutant else { return Self::open(files) };
        let folder: Arc<dyn Files> = Arc::new(files.clone());
        let store = Database::open_with_fault(folder, options(), mutant)?;
        Ok(Self::of(files, store))
    }

    /// The store again, after all of its handles are gone.
    pub fn reopen(self) -> Self {
        let Self { files, store, table } = self;
        drop((store, table));
        Self::open(files).unwrap()
    }

    /// As the folder may stand if the power goes now, and the store in it.
    pub fn crash(&self, seed: u64) -> Self {
        Self::open(self.files.crash(seed)).expect("a store survives a loss of power")
    }

    /// Sets rows by the host, each in the same transaction.
    pub fn put(&self, n: impl Fn(i64) -> i64, ids: impl Iterator<Item = i64>) -> u64 {
        let ids: Vec<i64> = ids.collect();
        let mut session = self.store.session().unwrap();
        let mut transaction = session.begin(at(Isolation::Snapshot));
        for id in ids {
            put(&mut transaction, &self.table, id, n(id)).unwrap();
        }
        transaction.commit().unwrap()
    }

    pub fn device(&self) -> TestDevice<'_> {
        TestDevice::new(&self.store, &self.files)
    }

    /// A near-data update in a transaction of its own: adds `more` to `n` of the rows whose `id` is
    /// `rest` modulo 3. Gives the commit.
    pub fn add(&self, options: TransactionOptions, rest: i64, more: i64) -> Result<u64> {
        let mut session = self.store.session()?;
        let mut transaction = session.begin(options);
        let mut device = self.device();
        near(&mut transaction, &mut device, &self.table, rest, more)?;
        transaction.commit_finalizing(&mut |finalize| device.finalize(finalize))
    }

    /// Every `n` by `id`, as a new transaction sees it; what the indexes say has to be the same.
    pub fn rows(&self) -> BTreeMap<i64, i64> {
        rows(&self.store, &self.table)
    }

    /// Buckets of the lock table that are not free.
    pub fn locked(&self) -> usize {
        let buckets = self.store.lock_table().buckets().iter();
        buckets.filter(|bucket| bucket.line() != [0; 8] && bucket.head().holder().is_some()).count()
    }
}

fn open_with(files: &Simulated, options: Options) -> Result<Database> {
    Database::open_in(Arc::new(files.clone()) as Arc<dyn Files>, options)
}

/// Inserts a row, or sets its `n`.
pub fn put(transaction: &mut Transaction<'_>, table: &Table, id: i64, n: i64) -> Result<()> {
    let set = |row: &mut RowBuffer| {
        row.set_int(1, n);
        Ok(())
    };
    match transaction.update(table, &id, set)? {
        Some(()) => Ok(()),
        None => transaction.insert(table, &values(id, n)),
    }
}

/// Which rows a near-data update changes, and how.
pub fn add(rest: i64, more: i64) -> impl Fn(&mut RowBuffer) -> bool + Copy {
    move |row| {
        let (id, n) = (row.as_row().int(0), row.as_row().int(1));
        row.set_int(1, n + more);
        id % 3 == rest
    }
}

/// A near-data update up to its adoption, and of the rows that are left to the host. When the device
/// meets a conflict, or the host does, the transaction is abandoned.
pub fn near(
    transaction: &mut Transaction<'_>,
    device: &mut TestDevice<'_>,
    table: &Table,
    rest: i64,
    more: i64,
) -> Result<()> {
    let invocation = transaction.near_data(table)?;
    let reservations = transaction.reserve_pages(table, 1 + invocation.vids as usize / 40)?;
    device.take_over(reservations);
    let job = device.update(&invocation, table, add(rest, more));
    match finish(transaction, device, table, job, rest, more) {
        Ok(()) => Ok(()),
        Err(error) => {
            transaction.abandon_fenced()?;
            Err(error)
        }
    }
}

/// Adopts what a device has done.
pub fn finish(
    transaction: &mut Transaction<'_>,
    device: &mut TestDevice<'_>,
    table: &Table,
    job: Job,
    rest: i64,
    more: i64,
) -> Result<()> {
    match job {
        Job::Done => {}
        Job::Busy { vid } | Job::Conflict { vid } => {
            return Err(Error::RolledBack(format!("the device has met a conflict at row {vid}")));
        }
    }
    transaction.adopt(table, &device.rows)?;
    for (vid, number) in std::mem::take(&mut device.left) {
        transaction.adopt_lock(table, vid, number)?;
        let change = add(rest, more);
        transaction.update_left(table, vid, |row| Ok(change(row).then_some(())))?;
    }
    Ok(())
}

pub fn rows(store: &Database, table: &Table) -> BTreeMap<i64, i64> {
    let mut session = store.session().unwrap();
    let mut transaction = session.begin(QUICK);
    let mut rows = BTreeMap::new();
    let read = |row: RowRef<'_>| (row.int(0), row.int(1));
    transaction
        .scan(table, |row| {
            assert_eq!(rows.insert(row.int(0), row.int(1)), None, "two rows of key {}", row.int(0));
            ControlFlow::Continue(())
        })
        .unwrap();
    let mut by_note = BTreeMap::new();
    let all = lockdb::Order::Ascending;
    transaction
        .range_by::<&str>(table, "by_note", .., all, |row| {
            by_note.extend([read(row)]);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(by_note, rows, "the secondary index leads to other rows");
    for (id, n) in &rows {
        let found = transaction.get(table, id).unwrap();
        assert_eq!(found.map(read), Some((*id, *n)), "the primary index");
    }
    rows
}

/// What rows 0 to `rows` − 1 are after one near-data update.
pub fn after(rows: i64, rest: i64, more: i64) -> BTreeMap<i64, i64> {
    (0..rows).map(|id| (id, if id % 3 == rest { more } else { 0 })).collect()
}

/// As [`put`], in a transaction of its own.
pub fn put_in(scene: &Scene, table: &Table, id: i64, n: i64) {
    let done: Result<()> = scene.store.transaction(|transaction| put(transaction, table, id, n));
    done.unwrap();
}
