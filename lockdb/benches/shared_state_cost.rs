// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the shared state costs: bytes for each changed row, time to collect it, and how fast a
//! device reads a snapshot with it.
//!
//! `cargo bench -p lockdb --bench shared_state_cost`

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockdb::device_reader::{DeviceReader, MappedPages};
use lockdb::schema::{Schema, Type};
use lockdb::{
    Database, Durability, Isolation, Options, Result, Session, Table, TransactionOptions,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const ROWS: i64 = 100_000;
const UNSYNCED: TransactionOptions =
    TransactionOptions { isolation: Isolation::Snapshot, durability: Durability::None };

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let options = Options {
        shared_state_limit: 64 << 20,
        maintenance: false,
        log_ring: 64 << 20,
        ..Options::default()
    };
    let store = Database::open(folder.path(), options)?;
    let table = store.create_table(
        Schema::builder("account")
            .column("id", Type::Int64)
            .column("balance", Type::Int64)
            .column("name", Type::Fixed(48))
            .primary_key(&["id"])
            .build()?,
    )?;
    let mut session = store.session()?;
    for first in (0..ROWS).step_by(1000) {
        session.transaction(UNSYNCED, |transaction| {
            (first..first + 1000).try_for_each(|id| {
                let name = format!("holder of account {id:010}");
                transaction.insert(&table, &[id.into(), 100.into(), name.as_str().into()])
            })
        })?;
    }
    store.checkpoint()?;
    scan(&store, &folder, "all rows on storage, in order of VIDs")?;
    let mut random = ChaCha8Rng::seed_from_u64(1);
    println!("{ROWS} rows of 72 bytes; each row changed once, at random, since the flush");
    for changed in [1, 10, 100, 1_000, 10_000, 100_000] {
        store.checkpoint()?;
        update(&mut session, &table, &mut random, changed)?;
        collect(&store, changed)?;
    }
    store.checkpoint()?;
    scan(&store, &folder, "all rows on storage, in any order")?;
    update(&mut session, &table, &mut random, 10_000)?;
    scan(&store, &folder, "10,000 of them in the shared state")?;
    Ok(())
}

fn update(
    session: &mut Session,
    table: &Arc<Table>,
    random: &mut ChaCha8Rng,
    rows: i64,
) -> Result<()> {
    let first = random.random_range(0..ROWS);
    for step in 0..rows {
        // Each row once, all over the table.
        let id = (first + step * 61_803) % ROWS;
        session.transaction(UNSYNCED, |transaction| {
            let found = transaction.update(table, &id, |row| {
                row.set_int(1, step);
                Ok(())
            })?;
            assert!(found.is_some());
            Ok::<_, lockdb::Error>(())
        })?;
    }
    Ok(())
}

fn collect(store: &Database, changed: i64) -> Result<()> {
    let mut best = Duration::MAX;
    for _ in 0..20 {
        let since = Instant::now();
        drop(store.shared_state()?);
        best = best.min(since.elapsed());
    }
    let state = store.shared_state()?;
    let (bytes, header) = (state.bytes().len(), state.header());
    println!(
        "{changed:>7} rows: {bytes:>9} bytes ({:>7.1} a row), {:>5} pages, collected in {best:?} \
         ({:.0} MB/s)",
        bytes as f64 / changed as f64,
        header.pages,
        bytes as f64 / best.as_secs_f64() / 1e6,
    );
    Ok(())
}

fn scan(
    store: &Database,
    folder: &tempfile::TempDir,
    what: &str,
) -> Result<(), Box<dyn std::error::Error>> {
    let state = store.shared_state()?;
    let pages = MappedPages::open(folder.path().join("pages"))?;
    let mut best = [Duration::MAX; 2];
    for _ in 0..10 {
        let since = Instant::now();
        let device = DeviceReader::open(&pages, state.bytes())?;
        best[0] = best[0].min(since.elapsed());
        let since = Instant::now();
        let mut rows = 0;
        device.element(0, state.snapshot())?.visit(|_| {
            rows += 1;
            ControlFlow::Continue(())
        })?;
        best[1] = best[1].min(since.elapsed());
        assert_eq!(rows, ROWS);
    }
    let rate = ROWS as f64 / best[1].as_secs_f64() / 1e6;
    println!("{what}: opened in {:?}, one element reads {rate:.1} million rows/s", best[0]);
    Ok(())
}
