//! Elements in hardware behind the engine: on the same store they find what those in software find.

use std::ops::ControlFlow;
use std::sync::Arc;

use device::{BoardOptions, Simulated};
use driver::{Device, Elements};
use lockdb::store::schema::{RowRef, Schema, Type, Value};
use lockdb::store::{Database, Error, Isolation, Options, Sync, Table, TransactionOptions};
use ndp_runtime::host::{
    AggregateOf, JobOptions, QueuePort, Runtime, RuntimeOptions, SelectedRow, StoreMemory,
};
use ndp_runtime::program::Aggregate;

const ROWS: i64 = 520;
const UNSYNCED: TransactionOptions =
    TransactionOptions { isolation: Isolation::Snapshot, sync: Sync::None };

/// Predicate and outputs; none: whole rows.
const SELECTS: [(Option<&str>, &[&str]); 6] = [
    (Some("region = 3 and balance > 60"), &["id", "balance + region"]),
    (Some("rate is null or rate < 2.5"), &["id", "rate * 3.0 - 0.5", "rate"]),
    (Some("not (region in (1, 4) or id < 200)"), &["id * 3", "balance"]),
    (None, &["id"]),
    (None, &[]),
    // Texts are for software alone.
    (Some("owner = 'somebody 7'"), &["id"]),
];

struct Bench {
    store: Database,
    table: Arc<Table>,
    runtime: Runtime,
    _folder: tempfile::TempDir,
}

fn row(id: i64) -> [Value; 5] {
    let rate = if id % 5 == 0 { Value::Null } else { Value::Float(id as f64 / 7.0 - 40.0) };
    let owner = if id % 11 == 0 {
        Value::Null
    } else {
        Value::Text(format!("somebody {}", id % 13 * (id % 3)))
    };
    [Value::Int(id), Value::Int(id % 10), Value::Int(id % 83), rate, owner]
}

