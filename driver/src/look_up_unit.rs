// SPDX-License-Identifier: MIT OR Apache-2.0
//! Typed driver of the look-up unit (`docs/nic-lookup.md`, `nic_lookup`). Requests go through the
//! [`LookUpQueue`](crate::LookUpQueue).

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

pub use crate::map::nic_lookup::Counters;

use crate::map::Present;
use crate::map::nic_lookup::{
    CAPABILITIES, CAPABILITIES_INDEX, CONTROL, Control, DIRECTORY_BASE, FLUSH_TIME, IDLE_TIME,
    INDEX_BASE, LIMIT, LookupSetting, MORE, MOST_READINGS, OVERFLOW_BASE, OVERFLOW_SLOTS, RETURN,
    SEGMENT_SHIFT, SEGMENTS, SETTINGS_ERROR, SIGNATURE, SLOTS, TABLE_BASE, VALUE_BYTES,
};
use crate::{DeviceError, Registers};

/// Bytes of a line, of which all bases are multiples.
const LINE_BYTES: u64 = 64;
/// The longest pause between two looks at RETURN.
const PAUSE: Duration = Duration::from_millis(1);

/// What the unit was built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Built {
    /// Major version; the register map is the same within one.
    pub version_major: u16,
    /// Minor version.
    pub version_minor: u16,
    /// Bytes of a slot of the host's table.
    pub slot_bytes: u32,
    /// Words of 8 bytes of a value that is cached, or in an answer.
    pub value_words: u32,
    /// Requests of the network that can be open at once.
    pub contexts: u32,
    /// The most entries of an index.
    pub segments: u32,
    /// Objects of an entry of the index.
    pub objects: u32,
    /// Entries that are cached.
    pub cached_entries: u32,
    /// The most pins of an object.
    pub most_pins: u32,
    /// The most lines of one read.
    pub landing_lines: u32,
}

impl Built {
    /// Bytes of an entry of the index, from one to the next. Source: `docs/nic-lookup.md`, "An entry in NIC
    /// memory".
    pub fn entry_bytes(&self) -> u64 {
        let words = 1 + u64::from(self.objects) * (2 + u64::from(self.value_words));
        (8 * words).div_ceil(LINE_BYTES).next_power_of_two() * LINE_BYTES
    }
}

/// Where everything lies, and what it is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Device address of the table's first slot.
    pub table_base: u64,
    /// Homes of the table.
    pub slots: u32,
    /// The largest displacement (D_m), at most 63 slots.
    pub limit: u32,
    /// Slots of a first read beyond the known displacement (k, counted from the home), 1 to 64.
    pub more: u32,
    /// Base-2 logarithm of the homes of a segment, up to 31.
    pub segment_shift: u32,
    /// Device address of the table's directory.
    pub directory_base: u64,
    /// Device address of the table's overflow area.
    pub overflow_base: u64,
    /// Its slots.
    pub overflow_slots: u32,
    /// Bytes of a value that is cached.
    pub value_bytes: u32,
    /// Readings of all places of a key after which a look-up gives up, 2 to 255.
    pub most_readings: u32,
    /// Where the index lies in card memory, in bytes: a multiple of [`Built::entry_bytes`].
    pub index_base: u64,
    /// Entries of the index: at least the segments of the table.
    pub segments: u32,
    /// Clocks after which reads that wait are sent, since the last one came and since the first one came, up
    /// to 65,535.
    pub read_times: (u16, u16),
}

impl Settings {
    /// What the unit has after reset: no table.
    pub const NONE: Settings = Settings {
        table_base: 0,
        slots: 0,
        limit: 0,
        more: 2,
        segment_shift: 0,
        directory_base: 0,
        overflow_base: 0,
        overflow_slots: 0,
        value_bytes: 8,
        most_readings: 8,
        index_base: 0,
        segments: 0,
        read_times: (16, 64),
    };

