// SPDX-License-Identifier: MIT OR Apache-2.0
//! Keys looked up by the RTL in a table that the host's threads change, through the driver.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use device::Simulated;
use driver::{Device, LookUpStatus};
use ndp_runtime::lookup::{DeviceOptions, DevicePort, LookUpError, LookedUp, Object};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tables::Values;
use tables::robin_hood::Shape;

/// Longer than any request takes.
const BOUND: Duration = Duration::from_secs(20);

fn shape(slots: u32) -> Shape {
    let values = Values { inline_bytes: 16, longest: 200, heap_lines: 64 };
    Shape { slots, limit: Some(4), segment: 4, overflow_slots: 256, values }
}

fn options() -> DeviceOptions {
    DeviceOptions { index_base: 0x10_0000, bound: BOUND, ..DeviceOptions::default() }
}

fn device() -> Device {
    Device::new(Arc::new(Simulated::new("sim:".into()).unwrap())).unwrap()
}

fn looked_up(device: &Device, slots: u32) -> LookedUp<DevicePort> {
    DevicePort::start(device, shape(slots), &options()).unwrap()
}

fn object(version: u32, word: u64) -> Option<Object> {
    Some(Object { version, word, is_out_of_line: false })
}

#[test]
fn keys_are_found_in_rows_in_buckets_and_in_the_index() {
    let device = device();
    let table = looked_up(&device, 64);
    // More than fit into the rows.
    for key in 0..80u64 {
        table.insert(key, &(key * key).to_le_bytes()).unwrap();
    }
    assert!(table.statistics().overflowed > 0, "{:?}", table.statistics());
    // The second time each comes from the index.
    for key in (0..80).flat_map(|key| [key, key]) {
        assert_eq!(table.look_up(key), Ok(object(1, key * key)), "key {key}");
    }
    assert_eq!(table.look_up(80), Ok(None));
    let counters = table.with_port(|port| port.unit().counters()).unwrap();
    assert_eq!((counters.look_ups, counters.absent), (161, 1));
    assert_eq!((counters.found, counters.hits), (80, 80));
    assert!(counters.found_in_buckets > 0, "{counters:?}");
    assert_eq!(counters.index_errors, 0);
}

#[test]
fn locks_and_updates_go_through_the_index() {
    let device = device();
    let table = looked_up(&device, 64);
    table.insert(3, &30u64.to_le_bytes()).unwrap();
    table.insert(4, &[7; 200]).unwrap();
    assert!(table.look_up(4).unwrap().unwrap().is_out_of_line);
    let found = table.lock(3, 1).unwrap().unwrap();
    let refused = |result: Result<Option<Object>, LookUpError>| {
        assert!(matches!(result, Err(LookUpError::Ended { status: LookUpStatus::Locked, .. })));
    };
    refused(table.lock(3, 2));
    refused(table.look_up(3));
    assert_eq!(table.update(3, 1, found, 31), Ok(2));
    table.unlock(3, 1).unwrap();
    assert_eq!(table.look_up(3), Ok(object(2, 31)));
    table.remove(3).unwrap();
    assert_eq!(table.look_up(3), Ok(None));
}

/// A thread of the host inserts and removes keys beside others that are there all the time.
#[test]
fn keys_that_stay_are_found_while_others_come_and_go() {
    seeds::each!(1, |seed| {
        let device = device();
        let table = looked_up(&device, 64);
        for key in 0..32 {
            table.insert(key, &key.to_le_bytes()).map_err(|error| error.to_string())?;
        }
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let changes = scope.spawn(|| {
                let draw = &mut ChaCha8Rng::seed_from_u64(seed);
                while !over.load(Ordering::Relaxed) {
                    let key = draw.random_range(32..64);
                    let changed = match table.get(key, &mut Vec::new()) {
                        None => table.insert(key, &key.to_le_bytes()),
                        Some(_) => table.remove(key),
                    };
                    changed.map_err(|error| format!("change of key {key}: {error}"))?;
                }
                Ok(())
            });
            let draw = &mut ChaCha8Rng::seed_from_u64(!seed);
            let mut wrong = Ok(());
            for _ in 0..300 {
                let key = draw.random_range(0..64);
                let found = table.look_up(key);
                let right = match &found {
                    Ok(found) => *found == object(1, key) || key >= 32 && found.is_none(),
                    Err(_) => false,
                };
                if !right {
                    wrong = Err(format!("key {key}: {found:?}"));
                    break;
                }
            }
            over.store(true, Ordering::Relaxed);
            wrong.and(changes.join().expect("no panic"))
        })
    });
}

/// What the unit refuses has a name and a value, and a table that it cannot search is not begun.
#[test]
fn what_does_not_suit_is_refused() {
    let device = device();
    let start = |shape, options: &DeviceOptions| {
        DevicePort::start(&device, shape, options).err().map(|error| error.to_string())
    };
    let bytes = Values::inline(100);
    for (shape, options, expected) in [
        (Shape { limit: None, ..shape(8) }, options(), "limit is 0"),
        (Shape { values: bytes, ..shape(8) }, options(), "bytes of a slot is 128, expected 32"),
        (shape(8), DeviceOptions { index_base: 8, ..options() }, "refuses INDEX_BASE: it is 0x8"),
        (shape(8), DeviceOptions { index_base: 64 << 20, ..options() }, "index_base is 67108864"),
        (shape(8), DeviceOptions { most_readings: 1, ..options() }, "MOST_READINGS: it is 0x1"),
    ] {
        let error = start(shape, &options).expect(expected);
        assert!(error.contains(expected), "{error}, expected {expected}");
    }
    assert_eq!(start(shape(8), &options()), None);
    // The cache would have objects of the table before.
    let table = looked_up(&device, 8);
    assert_eq!(table.look_up(1), Ok(None));
    drop(table);
    let error = start(shape(8), &options()).expect("a unit that was used");
    assert!(error.contains("requests of the look-up unit is 1, expected 0"), "{error}");
    device.reset().unwrap();
    assert_eq!(start(shape(8), &options()), None);
}
