// SPDX-License-Identifier: MIT OR Apache-2.0
//! Typed driver of the tuple-locking unit (`docs/lock-unit.md`).

pub mod stream;

#[cfg(test)]
mod tests;

pub use crate::map::lock_unit::Counters;

use crate::map::Present;
use crate::map::lock_unit::{
    CAPABILITIES, CONTROL, Control, GIE, Gie, IER, ISR, Ier, Isr, RETURN, SIGNATURE, TABLE_BASE,
    TABLE_BASE_MULTIPLE, TABLE_LOG2_BUCKETS, TABLE_LOG2_BUCKETS_LARGEST,
};
use crate::{DeviceError, Registers};

/// Bytes of a bucket of the table.
const BUCKET_BYTES: u64 = 64;

/// What the unit says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identification {
    /// Major version; the register map is the same within one.
    pub version_major: u16,
    /// Minor version.
    pub version_minor: u16,
    /// Requests that can be open at once.
    pub contexts: u32,
    /// Words of a bucket.
    pub slots: u32,
}

/// The unit behind some [`Registers`].
#[derive(Debug)]
pub struct LockUnit<R> {
    registers: Present<R>,
}

impl<R: Registers> LockUnit<R> {
    /// Wraps `registers` without touching the device; call [`LockUnit::identify`] first.
    pub fn new(registers: R) -> Self {
        LockUnit { registers: Present(registers) }
    }

    /// Gives the registers back.
    pub fn into_registers(self) -> R {
        self.registers.0
    }

    /// Checks that a lock unit of a known version is there, and reads what it can do.
    ///
    /// # Errors
    /// [`DeviceError::Gone`] when everything reads all-ones, [`DeviceError::Mismatch`]
    /// when IDENTITY, VERSION or CAPABILITIES are not a known unit's, or what the
    /// registers report.
    pub fn identify(&mut self) -> Result<Identification, DeviceError> {
        let version = SIGNATURE.check(&mut self.registers)?;
        let capabilities = CAPABILITIES.read(&mut self.registers)?;
        if capabilities.log2_contexts() > 16 || capabilities.slots() != 8 {
            return Err(DeviceError::Mismatch {
                register: CAPABILITIES.name().into(),
                found: capabilities.bits().into(),
                expected: "at most 16 in bits 7:0 and 8 in bits 15:8".into(),
            });
        }
        Ok(Identification {
            version_major: version.major(),
            version_minor: version.minor(),
            contexts: 1 << capabilities.log2_contexts(),
            slots: capabilities.slots().into(),
        })
    }

    /// Tells the unit where the table is: `1 << log2_buckets` buckets of 64 bytes from
    /// byte address `table_base` on. The unit must be disabled and idle.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] before anything is written when an argument is
    /// impossible; [`DeviceError::Mismatch`] when the unit is enabled or has open
    /// requests (nothing is written), or does not keep what was written; or what the
    /// registers report.
    pub fn configure(&mut self, table_base: u64, log2_buckets: u32) -> Result<(), DeviceError> {
        let log2_buckets = check_table(table_base, log2_buckets)?;
        let registers = &mut self.registers;
        expect("CONTROL", CONTROL.read(registers)?.bits(), 0)?;
        expect("RETURN (open requests)", RETURN.read(registers)?, 0)?;
        TABLE_BASE.write(registers, table_base)?;
        TABLE_LOG2_BUCKETS.write(registers, log2_buckets)?;
        expect(TABLE_BASE.name(), TABLE_BASE.read(registers)?, table_base)?;
        expect(TABLE_LOG2_BUCKETS.name(), TABLE_LOG2_BUCKETS.read(registers)?, log2_buckets)
    }

    /// Brings an idle unit into use: identifies it, tells it where the table is, and enables it.
    ///
    /// # Errors
    /// Those of [`LockUnit::identify`] and [`LockUnit::configure`], or what the registers report.
    pub fn start(
        &mut self,
        table_base: u64,
        log2_buckets: u32,
    ) -> Result<Identification, DeviceError> {
        let identification = self.identify()?;
        self.configure(table_base, log2_buckets)?;
        self.enable()?;
        Ok(identification)
    }

