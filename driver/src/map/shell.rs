// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: dfebd40f9bcbf262ec49c8c6898612118ed84ff80fd9fa00535c9ced2825cb54 model.py properties.rdl requirements.txt rust.py shell.rdl
// body-sha256: 34175e7fdf9a9f7734e1b6fc4b0310c08c20d5f35766fb430d40fda15beee568
//! Shell: The device as a whole: identity, scratch registers, interrupts by hand.

use std::mem::offset_of;

use volatile_register::{RO, RW, WO};

use super::{
    Access, ReadOnly, ReadWrite, Signature, Word, WriteOnly, device::Version,
    token::value_of_fields,
};

/// Keeps what is written, for tests of 8-bit accesses.
pub const SCRATCH_8: ReadWrite<u8> = ReadWrite::new("SCRATCH_8", 0x020);
/// Keeps what is written, for tests of 16-bit accesses.
pub const SCRATCH_16: ReadWrite<u16> = ReadWrite::new("SCRATCH_16", 0x024);
/// Keeps what is written, for tests of 32-bit accesses.
pub const SCRATCH_32: ReadWrite<u32> = ReadWrite::new("SCRATCH_32", 0x028);
/// Keeps what is written, for tests of 64-bit accesses.
pub const SCRATCH_64: ReadWrite<u64> = ReadWrite::new("SCRATCH_64", 0x030);
/// Raises interrupts by hand: each bit that is written as 1 raises its vector once.
pub const INTERRUPT_FORCE: WriteOnly<InterruptForce> = WriteOnly::new("INTERRUPT_FORCE", 0x040);
/// The characters LSDV.
pub const IDENTITY: ReadOnly<u32> = ReadOnly::new("IDENTITY", 0x100);
/// Version of the register map. A driver knows one major version.
pub const VERSION: ReadOnly<Version> = ReadOnly::new("VERSION", 0x104);
/// What the device has.
pub const CAPABILITIES: ReadOnly<Capabilities> = ReadOnly::new("CAPABILITIES", 0x108);
/// Interrupts raised on vector n since reset.
pub const INTERRUPT_COUNT: [ReadOnly<u32>; 6] = [
    ReadOnly::new("INTERRUPT_COUNT", 0x200),
    ReadOnly::new("INTERRUPT_COUNT", 0x204),
    ReadOnly::new("INTERRUPT_COUNT", 0x208),
    ReadOnly::new("INTERRUPT_COUNT", 0x20C),
    ReadOnly::new("INTERRUPT_COUNT", 0x210),
    ReadOnly::new("INTERRUPT_COUNT", 0x214),
];
/// What the block is known by.
pub const SIGNATURE: Signature = Signature { identity: 0x4C534456, major: 1, minor: 2 };
/// The fields of [`INTERRUPT_FORCE`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct InterruptForce(u32);

value_of_fields!(InterruptForce);

impl InterruptForce {
    /// The register with these bits.
    pub const fn from_bits(bits: u32) -> Self {
        InterruptForce(bits)
    }

    /// All bits of the register.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Raise vector 0.
    pub const fn vector_0(self) -> bool {
        self.0 & 0x1 != 0
    }

    /// The same register with another `vector_0`. Raise vector 0.
    #[must_use]
    pub const fn with_vector_0(self, vector_0: bool) -> Self {
        Self(self.0 & !0x1 | vector_0 as u32)
    }

    /// Raise vector 1.
    pub const fn vector_1(self) -> bool {
        self.0 >> 1 & 0x1 != 0
    }

    /// The same register with another `vector_1`. Raise vector 1.
    #[must_use]
    pub const fn with_vector_1(self, vector_1: bool) -> Self {
        Self(self.0 & !0x2 | (vector_1 as u32) << 1)
    }

    /// Raise vector 2.
    pub const fn vector_2(self) -> bool {
        self.0 >> 2 & 0x1 != 0
    }

    /// The same register with another `vector_2`. Raise vector 2.
    #[must_use]
    pub const fn with_vector_2(self, vector_2: bool) -> Self {
        Self(self.0 & !0x4 | (vector_2 as u32) << 2)
    }

    /// Raise vector 3.
    pub const fn vector_3(self) -> bool {
        self.0 >> 3 & 0x1 != 0
    }

    /// The same register with another `vector_3`. Raise vector 3.
    #[must_use]
    pub const fn with_vector_3(self, vector_3: bool) -> Self {
        Self(self.0 & !0x8 | (vector_3 as u32) << 3)
    }

    /// Raise vector 4.
    pub const fn vector_4(self) -> bool {
        self.0 >> 4 & 0x1 != 0
    }

    /// The same register with another `vector_4`. Raise vector 4.
    #[must_use]
    pub const fn with_vector_4(self, vector_4: bool) -> Self {
        Self(self.0 & !0x10 | (vector_4 as u32) << 4)
    }

