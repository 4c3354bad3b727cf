// SPDX-License-Identifier: MIT OR Apache-2.0
//! Near-data reads and updates (ccSLT paper, sections 1 to 3): the data handed to a device, the
//! code that runs there beside the data, and the host's transaction around them.
//!
//! - [`program`]: predicates and updates as fixed-width code: compiled on the host, validated and
//!   executed on the device. Its machine is the oracle of the hardware.
//! - [`job`]: the bytes that host and device exchange: descriptors, reservations, result sets.
//! - [`engine`]: the device's side: jobs, processing elements, updates under the tuple locks.
//! - [`host`]: the host's side: invocation, and the transaction around it.
//! - [`lookup`]: keys that a NIC looks up in a table of the host.
//!
//! Nothing here names a simulator: the same code runs beside a board.

pub mod engine;
pub mod host;
pub mod job;
pub mod lookup;
pub mod program;
