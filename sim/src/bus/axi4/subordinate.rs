// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bridge between pins and memory.

mod bursts;
mod report;

use super::super::RESPONSE_OKAY;
use super::super::error::BusModelError;
use super::super::handshake::HandshakeChecker;
use super::super::pins::{
    Axi4ManagerPins, Axi4SubordinatePins, DATA_WORDS, ReadAddress, WriteAddress, WriteData,
};
use super::super::stall::Stall;
use super::bursts::Bursts;
use super::config::{Axi4Config, IdSharing};
use super::decode::{self, Malformed};
use super::outstanding::{CAPACITY, Channel, Outstanding, OutstandingTable};
use super::responses::ResponseChannel;
use super::{
    ATOMIC_COMPARE, AccessKind, EMPTY_LANE, ID_COUNT, MemoryAccess, MemoryAnswer, MemoryData,
};
use report::{OWN_STALLS, shared};
use std::collections::VecDeque;

/// Beats of W that are taken before their AW.
const WRITE_DATA_AHEAD: usize = 16;

/// An AXI4 subordinate, with bursts or with AMBA 5 atomics, that leaves the memory to its owner.
///
/// In each cycle: [`drive`](Self::drive), [`sample`](Self::sample), then
/// [`take_access`](Self::take_access) until it gives none; [`answer`](Self::answer) at
/// any time, or for bursts [`answer_beat`](Self::answer_beat) and
/// [`answer_write`](Self::answer_write). An answer is on R or B in the next cycle at the earliest.
#[derive(Debug, Clone)]
pub struct Axi4Subordinate {
    config: Axi4Config,
    pins: Axi4SubordinatePins,
    ready_stalls: ReadyStalls,
    checkers: Checkers,
    /// AW without their W, and W without their AW; never both at once.
    addresses: VecDeque<(WriteAddress, u64)>,
    data: VecDeque<(WriteData, u64)>,
    accesses: VecDeque<MemoryAccess>,
    outstanding: OutstandingTable,
    /// There is something here on a port that takes bursts.
    bursts: Option<Box<Bursts>>,
    read: ResponseChannel,
    write: ResponseChannel,
    /// Accesses per value of the id under `id_mask`, from AW or AR to the last response.
    busy: Box<[u16; ID_COUNT]>,
    id_mask: u16,
    /// Accesses of the id that are atomics.
    atomic: Box<[bool; ID_COUNT]>,
    /// No access can be overdue before this cycle.
    next_age_check: u64,
}

#[derive(Debug, Clone)]
struct ReadyStalls {
    write_address: Stall,
    write_data: Stall,
    read_address: Stall,
}

#[derive(Debug, Clone)]
struct Checkers {
    write_address: HandshakeChecker<WriteAddress>,
    write_data: HandshakeChecker<WriteData>,
    read_address: HandshakeChecker<ReadAddress>,
}

impl Checkers {
    fn new(config: &Axi4Config) -> Self {
        let channel = |letters: &str| format!("{} {letters}", config.port);
        let (timeout, id) = (config.timeout, config.describe_id);
        Checkers {
            write_address: HandshakeChecker::new(channel("AW"), "awvalid", OWN_STALLS, timeout, id),
            write_data: HandshakeChecker::new(channel("W"), "wvalid", OWN_STALLS, timeout, id),
            read_address: HandshakeChecker::new(channel("AR"), "arvalid", OWN_STALLS, timeout, id),
        }
    }
}

