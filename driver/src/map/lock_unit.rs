// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 0638d3d8576fdb339add8d9b47a7f31db200b61459e164a62270a8c488b2d8e4 lock_unit.rdl model.py properties.rdl requirements.txt rust.py
// body-sha256: eef70a30bbd03afd677827d30ebab7c065e814537f060441f78c7221ed38834e
//! Lock unit: Executes requests of the lock protocol on a table in host memory.

use std::mem::offset_of;

use volatile_register::{RO, RW};

use super::{
    Access, Counter, ReadOnly, ReadWrite, Signature, Word, WriteOneToClear, device::Version,
    token::value_of_fields,
};
use crate::{DeviceError, Registers};

/// Switches the unit on. Open requests go on after it is switched off.
pub const CONTROL: ReadWrite<Control> = ReadWrite::new("CONTROL", 0x000);
/// Global interrupt enable.
pub const GIE: ReadWrite<Gie> = ReadWrite::new("GIE", 0x004);
/// Interrupt enable, by cause.
pub const IER: ReadWrite<Ier> = ReadWrite::new("IER", 0x008);
/// Interrupt status, by cause; write 1 to clear. An event in the clock of its clearing stays.
pub const ISR: WriteOneToClear<Isr> = WriteOneToClear::new("ISR", 0x00C);
/// Requests open now. A request is open from its beat on the request stream until its last response
/// enters the queue of two in front of the response stream.
pub const RETURN: ReadOnly<u8> = ReadOnly::new("RETURN", 0x010);
/// Byte address of the table. May be changed only while RETURN and CONTROL are 0.
pub const TABLE_BASE: ReadWrite<u64> = ReadWrite::new("TABLE_BASE", 0x020);
/// Size of the table. May be changed only while RETURN and CONTROL are 0.
pub const TABLE_LOG2_BUCKETS: ReadWrite<u8> = ReadWrite::new("TABLE_LOG2_BUCKETS", 0x030);
/// The characters LSLU.
pub const IDENTITY: ReadOnly<u32> = ReadOnly::new("IDENTITY", 0x100);
/// Version of the register map. A driver knows one major version.
pub const VERSION: ReadOnly<Version> = ReadOnly::new("VERSION", 0x104);
/// What the unit can do.
pub const CAPABILITIES: ReadOnly<Capabilities> = ReadOnly::new("CAPABILITIES", 0x108);
/// Requests accepted.
pub const REQUESTS: Counter = Counter::new("REQUESTS", 0x200);
/// Grants of all kinds.
pub const GRANTED: Counter = Counter::new("GRANTED", 0x208);
/// Grants to a transaction that held the bucket already.
pub const GRANTED_AGAIN: Counter = Counter::new("GRANTED_AGAIN", 0x210);
/// Acquires that were queued.
pub const QUEUED: Counter = Counter::new("QUEUED", 0x218);
/// Acquires that were refused.
pub const REFUSED: Counter = Counter::new("REFUSED", 0x220);
/// Releases that ended well.
pub const RELEASED: Counter = Counter::new("RELEASED", 0x228);
/// Releases that handed the lock to a waiter.
pub const HANDED_OVER: Counter = Counter::new("HANDED_OVER", 0x230);
/// Acquires that ended as cancelled.
pub const CANCELLED: Counter = Counter::new("CANCELLED", 0x238);
/// Errors of the requester: not held, tag busy, not waiting, bad request.
pub const REQUESTER_ERRORS: Counter = Counter::new("REQUESTER_ERRORS", 0x240);
/// Responses with the code of a bus error.
pub const BUS_ERRORS: Counter = Counter::new("BUS_ERRORS", 0x248);
/// Compare-and-swaps issued.
pub const COMPARE_AND_SWAPS: Counter = Counter::new("COMPARE_AND_SWAPS", 0x250);
/// Stores issued.
pub const STORES: Counter = Counter::new("STORES", 0x258);
/// Line reads issued.
pub const LINE_READS: Counter = Counter::new("LINE_READS", 0x260);
/// Polls served from the copy, without an access.
pub const POLLS_FROM_COPY: Counter = Counter::new("POLLS_FROM_COPY", 0x268);
/// Polls that read the line.
pub const POLLS_THAT_READ: Counter = Counter::new("POLLS_THAT_READ", 0x270);
/// Beats of invalidations that voided at least one copy.
pub const COPIES_VOIDED: Counter = Counter::new("COPIES_VOIDED", 0x278);
/// [`TABLE_BASE`] is a multiple of this.
pub const TABLE_BASE_MULTIPLE: u64 = 64;
/// The largest value of [`TABLE_LOG2_BUCKETS`].
pub const TABLE_LOG2_BUCKETS_LARGEST: u8 = 32;
/// What the block is known by.
pub const SIGNATURE: Signature = Signature { identity: 0x4C534C55, major: 1, minor: 0 };
/// All counters, in the order of the map.
pub const COUNTERS: [Counter; 16] = [
    REQUESTS,
    GRANTED,
    GRANTED_AGAIN,
    QUEUED,
    REFUSED,
    RELEASED,
    HANDED_OVER,
    CANCELLED,
    REQUESTER_ERRORS,
    BUS_ERRORS,
    COMPARE_AND_SWAPS,
    STORES,
    LINE_READS,
    POLLS_FROM_COPY,
    POLLS_THAT_READ,
    COPIES_VOIDED,
];

