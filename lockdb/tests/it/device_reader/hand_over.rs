// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hand-over: what an invocation gives to a device, how large it is, and how long it holds.

use std::fs::File;
use std::thread;
use std::time::Duration;

use lockdb::device_reader::{DeviceError, DeviceReader, MappedPages};
use lockdb::layout::PAGE_BYTES;
use lockdb::shared_state::{AreaHeader, SharedState, TableEntry};
use lockdb::{Database, Error, Options};
use memmap2::{Mmap, MmapMut};
use rand::RngExt;

use crate::device_reader::scene::{
    QUICK, Rows, Scene, accounts, change, compare, device_rows, host_rows, options, random,
};

#[test]
fn after_a_flush_the_area_is_empty() {
    let mut scene = Scene::new(1, options(1 << 20));
    let mut session = scene.store.session().unwrap();
    for round in 0..20 {
        (0..10).for_each(|_| scene.commit(&mut session));
        let full = scene.store.shared_state().unwrap();
        assert!(full.header().pages > 0 && full.header().vids > 0);
        // The session's page stays open; but nothing in it is new then.
        scene.store.checkpoint().unwrap();
        let empty = scene.store.shared_state().unwrap();
        assert_eq!(empty.bytes().len(), AreaHeader::BYTES + TableEntry::BYTES, "round {round}");
        assert_eq!(empty.epoch(), full.epoch() + 1);
        let mut transaction = session.begin(QUICK);
        compare(&scene.store, &scene.storage(), &empty, [&mut transaction], 1).unwrap();
    }
}

#[test]
fn a_new_row_costs_its_page_and_an_entry() {
    let mut scene = Scene::new(1, options(1 << 20));
    scene.commit_many(500);
    scene.store.checkpoint().unwrap();
    let table = scene.store.table("account 0").unwrap();
    let mut session = scene.store.session().unwrap();
    let mut put = |id: i64| {
        session.transaction(QUICK, |transaction| {
            transaction.insert(&table, &[id.into(), 5.into(), "new".into()])
        })
    };
    put(10_000).unwrap();
    let one = scene.store.shared_state().unwrap();
    assert_eq!((one.header().pages, one.header().vids), (1, 1));
    put(10_001).unwrap();
    let two = scene.store.shared_state().unwrap();
    assert_eq!((two.header().pages, two.header().vids), (1, 2));
    assert!(two.bytes().len() < PAGE_BYTES + 512);
}

#[test]
fn beyond_its_limit_the_area_is_flushed_first() {
    const LIMIT: usize = 1 << 16;
    let mut scene = Scene::new(3, options(LIMIT));
    let (mut session, mut flushed) = (scene.store.session().unwrap(), 0);
    let mut epoch = 0;
    for _ in 0..60 {
        let commits = scene.random.random_range(1..60);
        (0..commits).for_each(|_| scene.commit(&mut session));
        let state = scene.store.shared_state().unwrap();
        assert!(state.bytes().len() <= LIMIT, "{} bytes", state.bytes().len());
        flushed += state.epoch() - epoch;
        epoch = state.epoch();
        let mut transaction = session.begin(QUICK);
        compare(&scene.store, &scene.storage(), &state, [&mut transaction], 2).unwrap();
    }
    assert!((5..60).contains(&flushed), "{flushed} flushes");
    for shared_state_limit in [0, (1 << 16) - 1, (1 << 30) + 1] {
        let refused = Database::in_memory(Options { shared_state_limit, ..Options::small() });
        let option = "shared_state_limit";
        assert!(matches!(refused, Err(Error::Option { option: found, .. }) if found == option));
    }
}

#[test]
fn the_stores_thread_keeps_to_the_limit_once_there_is_a_device() {
    let mut scene = Scene::new(4, Options { maintenance: true, ..options(1 << 16) });
    let mut epoch = scene.store.shared_state().unwrap().epoch();
    for _ in 0..30 {
        scene.commit_many(400);
        // The thread looks around each second.
        thread::sleep(Duration::from_millis(1100));
        let found = scene.store.checkpoint().unwrap().epoch;
        if found > epoch + 1 {
            return;
        }
        epoch = found;
    }
    panic!("no flush in 30 seconds but those that were asked for");
}