impl Axi4Subordinate {
    /// A bridge that behaves as `config` says.
    ///
    /// # Panics
    /// When a stall pattern or a delay is impossible, `sharing` or the limits of bursts have
    /// more bits than an id, or a limit is 0.
    pub fn new(config: Axi4Config) -> Self {
        let id_mask = match config.sharing {
            IdSharing::OnePer { bits } => {
                assert!(bits <= super::ID_BITS, "sharing is by {bits} bits of an 11-bit id");
                ((1u32 << bits) - 1) as u16
            }
            IdSharing::Several => (ID_COUNT - 1) as u16,
        };
        let stall = |pattern, letters: &str| {
            Stall::new(pattern, config.seed, &format!("{} {letters}", config.port))
        };
        let stalls = config.stalls;
        Axi4Subordinate {
            pins: Axi4SubordinatePins::default(),
            ready_stalls: ReadyStalls {
                write_address: stall(stalls.write_address, "AW"),
                write_data: stall(stalls.write_data, "W"),
                read_address: stall(stalls.read_address, "AR"),
            },
            checkers: Checkers::new(&config),
            addresses: VecDeque::with_capacity(CAPACITY),
            data: VecDeque::with_capacity(WRITE_DATA_AHEAD),
            accesses: VecDeque::with_capacity(CAPACITY),
            outstanding: OutstandingTable::new(),
            bursts: config.bursts.map(|limits| Box::new(Bursts::new(limits))),
            read: ResponseChannel::new(&config, "R", stalls.read_data, CAPACITY),
            write: ResponseChannel::new(&config, "B", stalls.write_response, CAPACITY),
            busy: Box::new([0; ID_COUNT]),
            id_mask,
            atomic: Box::new([false; ID_COUNT]),
            next_age_check: 0,
            config,
        }
    }

    /// The pins of this cycle, functions of what happened before it.
    #[inline]
    pub fn drive(&mut self, cycle: u64) -> &Axi4SubordinatePins {
        // One AW and one AR may be taken in the same cycle.
        let room = self.outstanding() + 2 <= CAPACITY;
        self.pins.awready = !self.ready_stalls.write_address.stalled() && room;
        self.pins.arready = !self.ready_stalls.read_address.stalled() && room;
        self.pins.wready =
            !self.ready_stalls.write_data.stalled() && self.data.len() < WRITE_DATA_AHEAD;
        if let Some(slot) = self.read.present(cycle) {
            let entry = self.outstanding.entry(slot);
            match (&self.bursts, entry.access.kind) {
                (Some(bursts), AccessKind::ReadBurst(burst)) => {
                    bursts.put_read(&mut self.pins, slot, entry.access.id, &burst);
                }
                _ => put_read(&mut self.pins, entry, self.config.split_atomic_errors),
            }
        }
        if let Some(slot) = self.write.present(cycle) {
            put_write(
                &mut self.pins,
                self.outstanding.entry(slot),
                self.config.split_atomic_errors,
            );
        }
        &self.pins
    }

    /// Takes what the block drove in the cycle of the last [`drive`](Self::drive).
    ///
    /// # Errors
    /// [`BusModelError::Protocol`] on a broken rule of AXI, of the lock unit's description or of the
    /// limits of bursts, [`BusModelError::Timeout`] when a handshake or an answer is overdue.
    #[inline]
    pub fn sample(&mut self, cycle: u64, block: &Axi4ManagerPins) -> Result<(), BusModelError> {
        self.check_handshakes(cycle, block)?;
        if block.awvalid && self.pins.awready {
            self.accept_write_address(cycle, block.into())?;
        }
        if block.wvalid && self.pins.wready {
            self.accept_write_data(cycle, block.into())?;
        }
        if block.arvalid && self.pins.arready {
            self.accept_read(cycle, block.into())?;
        }
        if self.pins.rvalid && block.rready {
            self.pins.rvalid = false;
            let slot = self.read.take();
            if self.bursts.is_none() || self.hand_over_beat(slot) {
                self.complete(cycle, Channel::Read, slot);
            }
        }
        if self.pins.bvalid && block.bready {
            self.pins.bvalid = false;
            let slot = self.write.take();
            self.complete(cycle, Channel::Write, slot);
        }
        if cycle >= self.next_age_check {
            self.check_ages(cycle)?;
        }
        Ok(())
    }

    /// The next access that the owner has to perform, in order of acceptance.
    #[inline]
    pub fn take_access(&mut self) -> Option<MemoryAccess> {
        self.accesses.pop_front()
    }

    /// Gives the owner's answer to the oldest unanswered access of its id. Of a burst this may
    /// only be an error, which is then that of all its beats.
    ///
    /// # Panics
    /// When there is none, or the data are not of its kind.
    pub fn answer(&mut self, cycle: u64, answer: &MemoryAnswer) {
        if self.bursts.is_some() {
            self.refuse_oldest(cycle, answer);
            return;
        }
        self.outstanding.answer(answer);
        self.release(cycle, answer.id);
    }