    /// Lets the unit accept requests.
    ///
    /// # Errors
    /// What the registers report.
    pub fn enable(&mut self) -> Result<(), DeviceError> {
        CONTROL.write(&mut self.registers, Control::default().with_accept(true))
    }

    /// Stops the unit from accepting requests; open ones go on.
    ///
    /// # Errors
    /// What the registers report.
    pub fn disable(&mut self) -> Result<(), DeviceError> {
        CONTROL.write(&mut self.registers, Control::default())
    }

    /// Number of requests that are open now.
    ///
    /// # Errors
    /// What the registers report; [`DeviceError::Gone`] on all-ones.
    pub fn open_requests(&mut self) -> Result<u32, DeviceError> {
        Ok(RETURN.read(&mut self.registers)?.into())
    }

    /// Disables the unit and reads RETURN, `reads` times at most, until no request is
    /// open.
    ///
    /// # Errors
    /// [`DeviceError::Timeout`] when requests stay open, or what the registers report.
    pub fn drain(&mut self, reads: u32) -> Result<(), DeviceError> {
        self.disable()?;
        let mut open = 0;
        for _ in 0..reads {
            open = self.open_requests()?;
            if open == 0 {
                return Ok(());
            }
        }
        Err(DeviceError::Timeout {
            waited_for: format!("open requests to end, {open} left"),
            bound: format!("{reads} reads of RETURN"),
        })
    }

    /// Switches the interrupt on bus errors on or off.
    ///
    /// # Errors
    /// What the registers report.
    pub fn set_interrupt(&mut self, on: bool) -> Result<(), DeviceError> {
        IER.write(&mut self.registers, Ier::default().with_bus_error(on))?;
        GIE.write(&mut self.registers, Gie::default().with_enable(on))
    }

    /// Whether a bus error happened since it was last acknowledged.
    ///
    /// # Errors
    /// What the registers report; [`DeviceError::Gone`] on all-ones.
    pub fn bus_error_pending(&mut self) -> Result<bool, DeviceError> {
        Ok(ISR.read(&mut self.registers)?.bus_error())
    }

    /// Acknowledges the bus error, which also lowers the interrupt.
    ///
    /// # Errors
    /// What the registers report.
    pub fn acknowledge_bus_error(&mut self) -> Result<(), DeviceError> {
        ISR.clear(&mut self.registers, Isr::default().with_bus_error(true))
    }

    /// Reads all counters, one after the other: a consistent picture only of an idle
    /// unit.
    ///
    /// # Errors
    /// What the registers report; [`DeviceError::Gone`] on all-ones;
    /// [`DeviceError::Timeout`] when a counter's high half never holds still.
    pub fn counters(&mut self) -> Result<Counters, DeviceError> {
        Counters::read(&mut self.registers)
    }
}

fn expect<T: Into<u64> + Copy>(name: &str, found: T, expected: T) -> Result<(), DeviceError> {
    if found.into() == expected.into() {
        return Ok(());
    }
    Err(DeviceError::Mismatch {
        register: name.into(),
        found: found.into(),
        expected: format!("0x{:X}", expected.into()),
    })
}

/// A table must be aligned, of a size the unit knows, and end inside the address space. Gives the
/// size as the register takes it.
fn check_table(table_base: u64, log2_buckets: u32) -> Result<u8, DeviceError> {
    if !table_base.is_multiple_of(TABLE_BASE_MULTIPLE) {
        return Err(DeviceError::OutOfRange {
            field: "table_base",
            value: table_base,
            expected: format!("a multiple of {TABLE_BASE_MULTIPLE} bytes"),
        });
    }
    let known = u8::try_from(log2_buckets).ok().filter(|size| *size <= TABLE_LOG2_BUCKETS_LARGEST);
    let Some(size) = known else {
        return Err(DeviceError::OutOfRange {
            field: "log2_buckets",
            value: log2_buckets.into(),
            expected: format!("0 to {TABLE_LOG2_BUCKETS_LARGEST}"),
        });
    };
    let last_byte = (BUCKET_BYTES << size) - 1;
    if table_base.checked_add(last_byte).is_none() {
        return Err(DeviceError::OutOfRange {
            field: "table_base",
            value: table_base,
            expected: format!("at most 0x{:X} for 2^{size} buckets", u64::MAX - last_byte),
        });
    }
    Ok(size)
}
