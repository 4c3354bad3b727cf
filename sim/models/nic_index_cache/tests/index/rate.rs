// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operations a clock, and clocks an operation. Clocks are counted, so the figures are the same everywhere.

use nic::index::{Operation, Table};

use crate::bench::{Answered, Bench, Surroundings};
use crate::dut::{RequestWords, SHIPPED};

const SEGMENTS: u32 = 1 << 17;
/// Places of the shipped block.
const PLACES: u32 = 16_384;

fn bench() -> Bench {
    let table = Table::new(0, 2 * SEGMENTS, 32, 16, 1, SEGMENTS).unwrap();
    Bench::new(SHIPPED, 0, 0, table, &Surroundings::smooth())
}

fn request(operation: Operation, segment: u32, token: usize) -> RequestWords {
    let mut words = RequestWords::default();
    words[0] = u64::from(segment);
    words[1] = u64::from(2 * segment) << 32 | u64::from(segment);
    words[3] = (token as u64 & 0xFFFF) << 16 | operation as u64;
    words
}

/// Runs these requests, and says how many were answered a clock, and the least and the most clocks from
/// acceptance to answer.
fn measure(bench: &mut Bench, requests: impl Iterator<Item = RequestWords>) -> (f64, u64, u64) {
    let first = bench.cycle;
    requests.for_each(|request| bench.push(request));
    let answers = bench.finish().unwrap();
    let clocks = answers.last().expect("there were requests").cycle - first;
    let latency = |answered: &Answered| answered.cycle - answered.accepted;
    let rate = answers.len() as f64 / clocks as f64;
    let least = answers.iter().map(latency).min().unwrap();
    (rate, least, answers.iter().map(latency).max().unwrap())
}

/// So that a single request is not held up by those before it.
fn alone(bench: &mut Bench, request: RequestWords) -> u64 {
    measure(bench, std::iter::once(request)).1
}

#[test]
fn one_operation_a_clock() {
    const COUNT: usize = 20_000;
    use Operation::{Fill, LockAndRead, LookUp, Unlock};
    let mut bench = bench();
    let fills = (0..PLACES).map(|segment| request(Fill, segment, segment as usize));
    let (clean, _, _) = measure(&mut bench, fills);
    println!("entries in NIC memory, into free places: {clean:.3} operations a clock");

    let hits = (0..COUNT).map(|n| request(LookUp, (n as u32 * 7919) % PLACES, n));
    let (rate, least, most) = measure(&mut bench, hits);
    println!("cached entries: {rate:.3} operations a clock, {least} to {most} clocks");
    assert!(rate > 0.999 && most <= 6, "{rate} a clock, {most} clocks");

    let one = (0..COUNT).map(|n| request(if n % 2 == 0 { LockAndRead } else { Unlock }, 5, n));
    let (rate, least, most) = measure(&mut bench, one);
    println!("all on one entry: {rate:.3} operations a clock, {least} to {most} clocks");
    assert!(rate > 0.999 && most <= 6, "{rate} a clock, {most} clocks");

    let latency = alone(&mut bench, request(LookUp, PLACES, 0));
    println!("an entry in NIC memory, in the place of a changed one: {latency} clocks");
    let others = (0..COUNT / 4).map(|n| request(Fill, PLACES + 1 + n as u32, n));
    let (rate, least, most) = measure(&mut bench, others);
    println!("all such, filled: {rate:.3} operations a clock, {least} to {most} clocks");
    let looked = (0..COUNT).map(|n| request(LookUp, 2 * PLACES + n as u32, n));
    measure(&mut bench, looked);
    let latency = alone(&mut bench, request(LookUp, PLACES, 0));
    println!("an entry in NIC memory, in the place of an unchanged one: {latency} clocks");
    let looked = (0..COUNT).map(|n| request(LookUp, 4 * PLACES + n as u32, n));
    let (rate, least, most) = measure(&mut bench, looked);
    println!("all such: {rate:.3} operations a clock, {least} to {most} clocks");
}

#[test]
fn a_flush_writes_each_changed_entry_once_and_keeps_all() {
    let mut bench = bench();
    let fills = (0..PLACES).map(|segment| request(Operation::Fill, segment, segment as usize));
    measure(&mut bench, fills);
    let clocks = bench.flush().unwrap();
    println!("{PLACES} changed entries: flushed in {clocks} clocks");
    assert_eq!(bench.watch.writes(), u64::from(PLACES));
    let clocks = bench.flush().unwrap();
    println!("none changed: {clocks} clocks");
    assert_eq!(bench.watch.writes(), u64::from(PLACES));
    let fetches = bench.watch.fetches();
    let looked = (0..PLACES).map(|segment| request(Operation::LookUp, segment, segment as usize));
    measure(&mut bench, looked);
    assert_eq!(bench.watch.fetches(), fetches, "an entry was not cached any more");
}
