// SPDX-License-Identifier: MIT OR Apache-2.0
//! Folders that are no store, or somebody's already, and the lock table of one that died.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lockdb::files::{Files, Memory};
use lockdb::{Database, Error, Options};
use locks::{Backing, HeldLocks, LockTable, Policy, Statistics, Timestamp, TupleKey, Waiting};

use super::model::{rows, schema, values};

fn options() -> Options {
    Options::small()
}

fn message(opened: Result<Database, Error>) -> String {
    opened.expect_err("no store").to_string()
}

#[test]
fn an_empty_folder_becomes_a_store() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["", "made/on/the/way"] {
        let place = folder.path().join(name);
        let store = Database::open(&place, options()).expect("a new store");
        store.create_table(schema("one")).expect("a new table");
        drop(store);
        let store = Database::open(&place, options()).expect("the same");
        assert_eq!(store.tables().len(), 1);
    }
}

#[test]
fn a_store_that_is_open_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = Database::open(folder.path(), options()).expect("a new store");
    match Database::open(folder.path(), options()) {
        Err(Error::System { what, source }) => {
            assert_eq!(source.kind(), ErrorKind::WouldBlock);
            assert!(what.contains(&folder.path().display().to_string()), "{what}");
        }
        other => panic!("{other:?}"),
    }
    drop(first);
    Database::open(folder.path(), options()).expect("the folder is free now");
}

#[test]
fn what_is_no_folder_or_may_not_be_read_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "text").expect("a file");
    assert!(message(Database::open(&file, options())).contains("file"));
    let locked = folder.path().join("locked");
    drop(Database::open(&locked, options()).expect("a new store"));
    fs::set_permissions(locked.join("pages"), fs::Permissions::from_mode(0o000)).expect("ours");
    // The system lets its administrator read everything.
    if fs::File::open(locked.join("pages")).is_err() {
        assert!(message(Database::open(&locked, options())).contains("pages"));
    }
}

/// Files of other programs, by the names of ours.
#[test]
fn foreign_files_are_refused_and_left_as_they_are() {
    let text = b"Dear diary,\ntoday I wrote a file of my own.\n".to_vec();
    let long = text.repeat(1000);
    let empty_segment = {
        let files = Memory::new();
        drop(Database::open_in(Arc::new(files.clone()) as Arc<dyn Files>, options()).expect("new"));
        let file = files.open("log-0000000000000000").expect("its log");
        let mut bytes = vec![0; file.len().expect("memory") as usize];
        file.read_at(0, &mut bytes).expect("memory");
        bytes
    };
    for (name, bytes) in [
        ("pages", &text),
        ("pages", &long),
        ("log-0000000000000000", &long),
        ("log-00000000000000f0", &empty_segment),
    ] {
        let files = Memory::new();
        files.create(name).and_then(|file| file.write_at(0, bytes)).expect("memory");
        let error = message(Database::open_in(Arc::new(files.clone()), options()));
        assert!(error.contains("pages") || error.contains("log"), "{name}: {error}");
        let file = files.open(name).expect("it is still there");
        assert_eq!(file.len().expect("memory"), bytes.len() as u64, "{name}: {error}");
    }
}

#[test]
fn another_version_is_refused_by_its_number() {
    let files = Memory::new();
    let open = || Database::open_in(Arc::new(files.clone()) as Arc<dyn Files>, options());
    open().expect("a new store").close().expect("memory");
    let pages = files.open("pages").expect("its pages");
    for slot in 0..2 {
        pages.write_at(slot * 8192 + 8, &7_u32.to_le_bytes()).expect("memory");
    }
    let error = message(open());
    assert!(error.contains("version 7") && error.contains("version 1"), "{error}");
}

#[test]
fn a_store_larger_than_the_options_is_refused() {
    let files = Memory::new();
    let open = |options| Database::open_in(Arc::new(files.clone()) as Arc<dyn Files>, options);
    let store = open(options()).expect("a new store");
    let table = store.create_table(schema("one")).expect("a new table");
    let row = super::model::Row { balance: 1, owner: Some("x".repeat(500)) };
    let inserted = store.transaction(|transaction| {
        (0..200).try_for_each(|id| transaction.insert(&table, &values(id, &row)))
    });
    inserted.expect("new rows");
    let before = rows(&store).expect("as it should be");
    drop((table, store));
    // By its log first, then by its checkpoint.
    for closed in [false, true] {
        if closed {
            open(options()).expect("large enough").close().expect("memory");
        }
        for small in [Options { pages: 4, ..options() }, Options { tuples: 100, ..options() }] {
            let error = open(small).expect_err("too small");
            assert!(matches!(error, Error::Full { .. }), "{error}");
        }
    }
    assert_eq!(rows(&open(options()).expect("large enough")).expect("all of it"), before);
}

