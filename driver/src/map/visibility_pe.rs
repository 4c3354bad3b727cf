// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 48e79361bb1ff5b460b41c8d172cce2335493b7b889866d613750339976b7d7f model.py properties.rdl requirements.txt rust.py visibility_pe.rdl
// body-sha256: 2f53928ef98739bc030319cca964d5a54d21b97bcf9d13a0174678667f2a4991
//! Visibility element: Finds the rows of a part of a table that a snapshot sees, and executes a
//! program for each.

use std::mem::offset_of;

use volatile_register::{RO, RW};

use super::{
    Access, Counter, ReadOnly, ReadWrite, Signature, Word, WriteOneToClear, device::Version,
    token::value_of_fields,
};
use crate::{DeviceError, Registers};

/// Starts and ends a run. Writing 0 to a bit does nothing. The start of a run while another one is
/// under way is refused with an error.
pub const CONTROL: ReadWrite<Control> = ReadWrite::new("CONTROL", 0x000);
/// Global interrupt enable.
pub const GIE: ReadWrite<Gie> = ReadWrite::new("GIE", 0x004);
/// Interrupt enable, by cause.
pub const IER: ReadWrite<Ier> = ReadWrite::new("IER", 0x008);
/// Interrupt status, by cause; write 1 to clear. An event in the clock of its clearing stays.
pub const ISR: WriteOneToClear<Isr> = WriteOneToClear::new("ISR", 0x00C);
/// Rows that the snapshot sees, of the run under way or of the last.
pub const RETURN: ReadOnly<u32> = ReadOnly::new("RETURN", 0x010);
/// Address of the job block, of 128 bytes, in device memory.
pub const JOB: ReadWrite<u64> = ReadWrite::new("JOB", 0x020);
/// The characters LSVE.
pub const IDENTITY: ReadOnly<u32> = ReadOnly::new("IDENTITY", 0x100);
/// Version of the register map. A driver knows one major version.
pub const VERSION: ReadOnly<Version> = ReadOnly::new("VERSION", 0x104);
/// What the element has.
pub const CAPABILITIES: ReadOnly<Capabilities> = ReadOnly::new("CAPABILITIES", 0x108);
/// Clocks from the start to the end.
pub const CLOCKS: Counter = Counter::new("CLOCKS", 0x200);
/// VIDs visited.
pub const VIDS: Counter = Counter::new("VIDS", 0x208);
/// Versions looked at.
pub const HOPS: Counter = Counter::new("HOPS", 0x210);
/// Rows that the snapshot sees.
pub const VISIBLE: Counter = Counter::new("VISIBLE", 0x218);
/// Rows that were emitted.
pub const EMITTED: Counter = Counter::new("EMITTED", 0x220);
/// VIDs that ended with a fault, of the walk or of the program.
pub const FAULTS: Counter = Counter::new("FAULTS", 0x228);
/// Lines read by walks.
pub const LINE_READS: Counter = Counter::new("LINE_READS", 0x230);
/// Pages checked.
pub const PAGE_CHECKS: Counter = Counter::new("PAGE_CHECKS", 0x238);
/// Lines of the L2P map that were not at hand.
pub const PAGE_MAP_MISSES: Counter = Counter::new("PAGE_MAP_MISSES", 0x240);
/// Clocks in which a beat of a packet was offered and not taken.
pub const OUTPUT_STALLS: Counter = Counter::new("OUTPUT_STALLS", 0x248);
/// [`JOB`] is a multiple of this.
pub const JOB_MULTIPLE: u64 = 64;
/// What the block is known by.
pub const SIGNATURE: Signature = Signature { identity: 0x4C535645, major: 1, minor: 0 };
/// All counters, in the order of the map.
pub const COUNTERS: [Counter; 10] = [
    CLOCKS,
    VIDS,
    HOPS,
    VISIBLE,
    EMITTED,
    FAULTS,
    LINE_READS,
    PAGE_CHECKS,
    PAGE_MAP_MISSES,
    OUTPUT_STALLS,
];

/// Of the run under way, or of the last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Clocks from the start to the end.
    pub clocks: u64,
    /// VIDs visited.
    pub vids: u64,
    /// Versions looked at.
    pub hops: u64,
    /// Rows that the snapshot sees.
    pub visible: u64,
    /// Rows that were emitted.
    pub emitted: u64,
    /// VIDs that ended with a fault, of the walk or of the program.
    pub faults: u64,
    /// Lines read by walks.
    pub line_reads: u64,
    /// Pages checked.
    pub page_checks: u64,
    /// Lines of the L2P map that were not at hand.
    pub page_map_misses: u64,
    /// Clocks in which a beat of a packet was offered and not taken.
    pub output_stalls: u64,
}

