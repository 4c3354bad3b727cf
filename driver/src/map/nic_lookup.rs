// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: cc48957368fc2cf0614b684231d083edf617585502ea9cdc39bbf2f9d97657a5 model.py nic_lookup.rdl properties.rdl requirements.txt rust.py
// body-sha256: 005ba4ded87e9c128ddb9e5068cffd2cbfa594694309f6ffe5385ebd6a57754f
//! NIC look-up: Looks keys up in an index on the NIC and in a Robin Hood table in host memory.

use std::mem::offset_of;

use volatile_register::{RO, RW};

use super::{
    Access, Counter, ReadOnly, ReadWrite, Signature, Word, device::Version, token::value_of_fields,
};
use crate::{DeviceError, Registers};

/// Switches the block on. What was accepted before it is switched off is carried out. Settings can
/// be written when it is off and RETURN is 0.
pub const CONTROL: ReadWrite<Control> = ReadWrite::new("CONTROL", 0x000);
/// Requests that were accepted and not yet answered, or those of which the index is still told what
/// was seen: the larger number.
pub const RETURN: ReadOnly<u32> = ReadOnly::new("RETURN", 0x010);
/// Where the host's table lies, in host memory. A multiple of 64.
pub const TABLE_BASE: ReadWrite<u64> = ReadWrite::new("TABLE_BASE", 0x020);
/// Homes of the host's table.
pub const SLOTS: ReadWrite<u32> = ReadWrite::new("SLOTS", 0x030);
/// The largest displacement in the host's table (D_m).
pub const LIMIT: ReadWrite<u32> = ReadWrite::new("LIMIT", 0x040);
/// Slots of a first read beyond the known displacement, counted from the home (k).
pub const MORE: ReadWrite<u32> = ReadWrite::new("MORE", 0x050);
/// Base-2 logarithm of the homes of a segment.
pub const SEGMENT_SHIFT: ReadWrite<u32> = ReadWrite::new("SEGMENT_SHIFT", 0x060);
/// Where the directory of the host's table lies, in host memory. A multiple of 64.
pub const DIRECTORY_BASE: ReadWrite<u64> = ReadWrite::new("DIRECTORY_BASE", 0x070);
/// Where the overflow area lies, in host memory. A multiple of 64.
pub const OVERFLOW_BASE: ReadWrite<u64> = ReadWrite::new("OVERFLOW_BASE", 0x080);
/// Slots of the overflow area.
pub const OVERFLOW_SLOTS: ReadWrite<u32> = ReadWrite::new("OVERFLOW_SLOTS", 0x090);
/// Bytes of a value that the index caches.
pub const VALUE_BYTES: ReadWrite<u32> = ReadWrite::new("VALUE_BYTES", 0x0A0);
/// Readings of all places of a key after which a look-up gives up.
pub const MOST_READINGS: ReadWrite<u32> = ReadWrite::new("MOST_READINGS", 0x0B0);
/// Where the index lies, in NIC memory. A multiple of the stride of its entries.
pub const INDEX_BASE: ReadWrite<u64> = ReadWrite::new("INDEX_BASE", 0x0C0);
/// Entries of the index.
pub const SEGMENTS: ReadWrite<u32> = ReadWrite::new("SEGMENTS", 0x0D0);
/// Clocks without a new read after which the reads that wait are sent.
pub const IDLE_TIME: ReadWrite<u32> = ReadWrite::new("IDLE_TIME", 0x0E0);
/// Clocks after which the oldest read that waits is sent.
pub const FLUSH_TIME: ReadWrite<u32> = ReadWrite::new("FLUSH_TIME", 0x0F0);
/// The characters LSNL.
pub const IDENTITY: ReadOnly<u32> = ReadOnly::new("IDENTITY", 0x100);
/// Version of the register map. A driver knows one major version.
pub const VERSION: ReadOnly<Version> = ReadOnly::new("VERSION", 0x104);
/// What the block was built for.
pub const CAPABILITIES: ReadOnly<Capabilities> = ReadOnly::new("CAPABILITIES", 0x108);
/// What the index was built for.
pub const CAPABILITIES_INDEX: ReadOnly<CapabilitiesIndex> =
    ReadOnly::new("CAPABILITIES_INDEX", 0x10C);
