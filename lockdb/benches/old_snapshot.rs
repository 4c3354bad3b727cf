// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cost of one open snapshot: for vacuum of a long version chain, for the writer of a hot row,
//! and for unrelated transactions. Each figure stands beside its floor, from the same run.
//!
//! `cargo bench -p lockdb --bench old_snapshot`

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lockdb::schema::{Schema, Type};
use lockdb::{
    Database, Durability, Error, Isolation, Options, Result, Session, Table, TransactionOptions,
};

const UNSYNCED: TransactionOptions =
    TransactionOptions { isolation: Isolation::Snapshot, durability: Durability::None };
/// Rows of the table that no other transaction uses.
const ROWS: i64 = 1_000;
const ROUND: Duration = Duration::from_secs(2);
const ROUNDS: usize = 3;

fn main() -> Result<()> {
    println!("one vacuum of a chain of n versions, all of them kept by a snapshot");
    for versions in [25_000, 50_000, 100_000, 200_000, 400_000] {
        vacuum_of_a_chain(versions, true)?;
    }
    println!("the same, n versions that no snapshot needs");
    for versions in [25_000, 50_000, 100_000, 200_000, 400_000] {
        vacuum_of_a_chain(versions, false)?;
    }
    for maintenance in [true, false] {
        let who = if maintenance { "the store's thread vacuums" } else { "sessions vacuum" };
        println!("\none writer of a hot row, a reader and a writer of another table; {who}");
        compare(|snapshot| rates(maintenance, snapshot, true))?;
        println!("the same without the hot row: what a snapshot costs them by itself");
        compare(|snapshot| rates(maintenance, snapshot, false))?;
    }
    println!();
    full_room(true)?;
    full_room(false)
}

/// Prints the best rates of some rounds without and with an open snapshot, in turns.
fn compare(mut rates: impl FnMut(bool) -> Result<Rates>) -> Result<()> {
    let mut best = [Rates::default(); 2];
    for _ in 0..ROUNDS {
        for (best, snapshot) in best.iter_mut().zip([false, true]) {
            *best = best.better(rates(snapshot)?);
        }
    }
    let [floor, with] = best;
    floor.print("without a snapshot");
    with.print("with one open");
    let percent = |value: f64, floor: f64| match floor > 0.0 {
        true => format!("{:.0} %", 100.0 * value / floor),
        false => "-".to_owned(),
    };
    println!(
        "{:<20} {:>9}           {:>9}         {:>9}",
        "of the floor",
        percent(with.hot, floor.hot),
        percent(with.reads, floor.reads),
        percent(with.elsewhere, floor.elsewhere),
    );
    Ok(())
}

fn table(store: &Database, name: &str, rows: i64) -> Result<Arc<Table>> {
    let schema = Schema::builder(name).column("id", Type::Int64).column("value", Type::Int64);
    let table = store.create_table(schema.primary_key(&["id"]).build()?)?;
    store.session()?.transaction(UNSYNCED, |transaction| {
        (0..rows).try_for_each(|id| transaction.insert(&table, &[id.into(), 0.into()]))
    })?;
    Ok(table)
}

fn update(session: &mut Session, table: &Table, id: i64, value: i64) -> Result<()> {
    session.transaction(UNSYNCED, |transaction| {
        let found = transaction.update(table, &id, |row| {
            row.set_int(1, value);
            Ok(())
        })?;
        assert!(found.is_some());
        Ok(())
    })
}

fn vacuum_of_a_chain(versions: i64, kept: bool) -> Result<()> {
    let store = Database::in_memory(Options { maintenance: false, ..Options::default() })?;
    let hot = table(&store, "hot", 1)?;
    let mut reader = store.session()?;
    let snapshot = reader.begin(UNSYNCED);
    let mut writer = store.session()?;
    for value in 0..versions {
        update(&mut writer, &hot, 0, value)?;
    }
    if !kept {
        drop(snapshot);
    }
    let since = Instant::now();
    let done = store.vacuum()?;
    let took = since.elapsed();
    println!(
        "{versions:>8} versions: {:>9.3} ms, {:>9.1} ns a version; {} pages freed, {} kept",
        took.as_secs_f64() * 1e3,
        took.as_nanos() as f64 / versions as f64,
        done.pages_freed,
        done.pages_pinned,
    );
    Ok(())
}

/// By the second; of begins also the longest.
#[derive(Clone, Copy, Default)]
struct Rates {
    hot: f64,
    reads: f64,
    elsewhere: f64,
    begins: u64,
    long_begins: u64,
    longest_begin: Duration,
    longest_update: Duration,
}

impl Rates {
    /// The best rates of both; all long begins.
    fn better(self, other: Rates) -> Rates {
        Rates {
            hot: self.hot.max(other.hot),
            reads: self.reads.max(other.reads),
            elsewhere: self.elsewhere.max(other.elsewhere),
            begins: self.begins + other.begins,
            long_begins: self.long_begins + other.long_begins,
            longest_begin: self.longest_begin.max(other.longest_begin),
            longest_update: self.longest_update.max(other.longest_update),
        }
    }

