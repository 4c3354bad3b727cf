// SPDX-License-Identifier: MIT OR Apache-2.0
//! The function's PCI configuration space.
//!
//! One table ([`FIELDS`]) says for each field what it holds after a reset and which of its bits
//! software may write; every other bit reads as the table has it (or 0) whatever is written.
//! Sources: PCI Express Base Specification 4.0, sections 7.5 (header, power management, PCI
//! Express) and 7.7.2 (MSI-X); PCI Local Bus Specification 3.0, section 6.2.5.1 (sizing a BAR).

use driver::layout::BAR0_BYTES;
use driver::map::shell;
use driver::{PciIdentity, pci_regs};

/// Bytes of the space.
pub(crate) const BYTES: usize = 4096;

/// Interrupt vectors: as many as the shell counts interrupts of.
pub(crate) const VECTORS: usize = shell::INTERRUPT_COUNT.len();
/// Where in BAR0 the MSI-X table stands.
pub(crate) const MSIX_TABLE: u32 = 0x8000;
/// Where in BAR0 the pending bits stand.
pub(crate) const MSIX_PENDING: u32 = 0x9000;

/// Offsets of fields that mean something to the function.
pub(crate) mod offset {
    use driver::pci_regs;

    pub const COMMAND: usize = pci_regs::COMMAND;
    pub const BAR0: usize = pci_regs::BASE_ADDRESS_0;
    pub const BAR2: usize = pci_regs::BASE_ADDRESS_2;
    pub const CAPABILITIES: usize = pci_regs::CAPABILITY_LIST;
    pub const POWER: usize = 0x40;
    pub const POWER_STATE: usize = POWER + pci_regs::PM_CTRL;
    pub const EXPRESS: usize = 0x60;
    pub const DEVICE_CONTROL: usize = EXPRESS + pci_regs::EXP_DEVCTL;
    pub const DEVICE_CONTROL_2: usize = EXPRESS + pci_regs::EXP_DEVCTL2;
    pub const MSIX: usize = 0xA0;
    pub const MSIX_CONTROL: usize = MSIX + pci_regs::MSIX_FLAGS;
}

const COMMAND_MEMORY: u8 = pci_regs::COMMAND_MEMORY as u8;
const COMMAND_BUS_MASTER: u8 = pci_regs::COMMAND_MASTER as u8;
/// Of the high byte of device control.
const INITIATE_RESET: u8 = (pci_regs::EXP_DEVCTL_BCR_FLR >> 8) as u8;
/// Of the low byte of device control 2.
const ATOMICOP_REQUESTER_ENABLE: u8 = pci_regs::EXP_DEVCTL2_ATOMIC_REQ as u8;
/// Of the high byte of MSI-X message control.
const MSIX_ENABLE: u8 = (pci_regs::MSIX_FLAGS_ENABLE >> 8) as u8;
const MSIX_FUNCTION_MASK: u8 = (pci_regs::MSIX_FLAGS_MASKALL >> 8) as u8;

/// Part of the space: offset, bytes (at most 4), value after reset, bits that software may write.
type Field = (usize, usize, u32, u32);