/// The first setting that did not fit when the block was last asked to be enabled.
pub const SETTINGS_ERROR: ReadOnly<SettingsError> = ReadOnly::new("SETTINGS_ERROR", 0x110);
/// How far the flush is that CONTROL asks for.
pub const FLUSH: ReadOnly<Flush> = ReadOnly::new("FLUSH", 0x114);
/// Requests that the index has answered, of both ports, with whatever status.
pub const REQUESTS: Counter = Counter::new("REQUESTS", 0x200);
/// Look-ups and lock-and-reads among them.
pub const LOOK_UPS: Counter = Counter::new("LOOK_UPS", 0x208);
/// Look-ups that the index answered with done.
pub const HITS: Counter = Counter::new("HITS", 0x210);
/// Look-ups that it answered with miss, so that host memory was read.
pub const MISSES: Counter = Counter::new("MISSES", 0x218);
/// Misses that ended as done.
pub const FOUND: Counter = Counter::new("FOUND", 0x220);
/// Those of them whose object was in an overflow bucket.
pub const FOUND_IN_BUCKETS: Counter = Counter::new("FOUND_IN_BUCKETS", 0x228);
/// Misses that ended as absent.
pub const ABSENT: Counter = Counter::new("ABSENT", 0x230);
/// Misses that ended as gave up.
pub const GAVE_UP: Counter = Counter::new("GAVE_UP", 0x238);
/// Misses that ended as not read.
pub const NOT_READ: Counter = Counter::new("NOT_READ", 0x240);
/// Misses that went on beyond the slots that the index named.
pub const SHORT_HINTS: Counter = Counter::new("SHORT_HINTS", 0x248);
/// Round trips to host memory.
pub const TRIPS: Counter = Counter::new("TRIPS", 0x250);
/// Reads that trips asked for: of a row, of a bucket, of a word of the directory.
pub const READS: Counter = Counter::new("READS", 0x258);
/// Slots that they asked for.
pub const SLOTS_READ: Counter = Counter::new("SLOTS_READ", 0x260);
/// Bytes that they asked for: those of the slots, and 8 with each word.
pub const BYTES_READ: Counter = Counter::new("BYTES_READ", 0x268);
/// Readings that were begun after the first of a look-up.
pub const REPEATED_READINGS: Counter = Counter::new("REPEATED_READINGS", 0x270);
/// Readings that came to their end and were not whole.
pub const DISTURBED_READINGS: Counter = Counter::new("DISTURBED_READINGS", 0x278);
/// Fills that look-ups sent to the index, and it answered.
pub const FILLS: Counter = Counter::new("FILLS", 0x280);
/// Those of them that were stale.
pub const FILLS_STALE: Counter = Counter::new("FILLS_STALE", 0x288);
/// Those of them that were full.
pub const FILLS_FULL: Counter = Counter::new("FILLS_FULL", 0x290);
/// Set-hints that look-ups sent to the index, and it answered.
pub const HINTS_SET: Counter = Counter::new("HINTS_SET", 0x298);
/// Answers of the index, to requests or look-ups, that were bus errors.
pub const INDEX_ERRORS: Counter = Counter::new("INDEX_ERRORS", 0x2A0);
/// The largest value of [`IDLE_TIME`].
pub const IDLE_TIME_LARGEST: u32 = 65535;
/// The largest value of [`FLUSH_TIME`].
pub const FLUSH_TIME_LARGEST: u32 = 65535;
/// What the block is known by.
pub const SIGNATURE: Signature = Signature { identity: 0x4C534E4C, major: 1, minor: 0 };
/// All counters, in the order of the map.
pub const COUNTERS: [Counter; 21] = [
    REQUESTS,
    LOOK_UPS,
    HITS,
    MISSES,
    FOUND,
    FOUND_IN_BUCKETS,
    ABSENT,
    GAVE_UP,
    NOT_READ,
    SHORT_HINTS,
    TRIPS,
    READS,
    SLOTS_READ,
    BYTES_READ,
    REPEATED_READINGS,
    DISTURBED_READINGS,
    FILLS,
    FILLS_STALE,
    FILLS_FULL,
    HINTS_SET,
    INDEX_ERRORS,
];

