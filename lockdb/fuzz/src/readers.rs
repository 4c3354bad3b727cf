// SPDX-License-Identifier: MIT OR Apache-2.0
// Readers of untrusted bytes. Each must answer any bytes with a value or a typed error: never with
// a panic, never without end. Where a checksum would stop all damage at the door, it is made right
// first, so that what lies behind is tried as well.

use std::ops::ControlFlow;
use std::sync::Arc;

use lockdb::device_reader::DeviceReader;
use lockdb::files::{Files, Memory};
use lockdb::layout::{PAGE_BYTES, Page, PageBuffer, PageKind, Place, Superblock};
use lockdb::log::{LogPosition, Reader};
use lockdb::schema::{CsvRows, RowBuffer, Schema, Type};
use lockdb::{Database, Error, Options};

const LOG: &str = "log-0000000000000000";
const PAGES: &str = "pages";

fn folder(files: &[(&str, &[u8])]) -> Arc<dyn Files> {
    let folder = Memory::new();
    for (name, bytes) in files {
        let file = folder.create(name).expect("a write to memory succeeds");
        file.write_at(0, bytes).expect("a write to memory succeeds");
    }
    Arc::new(folder)
}

fn bytes_of(files: &dyn Files, name: &str) -> Vec<u8> {
    let file = files.open(name).expect("a file that was made");
    let mut bytes = vec![0; file.len().expect("memory tells") as usize];
    file.read_at(0, &mut bytes).expect("memory tells");
    bytes
}

fn table() -> Schema {
    Schema::builder("account")
        .column("id", Type::Int64)
        .column("balance", Type::Int64)
        .nullable_column("owner", Type::Text)
        .primary_key(&["id"])
        .index("by_owner", &["owner"])
        .build()
        .expect("a schema as it should be")
}

/// Pages and log of a small store, from the corpus.
const SAMPLE_PAGES: &[u8] = include_bytes!("../corpus/pages_of_store/sample");
const SAMPLE_LOG: &[u8] = include_bytes!("../corpus/log_of_store/sample");

/// Makes such a store: its pages, and its log from the beginning.
pub fn make_sample() -> (Vec<u8>, Vec<u8>) {
    let files: Arc<dyn Files> = Arc::new(Memory::new());
    let store = Database::open_in(files.clone(), Options::small()).expect("a new store");
    let accounts = store.create_table(table()).expect("a new table");
    for round in 0..2 {
        for id in 0..8_i64 {
            let changed = store.transaction(|transaction| {
                let id = id + round * 4;
                transaction.delete(&accounts, &id)?;
                let owner = format!("owner {}", id % 3);
                transaction.insert(&accounts, &[id.into(), round.into(), owner.into()])
            });
            changed.expect("no transaction conflicts");
        }
        if round == 0 {
            store.checkpoint().expect("a write to memory succeeds");
        }
    }
    drop((accounts, store));
    (bytes_of(&*files, PAGES), bytes_of(&*files, LOG))
}

/// Opens a store, and reads and changes all of it as far as that goes.
fn use_store(files: Arc<dyn Files>) -> Result<u64, Error> {
    let store = Database::open_in(files, Options::small())?;
    let mut rows = 0;
    for table in store.tables() {
        store.transaction(|transaction| {
            transaction.scan(&table, |row| {
                rows += 1;
                std::hint::black_box(row.values().count());
                ControlFlow::Continue(())
            })
        })?;
        if let Some(index) = table.schema().indexes().first() {
            store.transaction(|transaction| {
                let visit = |_: lockdb::schema::RowRef<'_>| ControlFlow::Continue(());
                transaction.range_by::<&str>(&table, &index.name, .., Default::default(), visit)
            })?;
        }
    }
    store.vacuum()?;
    store.checkpoint()?;
    Ok(rows)
}

fn put_checksum(bytes: &mut [u8], at: usize, checksum: u32) {
    bytes[at..at + 4].copy_from_slice(&checksum.to_le_bytes());
}

/// Makes the checksums of a segment right, as far as its lengths lead.
fn renew_log_checksums(bytes: &mut [u8]) {
    if bytes.len() < 64 {
        return;
    }
    let header = crc32c::crc32c_append(crc32c::crc32c(&bytes[..12]), &bytes[16..64]);
    put_checksum(bytes, 12, header);
    let mut rest = &mut bytes[64..];
    while rest.len() >= 40 {
        let length = u32::from_le_bytes(rest[4..8].try_into().expect("four bytes")) as usize;
        if length < 40 || length > rest.len() {
            break;
        }
        let end = length.saturating_sub(usize::from(rest[1])).max(40);
        let body = crc32c::crc32c(&rest[40..end]);
        put_checksum(rest, 32, body);
        let header = crc32c::crc32c(&rest[..36]);
        put_checksum(rest, 36, header);
        rest = &mut rest[length..];
    }
}

/// Makes the checksums of all pages and superblocks right.
fn renew_page_checksums(bytes: &mut [u8]) {
    for (number, page) in bytes.chunks_exact_mut(PAGE_BYTES).enumerate() {
        match number {
            0 | 1 => {
                let checksum = crc32c::crc32c(&page[16..Superblock::BYTES]);
                put_checksum(page, 12, checksum);
            }
            _ => {
                let checksum = crc32c::crc32c(&page[8..]);
                put_checksum(page, 4, checksum);
            }
        }
    }
}

