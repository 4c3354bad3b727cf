// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Verilated unit on memory that others access concurrently by ordinary atomics.

use crate::bus::BusError;
use crate::bus::axi4::{AccessKind, MemoryAccess, MemoryAnswer, MemoryData};
use crate::bus::error::BusModelError;
use crate::models::LockUnit;

use super::{KeptCopies, UnitConfig, UnitUnderTest};
use driver::lock_unit::stream::{UnitRequest, UnitResponse};

/// Memory behind a unit, each of whose accesses is made at once.
pub trait UnitMemory {
    /// Makes an access.
    ///
    /// # Errors
    /// With what the bus answers when there is no such memory.
    fn perform(&mut self, access: &MemoryAccess) -> Result<MemoryData, BusError>;

    /// Word 0 of the line at a byte address; `None` when there is no such memory.
    fn head(&self, address: u64) -> Option<u64>;
}

/// A unit that is clocked by one thread, on memory of which no bus tells when another thread writes
/// a line: so whoever clocks it looks at the lines of which it keeps copies.
pub struct UnitOnMemory<M> {
    unit: UnitUnderTest<M>,
    copies: KeptCopies,
}

impl<M: LockUnit> UnitOnMemory<M> {
    /// A unit that was just reset, on buses that never stall.
    pub fn new(model: M) -> Self {
        let unit = UnitUnderTest::new(model, &UnitConfig::smooth());
        Self { unit, copies: KeptCopies::default() }
    }

    /// The unit: its registers, its cycles, its model.
    pub fn unit_mut(&mut self) -> &mut UnitUnderTest<M> {
        &mut self.unit
    }

    /// Hands a request over. Requests reach the unit in this order.
    pub fn request(&mut self, request: UnitRequest) {
        self.unit.request(request);
    }

    /// Requests that the unit has not taken yet.
    pub fn backlog(&self) -> usize {
        self.unit.request_backlog()
    }

    /// Looks at the lines whose copies are kept, then clocks the unit until it has a response, but at
    /// most so many cycles.
    ///
    /// # Errors
    /// When the unit breaks a rule of a bus, or a wait has lasted too long.
    pub fn work(
        &mut self,
        cycles: u64,
        memory: &mut impl UnitMemory,
    ) -> Result<Option<UnitResponse>, BusModelError> {
        let Self { unit, copies } = self;
        copies.look(|address| memory.head(address), |address| unit.invalidate(address));
        for _ in 0..cycles {
            self.clock(memory)?;
            if let Some(response) = self.unit.take_response() {
                return Ok(Some(response));
            }
        }
        Ok(None)
    }

    fn clock(&mut self, memory: &mut impl UnitMemory) -> Result<(), BusModelError> {
        self.unit.clock()?;
        while let Some(access) = self.unit.take_access() {
            let outcome = memory.perform(&access);
            if let (AccessKind::ReadLine { keep_copy: true }, Ok(MemoryData::Line(line))) =
                (access.kind, &outcome)
                && self.copies.keep(access.address, line[0])
            {
                self.unit.invalidate(access.address);
            }
            self.unit.answer(&MemoryAnswer { id: access.id, outcome });
        }
        Ok(())
    }
}