impl Bench {
    fn new(elements: Elements) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { shared_state_limit: 1 << 20, ..Options::small() };
        let (options, memory) = StoreMemory::for_store(options).unwrap();
        let store = Database::open(folder.path(), options).unwrap();
        let schema = Schema::builder("account")
            .column("id", Type::Int64)
            .column("region", Type::Int64)
            .column("balance", Type::Int64)
            .nullable_column("rate", Type::Float64)
            .nullable_column("owner", Type::Text)
            .primary_key(&["id"])
            .build();
        let table = store.create_table(schema.unwrap()).unwrap();
        let board = BoardOptions { storage: Some(folder.path().into()), elements };
        let simulated = Simulated::with_options("sim:".into(), &board).unwrap();
        let device = Device::new(Arc::new(simulated)).unwrap();
        let port = QueuePort::open(device, memory, 64).unwrap();
        let runtime = Runtime::open(&store, port, RuntimeOptions::default());
        Self { store, table, runtime, _folder: folder }
    }

    fn host(
        &self,
        ids: std::ops::Range<i64>,
        mut act: impl FnMut(&mut lockdb::store::Transaction<'_>, i64) -> Result<(), Error>,
    ) {
        let done = self
            .store
            .transaction(|transaction| ids.clone().try_for_each(|id| act(transaction, id)));
        done.map_err(|error: Error| error.to_string()).unwrap();
    }

    fn insert(&self, ids: std::ops::Range<i64>) {
        self.host(ids, |transaction, id| transaction.insert(&self.table, &row(id)).map(drop));
    }

    fn update(&self, ids: std::ops::Range<i64>) {
        self.host(ids, |transaction, id| {
            let changed = transaction.update(&self.table, &id, |row| {
                let balance = row.as_row().int(2);
                row.set_int(2, balance + 1000);
                Ok(())
            });
            changed.map(drop)
        });
    }

    fn options(&self) -> JobOptions<'static> {
        JobOptions { elements: 2, result_bytes: 1 << 14, grants: 3, ..JobOptions::default() }
    }

    /// All selects and some aggregations, as texts in the order of VIDs.
    fn read(&self, into: &mut Vec<String>) {
        let mut session = self.store.session().unwrap();
        let mut transaction = session.begin(UNSYNCED);
        for (predicate, outputs) in SELECTS {
            let mut rows = Vec::new();
            let visit = |row: SelectedRow<'_>| {
                let values: Vec<_> = (0..row.outputs()).map(|output| row.value(output)).collect();
                let text = format!("{} {values:?} {:x?}", row.number(), row.payload());
                rows.push((row.vid(), text));
                ControlFlow::Continue(())
            };
            let mut near = self.runtime.begin(&mut transaction);
            let selected =
                near.select(&self.table, predicate, outputs, &self.options(), visit).unwrap();
            near.release();
            rows.sort();
            let device = selected.read.device;
            into.push(format!(
                "{predicate:?} {outputs:?}: {} {} {:?} {rows:?}",
                device.visited, device.visible, selected.faults
            ));
        }
        for aggregate in [Aggregate::Count, Aggregate::Sum, Aggregate::Min, Aggregate::Max] {
            for (value, group) in [("balance", None), ("rate + 1.0", Some("region"))] {
                let of = AggregateOf { aggregate, value, group, groups: 100 };
                let mut near = self.runtime.begin(&mut transaction);
                let predicate = Some("balance > 20");
                let found = near.aggregate(&self.table, predicate, of, &self.options()).unwrap();
                near.release();
                into.push(format!("{aggregate:?} {value} {group:?}: {:?}", found.0));
            }
        }
        transaction.rollback().unwrap();
    }

    fn update_near(&self, predicate: &str, into: &mut Vec<String>) {
        let mut session = self.store.session().unwrap();
        let statement =
            (&*self.table, Some(predicate), "balance = balance * 2 + 1, rate = rate - 0.25");
        let report =
            self.runtime.update(&mut session, UNSYNCED, statement, &self.options(), 3).unwrap();
        into.push(format!("{predicate}: {} rows, {} by the host", report.rows, report.by_host));
    }

    fn rows(&self, into: &mut Vec<String>) {
        let mut session = self.store.session().unwrap();
        let mut transaction = session.begin(UNSYNCED);
        let mut rows = Vec::new();
        transaction
            .scan(&self.table, |row: RowRef<'_>| {
                rows.push((row.int(0), row.payload().to_vec()));
                ControlFlow::Continue(())
            })
            .unwrap();
        rows.sort();
        into.push(format!("{rows:x?}"));
    }
}

/// Reads and updates at several ages of a store: before and after checkpoints, with changes of the
/// host and of the device that only the shared state has.
fn course(elements: Elements) -> Vec<String> {
    let bench = Bench::new(elements);
    let mut found = Vec::new();
    bench.insert(0..ROWS);
    bench.store.checkpoint().unwrap();
    bench.update(100..400);
    bench.host(450..470, |transaction, id| transaction.delete(&bench.table, &id).map(drop));
    bench.insert(ROWS..ROWS + 50);
    bench.read(&mut found);
    bench.update_near("region < 4", &mut found);
    bench.rows(&mut found);
    bench.update(150..250);
    bench.update_near("region = 2 and rate is not null", &mut found);
    bench.store.checkpoint().unwrap();
    bench.read(&mut found);
    bench.rows(&mut found);
    found
}

#[test]
fn elements_in_hardware_find_what_those_in_software_find() {
    let (software, hardware) = std::thread::scope(|threads| {
        let software = threads.spawn(|| course(Elements::Software));
        let hardware = course(Elements::Rtl);
        (software.join().unwrap(), hardware)
    });
    assert_eq!(software.len(), hardware.len());
    for (step, (software, hardware)) in software.iter().zip(&hardware).enumerate() {
        assert!(software.len() > 20);
        assert_eq!(software, hardware, "step {step}");
    }
}
