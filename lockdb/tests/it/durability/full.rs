// SPDX-License-Identifier: MIT OR Apache-2.0
//! Disks that are full or cannot be written: what was acknowledged can be read, in the running store
//! and in one that is opened read-only; and the store continues when there is room.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use lockdb::files::Simulated;
use lockdb::schema::RowBuffer;
use lockdb::{Database, Durability, Error, Isolation, Options, Table, TransactionOptions};

use super::model::{History, Row, check, schema, values};
use super::points::survive;
use super::trouble::{all_is_well, must_be};
use super::workload::{Plan, Workload, open, open_read_only};

const TRANSACTIONS: u64 = 25;

/// Reads all rows at each level, which returns when what was read is durable. Says how many there are.
fn read_at_all_levels(store: &Database) -> usize {
    let levels = [Isolation::ReadCommitted, Isolation::Snapshot, Isolation::Serializable];
    let options = |isolation| {
        [Durability::Group, Durability::Immediate]
            .map(|durability| TransactionOptions { isolation, durability })
    };
    let counts = levels.into_iter().flat_map(options).map(|options| {
        let mut rows = 0;
        let read = store.transaction_with(options, |transaction| {
            rows = 0;
            store.tables().iter().try_for_each(|table| {
                transaction.scan(table, |_| {
                    rows += 1;
                    ControlFlow::Continue(())
                })
            })
        });
        read.unwrap_or_else(|error: Error| panic!("{options:?}: {error}"));
        rows
    });
    let counts: Vec<usize> = counts.collect();
    assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
    counts[0]
}

/// Opens a folder to be read only, which must change nothing there.
fn look(files: &Simulated, history: &History, least: u64) {
    let steps = files.steps();
    files.set_read_only_from(Some(0));
    match open_read_only(files) {
        Err(Error::NoStore { .. }) => assert_eq!(least, 0, "a store was begun"),
        Err(error) => panic!("opened to be read only: {error}"),
        Ok(store) => {
            check(&store, history, least).expect("what was acknowledged can be read");
            read_at_all_levels(&store);
            refuses_changes(&store);
        }
    }
    files.set_read_only_from(None);
    assert_eq!(files.steps(), steps, "something was written");
}

fn refuses_changes(store: &Database) {
    let refused = |outcome: Result<(), Error>| match outcome {
        Err(Error::ReadOnly { .. }) => {}
        other => panic!("{other:?}"),
    };
    refused(store.create_table(schema("new")).map(drop));
    refused(store.checkpoint().map(drop));
    let row = Row { balance: 1, owner: None };
    for table in store.tables() {
        refused(store.transaction(|transaction| transaction.insert(&table, &values(-1, &row))));
        refused(store.transaction(|transaction| transaction.delete(&table, &0).map(drop)));
        refused(store.transaction(|transaction| {
            let set = |row: &mut RowBuffer| {
                row.set_int(1, 5);
                Ok(())
            };
            transaction.update(&table, &0, set).map(drop)
        }));
    }
    store.close().expect("there is nothing to do");
}

/// The disk is full from any step of a workload on.
#[test]
fn a_store_on_a_full_disk_is_read_and_goes_on_when_there_is_room() {
    let mut refusals = 0;
    for seed in 0..2 {
        let plan = Plan { openings: 1, transactions: TRANSACTIONS, ..Plan::new(seed) };
        for step in 0..plan.record().files.steps() {
            let files = Simulated::new();
            files.fill_up_at(step);
            let mut workload = Workload::new(seed, files.clone(), None);
            let store = open(&files).or_else(|error| {
                assert!(matches!(error, Error::NoRoom { .. }), "step {step}: {error}");
                look(&files, workload.history(), 0);
                files.set_capacity(None);
                open(&files)
            });
            let store = store.expect("there is room");
            for _ in 0..2 {
                let Err(error) = workload.run_on(&store, TRANSACTIONS) else { break };
                assert!(matches!(error, Error::NoRoom { .. }), "step {step}: {error}");
                check(&store, workload.history(), 0).expect("nothing is lost in memory");
                read_at_all_levels(&store);
                refusals += 1;
            }
            let least = workload.history().acknowledged_by(files.steps());
            look(&files.crash(step), workload.history(), least);
            // The same store continues.
            files.set_capacity(None);
            workload.run_on(&store, 5).expect("there is room");
            let least = workload.history().acknowledged_by(files.steps());
            let image = files.crash(step);
            survive(image, workload.history(), least, step, None).expect("after a loss of power");
            store.checkpoint().expect("there is room");
            drop(store);
            look(&files, workload.history(), least);
        }
    }
    assert!(refusals > 50, "{refusals} refusals");
}

