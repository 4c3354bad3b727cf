// SPDX-License-Identifier: MIT OR Apache-2.0
//! Looks keys up in a host's table: in the index, or else by reads of host memory (`docs/nic-lookup.md`,
//! `nic_lookup`).
//!
//! - [`Geometry`] says where the parts of the table lie. It is made from that of the crate `tables`.
//! - [`LookUp`] is one request: a machine without memory that says what to ask the index for and what to read.
//!   The RTL in `hw/rtl/nic/nic_lookup.sv` is held to it, event by event.
//! - [`Engine`] is software that carries requests out over an [`Index`](crate::index::Index) and the bytes of
//!   the table, whole or step by step.
//!
//! ```
//! use nic::index::Operation;
//! use nic::lookup::{At, Engine, Geometry, Request, Settings, Status};
//! use tables::memory::AtomicMemory;
//! use tables::robin_hood::{RobinHood, Shape};
//! use tables::{RemoteTable, Table, Values, Walk};
//!
//! let values = Values::inline(8);
//! let shape = Shape { slots: 1000, limit: Some(16), segment: 4, overflow_slots: 100, values };
//! let robin_hood = RobinHood::new(shape)?;
//! let memory = AtomicMemory::allocated(robin_hood.ground().words());
//! let table = Table::new(robin_hood, memory)?;
//! table.insert(7, &42_u64.to_le_bytes())?;
//!
//! // The NIC sees the table at some address of the host's memory.
//! let settings = Settings { value_bytes: 8, most_readings: 100, landing_lines: 32 };
//! let geometry = Geometry::of_table(&robin_hood, 0x10_0000, 2, settings)?;
//! let mut engine = Engine::<2, 1>::new(geometry, 255);
//! let host = At::new(0x10_0000, robin_hood.ground().words(), table.memory());
//! for trips in [1, 0] {
//!     // The first answer comes from host memory, the second one from the index.
//!     let answer = engine.run(&host, Request::new(Operation::LookUp, 7, 0));
//!     assert_eq!((answer.status, answer.trips), (Status::DONE, trips));
//!     assert_eq!(answer.content.map(|content| content.value), Some([42]));
//! }
//! let answer = engine.run(&host, Request::new(Operation::LookUp, 8, 0));
//! assert_eq!(answer.status, Status::Absent);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: Xenic, sections 3.5 (the path of a look-up) and 4.1.3 (hints); Afek et al., "Atomic snapshots of
//! shared memory", JACM 1993, for the two readings that confirm an absence.

mod counters;
mod engine;
mod geometry;
mod machine;
mod mutant;
mod request;
mod wire;

pub use counters::{COUNTERS, Counters};
pub use engine::{At, Engine, HostLines, ReadError, Reader, Run};
pub use geometry::{Bucket, Geometry, GeometryError, LEAST_READINGS, Named, Places, Settings};
pub use machine::{Action, Event, LookUp, Part, Read};
pub use request::{Answer, Content, Request, Status};
pub use wire::{answer_words, request_words};

#[cfg(test)]
mod tests;
