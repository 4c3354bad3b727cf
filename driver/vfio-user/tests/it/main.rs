// SPDX-License-Identifier: MIT OR Apache-2.0
//! All integration tests in one binary, but for `hostile`, which counts the descriptors of its process.

mod commands;
mod raw;
mod round_trips;
#[path = "../../fuzz/src/script.rs"]
#[allow(dead_code, reason = "the fuzz targets use the rest")]
mod script;
mod slow;
#[path = "../support/mod.rs"]
mod support;
mod turns;