/// The folder cannot be written from any step of a workload on.
#[test]
fn a_folder_that_cannot_be_written_can_be_read() {
    for seed in 0..2 {
        let plan = Plan { openings: 1, transactions: TRANSACTIONS, ..Plan::new(seed) };
        for step in 0..plan.record().files.steps() {
            let files = Simulated::new();
            files.set_read_only_from(Some(step));
            let mut workload = Workload::new(seed, files.clone(), None);
            match open(&files) {
                Err(error) => must_be(&error, ErrorKind::ReadOnlyFilesystem),
                Ok(store) => {
                    if let Err(error) = workload.run_on(&store, TRANSACTIONS) {
                        must_be(&error, ErrorKind::ReadOnlyFilesystem);
                    }
                    check(&store, workload.history(), 0).expect("nothing is lost in memory");
                }
            }
            let least = workload.history().acknowledged_by(files.steps());
            look(&files, workload.history(), least);
            look(&files.crash(step), workload.history(), least);
            all_is_well(&workload, &files, step);
        }
    }
}

/// Threads that commit in groups meet a full disk: each hears of it, and continues when there is
/// room.
#[test]
fn many_threads_meet_a_full_disk() {
    const THREADS: i64 = 4;
    let files = Simulated::new();
    let store = Database::open_in(Arc::new(files.clone()), Options::small()).expect("a new store");
    let table = store.create_table(schema("one")).expect("a new table");
    files.set_capacity(Some(300_000));
    let fill_up = |thread: i64| {
        let mut rows = 0;
        let error = loop {
            match insert(&store, &table, thread + THREADS * rows) {
                Ok(()) => rows += 1,
                Err(error) => break error,
            }
        };
        assert!(matches!(error, Error::NoRoom { .. }), "{error}");
        rows
    };
    let each = |work: &(dyn Fn(i64) -> i64 + Sync)| -> i64 {
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..THREADS).map(|thread| scope.spawn(move || work(thread))).collect();
            threads.into_iter().map(|thread| thread.join().expect("it ends")).sum()
        })
    };
    let rows = each(&fill_up);
    assert!(rows > 100 && read_at_all_levels(&store) as i64 == rows, "{rows} rows");
    files.set_capacity(None);
    let more = each(&|thread| {
        let ids = (0..20).map(|row| -1 - thread - THREADS * row);
        ids.map(|id| insert(&store, &table, id).expect("there is room")).count() as i64
    });
    let found = Database::open_in(Arc::new(files.crash(1)), Options::small()).expect("it is whole");
    assert_eq!(read_at_all_levels(&found) as i64, rows + more);
}

fn small() -> Options {
    Options { log_segment: 1 << 18, ..Options::small() }
}

fn insert(store: &Database, table: &Table, id: i64) -> Result<(), Error> {
    let row = Row { balance: id, owner: Some("somebody ".repeat(60)) };
    store.transaction(|transaction| transaction.insert(table, &values(id, &row)))
}

/// All bytes of a folder, by file.
fn bytes_of(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let read = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().expect("a name of ours");
        (name, fs::read(entry.path()).expect("a file"))
    };
    entries.map(read).collect()
}

#[test]
fn several_read_a_folder_at_once_and_change_nothing_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("store");
    let to_read = || Database::open(&place, Options { read_only: true, ..small() });
    match to_read() {
        Err(Error::System { what, source }) => {
            assert_eq!(source.kind(), ErrorKind::NotFound);
            assert!(what.contains(&place.display().to_string()), "{what}");
        }
        other => panic!("{other:?}"),
    }
    fs::create_dir(&place).expect("a folder");
    assert!(matches!(to_read(), Err(Error::NoStore { .. })));
    assert_eq!(bytes_of(&place), BTreeMap::new());
    let store = Database::open(&place, small()).expect("a new store");
    let table = store.create_table(schema("one")).expect("a new table");
    (0..50).for_each(|id| insert(&store, &table, id).expect("there is room"));
    store.checkpoint().expect("there is room");
    (50..90).for_each(|id| insert(&store, &table, id).expect("there is room"));
    match to_read() {
        Err(Error::System { source, .. }) => assert_eq!(source.kind(), ErrorKind::WouldBlock),
        other => panic!("{other:?}"),
    }
    drop((table, store));
    let before = bytes_of(&place);
    let readers = [(); 3].map(|()| to_read().expect("several may"));
    for store in &readers {
        assert_eq!(read_at_all_levels(store), 90);
        refuses_changes(store);
        // What stands in the log alone, a device is told of.
        assert!(store.shared_state().expect("it is small").bytes().len() > 8192);
    }
    assert!(Database::open(&place, small()).is_err(), "somebody reads it");
    drop(readers);
    assert_eq!(bytes_of(&place), before);
    let store = Database::open(&place, small()).expect("no reader has it");
    assert_eq!(read_at_all_levels(&store), 90);
}

