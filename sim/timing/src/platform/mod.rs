// SPDX-License-Identifier: MIT OR Apache-2.0
//! Platform files: every latency and rate of a machine, each with its source.
//!
//! No latency or rate is a constant in code. An entry is a table
//! `{ value, unit, kind, source }`; a wrong unit, an impossible value, an unknown or
//! missing key is an error that names file, line and what was expected.
//!
//! A file has the sections that its machine needs, and each model reads those that it knows
//! ([`PlatformFile`]). [`Platform`] is what the models of one host and one device read.
//!
//! An entry may have a class, by the rule that a model is not tuned by what it predicts ([`Class`]); one
//! of class E has the interval that it may lie in.
//!
//! An entry records whether it was read ([`entries_read`]), so that a measurement can name the
//! entries that it depends on.

mod board;
mod class;
mod entry;
mod file;
mod near_data;
mod quantity;
#[cfg(test)]
mod tests;

pub use board::{
    AgentTiming, Atomics, CacheTiming, CoherenceTiming, DmaTiming, HomeTiming, LinkTiming,
    Platform, Side,
};
pub use class::{Class, End};
pub use entry::{Entry, Kind, entries_read};
pub use file::{PlatformError, PlatformFile};
pub use near_data::{
    DeviceMemoryTiming, ElementTiming, HostStoreTiming, NearDataTiming, StorageTiming,
};
pub use quantity::{Amount, Bandwidth, Bytes, Count, Measure, Rate, Ratio};
