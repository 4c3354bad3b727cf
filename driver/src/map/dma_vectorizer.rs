// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 1efe6f59b1cabe6cf11d66898312f649b0f7bae5a6366595763db5e208eba04f dma_vectorizer.rdl model.py properties.rdl requirements.txt rust.py
// body-sha256: 506fbe29af036435e86054084154c0725becda8ae7cb2ddd69f8dcf8e4d13141
//! DMA vectorizer: Makes few commands to the host link out of many small copies between host and
//! NIC memory.

use std::mem::offset_of;

use volatile_register::{RO, RW};

use super::{
    Access, Counter, ReadOnly, ReadWrite, Signature, Word, device::Version, token::value_of_fields,
};
use crate::{DeviceError, Registers};

/// Switches the queues on. What was accepted before they are switched off is carried out. Settings
/// can be written when they are off and RETURN is 0.
pub const CONTROL: ReadWrite<Control> = ReadWrite::new("CONTROL", 0x000);
/// Elements that were accepted and have not ended.
pub const RETURN: ReadOnly<u32> = ReadOnly::new("RETURN", 0x010);
/// The first page of host memory that elements may touch.
pub const HOST_FIRST: ReadWrite<u64> = ReadWrite::new("HOST_FIRST", 0x020);
/// The last page of host memory that elements may touch, which is inside.
pub const HOST_LAST: ReadWrite<u64> = ReadWrite::new("HOST_LAST", 0x030);
/// The first page of NIC memory that elements may touch.
pub const NIC_FIRST: ReadWrite<u64> = ReadWrite::new("NIC_FIRST", 0x040);
/// The last page of NIC memory that elements may touch, which is inside.
pub const NIC_LAST: ReadWrite<u64> = ReadWrite::new("NIC_LAST", 0x050);
/// Clocks without a new element after which a queue sends its vectors.
pub const IDLE_TIME: ReadWrite<u32> = ReadWrite::new("IDLE_TIME", 0x060);
/// Clocks after which the oldest element of a vector has it sent.
pub const FLUSH_TIME: ReadWrite<u32> = ReadWrite::new("FLUSH_TIME", 0x070);
/// The characters LSDV.
pub const IDENTITY: ReadOnly<u32> = ReadOnly::new("IDENTITY", 0x100);
/// Version of the register map. A driver knows one major version.
pub const VERSION: ReadOnly<Version> = ReadOnly::new("VERSION", 0x104);
/// What the vectorizer has.
pub const CAPABILITIES: ReadOnly<Capabilities> = ReadOnly::new("CAPABILITIES", 0x108);
/// Elements accepted.
pub const ELEMENTS: Counter = Counter::new("ELEMENTS", 0x200);
/// Vectors sent because they were full.
pub const VECTORS_FULL: Counter = Counter::new("VECTORS_FULL", 0x208);
/// Vectors sent because their oldest element had waited for the flush time.
pub const VECTORS_FLUSHED: Counter = Counter::new("VECTORS_FLUSHED", 0x210);
/// Vectors sent because their queue was without a new element for the idle time.
pub const VECTORS_IDLE: Counter = Counter::new("VECTORS_IDLE", 0x218);
/// Bytes of elements that were asked of host memory.
pub const BYTES_READ: Counter = Counter::new("BYTES_READ", 0x220);
/// Bytes of elements that were asked of NIC memory, to be written to the host's.
pub const BYTES_WRITTEN: Counter = Counter::new("BYTES_WRITTEN", 0x228);
/// Elements that ended with an error, those that were refused among them.
pub const ERRORS: Counter = Counter::new("ERRORS", 0x230);
/// Elements that were not begun: their length or a place is not allowed.
pub const REFUSED: Counter = Counter::new("REFUSED", 0x238);
/// [`HOST_FIRST`] is a multiple of this.
pub const HOST_FIRST_MULTIPLE: u64 = 4096;
/// [`HOST_LAST`] is a multiple of this.
pub const HOST_LAST_MULTIPLE: u64 = 4096;
/// [`NIC_FIRST`] is a multiple of this.
pub const NIC_FIRST_MULTIPLE: u64 = 4096;
/// [`NIC_LAST`] is a multiple of this.
pub const NIC_LAST_MULTIPLE: u64 = 4096;
/// The largest value of [`IDLE_TIME`].
pub const IDLE_TIME_LARGEST: u32 = 65535;
/// The largest value of [`FLUSH_TIME`].
pub const FLUSH_TIME_LARGEST: u32 = 65535;
/// What the block is known by.
pub const SIGNATURE: Signature = Signature { identity: 0x4C534456, major: 1, minor: 0 };
/// All counters, in the order of the map.
pub const COUNTERS: [Counter; 8] = [
    ELEMENTS,
    VECTORS_FULL,
    VECTORS_FLUSHED,
    VECTORS_IDLE,
    BYTES_READ,
    BYTES_WRITTEN,
    ERRORS,
    REFUSED,
];

