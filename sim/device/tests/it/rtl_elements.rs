// SPDX-License-Identifier: MIT OR Apache-2.0
//! Elements in hardware behind the engine: on the same store they find what those in software find.
//! And so do those of a device that is served at a socket.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use device::{BoardOptions, Progress, ServeOptions, Simulated};
use driver::{Device, DeviceUri, Elements, open_backend};
use lockdb::schema::{RowRef, Schema, Type, Value};
use lockdb::{Database, Durability, Error, Isolation, Options, Table, TransactionOptions};
use ndp_runtime::host::{
    AggregateOf, JobOptions, PreparedUpdate, QueuePort, Runtime, RuntimeOptions, SelectedRow,
    StoreMemory,
};
use ndp_runtime::job::Embodiment;
use ndp_runtime::program::Aggregate;
use vfio_user::Stop;

const ROWS: i64 = 520;
const UNSYNCED: TransactionOptions =
    TransactionOptions { isolation: Isolation::Snapshot, durability: Durability::None };

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

/// How the device is reached.
#[derive(Clone, Copy)]
enum Way {
    InProcess(Elements),
    Socket,
}

/// A server on a thread of its own.
struct Served {
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    fn new(socket: &Path, board: BoardOptions) -> Self {
        let (socket, stop) = (socket.to_owned(), Stop::new().unwrap());
        let (tell, told) = mpsc::channel();
        let thread = std::thread::spawn({
            let stop = stop.clone();
            move || {
                let options = ServeOptions { board, ..ServeOptions::default() };
                let served = device::serve(&socket, options, &stop, |progress| {
                    if matches!(progress, Progress::Listening { .. }) {
                        tell.send(()).unwrap();
                    }
                });
                served.unwrap();
            }
        });
        told.recv().unwrap();
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.stop();
        // A server that panicked has failed the test that used it.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

struct Bench {
    store: Database,
    table: Arc<Table>,
    runtime: Runtime,
    /// Whether elements are hardware, where that can be.
    rtl: bool,
    _served: Option<Served>,
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
    fn new(way: Way, shared_state_limit: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { shared_state_limit, ..Options::small() };
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
        let storage = Some(folder.path().into());
        let (device, served) = match way {
            Way::InProcess(elements) => {
                let board = BoardOptions { storage, elements, ..BoardOptions::default() };
                let simulated = Simulated::with_options("sim:".into(), &board).unwrap();
                (Device::new(Arc::new(simulated)), None)
            }
            Way::Socket => {
                let socket = folder.path().join("socket");
                let board = BoardOptions { storage, ..BoardOptions::default() };
                let served = Served::new(&socket, board);
                let opened = open_backend(&DeviceUri::VfioUser(socket)).unwrap();
                (Device::new(opened), Some(served))
            }
        };
        let device = device.unwrap();
        let port = QueuePort::open(device, memory, 64).unwrap();
        let runtime = Runtime::open(&store, port, RuntimeOptions::default());
        let rtl = matches!(way, Way::InProcess(Elements::Rtl));
        Self { store, table, runtime, rtl, _served: served, _folder: folder }
    }

    fn host(
        &self,
        ids: std::ops::Range<i64>,
        mut act: impl FnMut(&mut lockdb::Transaction<'_>, i64) -> Result<(), Error>,
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
        JobOptions { elements: 2, result_bytes: 1 << 14, reservations: 3, ..JobOptions::default() }
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
            let (clocks, ran) = (device.element_clocks, device.embodiment().unwrap());
            assert_eq!((device.elements, clocks > 0), (2, ran.is_hardware()), "{predicate:?}");
            let in_text = predicate.is_some_and(|predicate| predicate.contains("owner"));
            let expected = match (self.rtl, in_text) {
                (false, _) => Embodiment::Software,
                (true, false) => Embodiment::Hardware,
                (true, true) => Embodiment::SoftwareForText,
            };
            assert_eq!(ran, expected, "{predicate:?}");
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
        let set = "balance = balance * 2 + 1, rate = rate - 0.25";
        let update = PreparedUpdate::new(&self.table, Some(predicate), set).unwrap();
        let report =
            self.runtime.update(&mut session, UNSYNCED, &update, &self.options(), 3).unwrap();
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
fn course(way: Way) -> Vec<String> {
    let bench = Bench::new(way, 1 << 20);
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

/// Elements in hardware have room for 1,024 pages of a shared state.
#[test]
fn software_does_what_hardware_has_no_room_for_and_says_so() {
    let bench = Bench::new(Way::InProcess(Elements::Rtl), 1 << 24);
    let select = || {
        let mut session = bench.store.session().unwrap();
        let mut transaction = session.begin(UNSYNCED);
        let mut near = bench.runtime.begin(&mut transaction);
        let (predicate, columns) = (Some("id = 7"), ["id"]);
        let visit = |_: SelectedRow<'_>| ControlFlow::Continue(());
        let options = bench.options();
        near.select(&bench.table, predicate, &columns, &options, visit).unwrap().read
    };
    let two_a_page = "x".repeat(3900);
    let insert = |ids: std::ops::Range<i64>| {
        bench.host(ids, |transaction, id| {
            let owner = Value::Text(two_a_page.clone());
            let row = [id.into(), 0.into(), 0.into(), Value::Null, owner];
            transaction.insert(&bench.table, &row).map(drop)
        });
    };
    insert(0..1000);
    let read = select();
    assert_eq!(read.device.embodiment(), Some(Embodiment::Hardware));
    insert(1000..2200);
    let read = select();
    assert_eq!(read.device.embodiment(), Some(Embodiment::SoftwareForSharedState));
    assert_eq!((read.rows, read.device.element_clocks), (1, 0));
    bench.store.checkpoint().unwrap();
    assert_eq!(select().device.embodiment(), Some(Embodiment::Hardware));
}

#[test]
fn elements_in_hardware_and_at_a_socket_find_what_those_in_software_find() {
    let courses = std::thread::scope(|threads| {
        let ways = [Way::InProcess(Elements::Software), Way::InProcess(Elements::Rtl), Way::Socket];
        ways.map(|way| threads.spawn(move || course(way))).map(|thread| thread.join().unwrap())
    });
    let [software, others @ ..] = &courses;
    for (way, other) in ["hardware", "a socket"].into_iter().zip(others) {
        assert_eq!(software.len(), other.len());
        for (step, (software, other)) in software.iter().zip(other).enumerate() {
            assert_eq!(software, other, "step {step}, {way}");
        }
    }
}
