// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host memory behind a link, as a card's AXI4 port reads it.
//!
//! A read burst is a packet without payload to the host; the host reads the lines, each at an instant of its own
//! within the time that its memory takes; they come back in packets of the platform's payload. Whoever has the
//! memory gives the lines, so they are as they are at that instant. All latencies and rates are the platform's.

use std::collections::BTreeMap;

use timing::link::Link;
use timing::platform::{DmaTiming, LinkTiming, Platform, Side};
use timing::{Kernel, Priority, Time};

use crate::bus::axi4::{AccessKind, Axi4Subordinate, Burst, BurstKey, LINE_BYTES, ReadBeat};
use crate::bus::stall::channel_generator;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A link in virtual time, with reads under way on it.
///
/// It is driven in clocks of the card: what happens between two edges is seen at the second.
pub struct HostLink {
    link: Link,
    timing: LinkTiming,
    dma: DmaTiming,
    period: Time,
    events: Kernel<Event>,
    /// The lines that the host has read, by burst.
    read: BTreeMap<BurstKey, Vec<Option<ReadBeat>>>,
    /// Draws the instants of lines.
    random: ChaCha8Rng,
    traffic: Traffic,
}

/// What went over a link so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Read bursts.
    pub reads: u64,
    /// Lines of 64 bytes that came back.
    pub lines: u64,
    /// Bytes to the host, packet overhead included.
    pub bytes_to_host: u64,
    /// Bytes to the card, packet overhead included.
    pub bytes_to_device: u64,
}

enum Event {
    /// The host reads a line.
    Line(Burst, u16),
    /// The host has read all lines.
    Reply(Burst),
    /// A packet with these beats has come.
    Packet(BurstKey, u16, Vec<ReadBeat>),
}

impl HostLink {
    /// The idle link of a platform, at a card whose clock has this period; `None` when the platform has no
    /// DMA. `seed` is that of the instants at which lines are read.
    ///
    /// # Panics
    /// When the period is zero.
    pub fn new(platform: &Platform, period: Time, seed: u64) -> Option<Self> {
        assert!(period > Time::ZERO, "a clock of period 0");
        Some(HostLink {
            link: Link::new(&platform.link),
            timing: platform.link.clone(),
            dma: platform.dma.clone()?,
            period,
            events: Kernel::new(),
            read: BTreeMap::new(),
            random: channel_generator(seed, "host link"),
            traffic: Traffic::default(),
        })
    }

    /// Takes new reads from the bridge, and gives it the lines that have come. Call once a cycle, after the
    /// bridge's `sample`. `line` gives the line of host memory at an address, as it is then.
    ///
    /// # Panics
    /// When the port writes.
    pub fn step(
        &mut self,
        cycle: u64,
        port: &mut Axi4Subordinate,
        mut line: impl FnMut(u64) -> ReadBeat,
    ) {
        let now = self.period * cycle;
        while let Some(access) = port.take_access() {
            let AccessKind::ReadBurst(burst) = access.kind else {
                panic!("{:?} at a port that only reads", access.kind)
            };
            self.ask(now, burst);
        }
        while self.events.next_time().is_some_and(|time| time <= now) {
            let (time, event) = self.events.pop().expect("there is a next one");
            match event {
                Event::Line(burst, number) => {
                    let read = self.read.get_mut(&burst.key).expect("the burst is under way");
                    read[usize::from(number)] = Some(line(burst.beat(number).line()));
                }
                Event::Reply(burst) => self.reply(time, burst),
                Event::Packet(key, first, beats) => {
                    for (number, beat) in (first..).zip(beats) {
                        port.answer_beat(cycle, key, number, beat);
                    }
                }
            }
        }
    }

    /// Sends a request to the host.
    fn ask(&mut self, now: Time, burst: Burst) {
        let (arrives, _) = self.link.send(now, Side::Host, 0);
        let access = self.dma.memory_access.get();
        for beat in burst.beats() {
            let after = Time::from_ps(self.random.random_range(0..=access.as_ps()));
            let event = Event::Line(burst, beat.number);
            self.events.schedule_at(arrives + after, Priority::Deliver, event);
        }
        // After the last line, which may be read at the same instant.
        self.events.schedule_at(arrives + access, Priority::Issue, Event::Reply(burst));
        self.read.insert(burst.key, vec![None; usize::from(burst.length)]);
        self.traffic.reads += 1;
    }

    /// Sends what was read to the card.
    fn reply(&mut self, now: Time, burst: Burst) {
        let lines = self.read.remove(&burst.key).expect("the burst is under way");
        self.traffic.lines += lines.len() as u64;
        let in_packet = (self.timing.max_payload.get().0 / LINE_BYTES) as usize;
        for (number, packet) in lines.chunks(in_packet).enumerate() {
            let bytes = LINE_BYTES * packet.len() as u64;
            let (arrives, _) = self.link.send(now, Side::Device, bytes);
            let beats = packet.iter().map(|line| line.expect("all lines were read")).collect();
            let event = Event::Packet(burst.key, (number * in_packet) as u16, beats);
            self.events.schedule_at(arrives, Priority::Deliver, event);
        }
    }

