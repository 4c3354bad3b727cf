// SPDX-License-Identifier: MIT OR Apache-2.0
//! A memory port of the RTL, and the accesses that come through it.

use std::marker::PhantomData;

use lockstep_device_model::{Inputs, Outputs};
use sim::bus::BusError;
use sim::bus::axi4::{
    AccessKind, Axi4Config, Axi4Subordinate, MemoryAccess, MemoryAnswer, MemoryData,
};
use sim::bus::error::BusModelError;

use super::Reach;
use super::pins::MemoryPins;
use crate::address_space::AccessError;

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
        // Neither port takes bursts.
        AccessKind::ReadBurst(_) | AccessKind::WriteBurst(_) => Err(AccessError::Forbidden),
    };
    outcome.map_err(|fault| match fault {
        AccessError::Unmapped => BusError::DecodeError,
        AccessError::Forbidden => BusError::SubordinateError,
    })
}
