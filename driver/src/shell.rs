// SPDX-License-Identifier: MIT OR Apache-2.0
//! The shell block: the identity of the device, and registers for tests.

use crate::map::Present;
use crate::map::shell::{
    INTERRUPT_COUNT, INTERRUPT_FORCE, InterruptForce, SCRATCH_8, SCRATCH_16, SCRATCH_32, SCRATCH_64,
};
use crate::{BlockRegisters, DeviceError, Width};

/// The shell of a device.
#[derive(Debug, Clone)]
pub struct Shell {
    registers: BlockRegisters,
    vectors: u32,
}

impl Shell {
    pub(crate) fn new(registers: BlockRegisters, vectors: u32) -> Self {
        Shell { registers, vectors }
    }

    /// Reads the scratch register of a width, which holds what was written last.
    ///
    /// # Errors
    /// What the backend reports.
    pub fn read_scratch(&self, width: Width) -> Result<u64, DeviceError> {
        self.registers.read(scratch(width), width)
    }

    /// Writes the scratch register of a width; it does nothing else.
    ///
    /// # Errors
    /// What the backend reports.
    pub fn write_scratch(&self, width: Width, value: u64) -> Result<(), DeviceError> {
        self.registers.write(scratch(width), width, value)
    }

    /// Raises an interrupt vector once.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] when there is no such vector, or what the backend reports.
    pub fn force_interrupt(&self, vector: u32) -> Result<(), DeviceError> {
        self.check_vector(vector)?;
        INTERRUPT_FORCE.write(&mut &self.registers, InterruptForce::from_bits(1 << vector))
    }

    /// The interrupts raised on a vector since reset, modulo 2^32.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] when there is no such vector, [`DeviceError::Gone`] on all-ones, or
    /// what the backend reports.
    pub fn interrupt_count(&self, vector: u32) -> Result<u32, DeviceError> {
        self.check_vector(vector)?;
        INTERRUPT_COUNT[vector as usize].read(&mut Present(&self.registers))
    }

    /// Its registers.
    pub fn registers(&self) -> &BlockRegisters {
        &self.registers
    }

    fn check_vector(&self, vector: u32) -> Result<(), DeviceError> {
        // The register map of this version has so many.
        let vectors = self.vectors.min(INTERRUPT_COUNT.len() as u32);
        if vector < vectors {
            return Ok(());
        }
        Err(DeviceError::OutOfRange {
            field: "vector",
            value: vector.into(),
            expected: format!("less than {vectors}"),
        })
    }
}

fn scratch(width: Width) -> u32 {
    match width {
        Width::One => SCRATCH_8.offset(),
        Width::Two => SCRATCH_16.offset(),
        Width::Four => SCRATCH_32.offset(),
        Width::Eight => SCRATCH_64.offset(),
    }
}
