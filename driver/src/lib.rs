// SPDX-License-Identifier: MIT OR Apache-2.0
//! Access of software to a Lockstep device.
//!
//! [`open_backend`] opens the backend that a [`DeviceUri`] names: a socket of another process, or a
//! PCI function of this machine. [`Device`] identifies what is behind it and gives its typed parts:
//! [`Shell`], [`LockUnit`], [`LookUpUnit`], [`CopyQueue`], [`LockQueue`], [`JobQueue`], [`LookUpQueue`],
//! memory that it reaches ([`DmaBuffer`]), interrupts. [`Registers`] is the trait between a register block's driver and whatever carries its
//! accesses: a mapped BAR, a simulated AXI4-Lite port, a fake in a test.
//!
//! Every wait has a bound, no behaviour of a device causes a panic, and every failure has a type.
//! Backends, queues, ordering and errors: `docs/driver.md`.

pub mod faulty;
pub mod layout;
pub mod linux;
pub mod lock_unit;
pub mod look_up_unit;
pub mod map;
pub mod pci_regs;
pub mod queue;
pub mod vfio_user;
pub mod visibility_element;

mod absence;
mod atomics;
mod backend;
mod block;
mod buffer;
mod device;
mod device_uri;
mod error;
mod event;
#[cfg(test)]
mod fake;
mod identity;
mod iova;
mod mappings;
mod memory;
mod open;
mod pci_capabilities;
mod registers;
mod shell;

pub use atomics::{AtomicRoute, Atomics};
pub use backend::{Backend, Information, Interrupt, InterruptKind, MemoryNeeds, Space, Width};
pub use block::BlockRegisters;
pub use buffer::DmaBuffer;
pub use device::{Capabilities, Device};
pub use device_uri::{DeviceUri, DeviceUriError, Elements, PciAddress, PciMode};
pub use error::{BusResponse, DeviceError, Operation};
pub use faulty::{Faults, Faulty};
pub use identity::{IdentityError, PciIdentity, VARIABLE as PCI_ID_VARIABLE};
pub use lock_unit::LockUnit;
pub use look_up_unit::LookUpUnit;
pub use memory::{HUGE_PAGE_BYTES, HostMemory, PAGE_BYTES};
pub use open::{OpenError, open_backend};
pub use pci_capabilities::{PciCapability, discover_capabilities, pci_capabilities};
pub use queue::{
    CopyCommand, CopyDone, CopyQueue, Direction, JobDone, JobQueue, JobSubmission, LockQueue,
    LookUpDone, LookUpOperation, LookUpQueue, LookUpRequest, LookUpStatus, QueueError, Status,
    Ticket,
};
pub use registers::Registers;
pub use shell::Shell;
pub use visibility_element::VisibilityElement;
