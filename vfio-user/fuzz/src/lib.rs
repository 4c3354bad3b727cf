//! What the fuzz targets run; `vfio-user/tests/hostile.rs` runs the same within bounds.

mod script;
mod targets;

pub use targets::*;
