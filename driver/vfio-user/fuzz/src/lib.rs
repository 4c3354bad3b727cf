//! The code of the fuzz targets; `vfio-user/tests/hostile.rs` runs the same within bounds.

pub mod script;
mod targets;

pub use targets::*;
