// SPDX-License-Identifier: MIT OR Apache-2.0
//! Look-ups in small Robin Hood tables at rest: one after the other they are those of the machine.

mod bench;
mod link;
mod rate;

use bench::{Bench, HOST, Port, Surroundings, WORDS};
use nic::index::Operation;
use nic::lookup::{At, Engine, Geometry, Request, Settings, Status};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tables::memory::PlainMemory;
use tables::robin_hood::{RobinHood, Shape};
use tables::{RemoteTable, Table, Values, Walk};

const SETTINGS: Settings = Settings { value_bytes: 8, most_readings: 4, landing_lines: 32 };

/// A table that is full enough to have overflow buckets, with even keys.
fn table(slots: u32, limit: u32) -> Table<RobinHood, PlainMemory> {
    let shape = Shape {
        slots,
        limit: Some(limit),
        segment: 4,
        overflow_slots: slots,
        values: Values::inline(16),
    };
    let geometry = RobinHood::new(shape).unwrap();
    let table = Table::new(geometry, PlainMemory::new(geometry.ground().words())).unwrap();
    for number in 0..u64::from(slots) {
        let length = if number % 5 == 0 { 12 } else { 8 };
        let value: Vec<u8> = (0..length).map(|byte| (number * 7 + byte) as u8).collect();
        // Refused ones do nothing.
        let _ = table.insert(2 * number, &value);
    }
    table
}

/// Requests one after the other, each compared with what software makes of it.
fn one_by_one(seed: u64) -> Result<(), String> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let slots = random.random_range(20..120);
    let table = table(slots, [1, 3, 8, 40][random.random_range(0..4)]);
    let geometry = Geometry::<WORDS>::of_table(table.geometry(), HOST, 2, SETTINGS).unwrap();
    let mut engine = Engine::<2, WORDS>::new(geometry, 255);
    let memory = At::new(HOST, table.geometry().ground().words(), table.memory());
    let mut bench = Bench::new(&table, &Surroundings { seed, ..Surroundings::smooth(20) });
    bench.configure(&geometry);
    for token in 0..200 {
        let key = random.random_range(0..u64::from(slots) * 2);
        let operation = match random.random_range(0..10) {
            0 => Operation::LockAndRead,
            1 => Operation::Unlock,
            2 => Operation::Evict,
            3 => Operation::Validate,
            _ => Operation::LookUp,
        };
        let owner = random.random_range(1..3);
        let request = Request { owner, ..Request::new(operation, key, token) };
        let port = if random.random() { Port::Network } else { Port::Software };
        bench.push(port, &request);
        let answers = bench.run(1).map_err(|error| format!("{request:?}: {error}"))?;
        let expected = engine.run(&memory, request);
        if answers != [(port, expected)] {
            return Err(format!("{request:?}: {answers:?}, expected {expected:?}"));
        }
    }
    let (counted, expected) = (bench.counters(), engine.counters().by_name());
    if counted != expected {
        return Err(format!("counted {counted:?}, expected {expected:?}"));
    }
    assert_eq!(bench.read(bench::RETURN), 0);
    Ok(())
}

#[test]
fn requests_one_after_the_other() {
    seeds::each!(12, one_by_one);
}

/// All at once, on both ports: present keys are found, others are absent.
fn all_at_once(seed: u64) -> Result<(), String> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let slots = 400;
    let table = table(slots, 6);
    let geometry = Geometry::<WORDS>::of_table(table.geometry(), HOST, 2, SETTINGS).unwrap();
    let stalls = [
        sim::bus::stall::StallPattern::None,
        sim::bus::stall::StallPattern::Random { probability: 0.3 },
    ][(seed % 2) as usize];
    let surroundings = Surroundings { seed, stalls, ..Surroundings::smooth(50) };
    let mut bench = Bench::new(&table, &surroundings);
    bench.configure(&geometry);
    let keys: Vec<u64> = (0..1500).map(|_| random.random_range(0..u64::from(slots) * 2)).collect();
    for (token, key) in keys.iter().enumerate() {
        let port = if random.random_bool(0.8) { Port::Network } else { Port::Software };
        bench.push(port, &Request::new(Operation::LookUp, *key, token as u16));
    }
    let answers = bench.run(keys.len())?;
    let mut open = vec![true; keys.len()];
    for (_, answer) in answers {
        let key = keys[usize::from(answer.token)];
        if !std::mem::take(&mut open[usize::from(answer.token)]) {
            return Err(format!("{answer:?} comes twice"));
        }
        let expected = if table.locate(key).is_some() { Status::DONE } else { Status::Absent };
        if answer.status != expected || answer.content.is_some() != (expected == Status::DONE) {
            return Err(format!("key {key}: {answer:?}, expected {expected:?}"));
        }
    }
    Ok(())
}

#[test]
fn requests_all_at_once() {
    seeds::each!(4, all_at_once);
}