/// Where the test below finds its small file system.
const SMALL_DISK: &str = "LOCKSTEP_SMALL_DISK";

/// The same on a real file system of 2 MiB, in a mount namespace of its own, where the system lets us
/// have one.
#[test]
fn a_small_file_system_is_filled_up_and_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let unshare = |command: &[&std::ffi::OsStr]| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "--mount"]).args(command);
        unshare.env(SMALL_DISK, folder.path());
        unshare.output()
    };
    let mount = ["mount", "-t", "tmpfs", "none"].map(std::ffi::OsStr::new);
    let probe = unshare(&[&mount[..], &[folder.path().as_os_str()]].concat());
    match probe {
        Ok(probe) if probe.status.success() => {}
        other => {
            println!("skipped: this system lets nobody mount a small file system: {other:?}");
            return;
        }
    }
    let test = std::env::current_exe().expect("this test");
    let name = "durability::full::on_a_small_file_system";
    let arguments = ["--exact", name, "--ignored", "--nocapture"].map(std::ffi::OsStr::new);
    let inside = unshare(&[&[test.as_os_str()], &arguments[..]].concat()).expect("it was there");
    let text = String::from_utf8_lossy(&[inside.stdout, inside.stderr].concat()).into_owned();
    assert!(inside.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "a_small_file_system_is_filled_up_and_read runs it, where it can mount one"]
fn on_a_small_file_system() {
    let Some(folder) = std::env::var_os(SMALL_DISK) else {
        println!("skipped: {SMALL_DISK} names no folder");
        return;
    };
    let folder = Path::new(&folder);
    let mount = |options: &str| {
        let mut mount = Command::new("mount");
        let mounted = mount.args(["-t", "tmpfs", "-o", options, "none"]).arg(folder).status();
        assert!(mounted.expect("it was there a moment ago").success());
    };
    mount("size=2m");
    let place = folder.join("store");
    let store = Database::open(&place, small()).expect("a new store");
    let table = store.create_table(schema("one")).expect("a new table");
    let fill_up = |store: &Database, table: &Arc<Table>, from: i64| {
        (from..).find_map(|id| Some((id, insert(store, table, id).err()?))).expect("2 MiB end")
    };
    let (rows, error) = fill_up(&store, &table, 0);
    assert!(matches!(&error, Error::NoRoom { file, .. } if file.starts_with("log-")), "{error}");
    assert!(rows > 1000, "{rows} rows");
    assert_eq!(read_at_all_levels(&store) as i64, rows);
    let error = store.checkpoint().expect_err("there is no room for pages");
    assert!(matches!(&error, Error::NoRoom { file, .. } if file == "pages"), "{error}");
    // Nor for one record that is larger than the ring.
    let error = store.transaction(|transaction| {
        let row = Row { balance: 0, owner: Some("somebody ".repeat(60)) };
        (-9000..0).try_for_each(|id| transaction.insert(&table, &values(id, &row)))
    });
    let error = error.expect_err("2 MiB are full");
    assert!(matches!(&error, Error::NoRoom { bytes, .. } if *bytes > 2 << 20), "{error}");
    assert_eq!(read_at_all_levels(&store) as i64, rows);
    // More room, without a restart.
    mount("remount,size=3m");
    let (rows, error) = fill_up(&store, &table, rows);
    assert!(matches!(error, Error::NoRoom { .. }), "{error}");
    drop((table, store));
    fill_with_zeros(&folder.join("filler"));
    let error = Database::open(&place, small()).expect_err("not even an empty segment has room");
    assert!(matches!(error, Error::NoRoom { .. }), "{error}");
    let to_read = || Database::open(&place, Options { read_only: true, ..small() });
    assert_eq!(read_at_all_levels(&to_read().expect("nothing is written")) as i64, rows);
    mount("remount,ro");
    let error = Database::open(&place, small()).expect_err("it cannot be written").to_string();
    assert!(error.contains("it can be opened to be read only"), "{error}");
    assert_eq!(read_at_all_levels(&to_read().expect("nothing is written")) as i64, rows);
    mount("remount,rw,size=16m");
    let store = Database::open(&place, small()).expect("there is room");
    let table = store.table("one").expect("it was created");
    insert(&store, &table, rows).expect("there is room");
    store.close().expect("there is room");
    assert_eq!(read_at_all_levels(&store) as i64, rows + 1);
}

/// Takes all room that is left.
fn fill_with_zeros(path: &Path) {
    let mut file = fs::File::create(path).expect("a name has room");
    while file.write(&[0; 4096]).is_ok_and(|written| written > 0) {}
}
