// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fixed parts of a device outside its register map: BARs, vectors.
//!
//! Source: `docs/device.md`. The identifiers are in [`crate::PciIdentity`], and the offsets of the
//! blocks in BAR0 in [`crate::map::device`].

/// Bytes that BAR0 must have.
pub const BAR0_BYTES: u64 = 64 << 10;
/// The BAR of the card memory.
pub const CARD_BAR: u8 = 2;
/// Bytes of one register block.
pub const BLOCK_BYTES: u64 = 4 << 10;

/// Vector that software forces through the shell.
pub const SHELL_VECTOR: u32 = 0;
/// Vector of the copy queue.
pub const COPY_VECTOR: u32 = 1;
/// Vector of the lock queue.
pub const LOCK_VECTOR: u32 = 2;
/// Vector of the job queue.
pub const JOB_VECTOR: u32 = 4;
/// Vector of the look-up queue.
pub const LOOK_UP_VECTOR: u32 = 5;
/// Vector of bus errors of the lock unit.
pub const BUS_ERROR_VECTOR: u32 = 3;
