// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Lockstep device as a PCI function: its Verilated RTL, with models of the PCIe hard block,
//! the DMA engine and the host bridge of a machine with the board.
//!
//! - [`Simulated`]: the function in this process, as a [`driver::Backend`];
//! - [`serve`]: the function for other processes, over vfio-user;
//! - [`open_backend`]: any [`driver::DeviceUri`], simulated devices among them.
//!
//! `docs/function.md` says which parts of PCI Express are modelled, what the server trusts, and how
//! memory is kept safe.

mod address_space;
mod board;
mod configuration;
mod function;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod jobs;
mod memory;
mod mover;
mod msix;
mod server;
mod signaller;
mod simulated;

pub use address_space::MapError;
pub use function::{BoardOptions, CARD_BYTES, Counts};
pub use server::{Progress, ServeOptions, serve};
pub use simulated::{Simulated, open_backend};
