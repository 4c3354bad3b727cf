// SPDX-License-Identifier: MIT OR Apache-2.0
//! Models of both sides of an AXI4 port with 512 bits of data.
//!
//! [`Axi4Subordinate`] is a bridge, not a memory: it turns accepted pin traffic into
//! [`MemoryAccess`]es, which the owner takes and performs on whatever memory it has,
//! and puts the answers back on R and B, in an order, after delays and with
//! stalls that are drawn from a seed. Accesses of one id are answered in their order.
//! A port takes either bursts ([`Axi4Config::bursts`]), or the single reads, stores and
//! atomics of the lock unit ([`Axi4Config::lock_unit`]; `docs/lock-unit.md`, "Memory").
//!
//! [`Axi4Manager`] is the other side, for blocks that are subordinates: it makes bursts, and
//! checks what comes back.

mod burst;
mod bursts;
mod config;
mod decode;
mod decode_burst;
mod manager;
mod outstanding;
mod responses;
mod subordinate;

#[cfg(test)]
mod burst_fault_tests;
#[cfg(test)]
mod burst_tests;
#[cfg(test)]
mod burst_traffic;
#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod speed;
#[cfg(test)]
mod test_manager;
#[cfg(test)]
mod tests;

pub(super) use burst::byte_masks;
pub use burst::{
    BOUNDARY_BYTES, Beat, Burst, BurstKey, FULL_SIZE, LINE_BYTES, MAXIMUM_BEATS, ReadBeat,
    WriteBeat,
};
pub use config::{
    Axi4Config, Axi4Stalls, BurstLimits, Delay, IdSharing, ResponseOrder, describe_id,
    describe_lock_unit_id,
};
pub use manager::{Axi4Manager, Axi4ManagerConfig, Completion, Outcome, Ticket};
pub use subordinate::Axi4Subordinate;

use super::BusError;
use super::pins::DATA_WORDS;

/// What stands in the lanes of `rdata` that carry nothing, so that a block that looks
/// at a wrong lane does not find a zero.
const EMPTY_LANE: u64 = 0xE3E3_E3E3_E3E3_E3E3;

/// Width of the AXI ids in bits.
pub const ID_BITS: u32 = 11;

/// Number of AXI ids.
pub const ID_COUNT: usize = 1 << ID_BITS;

/// `arcache` of a read whose copy is kept, so that its end must be reported.
pub const CACHE_KEEP_COPY: u8 = 0b1111;

/// `arcache` and `awcache` of everything else.
pub const CACHE_PLAIN: u8 = 0b0011;

/// `awatop` of AtomicCompare. Source: AMBA 5 AXI, "Atomic transactions".
pub const ATOMIC_COMPARE: u8 = 0b11_0001;

/// What an accepted access asks of the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessKind {
    /// One snapshot of 64 bytes.
    ReadLine {
        /// The reader keeps the copy and must be notified when it stops being valid.
        keep_copy: bool,
    },
    /// Compare-and-swap of one 8-byte word.
    CompareSwap {
        /// The value that the word must have.
        expected: u64,
        /// The value that it then gets.
        new: u64,
    },
    /// Store of the bytes of one 8-byte word.
    Store {
        /// The word, little-endian.
        value: u64,
        /// Bit n set: byte n is stored.
        strobe: u8,
    },
    /// Bytes of one or more lines, on a port that takes bursts. Answered by
    /// [`Axi4Subordinate::answer_beat`] or [`Axi4Subordinate::answer_read`].
    ReadBurst(Burst),
    /// Stores to one or more lines, on a port that takes bursts: the beats are
    /// [`Axi4Subordinate::write_beats`]. Answered by [`Axi4Subordinate::answer_write`].
    WriteBurst(Burst),
}

/// One access that the bridge took from the pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryAccess {
    /// AXI id, below [`ID_COUNT`].
    pub id: u16,
    /// Byte address: of a line (multiple of 64) for `ReadLine`, of a word (of 8) for `CompareSwap` and
    /// `Store`, of the first byte of a burst.
    pub address: u64,
    /// What to do there.
    pub kind: AccessKind,
    /// The cycle in which the last of its handshakes took place.
    pub accepted_at_cycle: u64,
}

/// The answer of the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryData {
    /// Answer to [`AccessKind::ReadLine`].
    Line([u64; DATA_WORDS]),
    /// Answer to [`AccessKind::CompareSwap`]: the word before.
    OldWord(u64),
    /// Answer to [`AccessKind::Store`].
    Stored,
}

/// The owner's answer to the oldest unanswered access of `id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryAnswer {
    /// AXI id of the access.
    pub id: u16,
    /// Data, or the error response to give on R and B.
    pub outcome: Result<MemoryData, BusError>,
}
