// SPDX-License-Identifier: MIT OR Apache-2.0
//! Near-data updates, with a device that is a hundred lines of Rust: `docs/store-near-data.md` says
//! what is shown here.

mod beside;
mod commits;
mod conflicts;
mod crashes;
mod device;
mod memory;
mod planted;
mod price;
mod refusals;
mod scene;
mod workload;
