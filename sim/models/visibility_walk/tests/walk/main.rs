// SPDX-License-Identifier: MIT OR Apache-2.0
//! The walk in RTL finds what the machine of lockdb finds, whatever the bytes are and however memory
//! behaves.

mod bench;
mod dut;
mod mutants;
mod random;
mod rate;

#[test]
fn a_store_in_order() {
    seeds::each!(10, random::in_order);
}

#[test]
fn no_line_is_read_that_no_row_needs() {
    seeds::each!(10, random::ends_of_lines);
}

#[test]
fn as_many_page_entries_as_fit_and_one_more() {
    seeds::each!(6, random::page_entries);
}

#[test]
fn pages_with_too_many_lines() {
    seeds::each!(40, random::crowded_pages);
}

#[test]
fn a_damaged_store() {
    seeds::each!(40, random::damaged);
}

#[test]
fn heads_behind_chunks_that_are_broken() {
    seeds::each!(8, random::broken_chunks);
}

#[test]
fn a_memory_that_fails_later() {
    seeds::each!(16, random::failing_later);
}

#[test]
fn a_run_that_is_stopped() {
    seeds::each!(10, random::stopped);
}
