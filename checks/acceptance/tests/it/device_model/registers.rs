// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device model's registers, as the driver's map describes them.

use driver::map::device::{COPY_QUEUE, JOB_QUEUE, LOCK_QUEUE, LOOK_UP_QUEUE, LOOK_UP_UNIT, PLACES};
use driver::map::{Access, Word, nic_lookup, queue, shell};
use driver::{PciIdentity, Width};

use super::{CARD_BYTES, Mutant, VECTORS, lookups};

/// The words of BAR0 that are registers.
pub struct Registers {
    words: Vec<u32>,
    /// Device Control 2 of PCI Express, which the kernel restores after a reset.
    device_control_2: u32,
    mutant: Mutant,
}

/// Where Device Control 2 stands in configuration space.
const DEVICE_CONTROL_2: u64 = 0x68;
/// Its bit AtomicOp Requester Enable.
const REQUESTER_ENABLE: u32 = 1 << 6;

/// Bases of the queues, by their number.
pub const QUEUES: [u32; 4] = [COPY_QUEUE, LOCK_QUEUE, JOB_QUEUE, LOOK_UP_QUEUE];

impl Registers {
    pub fn new(mutant: Mutant) -> Self {
        let mut registers = Self { words: vec![0; 0x1_0000 / 4], device_control_2: 0, mutant };
        registers.reset();
        registers
    }

    pub fn reset(&mut self) {
        let counts = shell::INTERRUPT_COUNT.map(|register| self.get(register.offset()));
        for place in PLACES {
            for word in place.words {
                self.set(place.base + word.offset, word.reset.unwrap_or(0));
            }
        }
        let card = CARD_BYTES.trailing_zeros();
        self.set(shell::CAPABILITIES.offset(), card << 16 | (VECTORS as u32) << 8 | 4);
        for (kind, base) in QUEUES.into_iter().enumerate() {
            self.set(base + queue::CAPABILITIES.offset(), 12 << 8 | (kind as u32 + 1));
        }
        let unit = driver::map::device::LOCK_UNIT;
        self.set(unit + driver::map::lock_unit::CAPABILITIES.offset(), 8 << 8 | 7);
        self.set(
            LOOK_UP_UNIT + nic_lookup::CAPABILITIES.offset(),
            24 << 24 | 7 << 20 | 1 << 16 | 32,
        );
        if self.mutant == Mutant::CountsThroughReset {
            for (register, count) in shell::INTERRUPT_COUNT.into_iter().zip(counts) {
                self.set(register.offset(), count);
            }
        }
    }

    pub fn get(&self, offset: u32) -> u32 {
        self.words[offset as usize / 4]
    }

    pub fn set(&mut self, offset: u32, value: u32) {
        self.words[offset as usize / 4] = value;
    }

    /// Adds to a counter of 64 bits.
    pub fn count(&mut self, offset: u32, more: u64) {
        let value = u64::from(self.get(offset + 4)) << 32 | u64::from(self.get(offset));
        let value = value.wrapping_add(more);
        self.set(offset, value as u32);
        self.set(offset + 4, (value >> 32) as u32);
    }

    pub fn count_interrupt(&mut self, vector: usize) {
        let register = shell::INTERRUPT_COUNT[vector].offset();
        self.set(register, self.get(register).wrapping_add(1));
    }

    /// Address of a register pair.
    pub fn pair(&self, offset: u32) -> u64 {
        u64::from(self.get(offset + 4)) << 32 | u64::from(self.get(offset))
    }

    pub fn configuration(&self, offset: u64, width: Width) -> u64 {
        let class = if self.mutant == Mutant::WrongClass { 0x0580_0001 } else { 0x1200_0001 };
        let PciIdentity { vendor, device, subsystem_vendor, subsystem } = PciIdentity::LOCKSTEP;
        let pair = |vendor: u16, device: u16| u64::from(device) << 16 | u64::from(vendor);
        let word = match offset & !3 {
            0x00 => pair(vendor, device),
            // It has a list of capabilities, which begins at 0x40.
            0x04 => 0x0010_0000,
            0x08 => class,
            0x2C => pair(subsystem_vendor, subsystem),
            0x34 => 0x40,
            // PCI Express, version 2, and its bit for function-level reset.
            0x40 => 0x0002_8010,
            0x44 if self.mutant != Mutant::NoFunctionReset => 1 << 28,
            DEVICE_CONTROL_2 => self.device_control_2.into(),
            // MSI-X: its vectors, table and pending bits.
            0x80 => (VECTORS as u64 - 1) << 16 | 0x0011,
            0x84 if self.mutant == Mutant::MovesMsixTable => 0x7000,
            0x84 => 0x8000,
            0x88 => 0x9000,
            _ => 0,
        };
        word >> (8 * (offset & 3)) & width.all_ones()
    }

    /// Writes to configuration space, of which only one bit can be written.
    pub fn configure(&mut self, offset: u64, value: u64) {
        if offset == DEVICE_CONTROL_2 && self.mutant != Mutant::WiresAtomicsToZero {
            self.device_control_2 = value as u32 & REQUESTER_ENABLE;
        }
    }