    fn print(&self, what: &str) {
        println!(
            "{what:<20} {:>9.0} updates/s {:>9.0} reads/s {:>9.0} updates/s elsewhere; of {} begins \
             {} took over 1 ms, the longest {:.3} ms; longest update of the hot row {:.3} ms",
            self.hot,
            self.reads,
            self.elsewhere,
            self.begins,
            self.long_begins,
            self.longest_begin.as_secs_f64() * 1e3,
            self.longest_update.as_secs_f64() * 1e3,
        );
    }
}

/// Begins of bystanders.
#[derive(Default)]
struct Begins {
    count: AtomicU64,
    long: AtomicU64,
    longest: AtomicU64,
}

impl Begins {
    fn note(&self, took: Duration) {
        self.count.fetch_add(1, Ordering::Relaxed);
        if took > Duration::from_millis(1) {
            self.long.fetch_add(1, Ordering::Relaxed);
        }
        self.longest.fetch_max(took.as_nanos() as u64, Ordering::Relaxed);
    }
}

/// One round: how many transactions each of the threads runs. Without `hot_row` its writer does nothing.
fn rates(maintenance: bool, with_snapshot: bool, hot_row: bool) -> Result<Rates> {
    let store = Database::in_memory(Options { maintenance, ..Options::default() })?;
    let (hot, other) = (table(&store, "hot", 1)?, table(&store, "other", ROWS)?);
    let mut holder = store.session()?;
    let snapshot = with_snapshot.then(|| holder.begin(UNSYNCED));
    let (stop, begins, longest_update) =
        (AtomicBool::new(false), Begins::default(), AtomicU64::new(0));
    let running = || !stop.load(Ordering::Relaxed);
    let since = Instant::now();
    let counts = std::thread::scope(|scope| {
        let hot_writer = scope.spawn(|| -> Result<u64> {
            let mut session = store.session()?;
            let mut count = 0;
            while hot_row && running() {
                let since = Instant::now();
                update(&mut session, &hot, 0, count)?;
                longest_update.fetch_max(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
                count += 1;
            }
            Ok(count as u64)
        });
        let reader = scope.spawn(|| -> Result<u64> {
            let mut session = store.session()?;
            let mut count = 0;
            while running() {
                let since = Instant::now();
                let mut transaction = session.begin(UNSYNCED);
                begins.note(since.elapsed());
                let row = transaction.get(&other, &(count % ROWS))?;
                assert!(row.is_some());
                transaction.commit()?;
                count += 1;
            }
            Ok(count as u64)
        });
        let writer = scope.spawn(|| -> Result<u64> {
            let mut session = store.session()?;
            let mut count = 0;
            while running() {
                update(&mut session, &other, count % ROWS, count)?;
                count += 1;
            }
            Ok(count as u64)
        });
        std::thread::sleep(ROUND);
        stop.store(true, Ordering::Relaxed);
        [hot_writer, reader, writer].map(|thread| thread.join().expect("no thread panics"))
    });
    let seconds = since.elapsed().as_secs_f64();
    let [hot, reads, elsewhere] = counts.map(|count| count.map(|count| count as f64 / seconds));
    drop(snapshot);
    Ok(Rates {
        hot: hot?,
        reads: reads?,
        elsewhere: elsewhere?,
        begins: begins.count.into_inner(),
        long_begins: begins.long.into_inner(),
        longest_begin: Duration::from_nanos(begins.longest.into_inner()),
        longest_update: Duration::from_nanos(longest_update.into_inner()),
    })
}

/// A writer of a hot row until the room is full, then the snapshot ends.
fn full_room(maintenance: bool) -> Result<()> {
    let pages = 1 << 15;
    let store = Database::in_memory(Options { maintenance, pages, ..Options::default() })?;
    let hot = table(&store, "hot", 1)?;
    let mut holder = store.session()?;
    let snapshot = holder.begin(UNSYNCED);
    let mut writer = store.session()?;
    let (since, mut count, mut longest) = (Instant::now(), 0, Duration::ZERO);
    let mut slowest = f64::INFINITY;
    let mut thousand = Instant::now();
    let error = loop {
        let since = Instant::now();
        match update(&mut writer, &hot, 0, count) {
            Ok(()) => count += 1,
            Err(error) => break error,
        }
        longest = longest.max(since.elapsed());
        if count % 10_000 == 0 {
            slowest = slowest.min(10_000.0 / thousand.elapsed().as_secs_f64());
            thousand = Instant::now();
        }
        if since.elapsed() > Duration::from_secs(10) {
            break Error::RolledBack("one update took over ten seconds".into());
        }
    };
    println!(
        "{count} updates until the room of {pages} pages was full, {:.0}/s, {slowest:.0}/s in the \
         slowest 10,000, the longest {:.3} ms:\n  {error}",
        count as f64 / since.elapsed().as_secs_f64(),
        longest.as_secs_f64() * 1e3,
    );
    drop(snapshot);
    let (ended, mut refused) = (Instant::now(), 0);
    while let Err(error) = update(&mut writer, &hot, 0, count) {
        refused += 1;
        if ended.elapsed() > Duration::from_secs(30) {
            println!("  30 s and {refused} refusals after the snapshot's end still: {error}");
            return Ok(());
        }
    }
    println!(
        "  after the snapshot's end the writer went on in {:.3} ms, after {refused} more refusals",
        ended.elapsed().as_secs_f64() * 1e3
    );
    Ok(())
}
