// SPDX-License-Identifier: MIT OR Apache-2.0
//! The workloads under which a rival engine is measured, and the line that it prints.
//!
//! Each engine is a program of its own: it implements [`Engine`] and hands it to [`main`]. All
//! of them run the same loops over the same rows, so that what differs is the engine alone.
//!
//! Every workload ends by adding up the balances of all rows: an engine that loses an update,
//! or lets two of them overlap, prints `"sum_ok":false` and ends with exit code 1.

mod arguments;
mod engine;
mod loops;
mod report;
mod smallbank;
mod transfer;

#[cfg(test)]
mod tests;

pub use arguments::{Arguments, Durability, Workload};
pub use engine::{
    Engine, Outcome, Reads, VALUE_BYTES, Value, Verdict, Writes, balance, key, value,
};
pub use report::{Report, locked_version, main};
