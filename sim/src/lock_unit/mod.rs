// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tuple-locking unit with bus models on all its ports: what a run, a test bench and a
//! benchmark have in common.
//!
//! - [`UnitUnderTest`]: the Verilated unit, clocked with its buses; memory is left to the owner.
//! - [`KeptCopies`]: for owners whose memory does not tell when a line is written.
//! - [`access`]: an access to a bucket in the words of machine, port and coherent memory.
//! - [`UnitOnMemory`]: the unit clocked on such memory, each access made at once.

pub mod access;
mod copies;
mod on_memory;
mod under_test;

pub use copies::KeptCopies;
pub use on_memory::{UnitMemory, UnitOnMemory};
pub use under_test::{RESET_CYCLES, UnitConfig, UnitUnderTest};