/// Events since reset; wraps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Requests that the index has answered, of both ports, with whatever status.
    pub requests: u64,
    /// Look-ups and lock-and-reads among them.
    pub look_ups: u64,
    /// Look-ups that the index answered with done.
    pub hits: u64,
    /// Look-ups that it answered with miss, so that host memory was read.
    pub misses: u64,
    /// Misses that ended as done.
    pub found: u64,
    /// Those of them whose object was in an overflow bucket.
    pub found_in_buckets: u64,
    /// Misses that ended as absent.
    pub absent: u64,
    /// Misses that ended as gave up.
    pub gave_up: u64,
    /// Misses that ended as not read.
    pub not_read: u64,
    /// Misses that went on beyond the slots that the index named.
    pub short_hints: u64,
    /// Round trips to host memory.
    pub trips: u64,
    /// Reads that trips asked for: of a row, of a bucket, of a word of the directory.
    pub reads: u64,
    /// Slots that they asked for.
    pub slots_read: u64,
    /// Bytes that they asked for: those of the slots, and 8 with each word.
    pub bytes_read: u64,
    /// Readings that were begun after the first of a look-up.
    pub repeated_readings: u64,
    /// Readings that came to their end and were not whole.
    pub disturbed_readings: u64,
    /// Fills that look-ups sent to the index, and it answered.
    pub fills: u64,
    /// Those of them that were stale.
    pub fills_stale: u64,
    /// Those of them that were full.
    pub fills_full: u64,
    /// Set-hints that look-ups sent to the index, and it answered.
    pub hints_set: u64,
    /// Answers of the index, to requests or look-ups, that were bus errors.
    pub index_errors: u64,
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
            look_ups: LOOK_UPS.read(registers)?,
            hits: HITS.read(registers)?,
            misses: MISSES.read(registers)?,
            found: FOUND.read(registers)?,
            found_in_buckets: FOUND_IN_BUCKETS.read(registers)?,
            absent: ABSENT.read(registers)?,
            gave_up: GAVE_UP.read(registers)?,
            not_read: NOT_READ.read(registers)?,
            short_hints: SHORT_HINTS.read(registers)?,
            trips: TRIPS.read(registers)?,
            reads: READS.read(registers)?,
            slots_read: SLOTS_READ.read(registers)?,
            bytes_read: BYTES_READ.read(registers)?,
            repeated_readings: REPEATED_READINGS.read(registers)?,
            disturbed_readings: DISTURBED_READINGS.read(registers)?,
            fills: FILLS.read(registers)?,
            fills_stale: FILLS_STALE.read(registers)?,
            fills_full: FILLS_FULL.read(registers)?,
            hints_set: HINTS_SET.read(registers)?,
            index_errors: INDEX_ERRORS.read(registers)?,
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

    /// Requests are accepted. Stays 0 when it is written and a setting does not fit: SETTINGS_ERROR
    /// says which.
    pub const fn enable(self) -> bool {
        self.0 & 0x1 != 0
    }

    /// The same register with another `enable`. Requests are accepted. Stays 0 when it is written
    /// and a setting does not fit: SETTINGS_ERROR says which.
    #[must_use]
    pub const fn with_enable(self, enable: bool) -> Self {
        Self(self.0 & !0x1 | enable as u32)
    }

    /// The index lets no request in, and writes all that is changed back to NIC memory; FLUSH says
    /// when. To be set while the block is off and RETURN is 0.
    pub const fn flush(self) -> bool {
        self.0 >> 1 & 0x1 != 0
    }

    /// The same register with another `flush`. The index lets no request in, and writes all that is
    /// changed back to NIC memory; FLUSH says when. To be set while the block is off and RETURN is
    /// 0.
    #[must_use]
    pub const fn with_flush(self, flush: bool) -> Self {
        Self(self.0 & !0x2 | (flush as u32) << 1)
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

    /// Bytes of a slot of the host's table.
    pub const fn slot_bytes(self) -> u16 {
        self.0 as u16
    }

    /// Words of 8 bytes of a value.
    pub const fn value_words(self) -> u8 {
        (self.0 >> 16 & 0xF) as u8
    }

    /// Base-2 logarithm of the network's requests under way.
    pub const fn log2_contexts(self) -> u8 {
        (self.0 >> 20 & 0xF) as u8
    }

    /// Bits of a segment's number.
    pub const fn segment_bits(self) -> u8 {
        (self.0 >> 24) as u8
    }
}

