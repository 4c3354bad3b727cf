// SPDX-License-Identifier: MIT OR Apache-2.0
//! The block's side of the port for tests: issues random accesses under random stalls
//! and keeps what came back, to be compared with what the memory performed.

use super::super::pins::{Axi4ManagerPins, Axi4SubordinatePins, DATA_WORDS};
use super::super::stall::{Stall, StallPattern, channel_generator};
use super::super::test_memory::PerformedAccess;
use super::{ATOMIC_COMPARE, AccessKind, ID_COUNT, MemoryData};
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

/// An access that the manager began, and what it has seen of it.
#[derive(Debug, Clone)]
pub struct Issued {
    pub address: u64,
    pub kind: AccessKind,
    pub read: Option<([u64; DATA_WORDS], u8)>,
    pub write: Option<u8>,
}

impl Issued {
    fn needs_read(&self) -> bool {
        !matches!(self.kind, AccessKind::Store { .. })
    }

    fn needs_write(&self) -> bool {
        !matches!(self.kind, AccessKind::ReadLine { .. })
    }

    fn finished(&self) -> bool {
        self.needs_read() == self.read.is_some() && self.needs_write() == self.write.is_some()
    }
}

/// The minimum contents of a meaningful run.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    pub read_before_write: u32,
    pub write_before_read: u32,
    pub together: u32,
    pub data_before_address: u32,
    pub address_before_data: u32,
    pub overtaken: u32,
    pub errors: u32,
}

impl std::ops::AddAssign for Seen {
    fn add_assign(&mut self, other: Self) {
        self.read_before_write += other.read_before_write;
        self.write_before_read += other.write_before_read;
        self.together += other.together;
        self.data_before_address += other.data_before_address;
        self.address_before_data += other.address_before_data;
        self.overtaken += other.overtaken;
        self.errors += other.errors;
    }
}

/// One valid-ready channel on which beats wait.
struct Outgoing<T> {
    queue: VecDeque<T>,
    stall: Stall,
    offered: bool,
    sent: u64,
}

impl<T> Outgoing<T> {
    fn new(pattern: StallPattern, seed: u64, name: &str) -> Self {
        let stall = Stall::new(pattern, seed, name);
        Outgoing { queue: VecDeque::new(), stall, offered: false, sent: 0 }
    }

    /// The beat to offer in this cycle; once offered it stays.
    fn offer(&mut self) -> Option<&T> {
        self.offered = !self.queue.is_empty() && (self.offered || !self.stall.stalled());
        self.queue.front().filter(|_| self.offered)
    }

    fn sample(&mut self, ready: bool) {
        if self.offered && ready {
            self.queue.pop_front();
            self.sent += 1;
            self.offered = false;
        }
    }
}

pub struct TestManager {
    generator: ChaCha8Rng,
    pub pins: Axi4ManagerPins,
    write_address: Outgoing<(u16, u64, bool)>,
    write_data: Outgoing<([u64; DATA_WORDS], u64)>,
    read_address: Outgoing<(u16, u64, bool)>,
    read_ready: Stall,
    write_ready: Stall,
    /// All accesses of each id, oldest first.
    pub issued: Vec<Vec<Issued>>,
    base: u64,
    lines: u64,
    left: u32,
    share_ids: bool,
    pub seen: Seen,
    last_started: u64,
    started: Vec<u64>,
}

impl TestManager {
    /// Will issue `accesses` random accesses to `lines` lines from `base` on.
    pub fn new(seed: u64, pattern: StallPattern, accesses: u32, base: u64, lines: u64) -> Self {
        let none = StallPattern::None;
        TestManager {
            generator: channel_generator(seed, "manager"),
            pins: Axi4ManagerPins { rready: true, bready: true, ..Default::default() },
            write_address: Outgoing::new(pattern, seed, "manager AW"),
            write_data: Outgoing::new(pattern, seed, "manager W"),
            read_address: Outgoing::new(pattern, seed, "manager AR"),
            read_ready: Stall::new(none, seed, "manager R"),
            write_ready: Stall::new(none, seed, "manager B"),
            issued: vec![Vec::new(); ID_COUNT],
            base,
            lines,
            left: accesses,
            share_ids: false,
            seen: Seen::default(),
            last_started: 0,
            started: vec![0; ID_COUNT],
        }
    }

