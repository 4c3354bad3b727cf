// SPDX-License-Identifier: MIT OR Apache-2.0
//! A table that is looked up by the pure machine of `nic::lookup`, through the handle that a device has.

use std::collections::BTreeMap;
use std::fs::File;

use driver::{HostMemory, LookUpOperation, LookUpStatus, PAGE_BYTES};
use ndp_runtime::lookup::{LookUpError, LookUpPort, LookedUp, Object, Reply};
use nic::index::{Hint, Operation};
use nic::lookup::{Answer, At, Engine, Geometry, Request, Settings};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tables::memory::AtomicMemory;
use tables::robin_hood::{RobinHood, Shape};
use tables::{Table, TableError, Values, Walk};

/// Where the machine sees the table.
const BASE: u64 = 0x10_0000;

/// The engine of `nic`, over the pages of the table.
struct Machine {
    engine: Engine<2, 1>,
    memory: AtomicMemory,
    words: usize,
}

impl LookUpPort for Machine {
    fn ask(&mut self, key: u64, operation: LookUpOperation) -> Result<Reply, LookUpError> {
        let host = At::new(BASE, self.words, &self.memory);
        let answer = self.engine.run(&host, request(key, operation));
        Ok(reply(&answer))
    }
}

fn request(key: u64, operation: LookUpOperation) -> Request<1> {
    let new = |operation| Request::new(operation, key, 0);
    match operation {
        LookUpOperation::LookUp => new(Operation::LookUp),
        LookUpOperation::LockAndRead { owner } => Request { owner, ..new(Operation::LockAndRead) },
        LookUpOperation::Validate { owner, version } => {
            Request { owner, version, ..new(Operation::Validate) }
        }
        LookUpOperation::UpdateAndPin { owner, version, value } => {
            Request { owner, version, value: [value], ..new(Operation::UpdateAndPin) }
        }
        LookUpOperation::Unpin => new(Operation::Unpin),
        LookUpOperation::Unlock { owner } => Request { owner, ..new(Operation::Unlock) },
        LookUpOperation::Evict => new(Operation::Evict),
        LookUpOperation::SetHint { displacement, is_exact, directory } => {
            let hint = Hint { displacement, is_exact, directory };
            Request { hint, ..new(Operation::SetHint) }
        }
        LookUpOperation::Raw(number) => unreachable!("operation {number} is for tests of devices"),
    }
}

/// As `docs/device.md` has completions.
fn reply(answer: &Answer<1>) -> Reply {
    let content = answer.content;
    let out_of_line = content.is_some_and(|content| content.is_out_of_line);
    let code = match answer.status.number() {
        0 if out_of_line => 0x50,
        0 => 0,
        number => 0x40 + number,
    };
    let status = LookUpStatus::from_code(code).expect("a status of the machine");
    let value = match status {
        LookUpStatus::Locked => answer.owner.into(),
        _ => content.map_or(0, |content| content.value[0]),
    };
    Reply { status, version: content.map_or(0, |content| content.version), value }
}

fn shape(slots: u32) -> Shape {
    let values = Values { inline_bytes: 16, longest: 200, heap_lines: 64 };
    Shape { slots, limit: Some(4), segment: 4, overflow_slots: 64, values }
}

fn looked_up(shape: Shape) -> LookedUp<Machine> {
    let geometry = RobinHood::new(shape).unwrap();
    let words = geometry.ground().words();
    let pages = HostMemory::allocate(8 * words, PAGE_BYTES).unwrap();
    let mapped = || {
        let file = File::from(pages.file().try_clone_to_owned().unwrap());
        AtomicMemory::of_file(&file).unwrap()
    };
    let settings = Settings { value_bytes: 8, most_readings: 8, landing_lines: 32 };
    let machine = Machine {
        engine: Engine::new(Geometry::of_table(&geometry, BASE, 2, settings).unwrap(), 255),
        memory: mapped(),
        words,
    };
    LookedUp::new(Table::new(geometry, mapped()).unwrap(), machine)
}

fn word(value: u64) -> [u8; 8] {
    value.to_le_bytes()
}

fn ended(status: LookUpStatus) -> impl Fn(&LookUpError) -> bool {
    move |error| matches!(error, LookUpError::Ended { status: found, .. } if *found == status)
}

#[test]
fn what_the_host_changes_the_nic_sees() {
    let table = looked_up(shape(50));
    assert_eq!(table.look_up(7), Ok(None));
    table.insert(7, &word(70)).unwrap();
    let found = |version, word| Ok(Some(Object { version, word, is_out_of_line: false }));
    for _ in 0..2 {
        assert_eq!(table.look_up(7), found(1, 70));
    }
    assert_eq!(table.overwrite(7, &word(71)), Ok(2));
    assert_eq!(table.look_up(7), found(2, 71));
    assert_eq!(table.insert(7, &word(1)), Err(TableError::KeyPresent { key: 7 }.into()));
    table.remove(7).unwrap();
    assert_eq!(table.look_up(7), Ok(None));
    // Each object was read from the table once, or twice to see that it is not there.
    let (hits, absent) = table.with_port(|machine| {
        let counters = machine.engine.counters();
        (counters.hits, counters.absent)
    });
    assert_eq!((hits, absent), (1, 2));
}

