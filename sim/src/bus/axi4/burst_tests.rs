// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random bursts from the manager through the bridge into the test memory.

use super::super::pins::{Axi4ManagerPins, Axi4SubordinatePins};
use super::super::stall::StallPattern;
use super::super::test_memory::{BeatOrder, ErrorInjection, TestMemory, TestMemoryConfig};
use super::burst_traffic::*;
use super::*;
use std::cell::RefCell;
use std::collections::BTreeMap;

const PATTERNS: [StallPattern; 4] = [
    StallPattern::None,
    StallPattern::Random { probability: 0.3 },
    StallPattern::Random { probability: 0.8 },
    StallPattern::Burst { probability: 0.1, longest: 20 },
];

const ORDERS: [ResponseOrder; 3] =
    [ResponseOrder::AsAnswered, ResponseOrder::Shuffled, ResponseOrder::Interleaved];

const BEAT_ORDERS: [BeatOrder; 3] = [BeatOrder::Together, BeatOrder::InOrder, BeatOrder::AnyOrder];

/// A manager, a bridge and a memory, wired to each other.
struct Bench {
    cycle: u64,
    manager: Axi4Manager,
    bridge: Axi4Subordinate,
    memory: TestMemory,
    traffic: Traffic,
    completions: BTreeMap<Ticket, Completion>,
    order: Vec<Ticket>,
    pins: Vec<(Axi4ManagerPins, Axi4SubordinatePins)>,
}

impl Bench {
    /// Every seed is another mixture; 144 of them are all mixtures of stalls, orders and turns.
    fn new(seed: u64, errors: ErrorInjection) -> Self {
        let choose = |of: u64, count: u64| (seed / of % count) as usize;
        let stalls = Axi4Stalls::all(PATTERNS[choose(1, 4)]);
        let config = Axi4Config {
            stalls,
            response_delay: Delay { minimum: 0, maximum: choose(3, 2) as u32 * 30 },
            response_order: ORDERS[choose(4, 3)],
            bursts: Some(BurstLimits { id_bits: 2, reads: 16, writes: 16 }),
            ..Axi4Config::bursts("m_axi", seed)
        };
        let memory = TestMemory::new(TestMemoryConfig {
            base: BASE,
            lines: MEMORY_BYTES / 64,
            seed,
            latency: Delay { minimum: 0, maximum: choose(7, 3) as u32 * 20 },
            errors,
        });
        let broken = [(BROKEN, BusError::SubordinateError)];
        let stalls = Axi4Stalls::all(PATTERNS[choose(36, 4)]);
        Bench {
            cycle: 0,
            manager: Axi4Manager::new(Axi4ManagerConfig {
                stalls,
                id_bits: 2,
                ..Axi4ManagerConfig::new("s_axi", seed)
            }),
            bridge: Axi4Subordinate::new(config),
            memory: memory
                .with_failures(broken)
                .with_beat_order(BEAT_ORDERS[choose(12, 3)])
                .with_beat_log(),
            traffic: Traffic::new(seed),
            completions: BTreeMap::new(),
            order: Vec::new(),
            pins: Vec::new(),
        }
    }

    fn clock(&mut self) {
        let cycle = self.cycle;
        let bridge = *self.bridge.drive(cycle);
        let block = *self.manager.drive(cycle);
        self.bridge.sample(cycle, &block).unwrap_or_else(|fault| panic!("{fault}"));
        self.manager.sample(cycle, &bridge).unwrap_or_else(|fault| panic!("{fault}"));
        self.memory.step(cycle, &mut self.bridge);
        self.traffic.watch(&block, &bridge);
        self.pins.push((block, bridge));
        while let Some(completion) = self.manager.take_completion() {
            let newer = self.order.iter().any(|ticket| *ticket > completion.ticket);
            self.traffic.seen.overtaken += u32::from(newer);
            self.order.push(completion.ticket);
            assert_eq!(self.completions.insert(completion.ticket, completion), None);
        }
        self.cycle += 1;
        assert!(cycle < 400_000, "the manager is not done after {cycle} cycles");
    }

    /// Makes `count` accesses, at most `together` at once.
    fn run(&mut self, count: usize, together: usize) {
        while self.traffic.asked.len() < count || self.manager.outstanding() > 0 {
            if self.traffic.asked.len() < count && self.manager.outstanding() < together {
                self.traffic.ask(&mut self.manager, 4);
            }
            self.clock();
        }
        assert!(self.bridge.is_quiet());
    }
}