/// A dead process leaves locks and places in queues behind; the next opening removes them.
#[test]
fn the_locks_of_the_dead_are_taken_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("locks");
    let options = Options { lock_file: Some(path.clone()), ..options() };
    let open = || Database::open(folder.path().join("store"), options.clone());
    let store = open().expect("a new store");
    assert_eq!(store.recovery().locks_repaired, 0);
    let error = message(Database::open(folder.path().join("other"), options.clone()));
    assert!(error.contains("locks for this store alone"), "{error}");
    drop(store);
    let dead = leave_locks_behind(&path, options.lock_buckets);
    let store = open().expect("the same store");
    assert_eq!(store.recovery().locks_repaired, dead);
    assert!(names(store.lock_table()).is_empty(), "a lock of the dead is left");
    let table = store.create_table(schema("one")).expect("a new table");
    let row = super::model::Row { balance: 1, owner: None };
    let inserted = store.transaction(|transaction| {
        (0..50).try_for_each(|id| transaction.insert(&table, &values(id, &row)))
    });
    inserted.expect("all rows can be locked");
}

#[test]
fn a_file_that_is_no_lock_table_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("letter");
    let options = Options { lock_file: Some(path.clone()), ..options() };
    let bytes = options.lock_buckets * 64;
    let refused = |text: &[u8]| {
        fs::write(&path, text).expect("a file");
        let error = message(Database::open(folder.path().join("store"), options.clone()));
        assert_eq!(fs::read(&path).expect("the file"), text, "{error}");
        error
    };
    let letter = "Dear Sir, this is no lock table. ".repeat(bytes);
    let error = refused(&letter.as_bytes()[..bytes + 1]);
    assert!(error.contains("letter of 16385 bytes: expected an empty file, or"), "{error}");
    let error = refused(&letter.as_bytes()[..bytes]);
    assert!(error.contains("letter, byte 0: no bucket of a lock table"), "{error}");
    // One word at a time: a waiter without a slot, a slot that is no timestamp.
    let mut image = vec![0; bytes];
    image[64..72].copy_from_slice(&(1_u64 << 16 | 1 << 9 | 1 << 6).to_le_bytes());
    assert!(
        refused(&image).ends_with("byte 64: no bucket of a lock table: who waits stands in a slot")
    );
    image[72] = 1;
    assert!(refused(&image).ends_with("a slot holds a timestamp, in its upper 48 bits"));
}

/// The lock table as a process leaves it that is killed while transactions hold locks and others
/// wait for them. Says how many there are.
fn leave_locks_behind(path: &Path, buckets: usize) -> usize {
    const PAIRS: u64 = 8;
    let file = fs::File::options().read(true).write(true).open(path).expect("the lock table");
    let table = LockTable::in_memory(buckets, Backing::Shared(&file)).expect("mapped once more");
    let name = |age| Timestamp::of_attempt(age, 0).expect("few ages");
    let (done, begun) = (AtomicBool::new(false), Instant::now());
    let image = thread::scope(|scope| {
        for pair in 0..PAIRS {
            let (table, done, key) = (&table, &done, TupleKey::new(pair, 1));
            let mut held = HeldLocks::new(name(1000 + pair));
            let nowait = Waiting { policy: Policy::NoWait, ..Waiting::default() };
            // Two keys may share a bucket: then one pair is enough for it.
            if held.lock(table, key, &nowait, &mut Statistics::default()).is_err() {
                continue;
            }
            scope.spawn(move || {
                while !done.load(Ordering::SeqCst) {
                    thread::sleep(Duration::from_millis(1));
                }
                held.release_to(0, table, &mut Statistics::default()).expect("still its own");
            });
            scope.spawn(move || {
                let policy = Policy::WaitsFor { every: Duration::from_secs(1) };
                let mut waiter = HeldLocks::new(name(2000 + pair));
                let waiting = Waiting { policy, ..Waiting::default() };
                let locked = waiter.lock(table, key, &waiting, &mut Statistics::default());
                locked.expect("in the end it is free");
                waiter.release_to(0, table, &mut Statistics::default()).expect("still its own");
            });
        }
        while names(&table).len() < 2 * PAIRS as usize - 4 {
            assert!(begun.elapsed() < Duration::from_secs(20), "waited for waiters to queue");
            thread::sleep(Duration::from_millis(1));
        }
        let image = fs::read(path).expect("the lock table as it stands");
        done.store(true, Ordering::SeqCst);
        image
    });
    assert!(names(&table).is_empty(), "all were released");
    fs::write(path, image).expect("the lock table as it was left");
    names(&table).len()
}

/// The transactions in a lock table.
fn names(table: &LockTable) -> BTreeSet<Timestamp> {
    let words = table.buckets().iter().flat_map(|bucket| bucket.line());
    words.filter_map(Timestamp::of_word).collect()
}
