// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 43e420f27feea7a15c5a295a0103cb5b069ccad075cc5efaa965a91ffa7ab44b dma_vectorizer.rdl lock_unit.rdl lockstep_device.rdl model.py nic_lookup.rdl properties.rdl queue.rdl requirements.txt rust.py shell.rdl visibility_pe.rdl
// body-sha256: 1fbefd736272bd67c397b587f823b936eb2808b85b2b51572973dd61acd44d68
//! Lockstep device, BAR0: 64 KiB. Reads of what is not here answer all-ones, and writes of it are
//! dropped.

use super::{Place, ReadOnly, lock_unit, nic_lookup, queue, shell, token::value_of_fields};

/// Shell. The device as a whole: identity, scratch registers, interrupts by hand.
pub const SHELL: u32 = 0x0000;
/// Lock unit. Executes requests of the lock protocol on a table in host memory.
pub const LOCK_UNIT: u32 = 0x1000;
/// Copy queue. Queue 0: copies between host memory and card memory.
pub const COPY_QUEUE: u32 = 0x2000;
/// Lock queue. Queue 1: requests for the lock unit.
pub const LOCK_QUEUE: u32 = 0x3000;
/// Job queue. Queue 2: jobs that are done near the data.
pub const JOB_QUEUE: u32 = 0x4000;
/// Look-up unit. Looks keys up in a table in host memory.
pub const LOOK_UP_UNIT: u32 = 0x5000;
/// Look-up queue. Queue 3: requests for the look-up unit.
pub const LOOK_UP_QUEUE: u32 = 0x6000;
/// MSI-X table. Where each interrupt vector is sent, as PCI Express says. Kept by the PCI function,
/// not by the RTL.
pub const MSIX_TABLE: u32 = 0x8000;
/// MSI-X pending bits. Which masked vectors were raised, as PCI Express says. Kept by the PCI
/// function, not by the RTL.
pub const MSIX_PENDING: u32 = 0x9000;

/// All blocks of the RTL, at their places.
pub const PLACES: [Place; 7] = [
    Place { name: "shell", base: SHELL, words: &shell::WORDS },
    Place { name: "lock_unit", base: LOCK_UNIT, words: &lock_unit::WORDS },
    Place { name: "copy_queue", base: COPY_QUEUE, words: &queue::WORDS },
    Place { name: "lock_queue", base: LOCK_QUEUE, words: &queue::WORDS },
    Place { name: "job_queue", base: JOB_QUEUE, words: &queue::WORDS },
    Place { name: "look_up_unit", base: LOOK_UP_UNIT, words: &nic_lookup::WORDS },
    Place { name: "look_up_queue", base: LOOK_UP_QUEUE, words: &queue::WORDS },
];

/// In all blocks. Four characters that name the block.
pub const IDENTITY: ReadOnly<u32> = ReadOnly::new("IDENTITY", 0x100);
/// In all blocks. Version of the register map. A driver knows one major version.
pub const VERSION: ReadOnly<Version> = ReadOnly::new("VERSION", 0x104);
/// The fields of [`VERSION`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Version(u32);

value_of_fields!(Version);

impl Version {
    /// The register with these bits.
    pub const fn from_bits(bits: u32) -> Self {
        Version(bits)
    }

    /// All bits of the register.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Differences that old software need not know.
    pub const fn minor(self) -> u16 {
        self.0 as u16
    }

    /// Differences that old software cannot work with.
    pub const fn major(self) -> u16 {
        (self.0 >> 16) as u16
    }
}
