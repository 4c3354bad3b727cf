// SPDX-License-Identifier: MIT OR Apache-2.0
//! The manager side of a port, for blocks that are subordinates.

mod open;
#[cfg(test)]
mod tests;

use super::super::error::{BusModelError, ProtocolError, TimeoutError};
use super::super::handshake::HandshakeChecker;
use super::super::pins::{
    Axi4ManagerPins, Axi4SubordinatePins, ReadAddress, ReadData, WriteAddress, WriteData,
    WriteResponse,
};
use super::super::stall::{Stall, StallPattern};
use super::super::{BusError, RESPONSE_OKAY};
use super::config::Axi4Stalls;
use super::{Burst, CACHE_PLAIN, ID_BITS, ReadBeat, WriteBeat, describe_id};
use open::{Accesses, Open};
use std::collections::VecDeque;

/// Holds up a channel on our side.
const OWN_STALLS: &str = "the manager's stalls";

/// Holds up a channel on the other side.
const BLOCK: &str = "the block behind the port";

/// Everything about an [`Axi4Manager`].
#[derive(Debug, Clone)]
pub struct Axi4ManagerConfig {
    /// Name of the port in messages and for the random streams, e.g. "s_axi".
    pub port: String,
    /// Seed of all draws.
    pub seed: u64,
    /// Stalls of each channel: of valid on AW, W and AR, of ready on R and B. With different ones on
    /// AW and W, data come before and after their address.
    pub stalls: Axi4Stalls,
    /// Cycles after which a handshake is an error, or an access that was accepted and has not had
    /// its last response.
    pub timeout: u64,
    /// Width of the ids in bits, at most 11.
    pub id_bits: u32,
}

impl Axi4ManagerConfig {
    /// A port named `port` without stalls, with ids of 8 bits and a timeout of 10000 cycles.
    pub fn new(port: &str, seed: u64) -> Self {
        let stalls = Axi4Stalls::default();
        Axi4ManagerConfig { port: port.into(), seed, stalls, timeout: 10_000, id_bits: 8 }
    }
}

/// Names an access of a manager; they count up from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// The end of an access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// What [`Axi4Manager::read`] or [`Axi4Manager::write`] gave.
    pub ticket: Ticket,
    /// The id under which it ran.
    pub id: u16,
    /// Where.
    pub burst: Burst,
    /// What came back.
    pub outcome: Outcome,
}

/// What came back for an access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The beats of R. Only the lanes of each beat ([`Burst::beat`]) mean anything.
    Read(Vec<ReadBeat>),
    /// B.
    Write(Result<(), BusError>),
}

impl Completion {
    /// The bytes that a read has brought, in the order of their addresses.
    ///
    /// # Errors
    /// The first error of a beat.
    ///
    /// # Panics
    /// When it is a write.
    pub fn bytes(&self) -> Result<Vec<u8>, BusError> {
        let Outcome::Read(beats) = &self.outcome else { panic!("bytes of a write") };
        let lines: Vec<_> = beats.iter().copied().collect::<Result<_, _>>()?;
        Ok(self.burst.bytes_of(&lines))
    }
}

/// One channel on which we offer beats: an offered beat stays until it is taken.
#[derive(Debug, Clone)]
struct Outgoing<T> {
    queue: VecDeque<T>,
    stall: Stall,
    offered: bool,
}

impl<T> Outgoing<T> {
    fn new(config: &Axi4ManagerConfig, pattern: StallPattern, letters: &str) -> Self {
        let stall = Stall::new(pattern, config.seed, &format!("{} {letters}", config.port));
        Outgoing { queue: VecDeque::new(), stall, offered: false }
    }

    /// The beat on the pins in this cycle.
    fn offer(&mut self) -> Option<&T> {
        self.offered = !self.queue.is_empty() && (self.offered || !self.stall.stalled());
        self.queue.front().filter(|_| self.offered)
    }

    /// The beat that was taken in this cycle.
    fn sample(&mut self, ready: bool) -> Option<T> {
        let taken = self.offered && ready;
        self.offered &= !taken;
        if taken { self.queue.pop_front() } else { None }
    }
}