/// Everything that depends neither on the function's identity nor on the size of the card's memory.
const FIELDS: &[Field] = &[
    // Header, type 0. Memory, bus master, parity, SERR, interrupt disable; no I/O space.
    (offset::COMMAND, 2, 0, 0x0546),
    // Status: there are capabilities. Its error bits are cleared by writing 1, and never set.
    (pci_regs::STATUS, 2, pci_regs::STATUS_CAP_LIST as u32, 0),
    (0x08, 1, 1, 0),         // revision
    (0x09, 3, 0x12_0000, 0), // class: processing accelerator
    (0x0C, 1, 0, 0xFF),      // cache line size: without effect, and writable
    (offset::BAR0, 4, 0x4, !(BAR0_BYTES as u32 - 1)),
    (offset::BAR0 + 4, 4, 0, u32::MAX),
    (offset::CAPABILITIES, 1, offset::POWER as u32, 0),
    (0x3C, 1, 0, 0xFF), // interrupt line: of software, for software
    // Power management, version 3: D0 and D3hot, in which nothing is forgotten.
    (offset::POWER, 1, pci_regs::CAP_ID_PM as u32, 0),
    (offset::POWER + 1, 1, offset::EXPRESS as u32, 0),
    (offset::POWER + 2, 2, 0x0003, 0),
    (offset::POWER_STATE, 2, 0x0008, 0x0003),
    // PCI Express, version 2: endpoint.
    (offset::EXPRESS, 1, pci_regs::CAP_ID_EXP as u32, 0),
    (offset::EXPRESS + 1, 1, offset::MSIX as u32, 0),
    (offset::EXPRESS + pci_regs::EXP_FLAGS, 2, 0x0002, 0),
    // Device: payload up to 256 bytes, role-based errors, function-level reset.
    (offset::EXPRESS + pci_regs::EXP_DEVCAP, 4, 0x1000_8001, 0),
    // Device control: error reporting, payload of up to 256 bytes, read requests. What the function
    // has not, or never does, is wired to 0: relaxed ordering, extended tags, phantom functions,
    // auxiliary power, no snoop. The highest bit, which initiates the reset, always reads 0.
    (offset::DEVICE_CONTROL, 2, 0x2000, 0x702F),
    // Link: 16 lanes at 8 GT/s.
    (offset::EXPRESS + 0x0C, 4, 0x0000_0103, 0),
    (offset::EXPRESS + 0x10, 2, 0, 0x00CB),
    (offset::EXPRESS + pci_regs::EXP_LNKSTA, 2, 0x0103, 0),
    // Device 2: completion time-outs can be disabled; the function requests AtomicOps, if it may, and
    // neither routes nor completes any. Link 2: up to 8 GT/s.
    (offset::EXPRESS + pci_regs::EXP_DEVCAP2, 4, 0x0000_0010, 0),
    (offset::DEVICE_CONTROL_2, 2, 0, 0x0050),
    (offset::EXPRESS + 0x2C, 4, 0x0000_000E, 0),
    (offset::EXPRESS + 0x30, 2, 0x0003, 0x000F),
    // MSI-X: the last capability. Size, enable and function mask; table and pending bits in BAR0.
    (offset::MSIX, 1, pci_regs::CAP_ID_MSIX as u32, 0),
    (offset::MSIX_CONTROL, 2, VECTORS as u32 - 1, 0xC000),
    (offset::MSIX + pci_regs::MSIX_TABLE, 4, MSIX_TABLE, 0),
    (offset::MSIX + pci_regs::MSIX_PBA, 4, MSIX_PENDING, 0),
];

/// What a write asks of the function, beside what the space now holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[must_use]
pub(crate) struct Effects {
    /// A function-level reset is initiated.
    pub reset: bool,
}

/// The space: its bytes, and which of their bits software may write.
#[derive(Debug, Clone)]
pub(crate) struct ConfigurationSpace {
    bytes: Box<[u8; BYTES]>,
    writable: Box<[u8; BYTES]>,
    identity: PciIdentity,
    card_bytes: u64,
}

