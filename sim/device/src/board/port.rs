// SPDX-License-Identifier: MIT OR Apache-2.0
//! A memory port of the RTL, and the accesses that come through it.

use std::marker::PhantomData;

use lockstep_device_model::{Inputs, Outputs};
use sim::bus::BusError;
use sim::bus::axi4::{
    AccessKind, Axi4Config, Axi4Subordinate, Burst, LINE_BYTES, MemoryAccess, MemoryAnswer,
    MemoryData, ReadBeat, WriteBeat,
};
use sim::bus::error::BusModelError;

use super::Reach;
use super::pins::MemoryPins;
use crate::address_space::AccessError;
use crate::memory::Mapping;

/// The bridge of a port, left alone while nothing happens there: that is most of the time, and it
/// is what lets a register access through the whole model be quick.
pub(super) struct MemoryPort<P> {
    bridge: Axi4Subordinate,
    /// The pins of the last cycle were those of a port where nothing happens.
    settled: bool,
    pins: PhantomData<P>,
}

impl<P: MemoryPins> MemoryPort<P> {
    pub fn new(config: Axi4Config) -> Self {
        Self { bridge: Axi4Subordinate::new(config), settled: false, pins: PhantomData }
    }

    /// Whether nothing is under way.
    pub fn is_quiet(&self) -> bool {
        self.settled && self.bridge.is_quiet()
    }

    /// One cycle: drives the inputs from what the RTL drove, and takes that in. True when anything
    /// is under way.
    #[inline]
    pub fn cycle(
        &mut self,
        cycle: u64,
        inputs: &mut Inputs,
        outputs: &Outputs,
    ) -> Result<bool, BusModelError> {
        let quiet = self.bridge.is_quiet() && !P::is_active(outputs);
        if quiet && self.settled {
            return Ok(false);
        }
        P::drive(inputs, self.bridge.drive(cycle));
        self.bridge.sample(cycle, &P::block(outputs))?;
        self.settled = quiet;
        Ok(true)
    }

    /// Makes all bursts that have come, in a memory.
    #[inline]
    pub fn serve_bursts(&mut self, cycle: u64, memory: &impl BurstMemory) {
        while let Some(access) = self.bridge.take_access() {
            match access.kind {
                AccessKind::ReadBurst(burst) => {
                    let lines = beats(&burst).map(|line| memory.read(line));
                    self.bridge.answer_read(cycle, burst.key, lines);
                }
                AccessKind::WriteBurst(burst) => {
                    let written = beats(&burst).zip(self.bridge.write_beats(burst.key));
                    let all = written.map(|(line, beat)| memory.write(line, beat));
                    let outcome = all.fold(Ok(()), Result::and);
                    self.bridge.answer_write(cycle, burst.key, outcome);
                }
                _ => unreachable!("the bridge of a port for bursts gives bursts: {access:?}"),
            }
        }
    }

    /// Makes all accesses that have come, in the host's memory if the function may reach it.
    /// `kept` hears of lines of which the reader keeps a copy: address and head.
    #[inline]
    pub fn serve(&mut self, cycle: u64, host: Option<Reach<'_>>, mut kept: impl FnMut(u64, u64)) {
        while let Some(access) = self.bridge.take_access() {
            let outcome = match host {
                Some(host) => perform(host, &access),
                None => Err(BusError::DecodeError),
            };
            if let (AccessKind::ReadLine { keep_copy: true }, Ok(MemoryData::Line(line))) =
                (access.kind, &outcome)
            {
                kept(access.address, line[0]);
            }
            self.bridge.answer(cycle, &MemoryAnswer { id: access.id, outcome });
        }
    }
}

/// Where bursts go, a line at a time.
pub(super) trait BurstMemory {
    /// The line at an address, a multiple of its size.
    fn read(&self, line: u64) -> ReadBeat;
    /// Stores the bytes of a beat in the line at an address.
    fn write(&self, line: u64, beat: &WriteBeat) -> Result<(), BusError>;
}

