// SPDX-License-Identifier: MIT OR Apache-2.0
//! A store, a device in this process, and a table of accounts.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use lockdb::device_reader::PhysicalPages;
use lockdb::files::{Files, Memory};
use lockdb::layout::PageBuffer;
use lockdb::schema::{RowBuffer, RowRef, Schema, Type};
use lockdb::{Database, Durability, Error, Isolation, Options, Session, Table, TransactionOptions};
use locks::{Policy, Waiting};
use ndp_runtime::host::{
    JobOptions, NearDataJobError, NearTransaction, PreparedUpdate, Runtime, RuntimeOptions,
    UpdateReport,
};
use software_device::{Control, SoftwareDevice};

pub const ISOLATIONS: [Isolation; 3] =
    [Isolation::ReadCommitted, Isolation::Snapshot, Isolation::Serializable];

/// No need of durable commits where the power does not fail.
pub fn unsynced(isolation: Isolation) -> TransactionOptions {
    TransactionOptions { isolation, durability: Durability::None }
}

pub const ID: usize = 0;
pub const REGION: usize = 1;
pub const BALANCE: usize = 2;

pub fn accounts() -> Schema {
    Schema::builder("account")
        .column("id", Type::Int64)
        .column("region", Type::Int64)
        .column("balance", Type::Int64)
        .nullable_column("owner", Type::Text)
        .primary_key(&["id"])
        .build()
        .unwrap()
}

pub fn waiting(policy: Policy) -> Waiting {
    Waiting { policy, timeout: Duration::from_secs(10), ..Waiting::default() }
}

pub fn options(policy: Policy) -> Options {
    Options {
        shared_state_limit: 1 << 20,
        waiting: waiting(policy),
        lock_buckets: 1 << 10,
        ..Options::small()
    }
}

pub struct Scene {
    pub files: Arc<dyn Files>,
    pub store: Database,
    pub table: Arc<Table>,
    pub runtime: Runtime,
    pub control: Control,
}

impl Scene {
    /// Accounts 0 to `rows`, of 10 regions, with balance 100.
    pub fn new(rows: i64) -> Self {
        let policy = Policy::WaitsFor { every: Duration::from_millis(1) };
        Self::with(rows, options(policy), |_| {})
    }

    pub fn with(rows: i64, options: Options, prepare: impl FnOnce(&mut SoftwareDevice)) -> Self {
        let files: Arc<dyn Files> = Arc::new(Memory::new());
        let store = Database::open_in(files.clone(), options.clone()).unwrap();
        let table = store.create_table(accounts()).unwrap();
        fill(&store, &table, rows);
        store.checkpoint().unwrap();
        let waiting = options.waiting;
        let mut device = device(&files, &store);
        prepare(&mut device);
        let control = device.control();
        let runtime = Runtime::open(&store, device, runtime_options(waiting));
        Self { files, store, table, runtime, control }
    }

    pub fn session(&self) -> Session {
        self.store.session().unwrap()
    }

    /// Id, region and balance of all rows, in order.
    pub fn rows(&self) -> Vec<[i64; 3]> {
        rows(&self.store, &self.table)
    }

    /// No lock is held and nobody waits.
    pub fn assert_no_locks(&self) {
        assert_no_locks(&self.store);
    }
}

pub fn device(files: &Arc<dyn Files>, store: &Database) -> SoftwareDevice {
    SoftwareDevice::new(store, files.open("pages").unwrap(), 20)
}

/// Native storage, for a device that reads without a job.
pub struct Pages(Vec<u8>);

impl PhysicalPages for Pages {
    fn read(&self, physical: u64, into: &mut PageBuffer) -> bool {
        self.0[..].read(physical, into)
    }
}

pub fn device_pages(files: &Arc<dyn Files>) -> Pages {
    let file = files.open("pages").unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_at(0, &mut bytes).unwrap();
    Pages(bytes)
}

pub fn runtime_options(waiting: Waiting) -> RuntimeOptions {
    RuntimeOptions { waiting, ..RuntimeOptions::default() }
}

pub fn fill(store: &Database, table: &Table, rows: i64) {
    let mut session = store.session().unwrap();
    let owner = "somebody ".repeat(10);
    for first in (0..rows).step_by(500) {
        let end = (first + 500).min(rows);
        session
            .transaction(unsynced(Isolation::Snapshot), |transaction| {
                (first..end).try_for_each(|id| {
                    let row = [id.into(), (id % 10).into(), 100.into(), owner.as_str().into()];
                    transaction.insert(table, &row)
                })
            })
            .map_err(|error: Error| error.to_string())
            .unwrap();
    }
}

pub fn rows(store: &Database, table: &Table) -> Vec<[i64; 3]> {
    try_rows(store, table).unwrap()
}

pub fn try_rows(store: &Database, table: &Table) -> Result<Vec<[i64; 3]>, Error> {
    let mut session = store.session()?;
    let mut transaction = session.begin(unsynced(Isolation::Snapshot));
    let mut rows = Vec::new();
    let visit = |row: RowRef<'_>| {
        rows.push([row.int(ID), row.int(REGION), row.int(BALANCE)]);
        ControlFlow::Continue(())
    };
    transaction.scan(table, visit)?;
    rows.sort_unstable();
    Ok(rows)
}

pub fn set(row: &mut RowBuffer, column: usize, value: i64) -> Result<(), Error> {
    row.set_int(column, value);
    Ok(())
}

pub fn assert_no_locks(store: &Database) {
    for (number, bucket) in store.lock_table().buckets().iter().enumerate() {
        let head = bucket.head();
        assert!(head.holder().is_none() && !head.has_waiters(), "bucket {number}: {head:?}");
    }
}

/// Small buffers, so that a few hundred rows take several chunks and reservations.
pub fn small_jobs() -> JobOptions<'static> {
    JobOptions { result_bytes: 1 << 12, reservations: 1, elements: 3, ..JobOptions::default() }
}

/// Compiles an update, and has the device do it.
pub fn update_near(
    near: &mut NearTransaction<'_, '_, '_>,
    table: &Table,
    predicate: Option<&str>,
    assignments: &str,
    jobs: &JobOptions<'_>,
) -> Result<UpdateReport, NearDataJobError> {
    near.update(&PreparedUpdate::new(table, predicate, assignments)?, jobs)
}