impl ConfigurationSpace {
    /// As after power-up, of a function that says it is this, with this much memory on its card.
    ///
    /// # Panics
    /// When that is no power of two of at least 16 bytes.
    pub fn new(identity: PciIdentity, card_bytes: u64) -> Self {
        assert!(
            card_bytes.is_power_of_two() && card_bytes >= 16,
            "card memory of {card_bytes} bytes, expected a power of two of at least 16"
        );
        let (bytes, writable) = (Box::new([0; BYTES]), Box::new([0; BYTES]));
        let mut space = Self { bytes, writable, identity, card_bytes };
        let address = !(card_bytes - 1);
        let PciIdentity { vendor, device, subsystem_vendor, subsystem } = identity;
        let chosen: [Field; 6] = [
            (0x00, 2, vendor.into(), 0),
            (0x02, 2, device.into(), 0),
            (0x2C, 2, subsystem_vendor.into(), 0),
            (0x2E, 2, subsystem.into(), 0),
            // 64 bits, prefetchable.
            (offset::BAR2, 4, 0xC, address as u32 & !0xF),
            (offset::BAR2 + 4, 4, 0, (address >> 32) as u32),
        ];
        for &(start, bytes, value, writable) in FIELDS.iter().chain(&chosen) {
            let range = start..start + bytes;
            space.bytes[range.clone()].copy_from_slice(&value.to_le_bytes()[..bytes]);
            space.writable[range].copy_from_slice(&writable.to_le_bytes()[..bytes]);
        }
        space
    }

    /// Everything as after power-up, as a function-level reset leaves it.
    pub fn reset(&mut self) {
        *self = Self::new(self.identity, self.card_bytes);
    }

    /// Reads bytes. Those past the end of the space read as all-ones.
    pub fn read(&self, offset: usize, into: &mut [u8]) {
        for (index, byte) in into.iter_mut().enumerate() {
            *byte = offset
                .checked_add(index)
                .and_then(|at| self.bytes.get(at).copied())
                .unwrap_or(0xFF);
        }
    }

    /// Writes bytes: of each, the bits that may be written. Past the end nothing happens.
    pub fn write(&mut self, offset: usize, from: &[u8]) -> Effects {
        let mut effects = Effects::default();
        for (index, &byte) in from.iter().enumerate() {
            let Some(at) = offset.checked_add(index).filter(|at| *at < BYTES) else { break };
            effects.reset |= at == offset::DEVICE_CONTROL + 1 && byte & INITIATE_RESET != 0;
            // A write of a power state that is not there (D1, D2) leaves the state as it is.
            if at == offset::POWER_STATE && matches!(byte & 3, 1 | 2) {
                continue;
            }
            let writable = self.writable[at];
            self.bytes[at] = self.bytes[at] & !writable | byte & writable;
        }
        effects
    }

    /// Whether the memory behind the BARs answers.
    pub fn is_memory_enabled(&self) -> bool {
        self.bytes[offset::COMMAND] & COMMAND_MEMORY != 0 && self.is_awake()
    }

    /// Whether the function may reach the host's memory, and so may interrupt.
    pub fn is_bus_master(&self) -> bool {
        self.bytes[offset::COMMAND] & COMMAND_BUS_MASTER != 0 && self.is_awake()
    }

    /// Whether the function may request AtomicOps: compare and swap in the host's memory.
    pub fn may_request_atomics(&self) -> bool {
        self.bytes[offset::DEVICE_CONTROL_2] & ATOMICOP_REQUESTER_ENABLE != 0
            && self.is_bus_master()
    }

    /// Whether it is in D0.
    fn is_awake(&self) -> bool {
        self.bytes[offset::POWER_STATE] & 3 == 0
    }

    /// Whether MSI-X messages may be sent, as far as the function as a whole is concerned.
    pub fn may_interrupt(&self) -> bool {
        let control = self.bytes[offset::MSIX_CONTROL + 1];
        control & MSIX_ENABLE != 0 && control & MSIX_FUNCTION_MASK == 0 && self.is_bus_master()
    }

    /// Switches MSI-X on or off, as the host's kernel does when it sets vectors up or down.
    pub fn enable_msix(&mut self, enable: bool) {
        let control = &mut self.bytes[offset::MSIX_CONTROL + 1];
        *control = if enable { *control | MSIX_ENABLE } else { *control & !MSIX_ENABLE };
    }

    /// Lets the function answer and reach the host's memory, as the host's kernel does when
    /// somebody opens the device.
    pub fn enable(&mut self) {
        self.bytes[offset::COMMAND] |= COMMAND_MEMORY | COMMAND_BUS_MASTER;
    }
}

#[cfg(test)]
mod tests;
