// SPDX-License-Identifier: MIT OR Apache-2.0
//! The register map, with types.
//!
//! `hw/regs` describes every register in SystemRDL; the modules [`device`], [`shell`], [`queue`],
//! [`lock_unit`], [`visibility_pe`], [`dma_vectorizer`] and [`nic_lookup`] are made from it by
//! `hw/regs/generate`. Each has
//!
//! - a token for each register, which is read and written through any [`Registers`]; a token has
//!   only the operations that the register has;
//! - a struct for each register with several fields, or with flags;
//! - `Block`, the registers as they lie in memory, for code that has mapped a BAR;
//! - `WORDS`, the same as data, gathered in [`device::PLACES`].
//!
//! A register that software only reads has no `write`, and its fields have no setters:
//!
//! ```
//! # use lockstep_driver::{DeviceError, Registers, map::lock_unit};
//! # fn example(registers: &mut dyn Registers) -> Result<(), DeviceError> {
//! lock_unit::CONTROL.write(registers, lock_unit::Control::default().with_accept(true))?;
//! let open = lock_unit::RETURN.read(registers)?;
//! # Ok(())
//! # }
//! ```
//!
//! ```compile_fail,E0599
//! # use lockstep_driver::{DeviceError, Registers, map::lock_unit};
//! # fn example(registers: &mut dyn Registers) -> Result<(), DeviceError> {
//! lock_unit::RETURN.write(registers, 0)
//! # }
//! ```
//!
//! ```compile_fail,E0599
//! # use lockstep_driver::map::lock_unit::Capabilities;
//! let capabilities = Capabilities::default().with_slots(4);
//! ```
//!
//! [`Registers`]: crate::Registers

pub mod device;
pub mod dma_vectorizer;
pub mod lock_unit;
pub mod nic_lookup;
pub mod queue;
pub mod shell;
pub mod visibility_pe;

mod identity;
#[cfg(test)]
mod tests;
mod token;
mod word;

pub use identity::{Present, Signature};
pub use token::{Counter, ReadOnly, ReadWrite, Value, WriteOneToClear, WriteOnly};
pub use word::{Access, Place, Word};
