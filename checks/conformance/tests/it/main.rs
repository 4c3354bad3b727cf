// SPDX-License-Identifier: MIT OR Apache-2.0
//! All integration tests in one binary: what they share is compiled and linked once.

mod adversary;
mod bite;
mod directed;
mod generated;
mod generated_registers;
mod generated_verilog;
mod packages;
mod random;
mod register_map;
mod registers;
mod reports;
