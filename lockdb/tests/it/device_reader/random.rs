// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random workloads, looked at from the device at many moments.

use std::collections::BTreeMap;
use std::sync::Arc;

use lockdb::device_reader::DeviceReader;
use lockdb::mutant::Mutant;
use lockdb::{Database, Session, Transaction};
use rand::RngExt;

use crate::device_reader::scene::{
    QUICK, Rows, Scene, accounts, compare, device_rows, host_rows, options,
};

/// The events of a run.
#[derive(Debug, Default)]
struct Tally {
    looks: u64,
    snapshots: u64,
    images: u64,
    vids: u64,
    flushes: u64,
    freed: u64,
}

/// Runs rounds of random work. In each, transactions begin at random moments and live on while the
/// store changes, is vacuumed and flushed; a device is to see what they see.
fn run(seed: u64, rounds: u64, mutant: Option<Mutant>) -> Result<Tally, String> {
    let limit = 1 << 17;
    let mut scene = Scene::new(seed, options(limit));
    let mut tally = Tally::default();
    for round in 0..rounds {
        if round > 0 && scene.random.random_range(0..3) == 0 {
            // Opened again: what was redone from the log is in no checkpoint.
            let unopened = Database::in_memory(options(limit)).unwrap();
            drop(std::mem::replace(&mut scene.store, unopened));
            scene.store = Database::open_in(Arc::new(scene.files.clone()), options(limit)).unwrap();
        }
        if scene.random.random_range(0..2) == 0 && scene.store.tables().len() < 4 {
            scene.store.create_table(accounts(scene.store.tables().len())).unwrap();
        }
        scene.store.plant(mutant);
        let work = round_of(&mut scene, &mut tally);
        scene.store.plant(None);
        work.map_err(|what| format!("round {round}: {what}"))?;
    }
    Ok(tally)
}

fn round_of(scene: &mut Scene, tally: &mut Tally) -> Result<(), String> {
    let store = scene.store.clone();
    let storage = scene.storage();
    let mut writers: Vec<Session> = (0..2).map(|_| store.session().unwrap()).collect();
    let mut sessions: Vec<Session> = (0..6).map(|_| store.session().unwrap()).collect();
    let mut idle = sessions.iter_mut();
    let mut readers: Vec<Transaction<'_>> = Vec::new();
    for _ in 0..120 {
        match scene.random.random_range(0..40) {
            0 => tally.freed += store.vacuum().unwrap().pages_freed,
            1 => {
                store.checkpoint().unwrap();
                tally.flushes += 1;
            }
            2..4 => readers.extend(idle.next().map(|session| session.begin(QUICK))),
            4 if !readers.is_empty() => {
                let ended = scene.random.random_range(0..readers.len());
                readers.remove(ended);
            }
            5..9 => {
                let mut session = store.session().unwrap();
                let mut newest = session.begin(QUICK);
                let state = newest.shared_state().unwrap();
                assert!(state.bytes().len() <= 1 << 17);
                assert_eq!(state.snapshot(), newest.snapshot());
                let elements = scene.random.random_range(1..7);
                tally.looks += 1;
                tally.snapshots += readers.len() as u64 + 1;
                tally.images += u64::from(state.header().pages);
                tally.vids += u64::from(state.header().vids);
                compare(&store, &storage, &state, [&mut newest], elements)?;
                compare(&store, &storage, &state, &mut readers, elements)?;
            }
            other => scene.commit(&mut writers[other % 2]),
        }
    }
    Ok(())
}

#[test]
fn a_device_sees_what_each_live_transaction_sees() {
    let (seeds, mut all) = (seeds::of!(8), Tally::default());
    for seed in &seeds {
        let tally = run(seed, 12, None).unwrap_or_else(|what| panic!("seed {seed}: {what}"));
        all.looks += tally.looks;
        all.snapshots += tally.snapshots;
        all.images += tally.images;
        all.vids += tally.vids;
        all.flushes += tally.flushes;
        all.freed += tally.freed;
    }
    println!("{all:?}");
    let Tally { looks, snapshots, images, vids, flushes, freed } = all;
    if seeds.is_whole() {
        assert!(looks > 500 && snapshots > looks && images > looks && vids > looks && flushes > 50);
        assert!(freed > 100, "vacuum has freed {freed} pages");
    }
}

/// Not only the snapshots that transactions have, but all that the area promises.
#[test]
fn a_device_sees_every_snapshot_that_its_area_promises() {
    let (seeds, mut checked) = (seeds::of!(4), 0);
    for seed in &seeds {
        let mut scene = Scene::new(seed, options(1 << 18));
        scene.keys = 40;
        let table = scene.store.table("account 0").unwrap();
        let (storage, store) = (scene.storage(), scene.store.clone());
        let mut sessions: Vec<Session> = (0..3).map(|_| store.session().unwrap()).collect();
        let [writer, reader, pinned] = &mut sessions[..] else { unreachable!("three sessions") };
        let (mut pinned, mut pin) = (Some(pinned), None);
        let mut then: BTreeMap<u64, Rows> = BTreeMap::new();
        for step in 0..150 {
            // Some snapshot is in use for a while, so that old versions stay.
            if step == 40 {
                pin = pinned.take().map(|session| session.begin(QUICK));
            } else if step == 110 {
                pin = None;
            }
            scene.commit(writer);
            let mut transaction = reader.begin(QUICK);
            then.insert(transaction.snapshot(), host_rows(&mut transaction, &table));
            drop(transaction);
            match scene.random.random_range(0..12) {
                0 => drop(store.vacuum().unwrap()),
                1 => drop(store.checkpoint().unwrap()),
                2..6 => {
                    let state = store.shared_state().unwrap();
                    let device = DeviceReader::open(&storage, state.bytes()).unwrap();
                    let (oldest, newest) = device.snapshots();
                    if let Some(pin) = &pin {
                        assert!(oldest <= pin.snapshot());
                    }
                    for (&snapshot, rows) in then.range(oldest..=newest) {
                        let found = device_rows(&device, 0, snapshot, 2);
                        assert_eq!(found.as_ref(), Ok(rows), "seed {seed}, snapshot {snapshot}");
                        checked += 1;
                    }
                }
                _ => {}
            }
        }
    }
    assert!(checked > 2000 || !seeds.is_whole(), "{checked} snapshots");
}

#[test]
fn a_shared_state_that_loses_something_is_noticed() {
    for mutant in [Mutant::SharedStateLosesVidEntry, Mutant::SharedStateLosesPage] {
        let found = (0..4).find_map(|seed| run(seed, 2, Some(mutant)).err());
        println!("{mutant:?}: {}", found.expect("a device that misses something"));
    }
}