    /// Accesses between the handshake of their address and their last response.
    #[inline]
    pub fn outstanding(&self) -> usize {
        self.outstanding.used() + self.addresses.len()
    }

    /// Whether there is an access to take.
    #[inline]
    pub fn has_access(&self) -> bool {
        !self.accesses.is_empty()
    }

    /// Whether more will move on the port though the owner does nothing: a write lacks its data, or
    /// an answer is on its way.
    #[inline]
    pub fn has_work(&self) -> bool {
        self.outstanding() > self.outstanding.unanswered()
    }

    /// Whether nothing is under way on the port. While this holds and the block raises no valid,
    /// the owner may leave [`drive`](Self::drive) and [`sample`](Self::sample) out, once `drive`
    /// has given its pins after the end of the last access.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.outstanding() == 0 && self.data.is_empty()
    }

    #[inline]
    fn check_handshakes(
        &mut self,
        cycle: u64,
        block: &Axi4ManagerPins,
    ) -> Result<(), BusModelError> {
        let (pins, checkers) = (&self.pins, &mut self.checkers);
        let (aw, w, ar) =
            (&mut checkers.write_address, &mut checkers.write_data, &mut checkers.read_address);
        aw.observe(cycle, block.awvalid, pins.awready, || block.into())?;
        w.observe(cycle, block.wvalid, pins.wready, || block.into())?;
        ar.observe(cycle, block.arvalid, pins.arready, || block.into())?;
        if self.config.responses_always_taken && !(block.rready && block.bready) {
            let (letter, field) = if block.rready { ("B", "bready") } else { ("R", "rready") };
            let expected = "1 always".into();
            let malformed = Malformed { field, value: "0".into(), expected };
            return Err(self.violation(cycle, letter, None, malformed));
        }
        Ok(())
    }

    fn accept_write_address(&mut self, cycle: u64, aw: WriteAddress) -> Result<(), BusModelError> {
        if self.bursts.is_some() {
            return self.accept_burst_address(cycle, aw);
        }
        let id = Some(aw.awid);
        decode::write_address(&aw).map_err(|field| self.violation(cycle, "AW", id, field))?;
        self.claim(aw.awid, aw.awatop == ATOMIC_COMPARE).map_err(|expected| {
            self.violation(cycle, "AW", id, shared("awid", aw.awid, expected))
        })?;
        match self.data.pop_front() {
            Some((w, _)) => self.accept_write(cycle, &aw, &w),
            None => {
                self.addresses.push_back((aw, cycle));
                self.note_age(cycle);
                Ok(())
            }
        }
    }

    fn accept_write_data(&mut self, cycle: u64, w: WriteData) -> Result<(), BusModelError> {
        if self.bursts.is_some() {
            return self.accept_burst_data(cycle, w);
        }
        decode::write_data(&w).map_err(|field| self.violation(cycle, "W", None, field))?;
        match self.addresses.pop_front() {
            Some((aw, _)) => self.accept_write(cycle, &aw, &w),
            None => {
                self.data.push_back((w, cycle));
                self.note_age(cycle);
                Ok(())
            }
        }
    }

    fn accept_write(
        &mut self,
        cycle: u64,
        aw: &WriteAddress,
        w: &WriteData,
    ) -> Result<(), BusModelError> {
        let id = aw.awid;
        let kind =
            decode::write(aw, w).map_err(|field| self.violation(cycle, "W", Some(id), field))?;
        self.accept(MemoryAccess { id, address: aw.awaddr, kind, accepted_at_cycle: cycle });
        Ok(())
    }

    fn accept_read(&mut self, cycle: u64, ar: ReadAddress) -> Result<(), BusModelError> {
        if self.bursts.is_some() {
            return self.accept_read_burst(cycle, ar);
        }
        let id = ar.arid;
        let kind =
            decode::read(&ar).map_err(|field| self.violation(cycle, "AR", Some(id), field))?;
        self.claim(id, false).map_err(|expected| {
            self.violation(cycle, "AR", Some(id), shared("arid", id, expected))
        })?;
        self.accept(MemoryAccess { id, address: ar.araddr, kind, accepted_at_cycle: cycle });
        Ok(())
    }

    fn accept(&mut self, access: MemoryAccess) {
        self.note_age(access.accepted_at_cycle);
        self.outstanding.insert(access);
        self.accesses.push_back(access);
    }

    /// Takes the id, or says why it may not be taken.
    fn claim(&mut self, id: u16, atomic: bool) -> Result<(), &'static str> {
        let key = usize::from(id & self.id_mask);
        if self.busy[key] > 0 {
            match self.config.sharing {
                IdSharing::OnePer { .. } => return Err("an id with nothing outstanding"),
                IdSharing::Several if atomic || self.atomic[key] => {
                    return Err("an id of its own for an atomic");
                }
                IdSharing::Several => {}
            }
        }
        self.busy[key] += 1;
        self.atomic[key] = atomic;
        Ok(())
    }

    fn complete(&mut self, cycle: u64, channel: Channel, slot: u16) {
        let id = self.outstanding.entry(slot).access.id;
        if let Some(bursts) = &mut self.bursts {
            bursts.complete(channel, slot);
        }
        if self.outstanding.complete(channel, slot) {
            self.busy[usize::from(id & self.id_mask)] -= 1;
        }
        if self.config.sharing == IdSharing::Several {
            self.release(cycle, id);
        }
    }

    fn release(&mut self, cycle: u64, id: u16) {
        let (read, write) = (&mut self.read, &mut self.write);
        self.outstanding.release(id, |channel, slot| match channel {
            Channel::Read => read.schedule(cycle, slot),
            Channel::Write => write.schedule(cycle, slot),
        });
    }

    /// Something new waits since `cycle`. An earlier check stays where it is.
    #[inline]
    fn note_age(&mut self, cycle: u64) {
        self.next_age_check = self.next_age_check.min(cycle + self.config.timeout);
    }

    /// Finds what is overdue, and the next cycle in which something can be.
    fn check_ages(&mut self, cycle: u64) -> Result<(), BusModelError> {
        let ages = self.outstanding.iter().map(|entry| entry.access.accepted_at_cycle);
        let unpaired = self.addresses.front().map(|(_, since)| *since);
        let early = self.data.front().map(|(_, since)| *since);
        let oldest = ages.chain(unpaired).chain(early).min();
        let Some(oldest) = oldest else {
            self.next_age_check = u64::MAX;
            return Ok(());
        };
        if cycle - oldest >= self.config.timeout {
            return Err(self.overdue(oldest));
        }
        self.next_age_check = oldest + self.config.timeout;
        Ok(())
    }
}

