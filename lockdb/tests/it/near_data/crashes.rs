// SPDX-License-Identifier: MIT OR Apache-2.0
//! Power lost at any write and any sync of near-data updates, the device's included.

use std::collections::BTreeMap;
use std::sync::Arc;

use lockdb::files::{Files, Loss, Simulated};
use lockdb::layout::{PAGE_BYTES, Page, PageBuffer, PageHeader, Place, Superblock};
use lockdb::log::{Kind, Log, LogError, LogOptions, LogPosition, Reader};
use lockdb::near_data::PageReservation;
use lockdb::{Durability, Error, Isolation};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::near_data::scene::{Scene, after, at, near, put_in};
use crate::near_data::workload::{Point, Recorded, crash, record};

/// Cases that share a workload, which takes longer than they do.
const POINTS: u64 = 20;
const ACTIONS: usize = 40;

/// A case is one point in a workload: each seed draws its own, and so many in a row share a workload.
#[test]
fn a_near_data_commit_is_there_as_a_whole_or_not_at_all() {
    let mut newest: Option<(u64, Recorded)> = None;
    seeds::each!(200, |seed| {
        let workload = seed / POINTS;
        let recorded = match newest.take() {
            Some((of, recorded)) if of == workload => recorded,
            _ => record(workload, ACTIONS, None),
        };
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let end = recorded.files.steps();
        let point = Point { steps: random.random_range(0..=end), tear: random.random() };
        let survived = crash(&recorded, point, None);
        newest = Some((workload, recorded));
        survived.map_err(|wrong| format!("workload {workload}, {point:?} of {end} steps: {wrong}"))
    });
}

/// One commit of host and device, from its first write of a page to after its return.
#[test]
fn one_commit_at_every_step() {
    let scene = Scene::new(300);
    let other = scene.store.table("other").unwrap();
    scene.store.checkpoint().unwrap();
    put_in(&scene, &other, 5, 1);
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::Snapshot));
    crate::near_data::scene::put(&mut transaction, &other, 5, 2).unwrap();
    let mut device = scene.device();
    near(&mut transaction, &mut device, &scene.table, 1, 5).unwrap();
    let first = scene.files.steps();
    transaction.commit_finalizing(&mut |finalize| device.finalize(finalize)).unwrap();
    let last = scene.files.steps();
    assert!(last - first >= 5, "pages, their sync, the record, its sync");
    let (mut without, mut with) = (0, 0);
    for steps in first..=last {
        for tear in 0..8 {
            let files = scene.files.crash_at(steps, tear);
            let found = Scene::open(files).unwrap();
            let other = found.store.table("other").unwrap();
            let committed = crate::near_data::scene::rows(&found.store, &other)[&5] == 2;
            let more = if committed { 5 } else { 0 };
            assert_eq!(found.rows(), after(300, 1, more), "step {steps} of {last}, tear {tear}");
            assert!(committed || steps < last, "it was acknowledged");
            without += u64::from(!committed);
            with += u64::from(committed);
            // Whatever is left of it blocks no other transaction.
            found.add(at(Isolation::Snapshot), 1, 1).unwrap();
            found.store.checkpoint().unwrap();
            assert_eq!(found.crash(tear).rows(), after(300, 1, more + 1));
        }
    }
    assert!(without > 8 && with > 0, "{without} times nothing, {with} times all");
}

