// SPDX-License-Identifier: MIT OR Apache-2.0
//! The world by machines that do very little.

mod faults;
mod memory;
mod ping;
mod ping_runs;
mod rest;
mod verbs;