/// Events since reset; wraps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Elements accepted.
    pub elements: u64,
    /// Vectors sent because they were full.
    pub vectors_full: u64,
    /// Vectors sent because their oldest element had waited for the flush time.
    pub vectors_flushed: u64,
    /// Vectors sent because their queue was without a new element for the idle time.
    pub vectors_idle: u64,
    /// Bytes of elements that were asked of host memory.
    pub bytes_read: u64,
    /// Bytes of elements that were asked of NIC memory, to be written to the host's.
    pub bytes_written: u64,
    /// Elements that ended with an error, those that were refused among them.
    pub errors: u64,
    /// Elements that were not begun: their length or a place is not allowed.
    pub refused: u64,
}

impl Counters {
    /// Reads one after the other: a consistent picture only of an idle block.
    ///
    /// # Errors
    /// [`DeviceError::Timeout`] when a counter's high half never holds still, or what the
    /// registers report.
    pub fn read<R: Registers + ?Sized>(registers: &mut R) -> Result<Self, DeviceError> {
        Ok(Counters {
            elements: ELEMENTS.read(registers)?,
            vectors_full: VECTORS_FULL.read(registers)?,
            vectors_flushed: VECTORS_FLUSHED.read(registers)?,
            vectors_idle: VECTORS_IDLE.read(registers)?,
            bytes_read: BYTES_READ.read(registers)?,
            bytes_written: BYTES_WRITTEN.read(registers)?,
            errors: ERRORS.read(registers)?,
            refused: REFUSED.read(registers)?,
        })
    }
}

/// The fields of [`CONTROL`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Control(u32);

value_of_fields!(Control);

impl Control {
    /// The register with these bits.
    pub const fn from_bits(bits: u32) -> Self {
        Control(bits)
    }

    /// All bits of the register.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Queues accept elements.
    pub const fn enable(self) -> bool {
        self.0 & 0x1 != 0
    }

