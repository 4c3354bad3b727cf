// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parts of FaSST's handlers, on a table in memory with the layout of FaSST's published code.

use std::hint::black_box;

use cluster::engine::{NodeId, TransactionId};
use cluster::store::log::Log;
use cluster::workload::{
    ObjectStore, ObjectStoreSettings, SmallBank, SmallBankSettings, Tatp, TatpSettings,
};
use tables::hash::scatter;
use workloads::scenario::SmallBankAccess;

use super::bucket_table::BucketTable;
use super::logic::transactions;
use super::timing::{Result, Three, entry, less, over, print_head, timed};

/// Rows of a node of O(4, 2) with 14 threads: far more than caches hold.
const ROWS: u64 = 14_000_000;
const VALUE: usize = 40;
/// Requests that a poll brings, whose rows are asked for before the first is handled: half of the messages that
/// a core takes in a burst of O(1, 0) at its peak. One, and all of those messages, are the bounds.
const REQUESTS: [u64; 3] = [8, 4, 1];
const OWNER: u32 = 1;
/// Rows that stay in the caches.
const WARM: u64 = 64;
/// Bytes of a record with two rows of 40 bytes.
const RECORD: usize = 120;
const NODES: u16 = 11;
const THREADS: u16 = 14;

/// Prints the entries of `cpu`. `ratio` is how much longer work of a core takes on the target than here, at least and
/// at most; `rows` is how many the table has.
pub fn print_entries(rows: Option<u64>, ratio: [f64; 2]) -> Result<()> {
    let rows = rows.unwrap_or(ROWS);
    let mut table = filled(rows)?;
    print_head();

    let lines = [1_u8; 64 * 16];
    let mut to = Vec::with_capacity(64 * 16);
    let line = timed("16 lines copied", |_| {
        to.clear();
        to.extend_from_slice(black_box(&lines));
        black_box(&to);
    })
    .map(|time| time / 16.0);
    let mut last = 0;
    let [_, keys, _] = timed("keys alone", |time| {
        last = black_box(key(scattered(time, rows) + last)) & black_box(0);
    });
    let looks = Looks::timed(&table, rows, keys);
    let header = timed("lock, unlock", |time| {
        let key = key(time % WARM);
        black_box((table.try_lock(key, OWNER), table.unlock(key, OWNER)));
    })
    .map(|time| time / 2.0);
    // Each begins when the one before is done, as a look-up does.
    let mut last = 0;
    let update = timed("update", |time| {
        let row = scattered(time, WARM) + last;
        last = black_box(table.update(key(row), &value(row)).unwrap_or(0)) & black_box(0);
    });
    let mut bytes = Vec::with_capacity(256);
    let absent = timed("look, absent", |time| {
        black_box(table.get(key(2 * rows + time), &mut bytes));
    });
    let inserted = timed("look, then insert", |time| {
        black_box(table.get(key(rows + time), &mut bytes));
        black_box(table.insert(key(rows + time), &value(rows + time)));
    });
    let mut log = Log::new();
    let record = [3; RECORD];
    let logged = timed("log", |time| {
        let by = TransactionId::new(NodeId(0), 0, (time % 20) as u8, (time / 20) as u32);
        black_box(log.replace(by, &record));
    });
    let object = ObjectStore::new(ObjectStoreSettings::o(4, 2, NODES, THREADS))?;
    let small = SmallBankSettings::fasst(NODES, THREADS, SmallBankAccess::Hot90);
    let workloads = [
        transactions("O(4,2)", &object)?,
        transactions("SmallBank", &SmallBank::new(small)?)?,
        transactions("TATP", &Tatp::new(TatpSettings::fasst(NODES))?)?,
    ];

    let counted = header[1] + line[1];
    let core = less(looks.warm, counted);
    let none = [0.0; 3];
    println!("\n{:<11}here: core and memory; entry: value [least, greatest]", "");
    entry("begin", over(workloads.map(|found| found.0)), ratio, none);
    entry("logic", over(workloads.map(|found| found.1)), ratio, none);
    entry("look", core, ratio, looks.memory);
    entry("header", header, ratio, none);
    let [least, median, most] = less(update, keys);
    let others = core[1] + counted;
    entry("write", [(least - others).max(0.0), (median - others).max(0.0), most], ratio, none);
    entry("insert", less(inserted, absent[1] + core[1] + counted), ratio, none);
    entry("log", less(logged, line[1] * RECORD.div_ceil(64) as f64), ratio, none);
    entry("copy_line", line, ratio, none);
    let megabytes = table.memory_bytes() >> 20;
    println!("# {rows} rows, {megabytes} MiB, {} overflow buckets taken", table.overflowed());
    Ok(())
}

/// A table like FaSST's, in huge pages if the system has any.
fn filled(rows: u64) -> Result<BucketTable> {
    let mut table = BucketTable::new(rows as usize, VALUE)?;
    println!("# huge pages: {}", table.has_huge_pages());
    for row in 0..rows {
        table.prefetch(key(row + 6));
        if !table.insert(key(row), &value(row)) {
            return Err(format!("no room for row {row} of {rows}").into());
        }
    }
    Ok(table)
}

fn key(row: u64) -> u64 {
    scatter(row + 1)
}

fn value(row: u64) -> [u8; VALUE] {
    let mut bytes = [7; VALUE];
    bytes[..8].copy_from_slice(&row.to_le_bytes());
    bytes
}

/// A row that has nothing to do with that of the time before.
fn scattered(time: u64, rows: u64) -> u64 {
    scatter(!time) % rows
}

struct Looks {
    /// Of rows that are in the caches: what the core does.
    warm: Three,
    /// How much longer it takes where they are in memory.
    memory: Three,
}

impl Looks {
    /// The rows of all requests of a poll are asked for before the first is handled, and a poll begins when the one
    /// before has its rows.
    fn timed(table: &BucketTable, rows: u64, loops: f64) -> Self {
        let mut value = Vec::with_capacity(256);
        let mut last = 0;
        let mut look = |row: u64| {
            value.clear();
            black_box(table.get(key(row), &mut value));
            let found = value.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
            black_box(found) & black_box(0)
        };
        let warm = timed("look, warm", |time| last = look(scattered(time, WARM) + last));
        let memory = REQUESTS.map(|requests| {
            let cold = timed(&format!("look, {requests} in a poll"), |time| {
                if time % requests == 0 {
                    let poll = time..time + requests;
                    poll.for_each(|time| table.prefetch(key(scattered(time, rows) + last)));
                }
                let found = look(scattered(time, rows) + last);
                last = if time % requests == requests - 1 { found } else { last };
            });
            less(cold, warm[1])
        });
        // The least of the most requests, the median of the usual number, the most of one.
        let memory = [memory[0][0], memory[1][1], memory[2][2]];
        Looks { warm: less(warm, loops), memory }
    }
}