#[derive(Debug, Clone)]
struct Checkers {
    write_address: HandshakeChecker<WriteAddress>,
    write_data: HandshakeChecker<WriteData>,
    read_address: HandshakeChecker<ReadAddress>,
    read_data: HandshakeChecker<ReadData>,
    write_response: HandshakeChecker<WriteResponse>,
}

impl Checkers {
    fn new(config: &Axi4ManagerConfig) -> Self {
        let channel = |letters: &str| format!("{} {letters}", config.port);
        let (timeout, id) = (config.timeout, describe_id);
        Checkers {
            write_address: HandshakeChecker::new(channel("AW"), "awvalid", BLOCK, timeout, id),
            write_data: HandshakeChecker::new(channel("W"), "wvalid", BLOCK, timeout, id),
            read_address: HandshakeChecker::new(channel("AR"), "arvalid", BLOCK, timeout, id),
            read_data: HandshakeChecker::new(channel("R"), "rvalid", OWN_STALLS, timeout, id),
            write_response: HandshakeChecker::new(channel("B"), "bvalid", OWN_STALLS, timeout, id),
        }
    }
}

/// An AXI4 manager that makes the bursts that it is told to make.
///
/// In each cycle: [`drive`](Self::drive), [`sample`](Self::sample), then
/// [`take_completion`](Self::take_completion) until it gives none. Accesses go out in the order in
/// which they were asked for, reads and writes apart.
#[derive(Debug, Clone)]
pub struct Axi4Manager {
    config: Axi4ManagerConfig,
    pins: Axi4ManagerPins,
    write_address: Outgoing<(u16, Burst)>,
    write_data: Outgoing<(WriteBeat, bool)>,
    read_address: Outgoing<(u16, Burst)>,
    read_ready: Stall,
    write_ready: Stall,
    checkers: Checkers,
    reads: Accesses,
    writes: Accesses,
    tickets: u64,
    completions: VecDeque<Completion>,
    /// No access can be overdue before this cycle.
    next_age_check: u64,
}

impl Axi4Manager {
    /// A manager that behaves as `config` says.
    ///
    /// # Panics
    /// When a stall pattern is impossible or ids have more than 11 bits.
    pub fn new(config: Axi4ManagerConfig) -> Self {
        assert!(config.id_bits <= ID_BITS, "ids of {} bits, expected up to 11", config.id_bits);
        let stalls = config.stalls;
        let ready = |pattern, letters: &str| {
            Stall::new(pattern, config.seed, &format!("{} {letters}", config.port))
        };
        Axi4Manager {
            pins: Axi4ManagerPins::default(),
            write_address: Outgoing::new(&config, stalls.write_address, "AW"),
            write_data: Outgoing::new(&config, stalls.write_data, "W"),
            read_address: Outgoing::new(&config, stalls.read_address, "AR"),
            read_ready: ready(stalls.read_data, "R"),
            write_ready: ready(stalls.write_response, "B"),
            checkers: Checkers::new(&config),
            reads: Accesses::new(config.id_bits),
            writes: Accesses::new(config.id_bits),
            tickets: 0,
            completions: VecDeque::new(),
            next_age_check: u64::MAX,
            config,
        }
    }

    /// Asks for a read.
    ///
    /// # Panics
    /// When the id has too many bits.
    pub fn read(&mut self, id: u16, burst: Burst) -> Ticket {
        self.read_address.queue.push_back((id, burst));
        let ticket = self.next_ticket();
        self.reads.add(id, ticket, burst);
        ticket
    }

    /// Asks for a write of these beats.
    ///
    /// # Panics
    /// When the id has too many bits, or there is not one beat for each of the burst.
    pub fn write(&mut self, id: u16, burst: Burst, beats: Vec<WriteBeat>) -> Ticket {
        let (given, length) = (beats.len(), usize::from(burst.length));
        assert_eq!(given, length, "{given} beats of W for a burst of {length}");
        self.write_address.queue.push_back((id, burst));
        let beats = beats.into_iter().enumerate();
        self.write_data.queue.extend(beats.map(|(number, beat)| (beat, number + 1 == length)));
        let ticket = self.next_ticket();
        self.writes.add(id, ticket, burst);
        ticket
    }