/// Puts an answered access on R.
fn put_read(pins: &mut Axi4SubordinatePins, entry: &Outstanding, split: bool) {
    pins.rvalid = true;
    pins.rlast = true;
    pins.rid = entry.access.id;
    match entry.outcome.as_ref().expect("R before the answer") {
        Ok(MemoryData::Line(line)) => pins.rdata = *line,
        Ok(MemoryData::OldWord(word)) => {
            pins.rdata = [EMPTY_LANE; DATA_WORDS];
            pins.rdata[decode::lane(entry.access.address)] = *word;
        }
        Ok(MemoryData::Stored) => unreachable!("a store has no R"),
        Err(_) => pins.rdata = [EMPTY_LANE; DATA_WORDS],
    }
    pins.rresp = response(entry, Channel::Read, split);
}

/// Puts an answered access on B.
fn put_write(pins: &mut Axi4SubordinatePins, entry: &Outstanding, split: bool) {
    pins.bvalid = true;
    pins.bid = entry.access.id;
    pins.bresp = response(entry, Channel::Write, split);
}

/// The response of an access on a channel. The errors of atomics may be split between the two.
fn response(entry: &Outstanding, channel: Channel, split: bool) -> u8 {
    let atomic = matches!(entry.access.kind, AccessKind::CompareSwap { .. });
    let okay_on = match entry.access.accepted_at_cycle % 3 {
        1 if split && atomic => Some(Channel::Read),
        2 if split && atomic => Some(Channel::Write),
        _ => None,
    };
    match entry.outcome {
        Some(Err(error)) if okay_on != Some(channel) => error.response(),
        _ => RESPONSE_OKAY,
    }
}
