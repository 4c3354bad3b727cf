// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host memory behind the link of Xenic's NIC, counted in clocks of 250 MHz.

use std::collections::BTreeMap;

use sim::bus::axi4::{AccessKind, Axi4Subordinate, Burst};
use sim::bus::test_memory::TestMemory;

/// Bytes a clock in each direction: 7.88 GB/s (PCIe 3.0 x8), headers of packets among them.
const RATE: f64 = 7.88e9 / 250e6;
/// What a packet has beside its payload, and the most payload of one.
const HEADER: u64 = 26;
const PAYLOAD: u64 = 256;
/// Clocks that the host takes for a read. With the link, a read of 64 bytes takes 1.3 µs, 325 clocks
/// (Xenic, 3.5).
const READ: u64 = 319;

/// What answers at the port of host memory.
pub trait Host {
    fn step(&mut self, cycle: u64, port: &mut Axi4Subordinate);
}

impl Host for TestMemory {
    fn step(&mut self, cycle: u64, port: &mut Axi4Subordinate) {
        TestMemory::step(self, cycle, port);
    }
}

enum Event {
    /// The host has read.
    Read(Burst),
    /// A line of a read has come.
    Line(Burst, u16),
}

/// The link, before a memory.
pub struct Link {
    base: u64,
    lines: Vec<[u64; 8]>,
    /// The clocks at which both directions have carried all that they had: to the host, and back.
    busy: [f64; 2],
    /// Clocks that the way back took for what it has carried.
    carried: std::rc::Rc<std::cell::Cell<f64>>,
    events: BTreeMap<(u64, u64), Event>,
    count: u64,
}

impl Link {
    /// The link, and the clocks that its way back was needed.
    pub fn new(base: u64, lines: Vec<[u64; 8]>) -> (Self, std::rc::Rc<std::cell::Cell<f64>>) {
        let carried = std::rc::Rc::default();
        let link = Link {
            base,
            lines,
            busy: [0.0; 2],
            carried: std::rc::Rc::clone(&carried),
            events: BTreeMap::new(),
            count: 0,
        };
        (link, carried)
    }

    /// Carries so many bytes, and gives the clock at which the last has passed.
    fn carry(&mut self, way: usize, now: u64, bytes: u64) -> u64 {
        let clocks = bytes as f64 / RATE;
        self.busy[way] = self.busy[way].max(now as f64) + clocks;
        if way == 1 {
            self.carried.set(self.carried.get() + clocks);
        }
        self.busy[way].ceil() as u64
    }

    fn at(&mut self, clock: u64, event: Event) {
        self.count += 1;
        self.events.insert((clock, self.count), event);
    }

    /// The lines of a read, in packets.
    fn carry_lines(&mut self, now: u64, burst: Burst) {
        let lines: Vec<u16> = burst.beats().map(|beat| beat.number).collect();
        for packet in lines.chunks(PAYLOAD as usize / 64) {
            let passed = self.carry(1, now, HEADER + 64 * packet.len() as u64);
            for number in packet {
                self.at(passed, Event::Line(burst, *number));
            }
        }
    }
}

impl Host for Link {
    fn step(&mut self, cycle: u64, port: &mut Axi4Subordinate) {
        while let Some(access) = port.take_access() {
            let AccessKind::ReadBurst(burst) = access.kind else {
                unreachable!("{:?} at a port of reads", access.kind)
            };
            let asked = self.carry(0, cycle, HEADER);
            self.at(asked + READ, Event::Read(burst));
        }
        while let Some(entry) = self.events.first_entry().filter(|entry| entry.key().0 <= cycle) {
            match entry.remove() {
                Event::Read(burst) => self.carry_lines(cycle, burst),
                Event::Line(burst, number) => {
                    let line = (burst.beat(number).line() - self.base) / 64;
                    let words = self.lines[line as usize];
                    port.answer_beat(cycle, burst.key, number, Ok(words));
                }
            }
        }
    }
}
