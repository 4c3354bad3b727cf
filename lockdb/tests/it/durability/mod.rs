// SPDX-License-Identifier: MIT OR Apache-2.0
//! What survives a loss of power, a full disk and damaged files: `docs/store-recovery.md` says what
//! is shown here.

mod corruption;
mod crashes;
mod full;
mod layouts;
mod model;
mod opening;
mod planted;
mod points;
mod random;
mod readers;
mod threads;
mod trouble;
mod workload;
