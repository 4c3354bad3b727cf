// SPDX-License-Identifier: MIT OR Apache-2.0
//! Corners where the store once went wrong.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lockdb::files::{File, Files, Memory};
use lockdb::schema::{Schema, Type};
use lockdb::{
    ConflictError, Database, Error, Isolation, LockWait, Options, Session, Table, Transaction,
    TransactionOptions,
};
use locks::LockError;

fn accounts(store: &Database) -> Arc<Table> {
    let schema = Schema::builder("account")
        .column("id", Type::Int64)
        .column("owner", Type::Int64)
        .column("balance", Type::Int64)
        .primary_key(&["id"])
        .index("owner", &["owner"]);
    store.create_table(schema.build().unwrap()).unwrap()
}

fn run<T>(session: &mut Session, work: impl FnMut(&mut Transaction<'_>) -> Result<T, Error>) -> T {
    session.transaction(TransactionOptions::default(), work).unwrap()
}

/// No version has the keys that a row had between two writes of one transaction; so nobody would
/// ever remove their entries.
#[test]
fn keys_of_overwritten_writes_leave_no_index_entries() {
    let store = Database::in_memory(Options::small()).unwrap();
    let table = accounts(&store);
    let mut session = store.session().unwrap();
    run(&mut session, |tx| tx.insert(&table, &[1.into(), 7.into(), 0.into()]));
    let mut owner = 100;
    for _ in 0..50 {
        run(&mut session, |tx| {
            for _ in 0..3 {
                owner += 1;
                tx.update(&table, &1, |row| {
                    row.set_int(1, owner);
                    Ok(())
                })?;
            }
            Ok(())
        });
    }
    // Those of its 51 versions.
    assert_eq!(table.entries(Some("owner")).unwrap(), 51);
}

/// A lock that is held elsewhere does not bring a row back that the transaction has deleted.
#[test]
fn a_deleted_row_is_not_updated() {
    let store = Database::in_memory(Options::small()).unwrap();
    let table = accounts(&store);
    let mut session = store.session().unwrap();
    run(&mut session, |tx| tx.insert(&table, &[1.into(), 7.into(), 0.into()]));
    let vid = store.vid_of(&table, &1).unwrap().unwrap();
    let mut tx = session.begin(TransactionOptions::default());
    assert!(tx.delete(&table, &1).unwrap());
    let updated = tx.update_locked(&table, vid, 1, |row| {
        row.set_int(2, 5);
        Ok(())
    });
    assert!(matches!(updated, Err(Error::NotThatVersion { .. })), "{updated:?}");
    tx.commit().unwrap();
    drop(tx);
    assert!(session.begin(TransactionOptions::default()).get(&table, &1).unwrap().is_none());
}

/// Files of which the pages panic when they are next written.
#[derive(Debug, Default)]
struct Fragile {
    files: Memory,
    breaks: Arc<AtomicBool>,
}

#[derive(Debug)]
struct FragileFile(Arc<dyn File>, Arc<AtomicBool>);

impl Files for Fragile {
    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        let file = self.files.open(name)?;
        Ok(if name == "pages" { Arc::new(FragileFile(file, self.breaks.clone())) } else { file })
    }
    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.files.create(name)?;
        self.open(name)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.files.remove(name)
    }
    fn list(&self) -> io::Result<Vec<String>> {
        self.files.list()
    }
    fn sync_directory(&self) -> io::Result<()> {
        self.files.sync_directory()
    }
}

impl File for FragileFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, buffer)
    }
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        assert!(!self.1.swap(false, Ordering::Relaxed), "as it was told");
        self.0.write_at(offset, bytes)
    }
    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
}

/// What a checkpoint had begun to write when it panicked is the next one's care.
#[test]
fn a_checkpoint_that_panics_loses_nothing() {
    let files = Arc::new(Fragile::default());
    let store = Database::open_in(files.clone(), Options::small()).unwrap();
    let table = accounts(&store);
    let mut session = store.session().unwrap();
    for id in 0..1000 {
        run(&mut session, |tx| tx.insert(&table, &[id.into(), 7.into(), 0.into()]));
    }
    files.breaks.store(true, Ordering::Relaxed);
    catch_unwind(AssertUnwindSafe(|| store.checkpoint())).unwrap_err();
    store.checkpoint().unwrap();
    drop((session, table, store));
    let store = Database::open_in(files, Options::small()).unwrap();
    let table = store.table("account").unwrap();
    let mut session = store.session().unwrap();
    run(&mut session, |tx| {
        for id in 0..1000 {
            assert!(tx.get(&table, &id)?.is_some(), "row {id}");
        }
        Ok(())
    });
}

/// Seven transactions fill the queue of a row, so the eighth, which closes a cycle with the row's
/// holder, is in no queue where a search would see it.
#[test]
fn a_deadlock_behind_a_full_queue_is_broken() {
    let store = Database::in_memory(Options::small()).unwrap();
    let table = accounts(&store);
    let sessions = || store.session().unwrap();
    let (mut one, mut two) = (sessions(), sessions());
    for id in 0..2 {
        run(&mut one, |tx| tx.insert(&table, &[id.into(), 7.into(), 0.into()]));
    }
    let lock = |tx: &mut Transaction<'_>, id: i64| {
        tx.get_for_update(&table, &id, LockWait::Wait).map(|row| assert!(row.is_some()))
    };
    let is_full = || store.lock_table().buckets().iter().any(|b| !b.line()[1..].contains(&0));
    let mut one = one.begin(Isolation::ReadCommitted);
    let mut two = two.begin(Isolation::ReadCommitted);
    lock(&mut one, 0).unwrap();
    lock(&mut two, 1).unwrap();
    std::thread::scope(|scope| {
        let mut queue = Vec::new();
        for _ in 0..7 {
            queue.push(scope.spawn(|| lock(&mut sessions().begin(Isolation::ReadCommitted), 0)));
        }
        let since = Instant::now();
        while !is_full() {
            assert!(since.elapsed() < Duration::from_secs(60), "the queue has never been full");
            std::thread::yield_now();
        }
        let first = scope.spawn(move || lock(&mut one, 1));
        let eighth = lock(&mut two, 0).unwrap_err();
        let found = format!("{eighth:?}");
        let conflict = matches!(
            eighth,
            Error::Conflict(ConflictError::Lock { source: LockError::Deadlock { .. }, .. })
        );
        assert!(conflict, "{found}");
        first.join().unwrap().unwrap();
        queue.into_iter().for_each(|waiter| waiter.join().unwrap().unwrap());
    });
}
