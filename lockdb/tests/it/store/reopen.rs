// SPDX-License-Identifier: MIT OR Apache-2.0
//! A store on files, closed and opened again.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use lockdb::files::{Files, Memory};
use lockdb::layout::{PAGE_BYTES, Page, PageBuffer, RecordId};
use lockdb::memory::Home;
use lockdb::schema::{RowRef, Schema, Type};
use lockdb::{Database, Error, Options, Table};

fn accounts() -> Schema {
    Schema::builder("account")
        .column("id", Type::Int64)
        .column("balance", Type::Int64)
        .nullable_column("owner", Type::Text)
        .primary_key(&["id"])
        .index("by_owner", &["owner"])
        .build()
        .unwrap()
}

fn open(files: &Arc<dyn Files>) -> Database {
    Database::open_in(files.clone(), Options::small()).unwrap()
}

fn rows(store: &Database) -> BTreeMap<i64, i64> {
    let table = store.table("account").unwrap();
    let read = store.transaction(|transaction| {
        let mut rows = BTreeMap::new();
        transaction.scan(&table, |row| {
            rows.insert(row.int(0), row.int(1));
            ControlFlow::Continue(())
        })?;
        Ok::<_, Error>(rows)
    });
    read.unwrap()
}

fn put(store: &Database, table: &Table, id: i64, balance: i64) {
    let written = store.transaction(|transaction| {
        let owner = format!("owner {}", balance % 7);
        let changed = transaction.update(table, &id, |row| {
            row.set_int(1, balance);
            Ok(row.set(2, owner.as_str())?)
        })?;
        if changed.is_none() {
            transaction.insert(table, &[id.into(), balance.into(), owner.into()])?;
        }
        Ok::<_, Error>(())
    });
    written.unwrap();
}

/// Many rounds of changes, with and without a checkpoint between, each followed by an opening.
#[test]
fn what_was_committed_is_there_after_every_opening() {
    let files: Arc<dyn Files> = Arc::new(Memory::new());
    let mut expected = BTreeMap::new();
    let mut state = 7_u64;
    for round in 0..40 {
        let store = open(&files);
        if round == 0 {
            store.create_table(accounts()).unwrap();
        }
        assert_eq!(rows(&store), expected, "round {round}: {:?}", store.recovery());
        let table = store.table("account").unwrap();
        for step in 0..200 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (id, balance) = ((state >> 40) as i64 % 500, (state >> 50) as i64);
            if state >> 33 & 7 == 0 {
                let gone = store.transaction(|transaction| transaction.delete(&table, &id));
                assert_eq!(gone.unwrap(), expected.remove(&id).is_some());
            } else {
                put(&store, &table, id, balance);
                expected.insert(id, balance);
            }
            if round % 3 == 1 && step % 70 == 30 {
                store.checkpoint().unwrap();
            }
        }
        if round % 4 == 2 {
            store.close().unwrap();
        }
        assert_eq!(rows(&store), expected);
    }
    // The indexes say the same.
    let store = open(&files);
    let table = store.table("account").unwrap();
    for owner in 0..7 {
        let owner = format!("owner {owner}");
        let mut found = BTreeMap::new();
        let read = store.transaction(|transaction| {
            found.clear();
            let key = owner.as_str();
            transaction.range_by(&table, "by_owner", key..=key, Default::default(), |row| {
                found.insert(row.int(0), row.int(1));
                ControlFlow::Continue(())
            })
        });
        read.unwrap();
        let mut of_owner = expected.clone();
        of_owner.retain(|_, balance| format!("owner {}", *balance % 7) == owner);
        assert_eq!(found, of_owner, "{owner}");
    }
}

/// A device, or another process, finds a row by the files alone.
#[test]
fn frames_and_maps_are_plain_arrays_for_whoever_maps_them() {
    let folder = tempfile::tempdir().unwrap();
    let memory = Home::Folder(folder.path().into());
    let store = Database::in_memory(Options { memory, ..Options::small() }).unwrap();
    let table = store.create_table(accounts()).unwrap();
    for id in 0..300 {
        put(&store, &table, id, id * 10);
        put(&store, &table, id, id * 100);
    }
    let read = |name: &str, offset: u64, bytes: &mut [u8]| {
        let file = std::fs::File::open(folder.path().join(name)).unwrap();
        std::os::unix::fs::FileExt::read_exact_at(&file, bytes, offset).unwrap();
    };
    for id in 0..300 {
        let vid = store.vid_of(&table, &id).unwrap().unwrap();
        let mut word = [0; 8];
        read("vid-map-0", u64::from(vid) * 8, &mut word);
        let record = RecordId::from_word(u64::from_le_bytes(word));
        let mut page = PageBuffer::ZERO;
        read("frames", record.page() * PAGE_BYTES as u64, &mut page.0);
        let (version, payload, tombstone) =
            Page::new(&page.0).version(usize::from(record.line())).unwrap();
        assert_eq!((version.vid, version.version, tombstone), (vid, 2, false));
        assert_eq!(RowRef::new(table.schema(), payload).int(1), id * 100);
        let mut word = [0; 8];
        read("page-map", record.page() * 8, &mut word);
        assert_eq!(u64::from_le_bytes(word), 1 << 63, "in memory, and on no storage");
    }
}

/// The store's own thread keeps the log short, so that opening stays quick.
#[test]
fn a_long_log_makes_a_checkpoint() {
    let files: Arc<dyn Files> = Arc::new(Memory::new());
    let small = Options { checkpoint_log: 1 << 16, log_segment: 1 << 14, ..Options::small() };
    let options = Options { maintenance: true, ..small };
    let store = Database::open_in(files.clone(), options).unwrap();
    let table = store.create_table(accounts()).unwrap();
    let since = std::time::Instant::now();
    let mut id = 0;
    while files.list().unwrap().iter().any(|name| name == "log-0000000000000000") {
        put(&store, &table, id % 100, id);
        id += 1;
        // It looks around each second.
        if id % 1000 == 0 {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        assert!(since.elapsed().as_secs() < 60, "no checkpoint in a minute, {id} commits");
    }
}