    /// Whether the device may compare and swap in host memory.
    pub fn may_request_atomics(&self) -> bool {
        let indifferent = [Mutant::WiresAtomicsToZero, Mutant::SwapsThoughForbidden];
        self.device_control_2 & REQUESTER_ENABLE != 0 || indifferent.contains(&self.mutant)
    }

    pub fn read(&mut self, offset: u64, width: Width) -> u64 {
        if width == Width::Eight {
            let low = self.read(offset, Width::Four);
            return self.read(offset + 4, Width::Four) << 32 | low;
        }
        let offset = offset as u32;
        let word = match word(offset & !3) {
            Some(word) if word.is_readable() => self.get(offset & !3),
            _ if self.mutant == Mutant::ReadsNothingAsZero => 0,
            _ => !0,
        };
        u64::from(word) >> (8 * (offset & 3)) & width.all_ones()
    }

    /// Writes; gives the vectors that were forced.
    pub fn write(&mut self, offset: u64, width: Width, value: u64) -> u32 {
        if width == Width::Eight {
            let swap = if self.mutant == Mutant::SwapsHalves { 4 } else { 0 };
            self.write(offset ^ swap, Width::Four, value & 0xFFFF_FFFF);
            return self.write((offset + 4) ^ swap, Width::Four, value >> 32);
        }
        let mut offset = offset as u32;
        let Some(register) = word(offset & !3) else { return 0 };
        if width == Width::One && self.mutant == Mutant::SwapsByteLanes && register.mask >> 8 != 0 {
            offset ^= 1;
        }
        let base = offset & !3;
        let shift = 8 * (offset & 3);
        let value = (value as u32) << shift;
        let lanes = (width.all_ones() as u32) << shift;
        match register.access {
            Access::ReadOnly => {
                if self.mutant == Mutant::WritesReadOnly {
                    self.set(base, value);
                }
            }
            Access::WriteOnly => return value & register.mask,
            Access::WriteOneToClear => self.set(base, self.get(base) & !value),
            Access::ReadWrite => self.write_value(base, &register, value, lanes),
        }
        0
    }

    fn write_value(&mut self, offset: u32, register: &Word, value: u32, lanes: u32) {
        let whole = lanes == !0;
        let value = match self.mutant {
            Mutant::WidensWrites => value,
            _ => self.get(offset) & !lanes | value & lanes,
        };
        let suits = (register.smallest..=register.largest).contains(&value)
            && value.is_multiple_of(register.multiple_of)
            && (whole || register.takes_bytes);
        let at_work = register.while_disabled && self.get(offset & !0xFFF) & 1 == 1;
        let refused = !suits && self.mutant != Mutant::TakesBadValues
            || at_work && self.mutant != Mutant::MovesRingsAtWork;
        if refused {
            return;
        }
        let before = self.get(offset);
        self.set(offset, value & register.mask);
        if let Some(base) = QUEUES.into_iter().find(|base| *base == offset & !0xFFF) {
            self.wrote_queue(base, offset - base, before);
        }
        let switched_on = offset == LOOK_UP_UNIT && self.get(offset) & 1 == 1;
        if switched_on && self.mutant != Mutant::TakesAnySetting {
            lookups::enable(self);
        }
    }

    /// Enabling a queue sets its counts to 0; doorbells are checked.
    fn wrote_queue(&mut self, base: u32, register: u32, before: u32) {
        let enabled = self.get(base) & 1 == 1;
        let (tail, head) = (queue::SUBMISSION_TAIL.offset(), queue::SUBMISSION_HEAD.offset());
        let (written, read) = (queue::COMPLETION_TAIL.offset(), queue::COMPLETION_HEAD.offset());
        if register == 0 && before & 1 == 0 && enabled {
            for register in [tail, head, written, read, queue::ERROR.offset()] {
                self.set(base + register, 0);
            }
        }
        let distance =
            |from, to| (self.get(base + to) as u16).wrapping_sub(self.get(base + from) as u16);
        let entries = 1u32 << self.get(base + queue::LOG2_ENTRIES.offset());
        let beyond = match register {
            _ if !enabled => false,
            register if register == tail => u32::from(distance(head, tail)) > entries,
            register if register == read => u32::from(distance(read, written)) > entries,
            _ => false,
        };
        if beyond && self.mutant != Mutant::TakesAnyDoorbell {
            self.halt(base, 3);
        }
    }

    pub fn halt(&mut self, base: u32, error: u32) {
        if self.mutant != Mutant::NeverHalts {
            self.set(base + queue::ERROR.offset(), error);
            self.set(base, 0);
        }
    }
}

/// The register at an offset of BAR0.
fn word(offset: u32) -> Option<Word> {
    let place = PLACES.into_iter().find(|place| offset & !0xFFF == place.base)?;
    place.words.iter().find(|word| place.base + word.offset == offset).copied()
}
