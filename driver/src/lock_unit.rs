//! Typed driver of the tuple-locking unit (`docs/lock-unit.md`).

pub mod registers;

mod counters;
#[cfg(test)]
mod tests;

pub use counters::Counters;

use crate::{DeviceError, Registers};

/// What a device at the end of a dead link answers to every read.
const ALL_ONES: u32 = u32::MAX;

/// How often a 64-bit counter is read again when its high half moves meanwhile.
const COUNTER_READS: u32 = 8;

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
    registers: R,
}

impl<R: Registers> LockUnit<R> {
    /// Wraps `registers` without touching the device; call [`LockUnit::identify`] first.
    pub fn new(registers: R) -> Self {
        LockUnit { registers }
    }

    /// Gives the registers back.
    pub fn into_registers(self) -> R {
        self.registers
    }

    /// Checks that a lock unit of a known version is there, and reads what it can do.
    ///
    /// # Errors
    /// [`DeviceError::Gone`] when everything reads all-ones, [`DeviceError::Mismatch`]
    /// when IDENTITY, VERSION or CAPABILITIES are not a known unit's, or what the
    /// registers report.
    pub fn identify(&mut self) -> Result<Identification, DeviceError> {
        let identity = self.read(registers::IDENTITY)?;
        if identity != registers::IDENTITY_VALUE {
            return Err(DeviceError::Mismatch {
                register: "IDENTITY".into(),
                found: identity.into(),
                expected: format!("0x{:X} (\"LSLU\")", registers::IDENTITY_VALUE),
            });
        }
        let version = self.read(registers::VERSION)?;
        if version >> 16 != registers::VERSION_MAJOR {
            return Err(DeviceError::Mismatch {
                register: "VERSION".into(),
                found: version.into(),
                expected: format!(
                    "0x{0:X}0000 to 0x{0:X}FFFF (major version {0})",
                    registers::VERSION_MAJOR
                ),
            });
        }
        let capabilities = self.read(registers::CAPABILITIES)?;
        let (log2_contexts, slots) = (capabilities & 0xFF, capabilities >> 8 & 0xFF);
        if log2_contexts > 16 || slots != 8 {
            return Err(DeviceError::Mismatch {
                register: "CAPABILITIES".into(),
                found: capabilities.into(),
                expected: "at most 16 in bits 7:0 and 8 in bits 15:8".into(),
            });
        }
        Ok(Identification {
            version_major: (version >> 16) as u16,
            version_minor: version as u16,
            contexts: 1 << log2_contexts,
            slots,
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
        check_table(table_base, log2_buckets)?;
        self.expect("CONTROL", registers::CONTROL, 0)?;
        self.expect("RETURN (open requests)", registers::RETURN, 0)?;
        let settings = [
            ("TABLE_BASE low half", registers::TABLE_BASE_LOW, table_base as u32),
            ("TABLE_BASE high half", registers::TABLE_BASE_HIGH, (table_base >> 32) as u32),
            ("TABLE_LOG2_BUCKETS", registers::TABLE_LOG2_BUCKETS, log2_buckets),
        ];
        for (_, offset, value) in settings {
            self.registers.write32(offset, value)?;
        }
        for (name, offset, value) in settings {
            self.expect(name, offset, value)?;
        }
        Ok(())
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
        self.registers.write32(registers::CONTROL, registers::BIT_0)
    }

    /// Stops the unit from accepting requests; open ones go on.
    ///
    /// # Errors
    /// What the registers report.
    pub fn disable(&mut self) -> Result<(), DeviceError> {
        self.registers.write32(registers::CONTROL, 0)
    }

    /// Number of requests that are open now.
    ///
    /// # Errors
    /// What the registers report; [`DeviceError::Gone`] on all-ones.
    pub fn open_requests(&mut self) -> Result<u32, DeviceError> {
        self.read(registers::RETURN)
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
        let value = if on { registers::BIT_0 } else { 0 };
        self.registers.write32(registers::INTERRUPT_ENABLE, value)?;
        self.registers.write32(registers::GLOBAL_INTERRUPT_ENABLE, value)
    }

    /// Whether a bus error happened since it was last acknowledged.
    ///
    /// # Errors
    /// What the registers report; [`DeviceError::Gone`] on all-ones.
    pub fn bus_error_pending(&mut self) -> Result<bool, DeviceError> {
        Ok(self.read(registers::INTERRUPT_STATUS)? & registers::BIT_0 != 0)
    }

    /// Acknowledges the bus error, which also lowers the interrupt.
    ///
    /// # Errors
    /// What the registers report.
    pub fn acknowledge_bus_error(&mut self) -> Result<(), DeviceError> {
        self.registers.write32(registers::INTERRUPT_STATUS, registers::BIT_0)
    }

    /// Reads all counters, one after the other: a consistent picture only of an idle
    /// unit.
    ///
    /// # Errors
    /// What the registers report; [`DeviceError::Gone`] on all-ones;
    /// [`DeviceError::Timeout`] when a counter's high half never holds still.
    pub fn counters(&mut self) -> Result<Counters, DeviceError> {
        let mut values = [0; registers::COUNTER_COUNT];
        for (index, value) in values.iter_mut().enumerate() {
            *value = self.read_counter(index)?;
        }
        Ok(Counters::from(values))
    }

    /// Reads both halves, and again when a carry went from one to the other meanwhile.
    fn read_counter(&mut self, index: usize) -> Result<u64, DeviceError> {
        let offset = registers::counter_offset(index);
        let mut high = self.read(offset + 4)?;
        for _ in 0..COUNTER_READS {
            let low = self.read(offset)?;
            let high_after = self.read(offset + 4)?;
            if high == high_after {
                return Ok(u64::from(high) << 32 | u64::from(low));
            }
            high = high_after;
        }
        Err(DeviceError::Timeout {
            waited_for: format!("the high half of counter {index} to hold still"),
            bound: format!("{COUNTER_READS} reads"),
        })
    }

    /// Reads one register. All-ones may be its value, so IDENTITY decides whether the
    /// device is gone.
    fn read(&mut self, offset: u32) -> Result<u32, DeviceError> {
        let value = self.registers.read32(offset)?;
        if value == ALL_ONES && self.registers.read32(registers::IDENTITY)? == ALL_ONES {
            return Err(DeviceError::Gone { offset });
        }
        Ok(value)
    }

    fn expect(&mut self, name: &str, offset: u32, expected: u32) -> Result<(), DeviceError> {
        let found = self.read(offset)?;
        if found == expected {
            return Ok(());
        }
        Err(DeviceError::Mismatch {
            register: name.into(),
            found: found.into(),
            expected: format!("0x{expected:X}"),
        })
    }
}

/// A table must be aligned, of a size the unit knows, and end inside the address space.
fn check_table(table_base: u64, log2_buckets: u32) -> Result<(), DeviceError> {
    if !table_base.is_multiple_of(registers::TABLE_ALIGNMENT) {
        return Err(DeviceError::OutOfRange {
            field: "table_base",
            value: table_base,
            expected: format!("a multiple of {} bytes", registers::TABLE_ALIGNMENT),
        });
    }
    if log2_buckets > registers::TABLE_LOG2_BUCKETS_MAX {
        return Err(DeviceError::OutOfRange {
            field: "log2_buckets",
            value: log2_buckets.into(),
            expected: format!("0 to {}", registers::TABLE_LOG2_BUCKETS_MAX),
        });
    }
    let last_byte = (registers::TABLE_ALIGNMENT << log2_buckets) - 1;
    if table_base.checked_add(last_byte).is_none() {
        return Err(DeviceError::OutOfRange {
            field: "table_base",
            value: table_base,
            expected: format!("at most 0x{:X} for 2^{log2_buckets} buckets", u64::MAX - last_byte),
        });
    }
    Ok(())
}
