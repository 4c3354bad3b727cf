// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast a store is opened: the log that it does again, and a store that was closed in order.
//!
//! The files were written just before and are in the system's cache: what is measured is the store,
//! not the disk. A floor is the same bytes, read and checksummed by one thread.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use lockdb::layout::{PAGE_BYTES, Page, PageKind};
use lockdb::schema::{RowBuffer, Schema, Type};
use lockdb::{Database, Durability, Error, Isolation, Options, Session, Table, TransactionOptions};

use super::{Goal, Measurement, Size};
use terminal::Progress;

const UNSYNCED: TransactionOptions =
    TransactionOptions { isolation: Isolation::Snapshot, durability: Durability::None };
const ACCOUNTS: i64 = 100_000;

/// Bytes of log, and of pages.
const LOG: u64 = 512 << 20;
const PAGES: u64 = 1 << 30;

/// A record: 40 bytes, and two changes of 14 with a row of 48 each, padded.
const TRANSFER: u64 = 168;

/// Measures both.
///
/// # Errors
/// When a folder for the store cannot be created, or the store fails.
pub fn measure(size: Size, progress: &mut Progress) -> Result<Vec<Measurement>, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("a folder for the store: {error}"))?;
    progress.set(0.05, "writing a log");
    let text = |error: Box<dyn std::error::Error>| error.to_string();
    let mut figures = replay(&folder.path().join("log"), size.of(LOG)).map_err(text)?;
    progress.set(0.4, "writing 1 GiB of pages");
    figures.extend(open_clean(&folder.path().join("pages"), size.of(PAGES)).map_err(text)?);
    Ok(figures)
}

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn open(folder: &Path, maintenance: bool) -> Result<Database, Error> {
    Database::open(folder, Options { maintenance, ..Options::default() })
}

fn schema() -> Result<Schema, Error> {
    let schema = Schema::builder("account")
        .column("id", Type::Int64)
        .column("balance", Type::Int64)
        .column("owner", Type::Text)
        .primary_key(&["id"]);
    Ok(schema.build()?)
}

/// Redo of transfers between two of many rows, each of its own commit.
fn replay(folder: &Path, bytes: u64) -> Outcome<Vec<Measurement>> {
    let store = open(folder, false)?;
    let table = store.create_table(schema()?)?;
    let mut session = store.session()?;
    insert(&mut session, &table, 0..ACCOUNTS, "owner", |row| row)?;
    store.checkpoint()?;
    let mut state = 1_u64;
    let mut draw = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64 % ACCOUNTS
    };
    for _ in 0..bytes / TRANSFER {
        let (from, to) = (draw(), draw());
        session.transaction(UNSYNCED, |transaction| {
            transaction.update(&table, &from, |row| add(row, -1))?;
            transaction.update(&table, &to, |row| add(row, 1))
        })?;
    }
    drop((session, table, store));
    let floor = read_log(folder)?;
    let since = Instant::now();
    let store = open(folder, true)?;
    let opened = since.elapsed().as_secs_f64();
    find(&store, 0)?;
    let indexed = since.elapsed().as_secs_f64();
    let megabytes = store.recovery().log_bytes as f64 / 1e6;
    Ok(vec![
        Measurement::new("recovery, log redone", "MB/s", megabytes / opened)
            .over(floor)
            .goal(Goal::AtLeast(200.0)),
        Measurement::new("recovery, indexes as well", "MB/s", megabytes / indexed).over(floor),
    ])
}

fn add(row: &mut RowBuffer, cents: i64) -> Result<(), Error> {
    row.set_int(1, row.as_row().int(1) + cents);
    Ok(())
}

/// Opening a store that was closed in order: until it is open, and until its indexes stand.
fn open_clean(folder: &Path, bytes: u64) -> Outcome<Vec<Measurement>> {
    let store = open(folder, false)?;
    let table = store.create_table(schema()?)?;
    let mut session = store.session()?;
    let owner = "o".repeat(68);
    let mut rows = 0;
    while rows == 0 || store.pages_in_use() * (PAGE_BYTES as u64) < bytes {
        insert(&mut session, &table, rows..rows + 1000, &owner, scattered)?;
        rows += 1000;
    }
    store.close()?;
    drop((session, table, store));
    let file = folder.join("pages");
    let is_map = |page: &[u8; PAGE_BYTES]| Page::new(page).header().kind != PageKind::Data as u32;
    let (_, maps) = checksum(&file, is_map)?;
    let (_, everything) = checksum(&file, |_| true)?;
    let since = Instant::now();
    let store = open(folder, true)?;
    let opened = since.elapsed().as_secs_f64();
    find(&store, scattered(0))?;
    let indexed = since.elapsed().as_secs_f64();
    Ok(vec![
        Measurement::new("opening, 1 GiB closed in order", "s", opened)
            .over(maps)
            .goal(Goal::AtMost(1.0)),
        Measurement::new("opening, until the indexes stand", "s", indexed).over(everything),
    ])
}

/// A bijection of 63 bits, so that keys come in no order.
fn scattered(row: i64) -> i64 {
    ((row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1) as i64
}

fn insert(
    session: &mut Session,
    table: &Table,
    rows: std::ops::Range<i64>,
    owner: &str,
    id: impl Fn(i64) -> i64,
) -> Result<(), Error> {
    session.transaction(UNSYNCED, |transaction| {
        for row in rows.clone() {
            transaction.insert(table, &[id(row).into(), 100.into(), owner.into()])?;
        }
        Ok(())
    })
}

fn find(store: &Database, id: i64) -> Outcome<()> {
    let table = store.table("account")?;
    let found =
        store.transaction(|transaction| Ok::<_, Error>(transaction.get(&table, &id)?.is_some()))?;
    if found { Ok(()) } else { Err(format!("row {id} is not there").into()) }
}

/// The log's files, read and checksummed: MB/s.
fn read_log(folder: &Path) -> Outcome<f64> {
    let (mut bytes, mut seconds) = (0, 0.0);
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("log-")) {
            let (read, taken) = checksum(&path, |_| true)?;
            (bytes, seconds) = (bytes + read, seconds + taken);
        }
    }
    Ok(bytes as f64 / 1e6 / seconds)
}

/// Reads a file page by page and checksums those that `wanted` wants: their bytes, and the seconds
/// that it took.
fn checksum(path: &Path, wanted: impl Fn(&[u8; PAGE_BYTES]) -> bool) -> Outcome<(u64, f64)> {
    let file = File::open(path)?;
    let (mut bytes, mut offset, mut seconds, mut sum) = (0, 0, 0.0, 0);
    let mut page = [0; PAGE_BYTES];
    while file.read_at(&mut page, offset)? > 0 {
        if wanted(&page) {
            let since = Instant::now();
            let read = file.read_at(&mut page, offset)?;
            sum ^= crc32c::crc32c(&page[..read]);
            seconds += since.elapsed().as_secs_f64();
            bytes += read as u64;
        }
        offset += PAGE_BYTES as u64;
    }
    std::hint::black_box(sum);
    Ok((bytes, seconds))
}
