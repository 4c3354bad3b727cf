//! The [vfio-user] protocol over a unix socket: how a PCI device that lives in one process is used
//! from another, by our driver or by QEMU. What of it is spoken, the limits and the threat model:
//! `docs/vfio-user.md`.
//!
//! Neither side trusts the other: every field is checked before it is used, every wait has a bound,
//! allocations are bounded by the limits that were agreed upon, and descriptors that come along are
//! closed unless somebody asked for them.
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