    /// Lowers `rready` and `bready` at random.
    pub fn stalling_responses(mut self, seed: u64, pattern: StallPattern) -> Self {
        self.read_ready = Stall::new(pattern, seed, "manager R");
        self.write_ready = Stall::new(pattern, seed, "manager B");
        self
    }

    /// Uses four ids only, several accesses on each at once.
    pub fn sharing_ids(mut self) -> Self {
        self.share_ids = true;
        self
    }

    pub fn done(&self) -> bool {
        self.left == 0 && self.issued.iter().flatten().all(Issued::finished)
    }

    pub fn drive(&mut self) -> &Axi4ManagerPins {
        self.begin();
        let pins = &mut self.pins;
        pins.awvalid = false;
        if let Some((id, address, atomic)) = self.write_address.offer() {
            let wrap = *atomic && !address.is_multiple_of(16);
            (pins.awvalid, pins.awid, pins.awaddr) = (true, *id, *address);
            (pins.awlen, pins.awcache) = (0, 3);
            pins.awsize = if *atomic { 4 } else { 3 };
            pins.awburst = if wrap { 2 } else { 1 };
            pins.awatop = if *atomic { ATOMIC_COMPARE } else { 0 };
        }
        pins.wvalid = false;
        if let Some((data, strobe)) = self.write_data.offer() {
            (pins.wvalid, pins.wdata, pins.wstrb, pins.wlast) = (true, *data, *strobe, true);
        }
        pins.arvalid = false;
        if let Some((id, address, keep_copy)) = self.read_address.offer() {
            (pins.arvalid, pins.arid, pins.araddr) = (true, *id, *address);
            (pins.arlen, pins.arsize, pins.arburst) = (0, 6, 1);
            pins.arcache = if *keep_copy { 15 } else { 3 };
        }
        pins.rready = !self.read_ready.stalled();
        pins.bready = !self.write_ready.stalled();
        pins
    }

    pub fn sample(&mut self, bridge: &Axi4SubordinatePins) {
        self.write_address.sample(bridge.awready);
        self.write_data.sample(bridge.wready);
        self.read_address.sample(bridge.arready);
        self.seen.data_before_address += (self.write_data.sent > self.write_address.sent) as u32;
        self.seen.address_before_data += (self.write_data.sent < self.write_address.sent) as u32;
        let read = (bridge.rvalid && self.pins.rready).then_some(bridge.rid);
        let write = (bridge.bvalid && self.pins.bready).then_some(bridge.bid);
        if let Some(id) = read {
            assert!(bridge.rlast, "rlast is 0 on the only beat");
            let issued = &mut self.issued[usize::from(id)];
            let one = issued.iter_mut().find(|one| one.needs_read() && one.read.is_none());
            let one = one.expect("R for nothing");
            one.read = Some((bridge.rdata, bridge.rresp));
            if matches!(one.kind, AccessKind::CompareSwap { .. }) {
                self.seen.together += (write == Some(id)) as u32;
                self.seen.read_before_write += (one.write.is_none() && write != Some(id)) as u32;
                self.seen.write_before_read += one.write.is_some() as u32;
            }
            self.seen.errors += (bridge.rresp != 0) as u32;
        }
        if let Some(id) = write {
            let issued = &mut self.issued[usize::from(id)];
            let one = issued.iter_mut().find(|one| one.needs_write() && one.write.is_none());
            one.expect("B for nothing").write = Some(bridge.bresp);
        }
        for id in read.into_iter().chain(write) {
            let started = self.started[usize::from(id)];
            self.seen.overtaken += (started < self.last_started) as u32;
            self.last_started = self.last_started.max(started);
        }
    }