#[test]
fn a_store_without_files_has_nothing_for_a_device() {
    let store = Database::in_memory(Options::small()).unwrap();
    assert!(matches!(store.shared_state(), Err(Error::NoNativeStorage)));
}

/// A scene with an area that needs pages on storage, and what a device reads with its bytes.
fn scene_with_area(seed: u64) -> (Scene, SharedState) {
    let mut scene = Scene::new(seed, options(1 << 20));
    scene.commit_many(300);
    scene.store.checkpoint().unwrap();
    scene.commit_many(20);
    let state = scene.store.shared_state().unwrap();
    (scene, state)
}

fn read(scene: &Scene, area: &[u8], snapshot: u64) -> Result<Rows, String> {
    let storage = scene.storage();
    let device = DeviceReader::open(&storage, area).map_err(|error| error.to_string())?;
    device_rows(&device, 0, snapshot, 2)
}

#[test]
fn what_a_device_holds_stays() {
    seeds::each!(1, hold_an_area);
}

fn hold_an_area(seed: u64) {
    let (mut scene, held) = scene_with_area(seed);
    let rows = read(&scene, held.bytes(), held.snapshot()).unwrap();
    for _ in 0..20 {
        scene.commit_many(50);
        scene.store.vacuum().unwrap();
        scene.store.checkpoint().unwrap();
        assert_eq!(read(&scene, held.bytes(), held.snapshot()).as_ref(), Ok(&rows));
    }
}

#[test]
fn what_a_device_has_let_go_is_refused_when_it_is_gone() {
    seeds::each!(1, let_an_area_go);
}

