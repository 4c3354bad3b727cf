// SPDX-License-Identifier: MIT OR Apache-2.0
//! The code of the fuzz targets; `vfio-user/tests/hostile.rs` runs the same within bounds.

pub mod script;
mod targets;

pub use targets::*;