    /// A setting with its name, its value and what the unit expects.
    fn named(&self, setting: LookupSetting) -> (&'static str, u64, &'static str) {
        let line = "a multiple of 64 bytes";
        match setting {
            LookupSetting::None => ("SETTINGS_ERROR", 0, "the setting that does not fit"),
            LookupSetting::TableBase => (TABLE_BASE.name(), self.table_base, line),
            LookupSetting::Slots => (SLOTS.name(), self.slots.into(), "not 0"),
            LookupSetting::Limit => (LIMIT.name(), self.limit.into(), "at most 63 slots"),
            LookupSetting::More => (MORE.name(), self.more.into(), "1 to 64 slots"),
            LookupSetting::SegmentShift => {
                (SEGMENT_SHIFT.name(), self.segment_shift.into(), "at most 31")
            }
            LookupSetting::DirectoryBase => (DIRECTORY_BASE.name(), self.directory_base, line),
            LookupSetting::OverflowBase => (OVERFLOW_BASE.name(), self.overflow_base, line),
            LookupSetting::ValueBytes => (
                VALUE_BYTES.name(),
                self.value_bytes.into(),
                "at most the bytes of an answer's value",
            ),
            LookupSetting::MostReadings => {
                (MOST_READINGS.name(), self.most_readings.into(), "2 to 255")
            }
            LookupSetting::IndexBase => {
                (INDEX_BASE.name(), self.index_base, "a multiple of the bytes of an entry")
            }
            LookupSetting::Segments => (
                SEGMENTS.name(),
                self.segments.into(),
                "at least the segments of the table, and no more than the unit was built for",
            ),
        }
    }
}

/// Why the unit was not brought into use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookUpUnitError {
    /// The unit refuses a setting; it is off.
    #[error("the look-up unit refuses {setting}: it is 0x{value:X}, expected {expected}")]
    Setting {
        /// The register.
        setting: &'static str,
        /// Its value.
        value: u64,
        /// What it may be.
        expected: &'static str,
    },
    /// The device or the way to it failed, or is not what it should be.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// The unit behind some [`Registers`].
#[derive(Debug)]
pub struct LookUpUnit<R> {
    registers: Present<R>,
}

impl<R: Registers> LookUpUnit<R> {
    /// Wraps `registers` without touching the device; call [`LookUpUnit::identify`] first.
    pub fn new(registers: R) -> Self {
        LookUpUnit { registers: Present(registers) }
    }

    /// Gives the registers back.
    pub fn into_registers(self) -> R {
        self.registers.0
    }

    /// Checks that a look-up unit of a known version is there, and reads what it was built for.
    ///
    /// # Errors
    /// [`DeviceError::Gone`] when everything reads all-ones, [`DeviceError::Mismatch`] when IDENTITY,
    /// VERSION or CAPABILITIES are not a known unit's, or what the registers report.
    pub fn identify(&mut self) -> Result<Built, DeviceError> {
        let version = SIGNATURE.check(&mut self.registers)?;
        let unit = CAPABILITIES.read(&mut self.registers)?;
        let index = CAPABILITIES_INDEX.read(&mut self.registers)?;
        let possible = unit.slot_bytes() != 0 && unit.segment_bits() < u32::BITS as u8;
        if !possible || !(1..=8).contains(&unit.value_words()) {
            return Err(DeviceError::Mismatch {
                register: CAPABILITIES.name().into(),
                found: unit.bits().into(),
                expected: "not 0 in bits 15:0, 1 to 8 in bits 19:16, below 32 in bits 31:24".into(),
            });
        }
        let log2_entries = u32::from(index.log2_sets()) + u32::from(index.log2_ways());
        if log2_entries >= u32::BITS || index.objects() == 0 {
            return Err(DeviceError::Mismatch {
                register: CAPABILITIES_INDEX.name().into(),
                found: index.bits().into(),
                expected: "a sum below 32 of bits 7:0 and 11:8, not 0 in bits 15:12".into(),
            });
        }
        Ok(Built {
            version_major: version.major(),
            version_minor: version.minor(),
            slot_bytes: unit.slot_bytes().into(),
            value_words: unit.value_words().into(),
            contexts: 1 << unit.log2_contexts(),
            segments: 1 << unit.segment_bits(),
            objects: index.objects().into(),
            cached_entries: 1 << log2_entries,
            most_pins: index.most_pins().into(),
            landing_lines: index.landing_lines().into(),
        })
    }

