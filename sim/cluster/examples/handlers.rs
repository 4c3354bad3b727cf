// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures how long the parts of FaSST's handlers take on this machine, by the frozen procedure of
//! `docs/calibration.md`: ten runs of each, their median and their spread.
//!
//! `cargo run --release -p lockstep-cluster-sim --example handlers`

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use cluster::engine::{Key, NodeId, TableNumber, TransactionId};
use cluster::placement::Partitioning;
use cluster::store::log::Log;
use cluster::store::{Item, Store};
use cluster::transact::{Change, Intent, Rows, Transactions};
use cluster::workload::{ObjectStore, ObjectStoreSettings};

const RUNS: usize = 10;
/// Operations of a run.
const TIMES: u64 = 200_000;
/// Rows in the store: far more than caches hold.
const ROWS: u64 = 1 << 20;
const VALUE: usize = 40;
/// Bytes of a record with two rows of 40 bytes.
const RECORD: usize = 120;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = ObjectStoreSettings { objects: 2 * ROWS, ..ObjectStoreSettings::o(4, 2, 4, 1) };
    let workload = ObjectStore::new(settings)?;
    let layout = Arc::new(Partitioning::new(4, 0, workload.tables())?);
    let mut store = Store::new(workload.clone(), Arc::clone(&layout), layout.all());
    let value = [7; VALUE];
    for row in 0..ROWS {
        store.apply(&item(row, Change::Update, 0, &value))?;
    }
    println!("{:<11}{:>9}{:>9}{:>9}  ns, of {RUNS} runs of {TIMES}", "", "least", "median", "most");

    // A look-up of a row that no cache holds, with its header and a copy of its value; and the same of
    // a row that has just been read.
    let mut bytes = Vec::with_capacity(256);
    let cold = timed("read", |time| {
        bytes.clear();
        black_box(store.read(key(scattered(time)), &mut bytes).is_ok());
    });
    let warm = timed("read again", |_| {
        bytes.clear();
        black_box(store.read(key(5), &mut bytes).is_ok());
    });
    let by = TransactionId::new(NodeId(0), 0, 0, 1);
    let lock = timed("lock+unlock", |time| {
        let key = key(time % 64);
        black_box((store.lock(key, by).is_ok(), store.unlock(key, by)));
    });
    let update = timed("update", |time| {
        let item = item(time % 64, Change::Update, time, &value);
        black_box(store.apply(&item).is_ok());
    });
    let insert = timed("insert", |time| {
        let row = ROWS + scattered(time) % ROWS;
        black_box(store.apply(&item(row, Change::Insert, time, &value)).is_ok());
    });
    let mut log = Log::new();
    let record = [3; RECORD];
    let logged = timed("log", |time| {
        let of = |count: u64| TransactionId::new(NodeId(0), 0, (time % 20) as u8, count as u32);
        log.truncate(of((time / 20).saturating_sub(1)));
        black_box(log.append(of(time / 20), &record));
    });
    let mut source = workload.source(0);
    let mut wanted = Vec::new();
    let mut rows = Rows::new();
    let begin = timed("begin", |_| {
        wanted.clear();
        if let Some(input) = workload.draw(&mut source) {
            workload.declare(&input, &rows, &mut wanted);
        }
        black_box(&wanted);
    });
    let input = workload.draw(&mut source).ok_or("the object store has no end")?;
    wanted.clear();
    workload.declare(&input, &rows, &mut wanted);
    for (key, intent) in &wanted {
        rows.fetched(*key, *intent, 1, Some(&value));
    }
    let read_rows = wanted.iter().filter(|(_, intent)| *intent == Intent::Read).count();
    let logic = timed("logic", |_| {
        rows.reset();
        black_box(workload.run(&input, &mut rows).is_ok());
    });
    let lines = [1_u8; 64 * 16];
    let mut to = Vec::with_capacity(64 * 16);
    let copied = timed("copy", |_| {
        to.clear();
        to.extend_from_slice(black_box(&lines));
        black_box(&to);
    });

    let header = lock.map(|time| time / 2.0);
    let line = copied.map(|time| time / 16.0);
    println!("\nentries of class C, before the ratio of processors");
    entry("header", header);
    entry("look", less(less(cold, header), line));
    entry("write", less(update, header));
    entry("insert", insert);
    entry("log", logged);
    entry("begin", begin);
    entry("logic", logic.map(|time| time / wanted.len() as f64));
    entry("copy_line", line);
    println!("a warm read: {:.1} ns; {read_rows} of {} rows only read", warm[1], wanted.len());
    Ok(())
}

fn key(row: u64) -> Key {
    Key { table: TableNumber(0), row }
}

fn item(row: u64, change: Change, fetched: u64, value: &[u8]) -> Item<'_> {
    Item { key: key(row), change, fetched, value }
}

/// A row that lies far from that of the time before.
fn scattered(time: u64) -> u64 {
    time.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44
}

/// The least, the median and the most nanoseconds of one operation.
fn timed(name: &str, mut operation: impl FnMut(u64)) -> [f64; 3] {
    let mut runs = [0.0; RUNS];
    for (run, time) in runs.iter_mut().enumerate() {
        let first = run as u64 * TIMES;
        let begin = Instant::now();
        (first..first + TIMES).for_each(&mut operation);
        *time = begin.elapsed().as_nanos() as f64 / TIMES as f64;
    }
    runs.sort_by(f64::total_cmp);
    let found = [runs[0], f64::midpoint(runs[RUNS / 2 - 1], runs[RUNS / 2]), runs[RUNS - 1]];
    entry(name, found);
    found
}

fn less(time: [f64; 3], part: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|place: usize| (time[place] - part[1]).max(0.0))
}

fn entry(name: &str, [least, median, most]: [f64; 3]) {
    println!("{name:<11}{least:>9.1}{median:>9.1}{most:>9.1}");
}
