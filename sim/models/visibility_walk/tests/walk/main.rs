// SPDX-License-Identifier: MIT OR Apache-2.0
//! The walk in RTL finds what the machine of lockdb finds, whatever the bytes are and however memory
//! behaves.

mod bench;
mod dut;
mod mutants;
mod random;
mod rate;

use suites::seeds::Seeds;

const SEEDS: Seeds = Seeds::of(env!("CARGO_PKG_NAME"));

#[test]
fn a_store_in_order() {
    SEEDS.each("a_store_in_order", 10, random::in_order);
}

#[test]
fn a_damaged_store() {
    SEEDS.each("a_damaged_store", 40, random::damaged);
}

#[test]
fn a_memory_that_fails_later() {
    SEEDS.each("a_memory_that_fails_later", 16, random::failing_later);
}

#[test]
fn a_run_that_is_stopped() {
    SEEDS.each("a_run_that_is_stopped", 10, random::stopped);
}