#[test]
fn a_value_out_of_line_is_told_by_its_address() {
    let table = looked_up(shape(50));
    table.insert(9, &[5; 200]).unwrap();
    let found = table.look_up(9).unwrap().unwrap();
    assert!(found.is_out_of_line && found.version == 1, "{found:?}");
    let mut value = Vec::new();
    assert_eq!((table.get(9, &mut value), value), (Some(1), vec![5; 200]));
}

#[test]
fn a_locked_object_belongs_to_its_owner() {
    let table = looked_up(shape(50));
    table.insert(3, &word(30)).unwrap();
    let object = table.lock(3, 1).unwrap().unwrap();
    assert!(table.lock(3, 2).is_err_and(|error| ended(LookUpStatus::Locked)(&error)));
    assert!(table.look_up(3).is_err_and(|error| ended(LookUpStatus::Locked)(&error)));
    assert!(table.unlock(3, 2).is_err_and(|error| ended(LookUpStatus::Locked)(&error)));
    assert_eq!(table.update(3, 1, object, 31), Ok(2));
    assert_eq!(table.validate(3, 1, 2), Ok(true));
    assert_eq!(table.validate(3, 2, 2), Ok(false));
    table.unlock(3, 1).unwrap();
    assert!(table.unlock(3, 1).is_err_and(
        |error| ended(LookUpStatus::Unknown)(&error) || ended(LookUpStatus::NotLocked)(&error)
    ));
    assert_eq!(table.look_up(3).unwrap().unwrap().word, 31);
    let mut value = Vec::new();
    assert_eq!((table.get(3, &mut value), value), (Some(2), word(31).to_vec()));
    // A key that is not there can be locked as well.
    assert_eq!(table.lock(4, 1), Ok(None));
    assert!(table.lock(4, 2).is_err());
    table.unlock(4, 1).unwrap();
    assert_eq!(table.lock(4, 2), Ok(None));
}

/// An eviction that somebody's lock prevents is not forgotten.
#[test]
fn what_cannot_be_evicted_is_owed() {
    let table = looked_up(shape(50));
    table.insert(5, &word(50)).unwrap();
    table.lock(5, 1).unwrap();
    let error = table.overwrite(5, &word(51)).unwrap_err();
    assert_eq!(error, LookUpError::NotEvicted { key: 5, status: LookUpStatus::Locked });
    assert!(matches!(table.insert(6, &word(60)), Err(LookUpError::NotEvicted { key: 5, .. })));
    let mut value = Vec::new();
    assert_eq!(table.get(6, &mut value), None, "nothing has changed");
    table.unlock(5, 1).unwrap();
    table.insert(6, &word(60)).unwrap();
    assert_eq!(table.look_up(5).unwrap().unwrap().word, 51);
}

/// An update of an object that somebody has changed past its lock is told, and the index keeps none of it.
#[test]
fn an_update_past_a_change_is_noticed() {
    let table = looked_up(shape(50));
    table.insert(5, &word(50)).unwrap();
    let object = table.lock(5, 1).unwrap().unwrap();
    assert!(table.overwrite(5, &word(51)).is_err());
    let error = table.update(5, 1, object, 52).unwrap_err();
    assert_eq!(error, LookUpError::Version { key: 5, found: 3, expected: 2 });
    let found = table.look_up(5).unwrap().unwrap();
    assert_eq!((found.version, found.word), (3, 52));
}

#[test]
fn random_changes_are_seen_by_all() {
    seeds::each!(4, |seed| {
        let draw = &mut ChaCha8Rng::seed_from_u64(seed);
        // Small and full, so that objects lie in overflow buckets and move.
        let (table, mut expected) = (looked_up(shape(40)), BTreeMap::<u64, (u32, u64)>::new());
        for step in 0..600 {
            let (key, value) = (draw.random_range(0..48), draw.next_u64());
            let at = format!("step {step}, key {key}");
            let wrong = |error: LookUpError| format!("{at}: {error}");
            match (draw.random_range(0..8), expected.get(&key).copied()) {
                (0..2, None) => match table.insert(key, &word(value)) {
                    Ok(()) => _ = expected.insert(key, (1, value)),
                    Err(LookUpError::Table(TableError::Full { .. })) => {}
                    Err(error) => return Err(wrong(error)),
                },
                (2, Some((version, _))) => {
                    table.overwrite(key, &word(value)).map_err(wrong)?;
                    expected.insert(key, (version + 1, value));
                }
                (3, Some(_)) => {
                    table.remove(key).map_err(wrong)?;
                    expected.remove(&key);
                }
                (4, _) => {
                    if let Some(object) = table.lock(key, 9).map_err(wrong)? {
                        let version = table.update(key, 9, object, value).map_err(wrong)?;
                        expected.insert(key, (version, value));
                    }
                    table.unlock(key, 9).map_err(wrong)?;
                }
                _ => {}
            }
            let found = table.look_up(key).map_err(wrong)?;
            let found = found.map(|object| (object.version, object.word));
            if found != expected.get(&key).copied() {
                return Err(format!("{at}: {found:?}, expected {:?}", expected.get(&key)));
            }
        }
        Ok::<_, String>(())
    });
}
