// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each typed error, and that nothing is changed by what it refuses.

use lockdb::layout::RecordId;
use lockdb::near_data::{
    AdoptError, Adopted, Finalize, FinalizeError, NearDataError, PageReservation,
};
use lockdb::schema::RowBuffer;
use lockdb::{Database, Error, Isolation, LockWait, Options, Result, Transaction};

use crate::near_data::scene::{Scene, after, at, near, put, schema};

macro_rules! refused {
    ($result:expr, $pattern:pat) => {{
        let result = $result;
        assert!(
            matches!(&result, Err(Error::NearData($pattern))),
            "{:?}, expected {}",
            result.map(drop),
            stringify!($pattern)
        );
    }};
}

#[test]
fn a_device_is_handed_tables_that_the_transaction_has_not_written() {
    let scene = Scene::new(20);
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::Snapshot));
    put(&mut transaction, &scene.table, 3, 3).unwrap();
    refused!(transaction.near_data(&scene.table), NearDataError::AlreadyWritten { .. });
    transaction.rollback().unwrap();
    assert!(matches!(transaction.near_data(&scene.table), Err(Error::Ended { .. })));
    drop(transaction);
    // Written between the snapshot and the first page.
    let mut transaction = session.begin(at(Isolation::Snapshot));
    transaction.near_data(&scene.table).unwrap();
    put(&mut transaction, &scene.table, 3, 3).unwrap();
    refused!(transaction.reserve_pages(&scene.table, 1), NearDataError::AlreadyWritten { .. });
    transaction.rollback().unwrap();
    drop(transaction);
    let foreign = Database::in_memory(Options::small()).unwrap();
    let table = foreign.create_table(schema("t")).unwrap();
    let mut transaction = session.begin(at(Isolation::Snapshot));
    assert!(matches!(transaction.near_data(&table), Err(Error::ForeignTable { .. })));
    let mut session = foreign.session().unwrap();
    let mut transaction = session.begin(at(Isolation::Snapshot));
    assert!(matches!(transaction.near_data(&table), Err(Error::NoNativeStorage)));
}

#[test]
fn the_host_does_not_touch_what_a_device_writes() {
    let scene = Scene::new(20);
    let other = scene.store.table("other").unwrap();
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::Snapshot));
    transaction.near_data(&scene.table).unwrap();
    // A device that only reads blocks no other transaction.
    assert!(transaction.get(&scene.table, &3).unwrap().is_some());
    transaction.near_data(&scene.table).unwrap();
    transaction.reserve_pages(&scene.table, 1).unwrap();
    let table = &*scene.table;
    let operations: [fn(&mut Transaction<'_>, &lockdb::Table) -> Result<()>; 6] = [
        |transaction, table| transaction.get(table, &3).map(drop),
        |transaction, table| transaction.get_for_update(table, &3, LockWait::Wait).map(drop),
        |transaction, table| transaction.newest_version(table, 3).map(drop),
        |transaction, table| transaction.delete(table, &3).map(drop),
        |transaction, table| put(transaction, table, 3, 3),
        |transaction, table| transaction.near_data(table).map(drop),
    ];
    for operation in operations {
        refused!(operation(&mut transaction, table), NearDataError::InUse { .. });
        put(&mut transaction, &other, 3, 3).unwrap();
    }
    transaction.commit().unwrap();
    drop(transaction);
    assert_eq!((scene.rows(), scene.locked()), (after(20, 1, 0), 0));
    assert_eq!(crate::near_data::scene::rows(&scene.store, &other), [(3, 3)].into());
}

