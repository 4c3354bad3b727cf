// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hash tables in host memory that remote readers search a cache line at a time
//! (`docs/remote-tables.md`).
//!
//! - [`memory`]: words in lines, on real atomics, in virtual time, or under a checker.
//! - [`RemoteTable`]: what all tables do; [`Table`] is how. [`robin_hood`], [`hopscotch`] and [`buckets`] place
//!   the objects. DrTM's table and Pilaf's come beside them, each as a [`Walk`] and a way to place.
//! - [`Plan`], [`Search`]: a remote look-up without memory.
//! - `Ordered`: a table for local use.
//!
//! ```
//! use tables::memory::AtomicMemory;
//! use tables::robin_hood::{RobinHood, Shape};
//! use tables::{Hint, RemoteTable, Step, Table, Values, Walk, look_up};
//!
//! let shape = Shape {
//!     slots: 1000,
//!     limit: Some(16),
//!     segment: 4,
//!     overflow_slots: 100,
//!     values: Values::inline(16),
//! };
//! let geometry = RobinHood::new(shape)?;
//! let table = Table::new(geometry, AtomicMemory::allocated(geometry.ground().words()))?;
//! table.insert(7, b"seven")?;
//!
//! // The host's own threads look at the words; others carry out a plan, a line at a time.
//! let mut value = Vec::new();
//! assert_eq!((table.get(7, &mut value), &value[..]), (Some(1), &b"seven"[..]));
//! let (end, cost) = look_up(table.memory(), table.plan(7, Hint::default()));
//! assert!(matches!(end, Step::Found(found) if found.value == b"seven"));
//! assert_eq!(cost.round_trips, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod buckets;
pub mod experiments;
pub mod hash;
pub mod hopscotch;
pub mod memory;
pub mod mutant;
pub mod robin_hood;
pub mod slot;

mod chain;
mod error;
mod extents;
mod job;
mod link;
mod local;
mod object;
#[cfg(not(loom))]
mod ordered;
mod plan;
mod primitive;
mod search;
mod stores;
mod stripes;
mod table;
mod walk;

pub use error::{ShapeError, TableError};
pub use link::Link;
#[cfg(not(loom))]
pub use ordered::Ordered;
pub use plan::{Cost, Found, Plan, Range, Step, look_up, read_range};
pub use search::{MOST_READINGS, Search};
pub use stores::{Store, Stores};
pub use table::{Place, RemoteTable, Statistics, Table};
pub use walk::{Ground, Hint, MOST_VALUE_BYTES, Node, Values, Walk};