    /// Tells the unit where everything is. It must be off and have no request under way. What was cached of
    /// another index is gone only after a reset of the device.
    ///
    /// # Errors
    /// [`DeviceError::Refused`] when the unit is enabled or has requests under way: nothing is written;
    /// [`DeviceError::Mismatch`] when it does not keep what was written; or what the registers report.
    pub fn configure(&mut self, settings: &Settings) -> Result<(), DeviceError> {
        let registers = &mut self.registers;
        let open = RETURN.read(registers)?;
        if CONTROL.read(registers)?.enable() || open != 0 {
            return Err(DeviceError::Refused {
                attempted: "set the look-up unit up".into(),
                reason: format!(
                    "it is enabled, or has requests under way ({open}): drain it first"
                ),
            });
        }
        for (register, value) in [
            (TABLE_BASE, settings.table_base),
            (DIRECTORY_BASE, settings.directory_base),
            (OVERFLOW_BASE, settings.overflow_base),
            (INDEX_BASE, settings.index_base),
        ] {
            register.write(registers, value)?;
            kept(register.name(), register.read(registers)?, value)?;
        }
        for (register, value) in [
            (SLOTS, settings.slots),
            (LIMIT, settings.limit),
            (MORE, settings.more),
            (SEGMENT_SHIFT, settings.segment_shift),
            (OVERFLOW_SLOTS, settings.overflow_slots),
            (VALUE_BYTES, settings.value_bytes),
            (MOST_READINGS, settings.most_readings),
            (SEGMENTS, settings.segments),
            (IDLE_TIME, settings.read_times.0.into()),
            (FLUSH_TIME, settings.read_times.1.into()),
        ] {
            register.write(registers, value)?;
            kept(register.name(), register.read(registers)?.into(), value.into())?;
        }
        Ok(())
    }

    /// Lets the unit accept requests, with the settings that it was configured with.
    ///
    /// # Errors
    /// [`LookUpUnitError::Setting`] with the first that does not fit, as the unit judges; or what the
    /// registers report.
    pub fn enable(&mut self, settings: &Settings) -> Result<(), LookUpUnitError> {
        let registers = &mut self.registers;
        CONTROL.write(registers, Control::default().with_enable(true))?;
        if CONTROL.read(registers)?.enable() {
            return Ok(());
        }
        let error = SETTINGS_ERROR.read(registers)?;
        match error.setting() {
            Some(setting) if setting != LookupSetting::None => {
                let (setting, value, expected) = settings.named(setting);
                Err(LookUpUnitError::Setting { setting, value, expected })
            }
            _ => Err(LookUpUnitError::Device(DeviceError::Mismatch {
                register: SETTINGS_ERROR.name().into(),
                found: error.bits().into(),
                expected: "the number of a setting, as the unit stays off".into(),
            })),
        }
    }

    /// Brings an idle unit into use: identifies it, configures and enables it.
    ///
    /// # Errors
    /// Those of [`LookUpUnit::identify`], [`LookUpUnit::configure`] and [`LookUpUnit::enable`].
    pub fn start(&mut self, settings: &Settings) -> Result<Built, LookUpUnitError> {
        let built = self.identify()?;
        self.configure(settings)?;
        self.enable(settings)?;
        Ok(built)
    }

    /// Stops the unit from accepting requests; those under way go on.
    ///
    /// # Errors
    /// What the registers report.
    pub fn disable(&mut self) -> Result<(), DeviceError> {
        CONTROL.write(&mut self.registers, Control::default())
    }

    /// Whether the unit accepts requests.
    ///
    /// # Errors
    /// What the registers report; [`DeviceError::Gone`] on all-ones.
    pub fn is_enabled(&mut self) -> Result<bool, DeviceError> {
        Ok(CONTROL.read(&mut self.registers)?.enable())
    }

    /// Number of requests that are under way.
    ///
    /// # Errors
    /// What the registers report; [`DeviceError::Gone`] on all-ones.
    pub fn open_requests(&mut self) -> Result<u32, DeviceError> {
        RETURN.read(&mut self.registers)
    }

    /// Disables the unit, and waits until no request is under way: then it reads no host memory any more.
    ///
    /// # Errors
    /// [`DeviceError::Timeout`] when requests are still under way after `bound`, or what the registers
    /// report.
    pub fn drain(&mut self, bound: Duration) -> Result<(), DeviceError> {
        self.disable()?;
        let started = Instant::now();
        loop {
            let open = self.open_requests()?;
            if open == 0 {
                return Ok(());
            }
            if started.elapsed() > bound {
                return Err(DeviceError::Timeout {
                    waited_for: format!("look-ups under way to end, {open} left"),
                    bound: format!("{bound:?}"),
                });
            }
            std::thread::sleep(PAUSE.min(bound));
        }
    }

    /// Reads all counters, one after the other: a consistent picture only of an idle unit.
    ///
    /// # Errors
    /// What the registers report; [`DeviceError::Gone`] on all-ones; [`DeviceError::Timeout`] when a
    /// counter's high half never holds still.
    pub fn counters(&mut self) -> Result<Counters, DeviceError> {
        Counters::read(&mut self.registers)
    }
}

fn kept(name: &str, found: u64, expected: u64) -> Result<(), DeviceError> {
    if found == expected {
        return Ok(());
    }
    let register = name.into();
    Err(DeviceError::Mismatch { register, found, expected: format!("0x{expected:X}") })
}
