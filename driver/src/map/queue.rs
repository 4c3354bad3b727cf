// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 2194f2011ab01f4154be961fec51ef9fc4c3f32b99ca63d88644026ddc8b19d0 model.py properties.rdl queue.rdl requirements.txt rust.py
// body-sha256: adbc3491de58e49cb5885c98ee7d78e1f00cda4fc712684edfc4af81fcde1ef1
//! Queue: A ring of submissions and a ring of completions in host memory.

use std::mem::offset_of;

use volatile_register::{RO, RW};

use super::{
    Access, Counter, ReadOnly, ReadWrite, Signature, Word, WriteOneToClear, device::Version,
    token::value_of_fields,
};
use crate::{DeviceError, Registers};

/// Switches the queue on. Enabling sets the four counts and ERROR to 0; an error disables it.
pub const CONTROL: ReadWrite<Control> = ReadWrite::new("CONTROL", 0x000);
/// Global interrupt enable.
pub const GIE: ReadWrite<Gie> = ReadWrite::new("GIE", 0x004);
/// Interrupt enable, by cause.
pub const IER: ReadWrite<Ier> = ReadWrite::new("IER", 0x008);
/// Interrupt status, by cause; write 1 to clear. An event in the clock of its clearing stays.
pub const ISR: WriteOneToClear<Isr> = WriteOneToClear::new("ISR", 0x00C);
/// Lock requests: submissions fetched. All others: submissions fetched and not completed.
pub const RETURN: ReadOnly<u32> = ReadOnly::new("RETURN", 0x010);
/// Device address of the submission ring.
pub const SUBMISSION_BASE: ReadWrite<u64> = ReadWrite::new("SUBMISSION_BASE", 0x020);
/// Device address of the completion ring.
pub const COMPLETION_BASE: ReadWrite<u64> = ReadWrite::new("COMPLETION_BASE", 0x030);
/// Size of both rings.
pub const LOG2_ENTRIES: ReadWrite<u8> = ReadWrite::new("LOG2_ENTRIES", 0x040);
/// The doorbell: submissions written since the queue was enabled.
pub const SUBMISSION_TAIL: ReadWrite<u16> = ReadWrite::new("SUBMISSION_TAIL", 0x050);
/// Completions consumed since the queue was enabled.
pub const COMPLETION_HEAD: ReadWrite<u16> = ReadWrite::new("COMPLETION_HEAD", 0x060);
/// Submissions fetched since the queue was enabled.
pub const SUBMISSION_HEAD: ReadOnly<u16> = ReadOnly::new("SUBMISSION_HEAD", 0x070);
/// Completions written since the queue was enabled.
pub const COMPLETION_TAIL: ReadOnly<u16> = ReadOnly::new("COMPLETION_TAIL", 0x080);
/// Why the queue halted.
pub const ERROR: ReadOnly<Error> = ReadOnly::new("ERROR", 0x090);
/// The characters LSQU.
pub const IDENTITY: ReadOnly<u32> = ReadOnly::new("IDENTITY", 0x100);
/// Version of the register map. A driver knows one major version.
pub const VERSION: ReadOnly<Version> = ReadOnly::new("VERSION", 0x104);
/// What the queue does.
pub const CAPABILITIES: ReadOnly<Capabilities> = ReadOnly::new("CAPABILITIES", 0x108);
/// Submissions fetched.
pub const SUBMISSIONS: Counter = Counter::new("SUBMISSIONS", 0x200);
/// Completions written.
pub const COMPLETIONS: Counter = Counter::new("COMPLETIONS", 0x208);
/// Interrupts raised.
pub const INTERRUPTS: Counter = Counter::new("INTERRUPTS", 0x210);
/// Bytes moved by copies, or written to result buffers by jobs; 0 of others.
pub const BYTES_MOVED: Counter = Counter::new("BYTES_MOVED", 0x218);
/// Submissions that ended with a status other than 0.
pub const FAILURES: Counter = Counter::new("FAILURES", 0x220);
/// [`SUBMISSION_BASE`] is a multiple of this.
pub const SUBMISSION_BASE_MULTIPLE: u64 = 64;
/// [`COMPLETION_BASE`] is a multiple of this.
pub const COMPLETION_BASE_MULTIPLE: u64 = 64;
/// The smallest value of [`LOG2_ENTRIES`].
pub const LOG2_ENTRIES_SMALLEST: u8 = 1;
/// The largest value of [`LOG2_ENTRIES`].
pub const LOG2_ENTRIES_LARGEST: u8 = 12;
/// What the block is known by.
pub const SIGNATURE: Signature = Signature { identity: 0x4C535155, major: 1, minor: 2 };
/// All counters, in the order of the map.
pub const COUNTERS: [Counter; 5] = [SUBMISSIONS, COMPLETIONS, INTERRUPTS, BYTES_MOVED, FAILURES];

