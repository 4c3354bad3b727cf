// SPDX-License-Identifier: MIT OR Apache-2.0
//! Keys that a NIC looks up in a table of the host (`docs/nic-lookup.md`).
//!
//! - [`LookedUp`]: a table in memory that the host's threads and the device share, with the requests that the
//!   NIC's software makes: look up, lock, update, unlock.
//! - [`LookUpPort`]: who carries the requests out: a device behind a driver ([`DevicePort`]), or a machine in
//!   this process in a test.
//! - [`settings`]: what the look-up unit has to be told of a table.

mod device;
mod error;
mod port;
mod table;

pub use device::{DeviceOptions, DevicePort, settings};
pub use error::LookUpError;
pub use port::{LookUpPort, Reply};
pub use table::{LookedUp, Object, Owner};
