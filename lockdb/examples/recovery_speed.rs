//! How fast a store recovers: the log that it does again, and a clean store that it opens.
//!
//! `cargo run --release -p lockdb --example recovery_speed [FOLDER [LOG_MB [STORE_MB]]]` prints one
//! JSON object a line. The files are written first and are in the system's cache when they are read:
//! what is measured is the store, not the disk. A floor is the same bytes read and checksummed by the
//! same thread.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lockdb::store::layout::{PAGE_BYTES, Page, PageKind};
use lockdb::store::schema::{Schema, Type};
use lockdb::store::{Database, Error, Isolation, Options, Sync, TransactionOptions};

const UNSYNCED: TransactionOptions =
    TransactionOptions { isolation: Isolation::Snapshot, sync: Sync::None };
const ACCOUNTS: i64 = 100_000;
const MB: u64 = 1 << 20;

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let parent = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let megabytes =
        |text: Option<String>, default: u64| text.map_or(Ok(default), |text| text.parse());
    let log = megabytes(arguments.next(), 512)? * MB;
    let pages = megabytes(arguments.next(), 1024)? * MB;
    let folder = Folder(parent.join(format!("recovery-speed-{}", std::process::id())));
    replay(&folder.0.join("log"), log)?;
    open_clean(&folder.0.join("pages"), pages)
}

/// Removed at the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn options(maintenance: bool) -> Options {
    Options { maintenance, ..Options::default() }
}

fn schema() -> Result<Schema, Error> {
    let schema = Schema::builder("account")
        .column("id", Type::Int64)
        .column("balance", Type::Int64)
        .column("owner", Type::Text)
        .primary_key(&["id"])
        .build()?;
    Ok(schema)
}

/// Inserts rows until the store has so many pages; of 100 bytes each, in no order of their keys.
fn fill(store: &Database, enough: impl Fn(&Database, i64) -> bool) -> Outcome<i64> {
    let table = store.create_table(schema()?)?;
    let mut session = store.session()?;
    let mut rows = 0;
    while !enough(store, rows) {
        session.transaction(UNSYNCED, |transaction| {
            for id in rows..rows + 1000 {
                // A bijection of 63 bits, so that keys come in no order.
                let id = (id as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1;
                let owner = "o".repeat(68);
                transaction.insert(&table, &[(id as i64).into(), 100.into(), owner.into()])?;
            }
            Ok::<_, Error>(())
        })?;
        rows += 1000;
    }
    Ok(rows)
}

/// Redo of transfers between two of 100,000 rows, each of its own commit.
fn replay(folder: &Path, bytes: u64) -> Outcome {
    let store = Database::open(folder, options(false))?;
    let table = store.create_table(schema()?)?;
    store.transaction(|transaction| {
        for id in 0..ACCOUNTS {
            transaction.insert(&table, &[id.into(), 100.into(), "owner".into()])?;
        }
        Ok::<_, Error>(())
    })?;
    store.checkpoint()?;
    let mut session = store.session()?;
    let mut state = 1_u64;
    let mut draw = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as i64 % ACCOUNTS
    };
    // A record of 40 bytes with two changes of 14 and their rows.
    let transfers = bytes / 160;
    for _ in 0..transfers {
        let (from, to) = (draw(), draw());
        session.transaction(UNSYNCED, |transaction| {
            transaction.update(&table, &from, |row| Ok(row.set_int(1, row.as_row().int(1) - 1)))?;
            transaction.update(&table, &to, |row| Ok(row.set_int(1, row.as_row().int(1) + 1)))
        })?;
    }
    drop((session, table, store));
    let floor = read_log(folder)?;
    let since = Instant::now();
    let store = Database::open(folder, options(true))?;
    let opened = since.elapsed().as_secs_f64();
    read_one(&store, 0)?;
    let indexed = since.elapsed().as_secs_f64();
    let bytes = store.recovery().log_bytes as f64 / 1e6;
    report("recovery_replay", "MB/s", bytes / opened, floor, Some(200.0), true);
    report("recovery_replay_with_indexes", "MB/s", bytes / indexed, floor, None, true);
    Ok(())
}

fn read_one(store: &Database, id: i64) -> Outcome {
    let table = store.table("account")?;
    let found =
        store.transaction(|transaction| Ok::<_, Error>(transaction.get(&table, &id)?.is_some()))?;
    assert!(found, "row {id} is there");
    Ok(())
}

/// The log's files, read and checksummed: MB/s.
fn read_log(folder: &Path) -> Outcome<f64> {
    let (mut bytes, since) = (0, Instant::now());
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("log-")) {
            bytes += checksum(&path, |_| true)?.0;
        }
    }
    Ok(bytes as f64 / 1e6 / since.elapsed().as_secs_f64())
}

/// Reads a file page by page and checksums those that `wanted` wants: bytes, and seconds for these.
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

/// Opening a store that was closed in order: until it is open, and until its indexes stand.
fn open_clean(folder: &Path, bytes: u64) -> Outcome {
    let store = Database::open(folder, options(false))?;
    let full = |store: &Database, _| store.pages_in_use() * PAGE_BYTES as u64 >= bytes;
    let rows = fill(&store, full)?;
    store.close()?;
    drop(store);
    let file = folder.join("pages");
    let is_map = |page: &[u8; PAGE_BYTES]| Page::new(page).header().kind != PageKind::Data as u32;
    let (_, maps) = checksum(&file, is_map)?;
    let (all, everything) = checksum(&file, |_| true)?;
    let since = Instant::now();
    let store = Database::open(folder, options(true))?;
    let opened = since.elapsed().as_secs_f64();
    read_one(&store, 0)?;
    let indexed = since.elapsed().as_secs_f64();
    eprintln!("{rows} rows, {} MB of pages", all / 1_000_000);
    report("open_clean_store", "s", opened, maps, Some(1.0), false);
    report("open_clean_store_with_indexes", "s", indexed, everything, None, false);
    Ok(())
}

/// One line; without a goal, `goal` and `met` are null.
fn report(
    bench: &str,
    unit: &str,
    value: f64,
    floor: f64,
    goal: Option<f64>,
    more_is_better: bool,
) {
    let met = goal.map(|goal| if more_is_better { value >= goal } else { value <= goal });
    let text = |number: Option<String>| number.unwrap_or("null".into());
    println!(
        r#"{{"bench":"{bench}","unit":"{unit}","value":{value:.3},"floor":{floor:.3},"ratio":{:.3},"goal":{},"met":{}}}"#,
        value / floor,
        text(goal.map(|goal| goal.to_string())),
        text(met.map(|met| met.to_string())),
    );
}
