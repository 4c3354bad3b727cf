// SPDX-License-Identifier: MIT OR Apache-2.0
//! Virtual time, and what it is made of: the event kernel, the platform files with their latencies
//! and rates, links, and the transfers over them.
//!
//! Nothing here knows of a Verilated model, of a bus or of a store, so that every world in virtual
//! time can use it, also where there is no Verilator.

pub mod dma;
mod kernel;
pub mod link;
pub mod platform;
mod time;

pub use kernel::{Kernel, Priority};
pub use time::Time;
