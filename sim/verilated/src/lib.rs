// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Verilator runtime, and the common part of all models.
//!
//! A model crate holds one line, [`model!`], and a build script (see the crate
//! `lockstep-verilate`). The result is a [`Model`] of that block, with its
//! input ports as the fields of a plain struct `Inputs` and its output ports as those
//! of `Outputs`:
//!
//! ```ignore
//! let mut unit = tuple_lock_unit::Model::new();
//! unit.reset(2);
//! unit.inputs_mut().s_axis_req_tvalid = true;
//! unit.clock();
//! assert!(unit.outputs().s_axis_req_tready);
//! ```
//!
//! Models share nothing with each other: each has its own Verilator context, may move
//! to another thread, and may be dropped at any time.

mod assertion;
mod macros;
mod model;
mod waves;

pub use assertion::AssertionError;
pub use model::{Core, Model};
pub use waves::WaveWindow;

#[doc(hidden)]
pub use cxx;

// Linked for the wave writer, which calls them from C++.
use libz_sys as _;
use lz4_sys as _;

/// The version of the Verilator that this build was made with, as in `5.049`.
pub const VERILATOR_VERSION: &str = env!("VERILATOR_VERSION");
