// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hash tables in host memory that remote readers search a cache line at a time
//! (`docs/remote-tables.md`).

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
