// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host memory behind the link of Xenic's NIC, counted in clocks of 250 MHz.

use std::collections::BTreeMap;

use sim::bus::axi4::{AccessKind, Axi4Subordinate, Burst};

use crate::bench::Memory;

/// Bytes a clock in each direction: 7.88 GB/s (PCIe 3.0 x8), headers of packets among them.
pub const RATE: f64 = 7.88e9 / 250e6;
/// What a packet has beside its payload, and the most payload of one.
const HEADER: u64 = 26;
const PAYLOAD: u64 = 256;
/// Clocks that the host takes for a read. With the link, a read of 64 bytes takes 1.3 µs, 325 clocks
/// (Xenic, 3.5).
const READ: u64 = 319;
/// The same for a write: 0.57 µs, 142 clocks.
const WRITE: u64 = 138;

/// The bytes a clock that payloads of this length get through the link at most.
pub fn limit(payload: u64) -> f64 {
    let headers = HEADER * payload.div_ceil(PAYLOAD);
    RATE * payload as f64 / (payload + headers) as f64
}

enum Event {
    /// The host has read.
    Read(Burst),
    /// A line of a read has come.
    Line(Burst, u16),
    Written(Burst),
}

/// The link, with a memory whose bytes are those of their addresses.
#[derive(Default)]
pub struct Link {
    /// The clocks at which both directions have carried all that they had: to the host, and back.
    busy: [f64; 2],
    events: BTreeMap<(u64, u64), Event>,
    count: u64,
}

/// The bytes of a line.
fn line(address: u64) -> [u64; 8] {
    std::array::from_fn(|word| address + 8 * word as u64)
}

impl Link {
    /// Carries so many bytes, and gives the clock at which the last has passed.
    fn carry(&mut self, way: usize, now: u64, bytes: u64) -> u64 {
        self.busy[way] = self.busy[way].max(now as f64) + bytes as f64 / RATE;
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

impl Memory for Link {
    fn step(&mut self, cycle: u64, port: &mut Axi4Subordinate) {
        while let Some(access) = port.take_access() {
            match access.kind {
                AccessKind::ReadBurst(burst) => {
                    let asked = self.carry(0, cycle, HEADER);
                    self.at(asked + READ, Event::Read(burst));
                }
                AccessKind::WriteBurst(burst) => {
                    let bytes: u32 = port
                        .write_beats(burst.key)
                        .iter()
                        .map(|beat| beat.strobe.count_ones())
                        .sum();
                    let written = self.carry(0, cycle, HEADER + u64::from(bytes));
                    self.at(written + WRITE, Event::Written(burst));
                }
                other => unreachable!("{other:?} at a port of bursts"),
            }
        }
        while let Some(entry) = self.events.first_entry().filter(|entry| entry.key().0 <= cycle) {
            match entry.remove() {
                Event::Read(burst) => self.carry_lines(cycle, burst),
                Event::Line(burst, number) => {
                    let address = burst.beat(number).line();
                    port.answer_beat(cycle, burst.key, number, Ok(line(address)));
                }
                Event::Written(burst) => port.answer_write(cycle, burst.key, Ok(())),
            }
        }
    }

    fn read(&self, address: u64, bytes: usize) -> Vec<u8> {
        let words = line(address / 64 * 64).into_iter().flat_map(u64::to_le_bytes);
        words.skip((address % 64) as usize).take(bytes).collect()
    }
}