#[test]
fn what_was_not_handed_to_a_device_takes_nothing_from_it() {
    let scene = Scene::new(20);
    let other = scene.store.table("other").unwrap();
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::ReadCommitted));
    let keep = |_: &mut RowBuffer| Ok(None::<()>);
    refused!(transaction.reserve_pages(&scene.table, 1), NearDataError::NotInvoked { .. });
    transaction.near_data(&scene.table).unwrap();
    refused!(transaction.reserve_pages(&other, 1), NearDataError::NotInvoked { .. });
    refused!(transaction.adopt(&other, &[]), NearDataError::NotInvoked { .. });
    refused!(transaction.adopt_lock(&other, 0, 1), NearDataError::NotInvoked { .. });
    refused!(transaction.update_left(&other, 0, keep), NearDataError::NotInvoked { .. });
    let beyond = transaction.update_left(&scene.table, 20, keep);
    refused!(beyond, NearDataError::Adopt { fault: AdoptError::Vid { vids: 20 }, .. });
    transaction.rollback().unwrap();
    drop(transaction);
    let mut transaction = session.begin(at(Isolation::Snapshot));
    transaction.near_data(&scene.table).unwrap();
    let left = transaction.update_left(&scene.table, 0, keep);
    refused!(left, NearDataError::NotLeft { vid: 0, .. });
}

/// A row as a device would hand it over, except for one field.
#[test]
fn each_field_of_a_row_is_checked() {
    let scene = Scene::new(20);
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::ReadCommitted));
    let mut device = scene.device();
    let invocation = transaction.near_data(&scene.table).unwrap();
    device.take_over(transaction.reserve_pages(&scene.table, 3).unwrap());
    device.update(&invocation, &scene.table, crate::near_data::scene::add(1, 5));
    let rows = device.rows.clone();
    let good = rows[2];
    let far = RecordId::new(good.record.page() + 1000, 0);
    let key = scene.table.lock_key(good.vid + 1, 1);
    assert!(!rows.iter().any(|row| row.vid == good.vid + 1), "a row that is not locked");
    let bucket = scene.store.lock_table().bucket_of(key);
    let wrong: Vec<(Adopted, AdoptError)> = vec![
        (Adopted { vid: 20, ..good }, AdoptError::Vid { vids: 20 }),
        (Adopted { number: 0, ..good }, AdoptError::Number { found: 0, expected: 2 }),
        (Adopted { number: 1, ..good }, AdoptError::Number { found: 1, expected: 2 }),
        (
            Adopted { vid: good.vid + 1, ..good },
            AdoptError::NotLocked { bucket, holder: None, expected: invocation.timestamp },
        ),
        (
            Adopted { predecessor: far, ..good },
            AdoptError::Head { found: far, expected: good.predecessor },
        ),
        (Adopted { record: far, ..good }, AdoptError::Page { record: far }),
        (Adopted { record: rows[0].record, ..good }, AdoptError::Record { record: rows[0].record }),
        (
            Adopted { superseded_bytes: 35, ..good },
            AdoptError::SupersededBytes { found: 35, least: 36, most: 8192 },
        ),
        (Adopted { vid: rows[0].vid, ..rows[0] }, AdoptError::Twice),
    ];
    for (row, expected) in wrong {
        let mut all = rows.clone();
        all[2] = row;
        match transaction.adopt(&scene.table, &all) {
            Err(Error::NearData(NearDataError::Adopt { vid, fault, .. })) => {
                assert_eq!((vid, fault), (row.vid, expected));
            }
            other => panic!("{other:?}, expected {expected:?}"),
        }
    }
    // None of all that is left behind.
    transaction.adopt(&scene.table, &rows).unwrap();
    let again = transaction.adopt(&scene.table, &rows[..1]);
    refused!(again, NearDataError::Adopt { fault: AdoptError::Twice, .. });
    let own = transaction.update_left(&scene.table, good.vid, |_| Ok(Some(())));
    refused!(own, NearDataError::NotLeft { .. });
    let nobody = transaction.adopt_lock(&scene.table, good.vid + 1, 1);
    refused!(nobody, NearDataError::Adopt { fault: AdoptError::NotLocked { .. }, .. });
    transaction.commit_finalizing(&mut |finalize| device.finalize(finalize)).unwrap();
    drop(transaction);
    assert_eq!((scene.rows(), scene.locked()), (after(20, 1, 5), 0));
}

