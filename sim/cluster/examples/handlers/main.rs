// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures how long the parts of FaSST's handlers take on this machine, by the procedure of
//! `docs/calibration.md`: ten runs of each, their median and their spread, and the entries that follow by
//! the ratio of processors. Times are those of the thread (`CLOCK_THREAD_CPUTIME_ID`), so that what other
//! programs take of the processor is not counted; what they take of its caches is.
//!
//! `cargo run --release -p lockstep-cluster-sim --example handlers [-- ROWS]`

mod bucket_table;

use std::hint::black_box;

use bucket_table::BucketTable;
use cluster::engine::{NodeId, TransactionId};
use cluster::store::log::Log;
use cluster::transact::{Rows, Transactions};
use cluster::workload::{
    ObjectStore, ObjectStoreSettings, SmallBank, SmallBankSettings, Tatp, TatpSettings,
};
use rustix::time::{ClockId, clock_gettime};
use tables::hash::scatter;
use workloads::scenario::SmallBankAccess;

const RUNS: usize = 10;
/// Operations of a run.
const TIMES: u64 = 100_000;
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
/// Transactions of each workload whose logic is run.
const INPUTS: usize = 1024;
const NODES: u16 = 11;
const THREADS: u16 = 14;

/// How much longer work of a core takes on the targets than here.
const CORE: [f64; 2] = [1.5, 3.0];
/// The same of a line that comes from memory.
const MEMORY: [f64; 2] = [0.75, 4.0 / 3.0];

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
type Three = [f64; 3];

fn main() -> Result<()> {
    let rows = std::env::args().nth(1).map_or(Ok(ROWS), |word| word.parse())?;
    let mut table = filled(rows)?;
    println!("{:<19}{:>9}{:>9}{:>9}  ns, of {RUNS} runs of {TIMES}", "", "least", "median", "most");

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
    entry("begin", over(workloads.map(|found| found.0)), none);
    entry("logic", over(workloads.map(|found| found.1)), none);
    entry("look", core, looks.memory);
    entry("header", header, none);
    let [least, median, most] = less(update, keys);
    let others = core[1] + counted;
    entry("write", [(least - others).max(0.0), (median - others).max(0.0), most], none);
    entry("insert", less(inserted, absent[1] + core[1] + counted), none);
    entry("log", less(logged, line[1] * RECORD.div_ceil(64) as f64), none);
    entry("copy_line", line, none);
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

/// The time to draw and declare a transaction, and that of its logic for each row, over the mix.
fn transactions<T: Transactions>(name: &str, workload: &T) -> Result<(Three, Three)> {
    let mut source = workload.source(0);
    let (mut wanted, none) = (Vec::new(), Rows::new());
    let begin = timed(&format!("{name}: begin"), |_| {
        wanted.clear();
        if let Some(input) = workload.draw(&mut source) {
            workload.declare(&input, &none, &mut wanted);
        }
        black_box(&wanted);
    });
    let mut prepared = Vec::new();
    while prepared.len() < INPUTS {
        let input = workload.draw(&mut source).ok_or("a workload has no end")?;
        let mut rows = Rows::new();
        fetch(workload, &input, &mut rows);
        prepared.push((input, rows));
    }
    let rows: usize = prepared.iter().map(|(_, rows)| rows.all().len()).sum();
    let of_each = rows as f64 / INPUTS as f64;
    let logic = timed(&format!("{name}: logic"), |time| {
        let (input, rows) = &mut prepared[time as usize % INPUTS];
        rows.reset();
        black_box(workload.run(input, rows).is_ok());
    });
    println!("# {of_each:.2} rows");
    Ok((begin, logic.map(|time| time / of_each)))
}

/// Gives a transaction its rows as they are at the start, as a worker does.
fn fetch<T: Transactions>(workload: &T, input: &T::Input, rows: &mut Rows) {
    let mut wanted = Vec::new();
    loop {
        wanted.clear();
        workload.declare(input, rows, &mut wanted);
        wanted.retain(|(key, intent)| !rows.has(*key, *intent));
        if wanted.is_empty() {
            match workload.run(input, rows) {
                Err(missing) if !rows.has(missing.key, missing.intent) => {
                    wanted.push((missing.key, missing.intent));
                }
                _ => return,
            }
        }
        for (key, intent) in wanted.drain(..) {
            let mut value = Vec::new();
            let there = workload.initial(key, &mut value);
            rows.fetched(key, intent, 1, there.then_some(&value[..]));
        }
    }
}

/// The least, the median and the most nanoseconds of one operation.
fn timed(name: &str, mut operation: impl FnMut(u64)) -> Three {
    let mut runs = [0.0; RUNS];
    for (run, time) in runs.iter_mut().enumerate() {
        let first = run as u64 * TIMES;
        let begin = now();
        (first..first + TIMES).for_each(&mut operation);
        *time = (now() - begin) / TIMES as f64;
    }
    runs.sort_by(f64::total_cmp);
    let found = [runs[0], f64::midpoint(runs[RUNS / 2 - 1], runs[RUNS / 2]), runs[RUNS - 1]];
    let [least, median, most] = found;
    println!("{name:<19}{least:>9.1}{median:>9.1}{most:>9.1}");
    found
}

/// What this thread has had of a processor, in nanoseconds.
fn now() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn less(time: Three, part: f64) -> Three {
    time.map(|time| (time - part).max(0.0))
}

/// The median of the workloads' medians, and the least and the most of all.
fn over(mut workloads: [Three; 3]) -> Three {
    workloads.sort_by(|one, other| one[1].total_cmp(&other[1]));
    let least = workloads.iter().map(|found| found[0]).fold(f64::INFINITY, f64::min);
    let most = workloads.iter().map(|found| found[2]).fold(0.0, f64::max);
    [least, workloads[1][1], most]
}

/// The rule: the median times the geometric mean of the ratios, the least times the least, the most times
/// the greatest.
fn entry(name: &str, core: Three, memory: Three) {
    let ratios = |[least, greatest]: [f64; 2]| [least, (least * greatest).sqrt(), greatest];
    let (of_core, of_memory) = (ratios(CORE), ratios(MEMORY));
    let at = |place: usize| core[place] * of_core[place] + memory[place] * of_memory[place];
    let [a, b, c] = core;
    let [d, e, f] = memory;
    println!(
        "{name:<11}{a:.1} {b:.1} {c:.1} and {d:.1} {e:.1} {f:.1}; {:.1} [{:.1}, {:.1}]",
        at(1),
        at(0),
        at(2)
    );
}