/// Each call of an update and a checkpoint fails in turn, and a sync loses what it was for: the pages
/// of a failed finalization count for nothing, and what is acknowledged afterwards stands.
#[test]
fn what_a_failed_finalization_lost_is_not_believed() {
    let mut failures = 0;
    for call in 0.. {
        let scene = Scene::new(60);
        scene.store.checkpoint().unwrap();
        let fails = scene.files.steps() + call;
        scene.files.fail_once_at(fails, Loss::All);
        let added = scene.add(at(Isolation::Snapshot), 1, 5);
        let done = added.is_ok() && scene.store.checkpoint().is_ok();
        if done && scene.files.steps() <= fails {
            break;
        }
        failures += 1;
        scene.files.fail_once_at(u64::MAX, Loss::Nothing);
        // In the same store, if it continues.
        let again = match scene.add(at(Isolation::Snapshot), 2, 7) {
            Ok(_) => 7,
            Err(Error::Log(LogError::MustReopen(_))) => 0,
            Err(error) => panic!("call {call}: {error}"),
        };
        let scene = scene.reopen();
        let found = scene.rows();
        assert_eq!(found[&2], again, "call {call}: it was acknowledged");
        assert!(found[&1] == 5 || added.is_err(), "call {call}: it was acknowledged");
        scene.add(at(Isolation::Snapshot), 0, 9).unwrap();
        let expected: BTreeMap<i64, i64> =
            (0..60).map(|id| (id, [9, found[&1], again][id as usize % 3])).collect();
        for tear in 0..4 {
            assert_eq!(scene.crash(tear).rows(), expected, "call {call}, tear {tear}");
        }
        scene.store.checkpoint().unwrap();
        assert_eq!(scene.crash(1).rows(), expected, "call {call}");
    }
    assert!(failures > 8, "{failures} calls");
}

/// Recovery is cut off repeatedly, and starts again.
#[test]
fn recovery_is_idempotent() {
    let scene = Scene::new(100);
    scene.store.checkpoint().unwrap();
    for more in 1..=3 {
        scene.add(at(Isolation::Snapshot), 1, more).unwrap();
        scene.put(|_| 0, [2].into_iter());
    }
    let mut files = scene.files.crash(1);
    for round in 0..12 {
        files.lose_power_at(round);
        let store = Scene::open(files.clone());
        files = files.crash(round);
        drop(store);
    }
    let scene = Scene::open(files).unwrap();
    assert_eq!(scene.rows(), after(100, 1, 6));
    assert!(scene.store.recovery().changes >= 33);
}

/// The log names a page that is not what it should be.
#[test]
fn a_finalized_page_that_is_damaged_is_an_error_that_names_it() {
    let scene = Scene::new(300);
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::Snapshot));
    let mut device = scene.device();
    near(&mut transaction, &mut device, &scene.table, 1, 5).unwrap();
    let mut pages: Vec<PageReservation> = Vec::new();
    let finalizing = transaction.commit_finalizing(&mut |finalize| {
        pages.extend(finalize.pages);
        device.finalize(finalize)
    });
    finalizing.unwrap();
    drop(transaction);
    drop(session);
    assert!(pages.len() > 1);
    let places = pages.iter().map(|reservation| Place::from_word(reservation.place).physical());
    for (reservation, physical) in pages.iter().zip(places) {
        let whole = scene.files.crash(1);
        let offset = physical * PAGE_BYTES as u64;
        let read = |at: u64, bytes: usize| {
            let mut read = vec![0; bytes];
            whole.open("pages").unwrap().read_at(at, &mut read).unwrap();
            read
        };
        let other = pages.iter().find(|page| *page != reservation).expect("there are several");
        let other = read(Place::from_word(other.place).physical() * PAGE_BYTES as u64, PAGE_BYTES);
        let whole_page = read(offset, PAGE_BYTES);
        let mut flipped = whole_page.clone();
        flipped[8000] ^= 1;
        // With a checksum that is right.
        let with_new_checksum = |change: fn(&mut PageHeader), bytes: &[u8]| {
            let mut page = PageBuffer(bytes.try_into().unwrap());
            let mut header = Page::new(&page.0).header();
            change(&mut header);
            page.finalize(header);
            page.0.to_vec()
        };
        let mut older = whole_page.clone();
        let first = Page::new(whole_page[..].try_into().unwrap()).line(0).offset();
        older[first] -= 1;
        for (what, bytes) in [
            ("a bit", flipped),
            ("zeros", vec![0; PAGE_BYTES]),
            ("another page", other),
            ("a line less", with_new_checksum(|header| header.lines -= 1, &whole_page)),
            ("another commit's", with_new_checksum(|header| header.newest -= 1, &whole_page)),
            ("another table's", with_new_checksum(|header| header.table += 1, &whole_page)),
            ("another store's", with_new_checksum(|header| header.store += 1, &whole_page)),
            ("a later checkpoint's", with_new_checksum(|header| header.epoch += 1, &whole_page)),
            ("a version of another commit", with_new_checksum(|_| (), &older)),
        ] {
            let damaged = whole.crash(1);
            damaged.open("pages").unwrap().write_at(offset, &bytes).unwrap();
            match Scene::open(damaged) {
                Err(Error::CorruptPage { physical: found, page, .. }) => {
                    assert_eq!((found, page), (physical, reservation.page), "{what}");
                }
                Err(error) => panic!("{what}: {error}"),
                Ok(_) => panic!("{what} was served"),
            }
        }
    }
    assert_eq!(scene.crash(1).rows(), after(300, 1, 5));
}