/// How often a line is read to catch it at rest.
const MOST_READS: usize = 64;

/// The host's memory, if the function may reach it. A read over PCI Express takes a line at one instant, which
/// the host's threads make visible word by word: so a line is what two readings agree on. One that never holds
/// still is all-ones, in which no reader of a table sees a slot or a link.
impl BurstMemory for Option<Reach<'_>> {
    fn read(&self, line: u64) -> ReadBeat {
        let Some(host) = self else { return Err(BusError::DecodeError) };
        let mut last = host.space.line(line).map_err(told)?;
        for _ in 0..MOST_READS {
            let next = host.space.line(line).map_err(told)?;
            if next == last {
                return Ok(next);
            }
            last = next;
        }
        Ok([u64::MAX; 8])
    }

    /// The port for tables of the host only reads.
    fn write(&self, _line: u64, _beat: &WriteBeat) -> Result<(), BusError> {
        Err(BusError::SubordinateError)
    }
}

/// The card's memory: all of it, from address 0 on.
impl BurstMemory for Mapping {
    fn read(&self, line: u64) -> ReadBeat {
        let offset = place(self, line)?;
        self.line(offset).map_err(|_| BusError::SubordinateError)
    }

    fn write(&self, line: u64, beat: &WriteBeat) -> Result<(), BusError> {
        let offset = place(self, line)?;
        let bytes = beat.data.map(u64::to_le_bytes).concat();
        // The bytes of a beat lie side by side where a block stores words or lines; else each is a write of
        // its own.
        let mut lane = 0;
        while lane < bytes.len() {
            let run = (beat.strobe >> lane).trailing_ones() as usize;
            if run > 0 {
                let stored = self.write(offset + lane, &bytes[lane..lane + run]);
                stored.map_err(|_| BusError::SubordinateError)?;
            }
            lane += run.max(1);
        }
        Ok(())
    }
}

/// The offset of a line in a memory.
fn place(memory: &Mapping, line: u64) -> Result<usize, BusError> {
    let offset = usize::try_from(line).ok().filter(|offset| {
        offset.checked_add(LINE_BYTES as usize).is_some_and(|end| end <= memory.bytes())
    });
    offset.ok_or(BusError::DecodeError)
}

/// The lines of a burst's beats.
fn beats(burst: &Burst) -> impl Iterator<Item = u64> + use<> {
    let burst = *burst;
    (0..burst.length).map(move |number| burst.beat(number).line())
}

/// How the bus answers an access that failed.
fn told(fault: AccessError) -> BusError {
    match fault {
        AccessError::Unmapped => BusError::DecodeError,
        AccessError::Forbidden => BusError::SubordinateError,
    }
}

/// Makes an access. Where nothing is mapped nothing answers; a map that does not allow it answers
/// with an error, and so does the function itself while it may not request AtomicOps.
pub(crate) fn perform(host: Reach<'_>, access: &MemoryAccess) -> Result<MemoryData, BusError> {
    let (space, address) = (host.space, access.address);
    let outcome = match access.kind {
        AccessKind::ReadLine { .. } => space.line(address).map(MemoryData::Line),
        AccessKind::CompareSwap { .. } if !host.atomics => Err(AccessError::Forbidden),
        AccessKind::CompareSwap { expected, new } => {
            space.compare_swap(address, expected, new).map(MemoryData::OldWord)
        }
        AccessKind::Store { value, strobe: 0xFF } => {
            space.store(address, value).map(|()| MemoryData::Stored)
        }
        // The RTL stores whole words only; part of one could not be stored at once.
        AccessKind::Store { .. } => Err(AccessError::Forbidden),
        // The ports of rings and locks take no bursts.
        AccessKind::ReadBurst(_) | AccessKind::WriteBurst(_) => Err(AccessError::Forbidden),
    };
    outcome.map_err(told)
}
