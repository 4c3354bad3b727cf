// SPDX-License-Identifier: MIT OR Apache-2.0
//! Near-data transactions through the driver, the job queue in hardware, the engine on its thread, and
//! the lock unit in hardware.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use device::Simulated;
use driver::Device;
use lockdb::schema::{RowRef, Schema, Type};
use lockdb::{
    Database, Durability, Error, Isolation, Options, Table, Transaction, TransactionOptions,
};
use ndp_runtime::host::{
    JobOptions, NearDataJobError, PreparedUpdate, QueuePort, Runtime, RuntimeOptions, StoreMemory,
};

const ROWS: i64 = 600;
const UNSYNCED: TransactionOptions =
    TransactionOptions { isolation: Isolation::ReadCommitted, durability: Durability::None };

struct Bench {
    store: Database,
    table: Arc<Table>,
    runtime: Runtime,
    device: Device,
    _folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (options, memory) = StoreMemory::for_store(Options::small()).unwrap();
        let store = Database::open(folder.path(), options).unwrap();
        let schema = Schema::builder("account")
            .column("id", Type::Int64)
            .column("balance", Type::Int64)
            .primary_key(&["id"])
            .build();
        let table = store.create_table(schema.unwrap()).unwrap();
        let filled = store.transaction(|transaction| {
            (0..ROWS).try_for_each(|id| transaction.insert(&table, &[id.into(), 100.into()]))
        });
        filled.map_err(|error: Error| error.to_string()).unwrap();
        let simulated = Simulated::with_storage("sim:".into(), folder.path()).unwrap();
        let device = Device::new(Arc::new(simulated)).unwrap();
        let port = QueuePort::open(device.clone(), memory, 64).unwrap();
        let options = RuntimeOptions { timeout: Duration::from_secs(30), ..Default::default() };
        let runtime = Runtime::open(&store, port, options);
        Self { store, table, runtime, device, _folder: folder }
    }

    fn update(&self, jobs: &JobOptions<'_>) -> Result<u64, NearDataJobError> {
        let mut session = self.store.session().unwrap();
        let update = PreparedUpdate::new(&self.table, Some("id < 300"), "balance = balance + 5")?;
        let report = self.runtime.update(&mut session, UNSYNCED, &update, jobs, 100)?;
        Ok(report.rows)
    }

    fn sum(&self) -> i64 {
        let mut session = self.store.session().unwrap();
        let mut sum = 0;
        let mut transaction = session.begin(UNSYNCED);
        transaction
            .scan(&self.table, |row: RowRef<'_>| {
                sum += row.int(1);
                ControlFlow::Continue(())
            })
            .unwrap();
        sum
    }

    fn assert_no_locks(&self) {
        let buckets = self.store.lock_table().buckets();
        assert!(buckets.iter().all(|bucket| bucket.head() == locks::Head::FREE));
    }
}

fn add_one(transaction: &mut Transaction<'_>, table: &Table, id: i64) -> Result<(), Error> {
    transaction.update(table, &id, |row| {
        let balance = row.as_row().int(1);
        row.set_int(1, balance + 1);
        Ok(())
    })?;
    Ok(())
}

#[test]
fn host_and_device_change_the_same_rows() {
    let bench = Bench::new();
    let (stop, added) = (AtomicBool::new(false), AtomicI64::new(0));
    let mut changed = 0;
    std::thread::scope(|threads| {
        for thread in 0..2 {
            let (bench, stop, added) = (&bench, &stop, &added);
            threads.spawn(move || {
                let mut session = bench.store.session().unwrap();
                for id in (thread..).step_by(7) {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let done = session.transaction(UNSYNCED, |transaction| {
                        add_one(transaction, &bench.table, id % ROWS)
                    });
                    done.unwrap();
                    added.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for _ in 0..5 {
            let jobs =
                JobOptions { result_bytes: 1 << 12, reservations: 2, ..JobOptions::default() };
            changed += bench.update(&jobs).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(changed, 5 * 300);
    bench.assert_no_locks();
    let added = added.load(Ordering::Relaxed);
    println!("{added} short updates beside five near-data updates of 300 rows");
    assert_eq!(bench.sum(), 100 * ROWS + 5 * changed as i64 + added);
}

#[test]
fn a_reset_in_the_middle_leaves_nothing_and_the_next_job_runs() {
    let bench = Bench::new();
    let reset = AtomicBool::new(false);
    let progress = |_: &ndp_runtime::host::Progress| {
        if !reset.swap(true, Ordering::Relaxed) {
            bench.device.reset().unwrap();
        }
    };
    let jobs = JobOptions { progress: Some(&progress), ..JobOptions::default() };
    let failure = bench.update(&jobs).unwrap_err();
    assert!(matches!(failure, NearDataJobError::DeviceLost(_)), "{failure}");
    bench.assert_no_locks();
    assert_eq!(bench.sum(), 100 * ROWS);
    assert_eq!(bench.update(&JobOptions::default()).unwrap(), 300);
    assert_eq!(bench.sum(), 100 * ROWS + 5 * 300);
    bench.assert_no_locks();
}
