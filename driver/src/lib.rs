//! How software reaches a Lockstep device.
//!
//! [`Registers`] is the one trait between a driver and whatever carries its accesses: a
//! mapped BAR, a simulated AXI4-Lite port, a fake in a test. [`lock_unit::LockUnit`] is
//! the typed driver of the tuple-locking unit on top of it. Every failure is a
//! [`DeviceError`]; nothing here waits without a bound.

pub mod lock_unit;
pub mod map;

mod backend;
mod error;
mod memory;
mod registers;

pub use backend::{Backend, Information, Interrupt, InterruptKind, MemoryNeeds, Space, Width};
pub use error::{BusResponse, DeviceError, Operation};
pub use lock_unit::LockUnit;
pub use memory::{HUGE_PAGE_BYTES, HostMemory, PAGE_BYTES};
pub use registers::Registers;