/// The fields of [`CAPABILITIES_INDEX`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct CapabilitiesIndex(u32);

value_of_fields!(CapabilitiesIndex);

impl CapabilitiesIndex {
    /// The register with these bits.
    pub const fn from_bits(bits: u32) -> Self {
        CapabilitiesIndex(bits)
    }

    /// All bits of the register.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Base-2 logarithm of the sets of the cache.
    pub const fn log2_sets(self) -> u8 {
        self.0 as u8
    }

    /// Base-2 logarithm of the entries of a set.
    pub const fn log2_ways(self) -> u8 {
        (self.0 >> 8 & 0xF) as u8
    }

    /// Objects of an entry.
    pub const fn objects(self) -> u8 {
        (self.0 >> 12 & 0xF) as u8
    }

    /// The most pins of an object.
    pub const fn most_pins(self) -> u8 {
        (self.0 >> 16) as u8
    }

    /// The most lines of one read.
    pub const fn landing_lines(self) -> u8 {
        (self.0 >> 24) as u8
    }
}

/// Values of `setting` in [`SETTINGS_ERROR`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookupSetting {
    /// All fit.
    None = 0,
    /// TABLE_BASE is no multiple of 64.
    TableBase = 1,
    /// SLOTS is 0.
    Slots = 2,
    /// LIMIT is over 63.
    Limit = 3,
    /// MORE is 0 or over 64.
    More = 4,
    /// SEGMENT_SHIFT is over 31.
    SegmentShift = 5,
    /// DIRECTORY_BASE is no multiple of 64.
    DirectoryBase = 6,
    /// OVERFLOW_BASE is no multiple of 64.
    OverflowBase = 7,
    /// VALUE_BYTES is more than an answer's value has.
    ValueBytes = 9,
    /// MOST_READINGS is under 2 or over 255.
    MostReadings = 10,
    /// INDEX_BASE is no multiple of the stride of an entry.
    IndexBase = 11,
    /// SEGMENTS is less than the table has, or more than the index can have.
    Segments = 12,
}

impl LookupSetting {
    /// The name of a value, if it has one.
    pub const fn from_bits(bits: u32) -> Option<Self> {
        match bits {
            0 => Some(LookupSetting::None),
            1 => Some(LookupSetting::TableBase),
            2 => Some(LookupSetting::Slots),
            3 => Some(LookupSetting::Limit),
            4 => Some(LookupSetting::More),
            5 => Some(LookupSetting::SegmentShift),
            6 => Some(LookupSetting::DirectoryBase),
            7 => Some(LookupSetting::OverflowBase),
            9 => Some(LookupSetting::ValueBytes),
            10 => Some(LookupSetting::MostReadings),
            11 => Some(LookupSetting::IndexBase),
            12 => Some(LookupSetting::Segments),
            _ => None,
        }
    }
}

/// The fields of [`SETTINGS_ERROR`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct SettingsError(u32);

value_of_fields!(SettingsError);

impl SettingsError {
    /// The register with these bits.
    pub const fn from_bits(bits: u32) -> Self {
        SettingsError(bits)
    }