#[test]
fn one_access_after_the_other_is_what_an_array_of_bytes_says() {
    seeds::each!(144, |seed| {
        let mut bench = Bench::new(seed, ErrorInjection::None);
        bench.run(60, 1);
        let mut reference = Reference::new();
        for (ticket, Asked { burst, written, .. }) in &bench.traffic.asked {
            let numbers = 0..burst.length;
            match (&bench.completions[ticket].outcome, written) {
                (Outcome::Read(beats), None) => {
                    for (number, beat) in numbers.zip(beats) {
                        let found = beat.map(|line| came_back(burst, number, &line));
                        let expected = match Reference::error(burst, number) {
                            Some(error) => Err(error),
                            None => Ok(reference.bytes(burst, number)),
                        };
                        assert_eq!(found, expected, "beat {number} of {ticket:?}, {burst}");
                    }
                }
                (Outcome::Write(outcome), Some(beats)) => {
                    for (number, beat) in numbers.clone().zip(beats) {
                        if Reference::error(burst, number).is_none() {
                            reference.store(burst, number, beat);
                        }
                    }
                    let fails = numbers.filter_map(|number| Reference::error(burst, number));
                    assert_eq!(outcome.is_err(), fails.count() > 0, "{ticket:?}, {burst}");
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(bench.memory.read_bytes(BASE, MEMORY_BYTES), Some(reference.0));
    });
}

#[test]
fn accesses_at_once_are_what_the_memory_performed_beat_by_beat() {
    let seen = RefCell::new([0; 8]);
    let seeds = seeds::of!(144);
    seeds.each(|seed| {
        let any_errors = seed % 5 == 0;
        let errors = if any_errors { ErrorInjection::Rate(0.05) } else { ErrorInjection::None };
        let mut bench = Bench::new(seed, errors);
        bench.run(60, 12);
        let log = bench.memory.take_beat_log();
        assert_follows(&bench.traffic, &log, &bench.completions, &bench.memory, any_errors);
        let counts = bench.traffic.seen.counts();
        seen.borrow_mut().iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    });
    if seeds.is_whole() {
        let seen = seen.into_inner();
        assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
    }
}

#[test]
fn beats_mix_only_where_they_are_told_to() {
    seeds::each!(36, |seed| {
        let mut bench = Bench::new(seed, ErrorInjection::None);
        bench.run(60, 12);
        let interleaved = ORDERS[(seed / 4 % 3) as usize] == ResponseOrder::Interleaved;
        assert_eq!(bench.traffic.seen.mixed > 0, interleaved, "{:?}", bench.traffic.seen);
    });
}

#[test]
fn one_seed_gives_the_same_pins_and_another_does_not() {
    let pins = |seed| {
        let mut bench = Bench::new(seed, ErrorInjection::Rate(0.02));
        bench.run(40, 12);
        bench.pins
    };
    assert!(pins(59) == pins(59));
    assert!(pins(59) != pins(59 + 144));
}

#[test]
fn a_port_without_stalls_moves_a_beat_in_every_cycle() {
    let mut bench = Bench::new(0, ErrorInjection::None);
    for page in 0..3 {
        let burst = Burst::new(BASE + 4096 * page + 1, 64, FULL_SIZE);
        bench.manager.read(0, burst);
        bench.manager.write(1, burst, burst.write_beats(&vec![page as u8 + 1; 4095]));
    }
    while bench.manager.outstanding() > 0 {
        bench.clock();
    }
    let moved = |taken: fn(&(Axi4ManagerPins, Axi4SubordinatePins)) -> bool| {
        let first = bench.pins.iter().position(taken).expect("it moved");
        let last = bench.pins.iter().rposition(taken).expect("it moved");
        last + 1 - first
    };
    assert_eq!(moved(|(_, bridge)| bridge.rvalid), 3 * 64);
    assert_eq!(moved(|(block, bridge)| block.wvalid && bridge.wready), 3 * 64);
    let statistics = bench.memory.statistics();
    assert_eq!((statistics.reads, statistics.writes), (3, 3));
    assert_eq!((statistics.read_beats, statistics.write_beats), (192, 192));
    // Each way, the beat in the second page that touches the failing bytes is lost.
    assert_eq!((statistics.bytes_read, statistics.errors), (3 * 4095 - 64, 2));
}

#[test]
fn another_agent_reaches_all_bytes_of_the_memory_and_no_others() {
    let mut bench = Bench::new(0, ErrorInjection::None);
    let bytes = [1, 2, 3];
    bench.memory.write_bytes(BASE + 62, &bytes).unwrap();
    assert_eq!(bench.memory.read_bytes(BASE + 61, 5), Some(vec![0, 1, 2, 3, 0]));
    let end = BASE + MEMORY_BYTES as u64;
    assert_eq!(bench.memory.write_bytes(end - 2, &bytes), Err(BusError::DecodeError));
    assert_eq!(bench.memory.read_bytes(end - 2, 2), Some(vec![0, 0]));
    assert_eq!(bench.memory.read_bytes(end - 2, 3), None);
}
