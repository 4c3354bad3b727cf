// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device beside threads that write, vacuum and flush.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread;
use std::time::Instant;

use lockdb::files::{Files, Memory};
use lockdb::{Database, Error, Session};
use rand::RngExt;

use crate::device_reader::scene::{QUICK, accounts, change, compare, options, random, storage};

/// How far the threads beside the device have come.
#[derive(Debug, Default)]
struct Progress {
    stop: AtomicBool,
    commits: AtomicU64,
    flushes: AtomicU64,
    freed: AtomicU64,
}

/// Changes rows until it is told to stop.
fn write(store: &Database, seed: u64, progress: &Progress) {
    let mut random = random(seed);
    let mut session = store.session().unwrap();
    let tables = store.tables();
    while !progress.stop.load(Relaxed) {
        let rows = random.random_range(1..4);
        let done = session.transaction(QUICK, |transaction| {
            for _ in 0..rows {
                let table = &tables[random.random_range(0..tables.len())];
                // Some rows change so often that they do so while an area is collected.
                let keys = if random.random() { 8 } else { 1_000 };
                match change(transaction, table, &mut random, keys) {
                    // Another transaction was faster to insert it.
                    Err(Error::DuplicateKey { .. }) | Ok(()) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        });
        done.unwrap_or_else(|error: Error| panic!("{error}"));
        progress.commits.fetch_add(1, Relaxed);
    }
}

fn tidy(store: &Database, progress: &Progress) {
    while !progress.stop.load(Relaxed) {
        progress.freed.fetch_add(store.vacuum().unwrap().pages_freed, Relaxed);
        store.checkpoint().unwrap();
        progress.flushes.fetch_add(1, Relaxed);
    }
}

/// A transaction that is checked over and over while the store continues.
fn look(store: &Database, session: &mut Session, files: &dyn Files, looks: u64) -> u64 {
    let storage = storage(files);
    let mut transaction = session.begin(QUICK);
    let first = transaction.shared_state().unwrap();
    let mut epochs = 0;
    for _ in 0..looks {
        let state = transaction.shared_state().unwrap();
        assert!(state.snapshot() >= transaction.snapshot());
        compare(store, &storage, &state, [&mut transaction], 3).unwrap();
        epochs = state.epoch() - first.epoch();
    }
    // As long as a shared state lives, what it is relative to stays where it is.
    compare(store, &storage, &first, [&mut transaction], 2).unwrap();
    epochs
}

#[test]
fn a_device_sees_its_snapshot_while_the_store_goes_on() {
    seeds::each!(1, look_while_the_store_goes_on);
}

fn look_while_the_store_goes_on(seed: u64) {
    let files = Memory::new();
    let store = Database::open_in(Arc::new(files.clone()), options(8 << 20)).unwrap();
    store.create_table(accounts(0)).unwrap();
    store.create_table(accounts(1)).unwrap();
    let progress = Progress::default();
    let far = |at_least: u64| {
        let Progress { commits, flushes, freed, .. } = &progress;
        [commits, flushes, freed].iter().all(|counter| counter.load(Relaxed) >= at_least)
    };
    thread::scope(|scope| {
        (0..2).for_each(|writer| {
            let (store, progress) = (&store, &progress);
            scope.spawn(move || write(store, seed + writer, progress));
        });
        scope.spawn(|| tidy(&store, &progress));
        // Whatever happens here, the others end.
        let _stop = Stop(&progress);
        let mut session = store.session().unwrap();
        let (mut epochs, since) = (0, Instant::now());
        while epochs < 20 || !far(20) {
            epochs += look(&store, &mut session, &files, 5);
            let waited = since.elapsed().as_secs();
            assert!(waited < 60, "a minute for {epochs} flushes under a device; {progress:?}");
        }
        println!("{epochs} flushes under a device, {progress:?}");
    });
}

/// Tells the others to stop when it goes.
struct Stop<'a>(&'a Progress);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Relaxed);
    }
}
