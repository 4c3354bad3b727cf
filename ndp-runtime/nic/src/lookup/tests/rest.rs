// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables at rest: what is in them is found, with hints of all qualities, and nothing else.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tables::RemoteTable;
use tables::memory::{HostMemory, PlainMemory};

use super::*;

type Objects = BTreeMap<u64, (u32, Vec<u8>)>;

/// A table after random operations, and what is in it.
fn random_table(random: &mut ChaCha8Rng) -> (Table<RobinHood, PlainMemory>, Objects) {
    let slots = random.random_range(8..80);
    let limit = Some([1, 3, 8, 20, 63][random.random_range(0..5)]);
    let segment = 1 << random.random_range(0..4);
    let overflow_slots = random.random_range(0..60);
    let values = random_values(random);
    let shape = Shape { slots, limit, segment, overflow_slots, values };
    let (table, mut objects) = (table(shape, PlainMemory::new), Objects::new());
    for number in 0..slots * 3 {
        let key = random.random_range(0..u64::from(slots) * 3 / 2);
        let value = value(number.into(), random.random_range(0..=values.longest));
        // Refused ones do nothing.
        match random.random_range(0..5) {
            0 if table.delete(key).is_ok() => {
                objects.remove(&key);
            }
            1 => {
                if let Ok(version) = table.update(key, &value) {
                    objects.insert(key, (version as u32, value));
                }
            }
            _ if table.insert(key, &value).is_ok() => {
                objects.insert(key, (1, value));
            }
            _ => {}
        }
    }
    (table, objects)
}

/// Looks all keys up, most of them several times, and says what went wrong.
fn one(seed: u64) -> Result<Counters, String> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let (table, objects) = random_table(random);
    let robin_hood = *table.geometry();
    let landing_lines = random_landing(random, &robin_hood);
    let settings = Settings { landing_lines, value_bytes: random.random_range(0..=20), ..SETTINGS };
    let geometry = geometry(&robin_hood, settings);
    let mut engine = Engine::<2, WORDS>::new(geometry, 255);
    let memory = At::new(BASE, table.memory().words(), table.memory());
    for _ in 0..2 * robin_hood.homes() {
        let key = random.random_range(0..u64::from(robin_hood.homes()) * 3 / 2);
        let segment = robin_hood.segment(robin_hood.home(key));
        if random.random_bool(0.5) {
            let word = table.memory().load(robin_hood.directory_word(segment));
            let hint = random_hint(random, geometry.table().limit(), word);
            let answer = engine.run(&memory, set_hint(key, hint));
            assert_eq!((answer.status, answer.trips), (Status::DONE, 0));
        }
        let request = Request::new(Operation::LookUp, key, random.random());
        let answer = engine.run(&memory, request);
        let told = || format!("{answer:?} of key {key}, {:?}", objects.get(&key));
        assert_eq!(answer.token, request.token);
        match (answer.status, objects.get(&key)) {
            (Status::Absent, None) => {}
            (Status::DONE, Some((version, value))) => {
                let inline = table.geometry().ground().layout().value_bytes();
                has_object(&answer, *version, value, inline).map_err(|error| error + &told())?;
                let was_cached = answer.trips == 0;
                assert_eq!(answer.content.map(|content| content.is_cached), Some(was_cached));
            }
            _ => return Err(told()),
        }
    }
    check(engine.counters())?;
    Ok(*engine.counters())
}

fn check(counters: &Counters) -> Result<(), String> {
    let Counters { look_ups, hits, misses, found, absent, gave_up, not_read, .. } = *counters;
    let ends = found + absent + gave_up + not_read;
    let right = look_ups == hits + misses && misses == ends && counters.trips >= misses;
    if right { Ok(()) } else { Err(format!("{counters:?}")) }
}

/// What went wrong with one of the seeds.
pub fn any(mut seeds: std::ops::Range<u64>) -> Result<(), String> {
    seeds.try_for_each(|seed| one(seed).map(drop).map_err(|error| format!("seed {seed}: {error}")))
}

#[test]
fn present_keys_are_found_and_others_are_absent() {
    let (seeds, mut sums) = (seeds::of!(60), [0; COUNTERS]);
    seeds.each(|seed| {
        let counters = one(seed)?.by_name();
        sums.iter_mut().zip(counters).for_each(|(sum, (_, count))| *sum += count);
        Ok::<_, String>(())
    });
    // Nobody writes, and nothing fails; all else was met.
    let never = ["GAVE_UP", "NOT_READ", "FILLS_STALE", "FILLS_FULL", "INDEX_ERRORS"];
    for ((name, _), sum) in Counters::default().by_name().into_iter().zip(sums) {
        assert!(never.contains(&name) || !seeds.is_whole() || sum > 20, "{name}: {sum}");
    }
}

#[test]
fn what_cannot_be_read_is_not_read() {
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    let (table, objects) = random_table(random);
    let geometry = geometry(table.geometry(), SETTINGS);
    let mut engine = Engine::<2, WORDS>::new(geometry, 255);
    let nothing = At::new(BASE, 0, table.memory());
    let first = geometry.table().base();
    assert_eq!(nothing.line(first), Err(ReadError(first)));
    for &key in objects.keys() {
        let request = Request { owner: 7, ..Request::new(Operation::LockAndRead, key, 1) };
        let answer = engine.run(&nothing, request);
        let refused = answer.status == Status::Index(index::Status::Full);
        assert!(refused || answer.status == Status::NotRead, "{answer:?}");
        assert_eq!((answer.has_lock, answer.content), (!refused, None));
        if answer.has_lock {
            let unlocked =
                engine.run(&nothing, Request { operation: Operation::Unlock, ..request });
            assert_eq!((unlocked.status, unlocked.owner), (Status::DONE, 7));
        }
    }
    assert_eq!(engine.counters().fills + engine.counters().hints_set, 0);
    assert_eq!(engine.counters().not_read, engine.counters().misses);
}