/// The number is that of another version, whose lock the device happens to have.
#[test]
fn a_wrong_number_is_found_though_its_lock_is_held() {
    let options = Options { lock_buckets: 1, ..crate::near_data::scene::options() };
    let scene = Scene::with(20, options);
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::Snapshot));
    let mut device = scene.device();
    let invocation = transaction.near_data(&scene.table).unwrap();
    device.take_over(transaction.reserve_pages(&scene.table, 3).unwrap());
    device.update(&invocation, &scene.table, crate::near_data::scene::add(1, 5));
    let mut rows = device.rows.clone();
    rows[0].number = 7;
    let refused = transaction.adopt(&scene.table, &rows);
    let fault = AdoptError::Number { found: 7, expected: 2 };
    assert!(
        matches!(&refused, Err(Error::NearData(NearDataError::Adopt { fault: found, .. })) if *found == fault),
        "{refused:?}"
    );
    transaction.abandon_fenced().unwrap();
    drop(transaction);
    assert_eq!((scene.rows(), scene.locked()), (after(20, 1, 0), 0));
}

#[test]
fn versions_in_a_devices_pages_are_committed_by_finalizing_alone() {
    let scene = Scene::new(20);
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::Snapshot));
    let mut device = scene.device();
    near(&mut transaction, &mut device, &scene.table, 1, 5).unwrap();
    refused!(transaction.commit(), NearDataError::NotFinalized { rows: 7 });
    transaction.commit_finalizing(&mut |finalize| device.finalize(finalize)).unwrap();
    assert_eq!(scene.rows(), after(20, 1, 5));
}

#[test]
fn a_page_with_a_gap_is_not_committed() {
    let scene = Scene::new(20);
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::Snapshot));
    let mut device = scene.device();
    let invocation = transaction.near_data(&scene.table).unwrap();
    device.take_over(transaction.reserve_pages(&scene.table, 3).unwrap());
    device.update(&invocation, &scene.table, crate::near_data::scene::add(1, 5));
    let (skipped, rows) = device.rows.split_first().unwrap();
    transaction.adopt(&scene.table, rows).unwrap();
    let adopted = rows.len() as u32;
    let done = transaction.commit_finalizing(&mut |_| panic!("nothing is to be finalized"));
    let page = skipped.record.page();
    let expected = NearDataError::MissingLine { page, line: 0, adopted };
    assert_eq!(done.unwrap_err().to_string(), expected.to_string());
    transaction.adopt(&scene.table, &[*skipped]).unwrap();
    transaction.commit_finalizing(&mut |finalize| device.finalize(finalize)).unwrap();
    assert_eq!(scene.rows(), after(20, 1, 5));
}

#[test]
fn a_commit_whose_pages_are_not_finalized_is_void() {
    let scene = Scene::new(20);
    let pages = scene.store.pages_in_use();
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::Snapshot));
    let mut device = scene.device();
    near(&mut transaction, &mut device, &scene.table, 1, 5).unwrap();
    let done =
        transaction.commit_finalizing(&mut |_| Err(FinalizeError::new("the device is gone")));
    let void = scene.store.published();
    match done {
        Err(Error::NearData(NearDataError::Finalize { commit, source })) => {
            assert_eq!((commit, source.to_string()), (void, "the device is gone".into()));
        }
        other => panic!("{other:?}"),
    }
    // It keeps what the device may still touch until the caller says that it is idle.
    assert!(scene.locked() > 0);
    refused!(transaction.near_data(&scene.table), NearDataError::FinalizeFailed);
    refused!(transaction.commit(), NearDataError::FinalizeFailed);
    let again = transaction.commit_finalizing(&mut |finalize| device.finalize(finalize));
    refused!(again, NearDataError::FinalizeFailed);
    transaction.abandon_fenced().unwrap();
    assert!(matches!(transaction.rollback(), Err(Error::Ended { .. })));
    drop(transaction);
    assert_eq!((scene.rows(), scene.locked()), (after(20, 1, 0), 0));
    assert_eq!(scene.store.pages_in_use(), pages);
    scene.add(at(Isolation::Snapshot), 1, 5).unwrap();
    assert_eq!(scene.reopen().rows(), after(20, 1, 5));
}

/// It is unknown whether the device is still writing: its pages are not used for anything else.
#[test]
fn pages_of_a_device_that_was_not_fenced_stay_out_of_use() {
    for abandoned in [false, true] {
        pages_stay_out_of_use(abandoned);
    }
}