/// Events since reset; wraps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Requests accepted.
    pub requests: u64,
    /// Grants of all kinds.
    pub granted: u64,
    /// Grants to a transaction that held the bucket already.
    pub granted_again: u64,
    /// Acquires that were queued.
    pub queued: u64,
    /// Acquires that were refused.
    pub refused: u64,
    /// Releases that ended well.
    pub released: u64,
    /// Releases that handed the lock to a waiter.
    pub handed_over: u64,
    /// Acquires that ended as cancelled.
    pub cancelled: u64,
    /// Errors of the requester: not held, tag busy, not waiting, bad request.
    pub requester_errors: u64,
    /// Responses with the code of a bus error.
    pub bus_errors: u64,
    /// Compare-and-swaps issued.
    pub compare_and_swaps: u64,
    /// Stores issued.
    pub stores: u64,
    /// Line reads issued.
    pub line_reads: u64,
    /// Polls served from the copy, without an access.
    pub polls_from_copy: u64,
    /// Polls that read the line.
    pub polls_that_read: u64,
    /// Beats of invalidations that voided at least one copy.
    pub copies_voided: u64,
}

impl Counters {
    /// Reads one after the other: a consistent picture only of an idle block.
    ///
    /// # Errors
    /// [`DeviceError::Timeout`] when a counter's high half never holds still, or what the
    /// registers report.
    pub fn read<R: Registers + ?Sized>(registers: &mut R) -> Result<Self, DeviceError> {
        Ok(Counters {
            requests: REQUESTS.read(registers)?,
            granted: GRANTED.read(registers)?,
            granted_again: GRANTED_AGAIN.read(registers)?,
            queued: QUEUED.read(registers)?,
            refused: REFUSED.read(registers)?,
            released: RELEASED.read(registers)?,
            handed_over: HANDED_OVER.read(registers)?,
            cancelled: CANCELLED.read(registers)?,
            requester_errors: REQUESTER_ERRORS.read(registers)?,
            bus_errors: BUS_ERRORS.read(registers)?,
            compare_and_swaps: COMPARE_AND_SWAPS.read(registers)?,
            stores: STORES.read(registers)?,
            line_reads: LINE_READS.read(registers)?,
            polls_from_copy: POLLS_FROM_COPY.read(registers)?,
            polls_that_read: POLLS_THAT_READ.read(registers)?,
            copies_voided: COPIES_VOIDED.read(registers)?,
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

    /// Accept requests.
    pub const fn accept(self) -> bool {
        self.0 & 0x1 != 0
    }

    /// The same register with another `accept`. Accept requests.
    #[must_use]
    pub const fn with_accept(self, accept: bool) -> Self {
        Self(self.0 & !0x1 | accept as u32)
    }
}

/// The fields of [`GIE`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Gie(u32);

value_of_fields!(Gie);

impl Gie {
    /// The register with these bits.
    pub const fn from_bits(bits: u32) -> Self {
        Gie(bits)
    }

    /// All bits of the register.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Interrupts on.
    pub const fn enable(self) -> bool {
        self.0 & 0x1 != 0
    }

    /// The same register with another `enable`. Interrupts on.
    #[must_use]
    pub const fn with_enable(self, enable: bool) -> Self {
        Self(self.0 & !0x1 | enable as u32)
    }
}

/// The fields of [`IER`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Ier(u32);

value_of_fields!(Ier);

impl Ier {
    /// The register with these bits.
    pub const fn from_bits(bits: u32) -> Self {
        Ier(bits)
    }

    /// All bits of the register.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Interrupt on bus error.
    pub const fn bus_error(self) -> bool {
        self.0 & 0x1 != 0
    }

    /// The same register with another `bus_error`. Interrupt on bus error.
    #[must_use]
    pub const fn with_bus_error(self, bus_error: bool) -> Self {
        Self(self.0 & !0x1 | bus_error as u32)
    }
}

/// The fields of [`ISR`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Isr(u32);

value_of_fields!(Isr);

impl Isr {
    /// The register with these bits.
    pub const fn from_bits(bits: u32) -> Self {
        Isr(bits)
    }

    /// All bits of the register.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// A bus error happened.
    pub const fn bus_error(self) -> bool {
        self.0 & 0x1 != 0
    }

    /// The same bits with `bus_error` or without, for [`WriteOneToClear::clear`]. A bus error
    /// happened.
    #[must_use]
    pub const fn with_bus_error(self, bus_error: bool) -> Self {
        Self(self.0 & !0x1 | bus_error as u32)
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

    /// Base-2 logarithm of the requests that can be open at once.
    pub const fn log2_contexts(self) -> u8 {
        self.0 as u8
    }

    /// Words of a bucket.
    pub const fn slots(self) -> u8 {
        (self.0 >> 8) as u8
    }
}

/// The lock unit's registers as they lie in memory.
#[repr(C)]
pub struct Block {
    /// Switches the unit on. Open requests go on after it is switched off.
    pub control: RW<Control>,
    /// Global interrupt enable.
    pub gie: RW<Gie>,
    /// Interrupt enable, by cause.
    pub ier: RW<Ier>,
    /// Interrupt status, by cause; write 1 to clear. An event in the clock of its clearing stays.
    pub isr: RW<Isr>,
    /// Requests open now. A request is open from its beat on the request stream until its last
    /// response enters the queue of two in front of the response stream.
    pub r#return: RO<u32>,
    _reserved_014: [u32; 3],
    /// Byte address of the table. May be changed only while RETURN and CONTROL are 0. The low half,
    /// then the high half.
    pub table_base: [RW<u32>; 2],
    _reserved_028: [u32; 2],
    /// Size of the table. May be changed only while RETURN and CONTROL are 0.
    pub table_log2_buckets: RW<u32>,
    _reserved_034: [u32; 51],
    /// The characters LSLU.
    pub identity: RO<u32>,
    /// Version of the register map. A driver knows one major version.
    pub version: RO<Version>,
    /// What the unit can do.
    pub capabilities: RO<Capabilities>,
    _reserved_10c: [u32; 61],
    /// Requests accepted. The low half, then the high half.
    pub requests: [RO<u32>; 2],
    /// Grants of all kinds. The low half, then the high half.
    pub granted: [RO<u32>; 2],
    /// Grants to a transaction that held the bucket already. The low half, then the high half.
    pub granted_again: [RO<u32>; 2],
    /// Acquires that were queued. The low half, then the high half.
    pub queued: [RO<u32>; 2],
    /// Acquires that were refused. The low half, then the high half.
    pub refused: [RO<u32>; 2],
    /// Releases that ended well. The low half, then the high half.
    pub released: [RO<u32>; 2],
    /// Releases that handed the lock to a waiter. The low half, then the high half.
    pub handed_over: [RO<u32>; 2],
    /// Acquires that ended as cancelled. The low half, then the high half.
    pub cancelled: [RO<u32>; 2],
    /// Errors of the requester: not held, tag busy, not waiting, bad request. The low half, then
    /// the high half.
    pub requester_errors: [RO<u32>; 2],
    /// Responses with the code of a bus error. The low half, then the high half.
    pub bus_errors: [RO<u32>; 2],
    /// Compare-and-swaps issued. The low half, then the high half.
    pub compare_and_swaps: [RO<u32>; 2],
    /// Stores issued. The low half, then the high half.
    pub stores: [RO<u32>; 2],
    /// Line reads issued. The low half, then the high half.
    pub line_reads: [RO<u32>; 2],
    /// Polls served from the copy, without an access. The low half, then the high half.
    pub polls_from_copy: [RO<u32>; 2],
    /// Polls that read the line. The low half, then the high half.
    pub polls_that_read: [RO<u32>; 2],
    /// Beats of invalidations that voided at least one copy. The low half, then the high half.
    pub copies_voided: [RO<u32>; 2],
    _reserved_280: [u32; 864],
}

const _: () = {
    assert!(offset_of!(Block, control) == CONTROL.offset() as usize);
    assert!(offset_of!(Block, gie) == GIE.offset() as usize);
    assert!(offset_of!(Block, ier) == IER.offset() as usize);
    assert!(offset_of!(Block, isr) == ISR.offset() as usize);
    assert!(offset_of!(Block, r#return) == RETURN.offset() as usize);
    assert!(offset_of!(Block, table_base) == TABLE_BASE.offset() as usize);
    assert!(offset_of!(Block, table_log2_buckets) == TABLE_LOG2_BUCKETS.offset() as usize);
    assert!(offset_of!(Block, identity) == IDENTITY.offset() as usize);
    assert!(offset_of!(Block, version) == VERSION.offset() as usize);
    assert!(offset_of!(Block, capabilities) == CAPABILITIES.offset() as usize);
    assert!(offset_of!(Block, requests) == REQUESTS.offset() as usize);
    assert!(offset_of!(Block, granted) == GRANTED.offset() as usize);
    assert!(offset_of!(Block, granted_again) == GRANTED_AGAIN.offset() as usize);
    assert!(offset_of!(Block, queued) == QUEUED.offset() as usize);
    assert!(offset_of!(Block, refused) == REFUSED.offset() as usize);
    assert!(offset_of!(Block, released) == RELEASED.offset() as usize);
    assert!(offset_of!(Block, handed_over) == HANDED_OVER.offset() as usize);
    assert!(offset_of!(Block, cancelled) == CANCELLED.offset() as usize);
    assert!(offset_of!(Block, requester_errors) == REQUESTER_ERRORS.offset() as usize);
    assert!(offset_of!(Block, bus_errors) == BUS_ERRORS.offset() as usize);
    assert!(offset_of!(Block, compare_and_swaps) == COMPARE_AND_SWAPS.offset() as usize);
    assert!(offset_of!(Block, stores) == STORES.offset() as usize);
    assert!(offset_of!(Block, line_reads) == LINE_READS.offset() as usize);
    assert!(offset_of!(Block, polls_from_copy) == POLLS_FROM_COPY.offset() as usize);
    assert!(offset_of!(Block, polls_that_read) == POLLS_THAT_READ.offset() as usize);
    assert!(offset_of!(Block, copies_voided) == COPIES_VOIDED.offset() as usize);
    assert!(size_of::<Block>() == 0x1000);
};

/// All words of the block.
pub const WORDS: [Word; 43] = [
    Word::new("CONTROL", 0x000, Access::ReadWrite, Some(0x0), 0x00000001),
    Word::new("GIE", 0x004, Access::ReadWrite, Some(0x0), 0x00000001),
    Word::new("IER", 0x008, Access::ReadWrite, Some(0x0), 0x00000001),
    Word::new("ISR", 0x00C, Access::WriteOneToClear, Some(0x0), 0x00000001),
    Word::new("RETURN", 0x010, Access::ReadOnly, Some(0x0), 0x000000FF),
    Word::new("TABLE_BASE low", 0x020, Access::ReadWrite, Some(0x0), 0xFFFFFFC0).multiple_of(64),
    Word::new("TABLE_BASE high", 0x024, Access::ReadWrite, Some(0x0), 0xFFFFFFFF),
    Word::new("TABLE_LOG2_BUCKETS", 0x030, Access::ReadWrite, Some(0x0), 0x0000003F).between(0, 32),
    Word::new("IDENTITY", 0x100, Access::ReadOnly, Some(0x4C534C55), 0xFFFFFFFF),
    Word::new("VERSION", 0x104, Access::ReadOnly, Some(0x10000), 0xFFFFFFFF),
    Word::new("CAPABILITIES", 0x108, Access::ReadOnly, Some(0x807), 0x0000FFFF),
    Word::new("REQUESTS low", 0x200, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("REQUESTS high", 0x204, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("GRANTED low", 0x208, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("GRANTED high", 0x20C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("GRANTED_AGAIN low", 0x210, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("GRANTED_AGAIN high", 0x214, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("QUEUED low", 0x218, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("QUEUED high", 0x21C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("REFUSED low", 0x220, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("REFUSED high", 0x224, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("RELEASED low", 0x228, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("RELEASED high", 0x22C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("HANDED_OVER low", 0x230, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("HANDED_OVER high", 0x234, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("CANCELLED low", 0x238, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("CANCELLED high", 0x23C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("REQUESTER_ERRORS low", 0x240, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("REQUESTER_ERRORS high", 0x244, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("BUS_ERRORS low", 0x248, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("BUS_ERRORS high", 0x24C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("COMPARE_AND_SWAPS low", 0x250, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("COMPARE_AND_SWAPS high", 0x254, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("STORES low", 0x258, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("STORES high", 0x25C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("LINE_READS low", 0x260, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("LINE_READS high", 0x264, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("POLLS_FROM_COPY low", 0x268, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("POLLS_FROM_COPY high", 0x26C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("POLLS_THAT_READ low", 0x270, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("POLLS_THAT_READ high", 0x274, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("COPIES_VOIDED low", 0x278, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("COPIES_VOIDED high", 0x27C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
];
