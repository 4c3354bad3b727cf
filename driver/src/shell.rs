//! The shell block: who the device is, and what tests need.

use crate::{BlockRegisters, DeviceError, Width};

/// Register offsets. Source: `hw/regs/shell.rdl`.
pub(crate) mod offset {
    pub const SCRATCH_8: u32 = 0x020;
    pub const SCRATCH_16: u32 = 0x024;
    pub const SCRATCH_32: u32 = 0x028;
    pub const SCRATCH_64: u32 = 0x030;
    pub const INTERRUPT_FORCE: u32 = 0x040;
    pub const IDENTITY: u32 = 0x100;
    pub const VERSION: u32 = 0x104;
    pub const CAPABILITIES: u32 = 0x108;
    pub const INTERRUPT_COUNT: u32 = 0x200;
}

/// "LSDV" in ASCII.
pub(crate) const IDENTITY_VALUE: u32 = 0x4C53_4456;
/// The major version that this driver knows.
pub(crate) const VERSION_MAJOR: u16 = 1;

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
        self.registers.write(offset::INTERRUPT_FORCE, Width::Four, 1 << vector)
    }

    /// The interrupts raised on a vector since reset, modulo 2^32.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] when there is no such vector, [`DeviceError::Gone`] on all-ones, or
    /// what the backend reports.
    pub fn interrupt_count(&self, vector: u32) -> Result<u32, DeviceError> {
        self.check_vector(vector)?;
        self.registers.read_present(offset::INTERRUPT_COUNT + 4 * vector)
    }

    /// Its registers.
    pub fn registers(&self) -> &BlockRegisters {
        &self.registers
    }

    fn check_vector(&self, vector: u32) -> Result<(), DeviceError> {
        if vector < self.vectors {
            return Ok(());
        }
        Err(DeviceError::OutOfRange {
            field: "vector",
            value: vector.into(),
            expected: format!("less than {}", self.vectors),
        })
    }
}

fn scratch(width: Width) -> u32 {
    match width {
        Width::One => offset::SCRATCH_8,
        Width::Two => offset::SCRATCH_16,
        Width::Four => offset::SCRATCH_32,
        Width::Eight => offset::SCRATCH_64,
    }
}