/// Events since reset; wraps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Submissions fetched.
    pub submissions: u64,
    /// Completions written.
    pub completions: u64,
    /// Interrupts raised.
    pub interrupts: u64,
    /// Bytes moved by copies, or written to result buffers by jobs; 0 of others.
    pub bytes_moved: u64,
    /// Submissions that ended with a status other than 0.
    pub failures: u64,
}

impl Counters {
    /// Reads one after the other: a consistent picture only of an idle block.
    ///
    /// # Errors
    /// [`DeviceError::Timeout`] when a counter's high half never holds still, or what the
    /// registers report.
    pub fn read<R: Registers + ?Sized>(registers: &mut R) -> Result<Self, DeviceError> {
        Ok(Counters {
            submissions: SUBMISSIONS.read(registers)?,
            completions: COMPLETIONS.read(registers)?,
            interrupts: INTERRUPTS.read(registers)?,
            bytes_moved: BYTES_MOVED.read(registers)?,
            failures: FAILURES.read(registers)?,
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

    /// The queue fetches submissions.
    pub const fn enable(self) -> bool {
        self.0 & 0x1 != 0
    }

    /// The same register with another `enable`. The queue fetches submissions.
    #[must_use]
    pub const fn with_enable(self, enable: bool) -> Self {
        Self(self.0 & !0x1 | enable as u32)
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

    /// Interrupt on completions that want one.
    pub const fn completion(self) -> bool {
        self.0 & 0x1 != 0
    }

    /// The same register with another `completion`. Interrupt on completions that want one.
    #[must_use]
    pub const fn with_completion(self, completion: bool) -> Self {
        Self(self.0 & !0x1 | completion as u32)
    }

    /// Interrupt when ERROR is set.
    pub const fn error(self) -> bool {
        self.0 >> 1 & 0x1 != 0
    }

    /// The same register with another `error`. Interrupt when ERROR is set.
    #[must_use]
    pub const fn with_error(self, error: bool) -> Self {
        Self(self.0 & !0x2 | (error as u32) << 1)
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

    /// A completion that wants an interrupt was written.
    pub const fn completion(self) -> bool {
        self.0 & 0x1 != 0
    }

    /// The same bits with `completion` or without, for [`WriteOneToClear::clear`]. A completion
    /// that wants an interrupt was written.
    #[must_use]
    pub const fn with_completion(self, completion: bool) -> Self {
        Self(self.0 & !0x1 | completion as u32)
    }

    /// ERROR was set.
    pub const fn error(self) -> bool {
        self.0 >> 1 & 0x1 != 0
    }

    /// The same bits with `error` or without, for [`WriteOneToClear::clear`]. ERROR was set.
    #[must_use]
    pub const fn with_error(self, error: bool) -> Self {
        Self(self.0 & !0x2 | (error as u32) << 1)
    }
}

/// Values of `cause` in [`ERROR`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// None.
    None = 0,
    /// Reading a submission failed.
    ReadSubmission = 1,
    /// Writing a completion failed.
    WriteCompletion = 2,
    /// A doorbell was out of range.
    Doorbell = 3,
}

impl Cause {
    /// The name of a value, if it has one.
    pub const fn from_bits(bits: u32) -> Option<Self> {
        match bits {
            0 => Some(Cause::None),
            1 => Some(Cause::ReadSubmission),
            2 => Some(Cause::WriteCompletion),
            3 => Some(Cause::Doorbell),
            _ => None,
        }
    }
}

/// The fields of [`ERROR`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Error(u32);

value_of_fields!(Error);

impl Error {
    /// The register with these bits.
    pub const fn from_bits(bits: u32) -> Self {
        Error(bits)
    }

    /// All bits of the register.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The cause.
    pub const fn cause(self) -> Option<Cause> {
        Cause::from_bits(self.0 & 0x3)
    }
}

/// Values of `kind` in [`CAPABILITIES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Copies.
    Copy = 1,
    /// Requests for the lock unit.
    Lock = 2,
    /// Jobs near the data.
    Job = 3,
    /// Requests for the look-up unit.
    LookUp = 4,
}

impl Kind {
    /// The name of a value, if it has one.
    pub const fn from_bits(bits: u32) -> Option<Self> {
        match bits {
            1 => Some(Kind::Copy),
            2 => Some(Kind::Lock),
            3 => Some(Kind::Job),
            4 => Some(Kind::LookUp),
            _ => None,
        }
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

    /// What its submissions ask for.
    pub const fn kind(self) -> Option<Kind> {
        Kind::from_bits(self.0 & 0xFF)
    }

    /// Largest LOG2_ENTRIES.
    pub const fn largest_log2_entries(self) -> u8 {
        (self.0 >> 8) as u8
    }
}

/// The queue's registers as they lie in memory.
#[repr(C)]
pub struct Block {
    /// Switches the queue on. Enabling sets the four counts and ERROR to 0; an error disables it.
    pub control: RW<Control>,
    /// Global interrupt enable.
    pub gie: RW<Gie>,
    /// Interrupt enable, by cause.
    pub ier: RW<Ier>,
    /// Interrupt status, by cause; write 1 to clear. An event in the clock of its clearing stays.
    pub isr: RW<Isr>,
    /// Lock requests: submissions fetched. All others: submissions fetched and not completed.
    pub r#return: RO<u32>,
    _reserved_014: [u32; 3],
    /// Device address of the submission ring. The low half, then the high half.
    pub submission_base: [RW<u32>; 2],
    _reserved_028: [u32; 2],
    /// Device address of the completion ring. The low half, then the high half.
    pub completion_base: [RW<u32>; 2],
    _reserved_038: [u32; 2],
    /// Size of both rings.
    pub log2_entries: RW<u32>,
    _reserved_044: [u32; 3],
    /// The doorbell: submissions written since the queue was enabled.
    pub submission_tail: RW<u32>,
    _reserved_054: [u32; 3],
    /// Completions consumed since the queue was enabled.
    pub completion_head: RW<u32>,
    _reserved_064: [u32; 3],
    /// Submissions fetched since the queue was enabled.
    pub submission_head: RO<u32>,
    _reserved_074: [u32; 3],
    /// Completions written since the queue was enabled.
    pub completion_tail: RO<u32>,
    _reserved_084: [u32; 3],
    /// Why the queue halted.
    pub error: RO<Error>,
    _reserved_094: [u32; 27],
    /// The characters LSQU.
    pub identity: RO<u32>,
    /// Version of the register map. A driver knows one major version.
    pub version: RO<Version>,
    /// What the queue does.
    pub capabilities: RO<Capabilities>,
    _reserved_10c: [u32; 61],
    /// Submissions fetched. The low half, then the high half.
    pub submissions: [RO<u32>; 2],
    /// Completions written. The low half, then the high half.
    pub completions: [RO<u32>; 2],
    /// Interrupts raised. The low half, then the high half.
    pub interrupts: [RO<u32>; 2],
    /// Bytes moved by copies, or written to result buffers by jobs; 0 of others. The low half, then
    /// the high half.
    pub bytes_moved: [RO<u32>; 2],
    /// Submissions that ended with a status other than 0. The low half, then the high half.
    pub failures: [RO<u32>; 2],
    _reserved_228: [u32; 886],
}

const _: () = {
    assert!(offset_of!(Block, control) == CONTROL.offset() as usize);
    assert!(offset_of!(Block, gie) == GIE.offset() as usize);
    assert!(offset_of!(Block, ier) == IER.offset() as usize);
    assert!(offset_of!(Block, isr) == ISR.offset() as usize);
    assert!(offset_of!(Block, r#return) == RETURN.offset() as usize);
    assert!(offset_of!(Block, submission_base) == SUBMISSION_BASE.offset() as usize);
    assert!(offset_of!(Block, completion_base) == COMPLETION_BASE.offset() as usize);
    assert!(offset_of!(Block, log2_entries) == LOG2_ENTRIES.offset() as usize);
    assert!(offset_of!(Block, submission_tail) == SUBMISSION_TAIL.offset() as usize);
    assert!(offset_of!(Block, completion_head) == COMPLETION_HEAD.offset() as usize);
    assert!(offset_of!(Block, submission_head) == SUBMISSION_HEAD.offset() as usize);
    assert!(offset_of!(Block, completion_tail) == COMPLETION_TAIL.offset() as usize);
    assert!(offset_of!(Block, error) == ERROR.offset() as usize);
    assert!(offset_of!(Block, identity) == IDENTITY.offset() as usize);
    assert!(offset_of!(Block, version) == VERSION.offset() as usize);
    assert!(offset_of!(Block, capabilities) == CAPABILITIES.offset() as usize);
    assert!(offset_of!(Block, submissions) == SUBMISSIONS.offset() as usize);
    assert!(offset_of!(Block, completions) == COMPLETIONS.offset() as usize);
    assert!(offset_of!(Block, interrupts) == INTERRUPTS.offset() as usize);
    assert!(offset_of!(Block, bytes_moved) == BYTES_MOVED.offset() as usize);
    assert!(offset_of!(Block, failures) == FAILURES.offset() as usize);
    assert!(size_of::<Block>() == 0x1000);
};

/// All words of the block.
pub const WORDS: [Word; 28] = [
    Word::new("CONTROL", 0x000, Access::ReadWrite, Some(0x0), 0x00000001),
    Word::new("GIE", 0x004, Access::ReadWrite, Some(0x0), 0x00000001),
    Word::new("IER", 0x008, Access::ReadWrite, Some(0x0), 0x00000003),
    Word::new("ISR", 0x00C, Access::WriteOneToClear, Some(0x0), 0x00000003),
    Word::new("RETURN", 0x010, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("SUBMISSION_BASE low", 0x020, Access::ReadWrite, Some(0x0), 0xFFFFFFC0)
        .multiple_of(64)
        .while_disabled(),
    Word::new("SUBMISSION_BASE high", 0x024, Access::ReadWrite, Some(0x0), 0xFFFFFFFF)
        .while_disabled(),
    Word::new("COMPLETION_BASE low", 0x030, Access::ReadWrite, Some(0x0), 0xFFFFFFC0)
        .multiple_of(64)
        .while_disabled(),
    Word::new("COMPLETION_BASE high", 0x034, Access::ReadWrite, Some(0x0), 0xFFFFFFFF)
        .while_disabled(),
    Word::new("LOG2_ENTRIES", 0x040, Access::ReadWrite, Some(0x0), 0x0000000F)
        .between(1, 12)
        .while_disabled(),
    Word::new("SUBMISSION_TAIL", 0x050, Access::ReadWrite, Some(0x0), 0x0000FFFF),
    Word::new("COMPLETION_HEAD", 0x060, Access::ReadWrite, Some(0x0), 0x0000FFFF),
    Word::new("SUBMISSION_HEAD", 0x070, Access::ReadOnly, Some(0x0), 0x0000FFFF),
    Word::new("COMPLETION_TAIL", 0x080, Access::ReadOnly, Some(0x0), 0x0000FFFF),
    Word::new("ERROR", 0x090, Access::ReadOnly, Some(0x0), 0x00000003),
    Word::new("IDENTITY", 0x100, Access::ReadOnly, Some(0x4C535155), 0xFFFFFFFF),
    Word::new("VERSION", 0x104, Access::ReadOnly, Some(0x10002), 0xFFFFFFFF),
    Word::new("CAPABILITIES", 0x108, Access::ReadOnly, None, 0x0000FFFF),
    Word::new("SUBMISSIONS low", 0x200, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("SUBMISSIONS high", 0x204, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("COMPLETIONS low", 0x208, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("COMPLETIONS high", 0x20C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("INTERRUPTS low", 0x210, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("INTERRUPTS high", 0x214, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("BYTES_MOVED low", 0x218, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("BYTES_MOVED high", 0x21C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("FAILURES low", 0x220, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("FAILURES high", 0x224, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
];
