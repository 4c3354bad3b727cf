// SPDX-License-Identifier: MIT OR Apache-2.0
//! All integration tests in one binary: the machines of the protocols are compiled into a world once.

mod beyond;
mod campaign;
mod conservation;
mod faults;
mod rivals;
mod settings;
mod sweep;
mod tpcc;
mod world;
mod xenic_runs;