    /// All bits of the register.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// A setting, or 0.
    pub const fn setting(self) -> Option<LookupSetting> {
        LookupSetting::from_bits(self.0 & 0xF)
    }
}

/// The fields of [`FLUSH`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Flush(u32);

value_of_fields!(Flush);

impl Flush {
    /// The register with these bits.
    pub const fn from_bits(bits: u32) -> Self {
        Flush(bits)
    }

    /// All bits of the register.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// All is written back. Falls with the bit in CONTROL.
    pub const fn done(self) -> bool {
        self.0 & 0x1 != 0
    }

    /// With done: a write has failed, and its entry still counts as changed.
    pub const fn failed(self) -> bool {
        self.0 >> 1 & 0x1 != 0
    }
}

/// The nic look-up's registers as they lie in memory.
#[repr(C)]
pub struct Block {
    /// Switches the block on. What was accepted before it is switched off is carried out. Settings
    /// can be written when it is off and RETURN is 0.
    pub control: RW<Control>,
    _reserved_004: [u32; 3],
    /// Requests that were accepted and not yet answered, or those of which the index is still told
    /// what was seen: the larger number.
    pub r#return: RO<u32>,
    _reserved_014: [u32; 3],
    /// Where the host's table lies, in host memory. A multiple of 64. The low half, then the high
    /// half.
    pub table_base: [RW<u32>; 2],
    _reserved_028: [u32; 2],
    /// Homes of the host's table.
    pub slots: RW<u32>,
    _reserved_034: [u32; 3],
    /// The largest displacement in the host's table (D_m).
    pub limit: RW<u32>,
    _reserved_044: [u32; 3],
    /// Slots of a first read beyond the known displacement, counted from the home (k).
    pub more: RW<u32>,
    _reserved_054: [u32; 3],
    /// Base-2 logarithm of the homes of a segment.
    pub segment_shift: RW<u32>,
    _reserved_064: [u32; 3],
    /// Where the directory of the host's table lies, in host memory. A multiple of 64. The low
    /// half, then the high half.
    pub directory_base: [RW<u32>; 2],
    _reserved_078: [u32; 2],
    /// Where the overflow area lies, in host memory. A multiple of 64. The low half, then the high
    /// half.
    pub overflow_base: [RW<u32>; 2],
    _reserved_088: [u32; 2],
    /// Slots of the overflow area.
    pub overflow_slots: RW<u32>,
    _reserved_094: [u32; 3],
    /// Bytes of a value that the index caches.
    pub value_bytes: RW<u32>,
    _reserved_0a4: [u32; 3],
    /// Readings of all places of a key after which a look-up gives up.
    pub most_readings: RW<u32>,
    _reserved_0b4: [u32; 3],
    /// Where the index lies, in NIC memory. A multiple of the stride of its entries. The low half,
    /// then the high half.
    pub index_base: [RW<u32>; 2],
    _reserved_0c8: [u32; 2],
    /// Entries of the index.
    pub segments: RW<u32>,
    _reserved_0d4: [u32; 3],
    /// Clocks without a new read after which the reads that wait are sent.
    pub idle_time: RW<u32>,
    _reserved_0e4: [u32; 3],
    /// Clocks after which the oldest read that waits is sent.
    pub flush_time: RW<u32>,
    _reserved_0f4: [u32; 3],
    /// The characters LSNL.
    pub identity: RO<u32>,
    /// Version of the register map. A driver knows one major version.
    pub version: RO<Version>,
    /// What the block was built for.
    pub capabilities: RO<Capabilities>,
    /// What the index was built for.
    pub capabilities_index: RO<CapabilitiesIndex>,
    /// The first setting that did not fit when the block was last asked to be enabled.
    pub settings_error: RO<SettingsError>,
    /// How far the flush is that CONTROL asks for.
    pub flush: RO<Flush>,
    _reserved_118: [u32; 58],
    /// Requests that the index has answered, of both ports, with whatever status. The low half,
    /// then the high half.
    pub requests: [RO<u32>; 2],
    /// Look-ups and lock-and-reads among them. The low half, then the high half.
    pub look_ups: [RO<u32>; 2],
    /// Look-ups that the index answered with done. The low half, then the high half.
    pub hits: [RO<u32>; 2],
    /// Look-ups that it answered with miss, so that host memory was read. The low half, then the
    /// high half.
    pub misses: [RO<u32>; 2],
    /// Misses that ended as done. The low half, then the high half.
    pub found: [RO<u32>; 2],
    /// Those of them whose object was in an overflow bucket. The low half, then the high half.
    pub found_in_buckets: [RO<u32>; 2],
    /// Misses that ended as absent. The low half, then the high half.
    pub absent: [RO<u32>; 2],
    /// Misses that ended as gave up. The low half, then the high half.
    pub gave_up: [RO<u32>; 2],
    /// Misses that ended as not read. The low half, then the high half.
    pub not_read: [RO<u32>; 2],
    /// Misses that went on beyond the slots that the index named. The low half, then the high half.
    pub short_hints: [RO<u32>; 2],
    /// Round trips to host memory. The low half, then the high half.
    pub trips: [RO<u32>; 2],
    /// Reads that trips asked for: of a row, of a bucket, of a word of the directory. The low half,
    /// then the high half.
    pub reads: [RO<u32>; 2],
    /// Slots that they asked for. The low half, then the high half.
    pub slots_read: [RO<u32>; 2],
    /// Bytes that they asked for: those of the slots, and 8 with each word. The low half, then the
    /// high half.
    pub bytes_read: [RO<u32>; 2],
    /// Readings that were begun after the first of a look-up. The low half, then the high half.
    pub repeated_readings: [RO<u32>; 2],
    /// Readings that came to their end and were not whole. The low half, then the high half.
    pub disturbed_readings: [RO<u32>; 2],
    /// Fills that look-ups sent to the index, and it answered. The low half, then the high half.
    pub fills: [RO<u32>; 2],
    /// Those of them that were stale. The low half, then the high half.
    pub fills_stale: [RO<u32>; 2],
    /// Those of them that were full. The low half, then the high half.
    pub fills_full: [RO<u32>; 2],
    /// Set-hints that look-ups sent to the index, and it answered. The low half, then the high
    /// half.
    pub hints_set: [RO<u32>; 2],
    /// Answers of the index, to requests or look-ups, that were bus errors. The low half, then the
    /// high half.
    pub index_errors: [RO<u32>; 2],
    _reserved_2a8: [u32; 854],
}

