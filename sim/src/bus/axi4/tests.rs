// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bridge with a test memory against a manager under random stalls.

use super::super::pins::Axi4ManagerPins;
use super::super::stall::StallPattern;
use super::super::test_memory::{ErrorInjection, PerformedAccess, TestMemory, TestMemoryConfig};
use super::fault_tests::read_line;
use super::test_manager::{Seen, TestManager};
use super::*;
use std::collections::BTreeMap;

const BASE: u64 = 0x1_0000_0000;
const LINES: usize = 4;

fn memory(seed: u64, latency: Delay, errors: ErrorInjection) -> TestMemory {
    TestMemory::new(TestMemoryConfig { base: BASE, lines: LINES, seed, latency, errors })
}

/// A different mixture of stalls for each seed, from none to heavy.
fn stalls_of(seed: u64) -> StallPattern {
    match seed % 4 {
        0 => StallPattern::None,
        1 => StallPattern::Random { probability: 0.3 },
        2 => StallPattern::Random { probability: 0.8 },
        _ => StallPattern::Burst { probability: 0.1, longest: 20 },
    }
}

fn config_of(seed: u64) -> Axi4Config {
    Axi4Config {
        stalls: Axi4Stalls::all(stalls_of(seed)),
        response_delay: Delay { minimum: 0, maximum: (seed / 4 % 3 * 20) as u32 },
        response_order: [ResponseOrder::AsAnswered, ResponseOrder::Shuffled][seed as usize % 2],
        ..Axi4Config::lock_unit(seed)
    }
}

/// Runs the manager to its end; gives the log in the order of the memory.
fn run(
    manager: &mut TestManager,
    bridge: &mut Axi4Subordinate,
    memory: &mut TestMemory,
) -> Vec<PerformedAccess> {
    for cycle in 0..100_000 {
        let driven = *bridge.drive(cycle);
        let block = manager.drive();
        bridge.sample(cycle, block).unwrap_or_else(|fault| panic!("{fault}"));
        manager.sample(&driven);
        memory.step(cycle, bridge);
        if manager.done() {
            assert_eq!(bridge.outstanding(), 0);
            return memory.take_log();
        }
    }
    panic!("the manager is not done after 100000 cycles");
}

/// Performs the log on a plain map: every outcome is the one that was logged.
fn assert_sequential(log: &[PerformedAccess]) {
    let mut words: BTreeMap<u64, u64> = BTreeMap::new();
    for performed in log {
        let MemoryAccess { address, kind, .. } = performed.access;
        if performed.outcome.is_err() {
            continue;
        }
        let old = words.get(&address).copied().unwrap_or(0);
        let expected = match kind {
            AccessKind::ReadLine { .. } => MemoryData::Line(std::array::from_fn(|word| {
                words.get(&(address + 8 * word as u64)).copied().unwrap_or(0)
            })),
            AccessKind::CompareSwap { expected, new } => {
                if old == expected {
                    words.insert(address, new);
                }
                MemoryData::OldWord(old)
            }
            AccessKind::Store { value, strobe } => {
                let mut bytes = old.to_le_bytes();
                for byte in (0..8).filter(|byte| strobe >> byte & 1 == 1) {
                    bytes[byte] = value.to_le_bytes()[byte];
                }
                words.insert(address, u64::from_le_bytes(bytes));
                MemoryData::Stored
            }
            AccessKind::ReadBurst(_) | AccessKind::WriteBurst(_) => {
                unreachable!("the port takes no bursts")
            }
        };
        assert_eq!(performed.outcome, Ok(expected), "{:?}", performed.access);
    }
}

