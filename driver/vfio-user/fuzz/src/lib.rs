//! What the fuzz targets run; `vfio-user/tests/hostile.rs` runs the same within bounds.

pub mod script;
mod targets;

pub use targets::*;
