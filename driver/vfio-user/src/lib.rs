// SPDX-License-Identifier: MIT OR Apache-2.0
//! The [vfio-user] protocol over a unix socket: one process uses a PCI device of another, through
//! our driver or through QEMU. `docs/vfio-user.md` lists the commands and limits, and describes
//! the threat model.
//!
//! Neither side trusts the other: every field is checked before it is used, every wait has a bound,
//! allocations are bounded by the negotiated limits, and received descriptors are closed unless
//! they were requested.
//!
//! [vfio-user]: https://www.qemu.org/docs/master/interop/vfio-user.html

mod client;
mod deadline;
mod device;
mod error;
pub mod message;
mod server;
mod transport;

pub use client::{Client, GuestMemory, Options, RegionInfo};
pub use device::{
    Area, Backing, DeviceInfo, DmaMap, Errno, IrqAction, IrqData, IrqInfo, Region, ServedDevice,
    irq_index, region_index,
};
pub use error::Error;
pub use server::{Ending, RemoteMemory, Server, ServerOptions, Stop};