    /// Raise vector 5.
    pub const fn vector_5(self) -> bool {
        self.0 >> 5 & 0x1 != 0
    }

    /// The same register with another `vector_5`. Raise vector 5.
    #[must_use]
    pub const fn with_vector_5(self, vector_5: bool) -> Self {
        Self(self.0 & !0x20 | (vector_5 as u32) << 5)
    }
}

/// The fields of [`CAPABILITIES`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Capabilities(u32);

value_of_fields!(Capabilities);

impl Capabilities {
    /// The register with these bits.
    pub const fn from_bits(bits: u32) -> Self {
        Capabilities(bits)
    }

    /// All bits of the register.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Queues.
    pub const fn queues(self) -> u8 {
        self.0 as u8
    }

    /// Interrupt vectors.
    pub const fn vectors(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// Base-2 logarithm of the bytes of card memory.
    pub const fn card_log2_bytes(self) -> u8 {
        (self.0 >> 16) as u8
    }
}

/// The shell's registers as they lie in memory.
#[repr(C)]
pub struct Block {
    _reserved_000: [u32; 8],
    /// Keeps what is written, for tests of 8-bit accesses.
    pub scratch_8: RW<u32>,
    /// Keeps what is written, for tests of 16-bit accesses.
    pub scratch_16: RW<u32>,
    /// Keeps what is written, for tests of 32-bit accesses.
    pub scratch_32: RW<u32>,
    _reserved_02c: [u32; 1],
    /// Keeps what is written, for tests of 64-bit accesses. The low half, then the high half.
    pub scratch_64: [RW<u32>; 2],
    _reserved_038: [u32; 2],
    /// Raises interrupts by hand: each bit that is written as 1 raises its vector once.
    pub interrupt_force: WO<InterruptForce>,
    _reserved_044: [u32; 47],
    /// The characters LSDV.
    pub identity: RO<u32>,
    /// Version of the register map. A driver knows one major version.
    pub version: RO<Version>,
    /// What the device has.
    pub capabilities: RO<Capabilities>,
    _reserved_10c: [u32; 61],
    /// Interrupts raised on vector n since reset.
    pub interrupt_count: [RO<u32>; 6],
    _reserved_218: [u32; 890],
}

const _: () = {
    assert!(offset_of!(Block, scratch_8) == SCRATCH_8.offset() as usize);
    assert!(offset_of!(Block, scratch_16) == SCRATCH_16.offset() as usize);
    assert!(offset_of!(Block, scratch_32) == SCRATCH_32.offset() as usize);
    assert!(offset_of!(Block, scratch_64) == SCRATCH_64.offset() as usize);
    assert!(offset_of!(Block, interrupt_force) == INTERRUPT_FORCE.offset() as usize);
    assert!(offset_of!(Block, identity) == IDENTITY.offset() as usize);
    assert!(offset_of!(Block, version) == VERSION.offset() as usize);
    assert!(offset_of!(Block, capabilities) == CAPABILITIES.offset() as usize);
    assert!(offset_of!(Block, interrupt_count) == INTERRUPT_COUNT[0].offset() as usize);
    assert!(size_of::<Block>() == 0x1000);
};

/// All words of the block.
pub const WORDS: [Word; 15] = [
    Word::new("SCRATCH_8", 0x020, Access::ReadWrite, Some(0x0), 0x000000FF).takes_bytes(),
    Word::new("SCRATCH_16", 0x024, Access::ReadWrite, Some(0x0), 0x0000FFFF).takes_bytes(),
    Word::new("SCRATCH_32", 0x028, Access::ReadWrite, Some(0x0), 0xFFFFFFFF).takes_bytes(),
    Word::new("SCRATCH_64 low", 0x030, Access::ReadWrite, Some(0x0), 0xFFFFFFFF).takes_bytes(),
    Word::new("SCRATCH_64 high", 0x034, Access::ReadWrite, Some(0x0), 0xFFFFFFFF).takes_bytes(),
    Word::new("INTERRUPT_FORCE", 0x040, Access::WriteOnly, Some(0x0), 0x0000003F),
    Word::new("IDENTITY", 0x100, Access::ReadOnly, Some(0x4C534456), 0xFFFFFFFF),
    Word::new("VERSION", 0x104, Access::ReadOnly, Some(0x10002), 0xFFFFFFFF),
    Word::new("CAPABILITIES", 0x108, Access::ReadOnly, None, 0x00FFFFFF),
    Word::new("INTERRUPT_COUNT[0]", 0x200, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("INTERRUPT_COUNT[1]", 0x204, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("INTERRUPT_COUNT[2]", 0x208, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("INTERRUPT_COUNT[3]", 0x20C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("INTERRUPT_COUNT[4]", 0x210, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("INTERRUPT_COUNT[5]", 0x214, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
];
