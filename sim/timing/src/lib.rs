// SPDX-License-Identifier: MIT OR Apache-2.0
//! Virtual time and its parts: the event kernel, the platform files with their latencies and rates,
//! links, and the transfers over them.
//!
//! This crate is independent of Verilated models, buses and stores, so that every world in virtual
//! time can use it, even without Verilator.

pub mod dma;
mod kernel;
pub mod link;
pub mod platform;
mod time;

pub use kernel::{Kernel, Priority};
pub use time::Time;
