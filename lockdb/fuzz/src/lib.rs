// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the fuzz targets run; `lockdb/tests/it/durability/readers.rs` runs the same within bounds.

mod readers;

pub use readers::*;