/// The transaction is dropped, or abandoned.
fn pages_stay_out_of_use(abandoned: bool) {
    let scene = Scene::new(100);
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::Snapshot));
    let mut device = scene.device();
    near(&mut transaction, &mut device, &scene.table, 1, 5).unwrap();
    let mut pages = Vec::new();
    let mut order = None;
    let done = transaction.commit_finalizing(&mut |finalize| {
        pages.extend(finalize.pages);
        order = Some(Finalize { pages: &[], ..*finalize });
        Err(FinalizeError::new("the device does not answer"))
    });
    assert!(done.is_err());
    if abandoned {
        transaction.abandon().unwrap();
    }
    drop(transaction);
    assert_eq!(scene.locked(), 0);
    for round in 1..=5 {
        scene.add(at(Isolation::Snapshot), 1, 1).unwrap();
        scene.put(|_| round, (0..100).filter(|id| id % 3 == 0));
        scene.store.vacuum().unwrap();
        scene.store.checkpoint().unwrap();
    }
    let rows = scene.rows();
    // What was ordered then is done now.
    device.finalize(&Finalize { pages: &pages, ..order.unwrap() }).unwrap();
    assert_eq!(rows[&1], 5);
    assert_eq!(scene.reopen().rows(), rows);
}

#[test]
fn a_finalization_that_panics_leaves_the_store_as_it_was() {
    let scene = Scene::new(20);
    let finalizing = std::panic::AssertUnwindSafe(|| {
        let mut session = scene.store.session().unwrap();
        let mut transaction = session.begin(at(Isolation::Snapshot));
        let mut device = scene.device();
        near(&mut transaction, &mut device, &scene.table, 1, 5).unwrap();
        transaction.commit_finalizing(&mut |_| panic!("a flaw in the driver"))
    });
    assert!(std::panic::catch_unwind(finalizing).is_err());
    assert_eq!((scene.rows(), scene.locked()), (after(20, 1, 0), 0));
    scene.add(at(Isolation::Snapshot), 1, 5).unwrap();
    assert_eq!(scene.crash(4).rows(), after(20, 1, 5));
}

/// The device may still be writing the pages of a finalization that has panicked.
#[test]
fn pages_of_a_finalization_that_panics_stay_out_of_use() {
    let scene = Scene::new(100);
    let mut places = Vec::new();
    let finalizing = std::panic::AssertUnwindSafe(|| {
        let mut session = scene.store.session().unwrap();
        let mut transaction = session.begin(at(Isolation::Snapshot));
        let mut device = scene.device();
        near(&mut transaction, &mut device, &scene.table, 1, 5).unwrap();
        transaction.commit_finalizing(&mut |finalize| {
            places.extend_from_slice(finalize.pages);
            panic!("a flaw in the driver")
        })
    });
    assert!(std::panic::catch_unwind(finalizing).is_err());
    assert!(!places.is_empty());
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::Snapshot));
    transaction.near_data(&scene.table).unwrap();
    for reservation in transaction.reserve_pages(&scene.table, 50).unwrap() {
        let used = |kept: &PageReservation| {
            kept.page == reservation.page || kept.place == reservation.place
        };
        assert!(!places.iter().any(used), "{reservation:?} is used again, of {places:?}");
    }
}

#[test]
fn more_pages_than_there_are_are_not_reserved_in_part() {
    let options = Options { pages: 64, ..crate::near_data::scene::options() };
    let scene = Scene::with(20, options);
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::Snapshot));
    transaction.near_data(&scene.table).unwrap();
    let too_many = transaction.reserve_pages(&scene.table, 64);
    assert!(matches!(too_many, Err(Error::Full { what: "pages", limit: 64, .. })));
    // The table is not the device's by that.
    assert!(transaction.get(&scene.table, &1).unwrap().is_some());
    // The first is never used, the last is left to vacuum.
    let free = 64 - 2 - scene.store.pages_in_use() as usize;
    let reserved = transaction.reserve_pages(&scene.table, free).unwrap();
    assert_eq!(reserved.len(), free);
    assert!(transaction.reserve_pages(&scene.table, 1).is_err());
    transaction.rollback().unwrap();
    drop(transaction);
    scene.add(at(Isolation::Snapshot), 1, 5).unwrap();
    assert_eq!(scene.rows(), after(20, 1, 5));
}