    /// The next access that has ended.
    pub fn take_completion(&mut self) -> Option<Completion> {
        self.completions.pop_front()
    }

    /// Accesses that were asked for and have not ended.
    pub fn outstanding(&self) -> usize {
        self.reads.open() + self.writes.open()
    }

    /// The pins of this cycle, functions of what happened before it.
    pub fn drive(&mut self, _cycle: u64) -> &Axi4ManagerPins {
        let pins = &mut self.pins;
        pins.awvalid = false;
        if let Some((id, burst)) = self.write_address.offer() {
            (pins.awvalid, pins.awid, pins.awaddr) = (true, *id, burst.address);
            (pins.awlen, pins.awsize) = ((burst.length - 1) as u8, burst.size);
            (pins.awburst, pins.awcache) = (1, CACHE_PLAIN);
        }
        pins.wvalid = false;
        if let Some((beat, last)) = self.write_data.offer() {
            (pins.wvalid, pins.wdata, pins.wstrb) = (true, beat.data, beat.strobe);
            pins.wlast = *last;
        }
        pins.arvalid = false;
        if let Some((id, burst)) = self.read_address.offer() {
            (pins.arvalid, pins.arid, pins.araddr) = (true, *id, burst.address);
            (pins.arlen, pins.arsize) = ((burst.length - 1) as u8, burst.size);
            (pins.arburst, pins.arcache) = (1, CACHE_PLAIN);
        }
        pins.rready = !self.read_ready.stalled();
        pins.bready = !self.write_ready.stalled();
        pins
    }

    /// Takes what the block drove in the cycle of the last [`drive`](Self::drive).
    ///
    /// # Errors
    /// [`BusModelError::Protocol`] on a broken rule of AXI, [`BusModelError::Timeout`] when a
    /// handshake or a response is overdue.
    pub fn sample(&mut self, cycle: u64, block: &Axi4SubordinatePins) -> Result<(), BusModelError> {
        self.check_handshakes(cycle, block)?;
        // First the responses: they are to what was taken before this cycle.
        if block.rvalid && self.pins.rready {
            self.take_read(cycle, &block.into())?;
        }
        if block.bvalid && self.pins.bready {
            self.take_write(cycle, &block.into())?;
        }
        if self.read_address.sample(block.arready).is_some() {
            self.reads.address_taken(cycle);
            self.note_age(cycle);
        }
        if self.write_address.sample(block.awready).is_some() {
            self.writes.address_taken(cycle);
            self.note_age(cycle);
        }
        if self.write_data.sample(block.wready).is_some_and(|(_, last)| last) {
            self.writes.data_taken();
        }
        if cycle >= self.next_age_check { self.check_ages(cycle) } else { Ok(()) }
    }

