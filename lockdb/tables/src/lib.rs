// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hash tables in host memory that remote readers search a cache line at a time
//! (`docs/remote-tables.md`).

pub mod hash;
pub mod slot;
