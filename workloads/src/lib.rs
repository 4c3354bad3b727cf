// SPDX-License-Identifier: MIT OR Apache-2.0
//! The work for locks and stores: seeded workloads, scenarios and lock traces.
//!
//! - [`database`] is transactions over tables, for any transactional store: SmallBank, TATP,
//!   YCSB A/B/F and TPC-C, with their consistency conditions and a reference store.
//! - [`Scenario`] is a `lockstep run` file, read and checked as a whole.
//! - [`Generator`] gives one agent's endless stream of update transactions (YCSB-style,
//!   SmallBank, hot rows), a pure function of scenario, seed and agent.
//! - [`trace`] reads, checks and writes lock traces; [`waldump`] makes one from the log of a
//!   PostgreSQL server. Both may be compressed ([`text_file`]).
//!
//! All times are nanoseconds in `u64`; a runner that counts in picoseconds multiplies.
//! Nothing here reads a clock, and no iteration follows the order of a hash table.

pub mod database;
mod error;
mod generator;
mod hot_row;
pub mod random;
pub mod scenario;
mod smallbank;
#[cfg(test)]
mod testing;
pub mod text_file;
pub mod trace;
pub mod waldump;
mod ycsb;
pub mod zipf;

pub use error::{Error, Found, InputError, Result};
pub use generator::{Generator, TransactionPlan};
pub use locks::TupleKey;
pub use scenario::Scenario;
