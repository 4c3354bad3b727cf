// SPDX-License-Identifier: MIT OR Apache-2.0
//! An element's registers, as software reaches them.

use driver::{DeviceError, Operation, Registers};
use verilated::Core;
use visibility_pe_pins::{Inputs, Outputs};

use super::{DeviceMemory, Element};
use crate::bus::axi_lite::device_access;

/// The registers of an [`Element`]; each access clocks it to its end.
pub struct ElementRegisters<'a, C: Core<Inputs = Inputs, Outputs = Outputs>> {
    element: &'a mut Element<C>,
    memory: &'a mut dyn DeviceMemory,
}

impl<'a, C: Core<Inputs = Inputs, Outputs = Outputs>> ElementRegisters<'a, C> {
    pub(super) fn new(element: &'a mut Element<C>, memory: &'a mut dyn DeviceMemory) -> Self {
        ElementRegisters { element, memory }
    }
}

impl<C: Core<Inputs = Inputs, Outputs = Outputs>> Registers for ElementRegisters<'_, C> {
    fn read32(&mut self, offset: u32) -> Result<u32, DeviceError> {
        let Self { element, memory } = self;
        device_access(Operation::Read, offset, 0, |request| element.access(*memory, request))
    }

    fn write32(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        let Self { element, memory } = self;
        let access = |request| element.access(*memory, request);
        device_access(Operation::Write, offset, value, access).map(drop)
    }
}