/// Puts a near-data record of any body at the end of a store's log.
fn add_record(files: &Simulated, body: &[u8]) {
    let pages = files.open("pages").unwrap();
    let superblocks = [0, 1].map(|slot| {
        let mut bytes = [0; Superblock::BYTES];
        pages.read_at(slot * PAGE_BYTES as u64, &mut bytes).unwrap();
        Superblock::decode(&bytes)
    });
    let newest = superblocks.into_iter().flatten().max_by_key(|superblock| superblock.epoch);
    let newest = newest.expect("a store was begun");
    let redo = LogPosition {
        store: newest.store,
        epoch: newest.redo_epoch,
        commit: newest.redo_commit,
        lsn: newest.redo_lsn,
    };
    let files: Arc<dyn Files> = Arc::new(files.clone());
    let mut reader = Reader::open(files.clone(), redo).unwrap();
    while reader.read().unwrap().is_some() {}
    let end = reader.position();
    let at = LogPosition { epoch: end.epoch + 1, ..end };
    let log = Log::start(files, &LogOptions::default(), at).unwrap();
    let ticket = log.begin(body.len()).unwrap();
    let end = ticket.end();
    log.write(&ticket, Kind::NearData, body);
    log.finish(ticket).unwrap();
    log.make_durable(end, Durability::Immediate).unwrap();
}

/// A record that names pages at random, or is cut off: opening says what is wrong, and never panics.
#[test]
fn any_list_of_pages_is_refused_by_name() {
    let scene = Scene::new(30);
    scene.store.checkpoint().unwrap();
    scene.store.close().unwrap();
    let whole = scene.files.crash(1);
    for seed in seeds::of!(200) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut body = 1_u64.to_le_bytes().to_vec();
        let page = [0, 1, 2, 1 << 40, u64::MAX][random.random_range(0..5)];
        let physical = [0, 1, 2, 5, 7, 1 << 39][random.random_range(0..6)];
        body.extend(u64::to_le_bytes(page));
        body.extend(Place::new(physical, random.random_range(0..4)).word().to_le_bytes());
        body.extend(u32::to_le_bytes(random.random_range(0..3)));
        body.extend(u32::to_le_bytes(random.random_range(0..200)));
        match random.random_range(0..4) {
            0 => body.truncate(random.random_range(0..body.len())),
            1 => {
                let at = random.random_range(0..body.len());
                body[at] = random.random();
            }
            _ => {}
        }
        if body.get(..8) == Some(&[0; 8]) {
            continue; // no page at all
        }
        let files = whole.crash(seed);
        add_record(&files, &body);
        match Scene::open(files).map(drop) {
            Err(Error::Corrupt { .. } | Error::CorruptPage { .. }) => {}
            other => panic!("seed {seed}, {body:?}: {other:?}"),
        }
    }
}