    /// Sometimes begins an access.
    fn begin(&mut self) {
        if self.left == 0 || self.generator.random_range(0..4) == 0 {
            return;
        }
        let id = if self.share_ids {
            self.generator.random_range(0..4)
        } else {
            self.generator.random_range(0..12) << 7 | self.generator.random_range(0..128)
        };
        let kind = self.draw_kind();
        if !self.may_begin(id, kind) {
            return;
        }
        let line = self.base + 64 * self.generator.random_range(0..self.lines);
        let word = line + 8 * self.generator.random_range(0..8u64);
        let lane = (word / 8 % 8) as usize;
        let mut data = [0; DATA_WORDS];
        self.generator.fill(&mut data);
        let address = match kind {
            AccessKind::ReadLine { keep_copy } => {
                self.read_address.queue.push_back((id, line, keep_copy));
                line
            }
            AccessKind::CompareSwap { expected, new } => {
                (data[lane], data[lane ^ 1]) = (expected, new);
                self.write_address.queue.push_back((id, word, true));
                self.write_data.queue.push_back((data, 0xFFFF << (8 * (lane & !1))));
                word
            }
            AccessKind::Store { value, strobe } => {
                data[lane] = value;
                self.write_address.queue.push_back((id, word, false));
                self.write_data.queue.push_back((data, u64::from(strobe) << (8 * lane)));
                word
            }
            AccessKind::ReadBurst(_) | AccessKind::WriteBurst(_) => {
                unreachable!("the port takes no bursts")
            }
        };
        self.issued[usize::from(id)].push(Issued { address, kind, read: None, write: None });
        self.left -= 1;
        self.started[usize::from(id)] = u64::from(self.left.wrapping_neg());
    }

    fn draw_kind(&mut self) -> AccessKind {
        let (expected, new) =
            (self.generator.random_range(0..3), self.generator.random_range(0..3));
        match self.generator.random_range(0..3) {
            0 => AccessKind::ReadLine { keep_copy: self.generator.random_range(0..2) == 0 },
            1 => AccessKind::CompareSwap { expected, new },
            _ => AccessKind::Store { value: new, strobe: self.generator.next_u32() as u8 },
        }
    }

    /// One access per tag; or, with shared ids, an atomic alone on its id.
    fn may_begin(&self, id: u16, kind: AccessKind) -> bool {
        let atomic = |kind| matches!(kind, AccessKind::CompareSwap { .. });
        if self.share_ids {
            let mut open = self.issued[usize::from(id)].iter().filter(|one| !one.finished());
            return !open.any(|one| atomic(kind) || atomic(one.kind));
        }
        let tag = usize::from(id & 0x7F);
        (0..16).all(|phase| self.issued[phase << 7 | tag].last().is_none_or(Issued::finished))
    }

    /// What came back on the pins is what the memory performed, id by id.
    pub fn assert_matches(&self, log: &[PerformedAccess]) {
        let total: usize = self.issued.iter().map(Vec::len).sum();
        assert_eq!(log.len(), total, "accesses performed");
        for (id, issued) in self.issued.iter().enumerate().filter(|(_, list)| !list.is_empty()) {
            // Reads and writes of one id are not ordered against each other.
            for reads in [false, true] {
                let side = |kind| matches!(kind, AccessKind::ReadLine { .. }) == reads;
                let performed = log
                    .iter()
                    .filter(|done| usize::from(done.access.id) == id && side(done.access.kind));
                let issued = issued.iter().filter(|one| side(one.kind));
                for (one, done) in issued.zip(performed) {
                    assert_came_back(one, done);
                }
            }
        }
    }
}

fn assert_came_back(issued: &Issued, performed: &PerformedAccess) {
    let PerformedAccess { access, outcome, .. } = performed;
    assert_eq!(issued.address, access.address);
    assert_eq!(normal(issued.kind), normal(access.kind));
    let response = outcome.err().map_or(0, super::BusError::response);
    assert_eq!(issued.write.unwrap_or(response), response, "bresp of {access:?}");
    let Some((data, read_response)) = issued.read else {
        return;
    };
    assert_eq!(read_response, response, "rresp of {access:?}");
    match outcome {
        Ok(MemoryData::Line(line)) => assert_eq!(data, *line),
        Ok(MemoryData::OldWord(word)) => {
            let lane = (access.address / 8 % 8) as usize;
            assert_eq!(data[lane], *word, "old word of {access:?}");
            let others = (0..DATA_WORDS).filter(|other| *other != lane);
            others.for_each(|other| assert_ne!(data[other], 0, "lane {other} of {access:?}"));
        }
        Ok(MemoryData::Stored) => panic!("R for a store"),
        Err(_) => {}
    }
}

/// Bytes that are not stored do not matter.
fn normal(kind: AccessKind) -> AccessKind {
    match kind {
        AccessKind::Store { strobe: 0, .. } => AccessKind::Store { value: 0, strobe: 0 },
        other => other,
    }
}