    /// What went over the link so far.
    pub fn traffic(&self) -> Traffic {
        Traffic {
            bytes_to_host: self.link.bytes_towards(Side::Host),
            bytes_to_device: self.link.bytes_towards(Side::Device),
            ..self.traffic
        }
    }
}

impl Traffic {
    /// What a read of so many lines needs by this link's packets, alone.
    pub fn of_read(lines: u64, link: &LinkTiming) -> Self {
        let packets = (lines * LINE_BYTES).div_ceil(link.max_payload.get().0);
        let overhead = link.packet_overhead.get().0;
        Traffic {
            reads: 1,
            lines,
            bytes_to_host: overhead,
            bytes_to_device: lines * LINE_BYTES + packets * overhead,
        }
    }

    /// How long the busier direction of this link is occupied by it.
    pub fn time(&self, link: &LinkTiming) -> Time {
        link.bandwidth.get().time_for(self.bytes_to_host.max(self.bytes_to_device))
    }
}

impl std::ops::AddAssign for Traffic {
    fn add_assign(&mut self, more: Self) {
        self.reads += more.reads;
        self.lines += more.lines;
        self.bytes_to_host += more.bytes_to_host;
        self.bytes_to_device += more.bytes_to_device;
    }
}

impl std::ops::Sub for Traffic {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Traffic {
            reads: self.reads - before.reads,
            lines: self.lines - before.lines,
            bytes_to_host: self.bytes_to_host - before.bytes_to_host,
            bytes_to_device: self.bytes_to_device - before.bytes_to_device,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::axi4::{
        Axi4Config, Axi4Manager, Axi4ManagerConfig, Completion, FULL_SIZE, Outcome,
    };

    const PERIOD: Time = Time::from_ns(4);

    fn platform() -> Platform {
        Platform::named("liquidio3").expect("valid")
    }

    /// Reads bursts of these lengths in lines, all at once; when each ended, and what it brought.
    fn run(lengths: &[u16], seed: u64) -> (Vec<(u64, Completion)>, Traffic) {
        let mut link = HostLink::new(&platform(), PERIOD, seed).expect("has DMA");
        let mut manager = Axi4Manager::new(Axi4ManagerConfig::new("m_axi_host", seed));
        let mut port = Axi4Subordinate::new(Axi4Config::bursts("m_axi_host", seed));
        for (n, length) in (0..).zip(lengths) {
            manager.read(n, Burst::new(u64::from(n) * 4096, *length, FULL_SIZE));
        }
        let mut ended = Vec::new();
        for cycle in 0..20_000 {
            let (asks, answers) = (*manager.drive(cycle), *port.drive(cycle));
            manager.sample(cycle, &answers).expect("the rules are kept");
            port.sample(cycle, &asks).expect("the rules are kept");
            link.step(cycle, &mut port, |address| Ok([address; 8]));
            ended.extend(std::iter::from_fn(|| manager.take_completion()).map(|end| (cycle, end)));
            if ended.len() == lengths.len() {
                return (ended, link.traffic());
            }
        }
        panic!("{} of {} reads have ended", ended.len(), lengths.len());
    }

    #[test]
    fn a_read_takes_both_ways_and_the_hosts_memory() {
        let (ended, traffic) = run(&[1], 0);
        let platform = platform();
        let wire = platform.link.bandwidth.get().time_for(26 + 26 + 64);
        let memory = platform.dma.as_ref().expect("has DMA").memory_access.get();
        let expected = platform.link.latency_to_host.get()
            + memory
            + platform.link.latency_to_device.get()
            + wire;
        let clocks = expected.as_ps().div_ceil(PERIOD.as_ps());
        // A clock each for AR and R.
        assert!((clocks..=clocks + 3).contains(&ended[0].0), "{} clocks, {clocks}", ended[0].0);
        assert_eq!(traffic, Traffic::of_read(1, &platform.link));
    }

    #[test]
    fn lines_come_whole_and_in_packets() {
        let (ended, traffic) = run(&[5, 1, 4], 3);
        for (_, end) in &ended {
            let Outcome::Read(beats) = &end.outcome else { panic!("{end:?}") };
            let expected = |n: u64| Ok([end.burst.address + 64 * n; 8]);
            assert!((0..).zip(beats).all(|(n, beat)| *beat == expected(n)), "{end:?}");
        }
        assert_eq!((traffic.reads, traffic.lines), (3, 10));
        // Five lines are two packets.
        assert_eq!((traffic.bytes_to_host, traffic.bytes_to_device), (3 * 26, 640 + 4 * 26));
    }

    #[test]
    fn many_reads_are_as_fast_as_the_link() {
        let (ended, traffic) = run(&[1; 128], 1);
        let (first, last) = (ended[0].0, ended[127].0);
        let wire = traffic.time(&platform().link).as_ps() * 127 / 128;
        let clocks = wire.div_ceil(PERIOD.as_ps());
        assert!((clocks - 1..=clocks + 3).contains(&(last - first)), "{}: {clocks}", last - first);
    }

    #[test]
    fn the_same_seed_repeats() {
        assert_eq!(run(&[5, 4, 3, 2, 1], 7), run(&[5, 4, 3, 2, 1], 7));
    }
}
