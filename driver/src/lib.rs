//! How software reaches a Lockstep device.
//!
//! [`Registers`] is the one trait between a driver and whatever carries its accesses: a
//! mapped BAR, a simulated AXI4-Lite port, a fake in a test. [`lock_unit::LockUnit`] is
//! the typed driver of the tuple-locking unit on top of it. Every failure is a
//! [`DeviceError`]; nothing here waits without a bound.

pub mod linux;
pub mod lock_unit;
pub mod map;
pub mod queue;

mod address;
mod backend;
mod block;
mod buffer;
mod device;
mod error;
mod event;
#[cfg(test)]
mod fake;
pub mod faulty;
mod iova;
pub mod layout;
mod mappings;
mod memory;
mod open;
mod registers;
mod shell;
pub mod vfio_user;

pub use address::{AddressError, DeviceAddress, PciAddress, PciMode};
pub use backend::{Backend, Information, Interrupt, InterruptKind, MemoryNeeds, Space, Width};
pub use block::BlockRegisters;
pub use buffer::DmaBuffer;
pub use device::{Capabilities, Device};
pub use error::{BusResponse, DeviceError, Operation};
pub use faulty::{Faults, Faulty};
pub use lock_unit::LockUnit;
pub use memory::{HUGE_PAGE_BYTES, HostMemory, PAGE_BYTES};
pub use open::{OpenError, open_backend};
pub use queue::{
    CopyCommand, CopyDone, CopyQueue, Direction, LockQueue, QueueError, Status, Ticket,
};
pub use registers::Registers;
pub use shell::Shell;
