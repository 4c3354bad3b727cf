//! The register map of the tuple-locking unit, in one place.
//!
//! Source: `docs/lock-unit.md`, section "Registers". Offsets are in bytes.

/// Bit 0: the unit accepts requests.
pub const CONTROL: u32 = 0x000;
/// Bit 0: interrupts on.
pub const GLOBAL_INTERRUPT_ENABLE: u32 = 0x004;
/// Bit 0: interrupt on bus error.
pub const INTERRUPT_ENABLE: u32 = 0x008;
/// Bit 0: a bus error happened; write 1 to clear.
pub const INTERRUPT_STATUS: u32 = 0x00C;
/// Requests open now.
pub const RETURN: u32 = 0x010;
/// Byte address of the table, low half; a multiple of 64.
pub const TABLE_BASE_LOW: u32 = 0x020;
/// Byte address of the table, high half.
pub const TABLE_BASE_HIGH: u32 = 0x024;
/// Base-2 logarithm of the number of buckets, 0 to 32.
pub const TABLE_LOG2_BUCKETS: u32 = 0x030;
/// Reads [`IDENTITY_VALUE`].
pub const IDENTITY: u32 = 0x100;
/// High half: major version, low half: minor version.
pub const VERSION: u32 = 0x104;
/// Bits 7:0 log2 of the contexts, bits 15:8 slots of a bucket.
pub const CAPABILITIES: u32 = 0x108;
/// Low half of counter 0; counter n lies 8n bytes above, its high half 4 further.
pub const COUNTERS: u32 = 0x200;

/// Bit 0 of CONTROL, GIE, IER and ISR: the only one in use.
pub const BIT_0: u32 = 1;
/// "LSLU" in ASCII.
pub const IDENTITY_VALUE: u32 = 0x4C53_4C55;
/// The major version that this driver knows.
pub const VERSION_MAJOR: u32 = 1;
/// Alignment of the table in bytes: one bucket.
pub const TABLE_ALIGNMENT: u64 = 64;
/// Largest value of TABLE_LOG2_BUCKETS.
pub const TABLE_LOG2_BUCKETS_MAX: u32 = 32;
/// Number of counters.
pub const COUNTER_COUNT: usize = 16;

/// Byte offset of the low half of counter `index`.
///
/// # Panics
/// When `index` is not below [`COUNTER_COUNT`].
pub const fn counter_offset(index: usize) -> u32 {
    assert!(index < COUNTER_COUNT);
    COUNTERS + 8 * index as u32
}