/// A segment of a log, as it stands and with its checksums made right.
pub fn log(data: &[u8]) {
    let mut with_new_checksum = data.to_vec();
    renew_log_checksums(&mut with_new_checksum);
    for bytes in [data, &with_new_checksum] {
        let store = bytes.get(16..24).map_or(0, |id| u64::from_le_bytes(id.try_into().expect("8")));
        let from = LogPosition { store, ..LogPosition::default() };
        let Ok(mut reader) = Reader::open(folder(&[(LOG, bytes)]), from) else { continue };
        while let Ok(Some(record)) = reader.read() {
            std::hint::black_box(record.body.len());
        }
    }
}

/// The log of a store whose pages are whole.
pub fn log_of_store(data: &[u8]) {
    let mut bytes = data.to_vec();
    renew_log_checksums(&mut bytes);
    let _ = std::hint::black_box(use_store(folder(&[(PAGES, SAMPLE_PAGES), (LOG, &bytes)])));
}

/// The pages of a store whose log is whole.
pub fn pages_of_store(data: &[u8]) {
    let mut bytes = data.to_vec();
    renew_page_checksums(&mut bytes);
    let _ = std::hint::black_box(use_store(folder(&[(PAGES, &bytes), (LOG, SAMPLE_LOG)])));
}

/// One page of any kind.
pub fn page(data: &[u8]) {
    let mut buffer = PageBuffer::ZERO;
    let length = data.len().min(PAGE_BYTES);
    buffer.0[..length].copy_from_slice(&data[..length]);
    let header = Page::new(&buffer.0).header();
    for finalize in [false, true] {
        if finalize {
            buffer.finalize(header);
        }
        for kind in [PageKind::Data, PageKind::VidMap, PageKind::PageMap, PageKind::Directory] {
            let Ok(page) = Page::verified(&buffer.0, kind, header.page) else { continue };
            std::hint::black_box(page.words().count() + page.directory_bytes().1.len());
            if kind == PageKind::Data && page.header().page != 0 && page.header().page < 1 << 56 {
                std::hint::black_box(page.versions().count());
            }
        }
    }
}

/// A superblock.
pub fn superblock(data: &[u8]) {
    let mut bytes = [0; Superblock::BYTES];
    let length = data.len().min(bytes.len());
    bytes[..length].copy_from_slice(&data[..length]);
    let _ = std::hint::black_box(Superblock::decode(&bytes));
    let checksum = crc32c::crc32c(&bytes[16..]);
    put_checksum(&mut bytes, 12, checksum);
    if let Ok(superblock) = Superblock::decode(&bytes) {
        assert_eq!(superblock.encode(), bytes);
        let mut pages = SAMPLE_PAGES.to_vec();
        for slot in 0..2 {
            pages[slot * PAGE_BYTES..][..bytes.len()].copy_from_slice(&bytes);
        }
        let _ = std::hint::black_box(use_store(folder(&[(PAGES, &pages), (LOG, SAMPLE_LOG)])));
    }
}

/// A directory, in the pages that it takes.
pub fn directory(data: &[u8]) {
    let store = 7;
    let chunks: Vec<&[u8]> = data.chunks(lockdb::layout::DIRECTORY_BYTES).collect();
    let mut pages = vec![0; 2 * PAGE_BYTES];
    let superblock = Superblock {
        store,
        epoch: 0,
        redo_lsn: 0,
        redo_commit: 0,
        redo_epoch: 0,
        directory: Place::new(2, 0).word(),
        directory_bytes: data.len() as u64,
    };
    pages[..Superblock::BYTES].copy_from_slice(&superblock.encode());
    for (at, chunk) in chunks.iter().enumerate() {
        let next = if at + 1 < chunks.len() { Place::new(at as u64 + 3, 0).word() } else { 0 };
        let mut page = PageBuffer::directory(at as u64, next, chunk);
        page.finalize(lockdb::layout::PageHeader { store, ..Page::new(&page.0).header() });
        pages.extend(page.0);
    }
    let _ = std::hint::black_box(use_store(folder(&[(PAGES, &pages)])));
}

/// A schema.
pub fn schema(data: &[u8]) {
    if let Ok(schema) = Schema::decode(data) {
        let again = Schema::decode(&schema.encode()).expect("what was decoded can be encoded");
        assert_eq!(again.encode(), schema.encode());
    }
}

/// Rows as CSV.
pub fn csv(data: &[u8]) {
    let schema = table();
    let mut row = RowBuffer::new(&schema);
    let Ok(mut rows) = CsvRows::new(&schema, data) else { return };
    while let Ok(true) = rows.read_into(&mut row) {
        schema.check(row.as_row().payload()).expect("a row that was read fits its schema");
    }
}

/// A shared state, over pages that are whole.
pub fn shared_state(data: &[u8]) {
    if let Ok(reader) = DeviceReader::open(SAMPLE_PAGES, data) {
        std::hint::black_box(reader.tables().len());
    }
}
