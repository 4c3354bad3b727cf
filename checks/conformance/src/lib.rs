// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tuple-locking unit in lockstep with the pure machines of `locks`.
//!
//! A [`Case`] says what agents on the device and on the host request, and how the buses behave. The
//! bench runs it on the Verilated unit and compares every access, response, counter and line with
//! an oracle, which has one [`locks::machine::Machine`] per open request. `docs/conformance.md`
//! says how it works and how the next block gets one.
//!
//! - [`case`]: what a run depends on.
//! - [`draw`]: cases from seeds.
//! - [`run`], [`replay`]: one case on any unit, or on the unit itself with waves.
//! - [`check_seed`]: a case from a seed, and the report when it fails.
//! - [`over_device`]: the same cases on a unit behind a driver, with what can be seen from there.

pub mod case;
pub mod draw;
pub mod over_device;

mod adversary;
mod agent;
mod bench;
mod coverage;
mod host;
mod ledger;
mod mismatch;
mod oracle;
mod registers;
mod report;
mod requests;

pub use adversary::run_against_adversary;
pub use bench::Summary;
pub use case::Case;
pub use coverage::{ALL_PHASES, Coverage};
pub use mismatch::{MismatchError, Property};
pub use report::{Failure, ReplayError, check_seed, load, replay, run, shrink, window};
