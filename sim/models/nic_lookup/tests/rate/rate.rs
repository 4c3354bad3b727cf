// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many look-ups a clock, with hits and without.

use std::collections::BTreeSet;

use nic::index::{Hint, Operation};
use nic::lookup::{Geometry, Request};
use tables::hash;
use tables::memory::{HostMemory, PlainMemory};
use tables::robin_hood::{RobinHood, Shape};
use tables::{RemoteTable, Table, Values, Walk};
use timing::platform::Platform;

use crate::SETTINGS;
use crate::bench::{Bench, HOST, Port, Surroundings, WORDS};
use crate::link::{Linked, PERIOD};

/// A table with so many slots and objects, in segments of 16.
fn table(slots: u32, objects: u64) -> Table<RobinHood, PlainMemory> {
    let values = Values::inline(16);
    let shape = Shape { slots, limit: Some(32), segment: 16, overflow_slots: slots / 4, values };
    let geometry = RobinHood::new(shape).unwrap();
    let table = Table::new(geometry, PlainMemory::new(geometry.ground().words())).unwrap();
    for key in 0..objects {
        table.insert(key, &key.to_le_bytes()).expect("there is room");
    }
    table
}

/// Tells the index all hints, so that look-ups know where to read.
fn set_hints(bench: &mut Bench, table: &Table<RobinHood, PlainMemory>) {
    let mut left: BTreeSet<u32> = (0..table.geometry().segments()).collect();
    let hints = table.hints();
    let homes = table.geometry().homes();
    for key in 0.. {
        let segment = table.geometry().segment(hash::home(key, homes));
        if left.remove(&segment) {
            let hint = hints[segment as usize];
            let directory = hint.overflow.map(|link| link.0 & ((1 << 38) - 1));
            let displacement = hint.displacement.unwrap_or(0) as u8;
            let hint = Hint { displacement, is_exact: true, directory };
            let request = Request { hint, ..Request::new(Operation::SetHint, key, segment as u16) };
            bench.push(Port::Network, &request);
        }
        if left.is_empty() {
            break;
        }
    }
    bench.run(hints.len()).expect("hints are set");
}

/// Look-ups of keys a clock, in the time from the first answer to the last but the slowest; and the clocks
/// from a request to its answer, one alone.
fn look_up(bench: &mut Bench, keys: &[u64]) -> (f64, u64) {
    let alone = Request::new(Operation::LookUp, keys[0], 0);
    bench.push(Port::Network, &alone);
    let since = bench.cycle;
    while bench.clock().expect("no error").is_empty() {}
    let latency = bench.cycle - since;
    for key in keys {
        bench.push(Port::Network, &Request::new(Operation::LookUp, *key, *key as u16));
    }
    let (mut answers, mut first) = (0, 0);
    while answers < keys.len() - 200 {
        answers += bench.clock().expect("no error").len();
        if first == 0 && answers > 200 {
            first = bench.cycle;
        }
    }
    let rate = (answers - 200) as f64 / (bench.cycle - first) as f64;
    bench.run(keys.len() - answers).expect("all are answered");
    (rate, latency)
}

/// Hits a clock.
fn hits() -> (f64, u64) {
    let table = table(1 << 12, 100);
    let geometry = Geometry::<WORDS>::of_table(table.geometry(), HOST, 2, SETTINGS).unwrap();
    let mut bench = Bench::new(&table, &Surroundings::smooth(20));
    bench.configure(&geometry);
    let keys: Vec<u64> = (0..3000).map(|n| n % 16).collect();
    look_up(&mut bench, &keys);
    look_up(&mut bench, &keys)
}

/// Misses a clock, and the share of the link's rate that they take.
fn misses(slots: u32, objects: u64, more: u8) -> (f64, u64, f64) {
    let table = table(slots, objects);
    let geometry = Geometry::<WORDS>::of_table(table.geometry(), HOST, more, SETTINGS).unwrap();
    let words = table.geometry().ground().words();
    let line = |n| std::array::from_fn(|word| table.memory().load(8 * n + word));
    let platform = Platform::named("liquidio3").expect("it comes with the program");
    let (link, traffic) = Linked::new(&platform, HOST, (0..words / 8).map(line).collect());
    let mut bench = Bench::before(&table, &Surroundings::smooth(0), Box::new(link));
    bench.configure(&geometry);
    set_hints(&mut bench, &table);
    let keys: Vec<u64> = (1..objects).collect();
    let (clocks, before) = (bench.cycle, traffic.get());
    let (rate, latency) = look_up(&mut bench, &keys);
    let carried = (traffic.get() - before).time(&platform.link);
    let share = carried.as_ps() as f64 / (PERIOD * (bench.cycle - clocks)).as_ps() as f64;
    println!("{:?}", bench.counters());
    (rate, latency, share)
}

#[test]
fn rate() {
    let (rate, latency) = hits();
    println!("hits: {rate:.3} a clock, {latency} clocks alone");
    assert!(rate > 0.95, "{rate} hits a clock");
    for (slots, objects) in [(1 << 15, 6000), (1 << 14, 14_000)] {
        let (rate, latency, share) = misses(slots, objects, 2);
        println!(
            "misses, {objects} of {slots}: {rate:.3} a clock, {:.1} % of the link, {latency} clocks alone",
            100.0 * share
        );
        assert!(share > 0.8, "{share} of the link");
    }
}