    /// The same register with another `enable`. Queues accept elements.
    #[must_use]
    pub const fn with_enable(self, enable: bool) -> Self {
        Self(self.0 & !0x1 | enable as u32)
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

    /// The most elements of a vector.
    pub const fn vector(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// Base-2 logarithm of the bursts under way at once, in each direction.
    pub const fn log2_bursts(self) -> u8 {
        (self.0 >> 16) as u8
    }
}

/// The dma vectorizer's registers as they lie in memory.
#[repr(C)]
pub struct Block {
    /// Switches the queues on. What was accepted before they are switched off is carried out.
    /// Settings can be written when they are off and RETURN is 0.
    pub control: RW<Control>,
    _reserved_004: [u32; 3],
    /// Elements that were accepted and have not ended.
    pub r#return: RO<u32>,
    _reserved_014: [u32; 3],
    /// The first page of host memory that elements may touch. The low half, then the high half.
    pub host_first: [RW<u32>; 2],
    _reserved_028: [u32; 2],
    /// The last page of host memory that elements may touch, which is inside. The low half, then
    /// the high half.
    pub host_last: [RW<u32>; 2],
    _reserved_038: [u32; 2],
    /// The first page of NIC memory that elements may touch. The low half, then the high half.
    pub nic_first: [RW<u32>; 2],
    _reserved_048: [u32; 2],
    /// The last page of NIC memory that elements may touch, which is inside. The low half, then the
    /// high half.
    pub nic_last: [RW<u32>; 2],
    _reserved_058: [u32; 2],
    /// Clocks without a new element after which a queue sends its vectors.
    pub idle_time: RW<u32>,
    _reserved_064: [u32; 3],
    /// Clocks after which the oldest element of a vector has it sent.
    pub flush_time: RW<u32>,
    _reserved_074: [u32; 35],
    /// The characters LSDV.
    pub identity: RO<u32>,
    /// Version of the register map. A driver knows one major version.
    pub version: RO<Version>,
    /// What the vectorizer has.
    pub capabilities: RO<Capabilities>,
    _reserved_10c: [u32; 61],
    /// Elements accepted. The low half, then the high half.
    pub elements: [RO<u32>; 2],
    /// Vectors sent because they were full. The low half, then the high half.
    pub vectors_full: [RO<u32>; 2],
    /// Vectors sent because their oldest element had waited for the flush time. The low half, then
    /// the high half.
    pub vectors_flushed: [RO<u32>; 2],
    /// Vectors sent because their queue was without a new element for the idle time. The low half,
    /// then the high half.
    pub vectors_idle: [RO<u32>; 2],
    /// Bytes of elements that were asked of host memory. The low half, then the high half.
    pub bytes_read: [RO<u32>; 2],
    /// Bytes of elements that were asked of NIC memory, to be written to the host's. The low half,
    /// then the high half.
    pub bytes_written: [RO<u32>; 2],
    /// Elements that ended with an error, those that were refused among them. The low half, then
    /// the high half.
    pub errors: [RO<u32>; 2],
    /// Elements that were not begun: their length or a place is not allowed. The low half, then the
    /// high half.
    pub refused: [RO<u32>; 2],
    _reserved_240: [u32; 880],
}

const _: () = {
    assert!(offset_of!(Block, control) == CONTROL.offset() as usize);
    assert!(offset_of!(Block, r#return) == RETURN.offset() as usize);
    assert!(offset_of!(Block, host_first) == HOST_FIRST.offset() as usize);
    assert!(offset_of!(Block, host_last) == HOST_LAST.offset() as usize);
    assert!(offset_of!(Block, nic_first) == NIC_FIRST.offset() as usize);
    assert!(offset_of!(Block, nic_last) == NIC_LAST.offset() as usize);
    assert!(offset_of!(Block, idle_time) == IDLE_TIME.offset() as usize);
    assert!(offset_of!(Block, flush_time) == FLUSH_TIME.offset() as usize);
    assert!(offset_of!(Block, identity) == IDENTITY.offset() as usize);
    assert!(offset_of!(Block, version) == VERSION.offset() as usize);
    assert!(offset_of!(Block, capabilities) == CAPABILITIES.offset() as usize);
    assert!(offset_of!(Block, elements) == ELEMENTS.offset() as usize);
    assert!(offset_of!(Block, vectors_full) == VECTORS_FULL.offset() as usize);
    assert!(offset_of!(Block, vectors_flushed) == VECTORS_FLUSHED.offset() as usize);
    assert!(offset_of!(Block, vectors_idle) == VECTORS_IDLE.offset() as usize);
    assert!(offset_of!(Block, bytes_read) == BYTES_READ.offset() as usize);
    assert!(offset_of!(Block, bytes_written) == BYTES_WRITTEN.offset() as usize);
    assert!(offset_of!(Block, errors) == ERRORS.offset() as usize);
    assert!(offset_of!(Block, refused) == REFUSED.offset() as usize);
    assert!(size_of::<Block>() == 0x1000);
};

/// All words of the block.
pub const WORDS: [Word; 31] = [
    Word::new("CONTROL", 0x000, Access::ReadWrite, Some(0x0), 0x00000001),
    Word::new("RETURN", 0x010, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("HOST_FIRST low", 0x020, Access::ReadWrite, Some(0x1000), 0xFFFFF000)
        .multiple_of(4096)
        .while_disabled(),
    Word::new("HOST_FIRST high", 0x024, Access::ReadWrite, Some(0x0), 0xFFFFFFFF).while_disabled(),
    Word::new("HOST_LAST low", 0x030, Access::ReadWrite, Some(0x0), 0xFFFFF000)
        .multiple_of(4096)
        .while_disabled(),
    Word::new("HOST_LAST high", 0x034, Access::ReadWrite, Some(0x0), 0xFFFFFFFF).while_disabled(),
    Word::new("NIC_FIRST low", 0x040, Access::ReadWrite, Some(0x1000), 0xFFFFF000)
        .multiple_of(4096)
        .while_disabled(),
    Word::new("NIC_FIRST high", 0x044, Access::ReadWrite, Some(0x0), 0xFFFFFFFF).while_disabled(),
    Word::new("NIC_LAST low", 0x050, Access::ReadWrite, Some(0x0), 0xFFFFF000)
        .multiple_of(4096)
        .while_disabled(),
    Word::new("NIC_LAST high", 0x054, Access::ReadWrite, Some(0x0), 0xFFFFFFFF).while_disabled(),
    Word::new("IDLE_TIME", 0x060, Access::ReadWrite, Some(0x10), 0x0001FFFF)
        .between(0, 65535)
        .while_disabled(),
    Word::new("FLUSH_TIME", 0x070, Access::ReadWrite, Some(0x40), 0x0001FFFF)
        .between(0, 65535)
        .while_disabled(),
    Word::new("IDENTITY", 0x100, Access::ReadOnly, Some(0x4C534456), 0xFFFFFFFF),
    Word::new("VERSION", 0x104, Access::ReadOnly, Some(0x10000), 0xFFFFFFFF),
    Word::new("CAPABILITIES", 0x108, Access::ReadOnly, Some(0x80F08), 0x00FFFFFF),
    Word::new("ELEMENTS low", 0x200, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("ELEMENTS high", 0x204, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("VECTORS_FULL low", 0x208, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("VECTORS_FULL high", 0x20C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("VECTORS_FLUSHED low", 0x210, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("VECTORS_FLUSHED high", 0x214, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("VECTORS_IDLE low", 0x218, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("VECTORS_IDLE high", 0x21C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("BYTES_READ low", 0x220, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("BYTES_READ high", 0x224, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("BYTES_WRITTEN low", 0x228, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("BYTES_WRITTEN high", 0x22C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("ERRORS low", 0x230, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("ERRORS high", 0x234, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("REFUSED low", 0x238, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("REFUSED high", 0x23C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
];