const _: () = {
    assert!(offset_of!(Block, control) == CONTROL.offset() as usize);
    assert!(offset_of!(Block, r#return) == RETURN.offset() as usize);
    assert!(offset_of!(Block, table_base) == TABLE_BASE.offset() as usize);
    assert!(offset_of!(Block, slots) == SLOTS.offset() as usize);
    assert!(offset_of!(Block, limit) == LIMIT.offset() as usize);
    assert!(offset_of!(Block, more) == MORE.offset() as usize);
    assert!(offset_of!(Block, segment_shift) == SEGMENT_SHIFT.offset() as usize);
    assert!(offset_of!(Block, directory_base) == DIRECTORY_BASE.offset() as usize);
    assert!(offset_of!(Block, overflow_base) == OVERFLOW_BASE.offset() as usize);
    assert!(offset_of!(Block, overflow_slots) == OVERFLOW_SLOTS.offset() as usize);
    assert!(offset_of!(Block, value_bytes) == VALUE_BYTES.offset() as usize);
    assert!(offset_of!(Block, most_readings) == MOST_READINGS.offset() as usize);
    assert!(offset_of!(Block, index_base) == INDEX_BASE.offset() as usize);
    assert!(offset_of!(Block, segments) == SEGMENTS.offset() as usize);
    assert!(offset_of!(Block, idle_time) == IDLE_TIME.offset() as usize);
    assert!(offset_of!(Block, flush_time) == FLUSH_TIME.offset() as usize);
    assert!(offset_of!(Block, identity) == IDENTITY.offset() as usize);
    assert!(offset_of!(Block, version) == VERSION.offset() as usize);
    assert!(offset_of!(Block, capabilities) == CAPABILITIES.offset() as usize);
    assert!(offset_of!(Block, capabilities_index) == CAPABILITIES_INDEX.offset() as usize);
    assert!(offset_of!(Block, settings_error) == SETTINGS_ERROR.offset() as usize);
    assert!(offset_of!(Block, flush) == FLUSH.offset() as usize);
    assert!(offset_of!(Block, requests) == REQUESTS.offset() as usize);
    assert!(offset_of!(Block, look_ups) == LOOK_UPS.offset() as usize);
    assert!(offset_of!(Block, hits) == HITS.offset() as usize);
    assert!(offset_of!(Block, misses) == MISSES.offset() as usize);
    assert!(offset_of!(Block, found) == FOUND.offset() as usize);
    assert!(offset_of!(Block, found_in_buckets) == FOUND_IN_BUCKETS.offset() as usize);
    assert!(offset_of!(Block, absent) == ABSENT.offset() as usize);
    assert!(offset_of!(Block, gave_up) == GAVE_UP.offset() as usize);
    assert!(offset_of!(Block, not_read) == NOT_READ.offset() as usize);
    assert!(offset_of!(Block, short_hints) == SHORT_HINTS.offset() as usize);
    assert!(offset_of!(Block, trips) == TRIPS.offset() as usize);
    assert!(offset_of!(Block, reads) == READS.offset() as usize);
    assert!(offset_of!(Block, slots_read) == SLOTS_READ.offset() as usize);
    assert!(offset_of!(Block, bytes_read) == BYTES_READ.offset() as usize);
    assert!(offset_of!(Block, repeated_readings) == REPEATED_READINGS.offset() as usize);
    assert!(offset_of!(Block, disturbed_readings) == DISTURBED_READINGS.offset() as usize);
    assert!(offset_of!(Block, fills) == FILLS.offset() as usize);
    assert!(offset_of!(Block, fills_stale) == FILLS_STALE.offset() as usize);
    assert!(offset_of!(Block, fills_full) == FILLS_FULL.offset() as usize);
    assert!(offset_of!(Block, hints_set) == HINTS_SET.offset() as usize);
    assert!(offset_of!(Block, index_errors) == INDEX_ERRORS.offset() as usize);
    assert!(size_of::<Block>() == 0x1000);
};

/// All words of the block.
pub const WORDS: [Word; 68] = [
    Word::new("CONTROL", 0x000, Access::ReadWrite, Some(0x0), 0x00000003),
    Word::new("RETURN", 0x010, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("TABLE_BASE low", 0x020, Access::ReadWrite, Some(0x0), 0xFFFFFFFF).while_disabled(),
    Word::new("TABLE_BASE high", 0x024, Access::ReadWrite, Some(0x0), 0xFFFFFFFF).while_disabled(),
    Word::new("SLOTS", 0x030, Access::ReadWrite, Some(0x0), 0xFFFFFFFF).while_disabled(),
    Word::new("LIMIT", 0x040, Access::ReadWrite, Some(0x0), 0xFFFFFFFF).while_disabled(),
    Word::new("MORE", 0x050, Access::ReadWrite, Some(0x2), 0xFFFFFFFF).while_disabled(),
    Word::new("SEGMENT_SHIFT", 0x060, Access::ReadWrite, Some(0x0), 0xFFFFFFFF).while_disabled(),
    Word::new("DIRECTORY_BASE low", 0x070, Access::ReadWrite, Some(0x0), 0xFFFFFFFF)
        .while_disabled(),
    Word::new("DIRECTORY_BASE high", 0x074, Access::ReadWrite, Some(0x0), 0xFFFFFFFF)
        .while_disabled(),
    Word::new("OVERFLOW_BASE low", 0x080, Access::ReadWrite, Some(0x0), 0xFFFFFFFF)
        .while_disabled(),
    Word::new("OVERFLOW_BASE high", 0x084, Access::ReadWrite, Some(0x0), 0xFFFFFFFF)
        .while_disabled(),
    Word::new("OVERFLOW_SLOTS", 0x090, Access::ReadWrite, Some(0x0), 0xFFFFFFFF).while_disabled(),
    Word::new("VALUE_BYTES", 0x0A0, Access::ReadWrite, Some(0x8), 0xFFFFFFFF).while_disabled(),
    Word::new("MOST_READINGS", 0x0B0, Access::ReadWrite, Some(0x8), 0xFFFFFFFF).while_disabled(),
    Word::new("INDEX_BASE low", 0x0C0, Access::ReadWrite, Some(0x0), 0xFFFFFFFF).while_disabled(),
    Word::new("INDEX_BASE high", 0x0C4, Access::ReadWrite, Some(0x0), 0xFFFFFFFF).while_disabled(),
    Word::new("SEGMENTS", 0x0D0, Access::ReadWrite, Some(0x0), 0xFFFFFFFF).while_disabled(),
    Word::new("IDLE_TIME", 0x0E0, Access::ReadWrite, Some(0x10), 0x0001FFFF)
        .between(0, 65535)
        .while_disabled(),
    Word::new("FLUSH_TIME", 0x0F0, Access::ReadWrite, Some(0x40), 0x0001FFFF)
        .between(0, 65535)
        .while_disabled(),
    Word::new("IDENTITY", 0x100, Access::ReadOnly, Some(0x4C534E4C), 0xFFFFFFFF),
    Word::new("VERSION", 0x104, Access::ReadOnly, Some(0x10000), 0xFFFFFFFF),
    Word::new("CAPABILITIES", 0x108, Access::ReadOnly, None, 0xFFFFFFFF),
    Word::new("CAPABILITIES_INDEX", 0x10C, Access::ReadOnly, None, 0xFFFFFFFF),
    Word::new("SETTINGS_ERROR", 0x110, Access::ReadOnly, Some(0x0), 0x0000000F),
    Word::new("FLUSH", 0x114, Access::ReadOnly, Some(0x0), 0x00000003),
    Word::new("REQUESTS low", 0x200, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("REQUESTS high", 0x204, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("LOOK_UPS low", 0x208, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("LOOK_UPS high", 0x20C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("HITS low", 0x210, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("HITS high", 0x214, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("MISSES low", 0x218, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("MISSES high", 0x21C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("FOUND low", 0x220, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("FOUND high", 0x224, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("FOUND_IN_BUCKETS low", 0x228, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("FOUND_IN_BUCKETS high", 0x22C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("ABSENT low", 0x230, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("ABSENT high", 0x234, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("GAVE_UP low", 0x238, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("GAVE_UP high", 0x23C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("NOT_READ low", 0x240, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("NOT_READ high", 0x244, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("SHORT_HINTS low", 0x248, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("SHORT_HINTS high", 0x24C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("TRIPS low", 0x250, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("TRIPS high", 0x254, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("READS low", 0x258, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("READS high", 0x25C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("SLOTS_READ low", 0x260, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("SLOTS_READ high", 0x264, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("BYTES_READ low", 0x268, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("BYTES_READ high", 0x26C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("REPEATED_READINGS low", 0x270, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("REPEATED_READINGS high", 0x274, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("DISTURBED_READINGS low", 0x278, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("DISTURBED_READINGS high", 0x27C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("FILLS low", 0x280, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("FILLS high", 0x284, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("FILLS_STALE low", 0x288, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("FILLS_STALE high", 0x28C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("FILLS_FULL low", 0x290, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("FILLS_FULL high", 0x294, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("HINTS_SET low", 0x298, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("HINTS_SET high", 0x29C, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("INDEX_ERRORS low", 0x2A0, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
    Word::new("INDEX_ERRORS high", 0x2A4, Access::ReadOnly, Some(0x0), 0xFFFFFFFF),
];
