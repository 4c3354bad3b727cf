// SPDX-License-Identifier: MIT OR Apache-2.0
//! Software's view of a block's registers over a simulated AXI4-Lite port.

use super::{ADDRESS_END, AxiLiteManager, LiteOutcome, LiteRequest};
use crate::bus::BusError;
use crate::bus::error::BusModelError;
use crate::bus::pins::{AxiLiteManagerPins, AxiLiteSubordinatePins};
use driver::{BusResponse, DeviceError, Operation, Registers};

/// A manager with the closure that clocks the model: each access runs the model until it
/// is answered, or until the manager's timeout ends.
///
/// The closure sets the block's inputs of one cycle from the pins it is given, reads the
/// block's outputs of the same cycle, applies the clock edge, and returns those outputs.
#[derive(Debug)]
pub struct AxiLiteRegisters<C> {
    manager: AxiLiteManager,
    clock: C,
    cycle: u64,
    /// The fault that ended the manager's life; every later access reports it again.
    fault: Option<BusModelError>,
}

impl<C> AxiLiteRegisters<C>
where
    C: FnMut(&AxiLiteManagerPins) -> AxiLiteSubordinatePins,
{
    /// Registers behind `manager`, clocked by `clock`.
    pub fn new(manager: AxiLiteManager, clock: C) -> Self {
        AxiLiteRegisters { manager, clock, cycle: 0, fault: None }
    }

    /// Cycles that were clocked so far.
    pub fn cycles(&self) -> u64 {
        self.cycle
    }

    /// Lets `cycles` cycles pass without an access.
    ///
    /// # Errors
    /// As [`AxiLiteManager::sample`].
    pub fn idle(&mut self, cycles: u64) -> Result<(), BusModelError> {
        for _ in 0..cycles {
            self.step()?;
        }
        Ok(())
    }

    /// Performs one access to its end.
    ///
    /// # Errors
    /// As [`AxiLiteManager::sample`]; after a fault, the same fault forever.
    ///
    /// # Panics
    /// When the address is not a register's.
    pub fn access(&mut self, request: LiteRequest) -> Result<LiteOutcome, BusModelError> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        self.manager.start(self.cycle, request);
        // The manager's timeout bounds this loop.
        loop {
            if let Some(outcome) = self.step()? {
                return Ok(outcome);
            }
        }
    }

    fn step(&mut self) -> Result<Option<LiteOutcome>, BusModelError> {
        let block = (self.clock)(self.manager.drive(self.cycle));
        let sampled = self.manager.sample(self.cycle, &block);
        self.cycle += 1;
        if let Err(fault) = &sampled {
            self.fault = Some(fault.clone());
        }
        sampled
    }
}

/// A register access of software, performed by `access`: checks the offset first, and says in
/// the driver's terms what went wrong.
pub(crate) fn device_access(
    operation: Operation,
    offset: u32,
    value: u32,
    access: impl FnOnce(LiteRequest) -> Result<LiteOutcome, BusModelError>,
) -> Result<u32, DeviceError> {
    if offset >= ADDRESS_END || !offset.is_multiple_of(4) {
        return Err(DeviceError::OutOfRange {
            field: "register offset",
            value: offset.into(),
            expected: format!("a multiple of 4 below 0x{ADDRESS_END:X}"),
        });
    }
    let address = offset as u16;
    let request = match operation {
        Operation::Read => LiteRequest::Read { address },
        Operation::Write => LiteRequest::Write { address, value, strobe: 0xF },
    };
    let outcome = access(request).map_err(|fault| device_error(operation, offset, &fault))?;
    outcome.map_err(|error| {
        let response = match error {
            BusError::SubordinateError => BusResponse::SubordinateError,
            BusError::DecodeError => BusResponse::DecodeError,
        };
        DeviceError::Bus { operation, offset, response }
    })
}

fn device_error(operation: Operation, offset: u32, fault: &BusModelError) -> DeviceError {
    match fault {
        BusModelError::Protocol(_) | BusModelError::Assertion(_) => {
            DeviceError::Protocol { operation, offset, detail: fault.to_string() }
        }
        BusModelError::Timeout(timeout) => DeviceError::Timeout {
            waited_for: format!("{operation} of register 0x{offset:03X} ({timeout})"),
            bound: format!("{} cycles", timeout.cycles),
        },
    }
}

impl<C> Registers for AxiLiteRegisters<C>
where
    C: FnMut(&AxiLiteManagerPins) -> AxiLiteSubordinatePins,
{
    fn read32(&mut self, offset: u32) -> Result<u32, DeviceError> {
        device_access(Operation::Read, offset, 0, |request| self.access(request))
    }

    fn write32(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        device_access(Operation::Write, offset, value, |request| self.access(request)).map(drop)
    }
}