impl Counters {
    /// Reads one after the other: a consistent picture only of an idle block.
    ///
    /// # Errors
    /// [`DeviceError::Timeout`] when a counter's high half never holds still, or what the
    /// registers report.
    pub fn read<R: Registers + ?Sized>(registers: &mut R) -> Result<Self, DeviceError> {
        Ok(Counters {
            clocks: CLOCKS.read(registers)?,
            vids: VIDS.read(registers)?,
            hops: HOPS.read(registers)?,
            visible: VISIBLE.read(registers)?,
            emitted: EMITTED.read(registers)?,
            faults: FAULTS.read(registers)?,
            line_reads: LINE_READS.read(registers)?,
            page_checks: PAGE_CHECKS.read(registers)?,
            page_map_misses: PAGE_MAP_MISSES.read(registers)?,
            output_stalls: OUTPUT_STALLS.read(registers)?,
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

    /// Start a run; 1 until it is over.
    pub const fn start(self) -> bool {
        self.0 & 0x1 != 0
    }

    /// The same register with another `start`. Start a run; 1 until it is over.
    #[must_use]
    pub const fn with_start(self, start: bool) -> Self {
        Self(self.0 & !0x1 | start as u32)
    }

    /// End the run with what is under way; 1 until it is over. Nothing without a run.
    pub const fn stop(self) -> bool {
        self.0 >> 1 & 0x1 != 0
    }

    /// The same register with another `stop`. End the run with what is under way; 1 until it is
    /// over. Nothing without a run.
    #[must_use]
    pub const fn with_stop(self, stop: bool) -> Self {
        Self(self.0 & !0x2 | (stop as u32) << 1)
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

    /// Interrupt at the end of a run.
    pub const fn done(self) -> bool {
        self.0 & 0x1 != 0
    }

    /// The same register with another `done`. Interrupt at the end of a run.
    #[must_use]
    pub const fn with_done(self, done: bool) -> Self {
        Self(self.0 & !0x1 | done as u32)
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

    /// A run is over, and its last packet has been taken.
    pub const fn done(self) -> bool {
        self.0 & 0x1 != 0
    }

    /// The same bits with `done` or without, for [`WriteOneToClear::clear`]. A run is over, and its
    /// last packet has been taken.
    #[must_use]
    pub const fn with_done(self, done: bool) -> Self {
        Self(self.0 & !0x1 | done as u32)
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

    /// Base-2 logarithm of the walks at once.
    pub const fn log2_chains(self) -> u8 {
        self.0 as u8
    }

    /// Lanes that execute programs.
    pub const fn lanes(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// Ports to memory.
    pub const fn ports(self) -> u8 {
        (self.0 >> 16) as u8
    }

    /// Base-2 logarithm of the pages whose check is remembered.
    pub const fn log2_pages(self) -> u8 {
        (self.0 >> 24) as u8
    }
}

/// The visibility element's registers as they lie in memory.
#[repr(C)]
pub struct Block {
    /// Starts and ends a run. Writing 0 to a bit does nothing. The start of a run while another one
    /// is under way is refused with an error.
    pub control: RW<Control>,
    /// Global interrupt enable.
    pub gie: RW<Gie>,
    /// Interrupt enable, by cause.
    pub ier: RW<Ier>,
    /// Interrupt status, by cause; write 1 to clear. An event in the clock of its clearing stays.
    pub isr: RW<Isr>,
    /// Rows that the snapshot sees, of the run under way or of the last.
    pub r#return: RO<u32>,
    _reserved_014: [u32; 3],
    /// Address of the job block, of 128 bytes, in device memory. The low half, then the high half.
    pub job: [RW<u32>; 2],
    _reserved_028: [u32; 54],
    /// The characters LSVE.
    pub identity: RO<u32>,
    /// Version of the register map. A driver knows one major version.
    pub version: RO<Version>,
    /// What the element has.
    pub capabilities: RO<Capabilities>,
    _reserved_10c: [u32; 61],
    /// Clocks from the start to the end. The low half, then the high half.
    pub clocks: [RO<u32>; 2],
    /// VIDs visited. The low half, then the high half.
    pub vids: [RO<u32>; 2],
    /// Versions looked at. The low half, then the high half.
    pub hops: [RO<u32>; 2],
    /// Rows that the snapshot sees. The low half, then the high half.
    pub visible: [RO<u32>; 2],
    /// Rows that were emitted. The low half, then the high half.
    pub emitted: [RO<u32>; 2],
    /// VIDs that ended with a fault, of the walk or of the program. The low half, then the high
    /// half.
    pub faults: [RO<u32>; 2],
    /// Lines read by walks. The low half, then the high half.
    pub line_reads: [RO<u32>; 2],
    /// Pages checked. The low half, then the high half.
    pub page_checks: [RO<u32>; 2],
    /// Lines of the L2P map that were not at hand. The low half, then the high half.
    pub page_map_misses: [RO<u32>; 2],
    /// Clocks in which a beat of a packet was offered and not taken. The low half, then the high
    /// half.
    pub output_stalls: [RO<u32>; 2],
    _reserved_250: [u32; 876],
}

const _: () = {
    assert!(offset_of!(Block, control) == CONTROL.offset() as usize);
    assert!(offset_of!(Block, gie) == GIE.offset() as usize);
    assert!(offset_of!(Block, ier) == IER.offset() as usize);
    assert!(offset_of!(Block, isr) == ISR.offset() as usize);
    assert!(offset_of!(Block, r#return) == RETURN.offset() as usize);
    assert!(offset_of!(Block, job) == JOB.offset() as usize);
    assert!(offset_of!(Block, identity) == IDENTITY.offset() as usize);
    assert!(offset_of!(Block, version) == VERSION.offset() as usize);
    assert!(offset_of!(Block, capabilities) == CAPABILITIES.offset() as usize);
    assert!(offset_of!(Block, clocks) == CLOCKS.offset() as usize);
    assert!(offset_of!(Block, vids) == VIDS.offset() as usize);
    assert!(offset_of!(Block, hops) == HOPS.offset() as usize);
    assert!(offset_of!(Block, visible) == VISIBLE.offset() as usize);
    assert!(offset_of!(Block, emitted) == EMITTED.offset() as usize);
    assert!(offset_of!(Block, faults) == FAULTS.offset() as usize);
    assert!(offset_of!(Block, line_reads) == LINE_READS.offset() as usize);
    assert!(offset_of!(Block, page_checks) == PAGE_CHECKS.offset() as usize);
    assert!(offset_of!(Block, page_map_misses) == PAGE_MAP_MISSES.offset() as usize);
    assert!(offset_of!(Block, output_stalls) == OUTPUT_STALLS.offset() as usize);
    assert!(size_of::<Block>() == 0x1000);
};

/// All words of the block.
pub const WORDS: [Word; 30] = [
    Word::new("CONTROL", 0x000, Access::ReadWrite, Some(0x0), 0x00000003),
    Word::new("GIE", 0x004, Access::ReadWrite, Some(0x0), 0x00000001),
    Word::new("IER", 0x008, Access::ReadWrite, Some(0x0), 0x00000001),
    Word::new("ISR", 0x00C, Access::WriteOneToClear, Some(0x0), 0x00000001),
    Word::new("RETURN", 0x010, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("JOB low", 0x020, Access::ReadWrite, Some(0x0), 0xFFFFFFC0)
        .multiple_of(64)
        .while_disabled(),
    Word::new("JOB high", 0x024, Access::ReadWrite, Some(0x0), 0xFFFFFFFF).while_disabled(),
    Word::new("IDENTITY", 0x100, Access::ReadOnly, Some(0x4C535645), 0xFFFFFFFF),
    Word::new("VERSION", 0x104, Access::ReadOnly, Some(0x10000), 0xFFFFFFFF),
    Word::new("CAPABILITIES", 0x108, Access::ReadOnly, None, 0xFFFFFFFF),
    Word::new("CLOCKS low", 0x200, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("CLOCKS high", 0x204, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("VIDS low", 0x208, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("VIDS high", 0x20C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("HOPS low", 0x210, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("HOPS high", 0x214, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("VISIBLE low", 0x218, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("VISIBLE high", 0x21C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("EMITTED low", 0x220, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("EMITTED high", 0x224, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("FAULTS low", 0x228, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("FAULTS high", 0x22C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("LINE_READS low", 0x230, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("LINE_READS high", 0x234, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("PAGE_CHECKS low", 0x238, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("PAGE_CHECKS high", 0x23C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("PAGE_MAP_MISSES low", 0x240, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("PAGE_MAP_MISSES high", 0x244, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("OUTPUT_STALLS low", 0x248, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("OUTPUT_STALLS high", 0x24C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
];