fn let_an_area_go(seed: u64) {
    let (mut scene, state) = scene_with_area(seed);
    let (area, snapshot) = (state.bytes().to_vec(), state.snapshot());
    let rows = read(&scene, &area, snapshot).unwrap();
    drop(state);
    let mut refused = 0;
    for _ in 0..20 {
        scene.commit_many(50);
        scene.store.vacuum().unwrap();
        scene.store.checkpoint().unwrap();
        match read(&scene, &area, snapshot) {
            Ok(found) => assert_eq!(found, rows),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 10, "refused {refused} times of 20");
}

#[test]
fn areas_and_pages_that_do_not_belong_together_are_refused() {
    let mut scene = Scene::new(6, options(1 << 20));
    scene.commit_many(100);
    let old_pages = scene.storage_bytes();
    let old = scene.store.shared_state().unwrap();
    scene.store.checkpoint().unwrap();
    scene.commit_many(10);
    let new = scene.store.shared_state().unwrap();
    // The newer area, and pages from before the flush.
    let refused = DeviceReader::open(&old_pages[..], new.bytes()).err();
    let expected = DeviceError::StorageBehind { area: new.epoch(), storage: old.epoch() };
    assert_eq!(refused, Some(expected));
    // Another store's.
    let mut other = Scene::new(6, options(1 << 20));
    other.commit_many(100);
    let refused = DeviceReader::open(&other.storage(), old.bytes()).err();
    assert!(matches!(refused, Some(DeviceError::OtherStore { .. })), "{refused:?}");
    // Snapshots that are not in it.
    let storage = scene.storage();
    let device = DeviceReader::open(&storage, new.bytes()).unwrap();
    let (oldest, newest) = device.snapshots();
    for asked in [oldest.wrapping_sub(1), newest + 1] {
        let refused = device.element(0, asked).err();
        assert_eq!(refused, Some(DeviceError::NoSuchSnapshot { asked, oldest, newest }));
    }
    let refused = device.element(1, newest).err();
    assert_eq!(refused, Some(DeviceError::NoSuchTable { table: 1, tables: 1 }));
}

/// Half of one area and half of another, as a torn hand-over leaves them.
#[test]
fn torn_areas_are_refused() {
    let mut scene = Scene::new(7, options(1 << 20));
    let mut session = scene.store.session().unwrap();
    let mut before = scene.store.shared_state().unwrap();
    let (mut torn, mut newer, storage) = (0, 0, scene.storage());
    for _ in 0..30 {
        scene.commit(&mut session);
        let after = scene.store.shared_state().unwrap();
        let (old, new) = (before.bytes(), after.bytes());
        for cut in (1..old.len().min(new.len())).step_by(509) {
            for (first, second) in [(old, new), (new, old)] {
                let mut mixed = first[..cut].to_vec();
                mixed.extend(&second[cut..]);
                if mixed != first && mixed != second {
                    assert!(DeviceReader::open(&storage, &mixed).is_err(), "cut at {cut}");
                    torn += 1;
                }
            }
        }
        let images = before.header().pages.min(after.header().pages) as usize;
        for image in (0..images).map(|image| AreaHeader::BYTES + image * PAGE_BYTES) {
            let image = image..image + PAGE_BYTES;
            let mut mixed = old.to_vec();
            mixed[image.clone()].copy_from_slice(&new[image]);
            if mixed != old {
                assert!(DeviceReader::open(&storage, &mixed).is_err(), "a newer image");
                newer += 1;
            }
        }
        before = after;
    }
    assert!(torn > 500 && newer > 20, "{torn} areas were torn, {newer} had a newer image");
}

/// All through files: the host maps the area and fills it, the device maps area and pages.
#[test]
fn a_device_reads_through_its_own_mappings() {
    const LIMIT: usize = 1 << 20;
    let folder = tempfile::tempdir().unwrap();
    let store = Database::open(folder.path().join("store"), options(LIMIT)).unwrap();
    let table = store.create_table(accounts(0)).unwrap();
    let mut random = random(8);
    let area = File::create_new(folder.path().join("area")).unwrap();
    area.set_len(LIMIT as u64).unwrap();
    // SAFETY: nobody else changes the file.
    let mut target = unsafe { MmapMut::map_mut(&area) }.unwrap();
    for round in 0..6 {
        for _ in 0..200 {
            let done: Result<(), Error> =
                store.transaction_with(QUICK, |tx| change(tx, &table, &mut random, 500));
            done.unwrap();
        }
        if round % 2 == 1 {
            store.checkpoint().unwrap();
        }
        let mut session = store.session().unwrap();
        let mut transaction = session.begin(QUICK);
        let state = transaction.shared_state().unwrap();
        let length = state.copy_into(&mut target).unwrap();
        assert_eq!(length, state.bytes().len());
        // SAFETY: it is not changed as long as it is mapped here.
        let mapped = unsafe { Mmap::map(&area) }.unwrap();
        let pages = MappedPages::open(folder.path().join("store").join("pages")).unwrap();
        let device = DeviceReader::open(&pages, &mapped).unwrap();
        let rows = host_rows(&mut transaction, &table);
        for elements in [1, 2, 7, 1000] {
            let found = device_rows(&device, 0, transaction.snapshot(), elements);
            assert_eq!(found.unwrap(), rows, "{elements} elements");
        }
        single_rows(&device, transaction.snapshot(), &rows);
        let refused = state.copy_into(&mut [0; 100]);
        assert!(matches!(refused, Err(Error::Full { limit: 100, .. })));
    }
}

/// The same rows, VID by VID.
fn single_rows(device: &DeviceReader<'_, MappedPages>, snapshot: u64, rows: &[Vec<u8>]) {
    let mut element = device.element(0, snapshot).unwrap();
    let table = &device.tables()[0];
    let mut found = Vec::new();
    for vid in 0..table.vids() + 3 {
        let row = element.row(vid).unwrap();
        found.extend(row.map(|row| {
            assert_eq!(row.columns(table.schema()).unwrap().payload(), row.payload);
            row.payload.to_vec()
        }));
    }
    assert_eq!(found, rows);
}