    fn next_ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets - 1)
    }

    fn check_handshakes(
        &mut self,
        cycle: u64,
        block: &Axi4SubordinatePins,
    ) -> Result<(), BusModelError> {
        let (pins, checkers) = (&self.pins, &mut self.checkers);
        checkers.write_address.observe(cycle, pins.awvalid, block.awready, || pins.into())?;
        checkers.write_data.observe(cycle, pins.wvalid, block.wready, || pins.into())?;
        checkers.read_address.observe(cycle, pins.arvalid, block.arready, || pins.into())?;
        checkers.read_data.observe(cycle, block.rvalid, pins.rready, || block.into())?;
        checkers.write_response.observe(cycle, block.bvalid, pins.bready, || block.into())
    }

    fn take_read(&mut self, cycle: u64, r: &ReadData) -> Result<(), BusModelError> {
        let id = r.rid;
        let broken = |text, field, value: String, expected: String| {
            self.broken(cycle, "R", Some(text), field, value, expected)
        };
        let Some(open) = self.reads.oldest(id).filter(|open| self.reads.begun(open)) else {
            let expected = "an id with a read outstanding".into();
            return Err(broken(describe_id(id), "rid", format!("0x{id:X}"), expected));
        };
        let number = open.beats.len() as u16;
        let text = format!("{}, {}", describe_id(id), open.burst);
        let last = number + 1 == open.burst.length;
        if r.rlast != last {
            let expected = format!("{} on beat {number} of {}", u8::from(last), open.burst.length);
            return Err(broken(text, "rlast", u8::from(r.rlast).to_string(), expected));
        }
        let outcome = response(r.rresp).ok_or_else(|| {
            broken(text, "rresp", r.rresp.to_string(), "0 (OKAY), 2 (SLVERR) or 3 (DECERR)".into())
        })?;
        self.reads.push_beat(id, outcome.map(|()| r.rdata));
        if last {
            let Open { ticket, burst, beats, .. } = self.reads.end(id);
            self.completions.push_back(Completion {
                ticket,
                id,
                burst,
                outcome: Outcome::Read(beats),
            });
        }
        Ok(())
    }

    fn take_write(&mut self, cycle: u64, b: &WriteResponse) -> Result<(), BusModelError> {
        let id = b.bid;
        let broken = |text, field, value: String, expected: &str| {
            self.broken(cycle, "B", Some(text), field, value, expected.into())
        };
        let Some(open) = self.writes.oldest(id).filter(|open| self.writes.complete(open)) else {
            let expected = "an id with a write whose address and data were all taken";
            return Err(broken(describe_id(id), "bid", format!("0x{id:X}"), expected));
        };
        let text = format!("{}, {}", describe_id(id), open.burst);
        let outcome = response(b.bresp).ok_or_else(|| {
            broken(text, "bresp", b.bresp.to_string(), "0 (OKAY), 2 (SLVERR) or 3 (DECERR)")
        })?;
        let Open { ticket, burst, .. } = self.writes.end(id);
        let outcome = Outcome::Write(outcome);
        self.completions.push_back(Completion { ticket, id, burst, outcome });
        Ok(())
    }

    fn broken(
        &self,
        cycle: u64,
        letters: &str,
        identifier: Option<String>,
        field: &'static str,
        value: String,
        expected: String,
    ) -> BusModelError {
        let channel = format!("{} {letters}", self.config.port);
        ProtocolError { channel, field, value, identifier, cycle, expected }.into()
    }

    /// Something new waits since `cycle`. An earlier check stays where it is.
    fn note_age(&mut self, cycle: u64) {
        self.next_age_check = self.next_age_check.min(cycle + self.config.timeout);
    }

    /// Finds what is overdue, and the next cycle in which something can be.
    fn check_ages(&mut self, cycle: u64) -> Result<(), BusModelError> {
        let oldest = [("R", self.reads.longest_open()), ("B", self.writes.longest_open())];
        let oldest = oldest.into_iter().filter_map(|(letter, open)| Some((open?, letter)));
        let Some(((since, id, burst), letter)) = oldest.min_by_key(|((since, ..), _)| *since)
        else {
            self.next_age_check = u64::MAX;
            return Ok(());
        };
        if cycle - since < self.config.timeout {
            self.next_age_check = since + self.config.timeout;
            return Ok(());
        }
        // Data that we have held back are our own delay, and those that were not taken were
        // reported when they were due.
        Err(TimeoutError {
            channel: format!("{} {letter}", self.config.port),
            waiting: format!("{}, {burst}, unanswered", describe_id(id)),
            cycles: self.config.timeout,
            since,
            holder: BLOCK,
            outstanding: Vec::new(),
        }
        .into())
    }
}

/// The meaning of `rresp` and `bresp`; none of EXOKAY, as no access is exclusive.
fn response(encoded: u8) -> Option<Result<(), BusError>> {
    match encoded {
        RESPONSE_OKAY => Some(Ok(())),
        2 => Some(Err(BusError::SubordinateError)),
        3 => Some(Err(BusError::DecodeError)),
        _ => None,
    }
}