#[test]
fn every_answer_is_what_the_memory_performed() {
    let seen = std::cell::RefCell::new(Seen::default());
    let seeds = seeds::of!(200);
    seeds.each(|seed| {
        let errors = if seed % 3 == 0 { ErrorInjection::Rate(0.1) } else { ErrorInjection::None };
        let latency = Delay { minimum: 0, maximum: (seed % 5 * 10) as u32 };
        let mut memory = memory(seed, latency, errors);
        let mut bridge = Axi4Subordinate::new(config_of(seed));
        let mut manager = TestManager::new(seed, stalls_of(seed / 4), 300, BASE, LINES as u64);
        let log = run(&mut manager, &mut bridge, &mut memory);
        manager.assert_matches(&log);
        assert_sequential(&log);
        *seen.borrow_mut() += manager.seen;
    });
    if seeds.is_whole() {
        let Seen {
            read_before_write,
            write_before_read,
            together,
            data_before_address,
            address_before_data,
            overtaken,
            errors,
        } = seen.into_inner();
        let counts = [
            read_before_write,
            write_before_read,
            together,
            data_before_address,
            address_before_data,
            overtaken,
            errors,
        ];
        assert!(counts.iter().all(|count| *count > 500), "{seen:?}", seen = counts);
    }
}

#[test]
fn several_accesses_of_one_id_keep_their_order() {
    seeds::each!(100, |seed| {
        let config = Axi4Config {
            sharing: IdSharing::Several,
            responses_always_taken: false,
            ..config_of(seed)
        };
        let mut bridge = Axi4Subordinate::new(config);
        let mut memory =
            memory(seed, Delay { minimum: 0, maximum: 30 }, ErrorInjection::Rate(0.05));
        let mut manager = TestManager::new(seed, stalls_of(seed / 4), 300, BASE, LINES as u64)
            .sharing_ids()
            .stalling_responses(seed, stalls_of(seed / 16));
        let log = run(&mut manager, &mut bridge, &mut memory);
        manager.assert_matches(&log);
        assert_sequential(&log);
    });
}

#[test]
fn the_same_seed_repeats_a_run_and_another_does_not() {
    let log = |seed| {
        let mut bridge = Axi4Subordinate::new(Axi4Config { seed, ..config_of(7) });
        let mut memory = memory(1, Delay { minimum: 3, maximum: 40 }, ErrorInjection::None);
        let mut manager = TestManager::new(1, stalls_of(1), 300, BASE, LINES as u64);
        run(&mut manager, &mut bridge, &mut memory)
    };
    assert_eq!(log(1), log(1));
    assert_ne!(log(1), log(2));
}

#[test]
fn listed_errors_hit_their_access_and_accesses_outside_answer_decerr() {
    let listed = BTreeMap::from([(2, BusError::SubordinateError), (5, BusError::DecodeError)]);
    let mut bridge = Axi4Subordinate::new(Axi4Config::lock_unit(0));
    let mut memory = memory(0, Delay::default(), ErrorInjection::Listed(listed));
    // One line more than there is.
    let mut manager = TestManager::new(0, StallPattern::None, 200, BASE, LINES as u64 + 1);
    let log = run(&mut manager, &mut bridge, &mut memory);
    manager.assert_matches(&log);
    let end = BASE + 64 * LINES as u64;
    for (number, performed) in log.iter().enumerate() {
        let expected = match number {
            2 => Some(BusError::SubordinateError),
            5 => Some(BusError::DecodeError),
            _ => (performed.access.address >= end).then_some(BusError::DecodeError),
        };
        assert_eq!(performed.outcome.err(), expected, "access {number}");
    }
}

#[test]
fn kept_copies_are_voided_once_each_by_the_next_store() {
    let mut bridge = Axi4Subordinate::new(Axi4Config::lock_unit(0));
    let mut memory = memory(0, Delay::default(), ErrorInjection::None);
    for (cycle, (id, arcache)) in [(1, 0xF), (2, 0xF), (3, 0x3)].into_iter().enumerate() {
        let read = Axi4ManagerPins { arid: id, arcache, ..read_line() };
        bridge.drive(cycle as u64);
        bridge.sample(cycle as u64, &read).unwrap();
        memory.step(cycle as u64, &mut bridge);
    }
    assert_eq!(memory.compare_swap(BASE + 8, 1, 2), Ok(0), "fails, so it changes nothing");
    assert_eq!(memory.take_invalidation(), None);
    assert_eq!(memory.compare_swap(BASE + 8, 0, 2), Ok(0));
    memory.store(BASE, 1).unwrap();
    let voided: Vec<u64> = std::iter::from_fn(|| memory.take_invalidation()).collect();
    assert_eq!(voided, [BASE, BASE]);
    assert_eq!((memory.load(BASE + 8), memory.load(BASE + 64 * 4)), (Some(2), None));
}
